//! Every variant × every dtype × every case against the oracle. Outputs start as NaN and every run happens twice;
//! integer-valued operands must match exactly, real ones within the bound.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

#[path = "common/columns.rs"]
mod columns;
mod common;
#[path = "common/gemm.rs"]
mod gemm;
#[path = "common/spmm.rs"]
mod spmm;
#[path = "common/tall_skinny.rs"]
mod tall_skinny;

use common::{Values, fill, shapes};
use ordito::Scalar;
use ordito::column_stats::{self, Columns, Plan};
use ordito::cpu::{CpuInfo, SimdLevel};
use ordito::gemm::{Gemm, Shape};
use ordito::machine::{Limits, Machine};
use ordito::matrix::Dense;
use ordito::op::{Op, Place, Role, Variant};
use ordito::spmm::Spmm;
use ordito::tall_skinny::combine::Combine;
use ordito::tall_skinny::gram::Gram;
use ordito_bench::check::{Precision, Save};
use ordito_bench::convert::Convert;
use ordito_bench::report::{Outcome, Record};
use ordito_bench::workbench::{Case, OracleLimits, Side, Wanted, Workbench, select};
use spmm::{KS, SCALINGS, assert_exact, spmm_case, with_gaps};
use std::sync::Arc;

/// Several numbers of threads and every vector level this CPU has. `ORDITO_SIMD` keeps to one: a run with each of them has
/// every case at every level.
fn machines() -> Vec<Arc<Machine>> {
    let (cpu, is_one_level) = (CpuInfo::detect(), std::env::var_os("ORDITO_SIMD").is_some());
    let machine = |(threads, level)| {
        let simd = if is_one_level { cpu.simd } else { level };
        let cpu = CpuInfo { simd, ..cpu.clone() };
        Machine::new(cpu.clone(), threads, Limits::of(&cpu)).unwrap()
    };
    let levels = [(1, SimdLevel::Avx512), (2, SimdLevel::Portable), (5, SimdLevel::Avx2)];
    levels.into_iter().map(machine).collect()
}

/// Records of all variants; each must have passed.
fn all_pass<O: Save>(case: &Case<O>, machine: &Arc<Machine>, what: &str) -> usize {
    let records = Workbench::new(machine).verify(case, &select::<O>(&Wanted::all(), Side::Cpu).unwrap());
    for record in &records {
        let expected = if record.role == Some(Role::Faulty) { continue } else { Outcome::Passed };
        let fault = record.error.as_ref().or(record.refusal.as_ref());
        assert_eq!(record.outcome, expected, "{what}: {}: {fault:?}", record.variant);
    }
    records.len()
}

fn spmm_within_the_bound<S: Scalar>() {
    let (machines, mut runs) = (machines(), 0);
    for (index, shape) in shapes().into_iter().enumerate() {
        for (turn, k) in KS.into_iter().enumerate() {
            let (subject, inputs) = spmm_case::<S>(&shape, Values::Reals, k);
            let precision = Precision::of::<S>();
            let case =
                Case::<Spmm<S>>::new(subject, inputs, precision, Record::default(), OracleLimits::default());
            // Levels in turn: every width at every level is a test of its own.
            let machine = &machines[(index + turn) % machines.len()];
            let what = format!("{}, k = {k}, {}, {} threads", shape.name, S::NAME, machine.threads());
            runs += all_pass(&case, machine, &what);
        }
    }
    println!("spmm {}: {runs} results within the bound", S::NAME);
}

/// αAX + βY into rows with gaps: exact for integers, NaN in the gaps untouched.
fn spmm_exact_with_gaps<S: Scalar>() {
    let machines = machines();
    for (index, shape) in shapes().iter().enumerate() {
        for k in KS {
            let (subject, _) = spmm_case::<S>(shape, Values::Integers, k);
            for scaling in SCALINGS {
                let inputs = with_gaps(shape, k, scaling);
                let machine = &machines[(index + k) % machines.len()];
                for variant in cpu_variants::<Spmm<S>>() {
                    let what = format!("{}, {}, k = {k}, {scaling:?}", variant.name(), shape.name);
                    let mut ready = variant.prepare(machine, &subject).unwrap();
                    assert_exact(&mut *ready, &subject, &inputs, &what);
                }
            }
        }
    }
}

