//! What kernels may use.

use crate::device::emulator::tests::*;

fn one_block(threads: u32) -> LaunchPlan {
    plan([1, 1, 1], [threads, 1, 1], 0)
}

#[test]
fn threads_know_their_place_in_blocks_and_grids_of_three_directions() {
    if no_compiler() {
        return;
    }
    let body = r#"
extern "C" __global__ void k(u32* y, u32 scale) {
    const u32 block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    const u32 thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    const u32 threads = blockDim.x * blockDim.y * blockDim.z;
    y[block * threads + thread] = scale * (block * 1000 + thread) + (warpSize == 32);
}"#;
    let found =
        run_with(&device(), body, plan([2, 3, 2], [3, 5, 4], 0), &[0_u32; 12 * 60], &[Argument::of(2_u32)]);
    let expected = (0..12).flat_map(|block| (0..60).map(move |thread| 2 * (block * 1000 + thread) + 1));
    assert!(found.unwrap().into_iter().eq(expected));
}

#[test]
fn arguments_of_every_size_arrive() {
    if no_compiler() {
        return;
    }
    let body = r#"
extern "C" __global__ void k(double* y, float a, double b, u64 c, u32 d, const bool e, unsigned short f) {
    y[0] = a; y[1] = b; y[2] = double(c); y[3] = d; y[4] = e; y[5] = f;
}"#;
    let more = [
        Argument::of(1.5_f32),
        Argument::of(2.5_f64),
        Argument::of(1_u64 << 40),
        Argument::of(7_u32),
        Argument::of(1_u8),
        Argument::of(9_u16),
    ];
    let found = run_with(&device(), body, one_block(1), &[0.0_f64; 6], &more).unwrap();
    assert_eq!(found, [1.5, 2.5, (1_u64 << 40) as f64, 7.0, 1.0, 9.0]);
    let error = run_with(&device(), body, one_block(1), &[0.0_f64; 6], &more[..5]).unwrap_err();
    assert_says(&error.to_string(), &["6 arguments for 7 parameters"]);
    let mut wrong = more;
    wrong[1] = Argument::of(2.5_f32);
    let error = run_with(&device(), body, one_block(1), &[0.0_f64; 6], &wrong).unwrap_err();
    assert_says(&error.to_string(), &["argument 2 has 4 bytes, the parameter 8"]);
}

#[test]
fn a_block_reduces_in_static_and_in_dynamic_shared_memory() {
    if no_compiler() {
        return;
    }
    let body = |declaration: &str| {
        format!(
            r#"
extern "C" __global__ void k(float* y) {{
    {declaration}
    const u32 i = threadIdx.x;
    part[i] = y[blockIdx.x * blockDim.x + i];
    for (u32 half = blockDim.x / 2; half > 0; half /= 2) {{
        __syncthreads();
        if (i < half) part[i] += part[i + half];
    }}
    if (i == 0) y[blockIdx.x * blockDim.x] = part[0];
}}"#
        )
    };
    let y: Vec<f32> = (0..3 * 256).map(|i| i as f32).collect();
    let sums: Vec<f32> = y.chunks(256).map(|block| block.iter().sum()).collect();
    let cases = [("__shared__ float part[256];", 0), ("DYNAMIC_SHARED(float, part);", 1024)];
    for (declaration, shared_bytes) in cases {
        let found = run(&body(declaration), plan([3, 1, 1], [256, 1, 1], shared_bytes), &y).unwrap();
        assert_eq!([found[0], found[256], found[512]], sums[..], "{declaration}");
        assert_eq!(found[1..256], y[1..256]);
    }
}

#[test]
fn shared_memory_in_templates_and_of_two_dimensions() {
    if no_compiler() {
        return;
    }
    let body = r#"
template <int N> __device__ void transpose(int* y) {
    __shared__ int tile[N][N + 1];
    __shared__ double more[N];
    tile[threadIdx.y][threadIdx.x] = y[threadIdx.y * N + threadIdx.x];
    if (threadIdx.y == 0) more[threadIdx.x] = threadIdx.x;
    __syncthreads();
    y[threadIdx.y * N + threadIdx.x] = tile[threadIdx.x][threadIdx.y] + int(more[threadIdx.x]);
}
extern "C" __global__ void k(int* y) { transpose<8>(y); }"#;
    let y: Vec<i32> = (0..64).collect();
    let found = run(body, plan([1, 1, 1], [8, 8, 1], 0), &y).unwrap();
    let expected: Vec<i32> = (0..64).map(|i| i % 8 * 8 + i / 8 + i % 8).collect();
    assert_eq!(found, expected);
}

