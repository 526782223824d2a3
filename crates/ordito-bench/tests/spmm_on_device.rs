//! The library on a device: operands that lie there, recorded products, streams, copies from all kinds of host memory. In
//! the emulator, and on a GPU where there is one; `ORDITO_REQUIRE_EMULATOR=1` and `ORDITO_REQUIRE_GPU=1` make what cannot run
//! a failure. The ignored tests measure, on a GPU: `cargo test --release --test spmm_on_device -- --ignored --nocapture`.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

mod common;
#[path = "common/spmm.rs"]
#[allow(dead_code)] // what other tests need of it
mod spmm;

use common::{Values, dense, say, shapes};
use ordito::Scalar;
use ordito::device::DeviceDense;
use ordito::device::{Argument, DeviceView, DeviceViewMut, KernelSource, LaunchPlan};
use ordito::machine::{Accelerator, Machine};
use ordito::matrix::{Csr, Dense, Duplicates};
use ordito::op::{Op, Place, Role, RunError};
use ordito::spmm::Step;
use ordito::spmm::{Plan, Spmm};
use spmm::spmm_case;
use std::sync::Arc;
use std::time::Instant;

fn machine(accelerator: Accelerator) -> Option<Arc<Machine>> {
    let machine = Machine::all_cores().unwrap().with_accelerator(accelerator);
    let Err(refusal) = machine.device() else { return Some(machine) };
    let required = match accelerator {
        Accelerator::Emulator => "ORDITO_REQUIRE_EMULATOR",
        _ => "ORDITO_REQUIRE_GPU",
    };
    assert!(std::env::var(required).as_deref() != Ok("1"), "{required}=1, but: {refusal}");
    say(&format!("{accelerator:?} was not tried: {refusal}"));
    None
}

/// With small integers for values: whatever the order of the additions, the sums are the same.
fn load<S: Scalar>(name: &str) -> Arc<Csr<S>> {
    let coo = ordito::io::load::<S>(name, &Default::default()).unwrap().coo;
    let a = Csr::from_coo(&coo, Duplicates::Sum);
    let integers = (0..a.nnz()).map(|entry| S::from_f64((entry % 5) as f64 - 2.0)).collect();
    Arc::new(a.with_values(integers).unwrap())
}

fn on_device<S: Scalar>(machine: &Machine, what: &str, dense: &Dense<S>) -> DeviceDense<S> {
    let mut copy = DeviceDense::new(&machine.device().unwrap(), what, dense.rows(), dense.cols()).unwrap();
    copy.write(dense.view()).unwrap();
    copy
}

fn read<S: Scalar>(from: &DeviceDense<S>) -> Dense<S> {
    let mut dense = Dense::filled(from.rows(), from.cols(), S::POISON).unwrap();
    from.read(dense.view_mut()).unwrap();
    dense
}

/// Every variant on operands of the device, with other leading dimensions than on the host: the same bits as from the host.
fn the_same_as_from_the_host<S: Scalar>(accelerator: Accelerator) {
    let Some(machine) = machine(accelerator) else { return };
    let shape = &shapes()[12];
    let (subject, inputs) = spmm_case::<S>(shape, Values::Integers, 5);
    let mut equal = 0;
    for variant in Spmm::<S>::variants().iter().filter(|variant| variant.describe().place == Place::Cuda) {
        let (name, is_peer) = (variant.name(), variant.describe().role == Role::Peer);
        // Libraries are not emulated, and cuSPARSE does not take every leading dimension.
        let plan = Plan::with_variant(name, subject.a.clone(), &machine).unwrap();
        if plan.prepare(5).is_err() {
            assert!(is_peer, "{name}");
            continue;
        }
        let mut expected = Dense::filled(shape.rows, 5, S::POISON).unwrap();
        plan.apply(S::ONE, inputs.x.view(), S::ZERO, expected.view_mut()).unwrap();
        let x = on_device(&machine, "X", &inputs.x);
        let mut y = DeviceDense::new(plan.device().unwrap(), "Y", shape.rows, 5).unwrap();
        let applied = plan.apply_on_device(S::ONE, x.view(), S::ZERO, y.view_mut());
        if let (Err(RunError::Refused(_)), true) = (&applied, is_peer) {
            continue;
        }
        applied.unwrap();
        assert_eq!(read(&y), expected, "{name}");
        plan.apply_on_device(S::ONE, x.view(), S::ONE, y.view_mut()).unwrap();
        let twice = expected.data().iter().map(|y| y.to_f64() * 2.0);
        assert!(read(&y).data().iter().map(|y| y.to_f64()).eq(twice), "{name} does not add to Y");
        equal += 1;
    }
    println!("{} on {accelerator:?}: {equal} variants", S::NAME);
    assert!(equal > 5);
}

