//! The messages in the queues: jobs for senders of notifications, dead letters, and deletion jobs.
//!
//! The kind of a message follows from its members, so the names of queues are free. Bodies are JSON texts to which
//! members may be added: a consumer of another version reads them during a deploy.

use serde::Serialize;

use super::address::ObjectId;
use crate::format;
use crate::port::WebhookJob;
use crate::push::GivenUp;
use a2a::model::decode::{Decode, Fields, read_json};
use a2a::model::{Generation, TaskId};

/// The body of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Body {
    /// A job for a webhook with unsent notifications.
    Job(QueuedJob),
    /// Tasks to delete.
    Deletions(DeletionJob),
    /// A notification was given up. Its contents are only for operators.
    DeadLetter,
}

impl Body {
    /// Reads the body of a message.
    ///
    /// # Errors
    ///
    /// If the body cannot be parsed as any of these.
    pub(crate) fn read(text: &str) -> serde_json::Result<Self> {
        read_json(text)
    }
}

impl Decode for Body {
    fn decode(fields: &mut Fields) -> Option<Self> {
        if fields.member("generation").is_some() {
            return Some(Self::DeadLetter);
        }
        if let Some(until) = fields.number("until") {
            return DeletionJob::decode(fields, until).map(Self::Deletions);
        }
        QueuedJob::decode(fields).map(Self::Job)
    }
}

/// A job with the object of its task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct QueuedJob {
    /// The job.
    #[serde(flatten)]
    pub(crate) job: WebhookJob,
    /// The object of the task, if its id differs from the task's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) object: Option<ObjectId>,
}

impl QueuedJob {
    /// The id of the object of the job's task.
    pub(crate) fn object_id(&self) -> ObjectId {
        self.object.clone().unwrap_or_else(|| ObjectId::of_task(&self.job.task))
    }
}

impl Decode for QueuedJob {
    fn decode(fields: &mut Fields) -> Option<Self> {
        let object = fields.string("object").and_then(ObjectId::new);
        Some(Self { job: WebhookJob::decode(fields)?, object })
    }
}

/// Finished tasks to delete.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DeletionJob {
    /// The tasks.
    pub(crate) delete: Vec<Deletion>,
    /// The instant at which the job is out of date, in milliseconds since the epoch: by then, its tasks have been found
    /// again.
    pub(crate) until: i64,
}

impl DeletionJob {
    fn decode(fields: &mut Fields, until: i64) -> Option<Self> {
        format::JOB.check(fields)?;
        Some(Self { delete: fields.required_list("delete")?, until })
    }
}

/// A task to delete.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Deletion {
    /// The task, by the id of its object.
    pub(crate) task: TaskId,
    /// The owner of the task, its agent and the instant of its status, which tell the place of its row. A body of an older version
    /// lacks them.
    owner: Option<String>,
    agent: Option<String>,
    status_ms: Option<i64>,
    /// The shard that has its row, if it is not the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    shard: Option<u32>,
}

/// The place of a row of the index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RowPlace {
    pub(crate) owner: String,
    pub(crate) agent: String,
    /// The instant of the status that the row shows, in milliseconds since the epoch.
    pub(crate) status_ms: i64,
    /// The id of the object of the task.
    pub(crate) id: TaskId,
    /// The shard of the owner's index that has the row; 0 in D1.
    pub(crate) shard: u32,
}

impl Deletion {
    /// The deletion of the task with this row.
    pub(crate) fn of(row: RowPlace) -> Self {
        let RowPlace { owner, agent, status_ms, id, shard } = row;
        let (owner, agent, status_ms) = (Some(owner), Some(agent), Some(status_ms));
        Self { task: id, owner, agent, status_ms, shard: (shard > 0).then_some(shard) }
    }

    /// The place of the row of the task, if the body has it.
    pub(crate) fn row(&self) -> Option<RowPlace> {
        let (owner, agent) = (self.owner.clone()?, self.agent.clone()?);
        let (status_ms, shard) = (self.status_ms?, self.shard.unwrap_or_default());
        Some(RowPlace { owner, agent, status_ms, id: self.task.clone(), shard })
    }
}

