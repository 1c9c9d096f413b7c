//! What a server asks in the middle of a call, as steps keep it.

use serde_json::{Value, json};

use ::mcp::client::TaskHandle;
use ::mcp::model::Question;

/// What a server has asked in the middle of a call, and what is needed to go on with it.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::executor) struct Asked {
    /// Which of the calls it is, from 1.
    pub(in crate::executor) position: usize,
    /// The questions.
    pub(in crate::executor) questions: Vec<Question>,
    /// How the call goes on.
    pub(in crate::executor) way: Way,
}

/// How a call goes on when its question is answered.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::executor) enum Way {
    /// It is made again, with the answers, and with what the server wants to have back.
    Round {
        /// What it wants to have back.
        state: Option<String>,
        /// How often it has asked.
        round: u32,
    },
    /// The server goes on with its task.
    Task(TaskHandle),
    /// On the connection of the call, which the run holds. The turn that finds this has lost it.
    Held,
}

impl Asked {
    /// As a step keeps it.
    pub(in crate::executor) fn to_json(&self) -> Value {
        let questions = self.questions.iter().map(|question| {
            let mut json = question.to_json();
            if let Some(members) = json.as_object_mut() {
                members.insert("key".to_owned(), json!(question.key));
            }
            json
        });
        json!({
            "position": self.position,
            "questions": questions.collect::<Vec<_>>(),
            "way": match &self.way {
                Way::Round { state, round } => json!({"state": state, "round": round}),
                Way::Task(task) => json!({"task": task.to_json()}),
                Way::Held => json!("held"),
            },
        })
    }

    pub(in crate::executor) fn read(json: &Value) -> Option<Self> {
        let question = |json: &Value| Question::read(&text(json, "key")?, json);
        let questions = json.get("questions")?.as_array()?.iter().map(question);
        let way = json.get("way")?;
        let way = match (way.as_str(), way.get("task")) {
            (Some("held"), _) => Way::Held,
            (Some(_), _) => return None,
            (None, Some(task)) => Way::Task(TaskHandle::read(task)?),
            (None, None) => {
                let round = u32::try_from(number(way, "round")?).ok()?;
                Way::Round { state: text(way, "state"), round }
            }
        };
        let questions = questions.collect::<Option<_>>()?;
        Some(Self { position: number(json, "position")?, questions, way })
    }
}

/// The text of a member.
pub(in crate::executor) fn text(json: &Value, name: &str) -> Option<String> {
    json.get(name).and_then(Value::as_str).map(str::to_owned)
}

/// The number of a member, if it is a whole one.
pub(in crate::executor) fn number(json: &Value, name: &str) -> Option<usize> {
    json.get(name).and_then(Value::as_u64).and_then(|number| usize::try_from(number).ok())
}