#[test]
fn emulator_multiplies_what_lies_there() {
    the_same_as_from_the_host::<f32>(Accelerator::Emulator);
    the_same_as_from_the_host::<f64>(Accelerator::Emulator);
}
#[test]
fn gpu_multiplies_what_lies_there() {
    the_same_as_from_the_host::<f32>(Accelerator::Cuda(0));
    the_same_as_from_the_host::<f64>(Accelerator::Cuda(0));
}

fn what_does_not_fit(accelerator: Accelerator) {
    let Some(machine) = machine(accelerator) else { return };
    let device = machine.device().unwrap();
    let plan = Plan::new(load::<f64>("stencil5:4"), &machine).unwrap();
    let right = DeviceDense::<f64>::new(&device, "X", 16, 3).unwrap();
    let wrong = DeviceDense::<f64>::new(&device, "X", 16, 4).unwrap();
    let mut y = DeviceDense::<f64>::new(&device, "Y", 16, 3).unwrap();
    let mut short = DeviceDense::<f64>::new(&device, "Y", 15, 3).unwrap();
    let told = |x: DeviceView<'_, f64>, y: DeviceViewMut<'_, f64>| {
        plan.apply_on_device(1.0, x, 0.0, y).unwrap_err().to_string()
    };
    assert_eq!(told(wrong.view(), y.view_mut()), "Y is 16×3, 16×4 expected");
    assert_eq!(told(right.view(), short.view_mut()), "Y is 15×3, 16×3 expected");
    // SAFETY: refused before anything is done with it.
    let odd = unsafe { DeviceView::from_raw(right.view().address() + 8, 16, 3, 3) }.unwrap();
    assert!(told(odd, y.view_mut()).ends_with("a multiple of 16 bytes expected"));
    let buffer = device.allocate::<f64>("X", 47).unwrap();
    assert!(DeviceView::new(&buffer, 16, 3, 3).is_err() && DeviceView::new(&buffer, 15, 3, 3).is_ok());
    assert!(y.write(Dense::filled(16, 2, 1.0).unwrap().view()).is_err());

    let on_cpu = Plan::new(load::<f64>("stencil5:4"), &Machine::all_cores().unwrap()).unwrap();
    let error = on_cpu.apply_on_device(1.0, right.view(), 0.0, y.view_mut()).unwrap_err();
    assert!(error.to_string().contains("set up for the CPU only"), "{error}");
    assert!(on_cpu.record(Vec::new()).is_err() && on_cpu.device().is_none());
    assert!(!on_cpu.overlap_copies(3).unwrap());
}

#[test]
fn emulator_refuses_what_does_not_fit() {
    what_does_not_fit(Accelerator::Emulator);
}
#[test]
fn gpu_refuses_what_does_not_fit() {
    what_does_not_fit(Accelerator::Cuda(0));
}

/// X = A·(A·X), three times, recorded; the buffers are used between launches, and outlived by the recording.
fn recorded(accelerator: Accelerator) {
    let Some(machine) = machine(accelerator) else { return };
    let a = load::<f64>("stencil5:6");
    let start = dense::<f64>(36, 2, 0, Values::Integers, 5);
    let plan = Plan::new(a.clone(), &machine).unwrap();
    let (mut x, mut y) = (on_device(&machine, "X", &start), on_device(&machine, "Y", &start));
    let there = Step::new(1.0, x.view(), 0.0, y.view_mut());
    let back = Step::new(1.0, y.view(), 0.0, x.view_mut());
    let mut replay = plan.record(vec![there, back]).unwrap();
    assert_eq!(read(&x), start, "recording is not launching");
    let mut expected = start;
    for launch in 0..3 {
        replay.launch().unwrap();
        expected = &*a * &(&*a * &expected);
        assert_eq!(read(&x), expected, "launch {launch}");
    }
    x.write(Dense::filled(36, 2, 1.0).unwrap().view()).unwrap();
    drop(x);
    replay.launch().unwrap();
    let ones = &*a * &Dense::filled(36, 2, 1.0).unwrap();
    assert_eq!(read(&y), ones);
    drop(replay);

    // More numbers of columns than a plan keeps, and used otherwise meanwhile.
    let starts = [1, 3, 4].map(|k| dense::<f64>(36, k, 0, Values::Integers, 5));
    let xs = [0, 1, 2].map(|i| on_device(&machine, "X", &starts[i]));
    let mut ys = [0, 1, 2].map(|i| on_device(&machine, "Y", &starts[i]));
    let steps = xs.iter().zip(&mut ys).map(|(x, y)| Step::new(1.0, x.view(), 0.0, y.view_mut()));
    let mut replay = plan.record(steps.collect()).unwrap();
    for k in [5, 6, 7] {
        plan.prepare(k).unwrap();
    }
    replay.launch().unwrap();
    for (y, start) in ys.iter().zip(&starts) {
        assert_eq!(read(y), &*a * start);
    }
}

