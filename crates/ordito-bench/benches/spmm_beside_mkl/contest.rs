//! One case: a matrix, a precision, K and a number of threads. Ours and MKL's are checked, then timed in turn.

use super::aligned::Aligned;
use super::mkl::{Call, Mkl, MklProduct};
use super::turns::{Pace, Timed, take_turns};
use anyhow::{Context, bail};
use ordito::Scalar;
use ordito::machine::{Interrupt, Machine};
use ordito::matrix::{Csr, Dense, DenseView, DenseViewMut};
use ordito::op::{Op, Place, Reference};
use ordito::spmm::{Inputs, Plan, Spmm, Subject};
use ordito_bench::check::{Precision, Verdict, compare};
use ordito_bench::report::Record;
use ordito_bench::workbench::{AUTO, Case, OracleLimits};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// MKL's threads and ours wait for work a little while, and must have stopped before others are timed.
const PAUSE: Duration = Duration::from_millis(3);
const ROUNDS: usize = 5;
const SEED: u64 = 1;

/// X, Y and what Y should be, for all that multiply a matrix by K columns.
pub(crate) struct Operands<S: Scalar> {
    a: Arc<Csr<S>>,
    k: usize,
    x: Aligned<S>,
    y: Aligned<S>,
    case: Case<Spmm<S>>,
}

/// One way to multiply.
enum Way<S: Scalar> {
    Ours(Box<Plan<S>>),
    Mkl(MklProduct<S>),
}

/// How a way did.
pub(crate) struct Entry {
    /// `auto`, the name of a variant, or a call of MKL.
    pub(crate) variant: String,
    /// What `auto` took, and why.
    pub(crate) chosen: Option<(String, String)>,
    pub(crate) is_mkl: bool,
    pub(crate) prepare_ns: f64,
    pub(crate) timed: Timed,
}

impl<S: Scalar> Operands<S> {
    pub(crate) fn new(a: &Arc<Csr<S>>, k: usize) -> anyhow::Result<Self> {
        let x = Arc::new(ordito::matrix::random_dense::<S>(a.cols(), k, SEED)?);
        let y = Aligned::filled(a.rows().checked_mul(k).context("Y is too large")?, S::POISON);
        let aligned = Aligned::copy_of(x.data());
        let subject = Subject { a: a.clone(), triplets: None, k };
        let (precision, record) = (Precision::of::<S>(), Record::default());
        let case = Case::new(subject, Inputs::product(x), precision, record, OracleLimits::brief());
        Ok(Operands { a: a.clone(), k, x: aligned, y, case })
    }

    /// Ours that were asked for and do not refuse, and MKL's.
    pub(crate) fn compete(
        &mut self,
        mkl: &Mkl,
        machine: &Arc<Machine>,
        variants: &[String],
        together: Duration,
    ) -> anyhow::Result<Vec<Entry>> {
        mkl.set_threads(machine.threads())?;
        let mut ways = Vec::new();
        for name in [AUTO].into_iter().chain(names::<S>(variants)?) {
            let start = Instant::now();
            let plan = match name {
                AUTO => Plan::new(self.a.clone(), machine),
                name => Plan::with_variant(name, self.a.clone(), machine),
            };
            let plan = plan.and_then(|plan| plan.prepare(self.k).map(|_| plan));
            let prepare_ns = start.elapsed().as_nanos() as f64;
            match plan {
                Ok(plan) => ways.push((name.to_owned(), prepare_ns, Way::Ours(Box::new(plan)))),
                Err(refusal) if name == AUTO => bail!("auto: {refusal}"),
                Err(_) => {} // not for such a matrix
            }
        }
        for &call in Call::all(self.k) {
            let start = Instant::now();
            let product = MklProduct::new(mkl, &self.a, self.k, call)?;
            let prepare_ns = start.elapsed().as_nanos() as f64;
            ways.push((call.name().to_owned(), prepare_ns, Way::Mkl(product)));
        }
        for (name, _, way) in &mut ways {
            self.y.as_mut_slice().fill(S::POISON);
            self.multiply(way)?;
            self.check().with_context(|| format!("{name} is wrong"))?;
        }
        let pause = if machine.threads() == 1 { Duration::ZERO } else { PAUSE };
        let pace = Pace { rounds: ROUNDS, together, pause };
        let timed = take_turns(ways.len(), pace, |way| self.multiply(&mut ways[way].2))?;
        let entry = |((variant, prepare_ns, way), timed): ((String, f64, Way<S>), Timed)| {
            let chosen = match &way {
                Way::Ours(plan) if variant == AUTO => plan.prepare(self.k).ok(),
                _ => None,
            };
            let chosen = chosen.map(|prepared| (prepared.choice.variant.to_owned(), prepared.choice.reason));
            Entry { variant, chosen, is_mkl: matches!(way, Way::Mkl(_)), prepare_ns, timed }
        };
        Ok(ways.into_iter().zip(timed).map(entry).collect())
    }

    fn multiply(&mut self, way: &mut Way<S>) -> anyhow::Result<()> {
        let (rows, cols, k) = (self.a.rows(), self.a.cols(), self.k);
        match way {
            Way::Ours(plan) => {
                let x = DenseView::new(self.x.as_slice(), cols, k, k)?;
                let y = DenseViewMut::new(self.y.as_mut_slice(), rows, k, k)?;
                Ok(plan.apply(S::ONE, x, S::ZERO, y)?)
            }
            Way::Mkl(product) => product.multiply(self.x.as_slice(), self.y.as_mut_slice()),
        }
    }

    /// Every element within what rounding may do; of large results a thousand rows, and all through a projection.
    fn check(&self) -> anyhow::Result<()> {
        let reference: &Reference = self.case.reference(&Interrupt::default())?;
        let found = Dense::from_rows(self.a.rows(), self.k, self.y.as_slice().to_vec())?;
        match compare(reference, &found, self.case.precision, 1.0).verdict {
            Verdict::Passed => Ok(()),
            Verdict::Incorrect(why) | Verdict::NotVerified(why) => bail!("{why}"),
        }
    }
}

/// Ours beside `auto`: names, or all that it could choose.
fn names<S: Scalar>(asked_for: &[String]) -> anyhow::Result<Vec<&'static str>> {
    let here = || Spmm::<S>::variants().iter().filter(|variant| variant.describe().place != Place::Cuda);
    let mut names = Vec::new();
    for asked_for in asked_for.iter().filter(|name| *name != AUTO) {
        let before = names.len();
        match asked_for.as_str() {
            "all" => names.extend(
                here().filter(|variant| variant.describe().can_be_chosen).map(|variant| variant.name()),
            ),
            name => names.extend(here().map(|variant| variant.name()).filter(|own| *own == name)),
        }
        anyhow::ensure!(
            names.len() > before,
            "--variants {asked_for}: `ordito list spmm` names those there are"
        );
    }
    Ok(names)
}
