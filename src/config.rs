//! The settings of a deployment: Worker variables, read once, with their defaults.

use std::fmt;

/// Everything that an operator can set, as Worker variables of the names given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// `PUBLIC_URL`: the origin that cards name, as `https://agents.example`. Without it, the origin
    /// of the request.
    pub public_url: Option<String>,
    /// `DEVELOPMENT`: opens the routes under `/_dev/`. Never set it where others can reach the Worker.
    pub development: bool,
    /// `DEFAULT_AGENT`: the slug of the agent that answers at `/`, instead of the one whose file says
    /// so.
    pub default_agent: Option<String>,
    /// `AGENTS`: agents instead of those that the build embedded, as JSON of the same form. For tests, which
    /// bring their own.
    pub agents: Option<String>,
    /// `STRICT_VERSION`: refuse 1.0 methods without a matching `A2A-Version`.
    pub strict_version: bool,
    /// `MAX_BODY_BYTES`: the largest request body (4 MiB).
    pub max_body_bytes: usize,
    /// `MAX_PARTS`: how many parts a message may have (100).
    pub max_parts: usize,
    /// `MAX_ACTIVE_TASKS`: how many unfinished tasks one caller may have, over all agents; 0 for any
    /// number (0).
    pub max_active_tasks: u64,
    /// `MAX_FINISHED_TASKS`: how many finished tasks of one agent are kept, the newest; 0 (the default) for
    /// no limit. The cron trigger deletes the others.
    pub max_finished_tasks: u64,
    /// How one task is run.
    pub limits: Limits,
    /// Which webhooks may be registered and called.
    pub webhooks: Webhooks,
}

/// Where notifications may go. Without any of these: to public hosts, by https, and with `DEVELOPMENT`
/// also to loopback hosts, by http, too.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Webhooks {
    /// `WEBHOOK_ALLOW_PRIVATE`: also to private hosts and by http, for conformance runs and tests. Never set
    /// it where strangers register webhooks.
    pub allow_private: bool,
    /// `WEBHOOK_HOSTS`: if not empty, only to these hosts, as `hooks.example.com, *.example.org`. A star
    /// stands for everything below a domain, but not the domain, and not for a top domain or the like. It
    /// opens nothing that is closed otherwise.
    pub hosts: Vec<String>,
}

/// What bounds one task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// `BLOCKING_LIMIT_MS`: how long a blocking send waits before it answers with the working task
    /// (60 s).
    pub blocking_limit_ms: u64,
    /// `RUN_TIMEOUT_MS`: how long a run of an agent may take, all attempts together, before its task
    /// fails (5 min). An agent file may say otherwise, a request may ask for less.
    pub run_timeout_ms: u64,
    /// `IDLE_TIMEOUT_MS`: how long a run may do nothing that shows before its task fails; 0 (the default)
    /// for as long as it may take. An agent file may say otherwise.
    pub idle_timeout_ms: u64,
    /// `MAX_ATTEMPTS`: how often a run is begun at most when it is interrupted (3). An agent file may
    /// say otherwise.
    pub max_attempts: u32,
    /// `KEEP_ALIVE_MS`: how soon a task at work is looked after if its object is gone (30 s).
    pub keep_alive_ms: u64,
    /// `EVENT_INTERVAL_MS`: how often events of a running task are stored and shown at most, after a
    /// burst of four (200 ms). Those that come faster share a row.
    pub event_interval_ms: u64,
    /// `RETENTION_MS`: how long a finished task is kept (30 days); 0 for ever.
    pub retention_ms: u64,
    /// `TASK_GRACE_MS`: how long an agent may think before its answer becomes a task (250 ms).
    /// A direct message after that is the closing message of the task.
    pub task_grace_ms: u64,
    /// `INDEX_WAIT_MS`: how long an answer waits at most until its task can be listed (2 s).
    pub index_wait_ms: u64,
    /// `MAX_EVENT_BYTES`: the largest single event, as JSON (4 MiB).
    pub max_event_bytes: usize,
    /// `MAX_JSON_VALUES`: how many JSON values, names of members among them, a request body or an event
    /// may hold (100,000). A task holds ten times as many.
    pub max_json_values: usize,
    /// `MAX_STREAMS`: how many streams may follow one task at a time (5,000).
    pub max_streams: usize,
    /// `MAX_HISTORY`: how many messages of the client one task takes (1,000).
    pub max_history: usize,
    /// `MAX_ARTIFACTS`: how many artifacts one task holds (1,000).
    pub max_artifacts: usize,
    /// `MAX_WEBHOOKS`: how many webhooks one task has (20).
    pub max_webhooks: usize,
    /// `WEBHOOK_ATTEMPTS`: how often a notification is tried at most (8).
    pub webhook_attempts: u32,
    /// `WEBHOOK_MAX_AGE_MS`: how long it is tried at most (24 h).
    pub webhook_max_age_ms: u64,
    /// `WEBHOOK_RETRY_MS`: the time before it is tried again (5 s); it doubles, up to one hour.
    pub webhook_retry_ms: u64,
    /// `WEBHOOK_TIMEOUT_MS`: how long a receiver may take to answer (10 s).
    pub webhook_timeout_ms: u64,
    /// `WEBHOOK_SUSPEND_AFTER`: after how many notifications in a row that were given up a webhook is
    /// suspended (3).
    pub webhook_suspend_after: u32,
    /// `MAX_TASK_BYTES`: how large the log of one task may grow (32 MiB).
    pub max_task_bytes: usize,
    /// `MAX_STEPS`: how many steps one run may have (1,000).
    pub max_steps: usize,
    /// `MAX_STEP_BYTES`: the largest result of a step, as JSON (256 KiB).
    pub max_step_bytes: usize,
}