#[test]
fn barriers_count_and_vote() {
    if no_compiler() {
        return;
    }
    let body = r#"
extern "C" __global__ void k(int* y) {
    const int i = threadIdx.x;
    const int count = __syncthreads_count(i < 7), all = __syncthreads_and(i < 40), any = __syncthreads_or(i == 50);
    y[i] = count * 100 + all * 10 + any;
}"#;
    let found = run(body, one_block(40), &[0; 40]).unwrap();
    assert_eq!(found, [710; 40]);
}

#[test]
fn shuffles_with_and_without_width() {
    if no_compiler() {
        return;
    }
    let body = r#"
extern "C" __global__ void k(int* y) {
    const int lane = threadIdx.x;
    int* mine = y + lane * 8;
    mine[0] = __shfl_sync(0xffffffff, lane, 5);
    mine[1] = __shfl_sync(0xffffffff, lane, 9, 8);
    mine[2] = __shfl_up_sync(0xffffffff, lane, 3);
    mine[3] = __shfl_up_sync(0xffffffff, lane, 3, 8);
    mine[4] = __shfl_down_sync(0xffffffff, lane, 3);
    mine[5] = __shfl_down_sync(0xffffffff, lane, 3, 8);
    mine[6] = __shfl_xor_sync(0xffffffff, lane, 12);
    mine[7] = __shfl_xor_sync(0xffffffff, lane, 12, 8);
}"#;
    let found = run(body, one_block(32), &[0; 256]).unwrap();
    for (lane, mine) in (0..).zip(found.chunks(8)) {
        let up = |width: i32| if lane % width < 3 { lane } else { lane - 3 };
        let down = |width: i32| if lane % width + 3 >= width { lane } else { lane + 3 };
        // Groups may look at those before them, not at those behind.
        let narrow = if lane ^ 12 > lane | 7 { lane } else { lane ^ 12 };
        let expected = [5, lane / 8 * 8 + 1, up(32), up(8), down(32), down(8), lane ^ 12, narrow];
        assert_eq!(mine, expected, "lane {lane}");
    }
}

#[test]
fn shuffles_move_eight_bytes_and_floats() {
    if no_compiler() {
        return;
    }
    let body = r#"
extern "C" __global__ void k(double* y) {
    double sum = y[threadIdx.x];
    float other = float(threadIdx.x);
    u64 wide = u64(threadIdx.x) << 40;
    for (int o = 16; o > 0; o /= 2) {
        sum += __shfl_xor_sync(0xffffffff, sum, o);
        other += __shfl_down_sync(0xffffffff, other, o);
        wide |= __shfl_xor_sync(0xffffffff, wide, o);
    }
    y[threadIdx.x] = sum + (threadIdx.x % 32 == 0 ? other : 0) + double(wide >> 40);
}"#;
    let found = run(body, one_block(64), &(0..64).map(f64::from).collect::<Vec<_>>()).unwrap();
    assert_eq!((found[0], found[1]), (496.0 * 2.0 + 31.0, 496.0 + 31.0));
    assert_eq!(found[33], (32..64).sum::<i32>() as f64 + 63.0);
}

#[test]
fn votes_reductions_and_masks() {
    if no_compiler() {
        return;
    }
    let body = r#"
extern "C" __global__ void k(int* y) {
    const int i = threadIdx.x;
    y += i * 10;
    y[0] = int(__ballot_sync(0xffffffff, i % 3 == 0));
    y[1] = __any_sync(0xffffffff, i == 4) * 2 + __all_sync(0xffffffff, i < 31);
    y[2] = __reduce_add_sync(0xffffffff, i);
    y[3] = __reduce_min_sync(0xffffffff, i - 5);
    y[4] = __reduce_max_sync(0xffffffff, u32(i - 5)) == 0xffffffffu;
    y[5] = int(__reduce_or_sync(0xffffffff, u32(i)) + __reduce_and_sync(0xffffffff, u32(i) | 64));
    if (i < 16) y[6] = __shfl_sync(0x0000ffff, i, 3);
    else y[6] = __reduce_add_sync(0xffff0000, 1);
    __syncwarp();
    y[7] = int(__match_any_sync(0xffffffff, u32(i / 8)));
    y[8] = __activemask() >> i & 1;
    if (i % 2) __syncwarp(0xaaaaaaaa); else __syncwarp(0x55555555);
}"#;
    let found = run(body, one_block(32), &[0; 320]).unwrap();
    let ballot = (0..32).filter(|i| i % 3 == 0).fold(0, |mask, i| mask | 1 << i);
    for (i, mine) in found.chunks(10).enumerate() {
        let sixth = if i < 16 { 3 } else { 16 };
        let matching = (0xff_u32 << (i / 8 * 8)) as i32;
        assert_eq!(mine, [ballot, 2, 496, -5, 1, 31 + 64, sixth, matching, 1, 0], "lane {i}");
    }
}

