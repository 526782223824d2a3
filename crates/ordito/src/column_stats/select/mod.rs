//! What `auto` takes, as data: from the shape and the machine, without running anything.

#[cfg(any(feature = "cuda", feature = "emulator"))]
mod on_device;

use crate::column_stats::cpu::{dense_serial_blocks, dense_threads_blocks};
use crate::column_stats::reduction::Shape;
use crate::machine::Machine;
use crate::op::Choice;
use crate::units;

/// Bytes below which waking a second thread costs more than it brings: fork and join take 8 to 10 µs, in which one thread
/// reduces 180 kB from its caches (18 GB/s on a 2-core Xeon), and a second thread saves half of the time at best.
const SERIAL_BELOW: u64 = 360_000;

/// On a device where the machine has one, otherwise on the CPU.
pub(crate) fn choose<S>(machine: &Machine, shape: Shape) -> Choice {
    let bytes = shape.elements().saturating_mul(size_of::<S>() as u64);
    #[cfg(any(feature = "cuda", feature = "emulator"))]
    if machine.accelerator() != crate::machine::Accelerator::None {
        use crate::device::DeviceLimits;
        let limits = machine.device().map_or_else(|_| DeviceLimits::h200(), |device| device.limits().clone());
        return on_device::on_device(&limits, shape, bytes);
    }
    on_cpu(machine.threads(), shape, bytes)
}

fn on_cpu(threads: usize, shape: Shape, bytes: u64) -> Choice {
    if threads == 1 || bytes < SERIAL_BELOW {
        let why = if threads == 1 {
            "one thread".to_owned()
        } else {
            format!("{} are too few to wake a second thread", units::bytes(bytes))
        };
        return Choice::new(&dense_serial_blocks::DESCRIPTION, format!("{shape}: {why}"));
    }
    let reason = format!("{shape}: {} are shared out to {threads} threads", units::bytes(bytes));
    Choice::new(&dense_threads_blocks::DESCRIPTION, reason)
}

#[cfg(any(feature = "cuda", feature = "emulator"))]
#[cfg(test)]
mod tests {
    use super::on_device::on_device;
    use super::*;
    use crate::column_stats::reduction::Columns;
    use crate::device::DeviceLimits;
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
