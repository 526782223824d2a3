//! The library calls: a plan for many products with one matrix, and a single product that converts nothing.

use super::csr_threads_nnz::{SERIAL_BELOW, even_shares, multiply_shares};
use super::{Product, Spmm, Subject, check_shapes};
use crate::Scalar;
use crate::machine::{Accelerator, LaunchReport, Machine, Refusal};
use crate::matrix::{Csr, CsrView, Dense, DenseView, DenseViewMut, FormatError};
use crate::ops::{Choice, Copies, Op, RunError};
use std::ops::Mul;
use std::sync::Arc;

/// A matrix made ready for products with blocks of `k` vectors. Owns what it needs and can live in a struct of
/// yours.
///
/// ```
/// use ordito::machine::Machine;
/// use ordito::matrix::{Coo, Csr, Dense, Duplicates};
/// use ordito::spmm::Plan;
///
/// let a = Coo::new(2, 2, vec![0, 1], vec![1, 0], vec![2.0, 3.0])?;
/// let a = Csr::from_coo(&a, Duplicates::Sum);
/// let mut plan = Plan::new(a, 2, &Machine::whole()?)?;
///
/// let x = Dense::from_rows(2, 2, vec![1.0, 10.0, 2.0, 20.0])?;
/// let mut y = Dense::filled(2, 2, 0.0)?;
/// plan.apply(1.0, x.view(), 0.0, y.view_mut())?; // Y = 1·A·X + 0·Y
/// assert_eq!(y.data(), &[4.0, 40.0, 3.0, 30.0]);
///
/// plan.update_values(vec![1.0, 1.0])?; // same pattern, new numbers
/// plan.apply(1.0, x.view(), 1.0, y.view_mut())?; // added to what is there
/// assert_eq!(y.data(), &[6.0, 60.0, 4.0, 40.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Plan<S: Scalar> {
    machine: Arc<Machine>,
    subject: Subject<S>,
    choice: Choice,
    product: Box<dyn Product<S>>,
}