#[test]
fn partial_warps_take_the_full_mask_for_the_lanes_there_are() {
    if no_compiler() {
        return;
    }
    let body = r#"
extern "C" __global__ void k(int* y) {
    y[threadIdx.x] = __reduce_add_sync(0xffffffff, 1) * 100 + __popc(__ballot_sync(0xffffffff, threadIdx.x % 2));
    __syncwarp();
    y[threadIdx.x] += __shfl_sync(0xffffffff, int(threadIdx.x), 0) * 10000;
}"#;
    let found = run(body, one_block(45), &[0; 45]).unwrap();
    assert_eq!((found[0], found[31]), (3216, 3216));
    assert_eq!((found[32], found[44]), (1306 + 320_000, 1306 + 320_000));
}

#[test]
fn atomics_of_every_kind() {
    if no_compiler() {
        return;
    }
    let body = r#"
extern "C" __global__ void k(u64* y) {
    const int i = threadIdx.x + blockIdx.x * blockDim.x;
    u32* const words = reinterpret_cast<u32*>(y + 4);
    int* const ints = reinterpret_cast<int*>(words);
    atomicAdd(&y[0], u64(i));
    atomicMax(&y[1], u64(i));
    atomicMin(&y[2], u64(i + 5));
    atomicCAS(&y[3], 0ull, 77ull);
    atomicAdd(&ints[0], -i);
    atomicSub(&ints[1], 2);
    atomicMin(&ints[2], -i);
    atomicOr(&words[3], 1u << (i % 32));
    atomicAnd(&words[4], ~(1u << (i % 32)));
    atomicInc(&words[5], 9u);
    atomicXor(&words[6], 3u);
    if (i == 3) atomicExch(&words[7], 42u);
    atomicAdd(reinterpret_cast<float*>(&words[8]), 0.5f);
    atomicAdd(reinterpret_cast<double*>(&y[9]), 0.25);
}"#;
    let found = run(body, plan([3, 1, 1], [33, 1, 1], 0), &[0_u64; 10]).unwrap();
    assert_eq!(found[..4], [4851, 98, 0, 77]);
    let words: &[i32] = bytemuck::cast_slice(&found[4..9]);
    assert_eq!(words[..8], [-4851, -198, -98, -1, 0, 9, 3, 42]);
    assert_eq!(f32::from_bits(words[8] as u32), 49.5);
    assert_eq!(f64::from_bits(found[9]), 24.75);
}

#[test]
fn a_histogram_in_shared_memory() {
    if no_compiler() {
        return;
    }
    let body = r#"
extern "C" __global__ void k(u32* y) {
    __shared__ u32 bins[8];
    if (threadIdx.x < 8) bins[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&bins[threadIdx.x * 7 % 8], 1u);
    __syncthreads();
    if (threadIdx.x < 8) y[blockIdx.x * 8 + threadIdx.x] = bins[threadIdx.x];
}"#;
    assert_eq!(run(body, plan([4, 1, 1], [128, 1, 1], 0), &[0_u32; 32]).unwrap(), [16; 32]);
}

