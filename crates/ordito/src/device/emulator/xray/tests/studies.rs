//! The kernels of the studies, and what their texts claim of accesses.

use crate::device::emulator::xray::tests::*;

const OFFSET: (&str, &str) = ("OFFSET", "u32");

/// 64 rows of 8 nonzeros each, in columns that are the same for all rows; K = 8 columns of X; f64.
const ROWS: usize = 64;
const PER_ROW: usize = 8;
const K: usize = 8;
const NNZ: u64 = (ROWS * PER_ROW) as u64;

/// Counts one product by a kernel of the ladder.
fn spmm(entry: &'static str, file: &'static str, text: &'static str, threads: u64) -> Option<LaunchXray> {
    let (device, emulator) = counting(None, 1)?;
    let source = KernelSource::new(entry, file, text)
        .define("SCALAR", "double")
        .define(OFFSET.0, OFFSET.1)
        .define("THREADS_PER_BLOCK", 512);
    let starts: Vec<u32> = (0..=ROWS).map(|row| (row * PER_ROW) as u32).collect();
    let columns: Vec<u32> = (0..ROWS * PER_ROW).map(|i| (i % PER_ROW) as u32).collect();
    let mut starts = device.upload("row starts", &starts).unwrap();
    let mut columns = device.upload("columns", &columns).unwrap();
    let mut values = device.upload("values", &vec![1.0_f64; ROWS * PER_ROW]).unwrap();
    let mut x = device.upload("X", &vec![1.0_f64; PER_ROW * K]).unwrap();
    let mut y = device.upload("Y", &vec![0.0_f64; ROWS * K]).unwrap();
    let arguments = [
        Argument::of(ROWS as u64),
        Argument::of(K as u64),
        Argument::from(&mut starts),
        Argument::from(&mut columns),
        Argument::from(&mut values),
        Argument::from(&mut x),
        Argument::of(K as u64),
        Argument::from(&mut y),
        Argument::of(K as u64),
        Argument::of(1.0_f64),
        Argument::of(0.0_f64),
    ];
    run(&device, &source, ([threads / 512, 1, 1], [512, 1, 1], 0), &arguments);
    let mut result = vec![0.0; ROWS * K];
    y.read(&mut result).unwrap();
    assert!(result.iter().all(|&y| y == PER_ROW as f64));
    emulator.take_xray().pop()
}

macro_rules! ladder {
    ($entry:literal, $file:literal, $threads:expr) => {
        spmm($entry, $file, include_str!(concat!("../../../../spmm/cuda/ladder/", $file)), $threads)
    };
}

/// v1 reads and writes Y in memory for every nonzero, v2 the end of the row, v3 neither: 5, 4 and 3 loads for every product.
#[test]
fn csr_scalar_saves_accesses_from_version_to_version() {
    let elements = (ROWS * K) as u64;
    let products = NNZ * K as u64;
    let Some(v1) = ladder!("csr_thread_in_memory", "csr_cuda_thread_in_memory.cu", elements) else { return };
    let v2 = ladder!("csr_thread_in_register", "csr_cuda_thread_in_register.cu", elements).unwrap();
    let v3 = ladder!("csr_thread", "csr_cuda_thread.cu", elements).unwrap();
    let accesses = |launch: &LaunchXray| [loads(launch).lanes, stores(launch).lanes];
    // Each: the row's start; v1 and v2 its end before every step and once more; v3 once.
    assert_eq!(accesses(&v1), [products * 5 + 2 * elements, products + elements]);
    assert_eq!(accesses(&v2), [products * 4 + 2 * elements, elements]);
    assert_eq!(accesses(&v3), [products * 3 + 2 * elements, elements]);
    for launch in [&v1, &v2, &v3] {
        assert_eq!(launch.active_lanes(), 32.0, "rows of the same length");
    }
    // A warp has 4 rows and all 8 columns: of A one element a row (a sector each, for rows are 32 or 64 bytes apart), of X
    // two sectors of one row of it.
    let warps = elements / 32;
    let steps = warps * PER_ROW as u64;
    assert_eq!(loads(&v3).instructions, 3 * steps + 2 * warps);
    let of_x = 2;
    let narrow = v3.sum(|line| line.access == Access::Load && line.bytes == 4);
    // Columns, and bounds: of every second warp the end of the last row lies in the next sector.
    assert_eq!(narrow.sectors, steps * 4 + warps + warps + warps / 2);
    let wide = v3.sum(|line| line.access == Access::Load && line.bytes == 8);
    assert_eq!(wide.sectors, steps * (4 + of_x), "values and X");
    assert_eq!(
        v3.arithmetic.f64_flops,
        if v3.arithmetic.f64_flops == 0 { 0 } else { 2 * products + elements }
    );
}

