//! `ordito xray` and `ordito check`: what they count, what they refuse, how they end.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

#[path = "common/command.rs"]
mod command;

use command::{json_lines, ordito};
use std::process::Output;
use tempfile::TempDir;

const SAXPY: &str = include_str!("data/saxpy.cu");
/// Our own limits.
const BUDGETS: &str = include_str!("../../../budgets.toml");

fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("saxpy.cu"), SAXPY).unwrap();
    folder
}

fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// Is there a compiler? Said aloud where there is none, and a failure where one is required.
fn no_compiler(output: &Output) -> bool {
    let missing = text(output).contains("no C++ compiler") || text(output).contains("needs 64-bit Linux");
    if missing {
        assert!(std::env::var("ORDITO_REQUIRE_EMULATOR").as_deref() != Ok("1"), "{}", text(output));
        println!("a test of xray is skipped: {}", text(output));
    }
    missing
}

#[test]
fn kernels_of_ones_own_are_counted() {
    let folder = folder();
    let launch = "saxpy<<<(4),(128)>>>(n=500, a=2.0f, x=f32[500], y=f32[500])";
    let output = ordito(&folder, &["xray", "saxpy.cu", "--launch", launch, "--json"]);
    if no_compiler(&output) {
        return;
    }
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let found = &json_lines(&output)[0];
    assert_eq!(found["variant"], "saxpy");
    let launch = &found["launches"][0];
    // 500 elements are 15 whole warps and one of 20 lanes.
    let loads = &launch["totals"]["global_loads"];
    assert_eq!((loads["instructions"].as_u64(), loads["lanes"].as_u64()), (Some(32), Some(1000)));
    assert_eq!(loads["sectors"].as_u64(), Some(2 * (15 * 4 + 3)));
    assert_eq!(launch["totals"]["blocks"]["parted"].as_u64(), Some(1), "the last warp");
    let line = launch["accesses"].as_array().unwrap().iter().find(|line| line["line"] == 6).unwrap();
    assert_eq!(line["file"], "saxpy.cu");
    assert!(launch["prediction"]["seconds"].as_f64().unwrap() > 0.0);
}

#[test]
fn faults_of_ones_own_kernels_are_found() {
    let folder = folder();
    let check = |launch: &str| ordito(&folder, &["check", "saxpy.cu", "--launch", launch]);
    let good = check("saxpy<<<4,128>>>(500, 2.0f, f32[500], f32[500])");
    if no_compiler(&good) {
        return;
    }
    assert_eq!(good.status.code(), Some(0), "{}", text(&good));
    assert!(text(&good).contains("no fault in 4 blocks of 128 threads, run in 3 orders"), "{}", text(&good));
    let beyond = check("beyond<<<4,128>>>(500, 2.0f, f32[500], f32[500])");
    assert_eq!(beyond.status.code(), Some(1));
    assert!(text(&beyond).contains("out-of-bounds read of 4 bytes at byte 2000 of x"), "{}", text(&beyond));
    assert!(text(&beyond).contains("saxpy.cu:12"), "{}", text(&beyond));
    let racing = check("racing<<<2,64,256>>>(f32[128], f32[2])");
    assert_eq!(racing.status.code(), Some(1));
    assert!(
        text(&racing).contains("shared memory") && text(&racing).contains("saxpy.cu:27"),
        "{}",
        text(&racing)
    );
    // Counting alone finds what leads out of bounds as well.
    let launch = "beyond<<<4,128>>>(500, 2.0f, f32[500], f32[500])";
    let counted = ordito(&folder, &["xray", "saxpy.cu", "--launch", launch]);
    assert_eq!(counted.status.code(), Some(1));
    assert!(text(&counted).contains("saxpy.cu:12"), "{}", text(&counted));
}

