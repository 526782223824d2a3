//! What the spmm kernels over tiles of columns promise beyond the bound: what a row does not have never reaches its
//! sum, whatever X holds there, and every run gives the same bits.

use crate::common::{Shape, Values, dense, fill};
use crate::spmm::{SCALINGS, assert_exact, spmm_case, with_gaps};
use crate::{bench, cuda_variants, prepare};
use ordito::Scalar;
use ordito::machine::{Accelerator, Interrupt};
use ordito::matrix::Random;
use ordito::matrix::{Coo, Csr, Dense, Duplicates};
use ordito::op::{Extent, Op, Variant};
use ordito::spmm::{Inputs, Product, Spmm, Subject};
use std::sync::Arc;

/// The header that all of these kernels include, and nobody else.
const HEADER: &str = "few.cuh";

/// The kernel that runs behind those that cut long rows.
pub(crate) const ADDS_PARTS: &str = "add_parts";

/// One column, K of a whole tile with wide loads, and of one and a bit with loads of one element.
const KS: [usize; 3] = [1, 8, 33];

fn fast_variants<S: Scalar>() -> Vec<&'static dyn Variant<Spmm<S>>> {
    let is_fast = |variant: &&dyn Variant<Spmm<S>>| {
        variant.kernels().iter().any(|kernel| kernel.headers.iter().any(|(name, _)| *name == HEADER))
    };
    let fast: Vec<_> = cuda_variants::<Spmm<S>>().filter(is_fast).collect();
    assert!(!fast.is_empty(), "no kernel includes {HEADER}");
    fast
}

/// Neighbours that share most of their columns; rows without any; and one long row, cut into parts, whose neighbours have
/// few of its columns.
fn sharing() -> [Shape; 3] {
    let shape = |name: &str, rows, cols, places| Shape { name: name.into(), rows, cols, places };
    let band =
        (0..41_u32).flat_map(|row| (row.saturating_sub(2)..(row + 3).min(41)).map(move |col| (row, col)));
    let every_third =
        (1..50_u32).step_by(3).flat_map(|row| [0, 7, 20].map(|more| (row, (row * 5 + more) % 41)));
    let long = (0..20_u32).flat_map(|row| {
        let columns = if row == 9 { (0..600).collect() } else { vec![7 * row, 7 * row + 1, 300 + row] };
        columns.into_iter().map(move |col| (row, col))
    });
    [
        shape("band", 41, 41, band.collect()),
        shape("empty rows", 50, 41, every_third.collect()),
        shape("one long row", 20, 600, long.collect()),
    ]
}

/// Infinities and NaN in turn.
fn odd<S: Scalar>(number: usize) -> S {
    S::from_f64([f64::INFINITY, f64::NEG_INFINITY, f64::NAN][number % 3])
}

/// Integers, and now and then an infinity.
fn odd_matrix<S: Scalar>(shape: &Shape, k: usize) -> Subject<S> {
    let coo = fill::<S>(shape, Values::Integers);
    let values = coo.values().iter().enumerate();
    let values = values.map(|(i, &value)| if i % 37 == 5 { odd(i % 2) } else { value }).collect();
    let (rows, cols) = shape.places.iter().copied().unzip();
    let coo = Coo::new(shape.rows, shape.cols, rows, cols, values).unwrap();
    let a = Arc::new(Csr::from_coo(&coo, Duplicates::Keep));
    Subject { a, triplets: Some(Arc::new(coo)), k }
}

/// Integers with infinities and NaN, all over the first row, which is what padding would read; every fourth column has none,
/// so that also long rows have finite sums.
fn odd_dense<S: Scalar>(rows: usize, k: usize, gap: usize) -> Dense<S> {
    let mut x = dense::<S>(rows, k, gap, Values::Integers, 3);
    for row in 0..rows {
        for col in (0..k).filter(|col| col % 4 != 1) {
            if row == 0 || (7 * row + 3 * col) % 13 == 0 {
                x.data_mut()[row * (k + gap) + col] = odd(row + col);
            }
        }
    }
    x
}

