//! Skills as agent files and `SKILL.md` files describe them, and the sources that `skills_from` names.

use serde::Deserialize;

use a2a::model::AgentSkill;

/// A skill of an agent (spec §4.4.5).
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SkillDefinition {
    /// Unique within the agent; for a tool, its name.
    pub(crate) id: String,
    /// A name for people.
    #[serde(default)]
    pub(crate) name: Option<String>,
    /// What it does.
    #[serde(default)]
    pub(crate) description: Option<String>,
    /// Key words.
    #[serde(default)]
    pub(crate) tags: Vec<String>,
    /// What one may ask.
    #[serde(default)]
    pub(crate) examples: Vec<String>,
    /// Media types that it takes, if other than the agent's.
    #[serde(default)]
    pub(crate) input_modes: Vec<String>,
    /// Media types that it gives, if other than the agent's.
    #[serde(default)]
    pub(crate) output_modes: Vec<String>,
    /// The permissions that a caller needs, all of them. For others the skill does not exist.
    #[serde(default)]
    pub(crate) permissions: Vec<String>,
}

/// Where skills of an agent come from: an element of `skills_from`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(crate) enum SkillsSource {
    /// The agent's tools, each a skill.
    Tools,
    /// The files `SKILL.md` in this folder and in those below it, relative to the folder of Cargo.toml; ends with `/`.
    Folder(String),
    /// The card of the remote agent that an agent of kind `remote` is a front of, while the Worker runs.
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

/// Whether a folder is inside of the project.
fn is_below(folder: &str) -> bool {
    !folder.starts_with('/') && !folder.contains('\\') && folder.split('/').all(|name| name != "..")
}

/// A skill that a file `SKILL.md` describes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FileSkill {
    /// The folder of `skills_from` that the file was found in.
    pub(crate) folder: String,
    /// The file, as `skills/pdf/SKILL.md`.
    pub(crate) file: String,
    /// The skill.
    pub(crate) skill: AgentSkill,
}
