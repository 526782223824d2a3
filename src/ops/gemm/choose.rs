//! What `auto` takes, as data: from the shape and the machine, without running anything.

use super::Shape;
use super::dense_threads_packed::SERIAL_BELOW;
use crate::Scalar;
use crate::machine::{Accelerator, DeviceLimits, Machine};
use crate::ops::Choice;

/// On a device where the machine has one, otherwise on the CPU.
pub(super) fn choose<S: Scalar>(machine: &Machine, shape: Shape) -> Choice {
    match machine.accelerator() {
        Accelerator::None => on_cpu(machine, shape),
        Accelerator::Cuda(_) | Accelerator::Emulator => {
            let limits =
                machine.device().map_or_else(|_| DeviceLimits::h200(), |device| device.limits().clone());
            on_device::<S>(&limits, shape)
        }
    }
}

fn on_cpu(machine: &Machine, shape: Shape) -> Choice {
    let (threads, steps) = (machine.threads(), shape.multiply_adds());
    let reason = if threads == 1 {
        "one thread: packed panels and vector instructions".into()
    } else if steps < SERIAL_BELOW {
        format!("{steps} multiply-adds are too few to wake a second thread: runs on the calling one")
    } else {
        format!("{threads} threads: packed panels and vector instructions")
    };
    Choice { variant: "dense-threads-packed", reason }
}

fn on_device<S: Scalar>(_limits: &DeviceLimits, shape: Shape) -> Choice {
    Choice { variant: "dense-cuda-tile-by-column-32", reason: format!("{shape}: shared tiles") }
}
