//! What operators ask of an agent: `GET /<agent>/overview?hours=24`, a summary; `POST /<agent>/index:copy`, which copies the
//! next rows of the index to a second place (`INDEX_COPY`); and `POST /<agent>/owner:forget?owner=key%3Abilling`, which deletes the next
//! rows of an owner that belong to no task. `GET /<agent>/usage?days=30` shows operators the usage by all callers, and each caller its
//! own. No object of a task is called.

use serde_json::json;

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
use crate::usage::day_of;
use a2a::binding::http::{HttpResponse, split_url};
use a2a::binding::percent;
use a2a::error::{Error, Refusal};
use a2a::model::UnixMillis;
use a2a_agents::access::Access;

/// Decides about a request for the overview of an agent.
#[inline(never)]
pub(super) fn overview(request: Request<'_>, slug: &str, seen: &mut Seen) -> Plan {
    let asks = |asker: &Asker<'_>| {
        asker.check_operator()?;
        hours(asker.query).map(|hours| Asked::OfIndex(Asks::Overview { hours }))
    };
    plan(request, slug, SEEING, &asks, seen)
}

/// Decides about a request for the usage of an agent.
#[inline(never)]
pub(super) fn usage(request: Request<'_>, slug: &str, seen: &mut Seen) -> Plan {
    let asks = |asker: &Asker<'_>| {
        let whose = asker.whose_usage()?;
        let (from, to) = days(asker.query, (request.now)())?;
        Ok(match whose {
            UsageOf::Owner(owner) => Asked::OfIndex(Asks::Usage { owner: Some(owner), from, to }),
            UsageOf::All => Asked::OfIndex(Asks::Usage { owner: None, from, to }),
            UsageOf::Nobody => Asked::Nothing(no_usage(slug, &from, &to)),
        })
    };
    plan(request, slug, SEEING, &asks, seen)
}

/// Decides about a request to copy rows of the index.
#[inline(never)]
pub(super) fn copy(request: Request<'_>, slug: &str, seen: &mut Seen) -> Plan {
    let Index { kind, also, .. } = request.deployment.settings.index;
    let asks = |asker: &Asker<'_>| {
        asker.check_operator()?;
        match also {
            Some(_) => {
                let is_anew = parameter(asker.query, "anew").as_deref() == Some("true");
                Ok(Asked::OfIndex(Asks::Copy { is_anew }))
            }
            None => Err(Error::UnsupportedOperation(format!(
                "the index is in {} alone; set INDEX_COPY to where it moves, and deploy",
                kind.name()
            ))),
        }
    };
    plan(request, slug, ACTING, &asks, seen)
}

/// Decides about a request to delete rows of an owner.
#[inline(never)]
pub(super) fn forget(request: Request<'_>, slug: &str, seen: &mut Seen) -> Plan {
    let asks = |asker: &Asker<'_>| {
        asker.check_operator()?;
        let named =
            percent::pairs(asker.query).find(|(name, owner)| name == "owner" && !owner.is_empty());
        let (_, owner) = named.ok_or_else(|| Error::invalid("owner", NO_OWNER))?;
        Ok(Asked::OfIndex(Asks::Forget { owner }))
    };
    plan(request, slug, ACTING, &asks, seen)
}

