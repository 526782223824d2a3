//! Asynchronous copies: what they do, and what must be found.

use crate::device::emulator::tests::ptx::*;

#[test]
fn copies_of_every_size_and_their_zeros() {
    if no_compiler() {
        return;
    }
    // Thread i copies to bytes 16i of two halves, i mod (Bytes + 1) of them valid, and all of them.
    let body = r#"
template <u32 Bytes> __device__ void copy(unsigned char* y, const unsigned char* x) {
    DYNAMIC_SHARED(unsigned char, all);
    const u32 i = threadIdx.x;
    copy_async<Bytes>(all + 16 * i, x + 16 * i, i % (Bytes + 1));
    copy_async<Bytes>(all + 512 + 16 * i, x + 16 * i);
    copy_async_commit();
    copy_async_wait<0>();
    __syncthreads();
    const u32 other = 31 - i;
    for (u32 b = 0; b < Bytes; ++b) y[16 * other + b] = all[16 * other + b], y[512 + 16 * other + b] = all[512 + 16 * other + b];
}
extern "C" __global__ void k(unsigned char* y, const unsigned char* x) { copy<BYTES>(y, x); }"#;
    let x: Vec<u8> = (0..512).map(|i| (i % 251) as u8 + 1).collect();
    for bytes in [4, 8, 16] {
        let found = run_all(&body.replace("BYTES", &bytes.to_string()), 32, &[255_u8; 1024], &x).unwrap();
        for (at, &byte) in found.iter().enumerate() {
            let (thread, offset) = (at % 512 / 16, at % 16);
            let expected = match (offset < bytes, at >= 512 || offset < thread % (bytes + 1)) {
                (false, _) => 255,
                (true, valid) => {
                    if valid {
                        x[at % 512]
                    } else {
                        0
                    }
                }
            };
            assert_eq!(byte, expected, "byte {at} of copies of {bytes}");
        }
    }
}

#[test]
fn nothing_is_read_where_nothing_is_valid() {
    if no_compiler() {
        return;
    }
    let body = r#"
extern "C" __global__ void k(float* y, const float* x) {
    __shared__ __align__(16) float all[4];
    copy_async<16>(all, x, 12);
    copy_async<4>(all, nullptr, 0);
    copy_async_commit();
    copy_async_wait<0>();
    for (u32 i = 0; i < 4; ++i) y[i] = all[i];
}"#;
    let first = body.replace("    copy_async<4>(all, nullptr, 0);\n", "");
    assert_eq!(run_all(&first, 1, &[9.0_f32; 4], &[1.0_f32, 2.0, 3.0]).unwrap(), [1.0, 2.0, 3.0, 0.0]);
    let second = body.replace("    copy_async<16>(all, x, 12);\n", "    copy_async<16>(all, nullptr, 0);\n");
    let second = second.replace("    copy_async<4>(all, nullptr, 0);\n", "");
    assert_eq!(run_all(&second, 1, &[9.0_f32; 4], &[1.0_f32]).unwrap(), [0.0; 4]);
    assert_says(
        &fault(body, 1, &[9.0_f32; 4], &[1.0_f32, 2.0, 3.0]),
        &[
            "copy_async: write of 4 bytes at byte 0 of static shared memory, into which a copy_async of thread (0,0,0) is under way",
            "k.cu:7",
        ],
    );
}

/// A pipeline of two buffers, right as it is.
const PIPELINE: &str = r#"
extern "C" __global__ void k(int* y, const int* x) {
    __shared__ int tile[2][64];
    const u32 i = threadIdx.x;
    copy_async<4>(&tile[0][i], x + i);
    copy_async_commit();
    for (u32 step = 0; step < 4; ++step) {
        if (step < 3) copy_async<4>(&tile[(step + 1) % 2][i], x + 64 * (step + 1) + i);
        copy_async_commit();
        copy_async_wait<1>();
        __syncthreads();
        y[i] += tile[step % 2][63 - i] * (step + 1);
        __syncthreads();
    }
}"#;

fn pipeline_operand() -> Vec<i32> {
    (0..256).map(|i| i * i % 1000).collect()
}

