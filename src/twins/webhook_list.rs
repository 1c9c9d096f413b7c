//! The list of webhooks in trouble, in memory.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use async_trait::async_trait;

use crate::port::{ListedChange, WebhookChange, WebhookList, WebhookTroubles, yield_once};

/// A list of webhooks in trouble that can fail, or lose its answers.
#[derive(Default)]
pub struct MemoryWebhookList {
    rows: RefCell<BTreeMap<String, (u64, WebhookTroubles)>>,
    statements: Cell<usize>,
    fails: Cell<bool>,
    is_lossy: Cell<bool>,
}

impl MemoryWebhookList {
    /// The troubles of the webhook with this id; `None` if it is not in the list.
    pub fn troubles(&self, id: &str) -> Option<WebhookTroubles> {
        self.rows.borrow().get(id).map(|(_, troubles)| troubles.clone())
    }

    /// The number of statements so far, including failed ones.
    pub fn statements(&self) -> usize {
        self.statements.get()
    }

    fn apply(&self, WebhookChange { id, version, troubles }: WebhookChange) {
        let mut rows = self.rows.borrow_mut();
        if rows.get(&id).is_none_or(|(known, _)| *known < version) {
            match troubles {
                Some(troubles) => rows.insert(id, (version, troubles)),
                None => rows.remove(&id),
            };
        }
    }

    /// Makes every statement fail from now on, or succeed again.
    pub fn set_failing(&self, fails: bool) {
        self.fails.set(fails);
    }

    /// Lets every statement take effect without an answer from now on, or answers again.
    pub fn set_lossy(&self, is_lossy: bool) {
        self.is_lossy.set(is_lossy);
    }
}

#[async_trait(?Send)]
impl WebhookList for MemoryWebhookList {
    async fn follow(&self, ListedChange { change, .. }: ListedChange) -> Result<(), String> {
        self.statements.set(self.statements.get() + 1);
        yield_once().await;
        if self.fails.get() {
            return Err("the list was told to fail".to_owned());
        }
        self.apply(change);
        if self.is_lossy.get() {
            std::future::pending::<()>().await;
        }
        Ok(())
    }
}