#[test]
fn emulator_replays() {
    recorded(Accelerator::Emulator);
}
#[test]
fn gpu_replays() {
    recorded(Accelerator::Cuda(0));
}

/// Plans with streams of their own, started from several threads; one reads what the other writes.
fn streams(accelerator: Accelerator) {
    let Some(machine) = machine(accelerator) else { return };
    let size = if accelerator == Accelerator::Emulator { 5 } else { 300 };
    let a = load::<f64>(&format!("stencil5:{size}"));
    let start = dense::<f64>(size * size, 2, 0, Values::Integers, 5);
    let expected = &*a * &(&*a * &start);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let (first, second) =
                    (machine.with_new_stream().unwrap(), machine.with_new_stream().unwrap());
                let plans = [&first, &second].map(|on| Plan::new(a.clone(), on).unwrap());
                for _ in 0..20 {
                    let x = on_device(&first, "X", &start);
                    let mut between = on_device(&first, "between", &start);
                    let mut y = on_device(&second, "Y", &start);
                    plans[0].apply_on_device(1.0, x.view(), 0.0, between.view_mut()).unwrap();
                    plans[1].apply_on_device(1.0, between.view(), 0.0, y.view_mut()).unwrap();
                    drop(between); // given back only after it has been read
                    let other = on_device(&first, "other", &start);
                    assert_eq!(read(&y), expected);
                    assert_eq!(read(&other), start);
                }
                let [first, second] = [&plans[0], &plans[1]].map(|plan| plan.device().unwrap());
                second.wait_for(first).unwrap();
                second.synchronize().unwrap();
            });
        }
    });
}

#[test]
fn emulator_orders_streams() {
    streams(Accelerator::Emulator);
}
#[test]
fn gpu_orders_streams() {
    streams(Accelerator::Cuda(0));
}

