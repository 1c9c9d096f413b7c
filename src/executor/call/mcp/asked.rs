//! Questions that an MCP server asks in the middle of a call, in the form that steps store.

use serde::{Deserialize, Serialize};

use ::mcp::client::TaskHandle;
use ::mcp::model::Question;

/// The questions that a server has asked in the middle of a call, and the data that is needed to continue the call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(in crate::executor) struct Asked {
    /// The position of the call in its round, from 1.
    pub(in crate::executor) position: usize,
    /// The questions.
    #[serde(with = "stored_questions")]
    pub(in crate::executor) questions: Vec<Question>,
    /// How the call continues.
    pub(in crate::executor) way: Way,
}

/// How a call continues after its question is answered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "StoredWay", into = "StoredWay")]
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
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum StoredWay {
    Held(Held),
    Task { task: TaskHandle },
    Round { state: Option<String>, round: u32 },
}

#[derive(Serialize, Deserialize)]
enum Held {
    #[serde(rename = "held")]
    Held,
}

impl From<Way> for StoredWay {
    fn from(way: Way) -> Self {
        match way {
            Way::Round { state, round } => Self::Round { state, round },
            Way::Task(task) => Self::Task { task },
            Way::Held => Self::Held(Held::Held),
        }
    }
}

impl From<StoredWay> for Way {
    fn from(way: StoredWay) -> Self {
        match way {
            StoredWay::Round { state, round } => Self::Round { state, round },
            StoredWay::Task { task } => Self::Task(task),
            StoredWay::Held(Held::Held) => Self::Held,
        }
    }
}

/// The form in which a step stores questions: the parameters of MCP, and the key.
mod stored_questions {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use serde_json::Value;

    use ::mcp::model::Question;

    #[derive(Serialize, Deserialize)]
    struct StoredQuestion {
        #[serde(flatten)]
        params: Value,
        key: String,
    }

    pub(super) fn serialize<S: Serializer>(
        questions: &[Question],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(questions.iter().map(|question| StoredQuestion {
            params: question.to_json(),
            key: question.key.clone(),
        }))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<Question>, D::Error> {
        let stored = Vec::<StoredQuestion>::deserialize(deserializer)?.into_iter();
        let questions = stored.map(|stored| Question::read(&stored.key, &stored.params));
        let questions = questions.collect::<Option<_>>();
        questions.ok_or_else(|| D::Error::custom("a question of a server cannot be read"))
    }
}
