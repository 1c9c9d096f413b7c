//! The files of a project, as the checker reads them: a port, since the checker runs as WebAssembly, which has no disk.

use std::fmt;

/// The files of a project. Paths are relative to the folder of the project, with `/` between names, as `agents/demo.toml`.
pub trait Files {
    /// The text of a file.
    ///
    /// # Errors
    ///
    /// If the file does not exist, or cannot be read as UTF-8.
    fn read(&self, path: &str) -> Result<String, Unreadable>;

    /// The entries of a folder, in any order.
    ///
    /// # Errors
    ///
    /// If the folder does not exist, or cannot be read.
    fn list(&self, folder: &str) -> Result<Vec<Entry>, Unreadable>;
}

/// A file or a folder in a folder.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    /// The name, without the folder.
    pub name: String,
    /// True for a folder.
    pub is_folder: bool,
}

/// The reason why a file or a folder cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unreadable {
    /// There is nothing at the path.
    Missing,
    /// Any other reason, for people.
    Because(String),
}

impl fmt::Display for Unreadable {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => out.write_str("does not exist"),
            Self::Because(reason) => out.write_str(reason),
        }
    }
}

/// The path of an entry of a folder. A folder may be written with a `/` at its end.
pub(crate) fn join(folder: &str, name: &str) -> String {
    format!("{}/{name}", folder.trim_end_matches('/'))
}

/// The files of a folder on disk, for tests and native programs.
#[cfg(not(target_arch = "wasm32"))]
#[derive(Clone, Debug)]
pub struct Disk {
    root: std::path::PathBuf,
}

#[cfg(not(target_arch = "wasm32"))]
impl Disk {
    /// The files of the project in `root`.
    pub fn new(root: impl Into<std::path::PathBuf>) -> Self {
        Self { root: root.into() }
    }

    fn because(error: &std::io::Error) -> Unreadable {
        match error.kind() {
            std::io::ErrorKind::NotFound => Unreadable::Missing,
            std::io::ErrorKind::InvalidData => Unreadable::Because("is not UTF-8".to_owned()),
            _ => Unreadable::Because(format!("cannot be read: {error}")),
        }
    }
}

#[cfg(not(target_arch = "wasm32"))]
impl Files for Disk {
    fn read(&self, path: &str) -> Result<String, Unreadable> {
        std::fs::read_to_string(self.root.join(path)).map_err(|error| Self::because(&error))
    }

    fn list(&self, folder: &str) -> Result<Vec<Entry>, Unreadable> {
        let entry = |entry: std::io::Result<std::fs::DirEntry>| {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            Ok(Entry { name, is_folder: entry.path().is_dir() })
        };
        let entries = std::fs::read_dir(self.root.join(folder));
        let entries = entries.and_then(|entries| entries.map(entry).collect());
        entries.map_err(|error: std::io::Error| Self::because(&error))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// Files that a test gives, by their paths.
    pub(crate) struct Given(pub(crate) BTreeMap<&'static str, String>);

    impl Files for Given {
        fn read(&self, path: &str) -> Result<String, Unreadable> {
            self.0.get(path).cloned().ok_or(Unreadable::Missing)
        }

        fn list(&self, folder: &str) -> Result<Vec<Entry>, Unreadable> {
            let prefix = format!("{}/", folder.trim_end_matches('/'));
            let below = self.0.keys().filter_map(|path| path.strip_prefix(prefix.as_str()));
            let entry = |path: &str| match path.split_once('/') {
                Some((name, _)) => Entry { name: name.to_owned(), is_folder: true },
                None => Entry { name: path.to_owned(), is_folder: false },
            };
            let mut entries: Vec<_> = below.map(entry).collect();
            entries.sort();
            entries.dedup();
            if entries.is_empty() { Err(Unreadable::Missing) } else { Ok(entries) }
        }
    }
}
