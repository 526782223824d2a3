//! Bugs planted into real kernels: the emulator, or the comparison with the right result, must catch every one.
//! Skipped with a note where there is no C++ compiler.

#![allow(clippy::unwrap_used, clippy::print_stderr)] // a test that cannot go on says so
use ordito::device::{Argument, Buffer, Device, DeviceError, Emulator, KernelSource, LaunchPlan};

const THREAD: &str = include_str!("../src/spmm/cuda/ladder/csr_cuda_thread.cu");

fn emulator() -> Option<Device> {
    match Emulator::open() {
        Ok(emulator) => Some(Device::Emulator(emulator)),
        Err(refusal) => {
            let required = std::env::var("ORDITO_REQUIRE_EMULATOR").is_ok_and(|value| value == "1");
            assert!(!required, "ORDITO_REQUIRE_EMULATOR=1, but: {refusal}");
            eprintln!("skipped: {refusal}");
            None
        }
    }
}

/// A 5 × 4 matrix with an empty row, in CSR.
const ROW_STARTS: [u32; 6] = [0, 2, 2, 5, 6, 8];
const COLUMNS: [u32; 8] = [0, 3, 1, 2, 3, 0, 1, 3];
const VALUES: [f64; 8] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0];
const K: usize = 3;
const X_ROWS: usize = 4;

fn x() -> Vec<f64> {
    (0..X_ROWS * K).map(|i| i as f64 - 4.0).collect()
}

fn expected() -> Vec<f64> {
    let x = x();
    let element = |row: usize, col: usize| {
        (ROW_STARTS[row]..ROW_STARTS[row + 1])
            .map(|i| VALUES[i as usize] * x[COLUMNS[i as usize] as usize * K + col])
            .sum()
    };
    (0..5).flat_map(|row| (0..K).map(move |col| (row, col))).map(|(row, col)| element(row, col)).collect()
}

/// Y of the thread-per-element kernel with this text.
fn multiply(device: &Device, text: String) -> Result<Vec<f64>, DeviceError> {
    multiply_by(device, KernelSource::new("csr_thread", "csr_cuda_thread.cu", text.leak()), 1)
}

/// Y of a kernel that has so many threads per element.
fn multiply_by(device: &Device, source: KernelSource, threads: u64) -> Result<Vec<f64>, DeviceError> {
    let source = source.define("SCALAR", "double").define("OFFSET", "u32").define("THREADS_PER_BLOCK", 512);
    let kernel = device.kernel(&source).unwrap();
    let row_starts = device.upload("row starts of A", &ROW_STARTS).unwrap();
    let columns = device.upload("columns of A", &COLUMNS).unwrap();
    let values = device.upload("values of A", &VALUES).unwrap();
    let x = device.upload("X", &x()).unwrap();
    let mut y: Buffer<f64> = device.allocate("Y", 5 * K).unwrap();
    let arguments = [
        Argument::of(5_u64),
        Argument::of(K as u64),
        Argument::from(&row_starts),
        Argument::from(&columns),
        Argument::from(&values),
        Argument::from(&x),
        Argument::of(K as u64),
        Argument::from(&mut y),
        Argument::of(K as u64),
        Argument::of(1.0_f64),
        Argument::of(0.0_f64),
    ];
    let plan = LaunchPlan::linear(device.limits(), Some(5 * K as u64 * threads), 32).unwrap();
    // SAFETY: the emulator lets a kernel touch nothing but the buffers that its arguments point into.
    unsafe { kernel.launch(&plan, &arguments) }?;
    let mut result = vec![0.0; 5 * K];
    y.read(&mut result)?;
    Ok(result)
}

/// The text with `right` replaced, which must occur.
fn plant(text: &str, right: &str, wrong: &str) -> String {
    assert!(text.contains(right), "`{right}` is no longer in the kernel");
    text.replace(right, wrong)
}

#[test]
fn the_kernel_as_it_is_gives_the_right_result() {
    let Some(device) = emulator() else { return };
    assert_eq!(multiply(&device, THREAD.into()).unwrap(), expected());
}

