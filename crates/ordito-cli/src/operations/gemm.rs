//! `gemm`

use crate::args::{Dtype, with_scalar};
use crate::operations::operation::{Listed, Operation, catalogue, count_elements, for_each_dtype, left_open};
use crate::request::Request;
use crate::session::Session;
use crate::suite::{Suite, Yardstick};
use anyhow::Context;
use ordito::Scalar;
use ordito::device::Adjustable;
use ordito::gemm::{Gemm, Inputs, Shape};
use ordito::machine::Machine;
use ordito::matrix::{Dense, FormatError, random_dense};
use ordito::op::{ORACLE_BYTES_PER_ELEMENT, Op};
use ordito::refusal::Refusal;
use ordito_bench::check::Precision;
use ordito_bench::report::Record;
use ordito_bench::workbench::{Case, OracleLimits, SelectError, Side, Wanted, select};
use std::sync::Arc;

pub(crate) struct GemmOperation;

impl Operation for GemmOperation {
    fn name(&self) -> &'static str {
        Gemm::<f64>::NAME
    }
    fn about(&self) -> &'static str {
        Gemm::<f64>::ABOUT
    }
    fn catalogue(&self, machine: Option<&Machine>) -> Vec<Listed> {
        // Some variants have kernels in one precision only, and only there a machine may refuse them.
        let merge = |(in_f64, in_f32): (Listed, Listed)| {
            let refusal = in_f64.refusal.or(in_f32.refusal);
            Listed { refusal, files: [in_f64.files, in_f32.files].concat(), ..in_f64 }
        };
        catalogue::<Gemm<f64>>(machine).into_iter().zip(catalogue::<Gemm<f32>>(machine)).map(merge).collect()
    }
    fn selects(&self, wanted: &Wanted, side: Side) -> Result<bool, SelectError> {
        Ok(!select::<Gemm<f64>>(wanted, side)?.is_empty())
    }
    fn adjustable(&self, wanted: &Wanted) -> Result<Vec<Adjustable>, SelectError> {
        left_open::<Gemm<f64>>(wanted)
    }
    fn input_hint(&self) -> &'static str {
        "a size such as 1000, or 1000x777x1234 for an N×M times an M×P matrix, or --suite ladder"
    }
    fn yardstick(&self, suite: Suite) -> Option<Yardstick> {
        let ladder = Yardstick {
            inputs: &["100", "1000", "5000", "10000"],
            dtypes: &[Dtype::F32, Dtype::F64],
            ..Yardstick::default()
        };
        (suite == Suite::Ladder).then_some(ladder)
    }
    fn no_k(&self) -> Option<&'static str> {
        Some("gemm has no K: its sizes are N, or NxMxP for an N×M times an M×P matrix")
    }
    fn has_beta(&self) -> bool {
        true
    }
    fn has_pads(&self) -> bool {
        true
    }
    fn is_limited_by_products(&self) -> bool {
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
                    with_scalar!(dtype, S => run_gemm::<S>(session, shape, pad))?;
                }
            }
            Ok(())
        })
    }
}

/// `1000`, or `1000x777x1234` for N×M×P.
fn parse_shape(text: &str) -> anyhow::Result<Shape> {
    let sides: Option<Vec<usize>> = text.split(['x', '×']).map(|side| side.parse().ok()).collect();
    match sides.as_deref() {
        Some(&[n]) => Ok(Shape::square(n)),
        Some(&[n, m, p]) => Ok(Shape { m: n, k: m, n: p }),
        _ => anyhow::bail!(
            "`{text}` is no size; expected 1000, say, or 1000x777x1234 for an N×M times an M×P matrix"
        ),
    }
}

/// C = A·B + βC with random operands, and β = 1 if nothing else was said. Rows lie `pad` elements farther apart than they are
/// long, with NaN between them: what reads a gap is wrong.
fn run_gemm<S: Scalar>(session: &mut Session<'_>, shape: Shape, pad: usize) -> anyhow::Result<()> {
    let request = session.request();
    let (seed, limits) = (request.read.seed, OracleLimits::default());
    let (beta, Shape { m: n, k: m, n: p }) = (request.beta.unwrap_or(1.0), shape);
    let record = Record {
        beta: request.beta,
        n: Some(n as u64),
        m: Some(m as u64),
        p: Some(p as u64),
        pad: (pad > 0).then_some(pad as u64),
        dtype: S::NAME.into(),
        seed: Some(seed),
        ..Record::default()
    };
    anyhow::ensure!(S::from_f64(beta).is_finite(), "--beta {beta:e} is too large for {}", S::NAME);
    // C as it was, one for each variant (fewer are fewer: --variant), and one more: a result is copied to be compared.
    let all_c = session.variants_held::<Gemm<S>>()? + 2;
    let machine = request.machine.holding(0);
    if let Err(refusal) = check_memory::<S>(&machine, shape, pad, all_c, Some(limits)) {
        return session.refuse_case::<Gemm<S>>(&record, &refusal);
    }
    session.say(&format!("making A, B and C of {shape}"));
    let random = |what: &'static str, rows, cols, stream| {
        let dense =
            random_dense::<S>(rows, cols, seed.wrapping_add(stream)).and_then(|dense| padded(dense, pad));
        dense.map(Arc::new).context(what)
    };
    let (a, b) = (random("A", n, m, 0)?, random("B", m, p, 1)?);
    let inputs = match beta {
        0.0 if pad == 0 => Inputs::product(a, b),
        // A C that is not read still says how far apart the rows of the result lie.
        0.0 => {
            let unread = Dense::filled(n, p, S::POISON).and_then(|dense| padded(dense, pad)).context("C")?;
            Inputs { c: Some(Arc::new(unread)), ..Inputs::product(a, b) }
        }
        _ => Inputs { beta: S::from_f64(beta), ..Inputs::sum(a, b, random("C", n, p, 2)?) },
    };
    let case = Case::<Gemm<S>>::new(shape, inputs, Precision::of::<S>(), record, limits);
    session.run_case(&case.holding(machine.held_bytes()))
}

