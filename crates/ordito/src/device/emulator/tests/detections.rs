//! What must be found, and how it is said. After each of them a right kernel still works.

use crate::device::emulator::tests::*;

/// A reduction of a block of 64 threads, in which barriers can be left out.
const REDUCTION: &str = r#"
extern "C" __global__ void k(int* y) {
    __shared__ int part[64];
    const u32 i = threadIdx.x;
    part[i] = y[i];
    for (u32 half = blockDim.x / 2; half > 0; half /= 2) {
        __syncthreads();
        if (i < half) part[i] += part[i + half];
    }
    if (i == 0) y[0] = part[0];
}"#;

#[track_caller]
fn still_works() {
    let y: Vec<i32> = (0..64).collect();
    assert_eq!(run(REDUCTION, plan([1, 1, 1], [64, 1, 1], 0), &y).unwrap()[0], 2016);
}

#[test]
fn reads_and_writes_out_of_bounds() {
    if no_compiler() {
        return;
    }
    let read =
        "extern \"C\" __global__ void k(int* y) {\n    const int i = threadIdx.x;\n    y[i] = y[i + 1];\n}";
    let read = &read.replace("y[i] =", "if (i == 9) y[0] =");
    assert_says(
        &fault_of(read, 10, &[0; 10]),
        &[
            "k.cu: out-of-bounds read of 4 bytes at byte 40 of Y, which has 40 bytes",
            "(element 10 of 10",
            "by thread (9,0,0) of block (0,0,0) at k.cu:4",
        ],
    );
    let write = "extern \"C\" __global__ void k(double* y) {\n    y[threadIdx.x - 1.0 < 0 ? -1 : 1] = 0;\n}";
    assert_says(
        &fault_of(write, 1, &[0.0; 2]),
        &["out-of-bounds write of 8 bytes at byte -8 of Y", "(element -1 of 2", "k.cu:3"],
    );
    still_works();
}

/// Nothing of a header is inlined in them.
#[test]
fn lines_of_kernels_that_ask_for_nothing() {
    if no_compiler() {
        return;
    }
    let body = "extern \"C\" __global__ void k(int* y) {\n    y[1] = y[0];\n}";
    assert_says(
        &fault_of(body, 1, &[7]),
        &["k.cu: out-of-bounds write of 4 bytes at byte 4 of Y", "at k.cu:3"],
    );
}

#[test]
fn accesses_that_begin_inside_and_end_outside() {
    if no_compiler() {
        return;
    }
    let body = "extern \"C\" __global__ void k(float* y) { y[0] = reinterpret_cast<float4*>(y)[1].w; }";
    assert_says(&fault_of(body, 1, &[0.0_f32; 7]), &["out-of-bounds read of"]);
    let body = "extern \"C\" __global__ void k(char* y) { *reinterpret_cast<u64*>(y) = 0; }";
    assert_says(
        &fault_of(body, 1, &[0_u8; 5]),
        &["out-of-bounds write of 8 bytes at byte 0 of Y, which has 5 bytes"],
    );
}

#[test]
fn far_and_null_pointers_and_other_buffers() {
    if no_compiler() {
        return;
    }
    let body = "extern \"C\" __global__ void k(int* y, const int* from) { y[0] = *from; }";
    let device = device();
    let fault = |from: u64| {
        let result = run_with(&device, body, plan([1, 1, 1], [1, 1, 1], 0), &[0], &[Argument::of(from)]);
        result.unwrap_err().to_string()
    };
    assert_says(&fault(0), &["read of 4 bytes through a null pointer (address 0x0)"]);
    assert_says(&fault(1 << 60), &["at address 0x1000000000000000, which is in no buffer"]);
    let freed = device.upload("columns", &[0; 10]).unwrap();
    let address = freed.address();
    drop(freed);
    assert_says(&fault(address + 4), &["read of 4 bytes in columns, which has been freed"]);
    let other = device.upload("other", &[0; 10]).unwrap();
    let body = "extern \"C\" __global__ void k(int* y, int* high, int low) { y[0] = *reinterpret_cast<int*>(u64(high) * 65536 + low); }";
    let parts = [Argument::of(other.address() >> 16), Argument::of((other.address() & 0xffff) as u32)];
    let error = run_with(&device, body, plan([1, 1, 1], [1, 1, 1], 0), &[0], &parts).unwrap_err();
    assert_says(&error.to_string(), &["in other, which is no argument of this launch"]);
    still_works();
}