#[test]
fn every_planted_bug_is_caught() {
    let Some(device) = emulator() else { return };
    // What is planted, and what the message must say; empty: the result must be wrong.
    let bugs = [
        (
            "row_starts[row + 1]",
            "row_starts[row + 2]",
            "out-of-bounds read of 4 bytes at byte 24 of row starts of A",
        ),
        ("row >= rows", "row > rows", "out-of-bounds read of 4 bytes at byte 24 of row starts of A"),
        ("if (row >= rows) return;", "", "row starts of A"),
        ("i < end", "i <= end", "out-of-bounds read"),
        ("columns[i] * x_distance", "(columns[i] + 1) * x_distance", "of X, which has 96 bytes"),
        ("y[row * y_distance + col]", "y[col * y_distance + row]", "data race on global memory: write"),
        ("y[row * y_distance + col]", "y[row]", "data race on global memory: write"),
        (
            "y[row * y_distance + col]",
            "y[row * y_distance + col + 1]",
            "out-of-bounds write of 8 bytes at byte 120 of Y",
        ),
        ("element % k", "element % k + 1", "out-of-bounds"),
        ("i = row_starts[row];", "i = row_starts[row] + 1;", ""),
        ("sum += values", "sum = values", ""),
        ("const SCALAR* x,", "const float* x,", ""),
        ("SCALAR sum = 0;", "__shared__ SCALAR sum; sum = 0;", "data race on shared memory"),
        ("SCALAR sum = 0;", "__shared__ SCALAR sum;", "read of uninitialised shared memory"),
    ];
    let right = expected();
    for (line, wrong, said) in bugs {
        match multiply(&device, plant(THREAD, line, wrong)) {
            Ok(result) => assert!(said.is_empty() && result != right, "{line} -> {wrong} was not caught"),
            Err(error) => {
                let error = error.to_string();
                assert!(!said.is_empty() && error.contains(said), "{line} -> {wrong}: {error}");
                assert!(error.contains("csr_cuda_thread.cu:") || !addr2line_is_there(), "{error}");
            }
        }
    }
    assert_eq!(multiply(&device, THREAD.into()).unwrap(), right, "and it still works");
}

fn addr2line_is_there() -> bool {
    std::process::Command::new("addr2line").arg("--version").output().is_ok()
}

/// The texts with one of the barriers left out, each in turn.
fn without_each(text: &str, barrier: &str) -> Vec<String> {
    let places: Vec<usize> = text.match_indices(barrier).map(|(at, _)| at).collect();
    assert!(!places.is_empty(), "`{barrier}` is no longer in the kernel");
    places.iter().map(|&at| format!("{};{}", &text[..at], &text[at + barrier.len()..])).collect()
}

#[test]
fn no_barrier_of_the_warp_kernel_can_be_left_out() {
    let Some(device) = emulator() else { return };
    let warp = include_str!("../src/spmm/cuda/ladder/csr_cuda_warp.cu");
    let run = |text: String| {
        multiply_by(&device, KernelSource::new("csr_warp", "csr_cuda_warp.cu", text.leak()), 32)
    };
    assert_eq!(run(warp.into()).unwrap(), expected());
    let planted = without_each(warp, "__syncwarp();");
    assert_eq!(planted.len(), 5);
    for (number, text) in planted.into_iter().enumerate() {
        let error = run(text).expect_err("a barrier was left out").to_string();
        assert!(error.contains("shared memory"), "barrier {number}: {error}");
    }
}

/// Y of CSR_Adaptive with one column and blocks of two threads: rows 0 and 1 together, then one row each; row 2 is longer
/// than the block.
fn multiply_adaptive(device: &Device, text: String) -> Result<Vec<f64>, DeviceError> {
    let source = KernelSource::new("csr_adaptive", "csr_cuda_adaptive.cu", text.leak());
    let source = source.define("SCALAR", "double").define("OFFSET", "u32").define("THREADS_PER_BLOCK", 512);
    let kernel = device.kernel(&source).unwrap();
    let row_starts = device.upload("row starts of A", &ROW_STARTS).unwrap();
    let columns = device.upload("columns of A", &COLUMNS).unwrap();
    let values = device.upload("values of A", &VALUES).unwrap();
    let row_blocks = device.upload("row blocks of A", &[0_u32, 2, 3, 4, 5]).unwrap();
    let x = device.upload("X", &[1.0, 10.0, 100.0, 1000.0]).unwrap();
    let mut y: Buffer<f64> = device.allocate("Y", 5).unwrap();
    let arguments = [
        Argument::of(5_u64),
        Argument::of(1_u64),
        Argument::from(&row_starts),
        Argument::from(&columns),
        Argument::from(&values),
        Argument::from(&row_blocks),
        Argument::from(&x),
        Argument::of(4_u64),
        Argument::from(&mut y),
        Argument::of(1_u64),
        Argument::of(1.0_f64),
        Argument::of(0.0_f64),
    ];
    let plan = LaunchPlan::new(device.limits(), [4, 1, 1], [2, 1, 1], 16).unwrap();
    // SAFETY: the emulator lets a kernel touch nothing but the buffers that its arguments point into.
    unsafe { kernel.launch(&plan, &arguments) }?;
    let mut result = vec![0.0; 5];
    y.read(&mut result)?;
    Ok(result)
}