/// Why the values of a plan could not be replaced. The plan is as it was.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum UpdateError {
    /// Not as many values as the pattern has entries.
    #[error(transparent)]
    Format(#[from] FormatError),
    /// The variant refuses the new numbers.
    #[error(transparent)]
    Refused(#[from] Refusal),
}

impl<S: Scalar> Plan<S> {
    /// The variant that `auto` chooses for this matrix and machine.
    pub fn new(a: impl Into<Arc<Csr<S>>>, k: usize, machine: &Arc<Machine>) -> Result<Self, Refusal> {
        let subject = Subject { a: a.into(), triplets: None, k };
        let choice = choose(machine, &subject);
        Plan::build(subject, choice, machine)
    }

    /// The variant of that name.
    pub fn with_variant(
        name: &str,
        a: impl Into<Arc<Csr<S>>>,
        k: usize,
        machine: &Arc<Machine>,
    ) -> Result<Self, Refusal> {
        let variant =
            Spmm::<S>::variant(name).ok_or_else(|| Refusal::UnknownVariant { name: name.to_string() })?;
        let choice = Choice { variant: variant.name(), reason: "asked for by name".into() };
        Plan::build(Subject { a: a.into(), triplets: None, k }, choice, machine)
    }

    fn build(subject: Subject<S>, choice: Choice, machine: &Arc<Machine>) -> Result<Self, Refusal> {
        let name = choice.variant.to_string();
        let variant = Spmm::<S>::variant(choice.variant).ok_or(Refusal::UnknownVariant { name })?;
        let product = variant.prepare(machine, &subject)?;
        Ok(Plan { machine: machine.clone(), subject, choice, product })
    }

    /// Which variant was taken, and why.
    pub fn choice(&self) -> &Choice {
        &self.choice
    }

    /// Y = αAX + βY. With β = 0, Y is not read; gaps between rows are never touched.
    pub fn apply(
        &mut self,
        alpha: S,
        x: DenseView<'_, S>,
        beta: S,
        y: DenseViewMut<'_, S>,
    ) -> Result<(), RunError> {
        self.product.apply(alpha, x, beta, y)
    }

    /// How long the last [`apply`](Self::apply) spent copying between host and device; nothing on the CPU.
    pub fn copies(&self) -> Copies {
        self.product.copies()
    }

    /// What a product launches on a device; nothing on the CPU.
    pub fn launches(&self) -> Vec<LaunchReport> {
        self.product.launches()
    }

    /// The same pattern with new numbers, in the order of the CSR arrays.
    pub fn update_values(&mut self, values: Vec<S>) -> Result<(), UpdateError> {
        let a = Arc::new(self.subject.a.with_values(values)?);
        let subject = Subject { a, ..self.subject.clone() };
        *self = Plan::build(subject, self.choice.clone(), &self.machine)?;
        Ok(())
    }
}

/// What `auto` takes: on a device where the machine has one, otherwise on the CPU.
pub(super) fn choose<S: Scalar>(machine: &Machine, subject: &Subject<S>) -> Choice {
    match machine.accelerator() {
        Accelerator::None => choose_on_cpu(machine, subject),
        Accelerator::Cuda(_) | Accelerator::Emulator => {
            let a = &subject.a;
            choose_on_device(a.rows(), a.nonzeros(), a.longest_row(), subject.k)
        }
    }
}

/// From here on a row is so long that the threads of its warp would wait for the one that walks it.
const LONG_ROW: usize = 1024;
/// Times the mean row that the longest one may have before rows are grouped by length.
const SKEWED: f64 = 32.0;
/// Nonzeros per lane that pay for adding up the lanes' sums.
const NONZEROS_PER_LANE: f64 = 4.0;
/// Half a warp: so many neighbouring threads that read neighbouring columns of X keep the memory busy without help.
const COALESCED_COLUMNS: usize = 16;

/// A first rule for the ladder's kernels, from what each of them is said to lose on: few rows that are far longer than
/// the others want their own blocks; a wide Y or short rows feed one thread per element; what is left has long rows and
/// few columns, and gets as many lanes per element as have four nonzeros each.
fn choose_on_device(rows: usize, nonzeros: usize, longest: usize, k: usize) -> Choice {
    let mean = nonzeros as f64 / rows.max(1) as f64;
    let shape = format!("rows of {mean:.1} nonzeros on average and {longest} at most, {k} columns");
    let (variant, why) = if longest >= LONG_ROW && longest as f64 > SKEWED * mean {
        ("csr-cuda-adaptive-sub-blocks32", "long rows get a block of their own")
    } else if k >= COALESCED_COLUMNS {
        ("csr-cuda-thread-per-element", "neighbouring threads read neighbouring columns of X")
    } else {
        let why = "a few nonzeros per lane";
        match mean / NONZEROS_PER_LANE {
            lanes if lanes < 2.0 => ("csr-cuda-thread-per-element", "rows are too short to be shared out"),
            lanes if lanes < 4.0 => ("csr-cuda-lanes2-per-element", why),
            lanes if lanes < 8.0 => ("csr-cuda-lanes4-per-element", why),
            lanes if lanes < 16.0 => ("csr-cuda-lanes8-per-element", why),
            lanes if lanes < 32.0 => ("csr-cuda-lanes16-per-element", why),
            _ => ("csr-cuda-lanes32-per-element", why),
        }
    };
    Choice { variant, reason: format!("{shape}: {why}") }
}

/// With the variants there are, the one that shares out nonzeros and vectorises over K has no rival at any K; what
/// differs is whether its threads are worth waking.
fn choose_on_cpu<S: Scalar>(machine: &Machine, subject: &Subject<S>) -> Choice {
    let (threads, steps) = (machine.threads(), subject.a.nonzeros().saturating_mul(subject.k));
    let reason = if threads == 1 {
        "one thread: vector instructions across K, no conversion".into()
    } else if steps < SERIAL_BELOW {
        format!("{steps} multiply-adds are too few to wake a second thread: runs on the calling one")
    } else {
        let longest = subject.a.longest_row();
        let mean = subject.a.nonzeros() as f64 / subject.a.rows().max(1) as f64;
        format!(
            "{threads} threads, rows of {mean:.1} nonzeros on average and {longest} at most: equal nonzeros per thread"
        )
    };
    Choice { variant: "csr-threads-nnz", reason }
}

/// A single product Y = αAX + βY on borrowed arrays, on all cores: nothing is copied or converted.
///
/// ```
/// use ordito::matrix::{CsrView, DenseView, DenseViewMut};
/// let a = CsrView::from_parts(1, 2, &[0, 2], &[0, 1], &[1.0, 2.0])?;
/// let mut y = [f64::NAN; 2];
/// let x = DenseView::new(&[1.0, 2.0, 3.0, 4.0], 2, 2, 2)?;
/// ordito::spmm::multiply(1.0, a, x, 0.0, DenseViewMut::new(&mut y, 1, 2, 2)?)?;
/// assert_eq!(y, [7.0, 10.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn multiply<S: Scalar>(
    alpha: S,
    a: CsrView<'_, S>,
    x: DenseView<'_, S>,
    beta: S,
    y: DenseViewMut<'_, S>,
) -> Result<(), RunError> {
    check_shapes((a.rows(), a.cols()), x.cols(), &x, (y.rows(), y.cols()))?;
    let machine = Machine::whole()?;
    let shares = even_shares(a, machine.threads());
    multiply_shares(&machine, a, &shares, alpha, x, beta, y);
    Ok(())
}

