use futures_util::future::{join, pending, select};

use super::*;
use crate::http::{Http, HttpError, HttpRequest};
use crate::port::Clock;

#[test]
fn time_moves_when_everybody_waits() {
    let simulation = Simulation::default();
    let clock = simulation.clone();
    let sleep = |millis| {
        let clock = clock.clone();
        async move {
            clock.sleep(millis).await;
            clock.now_ms()
        }
    };
    assert_eq!(simulation.run(join(sleep(50), sleep(20))), (50, 20));
    assert_eq!(simulation.run(sleep(0)), 50);
}

#[test]
fn a_timer_that_nobody_waits_for_does_not_count() {
    let simulation = Simulation::default();
    let clock = simulation.clone();
    simulation.run(async move {
        let unused = clock.sleep(5);
        let loser = select(clock.sleep(10), clock.sleep(1_000)).await.factor_first().1;
        assert_eq!(clock.now_ms(), 10);
        drop(loser);
        clock.sleep(3_000).await;
        assert_eq!(clock.now_ms(), 3_010);
        unused.await;
        assert_eq!(clock.now_ms(), 3_010, "it is long over");
    });
}

#[test]
#[should_panic(expected = "it waits for something that never happens (after 7 ms and 0 requests)")]
fn a_wait_without_an_end_fails() {
    let simulation = Simulation::default();
    let clock = simulation.clone();
    simulation.run(async move {
        // This timer has fired, but still exists.
        let _timer = clock.sleep(3);
        clock.sleep(7).await;
        pending::<()>().await;
    });
}

#[test]
#[should_panic(expected = "it has not ended after 100 days")]
fn a_run_without_an_end_fails() {
    let simulation = Simulation::default();
    let clock = simulation.clone();
    simulation.run(async move {
        loop {
            clock.sleep(24 * 60 * 60 * 1_000).await;
        }
    });
}

#[test]
fn what_wakes_itself_goes_on_without_time() {
    let simulation = Simulation::default();
    let mut rounds = 0;
    simulation.run(std::future::poll_fn(|context| {
        rounds += 1;
        context.waker().wake_by_ref();
        if rounds == 5 { Poll::Ready(()) } else { Poll::Pending }
    }));
    assert_eq!((rounds, simulation.now_ms()), (5, 0));
}

fn get(simulation: &Simulation, url: &str) -> (Result<String, HttpError>, u64) {
    let request = HttpRequest { timeout_ms: 100, max_bytes: 8, ..HttpRequest::get(url) };
    let http = simulation.clone();
    let begin = simulation.now_ms();
    let read = async move { Ok(http.send(request).await?.text().await?.body) };
    (simulation.run(read), simulation.now_ms() - begin)
}

#[test]
fn answers_come_as_the_server_wants() {
    let simulation = Simulation::default();
    let answer = || SimulatedAnswer::status(200);
    simulation.serve("a", move |request| match request.path() {
        "/" => answer().after(50).text("a").wait(60).wait(30).text("b"),
        "/slow" => answer().after(100),
        "/silent" => answer().text("a").wait(60).wait(40).text("b"),
        "/hang" => answer().text("a").hang(),
        "/cut" => answer().text("a").wait(10).cut("it left"),
        "/large" => answer().text("12345678").text("9"),
        "/refused" => SimulatedAnswer::refused("nobody there").after(5),
        "/endless" => answer().pieces(std::iter::repeat_n(Piece::Wait(1), 3)).text("c"),
        path => answer().text(path),
    });
    let url = |path: &str| format!("https://a/{path}");
    let silent = |path: &str| Err(HttpError::Silent { url: url(path), timeout_ms: 100 });
    let failed = |path: &str, reason: &str| {
        Err(HttpError::Failed { url: url(path), reason: reason.to_owned() })
    };
    for (path, expected, millis) in [
        ("", Ok("ab".to_owned()), 140),
        ("slow", silent("slow"), 100),
        ("silent", silent("silent"), 100),
        ("hang", silent("hang"), 100),
        ("cut", failed("cut", "it left"), 10),
        ("large", Err(HttpError::TooLarge { url: url("large"), max_bytes: 8 }), 0),
        ("refused", failed("refused", "nobody there"), 5),
        ("endless", Ok("c".to_owned()), 3),
        ("?a=1", Ok("/?a=1".to_owned()), 0),
    ] {
        assert_eq!(get(&simulation, &url(path)), (expected, millis), "{path}");
    }
    let numbers: Vec<usize> = simulation.requests().iter().map(|seen| seen.call_number).collect();
    assert_eq!(numbers, (1..=9).collect::<Vec<_>>());
}

#[test]
fn hosts_are_told_apart() {
    let simulation = Simulation::default();
    simulation.serve("a", |_| SimulatedAnswer::status(200).text("a"));
    simulation.serve("b:8080", |request| SimulatedAnswer::status(200).text(request.host()));
    assert_eq!(get(&simulation, "https://a/x").0, Ok("a".to_owned()));
    assert_eq!(get(&simulation, "http://b:8080").0, Ok("b:8080".to_owned()));
    assert!(matches!(get(&simulation, "https://b/").0, Err(HttpError::Failed { .. })));
    assert_eq!(simulation.requests().len(), 2);
}
