//! Skills as agent files and `SKILL.md` files describe them, and the sources in `skills_from`.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;

use a2a::model::AgentSkill;

/// A skill of an agent (spec §4.4.5).
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SkillDefinition {
    /// Unique within the agent; for a tool, its name.
    pub(crate) id: String,
    /// A name for people.
    #[serde(default)]
    pub(crate) name: Option<String>,
    /// The description of the skill.
    #[serde(default)]
    pub(crate) description: Option<String>,
    /// Key words.
    #[serde(default)]
    pub(crate) tags: Vec<String>,
    /// Examples of messages.
    #[serde(default)]
    pub(crate) examples: Vec<String>,
    /// The media types that the skill accepts, if they differ from the agent's.
    #[serde(default)]
    pub(crate) input_modes: Vec<String>,
    /// The media types of the skill's output, if they differ from the agent's.
    #[serde(default)]
    pub(crate) output_modes: Vec<String>,
    /// A caller needs all of these permissions. For other callers the skill does not exist.
    #[serde(default)]
    pub(crate) permissions: Vec<String>,
}

/// A source of an agent's skills: an element of `skills_from`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(crate) enum SkillsSource {
    /// The agent's tools, each a skill.
    Tools,
    /// The files `SKILL.md` in this folder and its subfolders. The path is relative to the folder of Cargo.toml and
    /// ends with `/`.
    Folder(String),
    /// The card of the remote agent, for an agent of the kind `remote`. The Worker reads the card while it runs.
    Remote,
}

impl TryFrom<String> for SkillsSource {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        match text.as_str() {
            "tools" => Ok(Self::Tools),
            "remote" => Ok(Self::Remote),
            folder if folder.ends_with('/') && is_below(folder) => Ok(Self::Folder(text)),
            other if other.starts_with("mcp:") => Err(format!(
                "{other:?} is no source of skills; the tools of an MCP server are among the `tools` of an agent of kind \
                 \"tools\" that names it in `[executor.tools] mcp`"
            )),
            other if other.starts_with("agent:") => {
                Err(format!("{other:?}: skills from `agent:` are not supported yet"))
            }
            other => Err(format!(
                "{other:?} is no source of skills; there are `tools`, `remote` for fronts of remote agents, and folders \
                 inside of the project, as `skills/`"
            )),
        }
    }
}

/// A source is one of two words, or a folder, which ends with `/`.
impl JsonSchema for SkillsSource {
    fn schema_name() -> Cow<'static, str> {
        "SkillsSource".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"anyOf": [
            {"type": "string", "enum": ["tools", "remote"]},
            {"type": "string", "pattern": r"^[^/\\][^\\]*/$"},
        ]})
    }
}

/// True if a folder is inside of the project.
fn is_below(folder: &str) -> bool {
    !folder.starts_with('/') && !folder.contains('\\') && folder.split('/').all(|name| name != "..")
}

/// A skill that a file `SKILL.md` describes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FileSkill {
    /// The folder in `skills_from` in which the file was found.
    pub(crate) folder: String,
    /// The path of the file, as `skills/pdf/SKILL.md`.
    pub(crate) file: String,
    /// The skill.
    pub(crate) skill: AgentSkill,
}