/// CSR_Vector: one warp for an element. Rows shorter than a warp leave lanes idle, and the tree in shared memory costs the same.
#[test]
fn csr_vector_idles_on_short_rows() {
    let elements = (ROWS * K) as u64;
    let Some(launch) = ladder!("csr_warp", "csr_cuda_warp.cu", elements * 32) else { return };
    let found =
        launch.sum(|line| line.access == Access::Load && line.space == Space::Global && line.bytes == 8);
    assert_eq!(
        (found.instructions, found.lanes),
        (2 * elements, 2 * elements * PER_ROW as u64),
        "8 of 32 lanes"
    );
    // values: 8 × 8 bytes side by side; X: 8 rows, 64 bytes apart.
    assert_eq!(found.sectors, elements * (2 + 8));
    let shared = launch.shared();
    // One store of all; four steps of two loads and a store; the last lane's two loads.
    assert_eq!(shared.instructions, elements * (1 + 4 * 3 + 2));
    assert_eq!(shared.lanes, elements * (32 + 3 * (16 + 8 + 4 + 2) + 2));
    assert_eq!(launch.blocks_total().collectives, elements * 5, "__syncwarp");
}

const N: u64 = 64;

/// kernel1 and kernel2 of the lecture, C of 64 × 64, blocks of 32 × 32, f32.
fn gemm(entry: &'static str, file: &'static str, text: &'static str) -> Option<LaunchXray> {
    let (device, emulator) = counting(None, 1)?;
    let source = KernelSource::new(entry, file, text)
        .include("starts_from_c.cuh", include_str!("../../../../gemm/cuda/ladder/starts_from_c.cuh"))
        .define("SCALAR", "float")
        .define("BLOCK_ROWS", 32)
        .define("BLOCK_COLS", 32)
        .define("TILE", 32);
    let elements = (N * N) as usize;
    let [mut a, mut b, mut c] =
        ["A", "B", "C"].map(|name| device.upload(name, &vec![1.0_f32; elements]).unwrap());
    let n = || Argument::of(N);
    let arguments = [
        n(),
        n(),
        n(),
        Argument::from(&mut a),
        n(),
        Argument::from(&mut b),
        n(),
        Argument::from(&mut c),
        n(),
        Argument::of(1.0_f32),
        Argument::of(1.0_f32),
    ];
    run(&device, &source, ([N / 32, N / 32, 1], [32, 32, 1], 0), &arguments);
    let mut result = vec![0.0_f32; elements];
    c.read(&mut result).unwrap();
    assert!(result.iter().all(|&c| c == N as f32 + 1.0));
    emulator.take_xray().pop()
}

