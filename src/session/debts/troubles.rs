//! The debt to the list of webhooks in trouble: one row for each webhook that is failing or suspended, or has dead letters.
//!
//! The progress is stored with the webhook, so after a crash between a change and its row, the row is written later. A row may be
//! written a second time, which changes nothing. A webhook that never failed has no debt. The object forgets a deleted webhook;
//! its row is deleted as long as this session exists, and a remaining row is deleted with its task.

use super::{Debt, Debts, Failure, Ledger, Statement};
use crate::port::{ListedChange, Observation, WebhookChange};
use crate::session::TaskSession;
use crate::session::life::Life;
use crate::session::webhooks::Webhooks;
use a2a::model::TaskId;

/// The debt to the list of webhooks in trouble. Each webhook counts its own changes, so the wanted value is 1 while a change is owed, and
/// 0 otherwise.
pub(in crate::session) struct Troubles;

impl Debt for Troubles {
    type Part = WebhookChange;

    fn ledger(debts: &Debts) -> &Ledger {
        &debts.troubles
    }

    fn wanted(_: &Life, webhooks: &Webhooks) -> u64 {
        u64::from(webhooks.owe_listing())
    }

    async fn next(session: &TaskSession) -> Option<Statement<'_, WebhookChange>> {
        if session.health.is_broken() {
            return None;
        }
        let change = session.webhooks.next_change(session.id())?;
        let facts = session.life.facts();
        let (owner, agent) = facts.map(|facts| (facts.owner, facts.agent)).unwrap_or_default();
        let listed = ListedChange { owner, agent, change: change.clone() };
        Some(Statement { part: change, result: session.ports.webhook_list.follow(listed) })
    }

    fn reached(_change: &WebhookChange) -> u64 {
        0
    }

    fn note_paid(session: &TaskSession, change: &WebhookChange) {
        session.webhooks.note_listed(change);
        if !session.health.is_broken() {
            session.store_webhook(&change.id);
        }
    }

    fn failed<'a>(
        task: &'a TaskId,
        change: &'a WebhookChange,
        Failure { failures, retry_ms, reason }: Failure<'a>,
    ) -> Observation<'a> {
        let webhook = change.id.as_str();
        Observation::WebhookUnlisted { task, webhook, failures, retry_ms, reason }
    }
}