/// Every width that kernels are cut into, at every vector level, with X that is not finite here and there: exact, and NaN and
/// infinities only in rows of Y that have an entry there.
fn spmm_every_width<S: Scalar>() {
    let (shapes, machines) = (shapes(), machines());
    let wanted = ["staircase", "unsorted with duplicates", "scattered 33x33", "diagonals with holes"];
    for shape in shapes.iter().filter(|shape| wanted.iter().any(|name| shape.name.starts_with(name))) {
        for k in (1..=17).chain([20, 24, 28, 31, 32, 33, 40, 48, 49, 64, 65, 80, 96, 100, 129]) {
            let (subject, _) = spmm_case::<S>(shape, Values::Integers, k);
            let mut inputs = with_gaps(shape, k, (1.0, 0.0));
            let x = Arc::make_mut(&mut inputs.x);
            let distance = x.leading_dimension();
            for (row, odd) in [(3, f64::INFINITY), (7, f64::NAN), (20, f64::NEG_INFINITY)] {
                x.data_mut()[row * distance + row % k] = S::from_f64(odd);
            }
            for machine in &machines {
                for variant in cpu_variants::<Spmm<S>>() {
                    let level = machine.cpu().simd;
                    let what = format!("{}, {}, k = {k}, {level}", variant.name(), shape.name);
                    let mut ready = variant.prepare(machine, &subject).unwrap();
                    assert_exact(&mut *ready, &subject, &inputs, &what);
                }
            }
        }
    }
}

/// Those that `auto` may choose, or that cut rows.
fn shared_by_threads<S: Scalar>() -> impl Iterator<Item = &'static dyn Variant<Spmm<S>>> {
    let ours = |variant: &&dyn Variant<Spmm<S>>| {
        variant.describe().place == Place::Threads && variant.describe().role == Role::Ours
    };
    Spmm::<S>::variants().iter().copied().filter(ours)
}

/// Real numbers: the same bits on any number of threads.
fn threads_change_no_bit<S: Scalar>(shape: &common::Shape, k: usize, simd: SimdLevel) {
    let cpu = CpuInfo { simd, ..CpuInfo::detect() };
    let (subject, inputs) = spmm_case::<S>(shape, Values::Reals, k);
    for variant in shared_by_threads::<S>() {
        let product = |threads: usize| -> Vec<u64> {
            let machine = Machine::new(cpu.clone(), threads, Limits::of(&cpu)).unwrap();
            let mut ready = variant.prepare(&machine, &subject).unwrap();
            ready.load(&inputs).unwrap();
            ready.reset().unwrap();
            ready.run().unwrap();
            ready.fetch().unwrap().data().iter().map(|y| y.to_f64().to_bits()).collect()
        };
        let alone = product(1);
        for threads in [2, 3, 5, 8, 40] {
            let what = format!("{}, {}, k = {k}, {simd}, {threads} threads", variant.name(), shape.name);
            assert!(product(threads) == alone, "{what}");
        }
    }
}

/// One row is so long that threads share it. The second such row ends with a piece of seven entries, which has to be summed like
/// the row that it is for other threads.
#[test]
fn threads_may_share_a_row() {
    let (rows, cols) = (3000u32, 70_000u32);
    let long = (0..cols).map(|col| (1500, col)).chain((0..4 * 16 * 1024 + 7).map(|col| (640, col)));
    let places: Vec<(u32, u32)> =
        (0..rows).flat_map(|r| (0..r % 40).map(move |i| (r, i * 997 + r))).chain(long).collect();
    let shape =
        common::Shape { name: "one long row".into(), rows: rows as usize, cols: cols as usize, places };
    for k in [1, 3, 8, 16] {
        threads_change_no_bit::<f64>(&shape, k, CpuInfo::detect().simd);
    }
}

