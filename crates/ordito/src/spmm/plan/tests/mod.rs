//! What a plan promises: any number of columns, any number of callers, the same bits.

#[cfg(feature = "emulator")]
mod taken;

use super::*;
use crate::cpu::{CpuInfo, SimdLevel};
use crate::io;
use crate::machine::{Accelerator, Limits};
use crate::matrix::{ColumnsView, ColumnsViewMut, Coo, CsrView, Dense, Duplicates, random_dense};
use crate::op::{Role, Storage};
use crate::spmm::cpu::formats::SortedCsr;
use crate::spmm::cpu::tests::shuffled_mesh;
use crate::spmm::plan::making::is_plain;
use crate::spmm::select::choose;

fn identity(n: usize) -> Csr<f64> {
    let diagonal: Vec<u32> = (0..n as u32).collect();
    let coo = Coo::new(n, n, diagonal.clone(), diagonal, vec![1.0; n]).unwrap();
    Csr::from_coo(&coo, Duplicates::Keep)
}

#[test]
fn one_variant_of_each_side_is_plain() {
    let plain = Spmm::<f64>::variants().iter().map(|variant| variant.describe()).filter(|d| d.is_plain);
    let on_cpu = Machine::with_threads(1).unwrap();
    let on_device = on_cpu.with_accelerator(Accelerator::Emulator);
    let here = [plain_variant(&on_cpu), plain_variant(&on_device)];
    assert_eq!(plain.collect::<Vec<_>>(), here);
    assert!(here.iter().all(|plain| plain.storage == Storage::AsGiven && plain.can_be_chosen));
    assert!(is_plain::<f64>(&on_cpu, here[0].name) && !is_plain::<f64>(&on_device, here[0].name));
}

#[test]
fn wrong_shapes_are_errors_that_name_them() {
    let mut plan = Plan::new(identity(3), &Machine::all_cores().unwrap()).unwrap();
    let x = Dense::filled(2, 2, 1.0).unwrap();
    let mut y = Dense::filled(3, 2, 0.0).unwrap();
    let error = plan.apply(1.0, x.view(), 0.0, y.view_mut()).unwrap_err();
    assert_eq!(error.to_string(), "X is 2×2, 3×2 expected");
    assert!(plan.update_values(vec![1.0]).is_err());
    let unknown = Plan::with_variant("csr-magic", identity(3), &Machine::all_cores().unwrap());
    assert!(unknown.err().unwrap().to_string().contains("no variant `csr-magic`"));
}

#[test]
fn plans_can_be_shared_between_threads_and_live_on() {
    fn shareable<T: Send + Sync + 'static>() {}
    shareable::<Plan<f32>>();
}

#[test]
fn the_choice_is_data_with_a_reason() {
    let machine = Machine::with_threads(2).unwrap();
    let subject = Subject { a: Arc::new(identity(5)), triplets: None, k: 1 };
    let choice = choose(&machine, &subject);
    assert!(Spmm::<f64>::variant(choice.variant).is_some());
    assert!(choice.reason.contains("too little work"), "{}", choice.reason);
    let choice = choose(&machine.with_accelerator(Accelerator::Emulator), &subject);
    let variant = Spmm::<f64>::variant(choice.variant).unwrap().describe();
    assert!(variant.place == Place::Cuda && variant.can_be_chosen, "{choice:?}");
    assert!(choice.reason.contains("1 columns: about "), "{}", choice.reason);
}

/// One machine for all sizes of caches: X of the larger matrices does not fit them.
fn small_caches(simd: SimdLevel, threads: usize) -> Arc<Machine> {
    let cpu = CpuInfo { simd, l2_bytes: Some(256 << 10), logical_cores: 2, ..CpuInfo::default() };
    let limits = Limits::of(&cpu);
    Machine::new(cpu, threads, limits).unwrap()
}

fn named<S: Scalar>(name: &str) -> Csr<S> {
    Csr::from_coo(&io::load::<S>(name, &Default::default()).unwrap().coo, Duplicates::Sum)
}

fn product<S: Scalar>(plan: &Plan<S>, k: usize) -> Vec<S> {
    let (rows, cols) = plan.matrix().shape();
    let (x, mut y) = (random_dense(cols, k, 3).unwrap(), random_dense(rows, k, 4).unwrap());
    plan.apply(S::from_f64(1.5), x.view(), S::from_f64(-0.5), y.view_mut()).unwrap();
    y.data().to_vec()
}

