//! What a reader does with secrets and variables in texts.

use crate::Values;

/// The treatment of `${NAME}` in the texts of a table.
#[derive(Clone, Copy)]
pub(crate) enum Texts<'a> {
    /// Not filled in: the user of the text does that.
    Literal,
    /// Filled in with these values.
    Filled(&'a dyn Values),
    /// A text with `${NAME}` is skipped: the checker checks only the other texts.
    #[cfg(any(test, feature = "checker"))]
    Unfilled,
}
