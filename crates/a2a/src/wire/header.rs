//! The syntax of header values.

/// The white space around the value of a header, and around its parts (RFC 9110 §5.6.3). Any other, as U+00A0, is a part of the
/// value.
pub const OWS: [char; 2] = [' ', '\t'];