fn any_number_of_columns<S: Scalar>() {
    for simd in SimdLevel::ALL.into_iter().filter(|&simd| simd <= SimdLevel::supported()) {
        let machine = small_caches(simd, 2);
        let mut variants = Vec::new();
        for a in
            [named("stencil5:61"), named("blocks:300x4x3"), named("powerlaw:3000x9"), shuffled_mesh::<S>()]
        {
            let a = Arc::new(a);
            let shared = Plan::new(a.clone(), &machine).unwrap();
            for k in [8, 1, 64, 3, 16, 8, 2, 1, 33, 64, 0, 4] {
                let alone = Plan::new(a.clone(), &machine).unwrap();
                assert_eq!(product(&shared, k), product(&alone, k), "{simd}, K = {k}");
                let choices = [&shared, &alone].map(|plan| plan.prepare(k).unwrap().choice);
                assert_eq!(choices[0], choices[1], "{simd}, K = {k}");
                variants.push(choices[0].variant);
            }
            // Two forms of A at most, none of them larger than CSR with a few numbers more for every row.
            let most = 2 * SortedCsr::<S>::bytes_for(a.rows(), a.nnz()).unwrap();
            assert!(shared.bytes() <= most, "{} of {most}", shared.bytes());
        }
        variants.sort_unstable();
        variants.dedup();
        assert!(variants.len() >= 3, "these should not all be alike: {variants:?}");
    }
}

#[test]
#[cfg_attr(miri, ignore = "takes minutes")]
fn any_number_of_columns_has_the_bits_of_a_plan_for_it_alone() {
    any_number_of_columns::<f32>();
    any_number_of_columns::<f64>();
}

#[test]
#[cfg_attr(miri, ignore = "takes minutes")]
fn columns_that_read_a_alike_share_it() {
    let machine = small_caches(SimdLevel::Portable, 1);
    let plan = Plan::with_variant("csr-threads-sorted", named::<f64>("powerlaw:3000x9"), &machine).unwrap();
    let bytes = plan.prepare(8).unwrap().bytes;
    assert!(bytes > 0 && plan.bytes() == bytes);
    assert_eq!(plan.prepare(9).unwrap().bytes, bytes);
    assert_eq!(plan.bytes(), bytes, "one form for both");
}

/// Where all values are the same they are stored once; others make the form anew.
#[test]
#[cfg_attr(miri, ignore = "takes minutes")]
fn values_may_become_the_same_and_differ_again() {
    let machine = small_caches(SimdLevel::supported(), 2);
    let a = named::<f64>("powerlaw:3000x9");
    let plan_of = |a: &Csr<f64>| Plan::with_variant("sell-threads-slices", a.clone(), &machine).unwrap();
    let graph = a.with_values(vec![0.5; a.nnz()]).unwrap();
    let (mut plan, fresh, of_graph) = (plan_of(&a), plan_of(&a), plan_of(&graph));
    let expected = [product(&fresh, 1), product(&of_graph, 1)];
    assert!(of_graph.bytes() + 8 * a.nnz() as u64 <= fresh.bytes() + 1024);
    assert_eq!(product(&plan, 1), expected[0]);
    for _ in 0..2 {
        plan.update_values(graph.values().to_vec()).unwrap();
        assert_eq!((product(&plan, 1), plan.bytes()), (expected[1].clone(), of_graph.bytes()));
        plan.update_values(a.values().to_vec()).unwrap();
        assert_eq!((product(&plan, 1), plan.bytes()), (expected[0].clone(), fresh.bytes()));
    }
}

fn updated_values<S: Scalar>(name: &str, variant: Option<&str>) {
    let machine = small_caches(SimdLevel::supported(), 2);
    let a = named::<S>(name);
    let values: Vec<S> = (0..a.nnz()).map(|i| S::from_f64((i % 89) as f64 / 11.0 - 3.0)).collect();
    let plan_of = |a: Csr<S>| match variant {
        Some(variant) => Plan::with_variant(variant, a, &machine).unwrap(),
        None => Plan::new(a, &machine).unwrap(),
    };
    let expected = plan_of(a.with_values(values.clone()).unwrap());
    let mut plan = plan_of(a);
    for k in [1, 5, 6] {
        plan.prepare(k).unwrap();
    }
    let kept = plan.bytes();
    assert!(plan.update_values(values[1..].to_vec()).is_err());
    assert_eq!(plan.bytes(), kept, "nothing has happened");
    plan.update_values(values).unwrap();
    assert_eq!(plan.bytes(), kept, "{name}, {variant:?}: what was prepared is kept");
    for k in [5, 1, 7, 6] {
        assert_eq!(product(&plan, k), product(&expected, k), "{name}, {variant:?}, K = {k}");
    }
}