/// αAX + βY by the oracle's rules where X, A and Y hold infinities and NaN: a row sees only what it has, and with β = 0
/// nothing of Y.
fn odd_numbers_stay_where_they_belong<S: Scalar>(accelerator: Accelerator) {
    let cases = |_, _| sharing().len() * KS.len() * SCALINGS.len();
    let Some(bench) = bench::<Spmm<S>>(accelerator, cases) else { return };
    let (mut results, mut kinds) = (0, [0; 3]);
    for shape in sharing() {
        for k in KS {
            let subject = odd_matrix::<S>(&shape, k);
            let mut ready: Vec<_> = fast_variants::<S>()
                .into_iter()
                .filter_map(|variant| Some((variant.name(), prepare(&bench.machine, variant, &subject)?)))
                .collect();
            for (number, (alpha, beta)) in SCALINGS.into_iter().enumerate() {
                let gap = number % 2 * 3; // loads are wide without one
                let y = match beta {
                    0.0 => Dense::filled(shape.rows, k, S::POISON).unwrap(),
                    _ => odd_dense(shape.rows, k, gap),
                };
                let (alpha, beta) = (S::from_f64(alpha), S::from_f64(beta));
                let x = Arc::new(odd_dense(shape.cols, k, gap));
                let inputs = Inputs { x, alpha, beta, y: Some(Arc::new(y)) };
                for expected in
                    Spmm::oracle(&subject, &inputs, Extent::Whole, &Interrupt::default()).unwrap().expected
                {
                    let kind = if expected.is_nan() { 0 } else { 1 + usize::from(expected.is_finite()) };
                    kinds[kind] += 1;
                }
                for (name, ready) in &mut ready {
                    let what = format!("{name}, {}, k = {k}, {alpha} and {beta}, {}", shape.name, S::NAME);
                    assert_exact(&mut **ready, &subject, &inputs, &what);
                    results += 1;
                }
            }
        }
    }
    assert!(kinds.iter().all(|&count| count > 1000), "too few of NaN, infinite, finite: {kinds:?}");
    println!("spmm {} on {accelerator:?}: {results} results exact with infinities and NaN", S::NAME);
}

/// Rows of 0 to 20 nonzeros and one of 3000: longer than what any of the kernels leaves whole.
fn skewed() -> Shape {
    let (rows, cols) = (129, 3000);
    let mut random = Random::new(11, 4);
    let mut places: Vec<(u32, u32)> = (0..cols as u32).map(|col| (64, col)).collect();
    for row in (0..rows as u32).filter(|&row| row != 64) {
        places.extend((0..random.below(21)).map(|_| (row, random.below(cols as u64) as u32)));
    }
    Shape { name: "skewed".into(), rows, cols, places }
}

fn bits_of_a_run<S: Scalar>(ready: &mut dyn Product<S>) -> Vec<u64> {
    ready.reset().unwrap();
    ready.run().unwrap();
    ready.fetch().unwrap().data().iter().map(|y| y.to_f64().to_bits()).collect()
}

/// Every run, and whoever prepares it anew, gets the same bits of sums that depend on the order of the additions.
fn same_bits_in_every_run<S: Scalar>(accelerator: Accelerator) {
    let Some(bench) = bench::<Spmm<S>>(accelerator, |_, _| KS.len()) else { return };
    let runs = if bench.part { 3 } else { 10 };
    let shape = skewed();
    for k in KS {
        let (subject, inputs) = spmm_case::<S>(&shape, Values::Reals, k);
        for variant in fast_variants::<S>() {
            let what = format!("{}, k = {k}, {}", variant.name(), S::NAME);
            let prepared = || {
                let mut ready = prepare(&bench.machine, variant, &subject)?;
                ready.load(&inputs).unwrap();
                Some(ready)
            };
            let Some(mut ready) = prepared() else { continue };
            // Where a lane has a whole row of X, the last warp of a long row adds up its parts.
            let in_place = variant.name() == "sell-cuda-sorted" && k * size_of::<S>() <= 32;
            let cuts = !in_place && variant.kernels().iter().any(|kernel| kernel.entry == ADDS_PARTS);
            assert_eq!(ready.launches().iter().any(|launch| launch.kernel == ADDS_PARTS), cuts, "{what}");
            let first = bits_of_a_run(&mut *ready);
            assert!(first.iter().all(|&bits| f64::from_bits(bits).is_finite()), "{what} left something out");
            for run in 1..runs {
                assert!(bits_of_a_run(&mut *ready) == first, "{what}: run {run} differs");
            }
            let mut again = prepared().unwrap();
            assert!(bits_of_a_run(&mut *again) == first, "{what}: differs when prepared again");
        }
    }
}

