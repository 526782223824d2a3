//! Statistics of columns.

use crate::{bench, columns, cuda_variants, prepare};
use ordito::Scalar;
use ordito::column_stats::{Columns, Shape as ColumnsShape};
use ordito::machine::Accelerator;
use ordito::op::{Computes, Op};
use ordito_bench::check::Precision;
use ordito_bench::report::{Outcome, Record};
use ordito_bench::workbench::{Case, OracleLimits, Side, Wanted, Workbench, select};

/// Shapes for the emulator: both sides of strips, warps, blocks and batches of rows in flight, once each.
const FEW_COLUMNS: [(usize, usize); 13] = [
    (0, 5),
    (5, 0),
    (1, 1),
    (1, 33),
    (31, 32),
    (33, 31),
    (63, 17),
    (64, 65),
    (65, 3),
    (129, 16),
    (257, 5),
    (358, 2),
    (1000, 1),
];

/// Long enough for several slices of rows in every kernel of ours.
const SLICED_COLUMNS: [(usize, usize); 2] = [(513, 33), (1100, 2)];

fn column_shapes(accelerator: Accelerator, part: bool) -> Vec<ColumnsShape> {
    match accelerator {
        Accelerator::Emulator if part => FEW_COLUMNS.map(|(rows, cols)| ColumnsShape { rows, cols }).into(),
        Accelerator::Emulator => columns::all_shapes(&[0, 1, 31, 33, 65, 129]).collect(),
        _ => columns::all_shapes(&columns::EDGES).collect(),
    }
}

fn column_cases(accelerator: Accelerator, part: bool) -> usize {
    column_shapes(accelerator, part).len()
}

/// Statistics of columns: real numbers within the bound, also on an offset; exact where that can be; the same bits in
/// every run; NaN and infinities where they belong.
pub(crate) fn columns_conform<S: Scalar>(accelerator: Accelerator) {
    let Some(bench) = bench::<Columns<S>>(accelerator, column_cases) else { return };
    let ours = select::<Columns<S>>(&Wanted::variants(["dense-cuda-strips-*"]), Side::Device).unwrap();
    let selected = select::<Columns<S>>(&Wanted::all(), Side::Device).unwrap();
    let shapes = column_shapes(accelerator, bench.part).into_iter().map(|shape| (shape, &selected));
    let sliced = SLICED_COLUMNS.map(|(rows, cols)| (ColumnsShape { rows, cols }, &ours));
    let mut passed = 0;
    for (index, (shape, selected)) in shapes.chain(sliced).enumerate() {
        let data = if index % 4 == 3 { columns::with_offset::<S>(shape) } else { columns::reals(shape) };
        let (precision, limits) = (Precision::of::<f64>(), OracleLimits::default());
        let case = Case::<Columns<S>>::new(shape, data, precision, Record::default(), limits);
        let case = case.of_data(Precision::of::<S>());
        for record in Workbench::new(&bench.machine).verify(&case, selected) {
            let fault = record.error.as_ref().or(record.refusal.as_ref());
            let what = format!("{shape}, {}: {}", S::NAME, record.variant);
            assert_eq!(record.outcome, Outcome::Passed, "{what}: {fault:?}");
            assert_eq!(
                record.partial.is_none(),
                shape.cols == 0 || !is_mean_only::<S>(&record.variant),
                "{what}"
            );
            passed += 1;
        }
    }
    let exact =
        if bench.part { &[(64, 33), (128, 3), (512, 2)][..] } else { &[(1, 70), (64, 129), (1024, 33)] };
    for &(rows, cols) in exact {
        let shape = ColumnsShape { rows, cols };
        for variant in cuda_variants::<Columns<S>>() {
            let what = format!("{}, {shape}", variant.name());
            let Some(mut ready) = prepare(&bench.machine, variant, &shape) else { panic!("{what} refused") };
            columns::assert_exact(&mut *ready, &columns::integers(shape), &what);
            if !is_mean_only::<S>(variant.name()) && rows > 1 {
                columns::assert_exact(&mut *ready, &columns::not_finite(shape), &what);
            }
        }
    }
    println!("columns {} on {accelerator:?}: {passed} results within the bound", S::NAME);
}

/// Of `auto` too, which never takes such a one.
fn is_mean_only<S: Scalar>(name: &str) -> bool {
    let variant = Columns::<S>::variant(name);
    variant.is_some_and(|variant| variant.describe().computes == Computes::MeanOnly)
}
