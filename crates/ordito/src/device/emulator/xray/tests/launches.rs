//! Whole launches: several cores, some of the blocks, faults, tensor cores and copies.

use crate::device::emulator::xray::tests::*;
use crate::device::source::PTX;

const SAXPY: &str = r#"
extern "C" __global__ void k(const float* x, float* y) {
    const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = 2 * x[i] + y[i];
}"#;

fn saxpy(most_blocks: Option<u64>, cores: usize) -> Option<LaunchXray> {
    let (device, emulator) = counting(most_blocks, cores)?;
    let text = format!("#include \"ordito.cuh\"\n{SAXPY}");
    let source = KernelSource::new("k", "k.cu", text.leak());
    let n = 1000 * 128;
    let mut x = device.upload("X", &vec![1.0_f32; n]).unwrap();
    let mut y = device.upload("Y", &vec![1.0_f32; n]).unwrap();
    run(&device, &source, ([1000, 1, 1], [128, 1, 1], 0), &[Argument::from(&mut x), Argument::from(&mut y)]);
    let mut result = vec![0.0; n];
    y.read(&mut result).unwrap();
    let changed = result.iter().filter(|&&y| y == 3.0).count();
    assert_eq!(changed, most_blocks.unwrap_or(1000) as usize * 128);
    emulator.take_xray().pop()
}

#[test]
fn any_number_of_cores_counts_the_same() {
    let Some(mut one) = saxpy(None, 1) else { return };
    let mut three = saxpy(None, 3).unwrap();
    assert_eq!(three.cores, 3);
    let blank = |launch: &mut LaunchXray| (launch.seconds, launch.cores) = (0.0, 0);
    blank(&mut one);
    blank(&mut three);
    assert_eq!(one, three);
    assert_eq!((loads(&one).instructions, loads(&one).sectors), (8000, 32_000));
    assert_eq!((one.caches.dram_read_bytes, one.caches.dram_written_bytes), (1_024_000, 512_000));
    assert_eq!((one.caches.l2_far_read_sectors, one.caches.l2_far_written_sectors), (16_000, 8_000), "half");
    assert_eq!((one.blocks, one.factor), (1000, 1.0));
}

#[test]
fn some_blocks_stand_for_all_and_the_factor_says_so() {
    let Some(some) = saxpy(Some(10), 2) else { return };
    assert_eq!((some.blocks, some.blocks_counted, some.factor), (1000, 10, 100.0));
    assert_eq!(loads(&some).sectors, 320);
}

#[test]
fn what_leads_out_of_bounds_is_a_fault_with_its_line() {
    let Some((device, _)) = counting(None, 2) else { return };
    let text = format!("#include \"ordito.cuh\"\n{SAXPY}");
    let kernel = device.kernel(&KernelSource::new("k", "k.cu", text.leak())).unwrap();
    let mut x = device.upload("X", &[0.0_f32; 100]).unwrap();
    let mut y = device.upload("Y", &[0.0_f32; 128]).unwrap();
    let plan = LaunchPlan::new(device.limits(), [1, 1, 1], [128, 1, 1], 0).unwrap();
    // SAFETY: it reads behind the end of X, but the emulator lets it touch nothing else.
    let error =
        unsafe { kernel.launch(&plan, &[Argument::from(&mut x), Argument::from(&mut y)]) }.unwrap_err();
    let message = error.to_string();
    assert!(
        message.contains("out-of-bounds read of 4 bytes at byte 400 of X") && message.contains("k.cu:5"),
        "{message}"
    );
}

#[test]
fn a_loop_without_an_end_is_a_fault() {
    let Some((device, _)) = counting(None, 1) else { return };
    let text = "extern \"C\" __global__ void k(volatile float* x, volatile float* y) {\n    for (;;) { y[0] += x[0]; }\n}\n";
    let kernel = device.kernel(&KernelSource::new("k", "k.cu", text)).unwrap();
    let [mut x, mut y] = ["X", "Y"].map(|name| device.upload(name, &[0.0_f32; 1]).unwrap());
    let plan = LaunchPlan::new(device.limits(), [1, 1, 1], [32, 1, 1], 0).unwrap();
    // SAFETY: the emulator lets a kernel touch nothing but the buffers that its arguments point into.
    let error = unsafe { kernel.launch(&plan, &[Argument::from(&mut x), Argument::from(&mut y)]) };
    let message = error.unwrap_err().to_string();
    assert!(message.contains("a loop without an end"), "{message}");
}

