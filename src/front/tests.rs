//! The tests of decisions: the order of the steps, the missing facts, and the results of a decision other than the plan.

mod waits;

use std::collections::BTreeMap;
use std::rc::Rc;

use serde_json::{Value, json};

use super::decide::{Decision, decide};
use super::deployment::Deployment;
use super::facts::{
    Asks, Facts, FoundPage, FoundPlace, FoundTerms, Inside, Need, OperatorNeed, Received, Unsealed,
};
use super::failure::Failure;
use super::head::Head;
use super::limit::Limit;
use super::plan::Plan;
use super::report::Report;
use super::signed::SignedCards;
use crate::auth::{Caller, TokenDigest, Verdict};
use crate::config::Settings;
use crate::executor::{Agents, Parts};
use crate::port::{Outside, Severity};
use crate::signing::SigningKeys;
use crate::trail::AskedBy;
use crate::twins::MemoryPlatform;
use a2a::binding::http::HttpResponse;
use a2a::error::Error;
use a2a::model::{Secret, TaskId, UnixMillis, Uuid};
use a2a::{Outcome, Quota};

/// A deployment without keys and without a console. Only `https:` URLs are allowed for webhooks.
pub(super) fn deployment(settings: Settings, agents: Agents) -> Deployment {
    Deployment {
        settings: Rc::new(settings),
        agents: Rc::new(agents),
        signing: None,
        signed: SignedCards::default(),
        has_console: false,
        check_url: https_only,
        new_id: || Uuid::v4([0; 16]),
    }
}

fn https_only(url: &str, _settings: &Settings) -> Result<(), String> {
    if url.starts_with("https://") { Ok(()) } else { Err("must be https".to_owned()) }
}

/// A request to the deployment of these tests, to which tests can add faults.
struct Sent<'a> {
    method: &'a str,
    path: &'a str,
    headers: Vec<(&'a str, &'a str)>,
    body: Received<'a>,
    facts: Facts,
}

impl<'a> Sent<'a> {
    fn new(method: &'a str, path: &'a str) -> Self {
        let (headers, facts) = (Vec::new(), Facts::default());
        Self { method, path, headers, body: Received::Whole(&[]), facts }
    }

    /// A call of JSON-RPC.
    fn call(path: &'a str, body: &'a str) -> Self {
        let call = Self { body: Received::Whole(body.as_bytes()), ..Self::new("POST", path) };
        call.with("content-type", "application/json").with("a2a-version", "1.0")
    }

    fn with(mut self, name: &'a str, value: &'a str) -> Self {
        self.headers.push((name, value));
        self
    }

    fn having(self, facts: Facts) -> Self {
        Self { facts, ..self }
    }

    fn decided(&self) -> Decided {
        self.decided_by(&hosting(Vec::new()))
    }

    fn decided_by(&self, deployment: &Deployment) -> Decided {
        let Self { method, path, headers, body, facts } = self;
        let mut head = format!("{method}\nhttps://a.example{path}");
        for (name, value) in headers {
            head.push_str(&format!("\n{name}\n{value}"));
        }
        let decision = decide(deployment, facts, &Head::parse(&head), body, || NOW);
        let Decision { plan, origin, limits, reports, audits, subject: _ } = decision;
        Decided { plan, origin: origin.map(str::to_owned), limits, reports, audits }
    }
}

struct Decided {
    plan: Plan,
    origin: Option<String>,
    limits: Vec<Limit>,
    reports: Vec<Report>,
    audits: Vec<Report>,
}

impl Decided {
    fn answer(&self) -> &HttpResponse {
        let Plan::Answer(answer) = &self.plan else { panic!("{:?}", self.plan) };
        answer
    }

    fn need(self) -> Need {
        let Plan::Need(need) = self.plan else { panic!("{:?}", self.plan) };
        need
    }
}

