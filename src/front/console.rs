//! The console's requests to the Worker. The list of agents is answered here; requests about one agent are passed to
//! the guest (`src/edge/front/console/`).

use super::document::catalogue;
use super::facts::Need;
use super::identify::Request;
use super::plan::Plan;
use a2a::binding::http::split_url;
use a2a::error::Error;

/// Decides about a request to a path `below` the console.
///
/// # Errors
///
/// [`Error::MethodNotAllowed`], or [`Error::NotFound`] for an unknown path.
#[inline(never)]
pub(super) fn plan(request: Request<'_>, below: &str) -> Result<Plan, Error> {
    let head = request.head;
    match (below, head.method()) {
        (AGENTS, "GET" | "HEAD") => Ok(agents(request)),
        (AGENTS, "OPTIONS") => Ok(Plan::Answer(head.preflight("GET, HEAD, OPTIONS"))),
        (AGENTS, _) => Err(Error::MethodNotAllowed("GET, HEAD, OPTIONS")),
        (below, "GET") if of_agent(below).is_some() => Ok(Plan::Visit),
        (below, _) if of_agent(below).is_some() => Err(Error::MethodNotAllowed("GET")),
        _ => Err(absent(below)),
    }
}

/// The plan for the list of agents. If the sources of skills of some agents have to be checked, the plan is to check
/// them first.
fn agents(request: Request<'_>) -> Plan {
    let is_unlearned = |agent: &&_| request.unlearned(agent).is_some();
    let unlearned = request.deployment.hosted().filter(is_unlearned);
    let unlearned: Vec<String> = unlearned.map(|agent| agent.slug.to_string()).collect();
    if !unlearned.is_empty() {
        return Plan::Need(Need::Skills(unlearned));
    }
    let (origin, _, _) = split_url(request.head.url());
    let mut answer =
        catalogue::answer(&request.deployment.settings, &request.deployment.agents, origin);
    if request.head.method() == "HEAD" {
        answer.body.clear();
    }
    Plan::Answer(answer)
}

/// The subject of a request about one agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum About {
    Schemas,
    Health,
}

/// The slug of the agent and the subject in a path below the console's URL.
pub(crate) fn of_agent(below: &str) -> Option<(&str, About)> {
    let (slug, about) = below.strip_prefix("api/agents/")?.split_once('/')?;
    let about = match about {
        "schemas" => About::Schemas,
        "health" => About::Health,
        _ => return None,
    };
    (!slug.is_empty()).then_some((slug, about))
}

/// The error for an unknown path below the console's URL.
pub(crate) fn absent(below: &str) -> Error {
    let shown: String = below.chars().take(60).collect();
    Error::NotFound(match shown.as_str() {
        "" | "index.html" => "this Worker was deployed without the console; add [assets] to wrangler.toml as docs/console.md says, and deploy \
                              it again"
            .to_owned(),
        shown => format!(
            "there is nothing at /console/{shown}; the console is at /console/, if wrangler.toml has [assets] (docs/console.md)"
        ),
    })
}

/// The path of the list of agents.
const AGENTS: &str = "api/agents";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_names_an_agent() {
        for (below, expected) in [
            ("api/agents/demo/schemas", Some(("demo", About::Schemas))),
            ("api/agents/demo/health", Some(("demo", About::Health))),
            ("api/agents//schemas", None),
            ("api/agents/a/b/schemas", None),
            ("api/agents/schemas", None),
            ("api/agents/demo", None),
        ] {
            assert_eq!(of_agent(below), expected, "{below}");
        }
    }

    #[test]
    fn a_path_without_anything_says_what_is_missing() {
        for (below, part) in [
            ("", "without the console; add [assets]"),
            ("index.html", "without the console; add [assets]"),
            ("app.js", "nothing at /console/app.js"),
            ("api/other", "nothing at /console/api/other"),
        ] {
            let error = absent(below).to_string();
            assert!(error.contains(part), "{error}");
        }
        assert!(absent(&"x".repeat(1000)).to_string().len() < 250);
    }
}