#[test]
fn the_last_block_may_read_what_all_blocks_published() {
    if no_compiler() {
        return;
    }
    let body = r#"
extern "C" __global__ void k(u32* y) {
    __shared__ bool last;
    if (threadIdx.x == 0) {
        y[blockIdx.x] = blockIdx.x + 1;
        __threadfence();
        last = atomicInc(&y[8], gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        u32 sum = 0;
        for (u32 b = 0; b < gridDim.x; ++b) sum += y[b];
        y[9] = sum;
    }
}"#;
    let grid = plan([8, 1, 1], [32, 1, 1], 0);
    assert_eq!(run(body, grid, &[0_u32; 10]).unwrap()[8..], [0, 36]);
    let without = body.replace("__threadfence();", "");
    assert_says(&fault_with(&without, grid, &[0_u32; 10]), &["data race on global memory: read of 4 bytes"]);
}

#[test]
fn the_last_warp_may_read_what_all_warps_published() {
    if no_compiler() {
        return;
    }
    let body = r#"
extern "C" __global__ void k(u32* y) {
    const u32 warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    u32 before = 0;
    if (lane == 0) {
        y[warp] = warp + 1;
        __threadfence();
        before = atomicInc(&y[8], 3);
        __threadfence();
    }
    if (__shfl_sync(0xffffffff, before, 0) != 3) return;
    __syncwarp();
    u32 value = lane < 4 ? y[lane] : 0;
    for (int apart = 1; apart < 4; apart *= 2) value += __shfl_xor_sync(0xffffffff, value, apart);
    if (lane == 0) y[9] = value;
}"#;
    let block = plan([1, 1, 1], [128, 1, 1], 0);
    assert_eq!(run(body, block, &[0_u32; 10]).unwrap()[8..], [0, 10]);
    let forgotten = [
        ("__threadfence();\n        before", "before"),
        ("3);\n        __threadfence();", "3);"),
        ("__syncwarp();", ""),
    ];
    for (with, without) in forgotten {
        let fault = fault_with(&body.replace(with, without), block, &[0_u32; 10]);
        assert_says(&fault, &["data race on global memory: read of 4 bytes"]);
    }
}

#[test]
fn vectors_caches_and_bits() {
    if no_compiler() {
        return;
    }
    let body = r#"
__constant__ float factors[4] = {1, 2, 3, 4};
extern "C" __global__ void __launch_bounds__(32) k(float* __restrict__ y) {
    const float4 v = __ldg(reinterpret_cast<const float4*>(y) + threadIdx.x);
    const float2 w = *reinterpret_cast<const float2*>(y + 4 * threadIdx.x + 2);
    float local[4] = {v.x, v.y, v.z, w.y};
    float sum = 0;
    for (int i = 0; i < 4; ++i) sum += local[(i + threadIdx.x) % 4] * factors[i];
    const double2 d = make_double2(1.0, 2.0);
    const bool bits = __popc(0xf0) == 4 && __ffs(8) == 4 && __clz(1) == 31 && __brev(1) == 0x80000000u &&
        __popcll(~0ull) == 64 && __float_as_uint(1.0f) == 0x3f800000u && __uint_as_float(0x40000000u) == 2.0f &&
        min(3, 4) == 3 && max(2.0, 3.0) == 3.0 && fmaf(2, 3, 4) == 10 && rsqrtf(4.0f) == 0.5f && d.y == 2.0 &&
        sqrt(9.0) == 3 && fabsf(-1.0f) == 1 && min(u64(1), u64(2)) == 1;
    __stcs(reinterpret_cast<float4*>(y) + threadIdx.x, make_float4(sum, v.y, w.x, bits));
}"#;
    let found = run(body, one_block(2), &[1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]).unwrap();
    // The second thread begins with its second number.
    assert_eq!(found, [30.0, 2.0, 3.0, 1.0, 6.0 + 14.0 + 24.0 + 20.0, 6.0, 7.0, 1.0]);
}

#[test]
fn empty_buffers_offsets_and_several_kernels() {
    if no_compiler() {
        return;
    }
    let device = device();
    let (first, second) = (device.allocate::<u32>("a", 0).unwrap(), device.allocate::<u32>("b", 0).unwrap());
    assert!(first.address() != 0 && first.address() != second.address());
    let body = "extern \"C\" __global__ void k(int* y, int* empty, int* inside) { y[0] = inside[1]; inside[0] = 3; }";
    let kernel = device.kernel(&source(body)).unwrap();
    let mut y = device.upload("Y", &[1, 2, 3]).unwrap();
    let inside = Argument::of(y.address() + 4);
    // SAFETY: the emulator lets a kernel touch nothing but the buffers that its arguments point into.
    unsafe { kernel.launch(&one_block(1), &[Argument::from(&mut y), Argument::from(&first), inside]) }
        .unwrap();
    let mut found = [0; 3];
    y.read(&mut found).unwrap();
    assert_eq!(found, [3, 3, 3]);
    assert!(device.limits().name.contains("emulated") && device.limits().memory_bytes > 1 << 20);
    let refusal = device.allocate::<u8>("all of it", device.limits().memory_bytes as usize + 1).unwrap_err();
    assert_says(&refusal.to_string(), &["all of it would need"]);
    let report = kernel.report(&one_block(1));
    assert_eq!((report.attributes.registers, report.blocks_per_multiprocessor), (None, None));
}

#[test]
fn many_host_threads_launch_at_once() {
    if no_compiler() {
        return;
    }
    let body = r#"
extern "C" __global__ void k(int* y) {
    __shared__ int all[64];
    all[threadIdx.x] = y[threadIdx.x];
    __syncthreads();
    y[threadIdx.x] = all[63 - threadIdx.x];
}"#;
    std::thread::scope(|scope| {
        for start in 0..4 {
            scope.spawn(move || {
                let y: Vec<i32> = (start..start + 64).collect();
                let found = run(body, one_block(64), &y).unwrap();
                assert!(found.iter().eq(y.iter().rev()));
            });
        }
    });
}
