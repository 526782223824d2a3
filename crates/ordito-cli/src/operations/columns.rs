//! `columns`

use crate::args::{Dtype, with_scalar};
use crate::operations::operation::{Listed, Operation, catalogue, count_elements, for_each_dtype};
use crate::operations::transfer::transfer_case;
use crate::request::Request;
use crate::row_groups::RowGroups;
use crate::session::Session;
use crate::suite::{Suite, Yardstick};
use anyhow::Context;
use ordito::Scalar;
use ordito::column_stats::{Columns, Shape};
use ordito::io::npy::{Conversion, read_npy_shape};
use ordito::io::read_npy;
use ordito::io::{NonFinite, TextOptions, read_text_matrix};
use ordito::machine::Machine;
use ordito::matrix::Dense;
use ordito::matrix::random_dense;
use ordito::op::Op;
use ordito::refusal::Refusal;
use ordito_bench::check::Precision;
use ordito_bench::report::Record;
use ordito_bench::report::table;
use ordito_bench::report::table::Stage;
use ordito_bench::workbench::{Case, OracleLimits, SelectError, Side, Wanted, select};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

pub(crate) struct ColumnsOperation;

impl Operation for ColumnsOperation {
    fn name(&self) -> &'static str {
        Columns::<f64>::NAME
    }
    fn about(&self) -> &'static str {
        Columns::<f64>::ABOUT
    }
    fn catalogue(&self, machine: Option<&Machine>) -> Vec<Listed> {
        catalogue::<Columns<f64>>(machine)
    }
    fn selects(&self, wanted: &Wanted, side: Side) -> Result<bool, SelectError> {
        Ok(!select::<Columns<f64>>(wanted, side)?.is_empty())
    }
    fn input_hint(&self) -> &'static str {
        "a size such as 358x5248 (rows × columns), a text file, a .npy file, or --suite ladder"
    }
    /// One recording of 64 sensors × 82 samples, a hundred of them, and a matrix as large with few columns.
    fn yardstick(&self, suite: Suite) -> Option<Yardstick> {
        let dtypes = &[Dtype::F32, Dtype::F64];
        match suite {
            Suite::Cpu => None,
            Suite::Gpu => Some(Yardstick {
                inputs: &["358x5248", "35800x5248", "1048576x512"],
                dtypes,
                ..Yardstick::default()
            }),
            Suite::Ladder => Some(Yardstick { inputs: &["358x5248"], dtypes, ..Yardstick::default() }),
        }
    }
    fn no_k(&self) -> Option<&'static str> {
        Some("columns has no K: its sizes are RxC, rows × columns")
    }
    fn has_groups(&self) -> bool {
        true
    }
    fn cases_per_input(&self, request: &Request) -> usize {
        request.dtypes.len() * request.groups.map_or(1, RowGroups::count)
    }
    fn run(&self, session: &mut Session<'_>, input: &str) -> anyhow::Result<()> {
        for_each_dtype(session, |session, dtype| with_scalar!(dtype, S => run_columns::<S>(session, input)))
    }
}

/// A matrix, what records call it, and how long it took to get it.
struct Matrix<S> {
    data: Dense<S>,
    name: Option<String>,
    reading: Vec<Stage>,
}

/// `358x5248`
fn parse_shape(text: &str) -> Option<Shape> {
    let (rows, cols) = text.split_once(['x', '×'])?;
    Some(Shape { rows: rows.parse().ok()?, cols: cols.parse().ok()? })
}

