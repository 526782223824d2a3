//! Kernels with ptx.cuh and other headers.

mod copies;
mod tensor_cores;

use crate::device::emulator::tests::*;
use crate::device::source::{Architecture, PTX, SM_90A};
use crate::refusal::Refusal;

/// The kernel `k` of this text after the two headers, which are lines 1 and 2.
fn with_ptx(body: &str) -> KernelSource {
    let text = format!("#include \"ordito.cuh\"\n#include \"ptx.cuh\"\n{body}");
    KernelSource::new("k", "k.cu", text.leak()).include(PTX.0, PTX.1)
}

/// Runs `k(y, x)` with one block of `threads` in these orders; `y` then.
fn run_on<T: Pod, X: Pod>(
    orders: &[Order],
    body: &str,
    threads: u32,
    y: &[T],
    x: &[X],
) -> Result<Vec<T>, DeviceError> {
    let device = Device::Emulator(Emulator::with_orders(orders).unwrap());
    let kernel = device.kernel(&with_ptx(body)).unwrap();
    let (mut result, x) = (device.upload("Y", y).unwrap(), device.upload("X", x).unwrap());
    let plan = LaunchPlan::new(device.limits(), [1, 1, 1], [threads, 1, 1], 1 << 10).unwrap();
    // SAFETY: the emulator lets a kernel touch nothing but the buffers that its arguments point into.
    unsafe { kernel.launch(&plan, &[Argument::from(&mut result), Argument::from(&x)]) }?;
    let mut y = y.to_vec();
    result.read(&mut y)?;
    Ok(y)
}

fn run_all<T: Pod, X: Pod>(body: &str, threads: u32, y: &[T], x: &[X]) -> Result<Vec<T>, DeviceError> {
    run_on(&Order::ALL, body, threads, y, x)
}

fn fault<T: Pod, X: Pod>(body: &str, threads: u32, y: &[T], x: &[X]) -> String {
    run_all(body, threads, y, x).map(|_| ()).unwrap_err().to_string()
}

#[test]
fn a_kernel_for_one_generation_of_gpus_is_not_emulated() {
    if no_compiler() {
        return;
    }
    const BOTH: &[Architecture] = &[Architecture::plain(80), SM_90A];
    let source = with_ptx("extern \"C\" __global__ void k(int* y) {}");
    assert!(device().kernel(&source.clone().only_for(BOTH)).is_ok());
    assert_eq!(
        device().kernel(&source.only_for(&[SM_90A])).unwrap_err(),
        Refusal::NotEmulated("k.cu is written for sm_90a".into())
    );
}

#[test]
fn faults_in_headers_name_their_lines() {
    if no_compiler() {
        return;
    }
    let header = "#pragma once\n__device__ inline void put(int* y, u32 i) {\n    y[i] = 1;\n}\n";
    let text = "#include \"ordito.cuh\"\n#include \"put.cuh\"\nextern \"C\" __global__ void k(int* y) {\n    put(y, 1);\n}";
    let kernel = device().kernel(&KernelSource::new("k", "k.cu", text).include("put.cuh", header)).unwrap();
    let mut y = device().upload("Y", &[0]).unwrap();
    // SAFETY: the emulator lets a kernel touch nothing but the buffers that its arguments point into.
    let error =
        unsafe { kernel.launch(&plan([1, 1, 1], [1, 1, 1], 0), &[Argument::from(&mut y)]) }.unwrap_err();
    assert_says(&error.to_string(), &["out-of-bounds write of 4 bytes", "at put.cuh:3"]);
}