/// The same matrix with so many NaN behind every row.
pub(crate) fn padded<S: Scalar>(dense: Dense<S>, pad: usize) -> Result<Dense<S>, FormatError> {
    if pad == 0 {
        return Ok(dense);
    }
    let (rows, cols) = dense.shape();
    let distance = cols.checked_add(pad).ok_or(FormatError::TooManyElements { what: "a dense matrix" })?;
    let mut data = Dense::filled(rows, distance, S::POISON)?.into_data();
    for (row, to) in data.chunks_exact_mut(distance).enumerate() {
        to[..cols].copy_from_slice(dense.view().row(row));
    }
    Dense::with_leading_dimension(rows, cols, distance, data)
}

/// A, B, so many C (as it was, and the results that are held at a time) and the oracle's answer (if there is one) must fit.
/// `pad`: elements between their rows.
pub(crate) fn check_memory<S: Scalar>(
    machine: &Machine,
    shape: Shape,
    pad: usize,
    all_c: usize,
    oracle: Option<OracleLimits>,
) -> Result<(), Refusal> {
    let Shape { m: n, k: m, n: p } = shape;
    let elements = count_elements;
    let with_gaps = |rows: usize, cols: usize| elements(rows, cols.checked_add(pad)?);
    let needed = || {
        let all_c = with_gaps(n, p)?.checked_mul(all_c as u64)?;
        let dense = with_gaps(n, m)?.checked_add(with_gaps(m, p)?)?.checked_add(all_c)?;
        let answer = match oracle {
            // Sampled above its limit, and then as large as the limit at most.
            Some(limits) => elements(n, p)?.saturating_mul(ORACLE_BYTES_PER_ELEMENT).min(limits.bytes),
            None => 0,
        };
        dense.checked_mul(size_of::<S>() as u64)?.checked_add(answer)
    };
    let and_check = if oracle.is_some() { " and their check" } else { "" };
    let times = if all_c > 1 { format!("{all_c} times ") } else { String::new() };
    let apart = if pad > 0 { format!(", rows padded by {pad},") } else { String::new() };
    machine.check_memory(format!("A ({n}×{m}), B ({m}×{p}), {times}C ({n}×{p}){apart}{and_check}"), needed())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_nan_and_the_matrix_is_as_it_was() {
        let dense = Dense::from_rows(2, 3, vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap();
        assert_eq!(padded(dense.clone(), 0).unwrap(), dense);
        let apart = padded(dense, 2).unwrap();
        assert_eq!((apart.leading_dimension(), apart.view().row(1)), (5, &[4.0, 5.0, 6.0][..]));
        assert!(apart.data().chunks(5).all(|row| row[3..].iter().all(|gap: &f64| gap.is_nan())));
        let empty = padded(Dense::<f32>::zeros(3, 0).unwrap(), 4).unwrap();
        assert_eq!((empty.shape(), empty.leading_dimension()), ((3, 0), 4));
        assert!(padded(Dense::<f32>::zeros(1, 1).unwrap(), usize::MAX).is_err());
    }

    #[test]
    fn shapes_are_one_side_or_three() {
        assert_eq!(parse_shape("100").unwrap(), Shape::square(100));
        assert_eq!(parse_shape("1000x777x1234").unwrap(), Shape { m: 1000, k: 777, n: 1234 });
        assert_eq!(parse_shape("2x0x3").unwrap(), Shape { m: 2, k: 0, n: 3 });
        for wrong in ["", "x", "10x10", "1x2x3x4", "-1", "1e3", "99999999999999999999"] {
            let error = parse_shape(wrong).unwrap_err().to_string();
            assert!(error.contains("1000x777x1234"), "{error}");
        }
    }
}
