//! The settings of a deployment: Worker variables, read once, with their defaults.

mod index;
mod limits;
mod mcp;
mod traces;
mod variables;
mod webhooks;

use a2a_agents::{MAX_FINISHED, Slug};
use variables::{KIBIBYTE, MEBIBYTE, Variables};

pub use index::{Index, IndexKind, Shards};
pub use limits::Limits;
pub use mcp::Mcp;
pub use traces::Traces;
pub use variables::ConfigError;
pub use webhooks::Webhooks;

/// All settings of an operator: Worker variables with the names given here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// `PUBLIC_URL`: the origin in cards, for example `https://agents.example`. Without it, cards contain the origin of the
    /// request.
    pub public_url: Option<String>,
    /// `ORIGINS`: further origins of this server, for example `https://eu.agents.example, https://us.agents.example`. A request
    /// to one of them gets a card with that origin.
    pub origins: Vec<String>,
    /// `DEVELOPMENT`: enables the routes under `/_dev/`. Never set it if others can reach the Worker.
    pub development: bool,
    /// `DEFAULT_AGENT`: the slug of the agent that answers at `/`, in place of the default agent of the agent files.
    pub default_agent: Option<Slug>,
    /// `DEV_TOKEN`: the token for `/_dev/agents`, which `npm start` makes anew at each start. Without it, nobody has access.
    pub dev_token: Option<String>,
    /// `AGENTS`: agents in place of those of the project, in the checked form as one JSON object. For tests.
    pub agents: Option<String>,
    /// `AUDIT`: `all` (the default), or `refusals` to leave out successful calls, such as the creation of tasks.
    pub audits_all: bool,
    /// `STRICT_VERSION`: refuses 1.0 methods without a matching `A2A-Version`.
    pub strict_version: bool,
    /// `CARD_DIALECTS`: `1.0` to leave the members for older clients out of cards; older dialects then appear only as
    /// interfaces. `all` (the default) includes these members.
    pub pure_cards: bool,
    /// `MAX_BODY_BYTES`: the largest request body (4 MiB).
    pub max_body_bytes: usize,
    /// `MAX_PARTS`: the largest number of parts of a message (100).
    pub max_parts: usize,
    /// `MAX_ACTIVE_TASKS`: the largest number of unfinished tasks of one caller, over all agents; 0 (the default) for no limit.
    pub max_active_tasks: u64,
    /// `MAX_FINISHED_TASKS`: how many of the newest finished tasks of one agent are kept; 0 (the default) for no limit. The
    /// cron trigger deletes the others.
    pub max_finished_tasks: u64,
    /// `TASK_STATISTICS`: counts finished tasks by agent, hour and state, for the overview of operators (on).
    pub task_statistics: bool,
    /// `USAGE_CURRENCY`: the currency of the prices of models and of reported costs, as its code of ISO 4217; none if it is not told.
    pub currency: Option<String>,
    /// Where the index of tasks is.
    pub index: Index,
    /// The limits of one task.
    pub limits: Limits,
    /// The rules for webhooks that may be registered and called.
    pub webhooks: Webhooks,
    /// The settings for clients of MCP.
    pub mcp: Mcp,
    /// `METRICS`: adds what isolates count to the table `metrics`, for `GET /metrics` (off).
    pub metrics: bool,
    /// Where traces are sent, if anywhere.
    pub traces: Option<Traces>,
}