#[test]
fn bytes_that_are_copied_and_filled_as_a_whole() {
    if no_compiler() {
        return;
    }
    let kernel = |body: &str| {
        format!(
            "struct Many {{ char bytes[320]; }};\nextern \"C\" __global__ void k(char* y) {{\n    {body}\n}}"
        )
    };
    for (body, verb) in [
        ("memcpy(y, y + 32, 320);", "read of 320 bytes at byte 32 of Y"),
        ("memcpy(y + 32, y, 320);", "write of 320 bytes at byte 32 of Y"),
        ("__builtin_memcpy(y + 330, y, 24);", "write of 24 bytes at byte 330 of Y"),
        ("memmove(y + 1, y, 350);", "write of 350 bytes at byte 1 of Y"),
        ("memset(y + 300, 0, 51);", "write of 51 bytes at byte 300 of Y"),
        ("__builtin_memset(y - 1, 0, 100);", "write of 100 bytes at byte -1 of Y"),
    ] {
        assert_says(&fault_of(&kernel(body), 1, &[0_u8; 350]), &["out-of-bounds", verb, "k.cu:4"]);
    }
    for body in ["*(Many*)(y + 32) = *(Many*)y;", "*(Many*)(y + 32) = Many{};"] {
        let verb = "out-of-bounds write of 320 bytes at byte 32 of Y";
        assert_says(&fault_of(&kernel(body), 1, &[0_u8; 350]), &[verb]);
    }
    let foreign = kernel("memcpy(y, (const void*)0x1000000000000000, 40);");
    assert_says(&fault_of(&foreign, 1, &[0_u8; 350]), &["read of 40 bytes", "which is in no buffer"]);
    let race = kernel("memcpy(y + threadIdx.x, \"a string of characters\", 20);");
    assert_says(&fault_of(&race, 2, &[0_u8; 350]), &["data race on global memory: write of 20 bytes"]);
    let uninitialised = kernel("__shared__ char part[64]; memcpy(y, part, 40);");
    assert_says(&fault_of(&uninitialised, 1, &[0_u8; 350]), &["read of uninitialised shared memory"]);

    let right = kernel(
        "memcpy(y + 1, y + 5, 8); memmove(y + 2, y + 1, 3); __builtin_memset(y + 9, 7, 2); memset(0, 0, 0);",
    );
    let y: Vec<u8> = (0..16).collect();
    let result = run(&right, plan([1, 1, 1], [1, 1, 1], 0), &y).unwrap();
    assert_eq!(result, [0, 5, 5, 6, 7, 9, 10, 11, 12, 7, 7, 11, 12, 13, 14, 15]);
    still_works();
}

#[test]
fn recursion_that_fills_the_stack() {
    if no_compiler() {
        return;
    }
    let body = "__device__ __noinline__ int down(int* y, int depth) {\n    volatile int local[64];\n    local[depth % 64] = y[0];\n    return depth == 0 ? local[0] : down(y, depth - 1) + local[depth % 64];\n}\nextern \"C\" __global__ void k(int* y) {\n    const int sum = down(y, y[1]);\n    if (threadIdx.x == 0) y[2] = sum;\n}";
    let says = [
        "the stack of a thread (128 KiB) is full",
        "recursion",
        "by thread (0,0,0) of block (0,0,0) at k.cu:2",
    ];
    assert_says(&fault_of(body, 2, &[1, i32::MAX, 0]), &says);
    assert_eq!(run(body, plan([1, 1, 1], [2, 1, 1], 0), &[1, 100, 0]).unwrap(), [1, 100, 101]);
    still_works();
}

