//! Barriers of a block: all threads come to the same one, or it is a fault that names where each of them is.

use crate::device::emulator::tests::*;

#[test]
fn a_barrier_that_not_all_threads_come_to() {
    if no_compiler() {
        return;
    }
    let body = r#"
extern "C" __global__ void k(int* y) {
    if (threadIdx.x == 40) return;
    if (threadIdx.x < 3)
        __syncwarp();
    __syncthreads();
}"#;
    assert_says(
        &fault_of(body, 64, &[0]),
        &[
            "deadlock in block (0,0,0): 3 threads wait at __syncwarp(mask 0xffffffff) at k.cu:6 (first: thread (0,0,0))",
            "60 threads wait at __syncthreads at k.cu:7 (first: thread (3,0,0)), 1 has ended (first: thread (40,0,0))",
        ],
    );
    let kinds = "extern \"C\" __global__ void k(int* y) { if (threadIdx.x) __syncthreads(); else __syncthreads_or(1); }";
    assert_says(&fault_of(kinds, 2, &[0]), &["deadlock", "at __syncthreads at", "at __syncthreads_or at"]);
}

/// A kernel `k(int* y)` of 64 threads `i` with these statements, the first in line 4.
fn kernel(statements: &str) -> String {
    format!("extern \"C\" __global__ void k(int* y) {{\n    const int i = threadIdx.x;\n{statements}\n}}")
}

const ALL: &str = "all threads of a block must come to the same __syncthreads";

#[test]
fn threads_that_end_without_a_barrier_that_others_come_to() {
    if no_compiler() {
        return;
    }
    assert_says(
        &fault_of(&kernel("if (i < 16)\n __syncthreads();"), 64, &[0]),
        &[
            "divergent barrier in block (0,0,0): 16 threads wait at __syncthreads at k.cu:5 (first: thread (0,0,0)), \
             48 have ended (first: thread (16,0,0))",
            ALL,
        ],
    );
    // The same in other words; and a whole warp.
    for threads in [40, 32] {
        let early = kernel(&format!("if (i >= {threads}) return;\n y[i] = 1;\n __syncthreads();"));
        let who = format!("{threads} threads wait at __syncthreads at k.cu:6");
        let ended = format!("{} have ended (first: thread ({threads},0,0))", 64 - threads);
        assert_says(&fault_of(&early, 64, &[0; 64]), &["divergent barrier", &who, &ended, ALL]);
    }
    // One round too few of a loop.
    let loops = kernel("for (int round = 0; round < (i == 63 ? 2 : 3); ++round)\n __syncthreads();");
    assert_says(
        &fault_of(&loops, 64, &[0]),
        &["63 threads wait at __syncthreads at k.cu:5", "1 has ended (first: thread (63,0,0))"],
    );
}

#[test]
fn threads_that_come_to_different_barriers() {
    if no_compiler() {
        return;
    }
    for condition in ["i < 16", "i < 32"] {
        let sides = kernel(&format!(
            "if ({condition}) {{\n __syncthreads();\n y[i] = 1;\n}} else\n __syncthreads();\n y[i + 64] = 2;"
        ));
        assert_says(
            &fault_of(&sides, 64, &[0; 128]),
            &[
                "divergent barrier",
                "wait at __syncthreads at k.cu:5 (first: thread (0,0,0))",
                "wait at __syncthreads at k.cu:8 (first: thread",
                ALL,
            ],
        );
    }
    let one_line = kernel("if (i % 2) __syncthreads(); else __syncthreads();");
    assert_says(
        &fault_of(&one_line, 64, &[0]),
        &[
            "32 threads wait at __syncthreads at k.cu:4 (first: thread (0,0,0)), 32 threads wait at __syncthreads at k.cu:4 (first: thread (1,0,0))",
        ],
    );
    // A barrier in a function that is called in two places is two barriers.
    let called = format!(
        "__device__ void meet(int* y, int at) {{ y[at] = 1; __syncthreads(); }}\n{}",
        kernel("if (i < 32) meet(y, i);\n else meet(y, 2 * i);")
    );
    assert_says(&fault_of(&called, 64, &[0; 128]), &["divergent barrier", "32 threads wait at"]);
    // Some are a barrier behind.
    let behind = kernel("if (i == 5)\n __syncthreads();\n y[i] = 1;\n __syncthreads();\n y[i] = 2;");
    assert_says(
        &fault_of(&behind, 64, &[0; 64]),
        &[
            "1 thread waits at __syncthreads at k.cu:5 (first: thread (5,0,0))",
            "63 threads wait at __syncthreads at k.cu:7",
        ],
    );
}

/// What all threads come to is right, whatever they do around it: no alarm.
#[test]
fn barriers_that_all_threads_come_to() {
    if no_compiler() {
        return;
    }
    for statements in [
        // A compiler that makes two paths of it makes two calls of one barrier.
        "if (i == 0) y[0] = 1;\n __syncthreads();\n if (i == 0) y[0] += 1;",
        "const bool first = i < 20;\n if (first) y[i] = 1; else y[64 + i] = 2;\n __syncthreads();\n if (first) y[i] += 1; else y[64 + i] += 1;",
        // The same for the whole block.
        "if (gridDim.x == 1) __syncthreads(); else { y[0] = 1; __syncthreads(); }",
        "if (blockIdx.x == 0) { __syncthreads(); y[i] = 1; return; }\n y[i] = 2;",
        "for (int round = 0; round < 3; ++round) { if (i < 5 * round) continue; y[i] = round; }\n __syncthreads();",
        "for (int half = 32; half > 0; half /= 2) { __syncthreads(); if (i < half) y[i] += y[i + half]; }",
        "switch (i % 3) { case 0: y[i] = 1; break; case 1: y[i] = 2; }\n __syncthreads();\n switch (i % 3) { case 0: y[i] += 1; break; case 1: y[i] += 2; }",
        "bool done = false;\n for (int round = 0; round < 4; ++round) { if (!done) { y[i] = round; done = round == i % 4; }\n if (__syncthreads_and(done)) break; }",
        // Threads end when no barrier is left.
        "__syncthreads();\n if (i > 3) return;\n y[i] = 1;",
    ] {
        run(&kernel(statements), plan([1, 1, 1], [64, 1, 1], 0), &[0; 256])
            .unwrap_or_else(|error| panic!("{statements}: {error}"));
    }
}