/// Few rows, but work for several threads: less than a window or a chunk of them for each, or nothing at all.
#[test]
fn threads_may_share_a_few_rows() {
    let rows_of = |name: &str, lengths: &[u32], cols: u32, distance: u32| {
        let row = |(row, &length): (usize, &u32)| {
            (0..length).map(move |i| (row as u32, (i * distance + row as u32) % cols)).collect::<Vec<_>>()
        };
        let places = lengths.iter().enumerate().flat_map(row).collect();
        common::Shape { name: name.into(), rows: lengths.len(), cols: cols as usize, places }
    };
    let lengths: Vec<u32> = (0..300).map(|row| 80 + row * 7919 % 50).collect();
    let mut nine = [1500; 9];
    nine[8] = 16_000;
    let shapes = [
        rows_of("300 rows, near columns", &lengths, 400, 3),
        rows_of("300 rows, far columns", &lengths, 99_991, 997),
        rows_of("nine rows", &nine, 16_001, 1),
    ];
    let levels = || SimdLevel::ALL.into_iter().filter(|&level| level <= CpuInfo::detect().simd);
    for (shape, simd) in shapes.iter().flat_map(|shape| levels().map(move |simd| (shape, simd))) {
        threads_change_no_bit::<f32>(shape, 1, simd);
        threads_change_no_bit::<f64>(shape, 1, simd);
    }
}

fn cpu_variants<O: Op>() -> impl Iterator<Item = &'static dyn Variant<O>> {
    let here = |variant: &&dyn Variant<O>| {
        variant.describe().place != Place::Cuda && variant.describe().role != Role::Faulty
    };
    O::variants().iter().copied().filter(here)
}

/// With β = 0 the old Y is not read: NaN there does not spread.
fn beta_zero_does_not_read_y<S: Scalar>() {
    let machine = Machine::with_threads(2).unwrap();
    let shape = &shapes()[12];
    let (subject, inputs) = spmm_case::<S>(shape, Values::Integers, 5);
    for variant in cpu_variants::<Spmm<S>>() {
        let mut ready = variant.prepare(&machine, &subject).unwrap();
        let mut y = Dense::filled(shape.rows, 5, S::POISON).unwrap();
        ready.apply(S::ONE, inputs.x.view(), S::ZERO, y.view_mut()).unwrap();
        assert!(y.data().iter().all(|y| y.is_finite()), "{} reads Y", variant.name());
        ready.apply(S::ONE, inputs.x.view(), S::ONE, y.view_mut()).unwrap();
        let short = Dense::filled(shape.cols + 1, 5, S::ONE).unwrap();
        assert!(ready.apply(S::ONE, short.view(), S::ZERO, y.view_mut()).is_err());
    }
}

fn convert_is_exact<S: Scalar>() {
    let (machines, mut runs) = (machines(), 0);
    for shape in shapes() {
        let coo = Arc::new(fill::<S>(&shape, Values::Reals));
        let precision = Precision::of::<S>();
        let case = Case::<Convert<S>>::new(coo, (), precision, Record::default(), OracleLimits::default());
        for machine in &machines {
            runs += all_pass(&case, machine, &format!("{}, {} threads", shape.name, machine.threads()));
        }
    }
    println!("convert {}: {runs} results equal", S::NAME);
}

/// C = C + A·B of every shape on the edges, and one far from them, on one thread and on two.
fn gemm_within_the_bound<S: Scalar>() {
    let machines = [1, 2].map(|threads| Machine::with_threads(threads).unwrap());
    let mut runs = 0;
    let shapes = gemm::all_shapes(&gemm::EDGES).chain([Shape { m: 1000, k: 777, n: 1234 }]);
    for (index, shape) in shapes.enumerate() {
        let (inputs, precision) = (gemm::gemm_case::<S>(shape), Precision::of::<S>());
        let case = Case::<Gemm<S>>::new(shape, inputs, precision, Record::default(), OracleLimits::default());
        let machine = &machines[index % machines.len()];
        runs += all_pass(&case, machine, &format!("{shape}, {}, {} threads", S::NAME, machine.threads()));
    }
    println!("gemm {}: {runs} results within the bound", S::NAME);
}