#[test]
fn a_pipeline_of_two_buffers() {
    if no_compiler() {
        return;
    }
    let x = pipeline_operand();
    let found = run_all(PIPELINE, 64, &[0; 64], &x).unwrap();
    for (i, &found) in found.iter().enumerate() {
        let expected: i32 = (0..4).map(|step| x[64 * step + 63 - i] * (step as i32 + 1)).sum();
        assert_eq!(found, expected);
    }
}

#[test]
fn what_is_read_before_the_wait() {
    if no_compiler() {
        return;
    }
    let x = pipeline_operand();
    let under_way = "of static shared memory, into which a copy_async of thread (";
    // By the thread itself, which reads what it copied.
    let own = PIPELINE.replace("63 - i", "i");
    assert!(run_all(&own, 64, &[0; 64], &x).is_ok());
    for wrong in [
        own.replace("copy_async_wait<1>();", ""),
        own.replace("copy_async_wait<1>();", "copy_async_wait<2>();"),
        own.replace("copy_async_commit();\n    for", "for"), // one group less: the wait is for the one before
        PIPELINE.replace("copy_async_wait<1>();", ""),       // by another
    ] {
        for order in Order::ALL {
            let message = run_on(&[order], &wrong, 64, &[0; 64], &x).unwrap_err().to_string();
            assert_says(&message, &[under_way, "is under way"]);
        }
    }
    let message = fault(&own.replace("copy_async_wait<1>();", ""), 64, &[0; 64], &x);
    assert_says(
        &message,
        &["read of 4 bytes at byte 252 of static shared memory", "by thread (63,0,0)", "at k.cu:14"],
    );
}

#[test]
fn a_missing_barrier_after_the_wait() {
    if no_compiler() {
        return;
    }
    let wrong = PIPELINE.replacen("        __syncthreads();\n        y", "        y", 1);
    let message = fault(&wrong, 64, &[0; 64], &pipeline_operand());
    // In ascending order the other thread has not even begun.
    assert_says(&message, &["shared memory", "at k.cu:13"]);
    // Here all have waited, and a barrier lies before that.
    let late = r#"
extern "C" __global__ void k(int* y, const int* x) {
    __shared__ int tile[64];
    const u32 i = threadIdx.x;
    copy_async<4>(&tile[i], x + i);
    copy_async_commit();
    __syncthreads();
    copy_async_wait<0>();
    __shfl_sync(0xffffffff, 1, 0);
    y[i] = tile[i ^ 1];
}"#;
    assert_says(
        &fault(late, 64, &[0; 64], &pipeline_operand()),
        &[
            "data race on shared memory: read of 4 bytes at byte 252 of static shared memory, which thread (63,0,0) has written",
            "at k.cu:12",
        ],
    );
    let right = late.replace("__shfl_sync(0xffffffff, 1, 0)", "__syncwarp()");
    let found = run_all(&right, 64, &[0; 64], &pipeline_operand()).unwrap();
    assert!((0..64).all(|i| found[i] == pipeline_operand()[i ^ 1]));
}

#[test]
fn a_buffer_that_is_overwritten_while_others_read_it() {
    if no_compiler() {
        return;
    }
    let wrong = PIPELINE.replace("        __syncthreads();\n    }", "    }");
    for order in Order::ALL {
        let message = run_on(&[order], &wrong, 64, &[0; 64], &pipeline_operand()).unwrap_err().to_string();
        assert_says(&message, &["shared memory"]);
    }
    // One thread copies when others have read, and more will.
    let one = r#"
extern "C" __global__ void k(int* y, const int* x) {
    __shared__ int tile;
    if (threadIdx.x == 0) tile = 1;
    __syncthreads();
    y[threadIdx.x] = tile;
    if (threadIdx.x == 40)
        copy_async<4>(&tile, x);
}"#;
    assert_says(
        &fault(one, 64, &[0; 64], &[5]),
        &[
            "copy_async: data race on shared memory: write of 4 bytes at byte 0 of static shared memory, which thread (",
            "has read; a barrier is missing between thread",
            "by thread (40,0,0) of block (0,0,0) at k.cu:10",
        ],
    );
    let stored = PIPELINE.replace(
        "        copy_async_wait<1>();",
        "        tile[step % 2][i] = 1;\n        copy_async_wait<1>();",
    );
    assert_says(
        &fault(&stored, 64, &[0; 64], &pipeline_operand()),
        &["write of 4 bytes", "is under way", "at k.cu:12"],
    );
}

