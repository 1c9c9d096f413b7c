//! ListTasks (spec §3.1.4): selects the tasks of a page, and makes the page and its token.
//!
//! Pure decisions. The rows come from the index; `edge` requests artifacts from the objects.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};

use crate::auth::{Caller, OwnerId, Owners};
use crate::format;
use a2a::error::Error;
use a2a::model::{
    ContextId, HistoryLimit, ListTasksRequest, TaskId, TaskState, UnixMillis, fnv1a, read_own,
    to_json,
};

/// A query of the index: the tasks of one owner with one agent, or for an operator those of all owners, newest status
/// first, ties by id descending.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskQuery {
    /// The owners of the tasks.
    pub owners: Owners,
    /// The agent of the tasks.
    pub agent: String,
    /// Only tasks of this conversation.
    pub context_id: Option<ContextId>,
    /// Only tasks in this state.
    pub state: Option<TaskState>,
    /// Only tasks whose status began at or after this instant.
    pub since: Option<UnixMillis>,
    /// Only tasks that wait for their client.
    pub waiting: bool,
    /// Only tasks one of whose texts contains this text, in any case.
    pub text: Option<String>,
    /// Only tasks from this position on. Does not affect the total.
    pub from: Option<Position>,
    /// The number of rows to read: one more than the page shows, to find out if there is another page.
    pub limit: usize,
    /// True if the history of the tasks is read.
    pub with_history: bool,
    /// True if the summaries of the tasks are read.
    pub with_summary: bool,
}

/// The owners whose tasks a listing shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Scope {
    /// The caller's tasks.
    #[default]
    Own,
    /// The caller's tasks of one context, which the request has to name. For callers without credentials, who all count
    /// as the same caller.
    OneContext,
    /// The tasks of these owners, for an operator.
    Operator(Owners),
}

impl Scope {
    /// The owners whose tasks this caller sees.
    pub fn owners(&self, caller: &Caller) -> Owners {
        match self {
            Self::Own | Self::OneContext => Owners::One(OwnerId::new(caller.owner())),
            Self::Operator(owners) => owners.clone(),
        }
    }

    /// True if the answer to a request is always an empty page.
    pub fn hides_all(&self, request: &ListTasksRequest) -> bool {
        *self == Self::OneContext && request.context_id.is_none()
    }
}

/// The position of a task in the order of a listing.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The beginning of the task's status.
    pub status_ms: UnixMillis,
    /// The id of the task's object, which equals the id of the task unless a client has chosen that.
    pub id: TaskId,
}

/// The result of a [`TaskQuery`].
#[derive(Clone, Debug, PartialEq)]
pub struct Found<'l> {
    /// The rows, in order.
    pub tasks: Vec<FoundTask<'l>>,
    /// The number of matching tasks on all pages; of a search, among the tasks that were searched.
    pub total: u64,
    /// The extent of a search.
    pub searched: Option<Searched>,
}

/// The extent of a search by a text, which looks at a bounded number of tasks: the newest ones from the position of the query on.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Searched {
    /// The number of tasks that were searched.
    pub size: u64,
    /// The newest task that was not searched.
    pub older: Option<Position>,
}

/// A row of the index. Its texts are parts of the lines that the index has returned.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundTask<'l> {
    /// The position of the task.
    pub position: Position,
    /// The owner of the task, if the query was for all owners.
    pub owner: Option<&'l str>,
    /// The summary of the task, if the query was for it.
    pub summary: Option<Summary<'l>>,
    /// The task as a JSON object, without history and artifacts.
    pub head: &'l str,
    /// The newest messages of the task as JSON, one per line, oldest first; empty if the query did not request the
    /// history.
    pub history: &'l str,
}

/// One page of a listing.
#[derive(Clone, Debug, PartialEq)]
pub struct Page<'l> {
    /// The tasks of the page, in order.
    pub tasks: Vec<FoundTask<'l>>,
    next: Option<Position>,
    total: u64,
    searched: Option<Searched>,
    size: u8,
    fingerprint: u64,
}

/// What a list shows of a task beside the task itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Summary<'l> {
    /// The duration of a finished task in milliseconds, from its begin to its end, if the index has it.
    pub duration_ms: Option<u64>,
    /// The beginning of the first text, or else of the first data, of the oldest message; empty if the index has none.
    pub asked: &'l str,
}

