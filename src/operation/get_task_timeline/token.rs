//! The beginning of a page of a timeline, as a token.

use std::collections::VecDeque;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};

use crate::format;
use crate::port::LogRange;
use crate::push::Attempt;
use crate::session::Owned;
use a2a::error::Error;
use a2a::model::{Generation, MAX_DOCUMENT_VALUES, TaskId, TimelineOrder, fnv1a, read_foreign};

/// The beginning of a page.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Cursor {
    /// The direction.
    pub(super) order: TimelineOrder,
    /// The place in the log of the next line, which may not exist yet.
    pub(super) place: Place,
    /// A mark for each webhook id: in ascending order, the last shown attempt; in descending order, the next attempt. `None` at
    /// the beginning.
    pub(super) attempts: Option<Vec<(String, Mark)>>,
}

/// The identity of an attempt among those of one webhook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    pub(super) at: i64,
    pub(super) generation: Generation,
    pub(super) attempt: u32,
}

impl Mark {
    pub(super) fn of(attempt: &Attempt) -> Self {
        Self { at: attempt.at, generation: attempt.generation, attempt: attempt.attempt }
    }

    /// The newest attempt of each webhook.
    pub(super) fn newest(
        webhooks: Vec<(String, String, VecDeque<Attempt>)>,
    ) -> Vec<(String, Mark)> {
        let newest =
            webhooks.into_iter().filter_map(|(id, _, all)| Some((id, Mark::of(all.back()?))));
        newest.collect()
    }
}

/// A place in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    /// The first row of the line's batch, or any of its rows if the first is unknown; rows begin at 1, and 0 is before all rows.
    pub(super) row: u64,
    /// The line within the batch, from 0.
    pub(super) line: u64,
}

impl Place {
    /// The first line of the batch that contains a row.
    pub(super) fn first_of(row: u64) -> Self {
        Self { row, line: 0 }
    }

    /// The last line of the batch that contains a row.
    pub(super) fn last_of(row: u64) -> Self {
        Self { row, line: LAST_LINE }
    }
}

impl Cursor {
    /// The first place in this order.
    pub(super) fn beginning(order: TimelineOrder) -> Self {
        let place = match order {
            TimelineOrder::Asc => Place::first_of(1),
            TimelineOrder::Desc => Place::last_of(LAST_ROW),
        };
        Self { order, place, attempts: None }
    }

    /// The place after the newest entry, in ascending order.
    ///
    /// # Errors
    ///
    /// [`Error::Internal`] when storage fails.
    pub(super) fn end(task: Owned<'_>) -> Result<Self, Error> {
        let (batches, _) = task.log_lines(LogRange::UpTo(LAST_ROW))?;
        let newest = batches.first();
        let place =
            newest.map_or(Place::first_of(1), |batch| Place::first_of(batch.row + batch.rows));
        let attempts = Mark::newest(task.webhook_attempts());
        Ok(Self { order: TimelineOrder::Asc, place, attempts: Some(attempts) })
    }

    /// The cursor as a token for this task. Opaque to clients.
    pub(super) fn to_token(&self, task: &TaskId) -> String {
        let Self { order, place: Place { row, line }, attempts } = self;
        let attempts = attempts.iter().flatten();
        let attempts = attempts
            .map(|(id, Mark { at, generation, attempt })| json!([id, at, generation, attempt]));
        let attempts: Vec<Value> = attempts.collect();
        let text = json!({"o": order, "r": row, "l": line, "w": attempts});
        URL_SAFE_NO_PAD.encode(format!("{:016x}.{text}", fnv1a(task.as_str().as_bytes())))
    }

    /// Reads a token for this task. If `order` is set, it must be the order of the token.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidParams`] if the token is invalid, belongs to another task, or has the other order; [`Error::Unavailable`]
    /// if a later version made it.
    pub(super) fn read(
        token: &str,
        task: &TaskId,
        order: Option<TimelineOrder>,
    ) -> Result<Self, Error> {
        let unknown = || {
            let description = "must be the nextPageToken or the resumeToken of a former answer";
            Error::invalid("pageToken", description)
        };
        let bytes = URL_SAFE_NO_PAD.decode(token).map_err(|_| unknown())?;
        let text = String::from_utf8(bytes).map_err(|_| unknown())?;
        let number = text.strip_prefix('v').and_then(|rest| rest.split_once('.')?.0.parse().ok());
        if number.is_some_and(|number| !format::PAGE_TOKEN.reads(number)) {
            return Err(Error::Unavailable(format::OTHER_VERSION));
        }
        let (belongs_to, text) = text.split_once('.').ok_or_else(unknown)?;
        let belongs_to = u64::from_str_radix(belongs_to, 16).map_err(|_| unknown())?;
        let members = read_foreign(text.as_bytes(), MAX_DOCUMENT_VALUES);
        let members = members.map_err(|_| unknown())?;
        let read = Self::of_members(&members).ok_or_else(unknown)?;
        if belongs_to != fnv1a(task.as_str().as_bytes()) {
            return Err(Error::invalid("pageToken", "belongs to the timeline of another task"));
        }
        if order.is_some_and(|order| order != read.order) {
            let advice =
                "belongs to a timeline in the other order; leave order out to go on with it";
            return Err(Error::invalid("pageToken", advice));
        }
        Ok(read)
    }