#[test]
#[cfg_attr(miri, ignore = "takes minutes")]
fn new_values_take_the_places_of_the_old_ones() {
    for name in ["stencil5:20", "blocks:100x4x3", "powerlaw:800x9"] {
        updated_values::<f32>(name, None);
        for variant in Spmm::<f64>::variants().iter().map(|variant| variant.describe()) {
            if variant.place != Place::Cuda && variant.can_be_chosen {
                updated_values::<f64>(name, Some(variant.name));
            }
        }
    }
}

#[test]
fn a_matrix_that_others_have_too_keeps_its_values() {
    let a = Arc::new(identity(4));
    let mut plan = Plan::new(a.clone(), &Machine::with_threads(1).unwrap()).unwrap();
    plan.update_values(vec![2.0; 4]).unwrap();
    assert_eq!((a.values(), plan.matrix().values()), (&[1.0; 4][..], &[2.0; 4][..]));
    assert_eq!(plan.into_matrix().values(), &[2.0; 4]);
}

#[test]
#[cfg_attr(miri, ignore = "takes minutes")]
fn eight_threads_apply_one_plan() {
    for threads in [1, 2] {
        let machine = small_caches(SimdLevel::supported(), threads);
        let a = Arc::new(named::<f64>("stencil5:61"));
        let expected: Vec<Vec<f64>> =
            (0..10).map(|k| product(&Plan::new(a.clone(), &machine).unwrap(), k)).collect();
        let plan = Plan::new(a, &machine).unwrap();
        std::thread::scope(|scope| {
            for first in 0..8 {
                let (plan, expected) = (&plan, &expected);
                scope.spawn(move || {
                    for k in (0..30).map(|turn| (first + turn) % 10) {
                        assert_eq!(product(plan, k), expected[k], "K = {k}");
                    }
                });
            }
        });
        // From threads of a pool, which take up other products while they wait for one.
        let plan = Plan::new(plan.into_matrix(), &machine).unwrap();
        let pool = rayon::ThreadPoolBuilder::new().num_threads(4).build().unwrap();
        pool.scope(|scope| {
            for turn in 0..40 {
                let (plan, expected) = (&plan, &expected);
                scope.spawn(move |_| assert_eq!(product(plan, turn % 10), expected[turn % 10]));
            }
        });
    }
}

#[test]
fn a_borrowed_matrix_is_not_copied_and_multiplies_alike() {
    let a = identity(6);
    let machine = Machine::with_threads(1).unwrap();
    let plan = ViewPlan::new(&a, &machine).unwrap();
    assert_eq!(plan.matrix().values().as_ptr(), a.values().as_ptr());
    assert_eq!(product(&plan, 3), product(&Plan::new(a.clone(), &machine).unwrap(), 3));
    // A copy has numbers of its own.
    let copy = plan.matrix().clone();
    assert_ne!(copy.values().as_ptr(), a.values().as_ptr());
    drop(plan);
    drop(a);
    assert_eq!(copy, identity(6));
    // Offsets that had to be converted go with the plan.
    let (offsets, columns, values) = (vec![0_i32, 1, 2], vec![1_i32, 0], vec![2.0, 3.0]);
    let view = CsrView::from_parts(2, 2, &offsets, &columns, &values).unwrap();
    let plan = ViewPlan::with_variant("csr-threads-sorted", view, &machine).unwrap();
    assert_eq!(plan.matrix().row_offsets(), &[0, 1, 2]);
    assert_eq!(product(&plan, 2).len(), 4);
}

/// A row that threads share, short ones, none: 40 000 entries in row 5.
fn with_a_long_row<S: Scalar>() -> Csr<S> {
    let lengths = (0..300).map(|row| if row == 5 { 40_000 } else { row % 4 });
    let (mut offsets, mut columns) = (vec![0], Vec::new());
    for (row, length) in lengths.enumerate() {
        columns.extend((0..length).map(|entry| ((entry * 7919 + row * 31) % 41_000) as u32));
        offsets.push(columns.len());
    }
    let values = (0..columns.len()).map(|entry| S::from_f64((entry % 97) as f64 / 7.0 - 6.0)).collect();
    Csr::from_parts(300, 41_000, offsets, columns, values).unwrap()
}

