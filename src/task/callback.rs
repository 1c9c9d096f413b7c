//! The callbacks of a task: URLs that a run sends to other parties, and the bodies posted to them.

use std::fmt;

use serde::Serialize;

use a2a::model::decode::{Decode, Fields};
use a2a::model::{Part, Secret, UnixMillis};

/// A callback in the log. It belongs to the turn that made it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CallbackRecord {
    /// The name of the callback.
    #[serde(flatten)]
    pub name: CallbackName,
    /// The token in the URL of the callback, which permits posts.
    pub token: Secret,
    /// The origin of the URL.
    pub origin: String,
    /// The number of bodies that the callback accepts.
    pub uses: u32,
    /// The instant at which the callback expires, in milliseconds since the epoch.
    pub expires_ms: i64,
}

/// The name of a callback within its turn.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct CallbackName {
    /// The name that the executor has chosen for the callback.
    pub name: String,
    /// The number of the callback among those with the same name, from 1.
    pub nth: u32,
}

/// A body that was posted to a callback.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CallbackCall {
    /// The callback.
    #[serde(flatten)]
    pub name: CallbackName,
    /// The number of the body, from 1.
    pub number: u32,
    /// The sender's `Idempotency-Key`: posts with the same key count once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The body.
    pub body: Part,
}

/// The admission of a post to a callback.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Admission {
    /// Refused: there is no such callback, or the callback accepts no more bodies.
    Unknown,
    /// A repetition of a stored post.
    Repeated,
    /// Admitted as the body with this number of this callback.
    Open(CallbackName, u32),
}

/// The callbacks of the current turn.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Callbacks(Vec<Callback>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Callback {
    record: CallbackRecord,
    taken: u32,
    keys: Vec<String>,
}

impl Callbacks {
    /// Adds a callback.
    pub(super) fn add(&mut self, record: CallbackRecord) {
        self.0.push(Callback { record, taken: 0, keys: Vec::new() });
    }

    /// Counts a stored body.
    pub(super) fn take(&mut self, call: &CallbackCall) {
        if let Some(callback) = self.0.iter_mut().find(|known| known.record.name == call.name) {
            callback.taken += 1;
            callback.keys.extend(call.key.clone());
        }
    }

    /// The callback with this name.
    pub(super) fn find(&self, name: &CallbackName) -> Option<&CallbackRecord> {
        self.0.iter().map(|callback| &callback.record).find(|record| record.name == *name)
    }

    /// The number of callbacks.
    pub(super) fn count(&self) -> usize {
        self.0.len()
    }

    /// The admission of a post with this token. Bodies are admitted while the turn `is_open`; repetitions are recognized also after
    /// that.
    pub(super) fn admit(
        &self,
        token: &str,
        key: Option<&str>,
        is_open: bool,
        now: UnixMillis,
    ) -> Admission {
        let mut found = None;
        // Compare with all callbacks, so that the time of the comparison reveals nothing.
        for callback in &self.0 {
            if callback.record.token.is(token) {
                found = Some(callback);
            }
        }
        let Some(Callback { record, taken, keys }) = found else { return Admission::Unknown };
        if key.is_some_and(|key| keys.iter().any(|known| known == key)) {
            return Admission::Repeated;
        }
        if !is_open || *taken >= record.uses || now.0 >= record.expires_ms {
            return Admission::Unknown;
        }
        Admission::Open(record.name.clone(), taken + 1)
    }
}

impl fmt::Display for CallbackName {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:?}", self.name)
    }
}

impl Decode for CallbackName {
    fn decode(fields: &mut Fields) -> Option<Self> {
        Some(Self { name: fields.any_string("name")?, nth: fields.number("nth")? })
    }
}

impl Decode for CallbackRecord {
    fn decode(fields: &mut Fields) -> Option<Self> {
        Some(Self {
            name: CallbackName::decode(fields)?,
            token: Secret::new(fields.any_string("token")?),
            origin: fields.any_string("origin")?,
            uses: fields.number("uses")?,
            expires_ms: fields.number("expiresMs")?,
        })
    }
}

impl Decode for CallbackCall {
    fn decode(fields: &mut Fields) -> Option<Self> {
        Some(Self {
            name: CallbackName::decode(fields)?,
            number: fields.number("number")?,
            key: fields.string("key"),
            body: fields.object("body")?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(name: &str) -> CallbackName {
        CallbackName { name: name.to_owned(), nth: 1 }
    }

    fn record(called: &str, token: &str, uses: u32) -> CallbackRecord {
        let (name, token) = (name(called), Secret::new(token));
        CallbackRecord {
            name,
            token,
            origin: "https://a.example".to_owned(),
            uses,
            expires_ms: 100,
        }
    }

    fn call(called: &str, number: u32, key: Option<&str>) -> CallbackCall {
        let (name, key) = (name(called), key.map(str::to_owned));
        CallbackCall { name, number, key, body: Part::text("x") }
    }

    #[test]
    fn a_callback_takes_as_many_bodies_as_it_is_to_and_each_once() {
        let mut callbacks = Callbacks::default();
        callbacks.add(record("once", "11", 1));
        callbacks.add(record("twice", "22", 2));
        let admit =
            |callbacks: &Callbacks, token, key| callbacks.admit(token, key, true, UnixMillis(99));
        assert_eq!(admit(&callbacks, "11", None), Admission::Open(name("once"), 1));
        assert_eq!(admit(&callbacks, "22", Some("k")), Admission::Open(name("twice"), 1));
        callbacks.take(&call("once", 1, Some("k")));
        callbacks.take(&call("twice", 1, None));
        assert_eq!(admit(&callbacks, "11", None), Admission::Unknown, "used up");
        assert_eq!(admit(&callbacks, "11", Some("k")), Admission::Repeated);
        assert_eq!(admit(&callbacks, "11", Some("other")), Admission::Unknown);
        assert_eq!(admit(&callbacks, "22", Some("k")), Admission::Open(name("twice"), 2));
        for token in ["", "1", "12", "111", "é1", "33"] {
            assert_eq!(admit(&callbacks, token, Some("k")), Admission::Unknown, "{token}");
        }
    }

    #[test]
    fn nothing_is_taken_when_the_time_or_the_turn_is_over() {
        let mut callbacks = Callbacks::default();
        callbacks.add(record("a", "11", 2));
        callbacks.take(&call("a", 1, Some("k")));
        assert_eq!(callbacks.admit("11", None, true, UnixMillis(100)), Admission::Unknown);
        assert_eq!(callbacks.admit("11", None, false, UnixMillis(0)), Admission::Unknown);
        assert_eq!(callbacks.admit("11", Some("k"), false, UnixMillis(200)), Admission::Repeated);
    }
}