impl Settings {
    /// Reads the settings; `variable` returns the value of a Worker variable if it is set.
    ///
    /// # Errors
    ///
    /// Returned for the first variable whose value cannot be used.
    pub fn read(variable: impl Fn(&str) -> Option<String>) -> Result<Self, ConfigError> {
        let variables = Variables(&variable);
        refuse_removed(variables)?;
        Ok(Self {
            public_url: variables
                .text("PUBLIC_URL")
                .map(|text| parse_origin("PUBLIC_URL", &text))
                .transpose()?,
            origins: parse_origins(&variables.text("ORIGINS").unwrap_or_default())?,
            development: variables.switch("DEVELOPMENT")?,
            default_agent: variables
                .text("DEFAULT_AGENT")
                .and_then(|slug| Slug::parse(slug.trim()).ok()),
            dev_token: variables.text("DEV_TOKEN"),
            agents: variables.text("AGENTS"),
            audits_all: read_audit(variables)?,
            strict_version: variables.switch("STRICT_VERSION")?,
            pure_cards: read_card_dialects(variables)?,
            max_body_bytes: variables.number(
                "MAX_BODY_BYTES",
                4 * MEBIBYTE,
                KIBIBYTE..=16 * MEBIBYTE,
            )?,
            max_parts: variables.number("MAX_PARTS", 100, 1..=10_000)?,
            max_active_tasks: variables.number("MAX_ACTIVE_TASKS", 0, 0..=1_000_000)?,
            max_finished_tasks: variables.number("MAX_FINISHED_TASKS", 0, 0..=MAX_FINISHED)?,
            task_statistics: variables.switch_or("TASK_STATISTICS", true)?,
            currency: read_currency(variables)?,
            index: Index::read(variables)?,
            limits: Limits::read(variables)?,
            webhooks: Webhooks::read(variables)?,
            mcp: Mcp::read(variables)?,
            metrics: variables.switch("METRICS")?,
            traces: Traces::read(variables)?,
        })
    }
}

impl Settings {
    /// The origin of this server in cards, for a request that arrived at `origin`. The client chooses `origin` (by the header
    /// `Host`), so it is trusted only if the operator has listed it.
    pub fn place_of<'a>(&'a self, origin: &'a str) -> Place<'a> {
        if self.origins.iter().any(|known| known == origin) {
            return Place { origin, is_ours: true };
        }
        match &self.public_url {
            Some(origin) => Place { origin, is_ours: true },
            None => Place { origin, is_ours: false },
        }
    }
}

/// The origin of this server, as shown to a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place<'a> {
    /// The origin.
    pub origin: &'a str,
    /// True if the operator has configured the origin; false if it comes from the client.
    pub is_ours: bool,
}

/// Refuses settings of earlier versions, because they have no effect any more.
fn refuse_removed(variables: Variables<'_>) -> Result<(), ConfigError> {
    for (name, wanted) in REMOVED {
        if variables.text(name).is_some() {
            return Err(ConfigError { name, wanted: wanted.to_owned() });
        }
    }
    Ok(())
}

/// The removed settings, each with its replacement.
const REMOVED: [(&str, &str); 1] = [(
    "CONSOLE_REMOTES",
    "removed: a deployment calls no agent that a visitor of the console names; the browser of the visitor does (docs/console.md)",
)];

/// Parses a list of origins in the normal form of URLs.
fn parse_origins(text: &str) -> Result<Vec<String>, ConfigError> {
    let texts: Vec<&str> = text.split(',').map(str::trim).filter(|text| !text.is_empty()).collect();
    if texts.len() > MAX_ORIGINS {
        let wanted = format!("a list of at most {MAX_ORIGINS} origins");
        return Err(ConfigError { name: "ORIGINS", wanted });
    }
    let origin = |text: &&str| parse_origin("ORIGINS", text).map(|text| text.to_ascii_lowercase());
    texts.iter().map(origin).collect()
}

/// The largest number of `ORIGINS`: each request for a card searches them.
const MAX_ORIGINS: usize = 100;

/// True if successful calls are audited, too.
fn read_audit(variables: Variables<'_>) -> Result<bool, ConfigError> {
    match variables.text("AUDIT").as_deref().map(str::trim) {
        None | Some("all") => Ok(true),
        Some("refusals") => Ok(false),
        Some(_) => Err(ConfigError { name: "AUDIT", wanted: "all or refusals".to_owned() }),
    }
}

/// True if cards contain no members for older clients.
fn read_card_dialects(variables: Variables<'_>) -> Result<bool, ConfigError> {
    match variables.text("CARD_DIALECTS").as_deref().map(str::trim) {
        None | Some("all") => Ok(false),
        Some("1.0") => Ok(true),
        Some(_) => Err(ConfigError { name: "CARD_DIALECTS", wanted: "all or 1.0".to_owned() }),
    }
}

