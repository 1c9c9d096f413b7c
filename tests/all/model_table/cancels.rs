//! Clients that cancel at any time.

use a2a::model::TaskState::Canceled;
use a2a_edge::port::{Clock, Runtime};

use super::case::{Case, case};
use crate::support::model::{Answer, Fate};
use crate::support::modeled::Modeled;

/// Sends a message, waits for this number of milliseconds, and cancels.
pub(crate) fn canceled_at(millis: i64) -> impl Fn(&Modeled) {
    move |modeled| {
        modeled.front.send("hi");
        let platform = &modeled.front.platform;
        platform.spawn(platform.sleep(millis.unsigned_abs()));
        modeled.front.run(None, || platform.now().0 >= millis);
        modeled.front.cancel();
        modeled.front.finish();
    }
}

fn fate(fate: Fate) -> impl Fn(&Modeled) -> Result<(), String> {
    move |modeled| {
        let last = modeled.model.last().fate();
        (last == fate).then_some(()).ok_or_else(|| format!("the newest request ended as {last:?}"))
    }
}

pub(crate) fn cases() -> Vec<Case> {
    let slow = || Answer::said(&["one ", "two ", "three ", "four "]).pace(10_000);
    vec![
        case("it is canceled in the middle of a stream", [slow()])
            .act(canceled_at(20_000))
            .is(Canceled, "")
            .ends(20_000, 20_000)
            .check(fate(Fate::Left))
            .check(|modeled| {
                let answer = modeled.answer();
                let is_part = "one two three four ".starts_with(&answer) && answer.len() < 19;
                is_part.then_some(()).ok_or(answer)
            }),
        case("it is canceled before the head comes", [slow().after(60_000)])
            .act(canceled_at(20_000))
            .is(Canceled, "")
            .check(fate(Fate::Left)),
        case("it is canceled in the middle of a call", [Answer::call("c1", "pay", "{}")])
            .before(|modeled| modeled.shop.delay("pay", 25_000))
            .act(canceled_at(5_000))
            .is(Canceled, "")
            .orders(["pay"])
            .check(|modeled| {
                let orders = modeled.shop.orders();
                (!orders[0].is_answered).then_some(()).ok_or_else(|| format!("{orders:?}"))
            }),
        case(
            "it is canceled between two attempts",
            [Answer::error(429, "x", "Slow down.").header("Retry-After", "20")],
        )
        .act(canceled_at(10_000))
        .is(Canceled, ""),
        case("it is canceled in the second round", [Answer::call("c1", "pay", "{}"), slow()])
            .act(canceled_at(15_000))
            .is(Canceled, "")
            .orders(["pay"])
            .check(fate(Fate::Left)),
        case(
            "one of two calls is done when it is canceled",
            [Answer::call("c1", "pay", "{}").and_call("c2", "ship", "{}")],
        )
        .before(|modeled| modeled.shop.delay("ship", 25_000))
        .act(canceled_at(5_000))
        .is(Canceled, "")
        .orders(["pay", "ship"]),
    ]
}