/// αAB + βC in rows with gaps: exact for integers, NaN in the gaps and in what is not read.
fn gemm_exact_with_gaps<S: Scalar>() {
    let machines = [1, 2].map(|threads| Machine::with_threads(threads).unwrap());
    let mut runs = 0;
    for shape in gemm::all_shapes(&[0, 1, 7, 32, 33, 64, 129]) {
        for scaling in gemm::scalings() {
            let inputs = gemm::with_gaps::<S>(shape, scaling);
            for variant in cpu_variants::<Gemm<S>>() {
                let machine = &machines[runs % machines.len()];
                let what = format!("{}, {shape}, {scaling:?}", variant.name());
                let mut ready = variant.prepare(machine, &shape).unwrap();
                gemm::assert_exact(&mut *ready, shape, &inputs, &what);
                runs += 1;
            }
        }
    }
    println!("gemm {}: {runs} results exact", S::NAME);
}

/// Few columns, of which several rows are added up at once: rows that come out even, and rows that do not.
fn few_columns() -> impl Iterator<Item = column_stats::Shape> {
    let cols = [1, 2, 3, 5, 7, 12, 16, 17].into_iter();
    cols.flat_map(|cols| [66, 1023, 4096, 20_011].map(move |rows| column_stats::Shape { rows, cols }))
}

/// Statistics of columns on one thread, on two and on five.
fn columns_within_the_bound<S: Scalar>() {
    let machines = machines();
    let mut runs = 0;
    let shapes = || columns::all_shapes(&columns::EDGES).chain(few_columns());
    let reals = shapes().map(|shape| (shape, columns::reals::<S>(shape)));
    let offset = shapes().step_by(7).map(|shape| (shape, columns::with_offset(shape)));
    for (index, (shape, data)) in reals.chain(offset).enumerate() {
        let (precision, limits) = (Precision::of::<f64>(), OracleLimits::default());
        let case = Case::<Columns<S>>::new(shape, data, precision, Record::default(), limits);
        let case = case.of_data(Precision::of::<S>());
        let machine = &machines[index % machines.len()];
        runs += all_pass(&case, machine, &format!("{shape}, {}, {} threads", S::NAME, machine.threads()));
    }
    println!("columns {}: {runs} results within the bound", S::NAME);
}

/// Integers in rows with gaps, and columns that hold something that is not finite.
fn columns_exact_with_gaps<S: Scalar>() {
    let machines = machines();
    let shapes = columns::all_shapes(&[0, 1, 31, 64, 257, 512]).chain(few_columns());
    for (index, shape) in shapes.enumerate() {
        let machine = &machines[index % machines.len()];
        for variant in cpu_variants::<Columns<S>>() {
            let what = format!("{}, {shape}", variant.name());
            let mut ready = variant.prepare(machine, &shape).unwrap();
            columns::assert_exact(&mut *ready, &columns::integers(shape), &what);
            if shape.rows > 1 {
                columns::assert_exact(&mut *ready, &columns::not_finite(shape), &what);
            }
        }
    }
}

/// The variance of f32 noise around 1 on an offset of 30 000, as it would be without the offset.
#[test]
fn an_offset_costs_no_digits_of_the_variance() {
    let machine = Machine::with_threads(2).unwrap();
    let shape = column_stats::Shape { rows: 1000, cols: 40 };
    let raised = columns::with_offset::<f32>(shape);
    let lowered: Vec<f32> = raised.data().iter().map(|x| x - 30_000.0).collect(); // exact
    let lowered = Dense::from_rows(shape.rows, shape.cols, lowered).unwrap();
    for variant in cpu_variants::<Columns<f32>>() {
        let mut plan = Plan::<f32>::with_variant(variant.name(), shape, &machine).unwrap();
        let found = [raised.view(), lowered.view()].map(|data| plan.apply(data).unwrap());
        for (raised, lowered) in found[0].variance.iter().zip(&found[1].variance) {
            assert!((raised - lowered).abs() <= 1e-12 * lowered, "{}: {raised} {lowered}", variant.name());
        }
    }
}

