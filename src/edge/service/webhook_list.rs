//! The list of webhooks in trouble, in the table `webhooks`. `STORAGE.md` describes it.

use std::cell::Cell;

use async_trait::async_trait;
use worker::{Env, Result};

use super::clock::now;
use super::database::{Statement, Value, number};
use super::index::ObjectIndex;
use super::observer::ConsoleObserver;
use super::rows::{read_row, rows};
use super::tables::{Tables, Whose};
use crate::auth::Owners;
use crate::operation::list_webhooks::{FoundWebhook, WebhookPlace, WebhookQuery};
use crate::port::{
    ListedChange, Observation, Observer, WebhookChange, WebhookList, WebhookTroubles,
};
use crate::push::Health;
use a2a::model::{UnixMillis, WebhookTrouble};
use a2a::sorted::sort_by;

/// The list of webhooks in trouble of a deployment.
pub(in crate::edge) struct TroubleList {
    env: Env,
    tables: Tables,
}

impl TroubleList {
    pub(in crate::edge) fn of(env: &Env) -> Self {
        Self { env: env.clone(), tables: Tables::of(env) }
    }

    /// The rows that match a query, in order.
    ///
    /// # Errors
    ///
    /// If D1 fails, or if the table is missing.
    pub(in crate::edge) async fn find(&self, query: &WebhookQuery) -> Result<Vec<FoundWebhook>> {
        let statement = find_statement(query);
        let whose = match &query.owners {
            Owners::One(owner) => Whose::Owner(owner.as_str()),
            Owners::All => Whose::All(Some(&query.agent)),
        };
        let selected = self.tables.select(whose, &statement).await?;
        let found = selected.rows.into_iter().map(|row| {
            let ListRow { owner, task, id, since_ms, shown } = read_row(row)?;
            Ok(FoundWebhook { place: WebhookPlace { since_ms, task, id }, owner, shown })
        });
        let mut found: Vec<FoundWebhook> = found.collect::<Result<_>>()?;
        sort_by(&mut found, |one, other| other.place.cmp(&one.place));
        found.truncate(query.limit);
        Ok(found)
    }

    /// Deletes from D1 the rows that did not change for a long time; at most once a day in one instance.
    pub(in crate::edge) async fn clean_up(&self) {
        let now = now();
        let is_clean = |cleaned: UnixMillis| now.millis_since(cleaned) < CLEAN_MS;
        if CLEANED.get().is_some_and(is_clean) {
            return;
        }
        CLEANED.set(Some(now));
        if let Err(error) = self.tables.clean_d1(clean_up_sql(now)).await {
            let reason = format!("table webhooks: {error}");
            let observer = ConsoleObserver::of(&self.env);
            observer.observe(&Observation::CleanUpFailed { reason: &reason });
        }
    }
}

#[async_trait(?Send)]
impl WebhookList for ObjectIndex {
    async fn follow(&self, change: ListedChange) -> std::result::Result<(), String> {
        let (owner, agent) = (change.owner.clone(), change.agent.clone());
        let statement = follow_statement(self.object.task_id().as_str(), change);
        self.write(&owner, &agent, &statement).await
    }
}

rows! {
    /// A row of the list.
    struct ListRow {
        owner: String,
        task: String,
        id: String,
        since_ms: i64,
        shown: String,
    }
}

/// Writes the row of a webhook, or deletes the row if the webhook has no troubles any more. A row of a newer change is
/// left as it is.
fn follow_statement(task: &str, ListedChange { owner, agent, change }: ListedChange) -> Statement {
    let WebhookChange { id, version, troubles } = change;
    let Some(WebhookTroubles { health, dead_letters, since_ms, shown }) = troubles else {
        let values = vec![task.into(), Value::Text(id), number(version)];
        return Statement { sql: REMOVE.to_owned(), values };
    };
    let dead_letters = u64::try_from(dead_letters).unwrap_or(u64::MAX);
    let values = vec![
        task.into(),
        Value::Text(id),
        Value::Text(owner),
        Value::Text(agent),
        Value::Number(health_number(health)),
        number(dead_letters),
        Value::Number(since_ms),
        number(version),
        Value::Text(shown),
    ];
    Statement { sql: WRITE.to_owned(), values }
}

/// The rows of a page.
fn find_statement(query: &WebhookQuery) -> Statement {
    let mut statement = Statement::new("SELECT owner, task, id, since_ms, shown FROM webhooks");
    match &query.owners {
        Owners::All => statement.push(" WHERE agent = {}", query.agent.as_str().into()),
        Owners::One(owner) => {
            statement.push(" WHERE owner = {}", owner.as_str().into());
            statement.push(" AND agent = {}", query.agent.as_str().into());
        }
    }
    match query.trouble {
        None => {}
        Some(WebhookTrouble::Failing) => {
            statement.push(" AND health = {}", Value::Number(health_number(Health::Failing)));
        }
        Some(WebhookTrouble::Suspended) => {
            statement.push(" AND health = {}", Value::Number(health_number(Health::Suspended)));
        }
        Some(WebhookTrouble::DeadLetters) => statement.add(" AND given_up > 0"),
    }
    if let Some(WebhookPlace { since_ms, task, id }) = &query.from {
        statement.push(" AND (since_ms, task, id) <= ({}", Value::Number(*since_ms));
        statement.push(", {}", task.as_str().into());
        statement.push(", {})", id.as_str().into());
    }
    let limit = u64::try_from(query.limit).unwrap_or(u64::MAX);
    statement.push(" ORDER BY since_ms DESC, task DESC, id DESC LIMIT {}", number(limit));
    statement
}

