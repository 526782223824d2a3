//! Products and solvers on ranks whose operands lie on devices, in the emulator.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stderr)] // helpers of tests; what was not tried is said

mod oracle;

use oracle::{assert_near, balanced, oracle};
use ordito::device::{DeviceDense, DeviceViewMut};
use ordito::matrix::random_dense;
use ordito::solve::{Lobpcg, Stopped, Which, lobpcg};
use ordito::{Accelerator, Csr, Dense, Machine, Scalar};
use ordito_mpi::ranks::{Patience, Ranks, RanksError, on_hosts, on_threads};
use ordito_mpi::{DistributedCsr, DistributedDense, Error, LocalRows, Partition, Plan, Teams, Times};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// One thread and an emulated device for every rank; none where there is no compiler, which is said.
fn machine() -> Option<Arc<Machine>> {
    let machine = Machine::with_threads(1).unwrap().with_accelerator(Accelerator::Emulator);
    match machine.device() {
        Ok(_) => Some(machine),
        Err(refusal) => {
            assert_ne!(std::env::var("ORDITO_REQUIRE_EMULATOR").as_deref(), Ok("1"), "{refusal}");
            eprintln!("not tried: {refusal}");
            None
        }
    }
}

fn plan<S: Scalar>(
    ranks: &Arc<dyn Ranks>,
    machine: &Arc<Machine>,
    a: &Csr<S>,
    rows: &Partition,
    teams: Option<Teams>,
) -> Plan<S> {
    let local = LocalRows::of_csr(a, rows.range(ranks.rank()));
    let cols =
        if a.rows() == a.cols() { rows.clone() } else { Partition::even(a.cols() as u64, ranks.count()) };
    let a = DistributedCsr::with_teams(ranks, rows.clone(), cols, local, teams).unwrap();
    Plan::new(a, machine).unwrap()
}

/// This rank's rows on the device, brought back afterwards.
fn on_device<S: Scalar>(
    plan: &Plan<S>,
    (x, y): (&Dense<S>, &mut Dense<S>),
    run: impl FnOnce(&DeviceDense<S>, &mut DeviceDense<S>),
) {
    let device = plan.device().unwrap();
    let put = |what, from: &Dense<S>| {
        let mut there = DeviceDense::new(device, what, from.rows(), from.cols()).unwrap();
        there.write(from.view()).unwrap();
        there
    };
    let (there_x, mut there_y) = (put("X", x), put("Y", y));
    run(&there_x, &mut there_y);
    there_y.read(y.view_mut()).unwrap();
}

/// How ranks lie on computers, and how often memory can be shared.
type Hosts = (usize, usize);

/// βY + αAX twice, so that memory for messages is used again; then βY + αAᵀX.
fn products<S: Scalar>(
    machine: &Arc<Machine>,
    a: &Csr<S>,
    (count, (per_host, shared_times)): (usize, Hosts),
    k: usize,
    teams: Option<Teams>,
) -> [Vec<S>; 2] {
    let rows = balanced(a, count);
    let parts = on_hosts(count, per_host, Patience::default(), |ranks| {
        let ranks: Arc<dyn Ranks> = Arc::new(ranks.sharing_memory_only(shared_times));
        let plan = plan(&ranks, machine, a, &rows, teams);
        let random = |rows: &Partition, seed| DistributedDense::<S>::random(&*ranks, rows, k, seed).unwrap();
        let (x, mut y) = (random(plan.cols(), 1), random(&rows, 2));
        let (minus, half) = (S::from_f64(-1.5), S::from_f64(0.5));
        let mut first = y.local().clone();
        first.data_mut().fill(S::from_f64(f64::NAN));
        on_device(&plan, (x.local(), &mut first), |x, y| {
            plan.apply_on_device(S::ONE, x.view(), S::ZERO, y.view_mut()).unwrap();
        });
        on_device(&plan, (x.local(), y.local_mut()), |x, y| {
            plan.apply_on_device(minus, x.view(), half, y.view_mut()).unwrap();
        });
        let mut back = random(plan.cols(), 3);
        on_device(&plan, (random(&rows, 4).local(), back.local_mut()), |x, y| {
            plan.apply_transposed_on_device(minus, x.view(), half, y.view_mut()).unwrap();
        });
        assert!(first.data().iter().all(|y| y.is_finite()), "all of Y is written");
        [y.local().data().to_vec(), back.local().data().to_vec()]
    });
    let mut all = [const { Vec::new() }; 2];
    parts.into_iter().for_each(|part| all.iter_mut().zip(part).for_each(|(all, part)| all.extend(part)));
    all
}