/// Where an access went last is remembered; lanes may go elsewhere.
#[test]
fn what_was_found_once_is_not_taken_for_allowed_elsewhere() {
    let body = r#"
extern "C" __global__ void k(const float* x, float* y) {
    __shared__ float s[32];
    const float* from = threadIdx.x % 2 ? x : s;
    s[threadIdx.x] = 1;
    __syncwarp();
    y[threadIdx.x] = from[threadIdx.x];
}"#;
    let Some(launch) = count(body, ([1, 1, 1], [32, 1, 1], 0), 32) else { return };
    assert_eq!((loads(&launch).instructions, loads(&launch).lanes), (1, 16));
    let shared = launch.total(Space::Shared, Access::Load);
    assert_eq!((shared.instructions, shared.lanes), (1, 16));
}

#[test]
fn volatile_loads_pass_by_the_first_level() {
    for (again, hits) in
        [("*p", 4), ("__ldg(p)", 4), ("*(const volatile float*)p", 0), ("__ldcg(p)", 0), ("__ldcv(p)", 0)]
    {
        let body = format!(
            "extern \"C\" __global__ void k(const float* x, float* y) {{\n    const float* p = x + threadIdx.x;\n    \
             float sum = *p;\n    __syncwarp();\n    y[threadIdx.x] = sum + {again};\n}}"
        );
        let Some(launch) = count(&body, ([1, 1, 1], [32, 1, 1], 0), 32) else { return };
        let loads = loads(&launch);
        assert_eq!((loads.instructions, loads.sectors, loads.l1_hits), (2, 8, hits), "{again}");
    }
}

/// Vectors of numbers, too, each by one access.
#[test]
fn fresh_loads_of_vectors_pass_by_the_first_level() {
    for (vector, numbers) in [("float2", 2), ("float4", 4), ("double2", 4), ("uint4", 4)] {
        for (again, hits) in [("*p", 4 * numbers), ("__ldcg(p)", 0), ("__ldcv(p)", 0)] {
            let body = format!(
                "extern \"C\" __global__ void k(const float* x, float* y) {{\n    const {vector}* p = reinterpret_cast<const {vector}*>(x) + threadIdx.x;\n    \
                 const {vector} one = *p;\n    __syncwarp();\n    const {vector} other = {again};\n    y[threadIdx.x] = float(one.x + other.y);\n}}"
            );
            let Some(launch) = count(&body, ([1, 1, 1], [32, 1, 1], 0), 32 * numbers as usize) else {
                return;
            };
            let loads = loads(&launch);
            let found = (loads.instructions, loads.sectors, loads.l1_hits);
            assert_eq!(found, (2, 8 * numbers, hits), "{vector}: {again}");
        }
    }
}

#[test]
fn copies_and_tensor_cores_are_seen() {
    let Some((device, emulator)) = counting(None, 1) else { return };
    let text = r#"#include "ptx.cuh"
extern "C" __global__ void k(const double* x, double* y) {
    __shared__ __align__(16) double tile[64];
    copy_async<16>(tile + 2 * threadIdx.x, x + 2 * threadIdx.x);
    copy_async_commit();
    copy_async_wait<0>();
    __syncthreads();
    double c[4] = {0, 0, 0, 0};
    const double a[4] = {tile[0], tile[1], tile[2], tile[3]}, b[2] = {tile[4], tile[5]};
    multiply_16x8x8(c, a, b);
    y[threadIdx.x] = c[0];
}
"#;
    let source = KernelSource::new("k", "k.cu", text).include(PTX.0, PTX.1);
    let mut x = device.upload("X", &[1.0_f64; 64]).unwrap();
    let mut y = device.upload("Y", &[0.0_f64; 64]).unwrap();
    run(&device, &source, ([1, 1, 1], [32, 1, 1], 0), &[Argument::from(&mut x), Argument::from(&mut y)]);
    let launch = emulator.take_xray().pop().unwrap();
    let copied = launch.total(Space::Global, Access::Copy);
    assert_eq!((copied.instructions, copied.sectors, copied.l1_hits), (1, 16, 0));
    assert_eq!(launch.total(Space::Shared, Access::Copy).wavefronts, 4);
    assert_eq!((launch.tensor_instructions, launch.arithmetic.tensor_f64_flops), (1, 2048));
    assert_eq!(launch.total(Space::Shared, Access::Load).wavefronts, 6, "broadcasts");
}
