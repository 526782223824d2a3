//! Patterns that every lecture on CUDA has.

use crate::device::emulator::xray::tests::*;

const ONE_WARP: Launch = ([1, 1, 1], [32, 1, 1], 0);

/// Global loads of one warp that reads `x[…]` once: instructions, sectors, lines, used bytes.
fn reading(index: &str) -> Option<[u64; 4]> {
    let body = format!(
        "extern \"C\" __global__ void k(const float* x, float* y) {{\n    const u32 i = threadIdx.x;\n    y[i] = x[{index}];\n}}"
    );
    let launch = count(&body, ONE_WARP, 64 * 1024)?;
    assert_eq!(stores(&launch).sectors, 4, "{index}");
    let found = loads(&launch);
    assert_eq!(found.lanes, 32, "{index}");
    Some([found.instructions, found.sectors, found.lines, found.used_bytes])
}

#[test]
fn coalesced_strided_columns_and_broadcast() {
    let Some(found) = reading("i") else { return };
    assert_eq!(found, [1, 4, 1, 128], "coalesced");
    for (stride, sectors) in [(2, 8), (4, 16), (8, 32), (16, 32), (32, 32)] {
        let lines = stride.min(32);
        assert_eq!(reading(&format!("{stride} * i")).unwrap(), [1, sectors, lines, 128], "stride {stride}");
    }
    assert_eq!(reading("1024 * i").unwrap(), [1, 32, 32, 128], "a column of 1024 × 1024");
    assert_eq!(reading("7").unwrap(), [1, 1, 1, 4], "broadcast");
    assert_eq!(reading("i + 1").unwrap(), [1, 5, 2, 128], "one element off");
    assert_eq!(reading("31 - i").unwrap(), [1, 4, 1, 128], "backwards");
}

/// Wavefronts of stores and of loads of a transposition through a tile.
fn transposing(columns: u32) -> Option<[u64; 4]> {
    let body = format!(
        r#"
extern "C" __global__ void k(const float* x, float* y) {{
    __shared__ float tile[32][{columns}];
    tile[threadIdx.y][threadIdx.x] = x[threadIdx.y * 32 + threadIdx.x];
    __syncthreads();
    y[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}}"#
    );
    let launch = count(&body, ([1, 1, 1], [32, 32, 1], 0), 1024)?;
    assert_eq!((loads(&launch).sectors, stores(&launch).sectors), (128, 128));
    let shared = |access| launch.total(Space::Shared, access);
    let (store, load) = (shared(Access::Store), shared(Access::Load));
    assert_eq!((store.instructions, load.instructions), (32, 32));
    let blocks = launch.blocks_total();
    assert_eq!((blocks.barriers, launch.barrier_waits), (32, 31), "all warps but the last wait");
    Some([store.wavefronts, store.conflicts(), load.wavefronts, load.conflicts()])
}

#[test]
fn a_padding_column_takes_the_conflicts_away() {
    let Some(bare) = transposing(32) else { return };
    assert_eq!(bare, [32, 0, 32 * 32, 32 * 31], "32 lanes in one bank");
    assert_eq!(transposing(33).unwrap(), [32, 0, 32, 0]);
}

#[test]
fn divergent_halves_take_turns() {
    let body = r#"
extern "C" __global__ void k(const float* x, float* y) {
    const u32 i = threadIdx.x;
    if (i < 16)
        y[i] = x[i] * 2;
    else
        y[i + 32] = x[i + 32] + 1;
    y[i + 128] = x[i];
}"#;
    let Some(launch) = count(body, ONE_WARP, 1024) else { return };
    let found = loads(&launch);
    assert_eq!((found.instructions, found.lanes), (3, 64), "two of 16 lanes, one of all");
    assert_eq!(found.sectors, 2 + 2 + 4);
    assert_eq!(launch.blocks_total().parted, 1);
    let at = |line| launch.accesses.iter().filter(move |access| access.line == line);
    assert!(at(6).all(|access| access.counts.lanes == 16) && at(6).count() == 2, "{:?}", launch.accesses);
    assert!(at(9).all(|access| access.counts.lanes == 32));
}

#[test]
fn lanes_leave_a_loop_one_after_the_other_and_meet_behind_it() {
    // Lane i takes i % 4 + 1 steps of the inner loop, in both rounds of the outer one.
    let body = r#"
extern "C" __global__ void k(const float* x, float* y) {
    const u32 i = threadIdx.x;
    for (u32 round = 0; round < 2; ++round) {
        float sum = 0;
        for (u32 step = 0; step <= (i + round) % 4; ++step) sum += x[32 * step + i];
        y[32 * round + i] = sum;
    }
}"#;
    let Some(launch) = count(body, ONE_WARP, 1024) else { return };
    let found = loads(&launch);
    assert_eq!((found.instructions, found.lanes), (2 * 4, 2 * (32 + 24 + 16 + 8)));
    assert_eq!((stores(&launch).instructions, stores(&launch).lanes), (2, 64));
}

#[test]
fn vectors_are_one_access() {
    let body = r#"
extern "C" __global__ void k(const float4* x, float4* y) {
    const float4 four = x[threadIdx.x];
    y[threadIdx.x] = make_float4(four.w, four.z, four.y, four.x + four.y);
}"#;
    let Some(launch) = count(body, ONE_WARP, 1024) else { return };
    let found = (loads(&launch), stores(&launch));
    assert_eq!((found.0.instructions, found.0.sectors, found.0.asked_bytes), (1, 16, 512));
    assert_eq!((found.1.instructions, found.1.sectors), (1, 16));
    assert!(launch.accesses.iter().filter(|line| line.space == Space::Global).all(|line| line.bytes == 16));
    assert_eq!(launch.arithmetic.f32_flops, 32);
}

#[test]
fn atomics_collide() {
    let body = r#"
extern "C" __global__ void k(float* x, float* y) {
    atomicAdd(y, 1.0f);
    atomicAdd(y + threadIdx.x, 1.0f);
    atomicAdd(y + threadIdx.x / 2, 1.0f);
}"#;
    let Some(launch) = count(body, ONE_WARP, 64) else { return };
    let found = launch.total(Space::Global, Access::Atomic);
    assert_eq!((found.instructions, found.lanes, found.collisions), (3, 96, 31 + 16));
}

#[test]
fn flops_are_those_of_the_lanes_that_take_part() {
    let body = r#"
extern "C" __global__ void k(const float* x, float* y) {
    const u32 i = threadIdx.x;
    if (i < 10) y[i] = x[i] * 3.0f + x[i + 1];
}"#;
    let Some(launch) = count(body, ONE_WARP, 64) else { return };
    if std::process::Command::new("objdump").arg("--version").output().is_err() {
        return;
    }
    assert_eq!((launch.arithmetic.f32_flops, launch.arithmetic.f64_flops), (20, 0));
    assert_eq!(launch.arithmetic.f32_instructions, 1, "one fused multiply-add of a warp");
}

#[test]
fn caches_serve_what_was_read_before() {
    // Every thread reads the same 4 KB: once from memory, then from the first level.
    let body = r#"
extern "C" __global__ void k(const float* x, float* y) {
    float sum = 0;
    for (u32 i = 0; i < 1024; ++i) sum += x[i];
    y[threadIdx.x] = sum;
}"#;
    let Some(launch) = count(body, ONE_WARP, 1024) else { return };
    let found = loads(&launch);
    assert_eq!((found.sectors, found.l1_hits, found.l2_sectors), (1024, 1024 - 128, 128));
    assert_eq!(launch.caches.dram_read_bytes, 4096);
    assert_eq!(launch.caches.dram_written_bytes, 128);
}
