//! The keys of a table, each with its description for editors.

/// The keys that a table may have.
pub(crate) struct Keys {
    /// The names.
    pub(crate) names: &'static [&'static str],
    /// The descriptions, in the order of the names. The Worker does not contain them.
    #[cfg(any(test, feature = "checker"))]
    pub(crate) about: &'static [&'static str],
}

/// Makes the [`Keys`] of a table. The doc comment of a key is its description in the JSON Schemas for editors.
macro_rules! keys {
    ($($(#[doc = $about:literal])+ $name:literal,)*) => {
        $crate::table::Keys {
            names: &[$($name),*],
            #[cfg(any(test, feature = "checker"))]
            about: &[$(concat!($($about),+)),*],
        }
    };
}

pub(crate) use keys;

/// Makes a list of [`Form`](super::Form)s: each is a doc comment, which is its description, its name, its keys and its reader.
macro_rules! forms {
    ($($(#[doc = $about:literal])+ $name:literal { $($keys:tt)* } $read:expr;)*) => {
        [$($crate::table::Form {
            name: $name,
            #[cfg(any(test, feature = "checker"))]
            about: concat!($($about),+),
            keys: &$crate::table::keys! { $($keys)* },
            read: $read,
        }),*]
    };
}

pub(crate) use forms;