/// Reads a file.
fn read<S: Scalar>(input: &str, machine: &Machine) -> anyhow::Result<Matrix<S>> {
    let path = Path::new(input);
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
    if path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("npy")) {
        // As it stands in the file and as it is asked for.
        let elements =
            read_npy_shape(path)?.iter().try_fold(1_u64, |product, &side| product.checked_mul(side as u64));
        let bytes = elements.and_then(|elements| elements.checked_mul(2 * size_of::<f64>() as u64));
        machine.check_memory(format!("the matrix in {input}"), bytes)?;
        let start = Instant::now();
        let data = read_npy::<S>(path, Conversion::Allow)?;
        let ns = start.elapsed().as_nanos() as f64;
        let bytes = std::fs::metadata(path).map_or(0, |metadata| metadata.len());
        let reading = vec![Stage { name: "read the .npy file".into(), ns, bytes }];
        return Ok(Matrix { data, name, reading });
    }
    let known = path.exists();
    anyhow::ensure!(known, "`{input}` is neither a size such as 358x5248 (rows × columns) nor a file");
    let options = TextOptions {
        non_finite: NonFinite::Allow,
        max_bytes: machine.limits().memory_bytes,
        ..TextOptions::default()
    };
    let text = machine.pool().install(|| read_text_matrix::<S>(path, &options))?;
    let stage = |name: &str, ns| Stage { name: name.into(), ns, bytes: text.bytes };
    // The pages of a mapped file are read while they are parsed.
    let reading = if text.read_ns < 0.01 * text.parse_ns {
        vec![stage("read and parse the text", text.read_ns + text.parse_ns)]
    } else {
        vec![stage("read the text", text.read_ns), stage("parse the text", text.parse_ns)]
    };
    Ok(Matrix { data: text.matrix, name, reading })
}

/// The matrix of a file, which must fit with its statistics.
pub(crate) fn read_columns<S: Scalar>(input: &str, machine: &Machine) -> anyhow::Result<Dense<S>> {
    let data = read::<S>(input, machine)?.data;
    let shape = Shape { rows: data.rows(), cols: data.cols() };
    machine.check_memory(
        format!("a matrix of {shape} and the statistics of its columns"),
        bytes_needed::<S>(shape, 1),
    )?;
    Ok(data)
}

/// The matrix, and for every column the oracle's answer, what led to it, and the results of as many variants as are held.
fn bytes_needed<S: Scalar>(shape: Shape, held: usize) -> Option<u64> {
    const ORACLE_BYTES_PER_COLUMN: u64 = 24 * size_of::<f64>() as u64;
    /// As they are computed, as they are handed out, and as they are compared.
    const VARIANT_BYTES_PER_COLUMN: u64 = 12 * size_of::<f64>() as u64;
    let per_column =
        VARIANT_BYTES_PER_COLUMN.checked_mul(held as u64)?.checked_add(ORACLE_BYTES_PER_COLUMN)?;
    let results = (shape.cols as u64).checked_mul(per_column)?;
    count_elements(shape.rows, shape.cols)?.checked_mul(size_of::<S>() as u64)?.checked_add(results)
}

fn run_columns<S: Scalar>(session: &mut Session<'_>, input: &str) -> anyhow::Result<()> {
    let request = session.request();
    let seed = request.read.seed;
    let record = |shape: Shape, name: Option<String>, seed: Option<u64>| Record {
        matrix: name,
        rows: Some(shape.rows as u64),
        cols: Some(shape.cols as u64),
        dtype: S::NAME.into(),
        seed,
        ..Record::default()
    };
    let held = session.variants_held::<Columns<S>>()?;
    let what = |shape: Shape| format!("a matrix of {shape} and the statistics of its columns");
    let matrix = match parse_shape(input) {
        Some(shape) => {
            let bytes = bytes_needed::<S>(shape, held);
            if let Err(refusal) = request.machine.check_memory(what(shape), bytes) {
                return session.refuse_case::<Columns<S>>(&record(shape, None, Some(seed)), &refusal);
            }
            session.say(&format!("making a matrix of {shape}"));
            let data = random_dense::<S>(shape.rows, shape.cols, seed).context("the matrix")?;
            Matrix { data, name: None, reading: Vec::new() }
        }
        None => {
            session.say(&format!("reading {input}"));
            read::<S>(input, &request.machine)?
        }
    };
    if let Some(groups) = request.groups {
        return run_groups(session, matrix, groups, seed, record);
    }
    let Matrix { data, name, reading } = matrix;
    let shape = Shape { rows: data.rows(), cols: data.cols() };
    let record = record(shape, name, reading.is_empty().then_some(seed));
    let machine = request.machine.holding(0);
    if let Err(refusal) = machine.check_memory(what(shape), bytes_needed::<S>(shape, held)) {
        return session.refuse_case::<Columns<S>>(&record, &refusal);
    }
    // Statistics are f64 whatever the data are, and so is what rounding may do to them.
    let (precision, limits) = (Precision::of::<f64>(), OracleLimits::default());
    let first = session.records().len();
    let case = Case::<Columns<S>>::new(shape, Arc::new(data), precision, record, limits);
    session.run_case(&case.of_data(Precision::of::<S>()).holding(machine.held_bytes()))?;
    if request.measure.is_none() || session.interrupted() {
        return Ok(());
    }
    let reduced = session.records().len();
    let bytes = shape.elements().saturating_mul(size_of::<S>() as u64);
    match request.machine.check_memory("copying it there and back", bytes.checked_mul(3)) {
        Ok(()) if bytes > 0 => session.run_on_devices(&transfer_case(bytes as usize, seed))?,
        Ok(()) => {}
        Err(refusal) => session.show_below(format!("no copies measured: {refusal}")),
    }
    let (reductions, copies) = (&session.records()[first..reduced], &session.records()[reduced..]);
    let heading = format!("stages of {input}, {}", S::NAME);
    if let Some(table) = table::stages(&heading, &table::stages_of(reading, reductions, copies)) {
        session.show_below(table);
    }
    Ok(())
}

