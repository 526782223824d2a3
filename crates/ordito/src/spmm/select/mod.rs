//! Which variant `auto` takes: decisions as data, from what `analysis` knows and what the machine is. A choice is tested without
//! running anything.
//!
//! **On the CPU** the rule sees what neighbouring rows of a sample have in common, K, the precision, the instruction set, and whether the
//! operands fit the caches;
//! `spmm::statistics` gives all of it by name to those who fit a rule. Where X exceeds the second-level cache, a model of that cache,
//! walked over a sample, says how many rows of X are fetched for a nonzero as rows stand. If that is much more than need be, `auto` takes
//! rows in clusters. Whether those do better is known when they are grown, before A is copied (`Variant::prepare_if_it_pays`, for another
//! number of columns `Product::does_not_pay`); if not, a plan takes the next best.
//!
//! **On a device** every kernel says how it would deal out the matrix: from the lengths of all rows and what neighbours of a sample share,
//! with K, the precision and the limits of the device. Fitted prices (`device_costs`) make a time of it, which small trees correct
//! (`device_trees`), and the least is taken.

#[cfg(any(feature = "cuda", feature = "emulator"))]
mod aspects;
#[cfg(any(feature = "cuda", feature = "emulator"))]
mod corrections;
#[cfg(any(feature = "cuda", feature = "emulator"))]
mod device_costs;
#[cfg(any(feature = "cuda", feature = "emulator"))]
mod device_trees;
pub(crate) mod on_cpu;
#[cfg(any(feature = "cuda", feature = "emulator"))]
pub(crate) mod on_device;

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
