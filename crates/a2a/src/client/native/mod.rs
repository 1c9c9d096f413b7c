//! The client's ports for native programs: HTTP by reqwest, the clock and timers of tokio, random numbers and signatures.
//! Requires the feature `native`.
//!
//! A client is not `Send`, so it stays on one thread: in a current-thread runtime of tokio, or in a `LocalSet`.
//!
//! ```no_run
//! use a2a::client::{Client, Settings, create_message, native};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let ports = native::ports();
//! let client = Client::new(Settings::new("https://agent.example"), ports.clone());
//! let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
//! let observed = runtime.block_on(client.send_and_observe(create_message("hello", &ports), || false));
//! println!("{:?}: {}", observed.outcome, observed.text);
//! # Ok(())
//! # }
//! ```

mod http;
mod reach;
mod signature;

use std::rc::Rc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use futures_util::future::LocalBoxFuture;

use super::Ports;
use crate::model::{UnixMillis, Uuid};
use crate::port::{Clock, Random};
pub use http::NativeHttp;
pub use signature::NativeVerifier;

/// The ports of a native program. All clients of these ports share its connection pool.
pub fn ports() -> Ports {
    Ports {
        http: Rc::new(NativeHttp::new()),
        clock: Rc::new(NativeClock),
        random: Rc::new(NativeRandom),
    }
}

/// The clock of the machine, and timers of tokio.
#[derive(Clone, Copy, Debug, Default)]
pub struct NativeClock;

impl Clock for NativeClock {
    #[expect(clippy::disallowed_methods, reason = "this is no WebAssembly")]
    fn now(&self) -> UnixMillis {
        let elapsed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        UnixMillis(i64::try_from(elapsed.as_millis()).unwrap_or(i64::MAX))
    }

    fn sleep(&self, millis: u64) -> LocalBoxFuture<'static, ()> {
        let begun = tokio::time::Instant::now();
        let timer = async move {
            match begun.checked_add(Duration::from_millis(millis)) {
                Some(due) => tokio::time::sleep_until(due).await,
                None => std::future::pending().await,
            }
        };
        Box::pin(timer)
    }
}

/// Random numbers of the operating system.
#[derive(Clone, Copy, Debug, Default)]
pub struct NativeRandom;

impl NativeRandom {
    /// Random bytes; zeros if the system cannot supply any. Such a system cannot open TLS connections either, so the zeros
    /// are never used as secrets.
    fn bytes<const COUNT: usize>() -> [u8; COUNT] {
        let mut bytes = [0; COUNT];
        let _ = getrandom::fill(&mut bytes);
        bytes
    }
}

impl Random for NativeRandom {
    fn new_id(&self) -> Uuid {
        Uuid::v4(Self::bytes())
    }

    fn secret_bytes(&self) -> [u8; 32] {
        Self::bytes()
    }

    fn chance(&self) -> f64 {
        // A double has 53 bits of precision.
        let bits = u64::from_be_bytes(Self::bytes()) >> 11;
        bits as f64 / (1_u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_random_uuids() {
        let ids: Vec<String> = (0..100).map(|_| NativeRandom.new_id().into()).collect();
        for (index, id) in ids.iter().enumerate() {
            let lengths: Vec<usize> = id.split('-').map(str::len).collect();
            assert_eq!(lengths, [8, 4, 4, 4, 12], "{id}");
            assert_eq!(id.as_bytes()[14], b'4', "{id}");
            assert!(b"89ab".contains(&id.as_bytes()[19]), "{id}");
            assert!(!ids[index + 1..].contains(id));
            assert!((0.0..1.0).contains(&NativeRandom.chance()));
        }
    }
}
