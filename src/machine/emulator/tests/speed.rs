//! How fast it is: `cargo test --release emulator::tests::speed -- --ignored --nocapture`.

use super::*;
use std::time::Instant;

fn measure(name: &str, body: &str, threads: u64, orders: &[Order]) {
    let device = Device::Emulator(Emulator::with_orders(orders).unwrap());
    let kernel = device.kernel(&source(body)).unwrap();
    let mut y = device.upload("Y", &vec![1.0_f64; threads as usize]).unwrap();
    let plan = LaunchPlan::linear(device.limits(), Some(threads), 256).unwrap();
    let mut best = f64::INFINITY;
    for _ in 0..5 {
        let start = Instant::now();
        kernel.launch(&plan, &[Argument::from(&mut y)]).unwrap();
        best = best.min(start.elapsed().as_secs_f64());
    }
    println!(
        "{name}, {} order(s): {threads} threads in {:.3} ms, {:.2e} threads/s",
        orders.len(),
        best * 1e3,
        threads as f64 / best
    );
}

#[test]
#[ignore = "a measurement"]
fn threads_per_second() {
    if no_compiler() {
        return;
    }
    let empty = "extern \"C\" __global__ void k(double* y) {}";
    let plain = r#"extern "C" __global__ void k(double* y) { y[thread_of_grid()] *= 2; }"#;
    let looping = r#"
extern "C" __global__ void k(double* y) {
    double sum = 0;
    const double* x = y + thread_of_grid();
    for (int i = 0; i < 100; ++i) sum += *(const volatile double*)x;
    y[thread_of_grid()] = sum;
}"#;
    let warps = r#"
extern "C" __global__ void k(double* y) {
    double sum = y[thread_of_grid()];
    for (int i = 0; i < 5; ++i) __syncwarp();
    y[thread_of_grid()] = sum;
}"#;
    let shuffles = r#"
extern "C" __global__ void k(double* y) {
    double sum = y[thread_of_grid()];
    for (int o = 16; o > 0; o /= 2) sum += __shfl_xor_sync(0xffffffff, sum, o);
    y[thread_of_grid()] = sum;
}"#;
    let blocks = r#"
extern "C" __global__ void k(double* y) {
    __shared__ double part[256];
    part[threadIdx.x] = y[thread_of_grid()];
    for (int half = 128; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    }
    if (threadIdx.x == 0) y[thread_of_grid()] = part[0];
}"#;
    let kernels = [
        ("empty", empty),
        ("2 accesses", plain),
        ("100 reads and 1 write", looping),
        ("5 __syncwarp", warps),
        ("5 shuffles", shuffles),
        ("block reduction, 8 __syncthreads", blocks),
    ];
    for (name, body) in kernels {
        for threads in [256, 1 << 18] {
            measure(name, body, threads, &[Order::Ascending]);
        }
        measure(name, body, 1 << 18, &Order::ALL);
    }
}