/// A deployment with these variables and two agents: an open one, which is the default, and a guarded one.
fn hosting(variables: Vec<(&str, &str)>) -> Deployment {
    let guarded = json!({
        "schemes": {
            "key": {"kind": "api_key", "in": "header", "name": "X-Key",
                "callers": [{"id": "billing", "secrets": ["K"], "permissions": ["operator"]}]},
            "id": {"kind": "jwt", "issuer": "https://id.example", "audience": ["guarded"],
                "jwks_url": "https://id.example/keys"},
        },
        "operator": "operator",
        "allowed_origins": ["https://app.example"],
        "rate_limits": [{"binding": "CALLS", "by": "caller"}, {"binding": "GUESSES", "by": "failures"}],
    });
    let agents = [agent("open", &json!({"open": true})), agent("guarded", &guarded)];
    let text = json!({"built_ms": 0, "agents": agents}).to_string();
    let secrets = Rc::new(BTreeMap::from([("K".to_owned(), Secret::new(KEY.to_owned()))]));
    let outside = Outside { secrets, ..MemoryPlatform::default().outside() };
    let agents = Agents::read(&text, Parts::of(outside)).unwrap();
    let own = [("MAX_PARTS", "1"), ("MAX_ACTIVE_TASKS", "3")];
    let settings = Settings::read(|name| {
        let mut all = variables.iter().chain(&own);
        all.find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
    });
    deployment(settings.unwrap(), agents)
}

fn agent(slug: &str, access: &Value) -> Value {
    let card = json!({"name": slug, "description": "d", "version": "1", "skills": [],
        "supportedInterfaces": [{"url": "{origin}/x", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}]});
    let extensions = json!([{"uri": "urn:needed", "required": slug == "guarded"}]);
    let capabilities = json!({"streaming": false, "push_notifications": false,
        "extended_agent_card": false, "extensions": extensions});
    json!({"slug": slug, "default": slug == "open", "development": false, "access": access,
        "capabilities": capabilities, "card": card.to_string(),
        "executor": {"kind": "script", "table": {"rules": []}, "run": {}}})
}

/// The body of a call of JSON-RPC that sends a message.
fn send(method: &str, parts: usize, tenant: Option<&str>) -> String {
    let message =
        json!({"messageId": "m", "role": "ROLE_USER", "parts": vec![json!({"text": "x"}); parts]});
    let params = json!({"message": message, "tenant": tenant});
    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string()
}

fn terms(reached: Option<u64>) -> Option<FoundTerms> {
    let place = reached.map(|limit| FoundPlace::Reached(Quota::Tasks(limit)));
    Some(FoundTerms { place, used: None, sealed: None })
}

/// A send to the guarded agent with every fault there is, in which those before `step` are mended.
fn faulty(step: usize) -> Decided {
    let mended = |fault: usize| fault < step;
    let method = match step {
        ..=6 => "NoSuchMethod",
        7..=10 => "SendStreamingMessage",
        _ => "SendMessage",
    };
    let parts = if mended(11) { 1 } else { 2 };
    let tenant = if mended(7) { None } else { Some("nobody") };
    let whole = send(method, parts, tenant);
    let body = match step {
        ..=3 => Received::Refused(Error::BodyIncomplete),
        4 => Received::Whole(b"{"),
        _ => Received::Whole(whole.as_bytes()),
    };
    let headers = [
        ("content-type", if mended(2) { "application/json" } else { "text/plain" }),
        ("a2a-version", if mended(5) { "1.0" } else { "9.0" }),
        ("x-key", if mended(8) { KEY } else { "wrong" }),
        ("a2a-extensions", if mended(9) { "urn:needed" } else { "" }),
    ];
    let facts = Facts {
        held_s: (!mended(1)).then_some(10),
        failure: (!mended(12)).then(|| Failure::Unreachable("it is gone".to_owned())),
        terms: terms((!mended(13)).then_some(3)),
        ..Facts::default()
    };
    let verb = if mended(0) { "POST" } else { "PUT" };
    Sent { headers: headers.into(), body, facts, ..Sent::new(verb, "/guarded") }.decided()
}

