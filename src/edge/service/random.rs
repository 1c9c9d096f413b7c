//! Random ids, secrets and numbers.

use wasm_bindgen::throw_str;

use crate::port::Random;
use a2a::model::Uuid;

/// The random numbers of the Workers runtime (`crypto.getRandomValues`).
#[derive(Clone, Copy)]
pub(in crate::edge) struct WorkerRandom;

impl Random for WorkerRandom {
    fn new_id(&self) -> Uuid {
        Uuid::v4(bytes())
    }

    fn secret_bytes(&self) -> [u8; 32] {
        bytes()
    }

    fn chance(&self) -> f64 {
        fraction(bytes())
    }
}

fn bytes<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    if getrandom::fill(&mut bytes).is_err() {
        // The runtime provides random numbers for every request. Without them, ids and secrets could be guessed, so
        // this request is aborted.
        throw_str("the runtime gives no random numbers");
    }
    bytes
}

/// A number from 0 to 1, excluding 1.
fn fraction(bytes: [u8; 8]) -> f64 {
    // 53 bits, the precision of a double.
    (u64::from_be_bytes(bytes) >> 11) as f64 / (1u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chances_are_from_0_to_1() {
        assert_eq!(fraction([0; 8]), 0.0);
        assert_eq!(fraction([0x80, 0, 0, 0, 0, 0, 0, 0]), 0.5);
        let largest = fraction([0xff; 8]);
        assert!(largest < 1.0 && largest > 0.999_999, "{largest}");
    }
}
