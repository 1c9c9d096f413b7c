//! The syntax of header values.

/// The white space around the value of a header, and around its parts (RFC 9110 §5.6.3). Other white space, for example
/// U+00A0, belongs to the value.
pub const OWS: [char; 2] = [' ', '\t'];
