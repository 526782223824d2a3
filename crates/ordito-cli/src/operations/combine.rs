//! `combine`

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
use ordito::tall_skinny::combine::{Combine, Inputs, Shape};
use ordito_bench::check::Precision;
use ordito_bench::report::Record;
use ordito_bench::workbench::{Case, OracleLimits, SelectError, Side, Wanted, select};
use std::sync::Arc;

pub(crate) struct CombineOperation;

impl Operation for CombineOperation {
    fn name(&self) -> &'static str {
        Combine::<f64>::NAME
    }
    fn about(&self) -> &'static str {
        Combine::<f64>::ABOUT
    }
    fn catalogue(&self, machine: Option<&Machine>) -> Vec<Listed> {
        catalogue::<Combine<f64>>(machine)
    }
    fn selects(&self, wanted: &Wanted, side: Side) -> Result<bool, SelectError> {
        Ok(!select::<Combine<f64>>(wanted, side)?.is_empty())
    }
    fn input_hint(&self) -> &'static str {
        "a size such as 100000x24x16 for Y of 16 columns out of X of 24, or --suite gpu"
    }
    /// A block, and what a solver makes of three blocks.
    fn yardstick(&self, suite: Suite) -> Option<Yardstick> {
        let sizes = Yardstick {
            inputs: &["10000x24x16", "1000000x8x8", "1000000x24x16", "1000000x32x32"],
            dtypes: &[Dtype::F32, Dtype::F64],
            ..Yardstick::default()
        };
        (suite == Suite::Gpu).then_some(sizes)
    }
    fn no_k(&self) -> Option<&'static str> {
        Some("combine has no K: its sizes are RxPxQ, rows × columns of X × columns of Y")
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
                    with_scalar!(dtype, S => run_combine::<S>(session, shape, pad))?;
                }
            }
            Ok(())
        })
    }
}

/// `100000x24x16`
fn parse_shape(text: &str) -> anyhow::Result<Shape> {
    let sides: Option<Vec<usize>> = text.split(['x', '×']).map(|side| side.parse().ok()).collect();
    match sides.as_deref() {
        Some(&[rows, x_cols, y_cols]) => Ok(Shape { rows, x_cols, y_cols }),
        _ => anyhow::bail!(
            "`{text}` is no size; expected 100000x24x16, say, for Y of 16 columns out of X of 24"
        ),
    }
}

/// Y = XC with random operands. Rows of X lie `pad` elements farther apart than they are long, with NaN between them: what reads a gap is
/// wrong.
fn run_combine<S: Scalar>(session: &mut Session<'_>, shape: Shape, pad: usize) -> anyhow::Result<()> {
    let request = session.request();
    let (seed, limits) = (request.read.seed, OracleLimits::default());
    let Shape { rows, x_cols, y_cols } = shape;
    let record = Record {
        n: Some(rows as u64),
        m: Some(x_cols as u64),
        p: Some(y_cols as u64),
        pad: (pad > 0).then_some(pad as u64),
        dtype: S::NAME.into(),
        seed: Some(seed),
        ..Record::default()
    };
    // One for each variant (fewer are fewer: --variant), and one more: a result is copied to be compared.
    let all_y = session.variants_held::<Combine<S>>()? + 1;
    let machine = request.machine.holding(0);
    if let Err(refusal) = check_memory::<S>(&machine, shape, pad, all_y, limits) {
        return session.refuse_case::<Combine<S>>(&record, &refusal);
    }
    session.say(&format!("making X and C of {shape}"));
    let random = |what: &'static str, rows, cols, stream, pad| {
        let dense = random_dense::<S>(rows, cols, seed.wrapping_add(stream));
        dense.and_then(|dense| padded(dense, pad)).map(Arc::new).context(what)
    };
    let inputs = Inputs { x: random("X", rows, x_cols, 0, pad)?, c: random("C", x_cols, y_cols, 1, 0)? };
    let case = Case::<Combine<S>>::new(shape, inputs, Precision::of::<S>(), record, limits);
    session.run_case(&case.holding(machine.held_bytes()))
}

/// X, C, so many Y and the oracle's answer must fit.
fn check_memory<S: Scalar>(
    machine: &Machine,
    shape: Shape,
    pad: usize,
    all_y: usize,
    limits: OracleLimits,
) -> Result<(), Refusal> {
    let Shape { rows, x_cols, y_cols } = shape;
    let needed = || {
        let y = count_elements(rows, y_cols)?;
        let dense = count_elements(rows, x_cols.checked_add(pad)?)?
            .checked_add(count_elements(x_cols, y_cols)?)?
            .checked_add(y.checked_mul(all_y as u64)?)?;
        // Sampled above its limit, and then as large as the limit at most.
        let answer = y.saturating_mul(ORACLE_BYTES_PER_ELEMENT).min(limits.bytes);
        dense.checked_mul(size_of::<S>() as u64)?.checked_add(answer)
    };
    let what = format!("X ({rows}×{x_cols}), {all_y} times Y ({rows}×{y_cols}) and their check");
    machine.check_memory(what, needed())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_are_three_sides() {
        let shape = |rows, x_cols, y_cols| Shape { rows, x_cols, y_cols };
        assert_eq!(parse_shape("100000x24x16").unwrap(), shape(100_000, 24, 16));
        assert_eq!(parse_shape("0×1×2").unwrap(), shape(0, 1, 2));
        for wrong in ["", "x", "10", "10x10", "1x2x3x4", "-1x2x3", "99999999999999999999x1x1"] {
            assert!(parse_shape(wrong).unwrap_err().to_string().contains("100000x24x16"), "{wrong}");
        }
    }
}
