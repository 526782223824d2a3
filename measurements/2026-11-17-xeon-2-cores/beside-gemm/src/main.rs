//! Ordito's dense products on the CPU by turns with the crate `gemm`, by which they were computed before.
//!
//! `beside-gemm THREADS SHAPE…`: a shape is a side, `1000`, or `1000x777x1234`. Medians; above 1 Ordito is faster.

use gemm_common::Parallelism;
use ordito::gemm::{Plan, Shape};
use ordito::{DenseView, DenseViewMut, Machine};
use std::time::Instant;

/// Multiply-adds below which the crate was not given a second thread.
const SERIAL_BELOW: usize = 48 * 48 * 256;

fn median(mut seconds: Vec<f64>) -> f64 {
    seconds.sort_by(f64::total_cmp);
    seconds[seconds.len() / 2]
}

fn seconds(times: usize, work: &mut dyn FnMut()) -> f64 {
    let start = Instant::now();
    (0..times).for_each(|_| work());
    start.elapsed().as_secs_f64() / times as f64
}

/// How often in a turn, and how many turns, so that both take about a second.
fn rounds(once: f64) -> (usize, usize) {
    let times = ((2e-4 / once) as usize).clamp(1, 1000);
    (times, ((0.6 / (once * times as f64)) as usize).clamp(5, 101))
}

macro_rules! compare {
    ($scalar:ident, $function:expr, $shape:expr, $threads:expr, $machine:expr, $pool:expr) => {{
        let Shape { m, k, n } = $shape;
        let numbers = |count: usize, step: usize| -> Vec<$scalar> {
            (0..count).map(|i| ((i * step) % 1000) as $scalar / 500.0 - 1.0).collect()
        };
        let (a, b) = (numbers(m * k, 7919), numbers(k * n, 104_729));
        let (mut ours, mut theirs) = (vec![0.0; m * n], vec![0.0; m * n]);
        let mut plan = Plan::<$scalar>::new($shape, &$machine).unwrap();
        let mut by_ordito = || {
            let view = |data, rows, cols| DenseView::new(data, rows, cols, cols).unwrap();
            let c = DenseViewMut::new(&mut ours, m, n, n).unwrap();
            plan.apply(1.0, view(&a, m, k), view(&b, k, n), 0.0, c).unwrap();
        };
        let mut by_crate = || {
            // SAFETY: three matrices of these shapes, row after row: it is asked for the transposed of each.
            let multiply = |c: &mut Vec<$scalar>, parallelism| unsafe {
                let (a, b, c) = (a.as_ptr(), b.as_ptr(), c.as_mut_ptr());
                let (k_step, n_step) = (k as isize, n as isize);
                $function(
                    n,
                    m,
                    k,
                    c,
                    n_step,
                    1,
                    false,
                    b,
                    n_step,
                    1,
                    a,
                    k_step,
                    1,
                    0.0,
                    1.0,
                    false,
                    false,
                    false,
                    parallelism,
                );
            };
            match $threads {
                1 => multiply(&mut theirs, Parallelism::None),
                _ if m * k * n < SERIAL_BELOW => multiply(&mut theirs, Parallelism::None),
                threads => $pool.install(|| multiply(&mut theirs, Parallelism::Rayon(threads))),
            }
        };
        by_ordito();
        by_crate();
        let (times, turns) = rounds(seconds(1, &mut by_crate));
        let (mut of_ordito, mut of_crate) = (Vec::new(), Vec::new());
        for _ in 0..turns {
            of_ordito.push(seconds(times, &mut by_ordito));
            of_crate.push(seconds(times, &mut by_crate));
        }
        let error = ours.iter().zip(&theirs).map(|(x, y)| (x - y).abs()).fold(0.0, $scalar::max);
        assert!(error <= 10.0 * k as $scalar * $scalar::EPSILON, "{m}x{k}x{n}: {error}");
        let (of_ordito, of_crate) = (median(of_ordito), median(of_crate));
        let flops = 2.0 * (m * k * n) as f64;
        println!(
            "{} {:2} threads {m}x{k}x{n}: {:.1} us, {:.1} GFLOP/s, {:.3} over the crate",
            stringify!($scalar),
            $threads,
            of_ordito * 1e6,
            flops / of_ordito / 1e9,
            of_crate / of_ordito
        );
        of_crate / of_ordito
    }};
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [threads, shapes @ ..] = &arguments[..] else { panic!("beside-gemm THREADS SHAPE…") };
    let threads: usize = threads.parse().expect("a number of threads");
    let machine = Machine::with_threads(threads).expect("these threads");
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("these threads");
    let mut ratios = Vec::new();
    for text in shapes {
        let sides: Vec<usize> = text.split('x').map(|side| side.parse().expect("a side")).collect();
        let shape = match sides[..] {
            [side] => Shape::square(side),
            [m, k, n] => Shape { m, k, n },
            _ => panic!("{text}: one side or three"),
        };
        ratios.push(compare!(f64, gemm_f64::gemm::f64::get_gemm_fn(), shape, threads, machine, pool));
        ratios.push(compare!(f32, gemm_f32::gemm::f32::get_gemm_fn(), shape, threads, machine, pool));
    }
    let mean = (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len() as f64).exp();
    println!("geometric mean over the crate: {mean:.3}");
}
