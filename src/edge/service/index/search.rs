//! Tasks by a text: the statement that looks at the newest tasks, a bounded number of them, for those one of whose texts contains it.
//!
//! The rows have the texts, as JSON; there is no further index of them. Texts are compared as they are, so no character of the searched
//! text has a meaning of its own. (D1 takes patterns of `LIKE` and `GLOB` of at most 50 bytes.)

use worker::js_sys::JsString;
use worker::wasm_bindgen::JsValue;
use worker::{Error, Result};

use super::everybody::{PLACE, everybody_page, page_tasks};
use super::statements::{filtered_page, line_of};
use super::{Index, page, read_lines};
use crate::auth::Owners;
use crate::edge::service::database::{Statement, Value};
use crate::edge::service::rows::{read_row, rows};
use crate::edge::service::tables::Whose;
use crate::operation::list_tasks::{Found, Position, Searched, TaskQuery};
use a2a::model::{TaskId, UnixMillis};

rows! {
    /// A row of a search: a task, or with an empty line the summary of a shard.
    struct SearchRow {
        line: String,
        total: u64,
        looked: u64,
        last: String,
    }
}

/// A text that is searched for.
#[derive(Clone, Debug, PartialEq)]
struct Sought {
    /// In lower case.
    lower: String,
    /// The letters outside of ASCII in it, in upper and lower case. SQLite converts letters of ASCII alone.
    letters: Vec<(char, char)>,
}

impl Sought {
    fn new(lower: String, upper: &str) -> Self {
        let mut letters = Vec::new();
        // Where a letter has several in the other case, as `ß`, nothing tells which of them belong together.
        if lower.chars().count() == upper.chars().count() {
            for letter in upper.chars().zip(lower.chars()) {
                let has_cases = !letter.0.is_ascii() && letter.0 != letter.1;
                if has_cases && letters.len() < MOST_LETTERS && !letters.contains(&letter) {
                    letters.push(letter);
                }
            }
        }
        Self { lower, letters }
    }

    /// True if JSON has it as it is, whoever encodes it.
    fn is_never_escaped(&self) -> bool {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b" -_.,:;!?%()#@".contains(&byte);
        self.lower.bytes().all(is_plain)
    }

    /// The same, by the platform's conversion of case.
    fn of(text: &str) -> Self {
        let text = JsString::from(text);
        Self::new(text.to_lower_case().into(), &String::from(text.to_upper_case()))
    }
}

impl Index {
    /// The tasks that match a query with a text: a page of those among the newest [`MOST_LOOKED`] from its position on. In objects, each
    /// shard looks at as many.
    ///
    /// # Errors
    ///
    /// If the tables do not answer, or are missing.
    pub(super) async fn search<'l>(
        &self,
        query: &TaskQuery,
        text: &str,
        lines: &'l mut String,
    ) -> Result<Found<'l>> {
        let whose = match &query.owners {
            Owners::All => Whose::All(Some(&query.agent)),
            Owners::One(owner) => Whose::Owner(owner.as_str()),
        };
        let found = self.tables.select(whose, &search_statement(query, &Sought::of(text))).await?;
        let mut searched = Searched::default();
        let mut total = 0;
        let mut rows: Vec<JsValue> = Vec::new();
        for row in found.rows {
            let summary: SearchRow = read_row(row.clone())?;
            if summary.line.is_empty() {
                total += summary.total;
                searched.size += summary.looked.min(MOST_LOOKED);
                if summary.looked > MOST_LOOKED {
                    let place = position_of(&summary.last);
                    let unreadable = || Error::RustError("a place cannot be read".to_owned());
                    searched.older = searched.older.max(Some(place.ok_or_else(unreadable)?));
                }
            } else {
                rows.push(row);
            }
        }
        if rows.is_empty() {
            return Ok(Found { tasks: Vec::new(), total, searched: Some(searched) });
        }
        let (mut tasks, _) = read_lines(query, rows, lines)?;
        // Further back, one of the shards has not looked.
        tasks.retain(|task| searched.older.as_ref().is_none_or(|older| task.position > *older));
        Ok(Found { tasks: page(query, tasks), total, searched: Some(searched) })
    }
}

/// The statement for a search: a row with the summary, and a row for each task of the page.
///
/// Beside `min`, a column without a function has its value in the row with the least: the task that is one too many is not counted.
fn search_statement(query: &TaskQuery, sought: &Sought) -> Statement {
    // One task more than is searched tells whether there are older ones, and where they begin.
    let scan = TaskQuery { limit: MOST_LOOKED as usize + 1, ..query.clone() };
    let mut statement = Statement::new("WITH ");
    if let Owners::One(owner) = &query.owners {
        statement.add("looked AS MATERIALIZED (SELECT owner, status_ms, id, ");
        push_match(&mut statement, "", sought);
        filtered_page(&mut statement, owner, &scan);
    } else {
        everybody_page(&mut statement, &scan);
        statement.add(", looked AS MATERIALIZED (SELECT t.owner AS owner, ");
        statement.add("t.status_ms AS status_ms, t.id AS id, ");
        push_match(&mut statement, "t.", sought);
        page_tasks(&mut statement, &scan, "page");
    }
    statement.add("), shown AS MATERIALIZED (SELECT owner, status_ms, id FROM looked ");
    let limit = i64::try_from(query.limit).unwrap_or(i64::MAX);
    statement.push("WHERE fits ORDER BY place DESC LIMIT {})", limit.into());
    statement.add(&format!(
        " SELECT '' AS line, coalesce(sum(fits) - (count(*) > {MOST_LOOKED}) * fits, 0) AS total, \
         count(*) AS looked, coalesce(min(place), '') AS last FROM looked \
         UNION ALL SELECT {}, 0, 0, ''",
        line_of(query, "t.")
    ));
    page_tasks(&mut statement, query, "shown");
    statement
}

