//! Tests of messages, lists, overviews, callbacks, cards and guests: without the fact that each of them needs, and with
//! this fact.

use super::*;
use crate::forms::address::{ObjectId, TaskAddress};

#[test]
fn a_message_waits_for_what_bounds_it() {
    let body = send("SendMessage", 1, None);
    let sent = |terms| Sent::call("/open", &body).having(Facts { terms, ..Facts::default() });
    let Need::Terms(need) = sent(None).decided().need() else {
        panic!("its bounds are to be found")
    };
    assert_eq!(need.quotas, [Quota::Tasks(3)]);
    assert_eq!((need.has_allowance, need.has_credentials), (false, false));
    assert!(matches!(sent(terms(None)).decided().plan, Plan::Call(..)));
    let over = sent(terms(Some(3))).decided();
    assert!(over.answer().body.contains("3"), "{}", over.answer().body);
    for (unsealed, text, reports) in [
        (Unsealed::NoKey, "STATE_KEY", 0),
        (Unsealed::NoObject(Failure::Unreachable("x".to_owned())), "-32603", 1),
    ] {
        let found = FoundTerms { place: None, used: None, sealed: Some(Err(unsealed)) };
        let refused = sent(Some(found)).decided();
        assert!(refused.answer().body.contains(text), "{}", refused.answer().body);
        assert_eq!(refused.reports.len(), reports);
    }
    let object = ObjectId::new("0a").unwrap();
    let place = Some(FoundPlace::Reserved(object.clone()));
    let reserved = sent(Some(FoundTerms { place, used: None, sealed: None })).decided();
    let Plan::Call(address, command) = reserved.plan else { panic!("{:?}", reserved.plan) };
    assert_eq!((address, command.terms.is_reserved), (TaskAddress::NewObject(object), true));
    // `0` means that there is no quota: no fact has to be awaited.
    let free = Sent::call("/open", &body).decided_by(&hosting(vec![("MAX_ACTIVE_TASKS", "0")]));
    assert!(matches!(free.plan, Plan::Call(..)), "{:?}", free.plan);
}

