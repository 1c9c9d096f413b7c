//! The depth of a JSON text and its number of values, counted without a tree.

/// The depth of a JSON text and its number of values, counted while its bytes arrive. Objects, lists,
/// strings, numbers, `true`, `false`, `null` and the names of members all count as values.
///
/// For JSON, both numbers are exact. For another text, both are at least those of the part before the
/// first mistake, and a parser does not read further than that.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JsonSize {
    /// The nesting depth of objects and lists.
    pub depth: usize,
    /// The number of values.
    pub values: usize,
    open: usize,
    state: Scan,
}

/// The token of the previous byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Scan {
    #[default]
    Between,
    String,
    /// After a backslash.
    Escaped,
    /// A number, `true`, `false` or `null`.
    Bare,
}

impl JsonSize {
    /// The size of a text.
    pub fn of(text: &[u8]) -> Self {
        let mut size = Self::default();
        size.read(text);
        size
    }

    /// Reads more of the text.
    pub fn read(&mut self, text: &[u8]) {
        for byte in text {
            self.state = match (self.state, byte) {
                (Scan::String, b'"') => Scan::Between,
                (Scan::String, b'\\') => Scan::Escaped,
                (Scan::String | Scan::Escaped, _) => Scan::String,
                (_, b'"') => {
                    self.values += 1;
                    Scan::String
                }
                (_, b'{' | b'[') => {
                    self.values += 1;
                    self.open += 1;
                    self.depth = self.depth.max(self.open);
                    Scan::Between
                }
                (_, b'}' | b']') => {
                    self.open = self.open.saturating_sub(1);
                    Scan::Between
                }
                (_, b':' | b',' | b' ' | b'\t' | b'\n' | b'\r') => Scan::Between,
                (Scan::Bare, _) => Scan::Bare,
                (Scan::Between, _) => {
                    self.values += 1;
                    Scan::Bare
                }
            };
        }
    }
}
