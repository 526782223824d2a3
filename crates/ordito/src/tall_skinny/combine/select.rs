//! What `auto` takes.

use crate::machine::Machine;
use crate::op::Choice;
use crate::tall_skinny::combine::contract::Shape;
use crate::tall_skinny::combine::cpu::dense_threads_rows;

/// On a device where the machine has one, otherwise on the CPU.
pub(crate) fn choose(machine: &Machine, shape: Shape) -> Choice {
    #[cfg(any(feature = "cuda", feature = "emulator"))]
    if machine.accelerator() != crate::machine::Accelerator::None {
        use crate::tall_skinny::combine::cuda::dense_cuda_tensor;
        return Choice::new(&dense_cuda_tensor::DESCRIPTION, format!("{shape}: tensor cores, one pass"));
    }
    let _ = machine;
    Choice::new(&dense_threads_rows::DESCRIPTION, format!("{shape}: threads share rows"))
}
