//! A plan for a matrix in somebody else's memory.

use crate::Scalar;
use crate::machine::Machine;
use crate::matrix::{Csr, CsrView};
use crate::refusal::Refusal;
use crate::spmm::plan::{Plan, UpdateError};
use std::marker::PhantomData;
use std::ops::Deref;
use std::sync::Arc;

/// A [`Plan`] for a matrix that is borrowed: A is read where it lies as long as the plan lives, and nothing of it is copied but
/// what a kernel prepares. Everything that reads a plan can be done with it.
///
/// ```
/// use ordito::spmm::ViewPlan;
/// use ordito::{CsrView, DenseView, DenseViewMut, Machine};
/// let (offsets, columns, values) = ([0_i64, 1, 2], [0_i32, 1], [1.0, 5.0]);
/// let plan = ViewPlan::new(CsrView::from_parts(2, 2, &offsets, &columns, &values)?, &Machine::all_cores()?)?;
/// let (x, mut y) = ([1.0, 2.0], [0.0; 2]);
/// plan.apply(1.0, DenseView::new(&x, 2, 1, 1)?, 0.0, DenseViewMut::new(&mut y, 2, 1, 1)?)?;
/// assert_eq!(y, [1.0, 10.0]);
/// # Ok::<(), ordito::Error>(())
/// ```
///
/// It ends with what it borrows:
///
/// ```compile_fail,E0597
/// use ordito::spmm::ViewPlan;
/// use ordito::{Csr, Machine};
/// let plan = {
///     let a = Csr::<f64>::from_parts(1, 1, vec![0, 1], vec![0], vec![2.0]).unwrap();
///     ViewPlan::new(&a, &Machine::all_cores().unwrap()).unwrap()
/// };
/// plan.prepare(1).unwrap();
/// ```
pub struct ViewPlan<'a, S: Scalar> {
    /// Handed out by reference only: neither it nor its matrix can be moved out of here.
    plan: Plan<S>,
    borrowed: PhantomData<&'a [S]>,
}

impl<'a, S: Scalar> ViewPlan<'a, S> {
    /// As [`Plan::new`].
    pub fn new(a: impl Into<CsrView<'a, S>>, machine: &Arc<Machine>) -> Result<Self, Refusal> {
        ViewPlan::of(a.into(), |a| Plan::new(a, machine))
    }

    /// As [`Plan::with_variant`].
    pub fn with_variant(
        name: &str,
        a: impl Into<CsrView<'a, S>>,
        machine: &Arc<Machine>,
    ) -> Result<Self, Refusal> {
        ViewPlan::of(a.into(), |a| Plan::with_variant(name, a, machine))
    }

    /// As [`Plan::update_values`]: from then on the numbers are its own, and the pattern is borrowed as before.
    pub fn update_values(&mut self, values: Vec<S>) -> Result<(), UpdateError> {
        self.plan.update_values(values)
    }

    fn of(a: CsrView<'a, S>, plan: impl FnOnce(Csr<S>) -> Result<Plan<S>, Refusal>) -> Result<Self, Refusal> {
        // SAFETY: the plan owns the matrix and hands out references to it at most, whose copies have arrays of their own. This
        // hands out references to the plan at most, and ends with 'a.
        let a = unsafe { a.lend() };
        Ok(ViewPlan { plan: plan(a)?, borrowed: PhantomData })
    }
}

/// One that owns its matrix, for those who keep plans of either kind.
impl<S: Scalar> From<Plan<S>> for ViewPlan<'static, S> {
    fn from(plan: Plan<S>) -> Self {
        ViewPlan { plan, borrowed: PhantomData }
    }
}

impl<S: Scalar> Deref for ViewPlan<'_, S> {
    type Target = Plan<S>;

    fn deref(&self) -> &Plan<S> {
        &self.plan
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::{DenseView, DenseViewMut};

    #[test]
    fn new_values_leave_the_borrowed_ones_alone() {
        let (offsets, columns, values) = ([0_usize, 1, 2], [1_u32, 0], [2.0, 3.0]);
        let a = CsrView::from_parts(2, 2, &offsets, &columns, &values).unwrap();
        let mut plan = ViewPlan::new(a, &Machine::with_threads(1).unwrap()).unwrap();
        let multiplied = |plan: &ViewPlan<'_, f64>| {
            let mut y = [0.0; 2];
            let (x, y_view) = (DenseView::new(&[1.0, 10.0], 2, 1, 1), DenseViewMut::new(&mut y, 2, 1, 1));
            plan.apply(1.0, x.unwrap(), 0.0, y_view.unwrap()).unwrap();
            y
        };
        assert_eq!(multiplied(&plan), [20.0, 3.0]);
        plan.update_values(vec![5.0, 7.0]).unwrap();
        assert_eq!((multiplied(&plan), values), ([50.0, 7.0], [2.0, 3.0]));
        assert!(plan.update_values(vec![1.0]).is_err());
        assert_eq!(multiplied(&plan), [50.0, 7.0]);
    }
}