/// "2M accesses for 2M operations" against one for 32.
#[test]
fn tiles_turn_accesses_to_global_memory_into_accesses_to_shared_memory() {
    let by_row = include_str!("../../../../gemm/cuda/ladder/dense_cuda_element_by_row.cu");
    let Some(kernel1) = gemm("element_by_row", "dense_cuda_element_by_row.cu", by_row) else { return };
    let by_row = include_str!("../../../../gemm/cuda/ladder/dense_cuda_tile_by_row.cu");
    let kernel2 = gemm("tile_by_row", "dense_cuda_tile_by_row.cu", by_row).unwrap();
    let (elements, products) = (N * N, N * N * N);
    // Besides C, read and written once.
    assert_eq!(loads(&kernel1).lanes, 2 * products + elements);
    assert_eq!(loads(&kernel2).lanes, 2 * products / 32 + elements);
    let shared = kernel2.total(Space::Shared, Access::Load);
    assert_eq!(shared.lanes, 2 * products);
    // Lanes of a warp are rows: of A each in a sector of its own, of B all the same element.
    let steps = products / 32;
    assert_eq!(loads(&kernel1).sectors, steps * (32 + 1) + elements / 32 * 32);
    // A column of the tile: 32 lanes in one bank; the other operand is a broadcast.
    assert_eq!(shared.wavefronts, steps * (32 + 1));
    assert_eq!(
        kernel2.blocks_total().barriers,
        4 * 32 * 2 * 2,
        "4 blocks of 32 warps, 2 tiles, 2 barriers each"
    );
}

/// The two trees of the EEG study in one block of 256 threads and rows, f32: shared memory in every step.
fn tree(entry: &'static str, file: &'static str, text: &'static str) -> Option<LaunchXray> {
    let (device, emulator) = counting(None, 1)?;
    let source = KernelSource::new(entry, file, text).define("SCALAR", "float").define("THREADS", 256);
    let rows = 256_u64;
    let mut columns = device.upload("columns", &vec![1.0_f32; rows as usize]).unwrap();
    let mut mean = device.upload("mean", &[0.0_f64]).unwrap();
    let arguments =
        [Argument::from(&mut columns), Argument::of(rows), Argument::of(rows), Argument::from(&mut mean)];
    run(&device, &source, ([1, 1, 1], [256, 1, 1], 1024), &arguments);
    let mut result = [0.0];
    mean.read(&mut result).unwrap();
    assert_eq!(result, [1.0]);
    emulator.take_xray().pop()
}

#[test]
fn one_tree_idles_and_the_other_has_conflicts() {
    let text = include_str!("../../../../column_stats/cuda/dense_cuda_tree_interleaved.cu");
    let Some(interleaved) = tree("tree_interleaved", "dense_cuda_tree_interleaved.cu", text) else { return };
    let text = include_str!("../../../../column_stats/cuda/dense_cuda_tree_strided.cu");
    let strided = tree("tree_strided", "dense_cuda_tree_strided.cu", text).unwrap();
    let shared = |launch: &LaunchXray| launch.total(Space::Shared, Access::Load);
    let (one, other) = (shared(&interleaved), shared(&strided));
    // 255 additions, two loads each, and the result: the same work.
    assert_eq!((one.lanes, other.lanes), (2 * 255 + 1, 2 * 255 + 1));
    // Interleaved: all 8 warps in the first five steps, then 4, 2, 1. Strided: whole warps fall idle.
    assert_eq!(one.instructions, 2 * (5 * 8 + 4 + 2 + 1) + 1);
    assert_eq!(other.instructions, 2 * (4 + 2 + 1 + 1 + 1 + 1 + 1 + 1) + 1);
    assert_eq!(one.conflicts(), 0, "lanes that are left are apart by whole words");
    // Warps that add, and lanes of each that share a bank: 32 lanes 2 words apart, then 4, 8; 16 lanes 16 apart; 8 lanes in one bank.
    let ways = [(4, 2), (2, 4), (1, 8), (1, 8), (1, 8), (1, 4), (1, 2), (1, 1)];
    let passes: u64 = ways.iter().map(|(warps, ways)| 2 * warps * ways).sum();
    assert_eq!(other.wavefronts, passes + 1);
    assert!(interleaved.active_lanes() < strided.active_lanes());
    assert_eq!(interleaved.blocks_total().barriers, strided.blocks_total().barriers);
    assert_eq!(interleaved.blocks_total().barriers, 8 * 9);
}
