//! COO → CSR, COO → ELLPACK (padded, ragged): the price of a format, before anything is multiplied.

mod counting_csr;
mod cursor;
mod oracle;
mod parts;
mod row_scan;

use crate::check::Save;
use ordito::Scalar;
use ordito::files::WriteError;
use ordito::io::matrix_market::WriteOptions;
use ordito::io::write_matrix_market;
use ordito::machine::{Interrupt, Interrupted, Machine};
use ordito::matrix::{Coo, SORT_SERIALLY_BELOW};
use ordito::op::{Choice, Cost, Extent, Observed, Op, Prepared, Reference, RunError, Variant, of_precision};
use parts::Parts;
use std::marker::PhantomData;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// The operation, in one precision.
#[derive(Debug)]
pub struct Convert<S>(PhantomData<S>);

/// Every way to do it.
fn list<S: Scalar>() -> &'static [&'static dyn Variant<Convert<S>>] {
    &[
        &row_scan::CSR_SERIAL,
        &row_scan::CSR_THREADS,
        &cursor::CSR_SERIAL,
        &cursor::CSR_THREADS,
        &cursor::CSR_CRITICAL,
        &row_scan::PADDED_SERIAL,
        &row_scan::PADDED_THREADS,
        &row_scan::RAGGED_SERIAL,
        &row_scan::RAGGED_THREADS,
        &cursor::RAGGED_SERIAL,
        &cursor::RAGGED_THREADS,
        &cursor::RAGGED_CRITICAL,
        &counting_csr::SERIAL,
        &counting_csr::THREADS,
    ]
}

#[inline(never)] // see `of_precision`
fn in_f32() -> &'static [&'static dyn Variant<Convert<f32>>] {
    list()
}

#[inline(never)]
fn in_f64() -> &'static [&'static dyn Variant<Convert<f64>>] {
    list()
}

impl<S: Scalar> Op for Convert<S> {
    const NAME: &'static str = "convert";
    const ABOUT: &'static str = "COO → CSR, COO → ELLPACK: what a format costs before the first product";
    type Subject = Arc<Coo<S>>;
    type Inputs = ();
    type Output = Entries<S>;
    type Ready = dyn Prepared<Self>;

    fn variants() -> &'static [&'static dyn Variant<Self>] {
        of_precision(&in_f32(), &in_f64())
    }

    fn choose(machine: &Machine, subject: &Arc<Coo<S>>) -> Choice {
        let (threads, nonzeros) = (machine.threads(), subject.nnz());
        let (variant, reason) = if threads == 1 {
            (&counting_csr::SERIAL.description, "one thread: two counting passes, sorted columns".into())
        } else if nonzeros < SORT_SERIALLY_BELOW {
            (
                &counting_csr::SERIAL.description,
                format!("{nonzeros} entries are too few to wake a second thread"),
            )
        } else {
            let reason =
                format!("{nonzeros} entries in any order, over {threads} threads; columns come out sorted");
            (&counting_csr::THREADS.description, reason)
        };
        Choice::new(variant, reason)
    }

    fn cost(subject: &Arc<Coo<S>>) -> Cost {
        let (rows, nonzeros) = (subject.rows() as u64, subject.nnz() as u64);
        let scalar_bytes = size_of::<S>() as u64;
        Cost {
            flops: 0,
            // Triplets in, columns, values and offsets out.
            least_bytes: nonzeros * (8 + scalar_bytes) + nonzeros * (4 + scalar_bytes) + 8 * (rows + 1),
            oracle_steps: 0, // a counting sort is never too long
            oracle_row_steps: 0,
            oracle_bytes: 0,
            oracle_row_bytes: 0,
        }
    }

    /// A counting sort is over before anybody wants it to stop.
    fn oracle(subject: &Arc<Coo<S>>, _: &(), _: Extent, _: &Interrupt) -> Result<Reference, Interrupted> {
        Ok(oracle::oracle(subject))
    }
}