/// `&a * &x`.
///
/// # Panics
/// When `x` does not have as many rows as `a` has columns; [`multiply`] returns an error instead.
impl<S: Scalar> Mul<&Dense<S>> for &Csr<S> {
    type Output = Dense<S>;

    #[expect(clippy::panic, reason = "an operator has no other way to say so; documented above")]
    fn mul(self, x: &Dense<S>) -> Dense<S> {
        let product = || {
            let mut y = Dense::filled(self.rows(), x.cols(), S::ZERO)?;
            multiply(S::ONE, self.view(), x.view(), S::ZERO, y.view_mut())?;
            Ok(y)
        };
        product().unwrap_or_else(|error: RunError| panic!("A·X: {error}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::{Coo, Duplicates};
    use crate::ops::Place;

    fn identity(n: usize) -> Csr<f64> {
        let diagonal: Vec<u32> = (0..n as u32).collect();
        let coo = Coo::new(n, n, diagonal.clone(), diagonal, vec![1.0; n]).unwrap();
        Csr::from_coo(&coo, Duplicates::Keep)
    }

    #[test]
    fn wrong_shapes_are_errors_that_name_them() {
        let mut plan = Plan::new(identity(3), 2, &Machine::whole().unwrap()).unwrap();
        let x = Dense::filled(2, 2, 1.0).unwrap();
        let mut y = Dense::filled(3, 2, 0.0).unwrap();
        let error = plan.apply(1.0, x.view(), 0.0, y.view_mut()).unwrap_err();
        assert_eq!(error.to_string(), "X is 2×2, 3×2 expected");
        assert!(plan.update_values(vec![1.0]).is_err());
        let unknown = Plan::with_variant("csr-magic", identity(3), 2, &Machine::whole().unwrap());
        assert!(unknown.err().unwrap().to_string().contains("no variant `csr-magic`"));
    }

    #[test]
    fn operator_and_plan_give_the_same_bits() {
        let x = Dense::from_rows(3, 2, vec![0.1, 0.2, 0.3, 0.4, 0.5, 0.6]).unwrap();
        assert_eq!(&identity(3) * &x, x);
    }

    #[test]
    fn plans_can_move_between_threads_and_live_on() {
        fn movable<T: Send + 'static>() {}
        movable::<Plan<f32>>();
    }

    #[test]
    fn the_choice_is_data_with_a_reason() {
        let machine = Machine::with_threads(2).unwrap();
        let subject = Subject { a: Arc::new(identity(5)), triplets: None, k: 1 };
        let choice = choose(&machine, &subject);
        assert!(Spmm::<f64>::variant(choice.variant).is_some());
        assert!(choice.reason.contains("too few"));
        let choice = choose(&machine.with_accelerator(Accelerator::Emulator), &subject);
        assert_eq!(choice.variant, "csr-cuda-thread-per-element");
        let reason =
            "rows of 1.0 nonzeros on average and 1 at most, 1 columns: rows are too short to be shared out";
        assert_eq!(choice.reason, reason);
    }

    #[test]
    fn the_device_rule_goes_by_row_lengths_and_columns() {
        let rule = |rows, nonzeros, longest, k| {
            let choice = choose_on_device(rows, nonzeros, longest, k);
            let variant = Spmm::<f64>::variant(choice.variant);
            assert!(variant.is_some_and(|variant| variant.place() == Place::Cuda), "{}", choice.variant);
            choice.variant
        };
        assert_eq!(rule(1000, 27_000, 27, 32), "csr-cuda-thread-per-element", "wide Y");
        assert_eq!(rule(1000, 5000, 5, 1), "csr-cuda-thread-per-element", "short rows");
        assert_eq!(rule(0, 0, 0, 1), "csr-cuda-thread-per-element", "nothing to do");
        for (mean, lanes) in [(8, 2), (27, 4), (32, 8), (64, 16), (128, 32), (5000, 32)] {
            assert_eq!(rule(100, 100 * mean, mean, 3), format!("csr-cuda-lanes{lanes}-per-element"));
        }
        for k in [1, 64] {
            assert_eq!(rule(1_000_000, 10_000_000, 50_000, k), "csr-cuda-adaptive-sub-blocks32", "skewed");
        }
        assert_eq!(rule(100, 500_000, 5100, 64), "csr-cuda-thread-per-element", "long rows, but all alike");
    }
}
