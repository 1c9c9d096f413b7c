//! Questions that an MCP server asks in the middle of a call, in the form that steps store.

use serde_json::{Value, json};

use ::mcp::client::TaskHandle;
use ::mcp::model::Question;

/// The questions that a server has asked in the middle of a call, and the data that is needed to continue the call.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::executor) struct Asked {
    /// The position of the call in its round, from 1.
    pub(in crate::executor) position: usize,
    /// The questions.
    pub(in crate::executor) questions: Vec<Question>,
    /// How the call continues.
    pub(in crate::executor) way: Way,
}

/// How a call continues after its question is answered.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::executor) enum Way {
    /// The call is made again, with the answers and with the state that the server wants returned.
    Round {
        /// The state to return to the server.
        state: Option<String>,
        /// The number of rounds of questions so far.
        round: u32,
    },
    /// The server continues its task.
    Task(TaskHandle),
    /// On the open connection of the call, which only the run in memory holds. A turn that reads this value from a step
    /// has lost the connection.
    Held,
}

impl Asked {
    /// The JSON that a step stores.
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

/// The string value of a member.
pub(in crate::executor) fn text(json: &Value, name: &str) -> Option<String> {
    json.get(name).and_then(Value::as_str).map(str::to_owned)
}

/// The value of a member, if it is a whole number.
pub(in crate::executor) fn number(json: &Value, name: &str) -> Option<usize> {
    json.get(name).and_then(Value::as_u64).and_then(|number| usize::try_from(number).ok())
}