fn plan(
    request: Request<'_>,
    slug: &str,
    allowed: &'static str,
    asks: &dyn Fn(&Asker<'_>) -> Result<Asked, Error>,
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
    asks: &dyn Fn(&Asker<'_>) -> Result<Asked, Error>,
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
    let is_development = deployment.settings.development;
    let asker = Asker { access, caller: &caller, act_as: act_as.as_ref(), is_development, query };
    let asked = asks(&asker).inspect_err(|error| seen.note_refusal(agent, error))?;
    let asks = match asked {
        Asked::OfIndex(asks) => asks,
        Asked::Nothing(answer) => return Ok(Plan::Answer(shown_now(answer))),
    };
    let agent = agent.slug.to_string();
    let Some(found) = &facts.operator else {
        return Ok(Plan::Need(Need::Operator(OperatorNeed { agent, asks })));
    };
    let act = match asks {
        Asks::Forget { .. } => Some(Act::OwnerForgotten),
        Asks::Usage { .. } if act_as.is_some() => Some(Act::OperatorActed),
        _ => None,
    };
    if let Some(act) = act {
        let refusal = found.is_none().then(|| UNAVAILABLE.to_owned());
        let (caller, operation) = (Some(caller.id), None);
        let trail = head.trail();
        seen.report(Report::Audited(Line { act, agent, caller, operation, refusal, trail }));
    }
    let found = found.clone().ok_or(Error::Unavailable(UNAVAILABLE))?;
    Ok(Plan::Answer(shown_now(found)))
}

fn shown_now(json: String) -> HttpResponse {
    HttpResponse::json(200, json).with_header("cache-control", "no-store")
}

/// The answer about usage that the caller does not see.
fn no_usage(agent: &str, from: &str, to: &str) -> String {
    json!({"agent": agent, "from": from, "to": to, "days": [], "isAtLeast": false}).to_string()
}

/// What a request is answered with.
enum Asked {
    /// What the index finds.
    OfIndex(Asks),
    /// This JSON: the caller sees nothing of the index.
    Nothing(String),
}

/// Whose usage a caller sees.
#[derive(Debug, PartialEq)]
enum UsageOf {
    Owner(String),
    All,
    Nobody,
}

/// The caller of a request, and what it asks.
struct Asker<'a> {
    access: Option<&'a Access>,
    caller: &'a Caller,
    act_as: Option<&'a ActAs>,
    is_development: bool,
    query: &'a str,
}

impl Asker<'_> {
    /// See [`may_ask`].
    fn check_operator(&self) -> Result<(), Error> {
        may_ask(self.access, self.caller, self.act_as, self.is_development)
    }

    /// Whose usage the caller sees: its own, or as an operator that of all owners or of one. Callers without credentials all count as
    /// the same caller, so they see usage where they see lists of tasks, and that of an agent without schemes in development.
    ///
    /// # Errors
    ///
    /// [`Error::PermissionDenied`].
    fn whose_usage(&self) -> Result<UsageOf, Error> {
        let Some(ActAs { owners }) = self.act_as else {
            let is_open = self.access.is_some_and(|access| {
                access.open_listing || (self.is_development && access.is_anonymous())
            });
            let is_hidden = self.caller.is_anonymous() && !is_open;
            let own = || UsageOf::Owner(self.caller.owner().to_owned());
            return Ok(if is_hidden { UsageOf::Nobody } else { own() });
        };
        let all = ActAs { owners: Owners::All };
        may_ask(self.access, self.caller, Some(&all), self.is_development)?;
        Ok(owners.one().map_or(UsageOf::All, |owner| UsageOf::Owner(owner.as_str().to_owned())))
    }
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
    count(query, "hours", DEFAULT_HOURS, MAX_HOURS)
}

/// The first and the last day (UTC) of the usage for a query: `days` days up to today, without those from the day `before` on.
///
/// # Errors
///
/// [`Error::InvalidParams`] for anything except a number in the range, and a date.
fn days(query: &str, now: UnixMillis) -> Result<(String, String), Error> {
    let days = count(query, "days", DEFAULT_DAYS, MAX_DAYS)?;
    let day_before =
        |day: UnixMillis, days: u32| day_of(UnixMillis(day.0 - i64::from(days) * DAY_MS));
    let last = match parameter(query, "before") {
        None => day_of(now),
        Some(text) => {
            let day = UnixMillis::parse(&format!("{text}T00:00:00Z")).ok_or_else(|| {
                Error::invalid(
                    "before",
                    format!("must be a date as 2026-01-05, got {:?}", shown(&text)),
                )
            })?;
            day_before(day, 1).min(day_of(now))
        }
    };
    Ok((day_before(now, days - 1), last))
}

/// The whole number of a parameter, from 1 to `most`.
fn count(query: &str, name: &str, absent: u32, most: u32) -> Result<u32, Error> {
    let Some(text) = parameter(query, name) else { return Ok(absent) };
    let number = text.parse().ok().filter(|number| (1..=most).contains(number));
    number.ok_or_else(|| {
        let got = shown(&text);
        Error::invalid(name, format!("must be a whole number from 1 to {most}, got {got:?}"))
    })
}