/// A case for every group of rows, as the launches of a recording that is cut by its offsets.
fn run_groups<S: Scalar>(
    session: &mut Session<'_>,
    Matrix { data, name, reading }: Matrix<S>,
    groups: RowGroups,
    seed: u64,
    record: impl Fn(Shape, Option<String>, Option<u64>) -> Record,
) -> anyhow::Result<()> {
    groups.check(data.rows())?;
    let (machine, held) = (session.request().machine.holding(0), session.variants_held::<Columns<S>>()?);
    let (whole, seed) = (Shape { rows: data.rows(), cols: data.cols() }, reading.is_empty().then_some(seed));
    if let Err(refusal) = check_groups_memory::<S>(&machine, whole, groups, held) {
        return session.refuse_case::<Columns<S>>(&record(whole, name, seed), &refusal);
    }
    for group in 0..groups.count() {
        let rows = groups.take(&data, group)?;
        let shape = Shape { rows: rows.rows(), cols: rows.cols() };
        let of = name.clone().unwrap_or_else(|| format!("{}x{}", whole.rows, whole.cols));
        let record = record(shape, Some(groups.name(group, &of)), seed);
        let (precision, limits) = (Precision::of::<f64>(), OracleLimits::default());
        let case = Case::<Columns<S>>::new(shape, Arc::new(rows), precision, record, limits);
        session.run_case(&case.of_data(Precision::of::<S>()).holding(machine.held_bytes()))?;
        if session.interrupted() {
            break;
        }
    }
    Ok(())
}

/// A matrix stays while its groups are copied and reduced, one after the other.
pub(crate) fn check_groups_memory<S: Scalar>(
    machine: &Machine,
    whole: Shape,
    groups: RowGroups,
    held: usize,
) -> Result<(), Refusal> {
    let largest = Shape { rows: groups.most_rows(whole.rows), ..whole };
    let needed = || {
        let all = count_elements(whole.rows, whole.cols)?.checked_mul(size_of::<S>() as u64)?;
        all.checked_add(bytes_needed::<S>(largest, held)?)
    };
    let count = groups.count();
    let what = format!("a matrix of {whole}, one of its {count} groups and the statistics of that");
    machine.check_memory(what, needed())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_two_sides() {
        assert_eq!(parse_shape("358x5248"), Some(Shape { rows: 358, cols: 5248 }));
        assert_eq!(parse_shape("0×3"), Some(Shape { rows: 0, cols: 3 }));
        for file in ["target.txt", "x", "3", "1x2x3", "ax2", "-1x2"] {
            assert_eq!(parse_shape(file), None, "{file}");
        }
    }
}
