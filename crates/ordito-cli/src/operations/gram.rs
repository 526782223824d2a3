//! `gram`

use crate::args::{Dtype, with_scalar};
use crate::operations::gemm::padded;
use crate::operations::operation::{Listed, Operation, catalogue, count_elements, for_each_dtype};
use crate::request::Request;
use crate::session::Session;
use crate::suite::{Suite, Yardstick};
use anyhow::Context;
use ordito::Scalar;
use ordito::machine::Machine;
use ordito::matrix::random_dense;
use ordito::op::{ORACLE_BYTES_PER_ELEMENT, Op};
use ordito::refusal::Refusal;
use ordito::tall_skinny::Sums;
use ordito::tall_skinny::gram::{Gram, Inputs, Shape};
use ordito_bench::check::Precision;
use ordito_bench::report::Record;
use ordito_bench::workbench::{Case, OracleLimits, SelectError, Side, Wanted, select};
use std::sync::Arc;

pub(crate) struct GramOperation;

impl Operation for GramOperation {
    fn name(&self) -> &'static str {
        Gram::<f64>::NAME
    }
    fn about(&self) -> &'static str {
        Gram::<f64>::ABOUT
    }
    fn catalogue(&self, machine: Option<&Machine>) -> Vec<Listed> {
        catalogue::<Gram<f64>>(machine)
    }
    fn selects(&self, wanted: &Wanted, side: Side) -> Result<bool, SelectError> {
        Ok(!select::<Gram<f64>>(wanted, side)?.is_empty())
    }
    fn input_hint(&self) -> &'static str {
        "a size such as 100000x8 for XᵀX, or 100000x8x16 for XᵀY, or --suite gpu"
    }
    /// One block, and what a solver multiplies of three blocks.
    fn yardstick(&self, suite: Suite) -> Option<Yardstick> {
        let sizes = Yardstick {
            inputs: &["10000x8", "10000x24x16", "1000000x8", "1000000x32", "1000000x24x16"],
            dtypes: &[Dtype::F32, Dtype::F64],
            ..Yardstick::default()
        };
        (suite == Suite::Gpu).then_some(sizes)
    }
    fn no_k(&self) -> Option<&'static str> {
        Some("gram has no K: its sizes are RxP, rows × columns of X, or RxPxQ with the columns of Y")
    }
    fn has_pads(&self) -> bool {
        true
    }
    fn cases_per_input(&self, request: &Request) -> usize {
        request.dtypes.len() * request.pads.len()
    }
    fn run(&self, session: &mut Session<'_>, input: &str) -> anyhow::Result<()> {
        let shape = parse_shape(input)?;
        for_each_dtype(session, |session, dtype| {
            for pad in session.request().pads.clone() {
                if !session.interrupted() {
                    with_scalar!(dtype, S => run_gram::<S>(session, shape, pad))?;
                }
            }
            Ok(())
        })
    }
}

/// `100000x8`, or `100000x8x16` where X and Y differ.
fn parse_shape(text: &str) -> anyhow::Result<Shape> {
    let sides: Option<Vec<usize>> = text.split(['x', '×']).map(|side| side.parse().ok()).collect();
    let (rows, x_cols, y_cols, symmetric) = match sides.as_deref() {
        Some(&[rows, cols]) => (rows, cols, cols, true),
        Some(&[rows, x_cols, y_cols]) => (rows, x_cols, y_cols, false),
        _ => anyhow::bail!("`{text}` is no size; expected 100000x8, say, for XᵀX, or 100000x8x16 for XᵀY"),
    };
    Ok(Shape { rows, x_cols, y_cols, symmetric, sums: Sums::AsData })
}

/// G = XᵀY with random operands. Rows lie `pad` elements farther apart than they are long, with NaN between them: what reads a gap is wrong.
fn run_gram<S: Scalar>(session: &mut Session<'_>, shape: Shape, pad: usize) -> anyhow::Result<()> {
    let request = session.request();
    let (seed, limits) = (request.read.seed, OracleLimits::default());
    let Shape { rows, x_cols, y_cols, symmetric, .. } = shape;
    let count = |number: usize| Some(number as u64);
    let sizes = if symmetric {
        Record { rows: count(rows), cols: count(x_cols), ..Record::default() }
    } else {
        Record { n: count(rows), m: count(x_cols), p: count(y_cols), ..Record::default() }
    };
    let pad_of_record = (pad > 0).then_some(pad as u64);
    let record = Record { pad: pad_of_record, dtype: S::NAME.into(), seed: Some(seed), ..sizes };
    let all_g = session.variants_held::<Gram<S>>()? + 1;
    let machine = request.machine.holding(0);
    if let Err(refusal) = check_memory::<S>(&machine, shape, pad, all_g) {
        return session.refuse_case::<Gram<S>>(&record, &refusal);
    }
    session.say(&format!("making blocks of {shape}"));
    let random = |what: &'static str, cols, stream| {
        let dense = random_dense::<S>(rows, cols, seed.wrapping_add(stream));
        dense.and_then(|dense| padded(dense, pad)).map(Arc::new).context(what)
    };
    let x = random("X", x_cols, 0)?;
    let y = if symmetric { x.clone() } else { random("Y", y_cols, 1)? };
    // Inner products are f64 whatever the data are, and so is what rounding may do to them.
    let case = Case::<Gram<S>>::new(shape, Inputs { x, y }, Precision::of::<f64>(), record, limits);
    session.run_case(&case.of_data(Precision::of::<S>()).holding(machine.held_bytes()))
}

/// X, Y, so many G and the oracle's answer must fit.
fn check_memory<S: Scalar>(machine: &Machine, shape: Shape, pad: usize, all_g: usize) -> Result<(), Refusal> {
    let Shape { rows, x_cols, y_cols, symmetric, .. } = shape;
    let needed = || {
        let cols = x_cols.checked_add(pad)?;
        let cols = if symmetric { cols } else { cols.checked_add(y_cols)?.checked_add(pad)? };
        let per_element = (all_g * size_of::<f64>()) as u64 + ORACLE_BYTES_PER_ELEMENT;
        let of_g = count_elements(x_cols, y_cols)?.checked_mul(per_element)?;
        count_elements(rows, cols)?.checked_mul(size_of::<S>() as u64)?.checked_add(of_g)
    };
    machine.check_memory(format!("blocks of {shape}, {all_g} times G and their check"), needed())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_are_two_sides_or_three() {
        let found = |text| {
            let Shape { rows, x_cols, y_cols, symmetric, .. } = parse_shape(text).unwrap();
            (rows, x_cols, y_cols, symmetric)
        };
        assert_eq!(found("100000x8"), (100_000, 8, 8, true));
        assert_eq!(found("5×1×0"), (5, 1, 0, false));
        for wrong in ["", "x", "10", "1x2x3x4", "-1x2", "99999999999999999999x1"] {
            assert!(parse_shape(wrong).unwrap_err().to_string().contains("100000x8x16"), "{wrong}");
        }
    }
}
