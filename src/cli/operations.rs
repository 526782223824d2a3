//! The operations that `list`, `verify` and `bench` know. One entry each.

use super::args::{Dtype, with_scalar};
use super::console::Console;
use super::session::{Request, Session};
use super::targets::gpu_is_required;
use crate::Scalar;
use crate::check::Precision;
use crate::io::{load, random_dense};
use crate::machine::{Machine, Refusal};
use crate::matrix::{Coo, Csr, Duplicates};
use crate::ops::convert::Convert;
use crate::ops::spmm::{Inputs, ORACLE_BYTES_PER_ELEMENT, Spmm, Subject};
use crate::ops::{Op, Place};
use crate::report::Record;
use crate::workbench::{AUTO, Case, OracleLimits, SelectError, Side, select};
use anyhow::Context;
use std::sync::Arc;

/// An operation behind the command line: its name, its variants, and how to run it on inputs.
pub(super) trait Operation: Sync {
    fn name(&self) -> &'static str;
    fn about(&self) -> &'static str;
    /// Every variant, `auto` last, and which of them this machine refuses.
    fn catalogue(&self, machine: &Machine) -> Vec<Listed>;
    /// Does the selection hold anything of that side? Asked before any input is read.
    fn selects(&self, patterns: &[String], side: Side) -> Result<bool, SelectError>;
    /// What stands for no input; nothing where one must be named.
    fn default_inputs(&self) -> Vec<String> {
        Vec::new()
    }
    /// How many cases an input makes, for the progress bar.
    fn cases_per_input(&self, request: &Request) -> usize;
    /// Every case that the input, the dtypes and the Ks make.
    fn run(&self, session: &mut Session<'_>, input: &str) -> anyhow::Result<()>;
}

/// A line of `ordito list`.
pub(super) struct Listed {
    pub(super) name: &'static str,
    pub(super) place: Option<Place>,
    pub(super) about: &'static str,
    pub(super) source: Option<&'static str>,
    pub(super) params: Vec<(&'static str, u32)>,
    pub(super) refusal: Option<String>,
}

/// All there are.
pub(super) const OPERATIONS: &[&dyn Operation] = &[&ConvertOperation, &SpmmOperation];

/// Their names, for people.
pub(super) fn names() -> String {
    OPERATIONS.iter().map(|op| op.name()).collect::<Vec<_>>().join(", ")
}

/// The operation of this name.
pub(super) fn find(name: &str) -> Result<&'static dyn Operation, String> {
    let found = OPERATIONS.iter().copied().find(|op| op.name() == name);
    found.ok_or_else(|| format!("there is no operation `{name}`; there are: {}", names()))
}

/// Everything that was asked of an operation; the exit code.
pub(super) fn run(operation: &dyn Operation, request: &Request, console: &Console) -> anyhow::Result<u8> {
    let selects = |side| Ok(operation.selects(&request.patterns, side)?);
    if let Err(error) = request.targets.check(operation.name(), &selects) {
        if !gpu_is_required() {
            return Err(error);
        }
        console.error(&error.context("ORDITO_REQUIRE_GPU=1"));
        return Ok(1);
    }
    let cases = operation.cases_per_input(request);
    Session::run(request, console, cases, &|session, input| operation.run(session, input))
}

fn catalogue<O: Op>(machine: &Machine) -> Vec<Listed> {
    let listed = |variant: &&'static dyn crate::ops::Variant<O>| Listed {
        name: variant.name(),
        place: Some(variant.place()),
        about: variant.about(),
        source: Some(variant.source()),
        params: variant.params(),
        refusal: variant.available(machine).err().map(|refusal| refusal.to_string()),
    };
    let auto = Listed {
        name: AUTO,
        place: None,
        about: "whatever of these fits the matrix and the machine; says what and why",
        source: None,
        params: Vec::new(),
        refusal: None,
    };
    O::variants().iter().map(listed).chain([auto]).collect()
}

/// A matrix with the name that records give it.
struct Matrix<S> {
    name: String,
    triplets: Arc<Coo<S>>,
}

impl<S: Scalar> Matrix<S> {
    fn load(session: &Session<'_>, input: &str) -> anyhow::Result<Self> {
        session.say(&format!("reading {input}"));
        let request = session.request();
        let loaded = request.machine.pool().install(|| load::<S>(input, &request.read))?;
        Ok(Matrix { name: loaded.name, triplets: Arc::new(loaded.coo) })
    }

    /// What a record says of it.
    fn record(&self, seed: u64) -> Record {
        Record {
            matrix: Some(self.name.clone()),
            rows: Some(self.triplets.rows() as u64),
            cols: Some(self.triplets.cols() as u64),
            nnz: Some(self.triplets.nonzeros() as u64),
            dtype: S::NAME.into(),
            seed: Some(seed),
            ..Record::default()
        }
    }
}

/// Refuses CSR above the memory budget: a small file may declare billions of empty rows.
fn check_csr<S: Scalar>(machine: &Machine, coo: &Coo<S>) -> Result<(), Refusal> {
    let (rows, nonzeros) = (coo.rows(), coo.nonzeros());
    machine
        .check_memory(format!("CSR ({rows} rows, {nonzeros} nonzeros)"), Csr::<S>::bytes_for(rows, nonzeros))
}

/// CSR, if it fits.
pub(super) fn to_csr<S: Scalar>(machine: &Machine, coo: &Coo<S>) -> Result<Csr<S>, Refusal> {
    check_csr(machine, coo)?;
    Ok(machine.pool().install(|| Csr::from_coo(coo, Duplicates::Keep)))
}