fn check<S: Scalar>(a: &Csr<S>, name: &str, counts: &[usize], k: usize) {
    let Some(machine) = machine() else { return };
    let transposed = a.transpose();
    let longest = a.longest_row().max(transposed.longest_row());
    let dense = |rows, seed| random_dense::<S>(rows, k, seed).unwrap();
    let right = [
        oracle(a, -1.5, &dense(a.cols(), 1), 0.5, &dense(a.rows(), 2)),
        oracle(&transposed, -1.5, &dense(a.rows(), 4), 0.5, &dense(a.cols(), 3)),
    ];
    for &count in counts {
        let of_two = (count % 2 == 0).then(|| Teams::of(2, count)).flatten().map(Some);
        for teams in [Some(Teams::ALONE)].into_iter().chain(of_two) {
            // Each on a computer of its own; all on one, with and without memory in common.
            for hosts in [(1, usize::MAX), (count, usize::MAX), (count, 1)] {
                let what = format!("{name}, {count} ranks, {hosts:?}, K = {k}, {teams:?}");
                let found = products(&machine, a, (count, hosts), k, teams);
                for (found, right) in found.iter().zip(&right) {
                    assert_near(found, right, longest + count, &what);
                }
                assert!(found == products(&machine, a, (count, hosts), k, teams), "{what}: the same bits");
            }
        }
    }
}

