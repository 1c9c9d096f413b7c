//! The depth of JSON and its number of values, counted from its bytes without a tree.

/// How deep JSON is nested and how many values it holds, told from its bytes as they come. Objects,
/// lists, strings, numbers, `true`, `false`, `null` and the names of members all count as values.
///
/// Exact for JSON. For anything else neither is less than what stands before the first mistake, which
/// is all that a parser gets to see.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JsonSize {
    /// How deep objects and lists are nested.
    pub depth: usize,
    /// How many values there are.
    pub values: usize,
    open: usize,
    state: Scan,
}

/// What the byte before belongs to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Scan {
    #[default]
    Between,
    String,
    /// Behind a backslash.
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

    /// Goes on with more of the text.
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
