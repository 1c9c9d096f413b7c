//! Random ids, secrets and numbers.

use uuid::Uuid;
use worker::js_sys;

use crate::port::Random;

/// The random numbers of the Workers runtime.
#[derive(Clone, Copy)]
pub(in crate::edge) struct WorkerRandom;

impl Random for WorkerRandom {
    fn new_id(&self) -> String {
        Uuid::new_v4().to_string()
    }

    fn secret_bytes(&self) -> [u8; 32] {
        let mut bytes = [0; 32];
        let halves = [Uuid::new_v4(), Uuid::new_v4()].map(Uuid::into_bytes);
        for (byte, random) in bytes.iter_mut().zip(halves.iter().flatten()) {
            *byte = *random;
        }
        bytes
    }

    fn chance(&self) -> f64 {
        js_sys::Math::random()
    }
}