#[test]
fn templates_are_launched_and_code_of_the_host_is_put_aside() {
    let folder = folder();
    let program = "#include <cstdio>
template <typename T, int TIMES = 2>
__global__ void scale(T* x, int n) {
    static __shared__ T part[64];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) part[threadIdx.x] = x[i] * TIMES, x[i] = part[threadIdx.x];
}
#ifndef ORDITO_EMULATOR
int main() {
    scale<float><<<2, 64>>>(nullptr, 0);
    printf(\"done\");
}
#endif
#if defined(__CUDACC__) && !defined(ORDITO_EMULATOR)
#include <cub/cub.cuh>
#endif
#ifdef ORDITO_EMULATOR
__device__ int also_here() { return 1; }
#elif defined(PRINTS)
__device__ void say() { printf(\"there\"); }
#else
__device__ void say() { asm(\"nanosleep.u32 1;\"); }
#endif
";
    std::fs::write(folder.path().join("program.cu"), program).unwrap();
    let run = |command, launch| ordito(&folder, &[command, "program.cu", "--launch", launch]);
    let counted = ordito(
        &folder,
        &["xray", "program.cu", "--launch", "scale<double, 3><<<2,64>>>(f64[128], 128)", "--json"],
    );
    if no_compiler(&counted) {
        return;
    }
    assert_eq!(counted.status.code(), Some(0), "{}", text(&counted));
    let launch = &json_lines(&counted)[0]["launches"][0];
    assert_eq!(launch["totals"]["global_loads"]["asked_bytes"].as_u64(), Some(8 * 128));
    let checked = run("check", "scale<float><<<2,64>>>(f32[128], 128)");
    assert_eq!(checked.status.code(), Some(0), "{}", text(&checked));
    let checked = run("check", "scale<float, (4>2)><<<2,64>>>(f32[128], 128)");
    assert_eq!(checked.status.code(), Some(0), "{}", text(&checked));
    let beyond = run("check", "scale<float><<<2,64>>>(f32[127], 128)");
    assert!(text(&beyond).contains("out-of-bounds read") && text(&beyond).contains("program.cu:6"));
    for (launch, expected) in [
        ("scale<float><<<2,64>>>(f64[128], 128)", "an array of f32 is wanted, not of f64"),
        (
            "scale<float, 1, 2><<<2,64>>>(f32[128], 128)",
            "<float, 1, 2> does not fit the template <typename T, int TIMES = 2>",
        ),
        ("scale<<<2,64>>>(f32[128], 128)", "say which instance is launched"),
        ("scale<nothing><<<2,64>>>(f32[128], 128)", "nothing"),
    ] {
        let output = run("xray", launch);
        assert_eq!(output.status.code(), Some(2), "{launch}: {}", text(&output));
        assert!(text(&output).contains(expected), "{launch}: {}", text(&output));
    }
    let plain =
        ordito(&folder, &["xray", "saxpy.cu", "--launch", "saxpy<int><<<1,1>>>(1, 2, f32[1], f32[1])"]);
    assert!(text(&plain).contains("saxpy is no template (saxpy.cu:4)"), "{}", text(&plain));
}

#[test]
fn what_cannot_be_used_gets_a_sentence() {
    let folder = folder();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("host.cu", "__global__ void k(int* y) { y[0] = 1; }\n\nint main() { k<<<1, 1>>>(nullptr); }\n");
    write("template.cu", "template <typename T>\n__global__ void k(T* y) { y[0] = 1; }\n");
    write("broken.cu", "__global__ void k(int* y) {\n    y[0] = nothing;\n}\n");
    write("struct.cu", "struct S { int a[9]; };\n__global__ void k(S s, int* y) { y[0] = s.a[0]; }\n");
    write("half.cu", "#include <cuda_fp16.h>\n__global__ void k(__half* y) {}\n");
    write("table.cu", "__constant__ float table[4];\n__global__ void k(float* y) { y[0] = table[0]; }\n");
    write("binary.cu", "");
    std::fs::write(folder.path().join("binary.cu"), [0xFF, 0xFE, 0x00]).unwrap();
    let saxpy = "saxpy<<<4,128>>>(n=500, a=2.0f, x=f32[500], y=f32[500])";
    let cases: &[(&[&str], &str)] = &[
        (&["xray", "saxpy.cu"], "how is it launched? --launch"),
        (&["xray", "missing.cu", "--launch", saxpy], "missing.cu"),
        (&["xray", "binary.cu", "--launch", saxpy], "binary.cu"),
        (&["xray", "saxpy.cu", "--launch", "saxpy<<4,128>>>()"], "--launch, character 6: `<<<` expected"),
        (
            &["xray", "saxpy.cu", "--launch", "sax<<<4,128>>>()"],
            "saxpy.cu has no kernel `sax`; there are: saxpy, beyond, strided, racing",
        ),
        (
            &["xray", "saxpy.cu", "--launch", "saxpy<<<4,128>>>(n=1)"],
            "1 arguments, saxpy takes 4 (saxpy.cu:4): int n, float a",
        ),
        (
            &["xray", "saxpy.cu", "--launch", "saxpy<<<4,128>>>(n=1, b=2, x=f32[1], y=f32[1])"],
            "nothing is given for `float a`",
        ),
        (
            &["xray", "saxpy.cu", "--launch", "saxpy<<<4,128>>>(n=1.5, a=2, x=f32[1], y=f32[1])"],
            "`int n`: 1.5 is no i32",
        ),
        (
            &["xray", "saxpy.cu", "--launch", "saxpy<<<4,128>>>(n=1, a=2, x=f64[1], y=f32[1])"],
            "an array of f32 is wanted, not of f64",
        ),
        (
            &["xray", "saxpy.cu", "--launch", "saxpy<<<4,128>>>(n=1, a=2, x=7, y=f32[1])"],
            "an array is wanted",
        ),
        (
            &["xray", "saxpy.cu", "--launch", "saxpy<<<4,4096>>>(n=1, a=2, x=f32[1], y=f32[1])"],
            "4096 threads per block, the limit is 1024",
        ),
        (&["xray", "host.cu", "--launch", "k<<<1,1>>>(i32[1])"], "host.cu:3: a launch"),
        (&["xray", "half.cu", "--launch", "k<<<1,1>>>(u16[1])"], "half.cu:1: half precision"),
        (&["check", "table.cu", "--launch", "k<<<1,1>>>(f32[1])"], "table.cu:1: a table that the host fills"),
        (
            &["check", "template.cu", "--launch", "k<<<1,1>>>(i32[1])"],
            "template.cu:2: k is a template <typename T>; say which instance",
        ),
        (&["check", "broken.cu", "--launch", "k<<<1,1>>>(i32[1])"], "broken.cu:2"),
        (&["check", "struct.cu", "--launch", "k<<<1,1>>>(1, i32[1])"], "`S s`: only numbers and pointers"),
        (&["xray", "spmm", "stencil5:4", "--launch", saxpy], "--launch: of a file FILE.cu"),
        (
            &["xray", "spmm", "stencil5:4", "--gpu", "sm_70"],
            "nothing is known of `sm_70`; there are: sm_80 (A100), sm_90 (H200)",
        ),
        (
            &["xray", "spmm", "stencil5:4", "--variant", "csr-serial"],
            "no selected variant of `spmm` runs on emulator",
        ),
        (&["xray", "spmm", "stencil5:4", "--budget", "missing.toml"], "missing.toml"),
        (&["xray", "nothing"], "there is no operation `nothing`"),
    ];
    for (arguments, expected) in cases {
        let output = ordito(&folder, arguments);
        if no_compiler(&output) {
            return;
        }
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", text(&output));
        assert!(text(&output).contains(expected), "{arguments:?}: {}", text(&output));
        assert!(!text(&output).contains("panicked"), "{arguments:?}");
    }
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_ordito"))
        .args(["check", "saxpy.cu", "--launch", saxpy])
        .current_dir(&folder)
        .env("CXX", "no-such-compiler")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output).contains("CXX=no-such-compiler does not run"), "{}", text(&output));
}

#[test]
fn our_kernels_keep_their_budgets() {
    let folder = folder();
    std::fs::write(folder.path().join("budgets.toml"), BUDGETS).unwrap();
    let runs = [
        [
            "xray",
            "spmm",
            "stencil27:10",
            "--variant",
            "sell-cuda-*,csr-cuda-rows*,csr-cuda-shares,csr-cuda-windows,diagonals-cuda-slices",
            "--k",
            "8",
        ],
        [
            "xray",
            "gemm",
            "128",
            "--variant",
            "dense-cuda-narrow,dense-cuda-registers*,dense-cuda-tensor-f64*",
            "--dtype",
            "f64",
        ],
        ["xray", "columns", "358x656", "--variant", "dense-cuda-strips*", "--dtype", "f64"],
    ];
    for run in runs {
        let mut arguments: Vec<&str> = run.into();
        arguments.extend(["--budget", "budgets.toml"]);
        let output = ordito(&folder, &arguments);
        if no_compiler(&output) {
            return;
        }
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", text(&output));
        assert!(text(&output).contains(" 0 exceeded"), "{}", text(&output));
    }
}

/// A kernel of the ladder as it is, and with row and column of X exchanged: the same budget, green and red.
#[test]
fn a_change_that_spoils_coalescing_is_red() {
    let folder = folder();
    let kernel = include_str!("../../ordito/src/spmm/cuda/ladder/csr_cuda_thread.cu");
    let right = "x[columns[i] * x_distance + col]";
    assert!(kernel.contains(right));
    std::fs::write(folder.path().join("right.cu"), kernel).unwrap();
    let spoiled = kernel.replace(right, "x[columns[i] + col * x_distance]");
    std::fs::write(folder.path().join("spoiled.cu"), spoiled).unwrap();
    let budget = "[[kernel]]\nvariant = \"csr_thread\"\nunused_bytes_percent = 30\nidle_lanes_percent = 1\n";
    std::fs::write(folder.path().join("b.toml"), budget).unwrap();
    // 64 rows of 8 nonzeros in the same columns, K = 16.
    let launch = "csr_thread<<<2,512>>>(64, 16, u32[65]=index, u32[512], f64[512], f64[256], 16, f64[1024], 16, 1.0, 0.0)";
    let run = |file| {
        let arguments = [
            "xray",
            file,
            "--launch",
            launch,
            "-D",
            "SCALAR=double",
            "-D",
            "OFFSET=u32",
            "--budget",
            "b.toml",
        ];
        ordito(&folder, &arguments)
    };
    let output = run("right.cu");
    if no_compiler(&output) {
        return;
    }
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    assert!(text(&output).contains("2 limits kept, 0 exceeded"), "{}", text(&output));
    let output = run("spoiled.cu");
    assert_eq!(output.status.code(), Some(1), "{}", text(&output));
    assert!(
        text(&output).contains("over budget: csr_thread on spoiled.cu: unused_bytes_percent is"),
        "{}",
        text(&output)
    );
    // What a budget names must be looked at.
    std::fs::write(folder.path().join("b.toml"), budget.replace("csr_thread", "other")).unwrap();
    let output = run("right.cu");
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output).contains("`other` was not counted"), "{}", text(&output));
}