impl TaskQuery {
    /// The query for a request: tasks of the agent, which belong to the caller unless the caller is an operator.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidParams`] for a page token that is invalid or belongs to other filters.
    pub fn new(
        agent: &str,
        caller: &Caller,
        scope: &Scope,
        request: &ListTasksRequest,
    ) -> Result<Self, Error> {
        let mut query = Self {
            owners: scope.owners(caller),
            agent: agent.to_owned(),
            context_id: request.context_id.clone(),
            state: request.status,
            since: request.status_timestamp_after,
            waiting: request.waiting,
            text: request.text.clone(),
            from: None,
            limit: usize::from(request.page_size) + 1,
            with_history: request.history_length != Some(0) && !request.include_artifacts,
            with_summary: request.include_summary,
        };
        if let Some(token) = &request.page_token {
            let (status_ms, id) = parse_token(token, query.fingerprint())?;
            let id = TaskId::new(id).ok_or_else(unknown_token)?;
            query.from = Some(Position { status_ms, id });
        }
        Ok(query)
    }

    /// True if there are no filters: every task of the caller with the agent matches.
    pub fn is_unfiltered(&self) -> bool {
        self.context_id.is_none()
            && self.state.is_none()
            && self.since.is_none()
            && !self.waiting
            && self.text.is_none()
    }

    /// True if only tasks that are not finished match.
    pub fn is_of_unfinished(&self) -> bool {
        self.waiting || self.state.is_some_and(|state| !state.is_terminal())
    }

    /// Identifies the filters of a listing; a page token is valid only for the same filters.
    fn fingerprint(&self) -> u64 {
        let state = self.state.map(TaskState::number);
        let since = self.since.map(|since| since.0);
        let filters = (name_in_tokens(&self.owners), &self.agent, &self.context_id, state, since);
        // Tuples of texts and numbers can always be encoded.
        let mut filters = to_json(&filters).unwrap_or_default();
        // Tokens from before there were these filters stay valid.
        if self.waiting || self.text.is_some() {
            filters.push_str(&to_json(&(self.waiting, &self.text)).unwrap_or_default());
        }
        fnv1a(filters.as_bytes())
    }
}

impl<'l> Page<'l> {
    /// The page for a request, from the result of its query.
    pub fn new(query: &TaskQuery, request: &ListTasksRequest, found: Found<'l>) -> Self {
        let size = request.page_size;
        let Found { tasks, total, searched } = found;
        let next = searched.as_ref().and_then(|searched| searched.older.clone());
        let fingerprint = query.fingerprint();
        let mut page = Self { tasks, next, total, searched, size, fingerprint };
        page.cut(size.into());
        page
    }

    /// Ends the page after at most `count` tasks; the next page begins with the following task.
    pub fn cut(&mut self, count: usize) {
        if let Some(first) = self.tasks.get(count) {
            self.next = Some(first.position.clone());
            self.tasks.truncate(count);
        }
    }

    /// A page without tasks.
    pub fn empty(query: &TaskQuery, request: &ListTasksRequest) -> Self {
        let searched = query.text.as_ref().map(|_| Searched::default());
        Self::new(query, request, Found { tasks: Vec::new(), total: 0, searched })
    }

    /// The result of ListTasks with the tasks of the page in the form of the index, each with the newest messages up to
    /// this limit.
    pub fn whole(&self, history: HistoryLimit) -> String {
        let sizes = self.tasks.iter().map(|task| task.head.len() + task.history.len());
        let mut tasks = String::with_capacity(sizes.map(|size| size + MEMBER_BYTES).sum());
        for task in &self.tasks {
            if !tasks.is_empty() {
                tasks.push(',');
            }
            task.push_json(history, &mut tasks);
        }
        self.to_json(&tasks)
    }

    /// The token of the next page; empty on the last page.
    pub fn next_token(&self) -> String {
        let token = |Position { status_ms, id }: &Position| {
            token_at(*status_ms, id.as_str(), self.fingerprint)
        };
        self.next.as_ref().map(token).unwrap_or_default()
    }