/// The code of a currency.
fn read_currency(variables: Variables<'_>) -> Result<Option<String>, ConfigError> {
    let Some(text) = variables.text("USAGE_CURRENCY") else { return Ok(None) };
    let code = text.trim();
    if code.len() == 3 && code.bytes().all(|letter| letter.is_ascii_uppercase()) {
        return Ok(Some(code.to_owned()));
    }
    let wanted = "the code of a currency (ISO 4217), as EUR".to_owned();
    Err(ConfigError { name: "USAGE_CURRENCY", wanted })
}

/// An origin without the final slash.
fn parse_origin(name: &'static str, text: &str) -> Result<String, ConfigError> {
    let trimmed = text.trim().trim_end_matches('/');
    let host = trimmed.strip_prefix("https://").or_else(|| trimmed.strip_prefix("http://"));
    let is_origin = |host: &str| {
        let allowed = |letter: char| letter.is_ascii_alphanumeric() || ".-:[]".contains(letter);
        !host.is_empty() && host.chars().all(allowed)
    };
    match host {
        Some(host) if is_origin(host) => Ok(trimmed.to_owned()),
        Some(_) | None => {
            Err(ConfigError { name, wanted: "an origin such as https://agents.example".to_owned() })
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;

    fn read(variables: &[(&str, &str)]) -> Result<Settings, ConfigError> {
        Settings::read(|name| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn nothing_needs_to_be_set() {
        let settings = read(&[]).unwrap();
        assert_eq!(settings.public_url, None);
        assert!(!settings.development);
        assert!(settings.task_statistics);
        assert_eq!(settings.limits.blocking_limit_ms, 60_000);
    }

    #[test]
    fn variables_change_settings() {
        let settings = read(&[
            ("PUBLIC_URL", "https://agents.example/"),
            ("DEVELOPMENT", "true"),
            ("MAX_BODY_BYTES", " 2048 "),
            ("TASK_GRACE_MS", "0"),
            ("TASK_STATISTICS", "off"),
            ("USAGE_CURRENCY", " EUR "),
            ("WEBHOOK_HOSTS", "Hooks.example.com, *.example.org,"),
        ])
        .unwrap();
        assert_eq!(settings.public_url.as_deref(), Some("https://agents.example"));
        assert!(settings.development);
        assert_eq!(settings.max_body_bytes, 2048);
        assert_eq!(settings.limits.task_grace_ms, 0);
        assert!(!settings.task_statistics);
        assert_eq!(settings.currency.as_deref(), Some("EUR"));
        assert_eq!(settings.webhooks.hosts, ["hooks.example.com", "*.example.org"]);
        assert!(!settings.webhooks.allow_private);
    }

    #[test]
    fn a_value_that_cannot_be_used_names_its_variable() {
        for (name, value) in [
            ("PUBLIC_URL", "agents.example"),
            ("PUBLIC_URL", "https://agents.example/path"),
            ("PUBLIC_URL", "https://user@agents.example"),
            ("CARD_DIALECTS", "0.3"),
            ("ORIGINS", "https://a.example, b.example"),
            ("ORIGINS", "https://a.example/path"),
            ("DEVELOPMENT", "maybe"),
            ("MAX_BODY_BYTES", "12"),
            ("RUN_TIMEOUT_MS", "-1"),
            ("MAX_ACTIVE_TASKS", "1000001"),
            ("TASK_STATISTICS", "hourly"),
            ("USAGE_CURRENCY", "euro"),
            ("USAGE_CURRENCY", "eur"),
            ("WEBHOOK_ALLOW_PRIVATE", "sometimes"),
            ("WEBHOOK_HOSTS", "https://hooks.example.com"),
            ("WEBHOOK_HOSTS", "*example.com"),
            ("WEBHOOK_HOSTS", "*."),
            ("WEBHOOK_HOSTS", "hooks.example.com, *.com"),
            ("WEBHOOK_HOSTS", "*.COM."),
            ("WEBHOOK_HOSTS", "*.test"),
            ("WEBHOOK_HOSTS", "*.co.uk"),
            ("WEBHOOK_HOSTS", "*.com.au"),
        ] {
            assert_eq!(read(&[(name, value)]).unwrap_err().name, name);
        }
    }

    #[test]
    fn a_removed_setting_is_refused_with_what_replaces_it() {
        let error = read(&[("CONSOLE_REMOTES", "agents.example")]).unwrap_err().to_string();
        assert!(error.starts_with("the variable CONSOLE_REMOTES must be removed"), "{error}");
        assert!(read(&[("CONSOLE_REMOTES", " ")]).is_ok(), "a blank variable counts as not set");
    }

    #[test]
    fn a_card_names_an_origin_that_is_ours_or_else_that_of_the_client() {
        let settings = |variables: &[(&str, &str)]| read(variables).unwrap();
        let listed = ("ORIGINS", "https://EU.agents.example/, http://localhost:8787,");
        for (variables, origin, expected) in [
            (&[][..], "https://x.example", ("https://x.example", false)),
            (&[listed], "https://eu.agents.example", ("https://eu.agents.example", true)),
            (&[listed], "http://localhost:8787", ("http://localhost:8787", true)),
            (&[listed], "http://eu.agents.example", ("http://eu.agents.example", false)),
            (&[listed], "https://eu.agents.example.", ("https://eu.agents.example.", false)),
            (&[listed], "https://eu.agents.example:444", ("https://eu.agents.example:444", false)),
            (
                &[listed, ("PUBLIC_URL", "https://agents.example")],
                "https://x.example",
                ("https://agents.example", true),
            ),
            (
                &[listed, ("PUBLIC_URL", "https://agents.example")],
                "https://eu.agents.example",
                ("https://eu.agents.example", true),
            ),
        ] {
            let settings = settings(variables);
            let Place { origin: named, is_ours } = settings.place_of(origin);
            assert_eq!((named, is_ours), expected, "{origin}");
        }
        let many = vec!["https://a.example"; 101].join(",");
        assert_eq!(read(&[("ORIGINS", &many)]).unwrap_err().name, "ORIGINS");
    }

    #[test]
    fn a_number_outside_of_its_range_is_told_the_range() {
        for (name, value, told) in [
            (
                "MAX_ATTEMPTS",
                "0",
                "the variable MAX_ATTEMPTS must be a whole number from 1 to 1000",
            ),
            ("MAX_STEP_BYTES", "1e3", "must be a whole number from 64 to 4194304"),
        ] {
            let error = read(&[(name, value)]).unwrap_err().to_string();
            assert!(error.ends_with(told), "{error}");
        }
    }

    #[test]
    fn the_page_of_settings_names_every_variable_with_its_range() {
        let page = include_str!("../../docs/settings.md");
        let variables = page.split("## Secrets").next().unwrap_or_default();
        let rows = variables.lines().filter_map(|line| line.strip_prefix("| `"));
        let cells = rows.map(|row| row.split(" | ").collect::<Vec<_>>());
        let told: BTreeMap<_, _> =
            cells.map(|cells| (cells[0].trim_end_matches('`').to_owned(), cells[2])).collect();

        let asked = RefCell::new(BTreeSet::new());
        Settings::read(|name| {
            asked.borrow_mut().insert(name.to_owned());
            None
        })
        .unwrap();
        for (removed, _) in REMOVED {
            asked.borrow_mut().remove(removed);
        }
        assert_eq!(told.keys().cloned().collect::<BTreeSet<_>>(), asked.into_inner());
        for (name, range) in told {
            if let Err(ConfigError { wanted, .. }) = read(&[(&name, "x")])
                && let Some(wanted) = wanted.strip_prefix("a whole number from ")
            {
                assert_eq!(range, wanted, "{name}");
            }
        }
    }
}