#[test]
fn operands_on_devices_give_what_the_oracle_gives() {
    let named = |name: &str| ordito::io::read_csr::<f64>(name).unwrap();
    check(&named("stencil5:9"), "stencil", &[1, 2, 3], 3);
    // Most of X is needed: all of it is shown.
    check(&named("powerlaw:200x9"), "power law", &[2, 3], 4);
    check(&named("empty:5x5"), "empty", &[3], 2);
    check(&ordito::io::read_csr::<f32>("uniform:90x5").unwrap(), "uniform", &[2], 17);
    // Rows here and there, no columns of its own, more ranks than rows.
    let wide =
        Csr::from_parts(2, 90, vec![0, 3, 6], vec![0, 44, 89, 1, 45, 88], vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    check(&wide.unwrap(), "wide", &[4], 1);
}

#[test]
fn eigenvalues_on_devices_of_three_ranks() {
    let Some(machine) = machine() else { return };
    // diag(1, 2, …, 60) + coupling of neighbours: rows of others are needed.
    let (n, mut offsets, mut columns, mut values) = (60, vec![0], Vec::new(), Vec::new());
    for row in 0..n {
        for column in usize::max(row, 1) - 1..(row + 2).min(n) {
            columns.push(column as u32);
            values.push(if column == row { (row + 1) as f64 } else { 0.25 });
        }
        offsets.push(columns.len());
    }
    let a = Csr::from_parts(n, n, offsets, columns, values).unwrap();
    let options = || Lobpcg { count: 3, which: Which::Largest, ..Lobpcg::default() };
    let serial = ordito::spmm::Plan::new(a.clone(), &Machine::with_threads(1).unwrap()).unwrap();
    let right = lobpcg(&serial, options()).unwrap();
    let rows = balanced(&a, 3);
    let found = on_threads(3, Patience::default(), |ranks| {
        let ranks: Arc<dyn Ranks> = Arc::new(ranks);
        let plan = plan(&ranks, &machine, &a, &rows, None);
        assert!(plan.device().is_some());
        let found = lobpcg(&plan, options()).unwrap();
        assert_eq!(found.history.stopped, Stopped::Converged);
        assert_eq!(found.vectors.rows(), rows.rows_of(ranks.rank()));
        found.values
    });
    for values in &found {
        assert!(
            values.iter().zip(&right.values).all(|(found, right)| (found - right).abs() < 1e-9),
            "{found:?}"
        );
    }
}

/// A square matrix of so many rows, small whole numbers at these columns of a row.
fn whole_numbers<S: Scalar>(rows: usize, columns: impl Fn(usize) -> Vec<usize>) -> Csr<S> {
    let (mut offsets, mut all, mut values) = (vec![0], Vec::new(), Vec::new());
    for row in 0..rows {
        for column in columns(row) {
            all.push(column as u32);
            values.push(S::from_f64(((row * 5 + column * 3) % 7) as f64 - 3.0));
        }
        offsets.push(all.len());
    }
    Csr::from_parts(rows, rows, offsets, all, values).unwrap()
}

/// What does not depend on the order of sums: products on devices have the bits of those on the host.
fn same_as_on_the_host<S: Scalar>(a: &Csr<S>, columns: &[usize], name: &str) {
    let Some(machine) = machine() else { return };
    let of_cpu = Machine::with_threads(1).unwrap();
    let rows = Partition::even(a.rows() as u64, 4);
    // All on one computer, with memory in common and without; two on each.
    for (per_host, shared_times) in [(4, usize::MAX), (4, 1), (2, usize::MAX)] {
        on_hosts(4, per_host, Patience::default(), |ranks| {
            let ranks: Arc<dyn Ranks> = Arc::new(ranks.sharing_memory_only(shared_times));
            let of_device = plan(&ranks, &machine, a, &rows, Some(Teams::ALONE));
            let of_host = plan(&ranks, &of_cpu, a, &rows, Some(Teams::ALONE));
            let mine = rows.range(ranks.rank());
            let (minus, half) = (S::from_f64(-2.0), S::from_f64(0.5));
            for &k in columns {
                let what = format!("{name}, {per_host} to a host, {shared_times}, K = {k}, {}", S::NAME);
                let dense = |seed: u64| {
                    let number = |at: u64| S::from_f64(((at * seed) % 9) as f64 - 4.0);
                    let all = (mine.start * k as u64..mine.end * k as u64).map(number).collect();
                    Dense::from_rows((mine.end - mine.start) as usize, k, all).unwrap()
                };
                let x = dense(5);
                let [mut right, mut found, mut found_of_host] = [dense(7), dense(7), dense(7)];
                for _ in 0..2 {
                    of_host.apply(minus, x.view(), half, right.view_mut()).unwrap();
                    on_device(&of_device, (&x, &mut found), |x, y| {
                        of_device.apply_on_device(minus, x.view(), half, y.view_mut()).unwrap();
                    });
                    of_device.apply(minus, x.view(), half, found_of_host.view_mut()).unwrap();
                }
                assert_eq!(found.data(), right.data(), "{what}");
                assert_eq!(found_of_host.data(), right.data(), "{what}, operands of the host");
                of_host.apply_transposed(minus, x.view(), half, right.view_mut()).unwrap();
                on_device(&of_device, (&x, &mut found), |x, y| {
                    of_device.apply_transposed_on_device(minus, x.view(), half, y.view_mut()).unwrap();
                });
                assert_eq!(found.data(), right.data(), "{what}, transposed");
            }
        });
    }
}

#[test]
fn rows_here_and_there_are_brought_as_on_the_host() {
    // Of 4 ranks with 50 rows each, the last is nobody's partner.
    let is_tenth = |row: usize| row.is_multiple_of(10) && row < 150;
    let sparse = |row: usize| match is_tenth(row) {
        // Every tenth row of the others.
        true => (0..200).filter(|&column| column == row || is_tenth(column)).collect(),
        false => vec![row],
    };
    same_as_on_the_host::<f64>(&whole_numbers(200, sparse), &[1, 3, 33], "every tenth row");
    same_as_on_the_host::<f32>(&whole_numbers(200, sparse), &[3, 8], "every tenth row");
    // All rows multiply X of others: ranks show all of theirs, and need some of the others'.
    let whole = |row: usize| (0..200).filter(|&column| column == row || column % 50 == row % 7).collect();
    same_as_on_the_host::<f64>(&whole_numbers(200, whole), &[1, 3], "one pass");
    same_as_on_the_host::<f32>(&whole_numbers(200, whole), &[8], "one pass");
}

/// Of so many rows on two ranks, some with entries at 20 columns of their own rank, some at as many of the other.
fn of_two_ranks(own: impl Fn(usize) -> bool, other: impl Fn(usize) -> bool) -> Csr<f64> {
    const ROWS: usize = 80; // of each
    whole_numbers(2 * ROWS, |row| {
        let is_wanted = |column: &usize| match column / ROWS == row / ROWS {
            true => own(row),
            false => other(row),
        };
        (0..2 * ROWS).filter(|column| column % 4 == 0).filter(is_wanted).collect()
    })
}

/// What an emulated device computes is over when it has been enqueued: the part that has the entries takes longest.
#[test]
fn what_enqueuing_takes_is_told() {
    let Some(machine) = machine() else { return };
    let is_few = |row: usize| row.is_multiple_of(40);
    let cases = [
        ("own rows", of_two_ranks(|_| true, is_few), true),
        ("rows of others", of_two_ranks(|_| false, |_| true), false),
        // All rows of all are multiplied in one pass, which has another order.
        ("all rows", of_two_ranks(|_| true, |_| true), true),
    ];
    for (name, a, is_own) in cases {
        let rows = balanced(&a, 2);
        on_threads(2, Patience::default(), |ranks| {
            let ranks: Arc<dyn Ranks> = Arc::new(ranks);
            let plan = plan(&ranks, &machine, &a, &rows, Some(Teams::ALONE));
            let x = DistributedDense::<f64>::random(&*ranks, &rows, 3, 1).unwrap();
            let mut y = DistributedDense::<f64>::zeros(&*ranks, &rows, 3).unwrap();
            let mut least = Times {
                pack: Duration::MAX,
                own: Duration::MAX,
                wait: Duration::MAX,
                release: Duration::MAX,
                outer: Duration::MAX,
                reduce: Duration::MAX,
            };
            // Others use these cores too: the least of some.
            for _ in 0..5 {
                on_device(&plan, (x.local(), y.local_mut()), |x, y| {
                    let began = Instant::now();
                    plan.apply_on_device(1.0, x.view(), 0.0, y.view_mut()).unwrap();
                    let (told, times) = (began.elapsed(), plan.times());
                    assert!(times.total() <= told, "{name}: {times:?} of {told:?}");
                    least.own = least.own.min(times.own);
                    least.outer = least.outer.min(times.outer);
                    least.pack = least.pack.min(times.pack);
                });
            }
            let (most, other) = if is_own { (least.own, least.outer) } else { (least.outer, least.own) };
            assert!(most > other && least.pack > Duration::ZERO, "{name}: {least:?}");
        });
    }
}

/// A rank that cannot even begin says so.
#[test]
fn who_has_no_device_keeps_nobody_waiting() {
    let Some(machine) = machine() else { return };
    let a = ordito::io::read_csr::<f64>("stencil5:9").unwrap();
    let rows = balanced(&a, 2);
    type Product = fn(&Plan<f64>, &DeviceDense<f64>, &mut DeviceDense<f64>) -> Result<(), Error>;
    let products: [Product; 3] = [
        |plan, x, y| plan.apply_on_device(1.0, x.view(), 0.0, y.view_mut()),
        |plan, x, y| plan.apply_transposed_on_device(1.0, x.view(), 0.0, y.view_mut()),
        |plan, x, _| plan.time_exchange_on_device(x.view()).map(drop),
    ];
    for product in products {
        let found = on_threads(2, patience(), |ranks| {
            let ranks: Arc<dyn Ranks> = Arc::new(ranks);
            let rank = ranks.rank();
            let of_cpu = Machine::with_threads(1).unwrap();
            let machine_of_rank = if rank == 1 { &of_cpu } else { &machine };
            let plan = plan(&ranks, machine_of_rank, &a, &rows, Some(Teams::ALONE));
            let device = machine.device().unwrap();
            let operand = |what| DeviceDense::<f64>::new(&device, what, rows.rows_of(rank), 2).unwrap();
            let (x, mut y) = (operand("X"), operand("Y"));
            product(&plan, &x, &mut y).unwrap_err()
        });
        assert!(matches!(&found[0], Error::Ranks(RanksError::Failed { rank: 1, .. })), "{}", found[0]);
        assert!(found[1].to_string().contains("set up for the CPU only"), "{}", found[1]);
    }
}

/// A product that fails on one rank after rows of X were packed.
#[test]
fn who_fails_on_the_way_keeps_nobody_waiting() {
    let Some(machine) = machine() else { return };
    // Own rows first, or those of all.
    for name in ["stencil5:9", "powerlaw:200x9"] {
        let a = ordito::io::read_csr::<f64>(name).unwrap();
        let rows = balanced(&a, 2);
        let found = on_threads(2, patience(), |ranks| {
            let ranks: Arc<dyn Ranks> = Arc::new(ranks);
            let mine = rows.rows_of(ranks.rank());
            let plan = plan(&ranks, &machine, &a, &rows, Some(Teams::ALONE));
            let device = plan.device().unwrap();
            let operand = |what, rows| DeviceDense::<f64>::new(device, what, rows, 2).unwrap();
            let x = operand("X", mine);
            let mut y = operand("Y", if ranks.rank() == 1 { 1 } else { mine });
            // SAFETY: on rank 1 it is shorter than that, which the emulator finds before it is written.
            let mut y = unsafe { DeviceViewMut::from_raw(y.view_mut().address(), mine, 2, 2) }.unwrap();
            // Where one fails after its rows were sent, others hear of it in the next.
            let product = |_| plan.apply_on_device(1.0, x.view(), 0.0, y.reborrow());
            (0..2).try_for_each(product).unwrap_err().to_string()
        });
        let [heard, told] = &found[..] else { panic!("two ranks") };
        assert!(heard.contains("rank 1") && heard.contains(&**told), "{name}: {heard}, {told}");
    }
}

/// Not as long as others are waited for.
fn patience() -> Patience {
    Patience { limit: Duration::from_secs(60), ..Patience::default() }
}

#[test]
fn a_plan_of_the_cpu_has_no_device() {
    let Some(machine) = machine() else { return };
    let a = ordito::io::read_csr::<f64>("stencil5:4").unwrap();
    let ranks: Arc<dyn Ranks> = Arc::new(ordito_mpi::ranks::One::default());
    let plan = plan(&ranks, &Machine::with_threads(1).unwrap(), &a, &balanced(&a, 1), None);
    assert!(plan.device().is_none());
    let device = machine.device().unwrap();
    let (x, mut y) =
        (DeviceDense::new(&device, "X", 16, 2).unwrap(), DeviceDense::new(&device, "Y", 16, 2).unwrap());
    let error = plan.apply_on_device(1.0, x.view(), 0.0, y.view_mut()).unwrap_err();
    assert!(error.to_string().contains("set up for the CPU only"), "{error}");
}