/// Inner products and combinations: real numbers within the bound, whole ones exactly.
fn tall_skinny_conforms<S: Scalar>() {
    let (machines, limits) = (machines(), OracleLimits::default());
    for (index, sizes) in tall_skinny::SIZES.into_iter().enumerate() {
        let machine = &machines[index % machines.len()];
        for symmetric in [false, true] {
            let shape = tall_skinny::gram_shape(sizes, symmetric);
            let inputs = tall_skinny::gram_case::<S>(shape, Values::Reals);
            let case = Case::<Gram<S>>::new(shape, inputs, Precision::of::<f64>(), Record::default(), limits);
            all_pass(&case.of_data(Precision::of::<S>()), machine, &format!("{shape}, {}", S::NAME));
            for variant in cpu_variants::<Gram<S>>() {
                let mut ready = variant.prepare(machine, &shape).unwrap();
                tall_skinny::assert_exact_gram(&mut *ready, shape, &format!("{}, {shape}", variant.name()));
            }
        }
        let shape = tall_skinny::combine_shape(sizes);
        let inputs = tall_skinny::combine_case::<S>(shape, Values::Reals);
        let case = Case::<Combine<S>>::new(shape, inputs, Precision::of::<S>(), Record::default(), limits);
        all_pass(&case, machine, &format!("{shape}, {}", S::NAME));
        for variant in cpu_variants::<Combine<S>>() {
            let mut ready = variant.prepare(machine, &shape).unwrap();
            tall_skinny::assert_exact_combine(&mut *ready, shape, &format!("{}, {shape}", variant.name()));
        }
    }
}

#[test]
fn tall_and_skinny_blocks_conform() {
    tall_skinny_conforms::<f32>();
    tall_skinny_conforms::<f64>();
}
#[test]
fn columns_f32_within_the_bound() {
    columns_within_the_bound::<f32>();
}
#[test]
fn columns_f64_within_the_bound() {
    columns_within_the_bound::<f64>();
}
#[test]
fn columns_exact() {
    columns_exact_with_gaps::<f32>();
    columns_exact_with_gaps::<f64>();
}
#[test]
fn gemm_f32_within_the_bound() {
    gemm_within_the_bound::<f32>();
}
#[test]
fn gemm_f64_within_the_bound() {
    gemm_within_the_bound::<f64>();
}
#[test]
fn gemm_f32_exact_with_gaps() {
    gemm_exact_with_gaps::<f32>();
}
#[test]
fn gemm_f64_exact_with_gaps() {
    gemm_exact_with_gaps::<f64>();
}
#[test]
fn spmm_f32_within_the_bound() {
    spmm_within_the_bound::<f32>();
}
#[test]
fn spmm_f64_within_the_bound() {
    spmm_within_the_bound::<f64>();
}
#[test]
fn spmm_f32_exact_with_gaps() {
    spmm_exact_with_gaps::<f32>();
}
#[test]
fn spmm_f64_exact_with_gaps() {
    spmm_exact_with_gaps::<f64>();
}
#[test]
fn spmm_every_width_at_every_level() {
    spmm_every_width::<f32>();
    spmm_every_width::<f64>();
}
#[test]
fn spmm_with_beta_zero_does_not_read_y() {
    beta_zero_does_not_read_y::<f32>();
    beta_zero_does_not_read_y::<f64>();
}
#[test]
fn convert_f32_is_exact() {
    convert_is_exact::<f32>();
}
#[test]
fn convert_f64_is_exact() {
    convert_is_exact::<f64>();
}

/// Above the limits of the oracle a sample of rows and a projection judge.
#[test]
fn a_sampled_oracle_passes_what_is_right() {
    let machine = Machine::with_threads(2).unwrap();
    for shape in shapes() {
        let (subject, inputs) = spmm_case::<f32>(&shape, Values::Reals, 12);
        let (limits, precision) = (OracleLimits { steps: 0, bytes: 0 }, Precision::of::<f32>());
        let case = Case::<Spmm<f32>>::new(subject, inputs, precision, Record::default(), limits);
        all_pass(&case, &machine, &shape.name);
    }
    for shape in gemm::all_shapes(&[0, 1, 33, 64]) {
        let (limits, precision) = (OracleLimits { steps: 0, bytes: 0 }, Precision::of::<f32>());
        let inputs = gemm::gemm_case::<f32>(shape);
        let case = Case::<Gemm<f32>>::new(shape, inputs, precision, Record::default(), limits);
        all_pass(&case, &machine, &shape.to_string());
    }
}