#[test]
fn a_call_of_json_rpc_is_refused_for_its_first_fault() {
    for (step, status, text) in [
        (0, 405, "it takes POST, OPTIONS"),
        (1, 429, "RATE_LIMITED"),
        (2, 200, "-32005"),
        (3, 400, "broke off"),
        (4, 200, "-32700"),
        (5, 200, "asks for A2A 9.0"),
        (6, 200, "-32601"),
        (7, 200, "tenant names no agent"),
        (8, 401, "the key is not known"),
        (9, 200, "urn:needed"),
        (10, 200, "SendStreamingMessage is not offered"),
        (11, 200, "message.parts must have at most 1 parts"),
        (12, 200, "-32603"),
        (13, 200, "3 unfinished tasks"),
    ] {
        let decided = faulty(step);
        let answer = decided.answer();
        assert_eq!(answer.status, status, "{step}: {}", answer.body);
        assert!(answer.body.contains(text), "{step}: {}", answer.body);
    }
    let decided = faulty(14);
    let Plan::Call(_, command) = &decided.plan else { panic!("{:?}", decided.plan) };
    assert_eq!((command.agent.as_str(), command.caller.id.as_str()), ("guarded", "key:billing"));
    assert_eq!(decided.reports, [], "nothing is wrong");
}

#[test]
fn a_request_of_http_json_is_refused_for_its_first_fault() {
    let faulty = |step: usize| {
        let mended = |fault: usize| fault < step;
        let path = if mended(2) { "/guarded/message:send" } else { "/guarded/nothing" };
        let body = if mended(5) { &b"{}"[..] } else { b"{" };
        let held_s = (!mended(0)).then_some(10);
        Sent {
            headers: vec![
                ("a2a-version", if mended(1) { "1.0" } else { "9.0" }),
                ("content-type", if mended(4) { "application/json" } else { "text/plain" }),
                ("x-key", if mended(6) { KEY } else { "wrong" }),
                ("a2a-extensions", "urn:needed"),
            ],
            body: Received::Whole(body),
            facts: Facts { held_s, ..Facts::default() },
            ..Sent::new(if mended(3) { "POST" } else { "PUT" }, path)
        }
        .decided()
    };
    for (step, status, reason) in [
        (0, 429, "RATE_LIMITED"),
        (1, 400, "VERSION_NOT_SUPPORTED"),
        (2, 404, "NOT_FOUND"),
        (3, 405, "METHOD_NOT_ALLOWED"),
        (4, 415, "CONTENT_TYPE"),
        (5, 400, "PARSE"),
        (6, 401, "UNAUTHENTICATED"),
        (7, 400, "message"),
    ] {
        let decided = faulty(step);
        let answer = decided.answer();
        assert_eq!(answer.status, status, "{step}: {}", answer.body);
        assert!(answer.body.contains(reason), "{step}: {}", answer.body);
    }
}

#[test]
fn a_body_is_received_unless_the_agent_of_the_path_refuses_the_caller_already() {
    let body = || Received::Nothing;
    let json = |path| Sent { body: body(), ..Sent::call(path, "") };
    let limit = hosting(Vec::new()).settings.max_body_bytes;
    for path in ["/", "/open", "/open/message:send"] {
        assert_eq!(json(path).decided().need(), Need::Body(limit), "{path}");
    }
    assert_eq!(json("/guarded").with("x-key", KEY).decided().need(), Need::Body(limit));
    // At the root, the body names the agent.
    assert_eq!(json("/").with("x-key", "wrong").decided().need(), Need::Body(limit));
    assert_eq!(json("/guarded").with("x-key", "wrong").decided().answer().status, 401);
    assert_eq!(json("/nobody").decided().answer().status, 404);
    let refused = Received::Refused(Error::TooLarge(limit));
    let too_large = Sent { body: refused, ..Sent::call("/open", "") }.decided();
    assert!(too_large.answer().body.contains(&limit.to_string()), "{}", too_large.answer().body);
}

/// A token that is valid but for its signature, which nobody has checked.
fn token() -> String {
    use base64::Engine;
    let part = |json: Value| {
        base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(json.to_string().as_bytes())
    };
    let exp = NOW.0 / 1000 + 60;
    let claims = json!({"iss": "https://id.example", "aud": "guarded", "sub": "ann", "exp": exp});
    let header = json!({"alg": "ES256", "kid": "k"});
    format!("Bearer {}.{}.{}", part(header), part(claims), "A".repeat(86))
}

