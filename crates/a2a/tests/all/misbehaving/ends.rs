//! Cancellations and deadlines, and servers that ignore them.

use a2a::client::Outcome::{Canceled, Timeout};
use a2a::client::Settings;
use a2a::client::simulation::SimulatedAnswer;

use super::case::{Case, case};
use super::said::{artifact, bare, refused, saying, snapshot, status, stream};

fn working() -> SimulatedAnswer {
    stream([snapshot("WORKING", &[])]).pieces(
        std::iter::repeat_n(
            [
                a2a::client::simulation::Piece::Wait(10_000),
                a2a::client::simulation::Piece::Bytes(b":\n\n".to_vec()),
            ],
            1_000,
        )
        .flatten(),
    )
}

fn hasty(settings: Settings) -> Settings {
    Settings { timeout_ms: 5_000, ..settings }
}

pub(crate) fn cases() -> Vec<Case> {
    vec![
        case("the caller cancels before it has begun", |_| working()).canceled_at(0).requests(0),
        case("the caller cancels", |request| match request.rpc_method().as_str() {
            "CancelTask" => bare("CANCELED", &[]),
            _ => working(),
        })
        .canceled_at(2_500)
        .is(Canceled, "the task was canceled")
        .requests(2)
        .ends(3_000, 3_000),
        case("the caller cancels, and the server says why it stopped", |request| {
            let mut canceled = super::said::task("CANCELED", &[]);
            let said = saying("CANCELED", "as you wish");
            canceled["status"] = said["result"]["statusUpdate"]["status"].clone();
            match request.rpc_method().as_str() {
                "CancelTask" => SimulatedAnswer::json(&super::said::rpc(canceled)),
                _ => working(),
            }
        })
        .canceled_at(2_500)
        .is(Canceled, "as you wish")
        .requests(2),
        case("the cancel is lost", |request| match request.rpc_method().as_str() {
            "CancelTask" => SimulatedAnswer::status(500),
            _ => working(),
        })
        .canceled_at(1_000)
        .requests(2),
        case("the cancel takes two attempts", |request| match request.rpc_method().as_str() {
            "CancelTask" if request.call_number == 2 => SimulatedAnswer::status(503),
            "CancelTask" => bare("CANCELED", &[]),
            _ => working(),
        })
        .canceled_at(1_000)
        .requests(3),
        case("the cancel is never answered", |request| match request.rpc_method().as_str() {
            "CancelTask" => SimulatedAnswer::status(200).after(u64::MAX),
            _ => working(),
        })
        .canceled_at(1_000)
        .requests(2)
        .ends(11_000, 11_000),
        case("the task ends while it is canceled", |request| match request.rpc_method().as_str() {
            "CancelTask" => refused(-32002, "the task cannot be canceled"),
            "GetTask" => bare("COMPLETED", &[("a", "late")]),
            _ => working(),
        })
        .canceled_at(1_000)
        .is(Canceled, "the task was canceled")
        .requests(3),
        case("the task goes on as if it were not canceled", |request| {
            match request.rpc_method().as_str() {
                "CancelTask" => bare("WORKING", &[]),
                _ => stream([snapshot("WORKING", &[])]).wait(5_000).text(format!(
                    "data: {}\n\ndata: {}\n\n",
                    artifact("late"),
                    status("COMPLETED")
                )),
            }
        })
        .canceled_at(1_000)
        .is(Canceled, "the task was canceled")
        .requests(2),
        case("the caller cancels before the task is known", |request| {
            match request.rpc_method().as_str() {
                "CancelTask" => bare("CANCELED", &[]),
                _ => stream([])
                    .wait(4_000)
                    .text(format!("data: {}\n\n", snapshot("WORKING", &[])))
                    .hang(),
            }
        })
        .canceled_at(1_000)
        .requests(2)
        .ends(4_000, 4_000),
        case("the caller cancels, and nothing is ever known", |_| stream([]).hang())
            .canceled_at(1_000)
            .requests(1)
            .ends(11_000, 11_000),
        case("the caller cancels between two looks", |request| {
            match request.rpc_method().as_str() {
                "CancelTask" => bare("CANCELED", &[]),
                "GetTask" => bare("WORKING", &[]),
                _ => SimulatedAnswer::json(&snapshot("WORKING", &[])),
            }
        })
        .polled()
        .canceled_at(1_500)
        .requests(3)
        .ends(2_000, 2_000),
        case("somebody else cancels", |_| {
            stream([snapshot("WORKING", &[]), saying("CANCELED", "not today")])
        })
        .is(Canceled, "not today")
        .requests(1),
        case("the time is over", |request| match request.rpc_method().as_str() {
            "CancelTask" => bare("CANCELED", &[]),
            _ => working(),
        })
        .set(hasty)
        .is(Timeout, "timed out after 5000 ms")
        .requests(2)
        .ends(5_000, 5_000),
        case("the time is over, and the cancel is never answered", |request| {
            match request.rpc_method().as_str() {
                "CancelTask" => SimulatedAnswer::status(200).after(u64::MAX),
                _ => working(),
            }
        })
        .set(hasty)
        .is(Timeout, "timed out after 5000 ms")
        .requests(2)
        .ends(15_000, 15_000),
        case("the time is over before anything is known", |_| stream([]).hang())
            .set(hasty)
            .is(Timeout, "timed out after 5000 ms")
            .requests(1)
            .ends(5_000, 5_000),
        case("the time is over while the client waits to try again", |_| {
            SimulatedAnswer::status(503).header("retry-after", "60")
        })
        .set(hasty)
        .is(Timeout, "timed out after 5000 ms")
        .requests(1)
        .ends(5_000, 5_000),
    ]
}