/// Pageable and pinned memory, on both sides of what is staged and of the chunks; β ≠ 0; overlapped.
#[test]
fn gpu_copies_from_all_kinds_of_memory() {
    let Some(machine) = machine(Accelerator::Cuda(0)) else { return };
    for (rows, k) in [(100, 1), (131_072, 1), (524_288, 1), (524_289, 1), (1_000_000, 3)] {
        let a = load::<f64>(&format!("band:{rows}x3"));
        let x = dense::<f64>(rows, k, 0, Values::Integers, 3);
        let expected = &*a * &x;
        let plan = Plan::new(a.clone(), &machine).unwrap();
        let mut y = Dense::filled(rows, k, f64::NAN).unwrap();
        plan.apply(1.0, x.view(), 0.0, y.view_mut()).unwrap();
        assert_eq!(y, expected, "{rows} × {k}, pageable");
        plan.apply(1.0, x.view(), 1.0, y.view_mut()).unwrap();
        assert!(
            y.data().iter().zip(expected.data()).all(|(y, once)| *y == 2.0 * once),
            "{rows} × {k}, added"
        );
        let phases = plan.phases();
        assert!([phases.upload_ns, phases.run_ns, phases.download_ns].iter().all(|ns| ns.unwrap() > 0.0));

        let (mut pinned_x, mut pinned_y) =
            (machine.pinned_dense(rows, k).unwrap(), machine.pinned_dense(rows, k).unwrap());
        assert!(pinned_x.is_pinned());
        pinned_x.data_mut().copy_from_slice(x.data());
        let pays = plan.overlap_copies(k).unwrap();
        assert_eq!(pays, rows * k * 8 >= 2 << 20);
        for run in 0..3 {
            pinned_y.data_mut().fill(f64::NAN);
            plan.apply(1.0, pinned_x.view(), 0.0, pinned_y.view_mut()).unwrap();
            assert_eq!(pinned_y.data(), expected.data(), "{rows} × {k}, pinned, run {run}");
            assert_eq!(plan.phases().overlapped_ns.is_some(), pays);
        }
    }
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// Microseconds per call on the host of 1000 calls that only enqueue, the median of 21 rounds.
fn microseconds_per_call(machine: &Machine, mut call: impl FnMut()) -> f64 {
    let device = machine.device().unwrap();
    let round = |_| {
        device.synchronize().unwrap();
        let start = Instant::now();
        (0..1000).for_each(|_| call());
        let enqueued = start.elapsed().as_secs_f64();
        device.synchronize().unwrap();
        enqueued * 1e3
    };
    median((0..21).map(round).collect())
}

#[test]
#[ignore = "measures; on a GPU"]
fn host_side_cost_of_apply_on_device() {
    let Some(machine) = machine(Accelerator::Cuda(0)) else { return };
    let device = machine.device().unwrap();
    let text = "extern \"C\" __global__ void nothing(const double* x, double* y) {}";
    let kernel = device.kernel(&KernelSource::new("nothing", "nothing.cu", text)).unwrap();
    let a = load::<f64>("stencil5:8");
    let x = on_device(&machine, "X", &dense::<f64>(64, 8, 0, Values::Reals, 1));
    let mut y = on_device(&machine, "Y", &dense::<f64>(64, 8, 0, Values::Reals, 1));
    let plan = LaunchPlan::linear(device.limits(), Some(64), 64).unwrap();
    let pointers = [Argument::of(x.view().address()), Argument::of(y.view().address())];
    // SAFETY: it does nothing with its two pointers.
    let bare = microseconds_per_call(&machine, || unsafe { kernel.launch(&plan, &pointers) }.unwrap());
    println!("a bare launch: {bare:.2} µs");
    for (name, variant) in [("auto", None), ("one thread per element", Some("csr-cuda-thread-per-element"))] {
        let plan = match variant {
            Some(variant) => Plan::with_variant(variant, a.clone(), &machine).unwrap(),
            None => Plan::new(a.clone(), &machine).unwrap(),
        };
        let took = microseconds_per_call(&machine, || {
            plan.apply_on_device(1.0, x.view(), 0.0, y.view_mut()).unwrap();
        });
        let launches = plan.launches(8).unwrap().len();
        println!("apply_on_device, {name} ({launches} launches): {took:.2} µs, {:.2} more", took - bare);
        assert!(took - bare * launches as f64 <= 5.0, "{took} µs");
    }
    let plan = Plan::new(a, &machine).unwrap();
    let mut replay = plan.record(vec![Step::new(1.0, x.view(), 0.0, y.view_mut())]).unwrap();
    let took = microseconds_per_call(&machine, || replay.launch().unwrap());
    println!("the same recorded: {took:.2} µs");
}

#[test]
#[ignore = "measures; on a GPU"]
fn from_pinned_memory_against_the_copies_alone() {
    let Some(machine) = machine(Accelerator::Cuda(0)) else { return };
    let device = machine.device().unwrap();
    for (matrix, ks) in [
        ("stencil27:100", &[1, 4, 8, 32][..]),
        ("uniform:1000000x16", &[1, 8, 32]),
        ("powerlaw:1000000x16", &[8]),
    ] {
        let a = load::<f64>(matrix);
        for &k in ks {
            let mut x = machine.pinned_dense::<f64>(a.cols(), k).unwrap();
            let mut y = machine.pinned_dense::<f64>(a.rows(), k).unwrap();
            x.data_mut().fill(1.0);
            let mut on_x = device.allocate::<f64>("X", x.data().len()).unwrap();
            let on_y = device.allocate::<f64>("Y", y.data().len()).unwrap();
            let whole = Plan::new(a.clone(), &machine).unwrap();
            let blocks = Plan::new(a.clone(), &machine).unwrap();
            blocks.overlap_copies(k).unwrap();
            let mut pageable = Dense::filled(a.rows(), k, 0.0).unwrap();
            let pageable_x = Dense::from_rows(a.cols(), k, x.data().to_vec()).unwrap();
            let (mut copies, mut applied, mut overlapped, mut staged) = (vec![], vec![], vec![], vec![]);
            let ms = |times: &mut Vec<f64>, call: &mut dyn FnMut()| {
                let start = Instant::now();
                call();
                times.push(start.elapsed().as_secs_f64() * 1e3);
            };
            for _ in 0..15 {
                ms(&mut copies, &mut || {
                    on_x.write(x.data()).unwrap();
                    on_y.read(y.data_mut()).unwrap();
                });
                ms(&mut applied, &mut || whole.apply(1.0, x.view(), 0.0, y.view_mut()).unwrap());
                ms(&mut overlapped, &mut || blocks.apply(1.0, x.view(), 0.0, y.view_mut()).unwrap());
                ms(&mut staged, &mut || {
                    whole.apply(1.0, pageable_x.view(), 0.0, pageable.view_mut()).unwrap();
                });
            }
            let copies = median(copies);
            let told = [("whole", applied), ("overlapped", overlapped), ("pageable", staged)].map(
                |(name, times)| {
                    let took = median(times);
                    format!("{name} {took:.3} ms ({:.2} ×)", took / copies)
                },
            );
            println!("{matrix}, k = {k}: pinned copies alone {copies:.3} ms, {}", told.join(", "));
        }
    }
}