#[test]
fn a_token_is_checked_before_its_caller_is_known() {
    let (token, body) = (token(), send("GetTask", 1, None));
    let deployment = hosting(Vec::new());
    let sent = |verdict: Option<(TokenDigest, Verdict)>| {
        let verdicts = verdict.into_iter().collect();
        let call = Sent::call("/guarded", &body).having(Facts { verdicts, ..Facts::default() });
        let call = call.with("a2a-extensions", "urn:needed").with("authorization", &token);
        call.decided_by(&deployment)
    };
    let Need::Verdicts(tokens) = sent(None).need() else { panic!("a token is to be checked") };
    let digest = tokens[0].digest;
    assert_eq!(tokens.len(), 1);
    let refused = sent(Some((digest, Verdict::Refused("it is forged"))));
    assert_eq!(refused.answer().status, 401);
    assert_eq!(refused.audits.len(), 1, "{:?}", refused.audits);
    let unavailable = sent(Some((digest, Verdict::Unavailable)));
    assert_ne!(unavailable.answer().status, 401);
    let genuine = sent(Some((digest, Verdict::Genuine)));
    assert!(genuine.answer().body.contains("-32602"), "{}", genuine.answer().body);
    assert_eq!(genuine.audits, []);
}

#[test]
fn a_request_from_inside_has_the_caller_of_the_task_and_no_address() {
    let body =
        json!({"jsonrpc": "2.0", "id": 1, "method": "GetTask", "params": {"id": "0a".repeat(32)}});
    let body = body.to_string();
    let decided = |caller: &str| {
        let (agent, caller) = ("guarded".to_owned(), Caller::new(caller));
        let by = AskedBy { agent, task: TaskId::from('t') };
        let inside = Some(Inside { by, caller, request: None });
        let call = Sent::call("/guarded", &body).having(Facts { inside, ..Facts::default() });
        call.with("a2a-extensions", "urn:needed").decided()
    };
    let vouched = decided("key:billing");
    assert!(matches!(vouched.plan, Plan::Call(..)), "{:?}", vouched.plan);
    assert_eq!(vouched.limits.len(), 1, "that of the caller");
    let unknown = decided("anonymous");
    assert_eq!(unknown.answer().status, 401);
    assert_eq!(unknown.limits, []);
}

#[test]
fn a_guarded_agent_has_rate_limits_asked_and_shows_its_answers_to_its_pages() {
    let body = send("GetTask", 1, None);
    let sent = |key| {
        let call =
            Sent::call("/guarded", &body).with("x-key", key).with("a2a-extensions", "urn:needed");
        call.with("origin", "https://app.example").with("cf-connecting-ip", "192.0.2.1")
    };
    let right = sent(KEY).decided();
    assert_eq!(right.origin.as_deref(), Some("https://app.example"));
    assert_eq!((right.limits.len(), right.audits.len()), (1, 0));
    let wrong = sent("wrong").decided();
    let text = serde_json::to_string(&wrong.limits).unwrap();
    assert!(text.contains("GUESSES") && text.contains("guarded/failures/192.0.2.1"), "{text}");
    let [Report::Audited(line)] = wrong.audits.as_slice() else { panic!("{:?}", wrong.audits) };
    assert_eq!(line.agent, "guarded");
    // Those that were asked are not asked again.
    let asked = wrong.limits;
    let again = sent("wrong").having(Facts { asked, ..Facts::default() }).decided();
    assert_eq!(again.limits, []);
    // A page of elsewhere may not read the answer.
    let mut elsewhere = sent(KEY);
    elsewhere.headers.retain(|(name, _)| *name != "origin");
    assert_eq!(elsewhere.with("origin", "https://b.example").decided().origin.as_deref(), Some(""));
    let open = Sent::call("/open", &body).with("origin", "https://b.example").decided();
    assert_eq!((open.origin, open.limits.len()), (None, 0));
}

const NOW: UnixMillis = UnixMillis(1_767_600_000_000);

const KEY: &str = "a-key-of-enough-letters";
