//! What `auto` takes.

use crate::Scalar;
use crate::machine::Machine;
use crate::op::Choice;
use crate::tall_skinny::combine::contract::Shape;
use crate::tall_skinny::combine::cpu::dense_threads_rows;

pub(crate) fn choose<S: Scalar>(_machine: &Machine, _shape: Shape) -> Choice {
    Choice::new(&dense_threads_rows::DESCRIPTION, "threads share rows")
}