impl<S: Scalar> Save for Convert<S> {
    fn save(subject: &Arc<Coo<S>>, _: &(), output: &Entries<S>, folder: &Path) -> Result<(), WriteError> {
        write_matrix_market(subject, &folder.join("a.mtx"), &WriteOptions::default())?;
        write_matrix_market(&output.to_coo(), &folder.join("a_found.mtx"), &WriteOptions::default())
    }
}

/// The entries of a matrix in one definite order, whatever order a format kept them in.
#[derive(Debug, Clone, PartialEq)]
pub struct Entries<S> {
    rows: usize,
    cols: usize,
    entries: Vec<(u64, S)>,
}

impl<S: Scalar> Entries<S> {
    /// By row, column and value: threads that fill a row through one cursor may leave any order.
    fn sorted(coo: &Coo<S>) -> Self {
        let mut entries: Vec<(u64, S)> =
            coo.entries().map(|(row, col, value)| (u64::from(row) << 32 | u64::from(col), value)).collect();
        entries.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.to_f64().total_cmp(&b.1.to_f64())));
        Entries { rows: coo.rows(), cols: coo.cols(), entries }
    }

    fn to_coo(&self) -> Coo<S> {
        let (places, values): (Vec<u64>, Vec<S>) = self.entries.iter().copied().unzip();
        let rows = places.iter().map(|place| (place >> 32) as u32).collect();
        let cols = places.iter().map(|&place| place as u32).collect();
        Coo::new(self.rows, self.cols, rows, cols, values).expect("these entries come from a valid matrix")
    }
}

impl<S: Scalar> Observed for Entries<S> {
    fn structure(&self) -> Vec<u64> {
        self.entries.iter().map(|&(place, _)| place).collect()
    }
    fn rows(&self) -> usize {
        self.entries.len()
    }
    fn cols(&self) -> usize {
        1
    }
    fn copy_row(&self, row: usize, into: &mut [f64]) {
        into[0] = self.entries[row].1.to_f64();
    }
    fn place(&self, row: usize, _: usize) -> String {
        format!("entry {row}, {}", self.fact(self.entries[row].0))
    }
    fn fact(&self, fact: u64) -> String {
        format!("row {}, column {}", fact >> 32, fact as u32)
    }
}

/// Even, contiguous shares of `count` things.
fn shares(count: usize, threads: usize) -> impl Iterator<Item = Range<usize>> {
    (0..threads).map(move |t| count * t / threads..count * (t + 1) / threads)
}

/// A conversion with its triplets and its machine: what every variant prepares.
struct OnHost<S, F> {
    coo: Arc<Coo<S>>,
    machine: Arc<Machine>,
    convert: F,
    parts: Option<Parts<S>>,
}

impl<S: Scalar, F: Fn(&Coo<S>, &Machine) -> Parts<S> + Send + 'static> OnHost<S, F> {
    fn boxed(machine: &Arc<Machine>, coo: &Arc<Coo<S>>, convert: F) -> Box<dyn Prepared<Convert<S>>> {
        Box::new(OnHost { coo: coo.clone(), machine: machine.clone(), convert, parts: None })
    }
}

impl<S: Scalar, F: Fn(&Coo<S>, &Machine) -> Parts<S> + Send> Prepared<Convert<S>> for OnHost<S, F> {
    fn load(&mut self, _: &()) -> Result<(), RunError> {
        Ok(())
    }
    fn reset(&mut self) -> Result<(), RunError> {
        self.parts = None; // freeing the last result is no part of the next conversion
        Ok(())
    }
    fn run(&mut self) -> Result<(), RunError> {
        let parts = (self.convert)(&self.coo, &self.machine);
        self.machine.interrupt().check()?; // it may have stopped early
        self.parts = Some(parts);
        Ok(())
    }
    fn fetch(&mut self) -> Result<Entries<S>, RunError> {
        let parts = self.parts.as_ref().ok_or(RunError::NotLoaded)?;
        parts.entries(self.coo.rows(), self.coo.cols())
    }
}