fn parameter(query: &str, name: &str) -> Option<String> {
    percent::pairs(query).find(|(known, _)| known == name).map(|(_, value)| value)
}

/// The beginning of a text, for an error.
fn shown(text: &str) -> String {
    text.chars().take(20).collect()
}

const SEEING: &str = "GET, HEAD, OPTIONS";
const ACTING: &str = "POST, OPTIONS";

/// The number of hours if the query contains none.
const DEFAULT_HOURS: u32 = 24;

/// The number of days if the query contains none.
const DEFAULT_DAYS: u32 = 30;

/// The largest number of days: sums are kept that long.
const MAX_DAYS: u32 = 400;

const DAY_MS: i64 = 86_400_000;

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

    #[test]
    fn a_usage_is_of_days_up_to_today_or_before_a_day() {
        let now = UnixMillis::parse("2026-03-05T23:59:00Z").unwrap();
        for (query, from, to) in [
            ("", "2026-02-04", "2026-03-05"),
            ("days=1", "2026-03-05", "2026-03-05"),
            ("days=400", "2025-01-30", "2026-03-05"),
            ("days=30&before=2026-03-01", "2026-02-04", "2026-02-28"),
            ("before=2026-01-01", "2026-02-04", "2025-12-31"),
            ("before=9999-12-31", "2026-02-04", "2026-03-05"),
        ] {
            assert_eq!(days(query, now), Ok((from.to_owned(), to.to_owned())), "{query}");
        }
        for (query, told) in [
            ("days=0", r#"days must be a whole number from 1 to 400, got "0""#),
            ("days=401", "days must be a whole number"),
            ("days=x", "days must be a whole number"),
            ("before=2026-02-30", r#"before must be a date as 2026-01-05, got "2026-02-30""#),
            ("before=", "before must be a date"),
            ("before=2026-03-05T00:00:00Z", "before must be a date"),
        ] {
            let refused = days(query, now).unwrap_err().to_string();
            assert!(refused.contains(told), "{query}: {refused}");
        }
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
    fn a_caller_sees_its_own_usage_and_an_operator_that_of_all_or_of_one() {
        let guarded = access(true);
        let (open, listing) = (access(false), Access { open_listing: true, ..access(false) });
        let nobody = Caller::anonymous();
        let known = Caller::new("key:billing");
        let permissions = vec!["operator".to_owned()];
        let operator = Caller { permissions, ..Caller::new("key:ops") };
        let all = ActAs { owners: Owners::All };
        let one = ActAs { owners: Owners::One(OwnerId::new("key:bob")) };
        let own = |caller: &Caller| Some(UsageOf::Owner(caller.owner().to_owned()));
        for (access, caller, act_as, is_development, seen) in [
            (&guarded, &known, None, false, own(&known)),
            (&guarded, &operator, None, false, own(&operator)),
            (&guarded, &operator, Some(&all), false, Some(UsageOf::All)),
            (&guarded, &operator, Some(&one), false, Some(UsageOf::Owner("key:bob".to_owned()))),
            (&guarded, &known, Some(&all), false, None),
            (&guarded, &known, Some(&one), true, None),
            (&guarded, &nobody, None, true, Some(UsageOf::Nobody)),
            (&open, &nobody, None, false, Some(UsageOf::Nobody)),
            (&open, &nobody, None, true, own(&nobody)),
            (&open, &nobody, Some(&all), true, Some(UsageOf::All)),
            (&open, &nobody, Some(&all), false, None),
            (&listing, &nobody, None, false, own(&nobody)),
            (&listing, &nobody, Some(&all), false, None),
        ] {
            let asker = Asker { access: Some(access), caller, act_as, is_development, query: "" };
            let told = format!("{} {act_as:?} {is_development}", caller.id);
            match asker.whose_usage() {
                Ok(whose) => assert_eq!(Some(whose), seen, "{told}"),
                Err(error) => {
                    assert!(matches!(error, Error::PermissionDenied(_)), "{told}: {error}");
                    assert_eq!(None, seen, "{told}");
                }
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