/// X, as many outputs as are held at a time, and the oracle's answer (if there is one) must fit.
pub(super) fn check_dense<S: Scalar>(
    machine: &Machine,
    a: &Csr<S>,
    k: usize,
    outputs: usize,
    oracle: Option<OracleLimits>,
) -> Result<(), Refusal> {
    let (rows, cols) = (a.rows(), a.cols());
    let elements =
        |rows: usize, copies: usize| (rows as u64).checked_mul(k as u64)?.checked_mul(copies as u64);
    let needed = || {
        // One more Y than there are variants: a result is copied to be compared.
        let dense = elements(cols, 1)?.checked_add(elements(rows, outputs + 1)?)?;
        let answer = match oracle {
            // Sampled above its limit, and then as large as the limit at most.
            Some(limits) => elements(rows, 1)?.saturating_mul(ORACLE_BYTES_PER_ELEMENT).min(limits.bytes),
            None => 0,
        };
        dense.checked_mul(size_of::<S>() as u64)?.checked_add(answer)
    };
    let what = match outputs {
        1 => format!("X ({cols}×{k}), Y ({rows}×{k}) and their check"),
        _ => format!("X ({cols}×{k}), {outputs} times Y ({rows}×{k}), one for each variant, and their check"),
    };
    machine.check_memory(what, needed())
}

struct ConvertOperation;

impl Operation for ConvertOperation {
    fn name(&self) -> &'static str {
        Convert::<f64>::NAME
    }
    fn about(&self) -> &'static str {
        Convert::<f64>::ABOUT
    }
    fn catalogue(&self, machine: &Machine) -> Vec<Listed> {
        catalogue::<Convert<f64>>(machine)
    }
    fn selects(&self, patterns: &[String], side: Side) -> Result<bool, SelectError> {
        Ok(!select::<Convert<f64>>(patterns, side)?.is_empty())
    }
    fn cases_per_input(&self, request: &Request) -> usize {
        request.dtypes.len()
    }
    fn run(&self, session: &mut Session<'_>, input: &str) -> anyhow::Result<()> {
        for_each_dtype(session, |session, dtype| with_scalar!(dtype, S => run_convert::<S>(session, input)))
    }
}

fn run_convert<S: Scalar>(session: &mut Session<'_>, input: &str) -> anyhow::Result<()> {
    let matrix = Matrix::<S>::load(session, input)?;
    let record = matrix.record(session.request().read.seed);
    if let Err(refusal) = check_csr(&session.request().machine, &matrix.triplets) {
        return session.refuse_case::<Convert<S>>(&record, &refusal);
    }
    let (precision, limits) = (Precision::of::<S>(), OracleLimits::default());
    session.run_case(&Case::<Convert<S>>::new(matrix.triplets, (), precision, record, limits))
}

/// All precisions, even if the input cannot be read in one of them (a number beyond f32); the first error.
fn for_each_dtype(
    session: &mut Session<'_>,
    run: impl Fn(&mut Session<'_>, Dtype) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let mut first = Ok(());
    for dtype in session.request().dtypes.clone() {
        if session.interrupted() {
            break;
        }
        first = first.and(run(session, dtype));
    }
    first
}

struct SpmmOperation;

impl Operation for SpmmOperation {
    fn name(&self) -> &'static str {
        Spmm::<f64>::NAME
    }
    fn about(&self) -> &'static str {
        Spmm::<f64>::ABOUT
    }
    fn catalogue(&self, machine: &Machine) -> Vec<Listed> {
        catalogue::<Spmm<f64>>(machine)
    }
    fn selects(&self, patterns: &[String], side: Side) -> Result<bool, SelectError> {
        Ok(!select::<Spmm<f64>>(patterns, side)?.is_empty())
    }
    fn cases_per_input(&self, request: &Request) -> usize {
        request.dtypes.len() * request.ks.len()
    }
    fn run(&self, session: &mut Session<'_>, input: &str) -> anyhow::Result<()> {
        for_each_dtype(session, |session, dtype| with_scalar!(dtype, S => run_spmm::<S>(session, input)))
    }
}

fn run_spmm<S: Scalar>(session: &mut Session<'_>, input: &str) -> anyhow::Result<()> {
    let matrix = Matrix::<S>::load(session, input)?;
    let machine = session.request().machine.clone();
    let (seed, limits) = (session.request().read.seed, OracleLimits::default());
    let a = to_csr(&machine, &matrix.triplets).map(Arc::new);
    for k in session.request().ks.clone() {
        if session.interrupted() {
            break;
        }
        let record = Record { k: Some(k as u64), ..matrix.record(seed) };
        let outputs = session.variants_held::<Spmm<S>>()?;
        let fits = a.clone().and_then(|a| check_dense(&machine, &a, k, outputs, Some(limits)).map(|()| a));
        let a = match fits {
            Ok(a) => a,
            Err(refusal) => {
                session.refuse_case::<Spmm<S>>(&record, &refusal)?;
                continue;
            }
        };
        let x = Arc::new(random_dense::<S>(a.cols(), k, seed).context("X")?);
        let subject = Subject { a, triplets: Some(matrix.triplets.clone()), k };
        let inputs = Inputs::product(x);
        let case = Case::<Spmm<S>>::new(subject, inputs, Precision::of::<S>(), record, limits);
        session.run_case(&case)?;
    }
    Ok(())
}
