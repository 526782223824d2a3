//! After how many products a plan is ahead of one that converts nothing.

use crate::Scalar;
use crate::matrix::random_dense;
use crate::op::{Op, Products, RunError};
use crate::refusal::Refusal;
use crate::spmm::plan::Plan;
use crate::spmm::plan::making::{is_plain, plain_variant};
use crate::spmm::plan::stopwatch::{batch, runs_of_batch, timed};
use crate::spmm::product::{Inputs, Product, Spmm, Subject};
use crate::units;
use std::fmt;
use std::sync::Arc;

/// Batches of either, in turn. Should one be the faster in all of them by chance, a coin would have to fall on the same side
/// seven times: once in 64 trials.
const ROUNDS: usize = 7;
/// The seed of the X that is multiplied: which numbers they are makes no difference.
const SEED: u64 = 1;

/// A plan held against one that multiplies plain CSR.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct BreakEven {
    /// The variant of the plan.
    pub variant: &'static str,
    /// The variant that multiplies plain CSR.
    pub plain: &'static str,
    /// How long preparing took, without the compilation of kernels.
    pub prepare_ns: f64,
    /// How long preparing plain CSR took, without the compilation of kernels.
    pub plain_prepare_ns: f64,
    /// How long a product takes.
    pub product_ns: f64,
    /// How long a product of plain CSR takes.
    pub plain_product_ns: f64,
    /// After how many products the plan is ahead, preparing included.
    pub products: Products,
}

impl fmt::Display for BreakEven {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [prepare, plain_prepare, product, plain_product] =
            [self.prepare_ns, self.plain_prepare_ns, self.product_ns, self.plain_product_ns]
                .map(units::duration);
        match self.products {
            Products::Never => write!(f, "never ahead of {}", self.plain)?,
            Products::NoDifference => write!(f, "no faster and no slower than {}", self.plain)?,
            Products::AtOnce => write!(f, "ahead of {} at once", self.plain)?,
            Products::After(1) => write!(f, "ahead of {} after one product", self.plain)?,
            after => write!(f, "ahead of {} after {after} products", self.plain)?,
        }
        write!(
            f,
            ": {prepare} to prepare (not {plain_prepare}), {product} for a product (not {plain_product})"
        )
    }
}

impl<S: Scalar> Plan<S> {
    /// Times products with `k` columns of this plan and of one that multiplies plain CSR, in turn, and says after how many of them the time
    /// for preparing has been won back. `None` where the plan multiplies plain CSR itself: there is nothing to win back.
    ///
    /// Takes as long as preparing both, some milliseconds, and the plan's memory once more for that time.
    ///
    /// ```
    /// use ordito::spmm::Plan;
    /// use ordito::{Csr, Duplicates, Machine};
    /// let a = ordito::io::load::<f64>("stencil5:21", &Default::default())?.coo;
    /// let a = Csr::from_coo(&a, Duplicates::Sum);
    /// let plan = Plan::with_variant("ell-padded-threads-elements", a, &Machine::all_cores()?)?;
    /// let found = plan.measure_break_even(8)?.unwrap();
    /// println!("{found}"); // "ahead of csr-threads-nnz after …", or never
    /// # assert!(found.product_ns > 0.0 && found.plain_product_ns > 0.0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn measure_break_even(&self, k: usize) -> Result<Option<BreakEven>, RunError> {
        let prepared = self.ready(k)?;
        let (variant, prepare_ns) = (prepared.choice.variant, prepared.prepare_ns);
        if is_plain::<S>(&self.machine, variant) {
            return Ok(None);
        }
        let plain = plain_variant(&self.machine).name;
        let subject = self.subject(k);
        let inputs = Inputs::product(Arc::new(random_dense(subject.a.cols(), k, SEED)?));
        let (mut own, _) = self.loaded(variant, &subject, &inputs)?;
        let (mut other, plain_prepare_ns) = self.loaded(plain, &subject, &inputs)?;
        let [own_ns, other_ns] = in_turn([&mut *own, &mut *other])?;
        let (product_ns, plain_product_ns) = (median(&own_ns), median(&other_ns));
        let faster = own_ns.iter().zip(&other_ns).filter(|(own, other)| own < other).count();
        let products = match faster {
            0 | ROUNDS => Products::until_ahead(prepare_ns - plain_prepare_ns, plain_product_ns - product_ns),
            _ => Products::NoDifference,
        };
        Ok(Some(BreakEven {
            variant,
            plain,
            prepare_ns,
            plain_prepare_ns,
            product_ns,
            plain_product_ns,
            products,
        }))
    }

    /// A variant that is ready to run, and how long that took.
    fn loaded(
        &self,
        variant: &str,
        subject: &Subject<S>,
        inputs: &Inputs<S>,
    ) -> Result<(Box<dyn Product<S>>, f64), RunError> {
        let name = variant.to_owned();
        let variant = Spmm::<S>::variant(variant).ok_or(Refusal::UnknownVariant { name })?;
        let (ready, ns) = timed(|| variant.prepare(&self.machine, subject));
        let mut ready = ready?;
        ready.load(inputs)?;
        Ok((ready, ns))
    }
}

