//! Questions that an MCP server asks in the middle of a call, in the form that steps store.

use serde::{Serialize, Serializer};
use serde_json::Value;

use ::mcp::client::TaskHandle;
use ::mcp::model::Question;
use a2a::model::decode::{Decode, Fields, Member};

/// The questions that a server has asked in the middle of a call, and the data that is needed to continue the call.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(in crate::executor) struct Asked {
    /// The position of the call in its round, from 1.
    pub(in crate::executor) position: usize,
    /// The questions.
    #[serde(serialize_with = "write_questions")]
    pub(in crate::executor) questions: Vec<Question>,
    /// How the call continues.
    pub(in crate::executor) way: Way,
}

/// How a call continues after its question is answered.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(into = "StoredWay")]
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
    /// The answers are sent on the open connection of the call, which exists only in memory. If a turn reads this value
    /// from a step, the connection is lost.
    Held,
}

/// The form in which a step stores the way.
#[derive(Serialize)]
#[serde(untagged)]
enum StoredWay {
    Held(&'static str),
    Task { task: TaskHandle },
    Round { state: Option<String>, round: u32 },
}

/// The form in which a step stores a question: the parameters of MCP, and the key.
#[derive(Serialize)]
struct StoredQuestion<'a> {
    #[serde(flatten)]
    params: Value,
    key: &'a str,
}

/// A question in its stored form.
struct ReadQuestion(Question);

impl From<Way> for StoredWay {
    fn from(way: Way) -> Self {
        match way {
            Way::Round { state, round } => Self::Round { state, round },
            Way::Task(task) => Self::Task { task },
            Way::Held => Self::Held(HELD),
        }
    }
}

fn write_questions<S: Serializer>(
    questions: &[Question],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(
        questions
            .iter()
            .map(|question| StoredQuestion { params: question.to_json(), key: &question.key }),
    )
}

impl Decode for Asked {
    fn decode(fields: &mut Fields) -> Option<Self> {
        let questions = fields.required::<Vec<ReadQuestion>>("questions")?.into_iter();
        Some(Self {
            position: fields.required("position")?,
            questions: questions.map(|ReadQuestion(question)| question).collect(),
            way: fields.required("way")?,
        })
    }
}

impl Decode for ReadQuestion {
    fn decode(fields: &mut Fields) -> Option<Self> {
        let key: String = fields.required("key")?;
        fields.rest("a question of a server", |params| Question::read(&key, params)).map(Self)
    }
}

impl Member for Way {
    fn read(fields: &mut Fields, name: &str, value: Value) -> Option<Self> {
        if value == HELD {
            return Some(Self::Held);
        }
        let mut fields = fields.nested(name, value)?;
        if fields.has("task") {
            return fields.required("task").map(Self::Task);
        }
        Some(Self::Round { state: fields.required("state")?, round: fields.required("round")? })
    }
}

/// The stored form of [`Way::Held`].
const HELD: &str = "held";