#[test]
fn plans_beyond_the_limits_of_the_device() {
    if no_compiler() {
        return;
    }
    let body = "extern \"C\" __global__ void k(int* y) { y[0] = 1; }";
    let read = |block: &str, shared: u64| {
        let text = format!(r#"{{"grid":[1,1,1],"block":{block},"dynamic_shared_bytes":{shared}}}"#);
        serde_json::from_str::<LaunchPlan>(&text).unwrap()
    };
    for (block, shared, why) in [
        ("[0,1,1]", 0, "threads in one direction of a block"),
        ("[1048576,1,1]", 0, "1048576 threads per block, the limit is 1024"),
        ("[1,1,1]", 1 << 30, "bytes of shared memory per block"),
    ] {
        let error = run(body, read(block, shared), &[0]).unwrap_err().to_string();
        assert_says(&error, &["k failed: ", why]);
    }
    still_works();
}

#[test]
fn misaligned_accesses() {
    if no_compiler() {
        return;
    }
    let scalar = "extern \"C\" __global__ void k(char* y) { *reinterpret_cast<int*>(y + 2) = 1; }";
    assert_says(&fault_of(scalar, 1, &[0_u8; 64]), &["misaligned", "k.cu:2"]);
    let vector = "extern \"C\" __global__ void k(float* y) {\n    const float4 v = *reinterpret_cast<float4*>(y + 1);\n    y[0] = v.x + v.w;\n}";
    assert_says(&fault_of(vector, 1, &[0.0_f32; 8]), &["misaligned", "thread (0,0,0)", "k.cu:3"]);
    let atomic = "extern \"C\" __global__ void k(char* y) { atomicAdd(reinterpret_cast<int*>(y + 1), 1); }";
    assert_says(&fault_of(atomic, 1, &[0_u8; 64]), &["misaligned atomic of 4 bytes at byte 1 of Y"]);
    let shared = "extern \"C\" __global__ void k(float* y) { DYNAMIC_SHARED(char, all); atomicAdd(reinterpret_cast<int*>(all + 2), 1); }";
    assert_says(
        &fault_with(shared, plan([1, 1, 1], [1, 1, 1], 64), &[0.0_f32]),
        &["misaligned atomic of 4 bytes at byte 2 of dynamic shared memory"],
    );
}

#[test]
fn shared_memory_out_of_bounds() {
    if no_compiler() {
        return;
    }
    let fixed = "extern \"C\" __global__ void k(int* y) {\n    __shared__ int part[8];\n    part[threadIdx.x] = 1;\n}";
    assert_says(
        &fault_of(fixed, 9, &[0]),
        &["index beyond the bounds of an array", "thread (8,0,0)", "k.cu:4"],
    );
    let pointer = "extern \"C\" __global__ void k(int* y) { __shared__ int part[8]; int* p = part; p[threadIdx.x + y[0]] = 1; }";
    assert_says(
        &fault_of(pointer, 1, &[1000]),
        &["out-of-bounds write of 4 bytes at byte 4000 of static shared memory, which has 32 bytes"],
    );
    let dynamic =
        "extern \"C\" __global__ void k(int* y) { DYNAMIC_SHARED(int, part); part[threadIdx.x] = 1; }";
    assert_says(
        &fault_with(dynamic, plan([1, 1, 1], [9, 1, 1], 32), &[0]),
        &["out-of-bounds write of 4 bytes at byte 32 of dynamic shared memory, which has 32 bytes"],
    );
    assert_says(
        &fault_with(dynamic, plan([1, 1, 1], [1, 1, 1], 0), &[0]),
        &["write of 4 bytes at byte 0 of dynamic shared memory, of which this launch has none", "k.cu:2"],
    );
    still_works();
}

#[test]
fn lanes_of_a_mask_that_never_come_and_masks_without_the_caller() {
    if no_compiler() {
        return;
    }
    let body = r#"
extern "C" __global__ void k(int* y) {
    if (threadIdx.x != 5) y[threadIdx.x] = __shfl_sync(0xffffffff, 1, 0);
    else __syncthreads();
}"#;
    assert_says(
        &fault_of(body, 32, &[0; 32]),
        &["deadlock", "31 threads wait at __shfl_sync", "1 thread waits"],
    );
    let outside = "extern \"C\" __global__ void k(int* y) { __syncwarp(0xfffffffe); }";
    assert_says(
        &fault_of(outside, 32, &[0]),
        &["__syncwarp with mask 0xfffffffe by lane 0, which is not in it"],
    );
    let source =
        "extern \"C\" __global__ void k(int* y) { y[threadIdx.x] = __shfl_xor_sync(0xffffffff, 1, 16); }";
    assert_says(&fault_of(source, 24, &[0; 24]), &["shuffle to lane 8 from lane 24, which takes no part"]);
}

#[test]
fn shared_memory_that_nobody_wrote() {
    if no_compiler() {
        return;
    }
    let body = "extern \"C\" __global__ void k(int* y) {\n    __shared__ int part[64];\n    if (threadIdx.x != 7) part[threadIdx.x] = 1;\n    __syncthreads();\n    y[threadIdx.x] = part[threadIdx.x];\n}";
    assert_says(
        &fault_of(body, 64, &[0; 64]),
        &[
            "read of uninitialised shared memory: 4 bytes at byte 28 of static shared memory",
            "thread (7,0,0)",
            "k.cu:6",
        ],
    );
    // What nobody ever writes is no constant either.
    for declared in ["__shared__ int part[64];", "__shared__ __align__(16) int part[64];"] {
        let body = format!(
            "extern \"C\" __global__ void k(int* y) {{\n    {declared}\n    y[threadIdx.x] = part[threadIdx.x];\n}}"
        );
        assert_says(&fault_of(&body, 64, &[0; 64]), &["uninitialised", "thread (0,0,0)", "k.cu:4"]);
    }
    let body = "template <int N> __device__ int first() { __shared__ int part[N]; return part[0]; }\n__shared__ int one;\nextern \"C\" __global__ void k(int* y) {\n    y[0] = WHAT;\n}";
    for what in ["first<3>()", "one", "(threadIdx.x ? one = 1 : 0) + one"] {
        assert_says(
            &fault_of(&body.replace("WHAT", what), 1, &[0]),
            &["uninitialised shared memory: 4 bytes"],
        );
    }
    // What a block leaves behind is nothing to the next.
    let body = "extern \"C\" __global__ void k(int* y) { __shared__ int v; if (blockIdx.x == 0) v = 1; y[blockIdx.x] = v; }";
    assert_says(
        &fault_with(body, plan([2, 1, 1], [1, 1, 1], 0), &[0; 2]),
        &["uninitialised", "block (1,0,0)"],
    );
}

#[test]
fn a_missing_syncthreads() {
    if no_compiler() {
        return;
    }
    let body = REDUCTION.replace("__syncthreads();", "");
    let message = fault_of(&body, 64, &[1; 64]);
    // In ascending order the other half has not even been written.
    assert_says(&message, &["shared memory", "k.cu:9"]);
    let body = r#"
extern "C" __global__ void k(int* y) {
    __shared__ int part[64];
    part[threadIdx.x] = y[threadIdx.x];
    __syncthreads();
    const int other = part[63 - threadIdx.x];
    part[threadIdx.x] = other + 1;
    __syncthreads();
    y[threadIdx.x] = part[threadIdx.x];
}"#;
    assert_says(
        &fault_of(body, 64, &[1; 64]),
        &[
            "data race on shared memory: read of 4 bytes at byte 252 of static shared memory, which thread (63,0,0) has \
           written; a barrier is missing between thread 63 and thread 0",
            "k.cu:7",
        ],
    );
    let right =
        body.replace("    part[threadIdx.x] = other", "    __syncthreads();\n    part[threadIdx.x] = other");
    assert_eq!(run(&right, plan([1, 1, 1], [64, 1, 1], 0), &[1; 64]).unwrap(), [2; 64]);
}

#[test]
fn a_missing_syncwarp() {
    if no_compiler() {
        return;
    }
    let right = r#"
extern "C" __global__ void k(int* y) {
    __shared__ int part[64];
    part[threadIdx.x] = y[threadIdx.x];
    __syncwarp();
    y[threadIdx.x] = part[threadIdx.x ^ 1];
}"#;
    let y: Vec<i32> = (0..64).collect();
    let found = run(right, plan([1, 1, 1], [64, 1, 1], 0), &y).unwrap();
    assert!(found.iter().zip(&y).all(|(found, y)| *found == y ^ 1));
    assert_says(&fault_of(&right.replace("__syncwarp();", ""), 64, &y), &["shared memory", "k.cu:7"]);
    // A shuffle does not order memory.
    let shuffle = right.replace("__syncwarp();", "__shfl_sync(0xffffffff, 1, 0);");
    assert_says(&fault_of(&shuffle, 64, &y), &["data race on shared memory: read of 4 bytes", "has written"]);
    // A warp's barrier is none between warps.
    let across = right.replace("threadIdx.x ^ 1", "threadIdx.x ^ 32");
    assert_says(&fault_of(&across, 64, &y), &["shared memory"]);
    // Half a warp may meet, and then the others may not look.
    let half = right.replace("__syncwarp();", "__syncwarp(threadIdx.x % 32 < 16 ? 0xffff : 0xffff0000);");
    assert_eq!(run(&half, plan([1, 1, 1], [64, 1, 1], 0), &y).unwrap(), found);
    assert_says(&fault_of(&half.replace("^ 1]", "^ 16]"), 64, &y), &["shared memory"]);
}

#[test]
fn races_on_global_memory() {
    if no_compiler() {
        return;
    }
    let body = "extern \"C\" __global__ void k(int* y) {\n    y[threadIdx.x / 2] = 1;\n}";
    assert_says(
        &fault_of(body, 4, &[0; 4]),
        &[
            "data race on global memory: write of 4 bytes at byte 0 of Y",
            "which thread (0,0,0) of block (0,0,0) has written",
            "by thread (1,0,0) of block (0,0,0) at k.cu:3",
        ],
    );
    // Read before written in ascending order: the other order shows it.
    let body = "extern \"C\" __global__ void k(int* y) { const int next = y[blockIdx.x + 1]; y[blockIdx.x] = next; }";
    assert_says(
        &fault_with(body, plan([3, 1, 1], [1, 1, 1], 0), &[0; 4]),
        &[
            "data race on global memory: read of 4 bytes at byte 8 of Y",
            "block (2,0,0)",
            "(threads in descending order)",
        ],
    );
    let ordered = "extern \"C\" __global__ void k(int* y) {\n    y[threadIdx.x] = threadIdx.x;\n    __syncthreads();\n    const int other = y[threadIdx.x ^ 33];\n    __syncthreads();\n    y[threadIdx.x] = other;\n}";
    let found = run(ordered, plan([1, 1, 1], [64, 1, 1], 0), &[0; 64]).unwrap();
    assert!(found.iter().enumerate().all(|(i, &other)| other == i as i32 ^ 33));
    let mixed = "extern \"C\" __global__ void k(int* y) { if (threadIdx.x) atomicAdd(y, 1); else *y = 5; }";
    assert_says(&fault_of(mixed, 2, &[0]), &["data race on global memory: atomic of 4 bytes"]);
    still_works();
}

#[test]
fn bytes_of_one_word_do_not_race() {
    if no_compiler() {
        return;
    }
    let body = "extern \"C\" __global__ void k(char* y) { __shared__ char all[64]; all[threadIdx.x] = 1; y[threadIdx.x] = all[threadIdx.x]; }";
    assert_eq!(run(body, plan([1, 1, 1], [64, 1, 1], 0), &[0_u8; 64]).unwrap(), [1; 64]);
}

#[test]
fn what_ends_other_programs_is_a_message_here() {
    if no_compiler() {
        return;
    }
    let division = "extern \"C\" __global__ void k(int* y) {\n    y[0] = 7 / y[0];\n}";
    assert_says(&fault_of(division, 1, &[0]), &["integer division by zero", "k.cu:3"]);
    let shift = "extern \"C\" __global__ void k(int* y) { y[0] = 1u << y[0]; }";
    assert_says(&fault_of(shift, 1, &[32]), &["shift by"]);
    let overflow = "extern \"C\" __global__ void k(int* y) { y[0] = y[0] + 1; }";
    assert_says(&fault_of(overflow, 1, &[i32::MAX]), &["overflow of signed integers in an addition"]);
    still_works();
}
