//! What the build embeds of an agent, and how the Worker reads that.
//!
//! The derives that read agent files check everything and point to the line, which weighs much. What
//! is embedded has been checked, so the Worker reads it with [`Decode`], which it has anyway.

use serde::Serialize;
use serde_json::Value;

use super::card::capabilities_of;
use super::definition::{
    AgentDefinition, Capabilities, ExecutorDefinition, ExecutorKind, RecoveryMode, RunSettings,
};
use super::script::{
    Action, Amount, ArtifactAction, ArtifactContent, Condition, Pattern, Rule, StepsAction,
};
use a2a::model::Base64;
use a2a::model::decode::{Decode, Fields, decode};

/// What is embedded: every agent.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Embedded {
    /// The agents, by the names of their files.
    pub agents: Vec<EmbeddedAgent>,
}

/// What is embedded of an agent: what is needed to answer. All else is in the card.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EmbeddedAgent {
    /// Its path and tenant.
    pub slug: String,
    /// Whether it answers at `/` too.
    pub default: bool,
    /// Whether it is served only where `DEVELOPMENT` is set.
    pub development: bool,
    /// The optional parts of the protocol that it supports.
    pub capabilities: Capabilities,
    /// What answers.
    pub executor: ExecutorDefinition,
    /// Its card as JSON, in which [`ORIGIN`](a2a::binding::discovery::ORIGIN) stands for the origin.
    pub card: String,
}

impl Embedded {
    /// The JSON that is embedded; [`Decode`] reads it.
    ///
    /// # Errors
    ///
    /// None that an agent file could cause: all of its keys are text.
    pub fn to_json(&self) -> serde_json::Result<String> {
        Ok(without_nulls(serde_json::to_value(self)?).to_string())
    }
}

impl Embedded {
    /// What the Worker would make of this text instead of these agents, each with the name of the agent: what
    /// agent files may say and the reader here does not know. Empty if it reads just these agents.
    pub fn unlike(&self, text: &str) -> Vec<(String, String)> {
        let whole: Value = match serde_json::from_str(text) {
            Ok(whole) => whole,
            Err(error) => return vec![(String::new(), error.to_string())],
        };
        let Value::Array(agents) = whole.get("agents").cloned().unwrap_or_default() else {
            return vec![(String::new(), "`agents` must be a list".to_owned())];
        };
        let count =
            format!("{} agents are embedded instead of {}", agents.len(), self.agents.len());
        let other_count = (agents.len() != self.agents.len()).then_some((String::new(), count));
        let unlike = self.agents.iter().zip(agents).filter_map(|(agent, json)| {
            let problem = match decode::<EmbeddedAgent>(json) {
                Ok(read) if read == *agent => return None,
                Ok(read) => format!("{} is read as something else", difference(agent, &read)),
                Err(violations) => {
                    let shown = violations.iter().map(|found| match found.field.as_str() {
                        "" => found.description.clone(),
                        field => format!("`{field}` {}", found.description),
                    });
                    shown.collect::<Vec<_>>().join("; ")
                }
            };
            Some((agent.slug.clone(), problem))
        });
        unlike.chain(other_count).collect()
    }
}

/// The key of an agent's that two of them differ in.
fn difference(one: &EmbeddedAgent, other: &EmbeddedAgent) -> String {
    let json = |agent| without_nulls(serde_json::to_value(agent).unwrap_or_default());
    first_difference(&json(one), &json(other), "").unwrap_or_default()
}

fn first_difference(one: &Value, other: &Value, path: &str) -> Option<String> {
    let within = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    match (one, other) {
        (Value::Object(one), Value::Object(other)) => {
            let mut keys = one.keys().chain(other.keys());
            keys.find_map(|key| {
                let (one, other) = (one.get(key), other.get(key));
                let (one, other) = (one.unwrap_or(&Value::Null), other.unwrap_or(&Value::Null));
                first_difference(one, other, &within(key))
            })
        }
        (Value::Array(one), Value::Array(other)) if one.len() == other.len() => {
            let mut pairs = one.iter().zip(other).enumerate();
            pairs.find_map(|(index, (one, other))| {
                first_difference(one, other, &format!("{path}[{index}]"))
            })
        }
        _ => (one != other).then(|| format!("`{path}`")),
    }
}

impl EmbeddedAgent {
    /// An agent as its file describes it, with the card that was made of it.
    pub fn new(definition: AgentDefinition, card: String) -> Self {
        let capabilities = capabilities_of(&definition);
        let AgentDefinition { slug, default, development, executor, .. } = definition;
        Self { slug, default, development, capabilities, executor, card }
    }
}

/// TOML has no null: each stands for a key that is not there.
fn without_nulls(json: Value) -> Value {
    match json {
        Value::Object(members) => {
            let given = members.into_iter().filter(|(_, value)| !value.is_null());
            Value::Object(given.map(|(key, value)| (key, without_nulls(value))).collect())
        }
        Value::Array(elements) => elements.into_iter().map(without_nulls).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => json,
    }
}

impl Decode for Embedded {
    fn decode(fields: &mut Fields) -> Option<Self> {
        Some(Self { agents: fields.list("agents")? })
    }
}

