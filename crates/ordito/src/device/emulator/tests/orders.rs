//! Results that depend on the order of the threads.

use crate::device::emulator::tests::*;

const FIRST_COME: &str = r#"
extern "C" __global__ void k(u32* y) {
    const u32 ticket = atomicAdd(&y[0], 1u);
    y[1 + ticket] = blockIdx.x * blockDim.x + threadIdx.x;
}"#;

#[test]
fn who_comes_first_must_not_matter() {
    if no_compiler() {
        return;
    }
    let grid = plan([2, 1, 1], [32, 1, 1], 0);
    assert_says(
        &fault_with(FIRST_COME, grid, &[0_u32; 65]),
        &[
            "the result depends on the order of the threads: Y differs from byte 4 on between ascending and descending",
        ],
    );
    let one = Device::Emulator(Emulator::with_orders(&[Order::Descending]).unwrap());
    let found = run_with(&one, FIRST_COME, grid, &[0_u32; 65], &[]).unwrap();
    assert_eq!(found[..3], [64, 63, 62]);
}

#[test]
fn only_the_shuffled_order_tells_some_apart() {
    if no_compiler() {
        return;
    }
    // The sum of the two ends is the same forwards and backwards.
    let body = r#"
extern "C" __global__ void k(u32* y) {
    const u32 ticket = atomicAdd(&y[0], 1u);
    if (ticket == 0 || ticket == 31) atomicAdd(&y[1], threadIdx.x);
}"#;
    assert_says(
        &fault_of(body, 32, &[0_u32; 2]),
        &["the result depends on the order of the threads: Y differs from byte 4 on", "shuffled"],
    );
}

#[test]
fn sums_of_floats_by_atomics_are_excepted() {
    if no_compiler() {
        return;
    }
    let body = "extern \"C\" __global__ void k(float* y) { atomicAdd(y, threadIdx.x % 2 ? 1e8f : 0.3f * threadIdx.x); }";
    let found = run(body, plan([1, 1, 1], [32, 1, 1], 0), &[0.0_f32]).unwrap();
    assert!((found[0] - 1.6e9).abs() < 1e4);
}

#[test]
fn every_run_begins_with_what_was_there() {
    if no_compiler() {
        return;
    }
    let body = "extern \"C\" __global__ void k(int* y) { y[threadIdx.x] += 1; }";
    assert_eq!(run(body, plan([1, 1, 1], [5, 1, 1], 0), &[10; 5]).unwrap(), [11; 5]);
}

#[test]
fn threads_that_wait_for_others_in_a_loop_do_not_hang_the_program() {
    if no_compiler() {
        return;
    }
    // A barrier of the whole grid made of atomics needs all blocks at once: here they run one after the other.
    let body = "extern \"C\" __global__ void k(int* y) {\n    atomicAdd(y, 1);\n    while (atomicAdd(y, 0) < 2) {}\n}";
    assert_eq!(run(body, plan([1, 1, 1], [1, 1, 1], 0), &[1]).unwrap(), [2]);
    let message = fault_with(body, plan([2, 1, 1], [1, 1, 1], 0), &[0]);
    assert_says(
        &message,
        &[
            "accesses and basic blocks, and no thread has ended and no barrier has opened",
            "block (0,0,0) at k.cu:4",
        ],
    );
}

#[test]
fn kernels_run_the_same_where_threads_are_followed() {
    if no_compiler() {
        return;
    }
    let following = Device::Emulator(Emulator::following().unwrap());
    let body = "extern \"C\" __global__ void k(int* y) { for (int i = 0; i < 9; ++i) y[0] += i; }";
    let one = plan([1, 1, 1], [1, 1, 1], 0);
    assert_eq!(run_with(&following, body, one, &[1], &[]).unwrap(), [37]);
}

#[test]
fn a_loop_without_an_end_that_touches_no_memory_is_found_where_threads_are_followed() {
    if no_compiler() {
        return;
    }
    let following = Device::Emulator(Emulator::following().unwrap());
    // No multiple of 4 is 9; the compiler leaves the loop in.
    let body = "extern \"C\" __global__ void k(unsigned* y, unsigned n) {\n    unsigned i = n, s = 0;\n    do {\n        i = i * 5 + 4;\n        s += i;\n    } while (i & 3 || s != 1 || i != 9);\n    y[0] = s;\n}";
    let one = plan([1, 1, 1], [1, 1, 1], 0);
    let error = run_with(&following, body, one, &[1_u32], &[Argument::of(0_u32)]).unwrap_err();
    assert_says(
        &error.to_string(),
        &["accesses and basic blocks", "a loop without an end", "block (0,0,0) at k.cu:"],
    );
}