/// A variable whose value cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    /// The variable.
    pub name: &'static str,
    /// What it must be.
    pub wanted: &'static str,
}

impl Settings {
    /// Reads the settings; `variable` gives the value of a Worker variable if it is set.
    ///
    /// # Errors
    ///
    /// The first variable whose value cannot be used.
    pub fn read(variable: impl Fn(&str) -> Option<String>) -> Result<Self, ConfigError> {
        let set = |name: &str| variable(name).filter(|value| !value.trim().is_empty());
        let number = |name: &'static str, default: u64, least: u64, most: u64| match set(name) {
            None => Ok(default),
            Some(text) => text
                .trim()
                .parse()
                .ok()
                .filter(|value| (least..=most).contains(value))
                .ok_or(ConfigError { name, wanted: "a whole number within its range" }),
        };
        let size = |name, default: u64, least, most| {
            number(name, default, least, most)
                .map(|value| usize::try_from(value).unwrap_or(usize::MAX))
        };
        let switch = |name: &'static str| match set(name).as_deref() {
            None | Some("false" | "0" | "off") => Ok(false),
            Some("true" | "1" | "on") => Ok(true),
            Some(_) => Err(ConfigError { name, wanted: "true or false" }),
        };
        Ok(Self {
            public_url: set("PUBLIC_URL").map(parse_origin).transpose()?,
            development: switch("DEVELOPMENT")?,
            default_agent: set("DEFAULT_AGENT").map(|slug| slug.trim().to_owned()),
            agents: set("AGENTS"),
            strict_version: switch("STRICT_VERSION")?,
            max_body_bytes: size("MAX_BODY_BYTES", 4 * MEBIBYTE, 1024, 16 * MEBIBYTE)?,
            max_parts: size("MAX_PARTS", 100, 1, 10_000)?,
            max_active_tasks: number("MAX_ACTIVE_TASKS", 0, 0, 1_000_000)?,
            max_finished_tasks: number("MAX_FINISHED_TASKS", 0, 0, 1_000_000_000)?,
            limits: Limits {
                blocking_limit_ms: number("BLOCKING_LIMIT_MS", 60_000, 1, 15 * MINUTE_MS)?,
                run_timeout_ms: number("RUN_TIMEOUT_MS", 5 * MINUTE_MS, 1, 15 * MINUTE_MS)?,
                idle_timeout_ms: number("IDLE_TIMEOUT_MS", 0, 0, 15 * MINUTE_MS)?,
                max_attempts: number("MAX_ATTEMPTS", 3, 1, 1_000)? as u32,
                keep_alive_ms: number("KEEP_ALIVE_MS", MINUTE_MS / 2, 100, 10 * MINUTE_MS)?,
                event_interval_ms: number("EVENT_INTERVAL_MS", 200, 0, 10_000)?,
                retention_ms: number("RETENTION_MS", 30 * DAY_MS, 0, 3_650 * DAY_MS)?,
                task_grace_ms: number("TASK_GRACE_MS", 250, 0, 10_000)?,
                index_wait_ms: number("INDEX_WAIT_MS", 2_000, 0, MINUTE_MS)?,
                max_event_bytes: size("MAX_EVENT_BYTES", 4 * MEBIBYTE, 1024, 32 * MEBIBYTE)?,
                max_json_values: size("MAX_JSON_VALUES", 100_000, 100, 10_000_000)?,
                max_streams: size("MAX_STREAMS", 5_000, 1, 30_000)?,
                max_history: size("MAX_HISTORY", 1_000, 1, 100_000)?,
                max_artifacts: size("MAX_ARTIFACTS", 1_000, 1, 100_000)?,
                max_webhooks: size("MAX_WEBHOOKS", 20, 1, 1_000)?,
                webhook_attempts: number("WEBHOOK_ATTEMPTS", 8, 1, 100)? as u32,
                webhook_max_age_ms: number("WEBHOOK_MAX_AGE_MS", DAY_MS, 1, 30 * DAY_MS)?,
                webhook_retry_ms: number("WEBHOOK_RETRY_MS", 5_000, 1, 60 * MINUTE_MS)?,
                webhook_timeout_ms: number("WEBHOOK_TIMEOUT_MS", 10_000, 10, 2 * MINUTE_MS)?,
                webhook_suspend_after: number("WEBHOOK_SUSPEND_AFTER", 3, 1, 1_000)? as u32,
                max_task_bytes: size("MAX_TASK_BYTES", 32 * MEBIBYTE, 1024, 64 * MEBIBYTE)?,
                max_steps: size("MAX_STEPS", 1_000, 1, 100_000)?,
                max_step_bytes: size("MAX_STEP_BYTES", MEBIBYTE / 4, 64, 4 * MEBIBYTE)?,
            },
            webhooks: Webhooks {
                allow_private: switch("WEBHOOK_ALLOW_PRIVATE")?,
                hosts: parse_hosts(&set("WEBHOOK_HOSTS").unwrap_or_default())?,
            },
        })
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "the variable {} must be {}", self.name, self.wanted)
    }
}

