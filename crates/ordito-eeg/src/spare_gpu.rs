//! A GPU that nobody asked for: opened where there is much to do, done without where it fails.

use crate::error::ErpError;
use ordito::gemm::Shape;
use ordito::machine::{Accelerator, Machine};
use std::sync::Arc;

/// Multiply-adds from which an unasked GPU is opened: what two cores do in a few seconds (500 permutations of 2862 epochs of
/// 5248 columns, 1.5·10¹⁰, took 0.9 s on two cores of a Xeon; twice as many 0.8 s on an H200, opened and compiled for).
const WORK_FOR_GPU: u64 = 100_000_000_000;

/// A machine, and why it was taken.
pub(crate) type Somewhere = (Arc<Machine>, String);

/// Where to compute: what was asked for, or, where that is left open, a GPU if there is enough to do for one.
pub(crate) fn machine_for(
    asked: &Arc<Machine>,
    spare_gpu: Option<usize>,
    epochs: usize,
    columns: usize,
    count: usize,
) -> Somewhere {
    let shape = Shape { m: count, k: epochs, n: columns };
    let work = shape.multiply_adds().saturating_mul(2);
    let (machine, reason) = match spare_gpu {
        None => (asked.clone(), "where it was asked for"),
        Some(_) if work < WORK_FOR_GPU => (asked.clone(), "on the CPU: too little to do to look for a GPU"),
        Some(number) => {
            let gpu = asked.with_accelerator(Accelerator::Cuda(number));
            match gpu.device() {
                Ok(_) => (gpu, "on the GPU: much to do"),
                Err(_) => (asked.clone(), "on the CPU: there is no usable GPU"),
            }
        }
    };
    (machine, reason.to_owned())
}

/// Computes there, and where a GPU that nobody asked for fails, where it was asked for: a result that comes late is better
/// than none.
pub(crate) fn unless_it_fails<T>(
    somewhere: Somewhere,
    asked: &Arc<Machine>,
    compute: impl Fn(&Somewhere) -> Result<T, ErpError>,
) -> Result<T, ErpError> {
    match compute(&somewhere) {
        Err(error) if somewhere.0.accelerator() != asked.accelerator() => {
            compute(&(asked.clone(), format!("on the CPU: the GPU failed ({error})")))
        }
        done => done,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gpu_is_only_opened_for_much_work() {
        let machine = Machine::with_threads(1).unwrap();
        let (small, reason) = machine_for(&machine, Some(0), 100, 100, 100);
        assert_eq!(
            (small.accelerator(), reason.as_str()),
            (Accelerator::None, "on the CPU: too little to do to look for a GPU")
        );
        assert_eq!(machine_for(&machine, None, 10_000, 10_000, 10_000).1, "where it was asked for");
    }

    #[test]
    fn a_gpu_that_nobody_asked_for_may_fail() {
        let cpu = Machine::with_threads(1).unwrap();
        let gpu = (cpu.with_accelerator(Accelerator::Cuda(0)), String::new());
        let compute = |at: &Somewhere| match at.0.accelerator() {
            Accelerator::None => Ok(at.1.clone()),
            _ => Err(ErpError::NoSensorsLeft),
        };
        let reason = unless_it_fails(gpu.clone(), &cpu, compute).unwrap();
        assert_eq!(reason, "on the CPU: the GPU failed (--bad-channels leaves no sensor)");
        assert!(unless_it_fails(gpu.clone(), &gpu.0, compute).is_err(), "who asks for it is told");
    }
}