#[test]
fn no_barrier_of_the_adaptive_kernel_can_be_left_out() {
    let Some(device) = emulator() else { return };
    let adaptive = include_str!("../src/spmm/cuda/ladder/csr_cuda_adaptive.cu");
    assert_eq!(multiply_adaptive(&device, adaptive.into()).unwrap(), [2001.0, 0.0, 5430.0, 6.0, 8070.0]);
    for (number, text) in without_each(adaptive, "__syncthreads();").into_iter().enumerate() {
        let error = multiply_adaptive(&device, text).expect_err("a barrier was left out").to_string();
        assert!(error.contains("shared memory"), "barrier {number}: {error}");
    }
    // A row bound that is too large by one reaches into the next row, or behind the matrix.
    let wrong = plant(adaptive, "end = row_starts[end_row]", "end = row_starts[end_row] + 1");
    let error = multiply_adaptive(&device, wrong).expect_err("a wrong row bound").to_string();
    assert!(error.contains("out-of-bounds"), "{error}");
}

/// Sums of rows of 64 numbers: a block per row, warps reduce by shuffles and meet in shared memory.
const BLOCK_SUM: &str = r#"
#include "ordito.cuh"
extern "C" __global__ void block_sum(const double* x, double* y) {
    __shared__ double of_warp[2];
    const u32 warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;
    double sum = x[blockIdx.x * 64 + threadIdx.x];
    for (u32 distance = WARP / 2; distance > 0; distance /= 2) sum += __shfl_down_sync(0xffffffff, sum, distance);
    if (lane == 0) of_warp[warp] = sum;
    __syncthreads();
    if (threadIdx.x == 0) y[blockIdx.x] = of_warp[0] + of_warp[1];
}
"#;

fn block_sums(device: &Device, text: String) -> Result<Vec<f64>, DeviceError> {
    let kernel = device.kernel(&KernelSource::new("block_sum", "block_sum.cu", text.leak())).unwrap();
    let x: Vec<f64> = (0..3 * 64).map(f64::from).collect();
    let x = device.upload("X", &x).unwrap();
    let mut y: Buffer<f64> = device.allocate("Y", 3).unwrap();
    let plan = LaunchPlan::linear(device.limits(), Some(3 * 64), 64).unwrap();
    // SAFETY: the emulator lets a kernel touch nothing but the buffers that its arguments point into.
    unsafe { kernel.launch(&plan, &[Argument::from(&x), Argument::from(&mut y)]) }?;
    let mut result = vec![0.0; 3];
    y.read(&mut result)?;
    Ok(result)
}

#[test]
fn missing_and_wrong_barriers_are_caught() {
    let Some(device) = emulator() else { return };
    let right = [2016.0, 6112.0, 10208.0];
    assert_eq!(block_sums(&device, BLOCK_SUM.into()).unwrap(), right);
    let bugs = [
        ("__syncthreads();", "", "shared memory"),
        ("__syncthreads();", "__syncwarp();", "shared memory"),
        (
            "__syncthreads();",
            "if (lane == 0) { __syncthreads(); __syncwarp(1); } else __syncwarp(0xfffffffc);",
            "__syncwarp",
        ),
        ("if (lane == 0) of_warp", "of_warp", "data race on shared memory: write of 8 bytes"),
        (
            "of_warp[warp] = sum",
            "of_warp[lane] = sum",
            "data race on shared memory: write of 8 bytes at byte 0",
        ),
        ("distance > 0", "distance > 1", ""),
        ("threadIdx.x == 0)", "lane == 0)", "data race on global memory: write"),
        ("0xffffffff", "0x0000ffff", "shuffle to lane 0 from lane 16, which takes no part"),
    ];
    for (line, wrong, said) in bugs {
        match block_sums(&device, plant(BLOCK_SUM, line, wrong)) {
            Ok(result) => assert!(said.is_empty() && result != right, "{wrong}"),
            Err(error) => assert!(!said.is_empty() && error.to_string().contains(said), "{wrong}: {error}"),
        }
    }
    // A GPU does not wait for threads that have ended, and gives the right sums; CUDA does not promise that it will.
    let ended = plant(BLOCK_SUM, "__syncthreads();", "if (lane == 0) __syncthreads(); else return;");
    let error = block_sums(&device, ended).unwrap_err().to_string();
    assert!(error.contains("divergent barrier") && error.contains("62 have ended"), "{error}");
    assert_eq!(block_sums(&device, BLOCK_SUM.into()).unwrap(), right);
}