impl std::error::Error for ConfigError {}

/// An origin without the final slash.
fn parse_origin(text: String) -> Result<String, ConfigError> {
    let trimmed = text.trim().trim_end_matches('/');
    let host = trimmed.strip_prefix("https://").or_else(|| trimmed.strip_prefix("http://"));
    let is_origin = |host: &str| {
        let allowed = |letter: char| letter.is_ascii_alphanumeric() || ".-:[]".contains(letter);
        !host.is_empty() && host.chars().all(allowed)
    };
    match host {
        Some(host) if is_origin(host) => Ok(trimmed.to_owned()),
        Some(_) | None => Err(ConfigError {
            name: "PUBLIC_URL",
            wanted: "an origin such as https://agents.example",
        }),
    }
}

/// A list of hosts, as URLs name them in their normal form.
fn parse_hosts(text: &str) -> Result<Vec<String>, ConfigError> {
    let mut hosts = Vec::new();
    for host in text.split(',').map(str::trim).filter(|host| !host.is_empty()) {
        let name = host.strip_prefix("*.").unwrap_or(host);
        let allowed = |letter: char| letter.is_ascii_alphanumeric() || ".-_:[]".contains(letter);
        let refused = |wanted| Err(ConfigError { name: "WEBHOOK_HOSTS", wanted });
        if name.is_empty() || name.starts_with('.') || !name.chars().all(allowed) {
            return refused("a list such as hooks.example.com, *.example.org");
        }
        if name != host && is_public_suffix(name) {
            return refused(
                "a list in which a star stands below a domain of somebody, as *.example.org",
            );
        }
        hosts.push(host.to_ascii_lowercase());
    }
    Ok(hosts)
}

/// Whether strangers have names right below this domain: a top domain, or what many countries have in its
/// place, as `co.uk`.
fn is_public_suffix(domain: &str) -> bool {
    let domain = domain.trim_end_matches('.').to_ascii_lowercase();
    match domain.split_once('.') {
        None => true,
        Some((second, top)) => top.len() == 2 && SECOND_LEVELS.contains(&second),
    }
}

/// What countries have as second levels of their domains for everybody.
const SECOND_LEVELS: [&str; 7] = ["ac", "co", "com", "edu", "gov", "net", "org"];

const MEBIBYTE: u64 = 1024 * 1024;
const MINUTE_MS: u64 = 60_000;
const DAY_MS: u64 = 24 * 60 * MINUTE_MS;

#[cfg(test)]
mod tests {
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
        assert_eq!(settings.limits.blocking_limit_ms, 60_000);
    }

    #[test]
    fn variables_change_settings() {
        let settings = read(&[
            ("PUBLIC_URL", "https://agents.example/"),
            ("DEVELOPMENT", "true"),
            ("MAX_BODY_BYTES", " 2048 "),
            ("TASK_GRACE_MS", "0"),
            ("WEBHOOK_HOSTS", "Hooks.example.com, *.example.org,"),
        ])
        .unwrap();
        assert_eq!(settings.public_url.as_deref(), Some("https://agents.example"));
        assert!(settings.development);
        assert_eq!(settings.max_body_bytes, 2048);
        assert_eq!(settings.limits.task_grace_ms, 0);
        assert_eq!(settings.webhooks.hosts, ["hooks.example.com", "*.example.org"]);
        assert!(!settings.webhooks.allow_private);
    }

    #[test]
    fn a_value_that_cannot_be_used_names_its_variable() {
        for (name, value) in [
            ("PUBLIC_URL", "agents.example"),
            ("PUBLIC_URL", "https://agents.example/path"),
            ("PUBLIC_URL", "https://user@agents.example"),
            ("DEVELOPMENT", "maybe"),
            ("MAX_BODY_BYTES", "12"),
            ("RUN_TIMEOUT_MS", "-1"),
            ("MAX_ACTIVE_TASKS", "1000001"),
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
}