#[test]
fn the_page_fetches_nothing_and_shows_what_a_warp_touches() {
    let folder = folder();
    let launch = "strided<<<4,128>>>(n=4096, a=2.0f, x=f32[4096], y=f32[512])";
    let output =
        ordito(&folder, &["xray", "saxpy.cu", "--launch", launch, "--page", "page.html", "--blocks", "2"]);
    if no_compiler(&output) {
        return;
    }
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    assert!(
        text(&output).contains("2 of 4 blocks were run, counts are multiplied by 2.0000"),
        "{}",
        text(&output)
    );
    let page = std::fs::read_to_string(folder.path().join("page.html")).unwrap();
    assert!(!page.contains("http://") && !page.contains("https://"));
    assert!(
        page.contains("saxpy.cu:18: load of 4 bytes") && page.contains("32.0 sectors each"),
        "the strided load"
    );
    assert!(page.matches("class=\"moved\"").count() >= 32 && page.contains("multiply counts by 2"));
}

#[test]
fn variants_are_compared_and_listed_by_line() {
    let folder = folder();
    let arguments =
        ["xray", "gemm", "64", "--tile", "32", "--dtype", "f32", "--compare", "kernel1,kernel2", "--lines"];
    let output = ordito(&folder, &arguments);
    if no_compiler(&output) {
        return;
    }
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let shown = text(&output);
    // 2M accesses for 2M operations against one for 32; C is read and written by both.
    let accesses = shown.lines().find(|line| line.starts_with("global accesses of threads")).unwrap();
    let numbers: Vec<&str> = accesses.split("  ").map(str::trim).filter(|part| !part.is_empty()).collect();
    assert_eq!(numbers[1..3], ["532 480", "24 576"], "{shown}");
    assert!(
        shown.contains("hottest:") && shown.contains("sum += tile_of_a[x][k] * tile_of_b[k][y];"),
        "{shown}"
    );
    let wrong =
        ordito(&folder, &["xray", "gemm", "64", "--tile", "32", "--dtype", "f32", "--compare", "kernel1"]);
    assert_eq!(wrong.status.code(), Some(2));
}