/// Deletes the rows that did not change for a long time.
pub(in crate::edge) fn clean_up_sql(now: UnixMillis) -> String {
    format!("DELETE FROM webhooks WHERE updated_ms < {}", now.0.saturating_sub(KEPT_MS))
}

/// The value of the column `health`.
fn health_number(health: Health) -> i64 {
    match health {
        Health::Active => 0,
        Health::Failing => 1,
        Health::Suspended => 2,
    }
}

thread_local! {
    /// The time of the last clean-up by this instance.
    static CLEANED: Cell<Option<UnixMillis>> = const { Cell::new(None) };
}

/// A version is the instant of its change, slightly increased if changes follow quickly.
const WRITE: &str = "INSERT INTO webhooks \
    (task, id, owner, agent, health, given_up, since_ms, updated_ms, version, shown) \
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?8, ?9) ON CONFLICT (task, id) DO UPDATE SET \
    health = excluded.health, given_up = excluded.given_up, since_ms = excluded.since_ms, \
    updated_ms = excluded.updated_ms, version = excluded.version, shown = excluded.shown \
    WHERE excluded.version > webhooks.version";

const REMOVE: &str = "DELETE FROM webhooks WHERE task = ?1 AND id = ?2 AND version < ?3";

/// The shortest time between two clean-ups by one instance: one day, in milliseconds.
const CLEAN_MS: u64 = 86_400_000;

/// The time for which an unchanged row is kept: 90 days, in milliseconds.
const KEPT_MS: i64 = 90 * 86_400_000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::auth::OwnerId;

    fn change(troubles: Option<WebhookTroubles>) -> ListedChange {
        let change = WebhookChange { id: "w".to_owned(), version: 7, troubles };
        ListedChange { owner: "o".to_owned(), agent: "a".to_owned(), change }
    }

    fn query() -> WebhookQuery {
        let (owners, agent) = (Owners::One(OwnerId::new("o")), "a".to_owned());
        WebhookQuery { owners, agent, trouble: None, from: None, limit: 51 }
    }

    #[test]
    fn a_webhook_in_trouble_is_a_row_and_another_is_none() {
        let troubles = WebhookTroubles {
            health: Health::Suspended,
            dead_letters: 3,
            since_ms: 5,
            shown: "{}".to_owned(),
        };
        let written = follow_statement("0a", change(Some(troubles)));
        let expected: [Value; 9] = [
            "0a".into(),
            "w".into(),
            "o".into(),
            "a".into(),
            number(2),
            number(3),
            number(5),
            number(7),
            "{}".into(),
        ];
        assert_eq!(written.values, expected);
        assert!(written.sql.ends_with("WHERE excluded.version > webhooks.version"));
        let removed = follow_statement("0a", change(None));
        assert_eq!(
            removed.sql,
            "DELETE FROM webhooks WHERE task = ?1 AND id = ?2 AND version < ?3"
        );
        assert_eq!(removed.values, ["0a".into(), "w".into(), number(7)]);
    }

    #[test]
    fn a_page_is_a_range_of_the_index_of_its_owner_or_of_the_agent() {
        let own = find_statement(&query());
        assert_eq!(
            own.sql,
            "SELECT owner, task, id, since_ms, shown FROM webhooks WHERE owner = +?1 AND agent = +?2 \
             ORDER BY since_ms DESC, task DESC, id DESC LIMIT +?3"
        );
        assert_eq!(own.values, ["o".into(), "a".into(), number(51)]);
        let from = WebhookPlace { since_ms: 4, task: "0b".to_owned(), id: "x".to_owned() };
        let trouble = Some(WebhookTrouble::Failing);
        let all = WebhookQuery { owners: Owners::All, trouble, from: Some(from), ..query() };
        assert_eq!(
            find_statement(&all).sql,
            "SELECT owner, task, id, since_ms, shown FROM webhooks WHERE agent = +?1 AND health = +?2 \
             AND (since_ms, task, id) <= (+?3, +?4, +?5) ORDER BY since_ms DESC, task DESC, id DESC LIMIT +?6"
        );
        let dead = WebhookQuery { trouble: Some(WebhookTrouble::DeadLetters), ..query() };
        assert!(find_statement(&dead).sql.contains(" AND given_up > 0 ORDER"));
    }

    #[test]
    fn rows_that_nobody_changes_are_deleted() {
        let sql = clean_up_sql(UnixMillis(KEPT_MS + 9));
        assert_eq!(sql, "DELETE FROM webhooks WHERE updated_ms < 9");
    }
}
