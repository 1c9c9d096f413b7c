//! ListWebhooks, an operation of our extension: selects the webhooks in trouble of a page, and makes the page and its
//! token.
//!
//! Pure decisions. The rows come from the list in D1, which tasks update (`session/debts/troubles.rs`); no object of a
//! task is called.

use serde_json::json;

use super::list_tasks::{Scope, name_in_tokens, parse_token, token_at, unknown_token};
use crate::auth::{Caller, Owners};
use a2a::error::Error;
use a2a::model::{ListWebhooksRequest, UnixMillis, WebhookTrouble, fnv1a, to_json};

/// A query of the list: the webhooks of the tasks of one owner with one agent, or for an operator those of all owners; the
/// newest trouble first.
#[derive(Clone, Debug, PartialEq)]
pub struct WebhookQuery {
    /// The owners of the tasks.
    pub owners: Owners,
    /// The agent of the tasks.
    pub agent: String,
    /// Only webhooks with this kind of trouble.
    pub trouble: Option<WebhookTrouble>,
    /// Only webhooks from this position on.
    pub from: Option<WebhookPlace>,
    /// The number of rows to read: one more than the page shows.
    pub limit: usize,
}

/// The position of a webhook in the order of the list.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct WebhookPlace {
    /// The instant at which the trouble began.
    pub since_ms: i64,
    /// The id of the task's object.
    pub task: String,
    /// The id of the webhook.
    pub id: String,
}

/// A row of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundWebhook {
    /// The position of the webhook.
    pub place: WebhookPlace,
    /// The owner of the task.
    pub owner: String,
    /// The webhook as a JSON object for the answer.
    pub shown: String,
}

impl WebhookQuery {
    /// The query for a request. `None` if the answer is always an empty page: all callers without credentials count as the
    /// same caller, and this list must not reveal the tasks of one of them to the others.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidParams`] for a page token that is invalid or belongs to other filters.
    pub fn new(
        agent: &str,
        caller: &Caller,
        scope: &Scope,
        request: &ListWebhooksRequest,
    ) -> Result<Option<Self>, Error> {
        let mut query = Self {
            owners: scope.owners(caller),
            agent: agent.to_owned(),
            trouble: request.state,
            from: None,
            limit: usize::from(request.page_size) + 1,
        };
        if let Some(token) = &request.page_token {
            let (status_ms, id) = parse_token(token, query.fingerprint())?;
            let (task, id) = id.split_once(PLACE_END).ok_or_else(unknown_token)?;
            let (task, id) = (task.to_owned(), id.to_owned());
            query.from = Some(WebhookPlace { since_ms: status_ms.0, task, id });
        }
        Ok((*scope != Scope::OneContext).then_some(query))
    }

    /// The result for these rows.
    pub fn page(&self, mut found: Vec<FoundWebhook>) -> String {
        let size = self.limit.saturating_sub(1);
        let next = found.get(size).map(|FoundWebhook { place, .. }| {
            let WebhookPlace { since_ms, task, id } = place;
            let id = format!("{task}{PLACE_END}{id}");
            token_at(UnixMillis(*since_ms), &id, self.fingerprint())
        });
        found.truncate(size);
        let shown: Vec<String> = found.into_iter().map(|found| self.shown(found)).collect();
        page_of(&shown, &next.unwrap_or_default())
    }

    /// A row in the form of the result; for operators, with the owner of the task.
    fn shown(&self, FoundWebhook { owner, shown, .. }: FoundWebhook) -> String {
        match shown.strip_prefix('{') {
            Some(rest) if self.owners == Owners::All => {
                format!(r#"{{"owner":{},{rest}"#, json!(owner))
            }
            Some(_) | None => shown,
        }
    }

    /// Identifies the filters of a list; a page token is valid only for the same filters.
    fn fingerprint(&self) -> u64 {
        let filters = ("webhooks", name_in_tokens(&self.owners), &self.agent, self.trouble);
        // Texts can always be encoded.
        fnv1a(to_json(&filters).unwrap_or_default().as_bytes())
    }
}

/// The result without webhooks.
pub fn empty_page() -> String {
    page_of(&[], "")
}

fn page_of(shown: &[String], token: &str) -> String {
    format!(r#"{{"webhooks":[{}],"nextPageToken":"{token}"}}"#, shown.join(","))
}

/// The separator of the object of a task and the id of a webhook; neither contains it.
const PLACE_END: char = '/';

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::auth::OwnerId;

    fn request(params: Value) -> ListWebhooksRequest {
        a2a::model::decode::decode(params).unwrap()
    }

    fn of(owner: &str) -> Owners {
        Owners::One(OwnerId::new(owner))
    }

    fn query(scope: &Scope, params: Value) -> Result<Option<WebhookQuery>, Error> {
        WebhookQuery::new("agent", &Caller::new("key:a"), scope, &request(params))
    }

    fn found(since_ms: i64, id: &str) -> FoundWebhook {
        let place = WebhookPlace { since_ms, task: "0a".to_owned(), id: id.to_owned() };
        let shown = json!({"id": id}).to_string();
        FoundWebhook { place, owner: "key:\"b".to_owned(), shown }
    }

    #[test]
    fn the_next_page_begins_where_this_one_ends_and_a_token_belongs_to_its_filters() {
        let params = json!({"pageSize": 2, "state": "failing"});
        let asked = query(&Scope::Own, params).unwrap().unwrap();
        assert_eq!((&asked.owners, asked.limit), (&of("key:a"), 3));
        let page = asked.page(vec![found(3, "x"), found(2, "y:1"), found(1, "z.2")]);
        let page: Value = serde_json::from_str(&page).unwrap();
        assert_eq!(page["webhooks"], json!([{"id": "x"}, {"id": "y:1"}]));
        let token = &page["nextPageToken"];
        let next = json!({"pageSize": 9, "state": "failing", "pageToken": token});
        let next = query(&Scope::Own, next).unwrap().unwrap();
        assert_eq!(next.from, Some(found(1, "z.2").place));
        let last: Value = serde_json::from_str(&next.page(vec![found(1, "z.2")])).unwrap();
        assert_eq!(last["nextPageToken"], "");
        for (scope, params) in [
            (Scope::Own, json!({"pageToken": token})),
            (Scope::Own, json!({"state": "suspended", "pageToken": token})),
            (Scope::Operator(Owners::All), json!({"state": "failing", "pageToken": token})),
            (Scope::Own, json!({"pageToken": "x"})),
        ] {
            let Err(Error::InvalidParams(violations)) = query(&scope, params) else {
                panic!("{scope:?}")
            };
            assert_eq!(violations[0].field, "pageToken");
        }
    }

    #[test]
    fn an_operator_is_told_whose_tasks_they_are_and_may_ask_for_one_owner() {
        let all = query(&Scope::Operator(Owners::All), json!({})).unwrap().unwrap();
        assert_eq!(all.owners, Owners::All);
        let page: Value = serde_json::from_str(&all.page(vec![found(3, "x")])).unwrap();
        assert_eq!(page["webhooks"], json!([{"owner": "key:\"b", "id": "x"}]));
        let one = query(&Scope::Operator(of("key:b")), json!({})).unwrap().unwrap();
        assert_eq!(one.owners, of("key:b"));
        assert!(!one.page(vec![found(3, "x")]).contains("owner"));
    }

    #[test]
    fn whoever_has_no_open_list_of_tasks_has_none_of_webhooks() {
        assert_eq!(query(&Scope::OneContext, json!({})), Ok(None));
        assert_eq!(empty_page(), r#"{"webhooks":[],"nextPageToken":""}"#);
    }
}
