//! What `auto` takes, as data: from the shape and the machine, without running anything.

use crate::column_stats::cpu::{dense_serial_blocks, dense_threads_blocks};
use crate::column_stats::cuda::dense_cuda_strips::{NARROW, NARROW_MANY_ROWS, WIDE};
use crate::column_stats::reduction::Shape;
use crate::device::DeviceLimits;
use crate::machine::{Accelerator, Machine};
use crate::op::Choice;
use crate::units;

/// Bytes below which waking a second thread costs more than it brings: fork and join take 8 to 10 µs, in which one thread
/// reduces 180 kB from its caches (18 GB/s on a 2-core Xeon), and a second thread saves half of the time at best.
const SERIAL_BELOW: u64 = 360_000;

/// On a device where the machine has one, otherwise on the CPU.
pub(crate) fn choose<S>(machine: &Machine, shape: Shape) -> Choice {
    let bytes = shape.elements().saturating_mul(size_of::<S>() as u64);
    match machine.accelerator() {
        Accelerator::None => on_cpu(machine.threads(), shape, bytes),
        Accelerator::Cuda(_) | Accelerator::Emulator => {
            let limits =
                machine.device().map_or_else(|_| DeviceLimits::h200(), |device| device.limits().clone());
            on_device(&limits, shape, bytes)
        }
    }
}

fn on_cpu(threads: usize, shape: Shape, bytes: u64) -> Choice {
    if threads == 1 || bytes < SERIAL_BELOW {
        let why = if threads == 1 {
            "one thread".to_owned()
        } else {
            format!("{} are too few to wake a second thread", units::bytes(bytes))
        };
        return Choice { variant: dense_serial_blocks::DESCRIPTION.name, reason: format!("{shape}: {why}") };
    }
    let reason = format!("{shape}: {} are shared out to {threads} threads", units::bytes(bytes));
    Choice { variant: dense_threads_blocks::DESCRIPTION.name, reason }
}

/// Rows from which a thread of a narrow strip has use for 24 of them at a time (100000×64 on an H200, f64: 13.0 µs, with 8
/// of them 16.7; 358×5248: 5.2 and 4.1 µs).
const MANY_ROWS: usize = 4096;

/// Narrow strips are more blocks, which is what a small matrix lacks; wide loads ask for more at a time, which is what
/// counts where everything comes from memory.
fn on_device(limits: &DeviceLimits, shape: Shape, bytes: u64) -> Choice {
    let (strips, why) = if bytes > limits.l2_bytes {
        (&WIDE, "larger than the last-level cache: loads of 16 bytes")
    } else if shape.rows >= MANY_ROWS {
        (&NARROW_MANY_ROWS, "fits the last-level cache, and has many rows: narrow strips, 24 rows in flight")
    } else {
        (&NARROW, "fits the last-level cache: many narrow strips, one element per load")
    };
    Choice { variant: strips.description.name, reason: format!("{shape}: {why}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::column_stats::reduction::Columns;
    use crate::op::Op;

    #[test]
    fn every_choice_is_a_variant_with_a_reason() {
        let h200 = DeviceLimits::h200();
        for rows in [0, 1, 358, 35_800, usize::MAX] {
            for cols in [0, 1, 5248, usize::MAX] {
                let shape = Shape { rows, cols };
                let bytes = shape.elements().saturating_mul(8);
                for choice in
                    [on_device(&h200, shape, bytes), on_cpu(1, shape, bytes), on_cpu(2, shape, bytes)]
                {
                    assert!(Columns::<f64>::variant(choice.variant).is_some(), "{}", choice.variant);
                    assert!(choice.reason.starts_with(&format!("{shape}: ")));
                }
            }
        }
    }

    #[test]
    fn large_matrices_take_threads_and_wide_loads() {
        let h200 = DeviceLimits::h200();
        let chosen = |rows, cols| {
            let (shape, bytes) = (Shape { rows, cols }, (rows * cols * 4) as u64);
            (on_cpu(2, shape, bytes).variant, on_device(&h200, shape, bytes).variant)
        };
        assert_eq!(chosen(10, 10), ("dense-serial-blocks", "dense-cuda-strips-narrow-16x8"));
        assert_eq!(chosen(358, 5248), ("dense-threads-blocks", "dense-cuda-strips-narrow-16x8"));
        assert_eq!(chosen(100_000, 64), ("dense-threads-blocks", "dense-cuda-strips-narrow-16x24"));
        assert_eq!(chosen(35_800, 5248), ("dense-threads-blocks", "dense-cuda-strips-wide-32x8"));
    }
}