impl Decode for Deletion {
    fn decode(fields: &mut Fields) -> Option<Self> {
        let (owner, agent) = (fields.string("owner"), fields.string("agent"));
        let (status_ms, shard) = (fields.number("statusMs"), fields.number("shard"));
        Some(Self { task: fields.required_id("task")?, owner, agent, status_ms, shard })
    }
}

/// A notification that was given up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DeadLetter<'a> {
    agent: &'a str,
    task: &'a TaskId,
    config_id: &'a str,
    generation: Generation,
    error: &'a str,
    is_suspended: bool,
}

impl<'a> DeadLetter<'a> {
    /// The letter about a notification that was not delivered to the webhook of a job.
    pub(crate) fn new(job: &'a WebhookJob, given_up: &'a GivenUp) -> Self {
        let GivenUp { generation, error, is_suspended } = given_up;
        let WebhookJob { agent, task, config_id } = job;
        Self { agent, task, config_id, generation: *generation, error, is_suspended: *is_suspended }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn job() -> WebhookJob {
        WebhookJob {
            agent: "demo".to_owned(),
            task: TaskId::new("0a").unwrap(),
            config_id: "c".to_owned(),
        }
    }

    #[test]
    fn a_job_is_read_as_it_was_written() {
        for object in [None, ObjectId::new("0b")] {
            let queued = QueuedJob { job: job(), object };
            let text = serde_json::to_string(&queued).unwrap();
            assert_eq!(Body::read(&text).unwrap(), Body::Job(queued));
        }
    }

    #[test]
    fn a_job_of_a_task_with_the_id_of_its_object_is_that_of_earlier_versions() {
        let queued = QueuedJob { job: job(), object: None };
        let written = serde_json::to_value(&queued).unwrap();
        assert_eq!(written, json!({"agent": "demo", "task": "0a", "configId": "c"}));
        assert_eq!(queued.object_id(), ObjectId::new("0a").unwrap());
        let elsewhere = QueuedJob { object: ObjectId::new("0b"), ..queued };
        assert_eq!(elsewhere.object_id(), ObjectId::new("0b").unwrap());
    }

    #[test]
    fn a_dead_letter_is_known_by_its_form() {
        let given_up = GivenUp {
            generation: Generation(4),
            error: "the receiver answered 404".to_owned(),
            is_suspended: false,
        };
        let written: Value = serde_json::to_value(DeadLetter::new(&job(), &given_up)).unwrap();
        let expected = json!({"agent": "demo", "task": "0a", "configId": "c", "generation": 4,
            "error": "the receiver answered 404", "isSuspended": false});
        assert_eq!(written, expected);
        assert_eq!(Body::read(&written.to_string()).unwrap(), Body::DeadLetter);
    }

    #[test]
    fn tasks_to_be_deleted_are_read_as_they_were_written() {
        let row = |id| {
            let (owner, agent) = ("o".to_owned(), "a".to_owned());
            RowPlace { owner, agent, status_ms: 7, id: TaskId::new(id).unwrap(), shard: 0 }
        };
        let rows = [row("0a"), row("0b")];
        let job = DeletionJob { delete: rows.clone().map(Deletion::of).to_vec(), until: 5 };
        let written = serde_json::to_value(&job).unwrap();
        let task = |id| json!({"task": id, "owner": "o", "agent": "a", "statusMs": 7});
        assert_eq!(written, json!({"delete": [task("0a"), task("0b")], "until": 5}));
        let Body::Deletions(read) = Body::read(&written.to_string()).unwrap() else { panic!() };
        assert_eq!(read, job);
        let places: Vec<_> = read.delete.iter().filter_map(Deletion::row).collect();
        assert_eq!(places, rows);
    }

    #[test]
    fn a_task_of_an_older_body_has_no_place() {
        let body = r#"{"delete":[{"task":"0a"}],"until":5}"#;
        let Body::Deletions(read) = Body::read(body).unwrap() else { panic!() };
        assert_eq!(read.delete[0].task.as_str(), "0a");
        assert_eq!(read.delete[0].row(), None);
    }

    #[test]
    fn other_messages_cannot_be_read() {
        let newer = r#"{"delete":[{"task":"0a"}],"until":5,"format":2}"#;
        let empty = r#"{"delete":[],"until":5}"#;
        for text in ["", "not json", "[]", "{}", r#"{"agent":"demo","task":"0a"}"#, newer, empty] {
            assert!(Body::read(text).is_err(), "{text}");
        }
    }
}