#[test]
fn a_source_that_changes_while_it_is_copied() {
    if no_compiler() {
        return;
    }
    let body = r#"
extern "C" __global__ void k(int* y, const int* x) {
    __shared__ int one;
    copy_async<4>(&one, y);
    copy_async_commit();
    y[0] = 5;
    copy_async_wait<0>();
    y[1] = one;
}"#;
    assert_says(
        &fault(body, 1, &[1, 2], &[0]),
        &[
            "the result depends on the order of the threads: Y differs from byte 4 on between ascending and descending order",
        ],
    );
    assert_eq!(run_on(&[Order::Ascending], body, 1, &[1, 2], &[0]).unwrap(), [5, 5], "late");
    assert_eq!(run_on(&[Order::Descending], body, 1, &[1, 2], &[0]).unwrap(), [5, 1], "at once");
}

#[test]
fn copies_out_of_bounds_and_to_the_wrong_memory() {
    if no_compiler() {
        return;
    }
    let body = |copy: &str| {
        format!(
            "extern \"C\" __global__ void k(float* y, const float* x) {{\n    DYNAMIC_SHARED(float, all);\n    __shared__ __align__(16) float fixed[8];\n    {copy};\n    copy_async_commit();\n}}"
        )
    };
    let says = |copy: &str, parts: &[&str]| {
        let message = fault(&body(copy), 1, &[0.0_f32; 8], &[0.0_f32; 7]);
        assert_says(&message, parts);
        assert_says(&message, &["copy_async: ", "by thread (0,0,0) of block (0,0,0) at k.cu:6"]);
    };
    says(
        "copy_async<16>(fixed, x + 4)",
        &["out-of-bounds read of 16 bytes at byte 16 of X, which has 28 bytes"],
    );
    says("copy_async<16>(fixed, x + 4, 13)", &["out-of-bounds read of 13 bytes at byte 16 of X"]);
    assert!(run_all(&body("copy_async<16>(fixed, x + 4, 12)"), 1, &[0.0_f32; 8], &[0.0_f32; 7]).is_ok());
    says("copy_async<16>(fixed, x, 17)", &["17 of 16 bytes are said to be valid"]);
    says(
        "copy_async<4>(all + 256, x)",
        &["out-of-bounds write of 4 bytes at byte 1024 of dynamic shared memory"],
    );
    says("copy_async<4>(y, x)", &["write of 4 bytes"]);
    says("copy_async<4>(fixed, all)", &["read of 4 bytes"]);
    says("copy_async<8>(fixed, x + 1)", &["misaligned source", "is no multiple of 8 bytes"]);
    says("copy_async<16>(all + 2, x)", &["misaligned destination", "is no multiple of 16 bytes"]);
    says("copy_async<8>(fixed + 1, nullptr, 0)", &["misaligned destination"]);
}

#[test]
fn what_is_never_waited_for_never_arrives() {
    if no_compiler() {
        return;
    }
    // The next block begins with nothing under way.
    let body = r#"
extern "C" __global__ void k(int* y, const int* x) {
    __shared__ int one[32];
    one[threadIdx.x] = 1;
    y[threadIdx.x] = one[threadIdx.x];
    copy_async<4>(&one[threadIdx.x], x);
    copy_async_commit();
}"#;
    let device = device();
    let kernel = device.kernel(&with_ptx(body)).unwrap();
    let (mut y, x) = (device.upload("Y", &[0; 32]).unwrap(), device.upload("X", &[7]).unwrap());
    let arguments = [Argument::from(&mut y), Argument::from(&x)];
    // SAFETY: the emulator lets a kernel touch nothing but the buffers that its arguments point into.
    unsafe { kernel.launch(&plan([1, 1, 1], [32, 1, 1], 0), &arguments) }.unwrap();
    let late = body.replace("copy_async_commit();", "__syncthreads(); if (threadIdx.x == 0) y[0] = one[31];");
    assert_says(
        &fault(&late, 32, &[0; 32], &[7]),
        &["into which a copy_async of thread (31,0,0) is under way"],
    );
}