/// Adds the columns `place`, the position of a task, and `fits`, whether one of its texts contains the searched one. `table` is the
/// prefix of the columns.
///
/// The JSON of a task is searched as a text first, since D1 counts each value in it as a row that it reads. That is left out for a text
/// that the JSON may have in an escaped form.
fn push_match(statement: &mut Statement, table: &str, sought: &Sought) {
    let mut text = "lower(j.atom)".to_owned();
    for (upper, lower) in &sought.letters {
        text = format!("replace({text}, '{upper}', '{lower}')");
    }
    let place = PLACE.replace("t.", table);
    let (head, history) = (format!("{table}head"), format!("{table}history"));
    statement.add(&format!("{place} AS place, iif("));
    if sought.is_never_escaped() {
        let whole = format!("instr(lower({head} || {history}), {{}})");
        statement.push(&whole, Value::Text(sought.lower.clone()));
    } else {
        statement.add("1");
    }
    statement.add(&format!(
        ", EXISTS (SELECT 1 FROM json_tree('[' || {head} \
         || iif({history} = '', '', ',') || replace({history}, char(10), ',') || ']') AS j \
         WHERE j.type = 'text' AND {IS_SEARCHED} AND instr({text}, "
    ));
    statement.push("{}) > 0), 0) AS fits", Value::Text(sought.lower.clone()));
}

/// The position of a task from its text in the order of a listing.
fn position_of(place: &str) -> Option<Position> {
    let (status_ms, id) = place.split_at_checked(16)?;
    Some(Position { status_ms: UnixMillis(status_ms.parse().ok()?), id: TaskId::new(id)? })
}

/// The texts of a task that are searched: its ids, and those in the parts of its messages, without encoded files.
const IS_SEARCHED: &str = "(j.fullkey IN ('$[0].id', '$[0].contextId') \
    OR (instr(j.fullkey, '.parts[') > 0 AND j.key NOT IN ('raw', 'mediaType')))";

/// The number of tasks that a search looks at.
const MOST_LOOKED: u64 = 10_000;

/// The number of different letters outside of ASCII of a text that are found in either case.
const MOST_LETTERS: usize = 30;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::auth::OwnerId;

    fn query(owners: Owners) -> TaskQuery {
        TaskQuery {
            owners,
            agent: "a".to_owned(),
            context_id: None,
            state: None,
            since: None,
            waiting: false,
            text: Some("x".to_owned()),
            from: None,
            limit: 51,
            with_history: true,
            with_summary: false,
        }
    }

    #[test]
    fn a_search_looks_at_the_newest_tasks_and_selects_a_page_of_them() {
        let sought = Sought::new("it's".to_owned(), "IT'S");
        let one = search_statement(&query(Owners::One(OwnerId::new("o"))), &sought);
        let scan = "FROM tasks WHERE owner = +?2 AND agent = +?3 ORDER BY status_ms DESC, id DESC LIMIT +?4";
        assert!(one.sql.contains(scan), "{}", one.sql);
        let values = ["it's".into(), "o".into(), "a".into(), Value::Number(10_001)];
        assert_eq!(one.values[..4], values);
        assert_eq!(one.values[4..], [Value::Number(51), "a".into()]);
        let all = search_statement(&query(Owners::All), &sought);
        assert!(all.sql.starts_with("WITH newest AS MATERIALIZED (SELECT c.owner"), "{}", all.sql);
        assert_eq!(all.sql.matches("instr(lower(j.atom), +?").count(), 1, "{}", all.sql);
        assert!(!one.sql.contains("LIKE") && !one.sql.contains("it's"), "{}", one.sql);
    }

    #[test]
    fn json_is_searched_as_a_text_first_unless_it_may_escape_the_text() {
        for (text, is_first) in [
            ("order 50% of_it", true),
            ("say \"x\"", false),
            ("a/b", false),
            ("<b>", false),
            ("caf\u{e9}", false),
            ("a\nb", false),
        ] {
            let sought = Sought::new(text.to_owned(), text);
            let sql = search_statement(&query(Owners::All), &sought).sql;
            let first = "instr(lower(t.head || t.history), +?";
            assert_eq!(sql.contains(first), is_first, "{text}");
        }
    }

    #[test]
    fn letters_outside_of_ascii_are_found_in_either_case() {
        let letters = |lower: &str, upper| Sought::new(lower.to_owned(), upper).letters;
        assert_eq!(letters("caf\u{e9}", "CAF\u{c9}"), [('\u{c9}', '\u{e9}')]);
        assert_eq!(letters("abc 7%", "ABC 7%"), []);
        assert_eq!(letters("stra\u{df}e", "STRASSE"), []);
        let many: String = ('\u{430}'..='\u{44f}').collect();
        let upper: String = ('\u{410}'..='\u{42f}').collect();
        assert_eq!(Sought::new(many, &upper).letters.len(), MOST_LETTERS);
        let sought = Sought::new("\u{e9}".to_owned(), "\u{c9}");
        let sql = search_statement(&query(Owners::All), &sought).sql;
        let folded = "instr(replace(lower(j.atom), '\u{c9}', '\u{e9}'), ";
        assert!(sql.contains(folded), "{sql}");
    }

    #[test]
    fn a_place_is_a_position() {
        let place = position_of("0001767603601250f7").unwrap();
        assert_eq!((place.status_ms, place.id.as_str()), (UnixMillis(1_767_603_601_250), "f7"));
        for wrong in ["", "0001", "0001767603601250", "x001767603601250f"] {
            assert_eq!(position_of(wrong), None, "{wrong}");
        }
    }
}