    /// The result of ListTasks with these tasks: JSON objects, separated by commas.
    pub fn to_json(&self, tasks: &str) -> String {
        let token = self.next_token();
        let Self { size, total, .. } = self;
        let searched = match &self.searched {
            Some(Searched { size, older }) => {
                format!(r#","searchedSize":{size},"isBounded":{}"#, older.is_some())
            }
            None => String::new(),
        };
        format!(
            r#"{{"tasks":[{tasks}],"nextPageToken":"{token}","pageSize":{size},"totalSize":{total}{searched}}}"#
        )
    }
}

impl FoundTask<'_> {
    /// Appends the task as JSON, with the newest messages up to this limit.
    fn push_json(&self, history: HistoryLimit, json: &mut String) {
        let begun = json.len();
        match (self.newest_messages(history), self.head.strip_suffix('}')) {
            ("", _) | (_, None) => json.push_str(self.head),
            (messages, Some(open)) => {
                json.push_str(open);
                let mut before = r#","history":["#;
                for message in messages.split('\n') {
                    json.push_str(before);
                    json.push_str(message);
                    before = ",";
                }
                json.push_str("]}");
            }
        }
        if self.owner.is_some() || self.summary.is_some() {
            let task = json.split_off(begun);
            json.push_str(&self.with_facts(task));
        }
    }

    /// The newest messages up to this limit, one per line.
    fn newest_messages(&self, limit: HistoryLimit) -> &str {
        let HistoryLimit::Newest(length) = limit else { return self.history };
        let Some(earlier) = length.checked_sub(1) else { return "" };
        match self.history.rmatch_indices('\n').nth(earlier) {
            Some((end, _)) => self.history.get(end + 1..).unwrap_or_default(),
            None => self.history,
        }
    }

    /// The same task, a JSON object, with what the index alone has in its metadata: the owner if the query was for all owners, and the
    /// summary if it was for that.
    pub fn with_facts(&self, task: String) -> String {
        if self.owner.is_none() && self.summary.is_none() {
            return task;
        }
        let Ok(Value::Object(mut members)) = read_own(&task) else { return task };
        let metadata = members.entry("metadata").or_insert_with(|| json!({}));
        if let Value::Object(metadata) = metadata {
            let owner = self.owner.map(|owner| (OWNER_MEMBER, json!(owner)));
            let duration = self.summary.and_then(|summary| summary.duration_ms);
            let duration = duration.map(|millis| (DURATION_MEMBER, json!(millis)));
            let asked = self.summary.map(|summary| summary.asked).filter(|asked| !asked.is_empty());
            let asked = asked.map(|asked| (ASKED_MEMBER, json!(asked)));
            for (name, value) in owner.into_iter().chain(duration).chain(asked) {
                metadata.insert(name.to_owned(), value);
            }
        }
        Value::Object(members).to_string()
    }
}

/// The size in bytes of what a task in a page has beside its head and its messages.
const MEMBER_BYTES: usize = 32;

/// The member of a task's metadata with its owner, for operators.
const OWNER_MEMBER: &str = "urn:a2a-edge:owner";

/// The member of a finished task's metadata with its duration in milliseconds, from its begin to its end.
const DURATION_MEMBER: &str = "urn:a2a-edge:duration-ms";

/// The member of a task's metadata with what was asked first.
const ASKED_MEMBER: &str = "urn:a2a-edge:asked";

/// The owners of a query in the form for page tokens.
pub(super) fn name_in_tokens(owners: &Owners) -> &str {
    owners.one().map_or("", OwnerId::as_str)
}

/// A page token: the instant and the id at which the page begins, and the filters. Opaque to clients.
pub(super) fn token_at(status_ms: UnixMillis, id: &str, fingerprint: u64) -> String {
    URL_SAFE_NO_PAD.encode(format!("{fingerprint:016x}.{}.{id}", status_ms.0))
}