/// Two rows of so many parts that they lie in several blocks, and that a warp which adds them up takes more than one step.
fn parts_of_several_blocks<S: Scalar>(accelerator: Accelerator) {
    const KS: [usize; 3] = [1, 3, 36];
    const LENGTH: u32 = 17_000; // kernels' parts have 256 to 4096 nonzeros here
    let Some(bench) = bench::<Spmm<S>>(accelerator, |_, _| KS.len()) else { return };
    let long = [3, 4].into_iter().flat_map(|row| (row..row + LENGTH).map(move |col| (row, col)));
    let short = (0..40).filter(|row| ![3, 4].contains(row)).map(|row| (row, 9 * row));
    let places = short.chain(long).collect();
    let shape = Shape { name: "two huge rows".into(), rows: 40, cols: LENGTH as usize + 4, places };
    let variants = fast_variants::<S>().into_iter().filter(|variant| {
        variant.name() == "sell-cuda-sorted" || variant.name().starts_with("csr-cuda-rows")
    });
    for (variant, k) in variants.flat_map(|variant| KS.map(|k| (variant, k))) {
        let (subject, _) = spmm_case::<S>(&shape, Values::Integers, k);
        let Some(mut ready) = prepare(&bench.machine, variant, &subject) else { continue };
        let blocks = ready.launches()[0].plan.blocks();
        // Were no row cut, kernels of rows would have 7 at K = 1; they have 12 or more.
        let too_few = if variant.name().starts_with("csr-cuda-rows") { 8 } else { 4 };
        assert!(blocks > too_few, "{}: {blocks} blocks hold all parts", variant.name());
        let what = format!("{}, {}, k = {k}, {}", variant.name(), shape.name, S::NAME);
        assert_exact(&mut *ready, &subject, &with_gaps(&shape, k, SCALINGS[2]), &what);
    }
}

#[test]
fn emulator_parts_of_several_blocks() {
    parts_of_several_blocks::<f32>(Accelerator::Emulator);
    parts_of_several_blocks::<f64>(Accelerator::Emulator);
}
#[test]
fn gpu_parts_of_several_blocks() {
    parts_of_several_blocks::<f32>(Accelerator::Cuda(0));
    parts_of_several_blocks::<f64>(Accelerator::Cuda(0));
}
#[test]
fn emulator_odd_numbers_stay_where_they_belong() {
    odd_numbers_stay_where_they_belong::<f32>(Accelerator::Emulator);
    odd_numbers_stay_where_they_belong::<f64>(Accelerator::Emulator);
}
#[test]
fn gpu_odd_numbers_stay_where_they_belong() {
    odd_numbers_stay_where_they_belong::<f32>(Accelerator::Cuda(0));
    odd_numbers_stay_where_they_belong::<f64>(Accelerator::Cuda(0));
}
#[test]
fn emulator_same_bits_in_every_run() {
    same_bits_in_every_run::<f32>(Accelerator::Emulator);
    same_bits_in_every_run::<f64>(Accelerator::Emulator);
}
#[test]
fn gpu_same_bits_in_every_run() {
    same_bits_in_every_run::<f32>(Accelerator::Cuda(0));
    same_bits_in_every_run::<f64>(Accelerator::Cuda(0));
}