/// Column after column, columns `gap` numbers farther apart than they are long; NaN between them.
fn in_columns<S: Scalar>(rows: &Dense<S>, gap: usize) -> Vec<S> {
    let (count, distance) = (rows.cols(), rows.rows() + gap);
    let mut columns = vec![S::POISON; count * distance];
    for row in 0..rows.rows() {
        for (column, &number) in rows.view().row(row).iter().enumerate() {
            columns[column * distance + row] = number;
        }
    }
    columns
}

fn either_order<S: Scalar>(plan: &Plan<S>, k: usize, what: &str) {
    let (rows, cols) = plan.matrix().shape();
    let (x, before) = (random_dense::<S>(cols, k, 3).unwrap(), random_dense::<S>(rows, k, 4).unwrap());
    let bits = |numbers: &[S]| numbers.iter().map(|number| number.to_f64().to_bits()).collect::<Vec<_>>();
    for (alpha, beta) in [(1.0, 0.0), (1.5, -0.5), (0.0, 2.0)] {
        let (alpha, beta) = (S::from_f64(alpha), S::from_f64(beta));
        let mut expected = before.clone();
        plan.apply(alpha, x.view(), beta, expected.view_mut()).unwrap();
        for gap in [0, 5] {
            let x_columns = in_columns(&x, gap);
            let of_x = ColumnsView::new(&x_columns, cols, k, cols + gap).unwrap();
            let expected_columns = in_columns(&expected, gap);
            for x_too in [true, false] {
                let mut y = in_columns(&before, gap);
                let of_y = ColumnsViewMut::new(&mut y, rows, k, rows + gap).unwrap();
                match x_too {
                    true => plan.apply(alpha, of_x, beta, of_y).unwrap(),
                    false => plan.apply(alpha, x.view(), beta, of_y).unwrap(),
                }
                assert_eq!(bits(&y), bits(&expected_columns), "{what}, K = {k}, gap {gap}, X {x_too}");
            }
            let mut y = before.clone();
            plan.apply(alpha, of_x, beta, y.view_mut()).unwrap();
            assert_eq!(bits(y.data()), bits(expected.data()), "{what}, K = {k}, gap {gap}, X alone");
        }
    }
}

/// Small enough for Miri: addresses of rows that are not there must not be computed as if they were.
#[test]
fn columns_of_a_small_matrix() {
    let machine = small_caches(SimdLevel::Portable, 1);
    for variant in Spmm::<f64>::variants().iter().map(|variant| variant.describe()) {
        if variant.place != Place::Cuda && variant.can_be_chosen {
            let a = Csr::from_parts(40, 50, (0..=40).collect(), (5..45).collect(), vec![2.0; 40]).unwrap();
            either_order(&Plan::with_variant(variant.name, a, &machine).unwrap(), 2, variant.name);
        }
    }
}

/// What was chosen stays chosen, whatever was kept meanwhile.
#[test]
#[cfg_attr(miri, ignore = "takes minutes")]
fn choices_outlive_their_products() {
    let machine = small_caches(SimdLevel::supported(), 2);
    let mut plan = Plan::new(named::<f64>("blocks:100x4x3"), &machine).unwrap();
    let subject = plan.subject(8);
    let odd = Choice::new(&crate::spmm::cpu::diagonals::DESCRIPTION, "because");
    plan.kept.replace(build(&machine, &subject, odd.clone(), &[]).unwrap());
    drop(subject);
    for k in [1, 2, 64, 1000] {
        plan.prepare(k).unwrap();
    }
    assert_eq!(plan.prepare(8).unwrap().choice, odd);
    plan.update_values(vec![1.0; plan.matrix().nnz()]).unwrap();
    assert_eq!(plan.prepare(8).unwrap().choice, odd);
}

#[test]
#[cfg_attr(miri, ignore = "takes minutes")]
fn forms_of_a_are_counted_and_few() {
    let machine = small_caches(SimdLevel::Portable, 1);
    let plan = Plan::with_variant("ell-ragged-serial", named::<f64>("blocks:20x4x3"), &machine).unwrap();
    let one = plan.prepare(1).unwrap().bytes;
    (2..10).for_each(|k| drop(plan.prepare(k).unwrap()));
    assert!(one > 0);
    assert_eq!(plan.bytes(), 2 * one);
}