    fn of_members(members: &Value) -> Option<Self> {
        let order = match members.get("o")?.as_str()? {
            "asc" => TimelineOrder::Asc,
            "desc" => TimelineOrder::Desc,
            _ => return None,
        };
        let number = |name| members.get(name).and_then(Value::as_u64);
        let place = Place { row: number("r")?, line: number("l")? };
        let attempts = members.get("w")?.as_array()?.iter().map(|attempt| {
            let [id, at, generation, attempt] = attempt.as_array()?.as_slice() else { return None };
            let mark = Mark {
                at: at.as_i64()?,
                generation: Generation(generation.as_u64()?),
                attempt: u32::try_from(attempt.as_u64()?).ok()?,
            };
            Some((id.as_str()?.to_owned(), mark))
        });
        Some(Self { order, place, attempts: Some(attempts.collect::<Option<_>>()?) })
    }
}

/// A number above all rows, and the largest with which storage can compare.
const LAST_ROW: u64 = i64::MAX as u64;

/// A number above all lines.
const LAST_LINE: u64 = u32::MAX as u64;

#[cfg(test)]
mod tests {
    use super::*;

    fn cursor(order: TimelineOrder) -> Cursor {
        let mark = Mark { at: -1, generation: Generation(7), attempt: 2 };
        let attempts = Some(vec![("a.b~c:d".to_owned(), mark)]);
        Cursor { order, place: Place { row: 3, line: 4 }, attempts }
    }

    #[test]
    fn tokens_are_read_as_they_were_written() {
        let task = TaskId::new("t").unwrap();
        for order in [TimelineOrder::Asc, TimelineOrder::Desc] {
            let token = cursor(order).to_token(&task);
            assert!(
                token.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c)),
                "{token}"
            );
            for asked in [None, Some(order)] {
                assert_eq!(Cursor::read(&token, &task, asked), Ok(cursor(order)));
            }
        }
        let beginning = Cursor::beginning(TimelineOrder::Desc);
        let read = Cursor::read(&beginning.to_token(&task), &task, None).unwrap();
        assert_eq!(read.place, beginning.place);
    }

    #[test]
    fn other_tokens_are_refused_and_the_field_is_named() {
        let task = TaskId::new("t").unwrap();
        let refusal = |token: &str, task: &TaskId, order| {
            Cursor::read(token, task, order).unwrap_err().to_string()
        };
        let token = cursor(TimelineOrder::Asc).to_token(&task);
        let other = refusal(&token, &TaskId::new("u").unwrap(), None);
        assert!(other.contains("pageToken") && other.contains("another task"), "{other}");
        let turned = refusal(&token, &task, Some(TimelineOrder::Desc));
        assert!(turned.contains("pageToken") && turned.contains("other order"), "{turned}");
        let encode = |text: &str| URL_SAFE_NO_PAD.encode(text);
        let hash = format!("{:016x}", fnv1a(b"t"));
        for text in [
            String::new(),
            "x".to_owned(),
            format!("{hash}.{{}}"),
            format!("{hash}.[]"),
            format!(r#"{hash}.{{"o":"up","r":1,"l":1,"w":[]}}"#),
            format!(r#"{hash}.{{"o":"asc","r":-1,"l":1,"w":[]}}"#),
            format!(r#"{hash}.{{"o":"asc","r":1,"l":1,"w":[["a",1,1]]}}"#),
            format!(r#"{hash}.{{"o":"asc","r":1,"l":1,"w":[["a",1,1,4294967296]]}}"#),
            r#"zz.{"o":"asc","r":1,"l":1,"w":[]}"#.to_owned(),
        ] {
            let refused = refusal(&encode(&text), &task, None);
            assert!(refused.contains("must be the nextPageToken"), "{text}: {refused}");
        }
        assert!(refusal("§", &task, None).contains("must be the nextPageToken"));
        let later = Cursor::read(&encode("v2.x"), &task, None);
        assert_eq!(later, Err(Error::Unavailable(format::OTHER_VERSION)));
    }
}
