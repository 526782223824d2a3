//! What `auto` takes.

use crate::Scalar;
use crate::machine::Machine;
use crate::op::Choice;
use crate::tall_skinny::gram::contract::Shape;
use crate::tall_skinny::gram::cpu::dense_threads_panels;

pub(crate) fn choose<S: Scalar>(_machine: &Machine, _shape: Shape) -> Choice {
    Choice::new(&dense_threads_panels::DESCRIPTION, "threads share panels of rows")
}