/// The mean of a column of 100 ones by the tree with an unrolled warp tail.
fn tree_mean(device: &Device, text: String) -> Result<f64, DeviceError> {
    let source = KernelSource::new("tree_sequential", "dense_cuda_tree_sequential.cu", text.leak());
    let kernel = device.kernel(&source.define("SCALAR", "double").define("THREADS", 64)).unwrap();
    let column: Vec<f64> = (0..128).map(|row| if row < 100 { 1.0 } else { 0.0 }).collect(); // padded to two rows for a thread
    let column = device.upload("the column", &column).unwrap();
    let mut mean: Buffer<f64> = device.allocate("mean", 1).unwrap();
    let plan = LaunchPlan::linear(device.limits(), Some(64), 64).unwrap();
    let [padded, rows] = [128_u64, 100].map(Argument::of);
    let arguments = [Argument::from(&column), padded, rows, Argument::from(&mut mean)];
    // SAFETY: the emulator lets a kernel touch nothing but the buffers that its arguments point into.
    unsafe { kernel.launch(&plan, &arguments) }?;
    let mut result = [0.0];
    mean.read(&mut result)?;
    Ok(result[0])
}

/// Lanes of a warp run on their own: what once was right by lockstep is a race.
#[test]
fn a_warp_tail_without_barriers_is_a_race() {
    let Some(device) = emulator() else { return };
    let text = include_str!("../src/column_stats/cuda/dense_cuda_tree_sequential.cu");
    assert_eq!(tree_mean(&device, text.to_owned()), Ok(1.0));
    assert_eq!(text.matches("__syncwarp();").count(), 2);
    let error = tree_mean(&device, text.replace("__syncwarp();", "")).unwrap_err().to_string();
    assert!(error.contains("data race on shared memory"), "{error}");
}

/// A struct of 48 or of 320 bytes, passed by value: g++ copies it for the call without telling anybody, unless there is no call.
#[test]
fn structs_passed_by_value_are_seen() {
    const TEXT: &str = "struct Row { double v[LENGTH]; };
template <typename T> __device__ __noinline__ T sum(Row row) {
    T total = 0;
    for (int i = 0; i < LENGTH; ++i) total += row.v[i];
    return total;
}
extern \"C\" __global__ void row_sums(const Row* rows, double* y) {
    y[threadIdx.x] = sum<double>(rows[threadIdx.x]);
}
";
    let Some(device) = emulator() else { return };
    for length in [6, 40] {
        let source = KernelSource::new("row_sums", "row_sums.cu", TEXT).define("LENGTH", length);
        let kernel = device.kernel(&source).unwrap();
        let rows = device.upload("the rows", &vec![1.0_f64; 2 * length]).unwrap();
        let sums = |threads: u64| {
            let mut y: Buffer<f64> = device.allocate("y", 3).unwrap();
            let plan = LaunchPlan::linear(device.limits(), Some(threads), threads as u32).unwrap();
            // SAFETY: the emulator lets a kernel touch nothing but the buffers that its arguments point into.
            unsafe { kernel.launch(&plan, &[Argument::from(&rows), Argument::from(&mut y)]) }?;
            let mut result = vec![0.0; 3];
            y.read(&mut result)?;
            Ok::<_, DeviceError>(result)
        };
        assert_eq!(sums(2).unwrap()[..2], [length as f64; 2]);
        let error = sums(3).unwrap_err().to_string();
        let said = format!("at byte {} of the rows", 2 * 8 * length);
        assert!(error.contains("out-of-bounds read of ") && error.contains(&said), "{error}");
    }
}
