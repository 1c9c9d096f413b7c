//! What operators alone ask of an agent: `GET /<agent>/overview?hours=24`, a summary; `POST /<agent>/index:copy`, which copies the
//! next rows of the index to a second place (`INDEX_COPY`); and `POST /<agent>/owner:forget?owner=key%3Abilling`, which deletes the next
//! rows of an owner that belong to no task. No object of a task is called.

use super::admit::unknown_path;
use super::facts::{Asks, Need, OperatorNeed};
use super::identify::Request;
use super::plan::Plan;
use super::report::{Line, Report};
use super::seen::Seen;
use crate::auth::{ActAs, Caller, Identity, Owners, Policy};
use crate::config::Index;
use crate::overview::MAX_HOURS;
use crate::port::Act;
use a2a::binding::http::{HttpResponse, split_url};
use a2a::binding::percent;
use a2a::error::{Error, Refusal};
use a2a_agents::access::Access;

/// Decides about a request for the overview of an agent.
#[inline(never)]
pub(super) fn overview(request: Request<'_>, slug: &str, seen: &mut Seen) -> Plan {
    let asks = |query: &str| hours(query).map(|hours| Asks::Overview { hours });
    plan(request, slug, SEEING, &asks, seen)
}

/// Decides about a request to copy rows of the index.
#[inline(never)]
pub(super) fn copy(request: Request<'_>, slug: &str, seen: &mut Seen) -> Plan {
    let Index { kind, also, .. } = request.deployment.settings.index;
    let asks = |query: &str| match also {
        Some(_) => {
            let is_anew =
                percent::pairs(query).any(|(name, value)| name == "anew" && value == "true");
            Ok(Asks::Copy { is_anew })
        }
        None => Err(Error::UnsupportedOperation(format!(
            "the index is in {} alone; set INDEX_COPY to where it moves, and deploy",
            kind.name()
        ))),
    };
    plan(request, slug, ACTING, &asks, seen)
}

/// Decides about a request to delete rows of an owner.
#[inline(never)]
pub(super) fn forget(request: Request<'_>, slug: &str, seen: &mut Seen) -> Plan {
    let asks = |query: &str| {
        let named =
            percent::pairs(query).find(|(name, owner)| name == "owner" && !owner.is_empty());
        let (_, owner) = named.ok_or_else(|| Error::invalid("owner", NO_OWNER))?;
        Ok(Asks::Forget { owner })
    };
    plan(request, slug, ACTING, &asks, seen)
}

fn plan(
    request: Request<'_>,
    slug: &str,
    allowed: &'static str,
    asks: &dyn Fn(&str) -> Result<Asks, Error>,
    seen: &mut Seen,
) -> Plan {
    let head = request.head;
    if let Some(agent) = request.deployment.agents.find(Some(slug)) {
        seen.note_agent(agent);
    }
    if head.method() == "OPTIONS" {
        return Plan::Answer(head.preflight(allowed));
    }
    let planned = read(request, slug, allowed, asks, seen);
    let planned = planned.unwrap_or_else(|error| Plan::Answer(HttpResponse::error(&error)));
    match planned {
        Plan::Answer(answer) if head.method() == "HEAD" => {
            Plan::Answer(HttpResponse { body: String::new(), ..answer })
        }
        planned => planned,
    }
}

fn read(
    request: Request<'_>,
    slug: &str,
    allowed: &'static str,
    asks: &dyn Fn(&str) -> Result<Asks, Error>,
    seen: &mut Seen,
) -> Result<Plan, Error> {
    let Request { deployment, facts, head, .. } = request;
    let (_, path, query) = split_url(head.url());
    let agents = &deployment.agents;
    let agent = agents.find(Some(slug)).ok_or_else(|| unknown_path(path, agents))?;
    seen.note_call();
    facts.check_limits()?;
    if !allowed.split(", ").any(|method| method == head.method()) {
        return Err(Error::MethodNotAllowed(allowed));
    }
    let judged = request.judge(agent);
    seen.note_judged(agent, &judged, facts.is_reported);
    let caller = match judged.identity {
        Identity::Caller(caller) => caller,
        Identity::Refused(error) => return Err(error),
        Identity::Pending(tokens) => return Ok(Plan::Need(Need::Verdicts(tokens))),
    };
    let access = agent.policy.as_ref().ok().map(Policy::access);
    let act_as = head.header(ActAs::HEADER).map(ActAs::read).transpose()?;
    may_ask(access, &caller, act_as.as_ref(), deployment.settings.development)
        .inspect_err(|error| seen.note_refusal(agent, error))?;
    let asks = asks(query)?;
    let agent = agent.slug.to_string();
    let Some(found) = &facts.operator else {
        return Ok(Plan::Need(Need::Operator(OperatorNeed { agent, asks })));
    };
    if matches!(asks, Asks::Forget { .. }) {
        let refusal = found.is_none().then(|| UNAVAILABLE.to_owned());
        let (act, caller, operation) = (Act::OwnerForgotten, Some(caller.id), None);
        let trail = head.trail();
        seen.report(Report::Audited(Line { act, agent, caller, operation, refusal, trail }));
    }
    let found = found.clone().ok_or(Error::Unavailable(UNAVAILABLE))?;
    let answer = HttpResponse::json(200, found).with_header("cache-control", "no-store");
    Ok(Plan::Answer(answer))
}

