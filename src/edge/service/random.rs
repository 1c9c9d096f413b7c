//! Random ids, secrets and numbers.

use wasm_bindgen::throw_str;

use crate::port::Random;

/// The random numbers of the Workers runtime (`crypto.getRandomValues`).
#[derive(Clone, Copy)]
pub(in crate::edge) struct WorkerRandom;

impl Random for WorkerRandom {
    fn new_id(&self) -> String {
        uuid_v4(bytes())
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

/// A UUID of version 4 (RFC 9562 §5.4).
fn uuid_v4(bytes: [u8; 16]) -> String {
    let mut number = u128::from_be_bytes(bytes);
    number = number & !(0xf << 76) | 0x4 << 76;
    number = number & !(0b11 << 62) | 0b10 << 62;
    let mut id = format!("{number:032x}");
    for position in [20, 16, 12, 8] {
        id.insert(position, '-');
    }
    id
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
    fn ids_are_uuids_of_version_4() {
        for (bytes, id) in [
            ([0; 16], "00000000-0000-4000-8000-000000000000"),
            ([0xff; 16], "ffffffff-ffff-4fff-bfff-ffffffffffff"),
            (
                [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
                "00010203-0405-4607-8809-0a0b0c0d0e0f",
            ),
        ] {
            assert_eq!(uuid_v4(bytes), id);
        }
    }

    #[test]
    fn chances_are_from_0_to_1() {
        assert_eq!(fraction([0; 8]), 0.0);
        assert_eq!(fraction([0x80, 0, 0, 0, 0, 0, 0, 0]), 0.5);
        let largest = fraction([0xff; 8]);
        assert!(largest < 1.0 && largest > 0.999_999, "{largest}");
    }
}
