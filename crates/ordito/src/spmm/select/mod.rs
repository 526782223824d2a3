//! Which variant `auto` takes: decisions as data, from what `analysis` knows and what the machine is.

pub(crate) mod on_cpu;
#[cfg(any(feature = "cuda", feature = "emulator"))]
mod on_device;

use crate::Scalar;
use crate::machine::Machine;
use crate::op::Choice;
use crate::spmm::product::Subject;

/// On a device where the machine has one, otherwise on the CPU.
pub(crate) fn choose<S: Scalar>(machine: &Machine, subject: &Subject<S>) -> Choice {
    #[cfg(any(feature = "cuda", feature = "emulator"))]
    if machine.accelerator() != crate::machine::Accelerator::None {
        return on_device::on_device(machine, subject);
    }
    on_cpu::on_cpu(machine, subject)
}
