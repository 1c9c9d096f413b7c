//! The macro that makes the enum of observations from the rows of `observations.rs`.

/// The importance of an observation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// Part of normal work, and frequent: written to the log only in development.
    Detail,
    /// Part of normal work, worth a log line.
    Info,
    /// Something failed.
    Error,
    /// The duration of work: never written to the log, only for traces and metrics.
    Timing,
}

/// Declares the enum of observations with `severity` and `Display` from one row for each:
///
/// ```text
/// /// The observed event.
/// Severity Name { subject: Type, … } = sentence;
/// ```
///
/// The sentence is a format string over the subjects, or a value in braces that is displayed. A row whose only subject
/// has a log line of its own is written `Name(subject: Type)`.
macro_rules! observations {
    (
        $(#[$about:meta])*
        pub enum $enum:ident<$life:lifetime>;
        $(
            $(#[$doc:meta])*
            $severity:ident $name:ident
                $(($whole:ident: $whole_type:ty))?
                $({ $($(#[$subject_doc:meta])* $subject:ident: $type:ty),* })?
                = $sentence:tt;
        )*
    ) => {
        $(#[$about])*
        pub enum $enum<$life> {
            $(
                $(#[$doc])*
                $name
                $(($whole_type))?
                $({
                    $(
                        #[doc = concat!("The subject `", stringify!($subject), "`.")]
                        $(#[doc = ""] #[$subject_doc])*
                        $subject: $type,
                    )*
                })?,
            )*
        }

        impl $enum<'_> {
            /// The severity of the observation.
            pub fn severity(&self) -> Severity {
                match self {
                    $(Self::$name { .. } => Severity::$severity,)*
                }
            }
        }

        impl $enum<'_> {
            /// The name of the observation, for counts.
            pub fn name(&self) -> &'static str {
                match self {
                    $(Self::$name { .. } => stringify!($name),)*
                }
            }
        }

        impl fmt::Display for $enum<'_> {
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    $(
                        Self::$name $(($whole))? $({ $($subject),* })? => {
                            // Some sentences omit a subject.
                            $(let _ = ($($subject,)*);)?
                            write_sentence!(out, $sentence)
                        }
                    )*
                }
            }
        }
    };
}

/// Writes the sentence of a row: a format string, or a value in braces.
macro_rules! write_sentence {
    ($out:ident, $format:literal) => {
        write!($out, $format)
    };
    ($out:ident, { $value:expr }) => {
        write!($out, "{}", $value)
    };
}

pub(super) use {observations, write_sentence};