/// Nanoseconds of a product in every round.
fn in_turn<S: Scalar>(mut both: [&mut dyn Product<S>; 2]) -> Result<[Vec<f64>; 2], RunError> {
    let mut runs = [1; 2];
    for (ready, runs) in both.iter_mut().zip(&mut runs) {
        batch(&mut **ready, 1)?; // brings operands into the caches, and code onto the device
        *runs = runs_of_batch(batch(&mut **ready, 1)?);
    }
    let mut times = [const { Vec::new() }; 2];
    for round in 0..ROUNDS {
        for turn in 0..2 {
            let one = (round + turn) % 2;
            batch(&mut *both[one], 1)?; // the other one's operands were in the caches
            times[one].push(batch(&mut *both[one], runs[one])?);
        }
    }
    Ok(times)
}

fn median(times: &[f64]) -> f64 {
    let mut times = times.to_vec();
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Machine;
    use crate::matrix::{Coo, Csr, Duplicates};

    /// A diagonal below one full row.
    fn plan(variant: &str) -> Plan<f64> {
        let (n, mut rows, mut columns) = (1000, vec![0; 1000], (0..1000).collect::<Vec<u32>>());
        rows.extend(1..n);
        columns.extend(1..n);
        let values = vec![1.0; rows.len()];
        let coo = Coo::new(n as usize, n as usize, rows, columns, values).unwrap();
        let a = Csr::from_coo(&coo, Duplicates::Sum);
        Plan::with_variant(variant, a, &Machine::with_threads(1).unwrap()).unwrap()
    }

    #[test]
    fn what_multiplies_plain_csr_has_nothing_to_win_back() {
        assert_eq!(plan("csr-threads-nnz").measure_break_even(4), Ok(None));
    }

    #[test]
    fn a_variant_that_is_far_slower_never_is_ahead() {
        // 500 times as many places as nonzeros.
        let found = plan("ell-padded-threads-elements").measure_break_even(4).unwrap().unwrap();
        assert_eq!(found.products, Products::Never, "{found}");
        assert!(found.prepare_ns > 0.0 && found.plain_prepare_ns > 0.0);
        assert!(found.to_string().starts_with("never ahead of csr-threads-nnz: "), "{found}");
    }

    #[test]
    fn sentences_say_how_many() {
        let even = |products| BreakEven {
            variant: "sell-threads-slices",
            plain: "csr-threads-nnz",
            prepare_ns: 4e6,
            plain_prepare_ns: 1e3,
            product_ns: 1e5,
            plain_product_ns: 3e5,
            products,
        };
        assert_eq!(
            even(Products::After(20)).to_string(),
            "ahead of csr-threads-nnz after 20 products: 4.00 ms to prepare (not 1.00 µs), 100 µs for a product (not 300 µs)"
        );
        assert!(even(Products::After(1)).to_string().contains("after one product"));
    }
}