#[test]
fn tasks_are_listed_by_one_statement_where_that_is_enough() {
    let with = |params: Value, page: Option<FoundPage>| {
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "ListTasks", "params": params});
        let body = body.to_string();
        Sent::call("/open", &body).having(Facts { page, ..Facts::default() }).decided()
    };
    let sent = |artifacts: bool, page| {
        with(json!({"contextId": "c", "includeArtifacts": artifacts}), page)
    };
    assert!(matches!(with(json!({"contextId": "c", "text": "x"}), None).need(), Need::Page(_)));
    let waiting = with(json!({"contextId": "c", "waiting": true, "includeSummary": true}), None);
    assert!(matches!(waiting.plan, Plan::List { is_in_objects: false, .. }));
    assert!(matches!(sent(false, None).plan, Plan::List { is_in_objects: false, .. }));
    assert!(matches!(sent(true, None).need(), Need::Page(_)));
    let empty = sent(false, Some(FoundPage::lines(String::new(), None)));
    assert!(empty.answer().body.contains(r#""totalSize":0"#), "{}", empty.answer().body);
    assert!(matches!(sent(false, Some(FoundPage::NoLines)).need(), Need::Page(_)));
    let unreadable = sent(false, Some(FoundPage::lines("x".to_owned(), Some(1.0))));
    assert!(matches!(unreadable.reports.as_slice(), [Report::ListingFailed(_)]));
    let whole = FoundPage::Whole(Ok(Outcome::Tasks(r#"{"tasks":[]}"#.to_owned())));
    assert!(sent(true, Some(whole)).answer().body.contains(r#"{"tasks":[]}"#));
}

#[test]
fn an_operator_waits_for_an_overview() {
    let sent = |facts| {
        let sent = Sent::new("GET", "/guarded/overview?hours=2").having(facts);
        sent.with("x-key", KEY).with("act-as", "operator")
    };
    let need = OperatorNeed { agent: "guarded".to_owned(), asks: Asks::Overview { hours: 2 } };
    assert_eq!(sent(Facts::default()).decided().need(), Need::Operator(need));
    let failed = sent(Facts { operator: Some(None), ..Facts::default() }).decided();
    assert_eq!(failed.answer().status, 503);
    assert_eq!(Sent::new("GET", "/guarded/overview").decided().answer().status, 401);
}

#[test]
fn a_caller_waits_for_its_usage_and_an_operator_for_that_of_all_callers() {
    let path = "/guarded/usage?days=2";
    let usage = |owner: Option<&str>| {
        let owner = owner.map(str::to_owned);
        let (from, to) = ("2026-01-04".to_owned(), "2026-01-05".to_owned());
        OperatorNeed { agent: "guarded".to_owned(), asks: Asks::Usage { owner, from, to } }
    };
    let own = || Sent::new("GET", path).with("x-key", KEY);
    assert_eq!(own().decided().need(), Need::Operator(usage(Some("key:billing"))));
    for (act_as, owner) in [("operator", None), ("operator; owner=key:a", Some("key:a"))] {
        let asked = || own().with("act-as", act_as);
        assert_eq!(asked().decided().need(), Need::Operator(usage(owner)));
        let found = || Facts { operator: Some(Some("{}".to_owned())), ..Facts::default() };
        let acted = asked().having(found()).decided();
        assert_eq!((acted.answer().status, acted.reports.len()), (200, 1), "it is an act");
        let looked = own().having(found()).decided();
        assert_eq!((looked.answer().status, looked.reports.len()), (200, 0), "its own is none");
    }
    let failed = own().having(Facts { operator: Some(None), ..Facts::default() }).decided();
    assert_eq!(failed.answer().status, 503);
    assert_eq!(Sent::new("GET", path).decided().answer().status, 401);
    let open = Sent::new("GET", "/open/usage").decided();
    assert!(open.answer().body.contains(r#""days":[]"#), "{}", open.answer().body);
}

#[test]
fn an_operator_forgets_an_owner_by_name_and_leaves_a_line_without_it() {
    let path = |query: &str| format!("/guarded/owner:forget{query}");
    let decided = |query: &str, operator: Option<Option<String>>| {
        let (path, facts) = (path(query), Facts { operator, ..Facts::default() });
        let sent = Sent::new("POST", &path).having(facts);
        sent.with("x-key", KEY).with("act-as", "operator").decided()
    };
    let query = "?owner=%40jwt%3Ateam%20a";
    let first = decided(query, None);
    assert!(first.reports.is_empty(), "nothing is done yet");
    let asks = Asks::Forget { owner: "@jwt:team a".to_owned() };
    let need = OperatorNeed { agent: "guarded".to_owned(), asks };
    assert_eq!(first.need(), Need::Operator(need));
    for query in ["", "?owner=", "?owner", "?Owner=key:a"] {
        let refused = decided(query, None);
        assert_eq!((refused.answer().status, refused.reports.len()), (400, 0), "{query}");
        assert!(refused.answer().body.contains("must name the caller or the group"), "{query}");
    }
    for (found, status, outcome) in
        [(Some("{}"), 200, "done"), (None, 503, "the index is not available")]
    {
        let answered = decided(query, Some(found.map(str::to_owned)));
        assert_eq!(answered.answer().status, status);
        let [Report::Audited(line)] = answered.reports.as_slice() else {
            panic!("{:?}", answered.reports)
        };
        let platform = MemoryPlatform::default();
        Report::Audited(line.clone()).observe(&platform);
        let told = platform.observed(Severity::Info).join(" ");
        assert!(told.contains(r#""event":"owner forgotten","agent":"guarded""#), "{told}");
        assert!(told.contains(outcome) && !told.contains("team a"), "{told}");
    }
    for (method, status) in [("GET", 405), ("POST", 401)] {
        let refused = Sent::new(method, &path(query)).decided();
        assert_eq!(refused.answer().status, status);
    }
}

#[test]
fn a_post_to_a_callback_that_there_is_not_counts_as_a_guess() {
    let path = format!("/guarded/callbacks/{}", "0a".repeat(64));
    let post = || Sent { body: Received::Whole(b"x"), ..Sent::new("POST", &path) };
    assert!(matches!(post().decided().plan, Plan::CallBack(_)));
    let later = Sent { body: Received::Nothing, ..post() }.decided();
    assert!(matches!(later.need(), Need::CallbackBody(_)));
    let unknown = post().having(Facts { failure: Some(Failure::Unknown), ..Facts::default() });
    let malformed = Sent::new("POST", "/guarded/callbacks/x");
    for sent in [unknown, malformed] {
        let refused = sent.decided();
        assert_eq!(refused.answer().status, 404);
        assert_eq!((refused.limits.len(), refused.audits.len()), (1, 1));
    }
}

#[test]
fn a_card_is_signed_once() {
    let keys = r#"{"kty":"OKP","crv":"Ed25519","d":"nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A",
        "x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}"#;
    let plain = hosting(vec![("PUBLIC_URL", "https://a.example")]);
    let signing = Some(Rc::new(SigningKeys::parse(keys).unwrap()));
    let deployment = Deployment { signing, ..plain };
    let card = || Sent::new("GET", "/.well-known/agent-card.json");
    let Need::Signature(unsigned) = card().decided_by(&deployment).need() else {
        panic!("it is to be signed")
    };
    let cannot = card().having(Facts { cannot_sign: true, ..Facts::default() });
    assert!(!cannot.decided_by(&deployment).answer().body.contains("signatures"));
    deployment.signed.keep(*unsigned, r#"[{"protected":"p","signature":"s"}]"#.into());
    let signed = card().decided_by(&deployment);
    assert!(signed.answer().body.contains(r#""signature":"s""#), "{}", signed.answer().body);
    assert_eq!(
        Sent::new("GET", "/.well-known/jwks.json").decided_by(&deployment).answer().status,
        200
    );
    assert_eq!(Sent::new("GET", "/.well-known/jwks.json").decided().answer().status, 404);
}

#[test]
fn guests_answer_their_own_requests() {
    let development = || hosting(vec![("DEVELOPMENT", "true")]);
    for (method, path) in [
        ("POST", "/mcp"),
        ("GET", "/guarded/mcp"),
        ("GET", "/console/api/agents/open/health"),
        ("GET", "/_dev/script"),
        ("POST", "/_dev/script/open"),
    ] {
        let decided = Sent::new(method, path).decided_by(&development());
        assert_eq!(decided.plan, Plan::Visit, "{path}");
    }
    for path in ["/_dev/script", "/_dev/script/open", "/nobody/mcp", "/console/api/nothing"] {
        assert_eq!(Sent::new("GET", path).decided().answer().status, 404, "{path}");
    }
    assert_eq!(Sent::new("GET", "/console/api/agents").decided().answer().status, 200);
}