/// The instant and the id of a page token.
///
/// # Errors
///
/// [`Error::InvalidParams`] for a token that is invalid or belongs to other filters, and [`Error::Unavailable`] for one of
/// another version.
pub(super) fn parse_token(token: &str, fingerprint: u64) -> Result<(UnixMillis, String), Error> {
    let bytes = URL_SAFE_NO_PAD.decode(token).map_err(|_| unknown_token())?;
    let text = String::from_utf8(bytes).map_err(|_| unknown_token())?;
    let number = text.strip_prefix('v').and_then(|rest| rest.split_once('.')?.0.parse().ok());
    if number.is_some_and(|number| !format::PAGE_TOKEN.reads(number)) {
        return Err(Error::Unavailable(format::OTHER_VERSION));
    }
    let mut members = text.splitn(3, '.');
    let mut next = || members.next().ok_or_else(unknown_token);
    let belongs_to = u64::from_str_radix(next()?, 16).map_err(|_| unknown_token())?;
    let status_ms = next()?.parse().map(UnixMillis).map_err(|_| unknown_token())?;
    let id = next()?.to_owned();
    if belongs_to != fingerprint {
        let advice = "belongs to a listing with other filters; begin that listing anew without it";
        return Err(Error::invalid("pageToken", advice));
    }
    Ok((status_ms, id))
}