/// Checks that a caller may ask as an operator of the agent with this access. The caller must be an operator and send
/// `Act-As`. In development everybody may ask an agent without schemes, because such an agent cannot
/// have operators.
///
/// # Errors
///
/// [`Error::PermissionDenied`], or [`Error::InvalidParams`] if `Act-As` names an owner: the answer is about the tasks
/// of all owners.
fn may_ask(
    access: Option<&Access>,
    caller: &Caller,
    act_as: Option<&ActAs>,
    is_development: bool,
) -> Result<(), Error> {
    if act_as.is_some_and(|act_as| act_as.owners != Owners::All) {
        return Err(Error::invalid("Act-As", "takes no owner here: this is about all tasks"));
    }
    let is_open = access.is_some_and(Access::is_anonymous);
    if is_open && is_development {
        return Ok(());
    }
    if is_open {
        return Err(denied(NOBODY.to_owned()));
    }
    match act_as {
        Some(act_as) => act_as.check_permission(access, caller),
        None => Err(denied(NOT_ASKED.to_owned())),
    }
}

/// Checks that a caller may read the metrics of the agent with this access: as an operator, without `Act-As`, since metrics are about
/// all callers and nothing else.
///
/// # Errors
///
/// [`Error::PermissionDenied`].
pub(crate) fn may_read_metrics(
    access: Option<&Access>,
    caller: &Caller,
    is_development: bool,
) -> Result<(), Error> {
    let act_as = ActAs { owners: Owners::All };
    may_ask(access, caller, Some(&act_as), is_development)
}

fn denied(message: String) -> Error {
    Error::PermissionDenied(Box::new(Refusal { message, challenges: Vec::new() }))
}

/// The number of hours in a query.
///
/// # Errors
///
/// [`Error::InvalidParams`] for anything except a number in the range.
fn hours(query: &str) -> Result<u32, Error> {
    let Some((_, text)) = percent::pairs(query).find(|(name, _)| name == "hours") else {
        return Ok(DEFAULT_HOURS);
    };
    let number = text.parse().ok().filter(|hours| (1..=MAX_HOURS).contains(hours));
    number.ok_or_else(|| {
        let shown: String = text.chars().take(20).collect();
        let description = format!("must be a whole number from 1 to {MAX_HOURS}, got {shown:?}");
        Error::invalid("hours", description)
    })
}

const SEEING: &str = "GET, HEAD, OPTIONS";
const ACTING: &str = "POST, OPTIONS";

/// The number of hours if the query contains none.
const DEFAULT_HOURS: u32 = 24;

const UNAVAILABLE: &str = "the index is not available at the moment; tasks go on";

const NO_OWNER: &str = "must name the caller or the group whose rows are deleted, as key:billing";

const NOBODY: &str = "this is for operators, and the agent has no schemes by which it could know one: add \
    [access.schemes] to its file";

const NOT_ASKED: &str = "this is for operators: send the header Act-As: operator, with credentials that have \
    the permission";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::auth::OwnerId;

    #[test]
    fn a_period_is_a_number_of_hours_up_to_a_week() {
        for (query, expected) in [
            ("", Some(24)),
            ("x=1", Some(24)),
            ("hours=1", Some(1)),
            ("hours=168&x", Some(168)),
            ("hours=2&hours=3", Some(2)),
            ("hours=", None),
            ("hours=0", None),
            ("hours=169", None),
            ("hours=1.5", None),
            ("hours=-1", None),
            ("hours=a%20b", None),
            ("hours=99999999999", None),
        ] {
            assert_eq!(hours(query).ok(), expected, "{query}");
        }
        let told = hours("hours=soon").unwrap_err().to_string();
        assert!(
            told.contains(r#"hours must be a whole number from 1 to 168, got "soon""#),
            "{told}"
        );
    }

    fn access(has_schemes: bool) -> Access {
        let scheme = serde_json::json!({"kind": "api_key", "name": "X-Api-Key", "callers": []});
        let mut access = Access::default();
        if has_schemes {
            access.schemes.insert("key".to_owned(), serde_json::from_value(scheme).unwrap());
        }
        access
    }

    #[test]
    fn operators_see_an_overview_and_in_development_everybody_that_of_an_open_agent() {
        let (open, guarded) = (access(false), access(true));
        let nobody = Caller::anonymous();
        let known = Caller::new("key:billing");
        let permissions = vec!["operator".to_owned()];
        let operator = Caller { permissions, ..Caller::new("key:ops") };
        let asks = ActAs { owners: Owners::All };
        for (access, caller, act_as, is_development, may) in [
            (Some(&guarded), &operator, Some(&asks), false, true),
            (Some(&guarded), &operator, Some(&asks), true, true),
            (Some(&guarded), &operator, None, false, false),
            (Some(&guarded), &operator, None, true, false),
            (Some(&guarded), &known, Some(&asks), false, false),
            (Some(&guarded), &known, Some(&asks), true, false),
            (Some(&guarded), &nobody, Some(&asks), true, false),
            (Some(&open), &nobody, None, true, true),
            (Some(&open), &nobody, Some(&asks), true, true),
            (Some(&open), &nobody, None, false, false),
            (Some(&open), &nobody, Some(&asks), false, false),
            (Some(&open), &operator, Some(&asks), false, false),
            (None, &operator, Some(&asks), true, false),
            (None, &nobody, None, true, false),
        ] {
            let seen = may_ask(access, caller, act_as, is_development);
            let told = format!("{} {act_as:?} {is_development}: {seen:?}", caller.id);
            match seen {
                Ok(()) => assert!(may, "{told}"),
                Err(Error::PermissionDenied(_)) => assert!(!may, "{told}"),
                Err(_) => panic!("{told}"),
            }
        }
    }

    #[test]
    fn an_overview_is_of_no_owner() {
        let act_as = ActAs { owners: Owners::One(OwnerId::new("key:billing")) };
        for is_development in [false, true] {
            let seen =
                may_ask(Some(&access(false)), &Caller::anonymous(), Some(&act_as), is_development);
            assert!(matches!(seen, Err(Error::InvalidParams(_))), "{seen:?}");
        }
    }
}
