//! What `auto` takes, as data: from the shape and the machine, without running anything.

#[cfg(any(feature = "cuda", feature = "emulator"))]
mod f64_tiles;
#[cfg(any(feature = "cuda", feature = "emulator"))]
mod on_device;

use crate::Scalar;
use crate::gemm::cpu::dense_threads_packed::{self, SERIAL_BELOW};
use crate::gemm::product::Shape;
use crate::machine::Machine;
use crate::op::Choice;

/// On a device where the machine has one, otherwise on the CPU.
pub(crate) fn choose<S: Scalar>(machine: &Machine, shape: Shape) -> Choice {
    #[cfg(any(feature = "cuda", feature = "emulator"))]
    if machine.accelerator() != crate::machine::Accelerator::None {
        return on_device::on_device::<S>(machine, shape);
    }
    on_cpu(machine, shape)
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
    Choice::new(&dense_threads_packed::DESCRIPTION, reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn on_the_cpu_only_the_reason_differs() {
        let machine = Machine::with_threads(2).unwrap();
        assert!(on_cpu(&machine, Shape::square(10)).reason.contains("too few"));
        assert!(on_cpu(&machine, Shape::square(1000)).reason.starts_with("2 threads"));
    }
}