#[test]
#[cfg_attr(miri, ignore = "takes minutes")]
fn rows_and_columns_give_the_same_bits_with_every_variant() {
    let matrices =
        [named::<f64>("stencil5:61"), named("blocks:100x4x3"), with_a_long_row(), named("empty:7x0")];
    for simd in SimdLevel::ALL.into_iter().filter(|&simd| simd <= SimdLevel::supported()) {
        let machine = small_caches(simd, 2);
        for a in matrices.iter().cloned().map(Arc::new) {
            for variant in Spmm::<f64>::variants().iter().map(|variant| variant.describe()) {
                if variant.place == Place::Cuda || !variant.can_be_chosen {
                    continue;
                }
                let plan = Plan::with_variant(variant.name, a.clone(), &machine).unwrap();
                for k in [0, 1, 2, 5, 16, 33] {
                    either_order(&plan, k, variant.name);
                }
            }
        }
        either_order(&Plan::new(named::<f32>("powerlaw:3000x9"), &machine).unwrap(), 12, "f32");
    }
    let machine = Machine::with_threads(1).unwrap();
    for variant in Spmm::<f64>::variants().iter().map(|variant| variant.describe()) {
        if variant.place != Place::Cuda && !variant.can_be_chosen && variant.role != Role::Faulty {
            either_order(
                &Plan::with_variant(variant.name, named::<f64>("blocks:20x4x3"), &machine).unwrap(),
                3,
                variant.name,
            );
        }
    }
}

#[test]
fn a_device_keeps_several_numbers_of_columns_ready() {
    let machine = Machine::with_threads(1).unwrap().with_accelerator(Accelerator::Emulator);
    if machine.device().is_ok() {
        let plan = Plan::new(named::<f64>("stencil5:4"), &machine).unwrap();
        let made: Vec<_> = (1..10).map(|k| Arc::downgrade(&plan.ready(k).unwrap())).collect();
        let kept: Vec<bool> = made.iter().map(|ready| ready.upgrade().is_some()).collect();
        assert_eq!(kept, [&[false][..], &[true; 8]].concat(), "the first is forgotten");
        assert_eq!(plan.choices().iter().map(|(k, _)| *k).collect::<Vec<_>>(), Vec::from_iter(1..10));
    }
}

#[test]
fn an_emulated_device_takes_either_order_too() {
    let machine = Machine::with_threads(1).unwrap().with_accelerator(Accelerator::Emulator);
    if machine.device().is_ok() {
        either_order(&Plan::new(named::<f64>("stencil5:4"), &machine).unwrap(), 3, "emulated");
    }
}

#[test]
#[cfg_attr(miri, ignore = "takes minutes")]
fn transposed_and_from_the_left() {
    for threads in [1, 3] {
        let machine = small_caches(SimdLevel::supported(), threads);
        for a in [named::<f64>("powerlaw:700x9"), with_a_long_row(), named("empty:3x5")] {
            let plan = Plan::new(a.clone(), &machine).unwrap();
            let expected = Plan::new(a.transpose(), &machine).unwrap();
            for k in [1, 4, 17] {
                assert_eq!(product(plan.transposed().unwrap(), k), product(&expected, k));
                // The oracle, one entry after the other.
                let x = random_dense::<f64>(k, a.rows(), 5).unwrap();
                let mut right = vec![0.0; k * a.cols()];
                for row in 0..a.rows() {
                    for (column, value) in a.row(row) {
                        (0..k).for_each(|i| right[i * a.cols() + column] += value * x.view().row(i)[row]);
                    }
                }
                let mut y = Dense::zeros(k, a.cols()).unwrap();
                plan.apply_from_left(1.0, x.view(), 0.0, y.view_mut()).unwrap();
                let close = |(y, right): (&f64, &f64)| (y - right).abs() <= 1e-9 * right.abs().max(1.0);
                assert!(y.data().iter().zip(&right).all(close), "K = {k}");
            }
            assert!(plan.bytes() > 0);
        }
    }
    let mut plan = Plan::new(identity(3), &Machine::with_threads(1).unwrap()).unwrap();
    plan.transposed().unwrap();
    plan.update_values(vec![2.0; 3]).unwrap();
    assert_eq!(plan.transposed().unwrap().matrix().values(), &[2.0; 3], "not the old ones");
    let x = Dense::zeros(2, 4).unwrap();
    let error = plan.apply_from_left(1.0, x.view(), 0.0, Dense::zeros(2, 3).unwrap().view_mut()).unwrap_err();
    assert_eq!(error.to_string(), "X is 2×4, 2×3 expected");
}