impl Decode for EmbeddedAgent {
    fn decode(fields: &mut Fields) -> Option<Self> {
        Some(Self {
            slug: fields.any_string("slug")?,
            default: fields.boolean("default")?,
            development: fields.boolean("development")?,
            capabilities: fields.object("capabilities")?,
            executor: fields.object("executor")?,
            card: fields.any_string("card")?,
        })
    }
}

impl Decode for Capabilities {
    fn decode(fields: &mut Fields) -> Option<Self> {
        Some(Self {
            streaming: fields.boolean("streaming")?,
            push_notifications: fields.boolean("push_notifications")?,
            extended_agent_card: fields.boolean("extended_agent_card")?,
            extensions: fields.list("extensions")?,
        })
    }
}

impl Decode for ExecutorDefinition {
    fn decode(fields: &mut Fields) -> Option<Self> {
        Some(Self {
            kind: match fields.any_string("kind")?.as_str() {
                "tools" => ExecutorKind::Tools,
                "script" => ExecutorKind::Script,
                other => return unknown(fields, "kind", other),
            },
            tools: fields.strings("tools"),
            rules: fields.list("rules")?,
            run: fields.object("run")?,
        })
    }
}

impl Decode for RunSettings {
    fn decode(fields: &mut Fields) -> Option<Self> {
        let recovery = match fields.any_string("recovery").as_deref() {
            None => None,
            Some("resume") => Some(RecoveryMode::Resume),
            Some("restart") => Some(RecoveryMode::Restart),
            Some("fail") => Some(RecoveryMode::Fail),
            Some(other) => return unknown(fields, "recovery", other),
        };
        Some(Self {
            recovery,
            max_attempts: fields.number("max_attempts"),
            timeout_ms: fields.number("timeout_ms"),
            idle_timeout_ms: fields.number("idle_timeout_ms"),
        })
    }
}

impl Decode for Rule {
    fn decode(fields: &mut Fields) -> Option<Self> {
        Some(Self {
            when: fields.object("when"),
            then: fields.list("then")?,
            follow_up: fields.list("follow_up")?,
        })
    }
}

impl Decode for Condition {
    fn decode(fields: &mut Fields) -> Option<Self> {
        if let Some(text) = fields.any_string("text") {
            return Some(Self::Text(text));
        }
        if let Some(prefix) = fields.any_string("message_id") {
            return Some(Self::MessageId(prefix));
        }
        Pattern::try_from(fields.any_string("pattern")?).ok().map(Self::Pattern)
    }
}

impl Decode for Action {
    fn decode(fields: &mut Fields) -> Option<Self> {
        Some(match fields.any_string("do")?.as_str() {
            "working" => Self::Working(fields.any_string("text")),
            "artifact" => Self::Artifact(ArtifactAction {
                content: content_of(fields)?,
                id: fields.any_string("id"),
                name: fields.any_string("name"),
                filename: fields.any_string("filename"),
                media_type: fields.any_string("media_type"),
            }),
            "wait" => Self::Wait(amount_of(fields, "ms")?),
            "polls" => Self::Polls(fields.number("count")?),
            "complete" => Self::Complete(fields.any_string("text")),
            "fail" => Self::Fail(fields.any_string("text")?),
            "reject" => Self::Reject(fields.any_string("text")?),
            "input_required" => Self::InputRequired(fields.any_string("text")?),
            "auth_required" => Self::AuthRequired(fields.any_string("text")?),
            "message" => Self::Message(fields.any_string("text")?),
            "panic" => Self::Panic,
            "steps" => Self::Steps(StepsAction {
                url: fields.any_string("url")?,
                count: amount_of(fields, "repeat")?,
                delay_ms: amount_of(fields, "delay_ms")?,
                attempts: fields.number("attempts")?,
                panic_at: amount_of(fields, "panic_at"),
            }),
            other => return unknown(fields, "do", other),
        })
    }
}

fn content_of(fields: &mut Fields) -> Option<ArtifactContent> {
    if let Some(text) = fields.any_string("text") {
        return Some(ArtifactContent::Text(text));
    }
    if let Some(data) = fields.member("data") {
        return Some(ArtifactContent::Data(data));
    }
    if let Some(raw) = fields.any_string("raw") {
        return Base64::parse(&raw).map(ArtifactContent::Raw);
    }
    if let Some(url) = fields.any_string("url") {
        return Some(ArtifactContent::Url(url));
    }
    Some(ArtifactContent::Chunks {
        pieces: fields.strings("chunks"),
        repeat: amount_of(fields, "repeat")?,
        delay_ms: amount_of(fields, "delay_ms")?,
    })
}

/// Notes that this reader does not know what agent files may say there.
fn unknown<T>(fields: &mut Fields, name: &str, value: &str) -> Option<T> {
    fields.refuse(name, format!("is {value:?}, which src/agent/embedded.rs cannot read"));
    None
}

