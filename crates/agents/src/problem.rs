//! A problem in a file that the checker reads.

use std::fmt;

/// A problem of an agent file, `remotes.toml`, the file of a tool or a `SKILL.md`.
///
/// A check makes the problem with a key and a text; the callers of the check add the file and the line. `Display`
/// writes the line that the commands print.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The file, as `agents/demo.toml`.
    pub file: Option<String>,
    /// The line of the key in the file, or of the innermost table around it. Lines count from 1.
    pub line: Option<usize>,
    /// The key, as `executor.tools.names[1]`; empty for the whole file.
    pub key: String,
    /// The text after the key: the rule that the value breaks, or the problem and its fix, in one sentence.
    pub text: String,
}

impl Problem {
    /// A problem of the value at a key, without file and line.
    pub fn at(key: impl Into<String>, text: impl Into<String>) -> Self {
        Self { file: None, line: None, key: key.into(), text: text.into() }
    }

    /// A problem of a whole file, or of a folder.
    #[cfg(any(test, feature = "checker"))]
    pub(crate) fn of_file(file: impl Into<String>, text: impl Into<String>) -> Self {
        Self { file: Some(file.into()), ..Self::at("", text) }
    }

    /// The problem with `path` before its key, as `executor.`: converts a key within a table into a key within the
    /// file.
    #[must_use]
    pub(crate) fn under(self, path: &str) -> Self {
        let key = format!("{path}{}", self.key);
        // A problem of the whole table has the key of the table.
        let key = if self.key.is_empty() { path.trim_end_matches('.').to_owned() } else { key };
        Self { key, ..self }
    }

    /// The problem with its file.
    #[must_use]
    pub(crate) fn in_file(self, file: &str) -> Self {
        Self { file: Some(file.to_owned()), ..self }
    }

    /// The problem with its line in the file.
    #[must_use]
    pub(crate) fn at_line(self, line: usize) -> Self {
        Self { line: Some(line), ..self }
    }
}

impl fmt::Display for Problem {
    /// Writes `agents/demo.toml:5: ` and the key in backticks, each if known, and then the text.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.file, self.line) {
            (Some(file), Some(line)) => write!(out, "{file}:{line}: ")?,
            (Some(file), None) => write!(out, "{file}: ")?,
            (None, _) => {}
        }
        if !self.key.is_empty() {
            write!(out, "`{}` ", self.key)?;
        }
        out.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_is_printed_with_its_place_as_far_as_that_is_known() {
        let problem = Problem::at("names[1]", "stands twice");
        assert_eq!(problem.to_string(), "`names[1]` stands twice");
        assert_eq!(Problem::at("", "x").under("tools.").to_string(), "`tools` x");
        let problem = problem.under("executor.tools.");
        assert_eq!(problem.to_string(), "`executor.tools.names[1]` stands twice");
        let problem = problem.in_file("agents/a.toml");
        assert_eq!(problem.to_string(), "agents/a.toml: `executor.tools.names[1]` stands twice");
        let problem = problem.at_line(5);
        assert_eq!(problem.to_string(), "agents/a.toml:5: `executor.tools.names[1]` stands twice");
        assert_eq!(Problem::of_file("agents/", "no agent").to_string(), "agents/: no agent");
        assert_eq!(Problem::at("", "no agent").to_string(), "no agent");
    }
}