/// The refusal of a page token that is not one of this server.
pub(super) fn unknown_token() -> Error {
    Error::invalid("pageToken", "must be the nextPageToken of a former answer")
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn request(params: Value) -> ListTasksRequest {
        serde_json::from_value(params).unwrap()
    }

    fn of(owner: &str) -> Owners {
        Owners::One(OwnerId::new(owner))
    }

    fn query(params: Value) -> Result<TaskQuery, Error> {
        TaskQuery::new("agent", &Caller::anonymous(), &Scope::Own, &request(params))
    }

    fn task(status_ms: i64, id: &'static str) -> FoundTask<'static> {
        let position = Position { status_ms: UnixMillis(status_ms), id: TaskId::new(id).unwrap() };
        let head = match id {
            "a" => r#"{"id":"a"}"#,
            "b" => r#"{"id":"b"}"#,
            _ => r#"{"id":"z"}"#,
        };
        FoundTask { position, owner: None, summary: None, head, history: "" }
    }

    fn read(task: &FoundTask<'_>, history: HistoryLimit) -> Value {
        let mut json = String::new();
        task.push_json(history, &mut json);
        serde_json::from_str(&json).unwrap()
    }

    fn answer(params: Value, found: Found<'_>) -> Value {
        let request = request(params);
        let query = TaskQuery::new("agent", &Caller::anonymous(), &Scope::Own, &request).unwrap();
        let page = Page::new(&query, &request, found);
        serde_json::from_str(&page.whole(HistoryLimit::All)).unwrap()
    }

    #[test]
    fn every_listing_is_scoped_by_caller_and_agent() {
        let stranger = Caller::new("stranger");
        for params in [json!({}), json!({"contextId": "c", "status": 3})] {
            let query = TaskQuery::new("agent", &stranger, &Scope::Own, &request(params)).unwrap();
            assert_eq!((&query.owners, query.agent.as_str()), (&of("stranger"), "agent"));
        }
    }

    #[test]
    fn one_row_more_than_the_page_is_read() {
        assert_eq!(query(json!({})).unwrap().limit, 51);
        assert_eq!(query(json!({"pageSize": 1})).unwrap().limit, 2);
    }

    #[test]
    fn history_is_read_only_when_it_is_shown() {
        for (params, expected) in [
            (json!({}), true),
            (json!({"historyLength": 1}), true),
            (json!({"historyLength": 0}), false),
            (json!({"includeArtifacts": true}), false),
        ] {
            assert_eq!(query(params.clone()).unwrap().with_history, expected, "{params}");
        }
    }

    #[test]
    fn nothing_found_is_an_empty_page() {
        let expected = json!({"tasks": [], "nextPageToken": "", "pageSize": 50, "totalSize": 0});
        assert_eq!(
            answer(json!({}), Found { tasks: Vec::new(), total: 0, searched: None }),
            expected
        );
    }

    #[test]
    fn the_last_page_has_no_token() {
        let found = Found { tasks: vec![task(2, "b"), task(1, "a")], total: 9, searched: None };
        let page = answer(json!({"pageSize": 2}), found);
        assert_eq!(page["tasks"], json!([{"id": "b"}, {"id": "a"}]));
        assert_eq!((&page["nextPageToken"], &page["totalSize"]), (&json!(""), &json!(9)));
    }

    #[test]
    fn the_next_page_begins_where_this_one_ends() {
        let found = Found {
            tasks: vec![task(2, "b"), task(2, "a"), task(1, "z")],
            total: 9,
            searched: None,
        };
        let page = answer(json!({"pageSize": 2, "contextId": "c"}), found);
        assert_eq!(page["tasks"].as_array().unwrap().len(), 2);
        let token = &page["nextPageToken"];
        let next = query(json!({"pageSize": 5, "contextId": "c", "pageToken": token})).unwrap();
        assert_eq!(next.from, Some(task(1, "z").position));
    }

    #[test]
    fn a_page_that_is_cut_goes_on_where_it_was_cut() {
        let request = request(json!({}));
        let query = TaskQuery::new("agent", &Caller::anonymous(), &Scope::Own, &request).unwrap();
        let found = Found { tasks: vec![task(2, "b"), task(1, "a")], total: 2, searched: None };
        let mut page = Page::new(&query, &request, found);
        page.cut(2);
        assert!(page.to_json("").contains(r#""nextPageToken":"""#));
        page.cut(1);
        let answer: Value = serde_json::from_str(&page.to_json("")).unwrap();
        let position = parse_token(answer["nextPageToken"].as_str().unwrap(), query.fingerprint());
        assert_eq!(position, Ok((UnixMillis(1), "a".to_owned())));
    }

    #[test]
    fn a_search_says_how_many_tasks_it_has_searched_and_goes_on_with_the_older_ones() {
        let searched = |older| Some(Searched { size: 10_000, older });
        let found =
            |older| Found { tasks: vec![task(2, "b")], total: 1, searched: searched(older) };
        let page = answer(json!({"text": "x"}), found(None));
        assert_eq!((&page["searchedSize"], &page["isBounded"]), (&json!(10_000), &json!(false)));
        assert_eq!(page["nextPageToken"], "");
        let page = answer(json!({"text": "x"}), found(Some(task(1, "a").position)));
        assert_eq!(page["isBounded"], true);
        let token = &page["nextPageToken"];
        let next = query(json!({"text": "x", "pageToken": token})).unwrap();
        assert_eq!(next.from, Some(task(1, "a").position));
        assert!(query(json!({"text": "y", "pageToken": token})).is_err());
        let request = request(json!({"text": "x"}));
        let nothing = Page::empty(&query(json!({"text": "x"})).unwrap(), &request).to_json("");
        assert!(nothing.contains(r#""searchedSize":0,"isBounded":false"#), "{nothing}");
    }

    #[test]
    fn a_summary_is_shown_in_the_metadata() {
        let with = |duration_ms, asked| {
            let found = FoundTask { summary: Some(Summary { duration_ms, asked }), ..task(1, "a") };
            read(&found, HistoryLimit::All)["metadata"].clone()
        };
        let whole = json!({"urn:a2a-edge:duration-ms": 1250, "urn:a2a-edge:asked": "\"x\""});
        assert_eq!(with(Some(1250), "\"x\""), whole);
        assert_eq!(with(None, ""), json!({}));
    }

    #[test]
    fn a_token_belongs_to_its_filters() {
        let found = || Found { tasks: vec![task(2, "b"), task(2, "a")], total: 2, searched: None };
        let page = answer(json!({"pageSize": 1, "status": 3}), found());
        let token = page["nextPageToken"].as_str().unwrap();
        assert!(query(json!({"status": "TASK_STATE_COMPLETED", "pageToken": token})).is_ok());
        for other in [
            json!({"pageToken": token}),
            json!({"status": 4, "pageToken": token}),
            json!({"status": 3, "contextId": "c", "pageToken": token}),
            json!({"status": 3, "statusTimestampAfter": "2026-01-05T09:00:01Z", "pageToken": token}),
            json!({"status": 3, "waiting": true, "pageToken": token}),
            json!({"status": 3, "text": "x", "pageToken": token}),
        ] {
            let Err(Error::InvalidParams(violations)) = query(other.clone()) else {
                panic!("{other} was accepted");
            };
            assert_eq!(violations[0].field, "pageToken");
        }
        let params = request(json!({"status": 3, "pageToken": token}));
        let stranger = Caller::new("stranger");
        assert!(TaskQuery::new("agent", &stranger, &Scope::Own, &params).is_err());
        assert!(TaskQuery::new("other", &Caller::anonymous(), &Scope::Own, &params).is_err());
    }

    #[test]
    fn a_token_of_a_newer_version_may_be_taken_later() {
        let token = URL_SAFE_NO_PAD.encode("v2.0123456789abcdef.5.id");
        let refused = query(json!({"pageToken": token}));
        assert_eq!(refused, Err(Error::Unavailable(format::OTHER_VERSION)));
    }

    #[test]
    fn what_is_no_token_is_refused() {
        let encoded = |text: &str| URL_SAFE_NO_PAD.encode(text);
        for token in [
            "x".to_owned(),
            "%%%".to_owned(),
            encoded("0123456789abcdef"),
            encoded("0123456789abcdef.5"),
            encoded("0123456789abcdef.x.id"),
            encoded("wrong.5.id"),
            encoded("vx.0123456789abcdef.5.id"),
            URL_SAFE_NO_PAD.encode([0xff, 0xfe]),
        ] {
            assert!(query(json!({"pageToken": token})).is_err(), "{token}");
        }
    }

    #[test]
    fn the_newest_messages_are_shown_oldest_first() {
        let found = FoundTask { history: "{\"m\":1}\n{\"m\":2}\n{\"m\":3}", ..task(1, "a") };
        for (limit, expected) in [
            (HistoryLimit::Newest(0), json!({"id": "a"})),
            (HistoryLimit::Newest(2), json!({"id": "a", "history": [{"m": 2}, {"m": 3}]})),
            (
                HistoryLimit::Newest(3),
                json!({"id": "a", "history": [{"m": 1}, {"m": 2}, {"m": 3}]}),
            ),
            (
                HistoryLimit::Newest(4),
                json!({"id": "a", "history": [{"m": 1}, {"m": 2}, {"m": 3}]}),
            ),
            (HistoryLimit::All, json!({"id": "a", "history": [{"m": 1}, {"m": 2}, {"m": 3}]})),
        ] {
            assert_eq!(read(&found, limit), expected);
        }
        assert_eq!(read(&task(1, "a"), HistoryLimit::All), json!({"id": "a"}));
    }

    #[test]
    fn an_anonymous_caller_has_to_name_a_context_where_the_list_is_not_open() {
        let anonymous = Caller::anonymous();
        for (scope, params, hides) in [
            (Scope::OneContext, json!({}), true),
            (Scope::OneContext, json!({"status": "TASK_STATE_WORKING"}), true),
            (Scope::OneContext, json!({"contextId": "c"}), false),
            (Scope::Own, json!({}), false),
            (Scope::Operator(Owners::All), json!({}), false),
        ] {
            let request = request(params);
            assert_eq!(scope.hides_all(&request), hides, "{scope:?}");
            let query = TaskQuery::new("agent", &anonymous, &scope, &request).unwrap();
            let page = Page::empty(&query, &request).to_json("");
            let nothing = r#"{"tasks":[],"nextPageToken":"","pageSize":50,"totalSize":0}"#;
            assert_eq!(page, nothing);
        }
    }

    #[test]
    fn an_operator_lists_the_tasks_of_all_or_of_one_owner_and_is_told_whose_they_are() {
        let operator = Caller::new("key:ops");
        let request = request(json!({}));
        let query = |owners: &Owners| {
            let scope = Scope::Operator(owners.clone());
            TaskQuery::new("agent", &operator, &scope, &request).unwrap()
        };
        for owners in [Owners::All, of("jwt:alice")] {
            assert_eq!(query(&owners).owners, owners);
        }
        let own = TaskQuery::new("agent", &operator, &Scope::Own, &request).unwrap();
        assert_eq!(own.owners, of("key:ops"));
        assert_ne!(
            query(&Owners::All).fingerprint(),
            own.fingerprint(),
            "tokens are of one listing"
        );

        let owner = Some("jwt:alice");
        for (head, shown) in [
            (
                json!({"id": "t"}),
                json!({"id": "t", "metadata": {"urn:a2a-edge:owner": "jwt:alice"}}),
            ),
            (
                json!({"id": "t", "metadata": {"a": 1}}),
                json!({"id": "t", "metadata": {"a": 1, "urn:a2a-edge:owner": "jwt:alice"}}),
            ),
        ] {
            let found = FoundTask { owner, head: &head.to_string(), ..task(1, "t") };
            assert_eq!(read(&found, HistoryLimit::All), shown);
        }
    }
}