fn amount_of(fields: &mut Fields, name: &str) -> Option<Amount> {
    match fields.member(name)? {
        Value::String(text) => Some(Amount::Captured(text)),
        number => number.as_u64().map(Amount::Fixed),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use a2a::model::decode::read_json;

    fn read_back(toml: &str) {
        let definition: AgentDefinition = toml::from_str(toml).unwrap();
        let embedded = Embedded { agents: vec![EmbeddedAgent::new(definition, "{}".to_owned())] };
        let text = embedded.to_json().unwrap();
        assert!(!text.contains("null"), "{text}");
        assert_eq!(read_json::<Embedded>(&text).unwrap(), embedded, "{text}");
        assert_eq!(embedded.unlike(&text), []);
    }

    #[test]
    fn what_cannot_be_read_back_is_named_with_its_agent_and_key() {
        let text = "name = 'A'\ndescription = 'B'\nversion = '1'\n[executor]\nkind = 'script'\n\
            run = { recovery = 'fail' }\n[[executor.rules]]\nthen = [{ do = 'wait', ms = 5 }]";
        let agent = |slug: &str| {
            let parsed: AgentDefinition = toml::from_str(text).unwrap();
            EmbeddedAgent::new(AgentDefinition { slug: slug.to_owned(), ..parsed }, "{}".to_owned())
        };
        let embedded = Embedded { agents: vec![agent("a"), agent("b")] };
        let good = embedded.to_json().unwrap();
        let (a, b) = good.split_at(good.rfind("\"slug\"").unwrap());
        for (from, to, problem) in [
            ("\"script\"", "\"oracle\"", "`executor.kind` is \"oracle\", which"),
            ("\"fail\"", "\"rewind\"", "`executor.run.recovery` is \"rewind\", which"),
            ("\"wait\"", "\"dance\"", "`executor.rules[0].then[0].do` is \"dance\", which"),
            ("\"ms\":5", "\"ms\":6", "`executor.rules[0].then[0].ms` is read as something else"),
            ("\"then\"", "\"than\"", "`executor.rules[0].then` is read as something else"),
            ("\"card\":\"{}\"", "\"card\":5", "`card` must be a string, got 5"),
        ] {
            let doctored = b.replacen(from, to, 1);
            assert_ne!(doctored, b, "{from}");
            let unlike = embedded.unlike(&format!("{a}{doctored}"));
            assert_eq!(unlike.len(), 1, "{unlike:?}");
            assert_eq!(unlike[0].0, "b");
            assert!(unlike[0].1.starts_with(problem), "{unlike:?}");
        }
        for (text, problem) in [
            ("", "EOF while parsing"),
            ("{}", "`agents` must be a list"),
            ("{\"agents\":[]}", "0 agents are embedded instead of 2"),
        ] {
            let unlike = embedded.unlike(text);
            assert!(
                unlike.iter().any(|(slug, found)| slug.is_empty() && found.starts_with(problem)),
                "{unlike:?}"
            );
        }
    }

    #[test]
    fn agents_are_read_as_they_were_embedded() {
        let about = "name = 'A'\ndescription = 'B'\nversion = '1'\n";
        read_back(&format!("{about}executor = {{ kind = 'tools', tools = ['a', 'b'] }}"));
        read_back(&format!(
            "{about}
            default = true
            development = true
            [capabilities]
            streaming = false
            push_notifications = true
            extended_agent_card = true
            extensions = [
                {{ uri = 'urn:a' }},
                {{ uri = 'urn:b', description = 'd', required = true, params = {{ a = [1] }} }},
            ]
            [executor]
            kind = 'script'
            [executor.run]
            recovery = 'restart'
            max_attempts = 4
            timeout_ms = 5_000_000_000
            idle_timeout_ms = 0
            [[executor.rules]]
            then = [
                {{ do = 'working', text = 'a' }}, {{ do = 'wait', ms = 5 }}, {{ do = 'wait', ms = '{{1}}' }},
                {{ do = 'polls', count = 2 }}, {{ do = 'fail', text = 'f' }}, {{ do = 'reject', text = '' }},
                {{ do = 'artifact', text = '', name = '' }},
                {{ do = 'artifact', id = 'i', data = {{ a = [1, '{{text}}', false, {{}}] }} }},
                {{ do = 'artifact', raw = 'aGk=', filename = 'f', media_type = 'text/plain' }},
                {{ do = 'artifact', url = 'https://example.com', name = 'n' }},
                {{ do = 'artifact', chunks = ['a', 'b'], delay_ms = 7, repeat = '{{1}}' }},
                {{ do = 'complete' }}, {{ do = 'panic' }}, {{ do = 'message', text = 'm' }},
                {{ do = 'steps', url = '{{1}}', repeat = 10, attempts = 3, panic_at = '{{2}}' }},
                {{ do = 'input_required', text = 'i' }}, {{ do = 'auth_required', text = 'a' }},
            ]
            [[executor.rules]]
            when = {{ text = '' }}
            then = [{{ do = 'complete', text = '' }}]
            [[executor.rules.follow_up]]
            when = {{ message_id = 'm' }}
            then = []
            [[executor.rules.follow_up]]
            when = {{ pattern = '^a(b)' }}
            then = []
            "
        ));
    }
}
