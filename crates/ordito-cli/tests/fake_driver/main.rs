//! Machines that one does not have: drivers and libraries that are missing, old, stubs, broken or full, as small
//! shared libraries that a C compiler makes. Nothing may panic, and every refusal says what to do.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

mod child;

use ordito::device::gpu::Library;
use std::path::Path;
use std::process::{Command, Output};

const CUDA: &str = include_str!("cuda.c");
const CUBLAS: &str = include_str!("cublas.c");
const CUSPARSE: &str = include_str!("cusparse.c");

/// A folder of fake libraries, and a cache of its own.
struct Fakes {
    folder: tempfile::TempDir,
}

impl Fakes {
    /// `None`, with a note, where there is no C compiler.
    fn new() -> Option<Self> {
        if Command::new("cc").arg("--version").output().is_err() {
            println!("no C compiler (cc): skipped");
            return None;
        }
        let fakes = Fakes { folder: tempfile::tempdir().unwrap() };
        std::fs::create_dir(fakes.folder.path().join("cache")).unwrap();
        Some(fakes)
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Compiles `text` as `name`. Functions that it should have and that `text` does not define return 0; those in
    /// `without` are left out.
    fn add(&self, library: Library, name: &str, text: &str, definitions: &[&str], without: &[&str]) {
        let mut source = String::new();
        for function in without {
            source += &format!("#define {function} static_{function}\n");
        }
        source += text;
        for function in library.functions() {
            if !text.contains(&format!("{function}(")) && !without.contains(function) {
                source += &format!("\nint {function}() {{ return 0; }}");
            }
        }
        let file = self.path().join(format!("{name}.c"));
        std::fs::write(&file, source).unwrap();
        let made = Command::new("cc")
            .args(["-shared", "-fPIC", "-w", "-O1"])
            .args(definitions)
            .arg(&file)
            .arg("-o")
            .arg(self.path().join(name))
            .output()
            .unwrap();
        assert!(made.status.success(), "{made:?}");
    }

    /// The driver, also under the name that the bindings try first, so that a real one is never reached.
    fn driver(self, definitions: &[&str], without: &[&str]) -> Self {
        self.add(Library::Cuda, "libcuda.so.1", CUDA, definitions, without);
        let link = self.path().join("libcuda.so");
        if !link.exists() {
            std::os::unix::fs::symlink("libcuda.so.1", link).unwrap();
        }
        self
    }

    fn command(&self, program: impl AsRef<Path>) -> Command {
        let mut command = Command::new(program.as_ref());
        command.env("LD_LIBRARY_PATH", self.path()).env("ORDITO_CACHE_DIR", self.path().join("cache"));
        command.env_remove("CUDA_VISIBLE_DEVICES");
        command
    }

    /// This test program again, doing only `action`: what it printed.
    fn child(&self, action: &str) -> String {
        self.child_with(action, &[])
    }

    /// Toolkits and wheels of this machine are hidden, as far as variables can.
    fn child_without_toolkits(&self, action: &str) -> String {
        let home = self.path().to_str().unwrap();
        let hidden =
            [("HOME", home), ("VIRTUAL_ENV", ""), ("CONDA_PREFIX", ""), ("CUDA_HOME", ""), ("CUDA_PATH", "")];
        self.child_with(action, &hidden)
    }

    fn child_with(&self, action: &str, variables: &[(&str, &str)]) -> String {
        let mut command = self.command(std::env::current_exe().unwrap());
        command.args(["--exact", "child::act", "--nocapture"]).env(child::ACTION, action);
        command.envs(variables.iter().copied());
        let output = command.output().unwrap();
        nothing_panicked(&output);
        assert!(output.status.success(), "{action}: {output:?}");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let told: Vec<&str> =
            text.lines().filter_map(|line| line.split_once(child::MARK)).map(|(_, told)| told).collect();
        assert!(!told.is_empty(), "{action}: {output:?}");
        told.join("\n")
    }
}

fn nothing_panicked(output: &Output) {
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(!text.contains("panicked") && output.status.code().is_some(), "{output:?}");
}

fn holds(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "`{part}` is not in: {text}");
    }
}

#[test]
fn drivers_that_do_not_start_say_why() {
    let cases: [(&[&str], &[&str], &[&str]); 7] = [
        (&["-DINIT=100"], &[], &["no usable GPU", "sees no GPU", "nvidia-smi"]),
        (&["-DINIT=34"], &[], &["libcuda.so.1 is a stub", "LD_LIBRARY_PATH", "install the NVIDIA driver"]),
        (
            &["-DINIT=803"],
            &[],
            &["kernel module", "a sentence of the driver (CUDA_ERROR_FAKE, 803)", "restart"],
        ),
        (&["-DINIT=999"], &[], &["does not start", "999", "nvidia-smi"]),
        (
            &["-DVERSION=11040"],
            &["cuMemAllocAsync"],
            &["CUDA 11.4", "libcuda.so", "12.0 or newer", "update the driver"],
        ),
        (
            &["-DVERSION=12020"],
            &["cuMemAllocAsync"],
            &["12.2", "has no function cuMemAllocAsync", "update the NVIDIA driver"],
        ),
        (&["-DCAPABILITY=61"], &[], &["GPU 0 (Fake GPU) has compute capability 6.1; 8.0 or newer"]),
    ];
    for (definitions, without, parts) in cases {
        let Some(fakes) = Fakes::new() else { return };
        let text = fakes.driver(definitions, without).child("open 0");
        holds(&text, &["refused: no usable GPU: "]);
        holds(&text, parts);
    }
}

#[test]
fn a_file_that_is_no_library_is_a_sentence() {
    let Some(fakes) = Fakes::new() else { return };
    for name in ["libcuda.so", "libcuda.so.1"] {
        std::fs::write(fakes.path().join(name), "not a library").unwrap();
    }
    let text = fakes.child("open 0");
    // A real driver elsewhere on the loader path is still found, as it should be.
    if !text.starts_with("opened") {
        holds(&text, &["libcuda.so.1 is there but cannot be loaded", "libcuda.so: ", "install"]);
    }
}

#[test]
fn a_number_beyond_the_last_gpu_is_refused_with_the_list() {
    let Some(fakes) = Fakes::new() else { return };
    let text = fakes.driver(&[], &[]).child("open 3");
    holds(&text, &["there is no GPU 3: this machine has 1 (0: Fake GPU)"]);
}

#[test]
fn a_full_gpu_refuses_with_what_is_needed_and_what_is_free() {
    let Some(fakes) = Fakes::new() else { return };
    let text = fakes.driver(&["-DFREE_BYTES=1000000ULL"], &[]).child("allocate 1048576");
    assert_eq!(text, "refused: Y would need 8.39 MB of device memory, 1.00 MB are free");
}

#[test]
fn memory_is_copied_filled_and_given_back() {
    let Some(fakes) = Fakes::new() else { return };
    assert_eq!(fakes.driver(&[], &[]).child("memory"), "memory is right");
}

#[test]
fn events_and_graphs_end_whatever_happens() {
    let Some(fakes) = Fakes::new() else { return };
    let text = fakes.driver(&[], &[]).child("graph");
    holds(
        &text,
        &["elapsed 1500000 ns", "copies between host and device cannot be part of a graph", "graph is right"],
    );
}

#[test]
fn without_a_compiler_the_gpu_opens_and_kernels_are_refused() {
    let Some(fakes) = Fakes::new() else { return };
    let fakes = fakes.driver(&[], &[]);
    assert_eq!(fakes.child_without_toolkits("open 0"), "opened Fake GPU");
    let text = fakes.child_without_toolkits("compile");
    if text.starts_with("compiled") {
        println!("NVRTC lies in a place of the system: its absence cannot be tried");
        return;
    }
    holds(&text, &["refused: libnvrtc.so was not found", "CUDA_HOME", "pip install nvidia-cuda-nvrtc"]);
}

#[test]
fn compilers_too_old_or_too_new_are_refused_with_their_versions() {
    let Some(fakes) = Fakes::new() else { return };
    let fakes = fakes.driver(&[], &[]);
    let version = |major: u32, minor: u32| {
        format!(
            "int nvrtcVersion(int* major, int* minor) {{ *major = {major}; *minor = {minor}; return 0; }}"
        )
    };
    fakes.add(Library::Nvrtc, "libnvrtc.so", &version(11, 0), &[], &["nvrtcGetCUBINSize", "nvrtcGetCUBIN"]);
    let text = fakes.child("compile");
    holds(
        &text,
        &["refused: libnvrtc.so (11.0, ", "has no function nvrtcGetCUBINSize", "install the CUDA toolkit"],
    );

    fakes.add(Library::Nvrtc, "libnvrtc.so", &version(14, 1), &[], &[]);
    let text = fakes.child("compile");
    holds(&text, &["NVRTC is for CUDA 14.1", "the driver for CUDA 13.0", "'nvidia-cuda-nvrtc==13.*'"]);
}

#[test]
fn kernels_are_cached_and_a_bad_cache_is_no_error() {
    let Some(fakes) = Fakes::new() else { return };
    if Library::Nvrtc.find().is_err() {
        println!("NVRTC not found: skipped");
        return;
    }
    let fakes = fakes.driver(&[], &[]);
    let cached = || std::fs::read_dir(fakes.path().join("cache/cubin")).map_or(0, Iterator::count);
    assert_eq!(fakes.child("compile"), "compiled, 32 registers, 4 blocks");
    assert_eq!(cached(), 1);
    // The driver rejects the cached code: it is made again.
    assert_eq!(
        fakes.child_with("compile", &[("FAKE_REJECT_FIRST_MODULE", "1")]),
        "compiled, 32 registers, 4 blocks"
    );
    assert_eq!(cached(), 1);
    let nowhere = [("ORDITO_CACHE_DIR", "/proc/nonexistent")];
    assert_eq!(fakes.child_with("compile", &nowhere), "compiled, 32 registers, 4 blocks");
}

#[test]
fn wrong_arguments_are_refused_before_the_launch() {
    let Some(fakes) = Fakes::new() else { return };
    if Library::Nvrtc.find().is_err() {
        println!("NVRTC not found: skipped");
        return;
    }
    let says = [
        "csr_thread, grid [1, 1, 1], block [32, 1, 1]",
        "arguments of [8, 4] bytes for parameters of [8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8] bytes",
    ];
    holds(&fakes.driver(&[], &[]).child("launch"), &says);
    // A driver that does not say how many there are is asked until it refuses.
    let Some(fakes) = Fakes::new() else { return };
    holds(&fakes.driver(&[], &["cuFuncGetParamCount"]).child("launch"), &says);
}

#[test]
fn the_library_copies_orders_and_only_enqueues() {
    let Some(fakes) = Fakes::new() else { return };
    if Library::Nvrtc.find().is_err() {
        println!("NVRTC not found: skipped");
        return;
    }
    let text = fakes.driver(&[], &[]).child("library");
    println!("{text}");
    holds(&text, &["library is right", "another device"]);
}

#[test]
fn the_cache_is_emptied_by_reading_or_without_a_compiler_by_filling() {
    let Some(fakes) = Fakes::new() else { return };
    let fakes = fakes.driver(&[], &[]);
    if Library::Nvrtc.find().is_ok() {
        assert_eq!(fakes.child("flush"), "reads");
    }
    let text = fakes.child_without_toolkits("flush");
    assert!(["fills", "reads"].contains(&text.as_str()), "{text}"); // NVRTC may lie in a place of the system
}

#[test]
fn cusparse_is_described_bound_and_run() {
    let Some(fakes) = Fakes::new() else { return };
    let fakes = fakes.driver(&[], &[]);
    fakes.add(Library::Cusparse, "libcusparse.so", CUSPARSE, &[], &[]);
    let text = fakes.child("cusparse");
    holds(
        &text,
        &["12.6.3", "no X and Y have been bound", "cuSPARSE takes no empty operands", "product is right"],
    );

    fakes.add(Library::Cusparse, "libcusparse.so", CUSPARSE, &[], &["cusparseSpMM_preprocess"]);
    let text = fakes.child("cusparse");
    holds(
        &text,
        &["refused: libcusparse.so (12.6.3, ", "has no function cusparseSpMM_preprocess", "pip install"],
    );
}

#[test]
fn cusparse_variants_take_their_operands_in_their_layout() {
    let Some(fakes) = Fakes::new() else { return };
    if Library::Nvrtc.find().is_err() {
        println!("NVRTC not found: skipped");
        return;
    }
    let fakes = fakes.driver(&[], &[]);
    fakes.add(Library::Cusparse, "libcusparse.so", CUSPARSE, &[], &[]);
    let text = fakes.child("cusparse-variants");
    assert_eq!(text, "cuSPARSE's SpMV multiplies one vector, not K = 2\nvariants are right");
}

/// A matrix without rows is the one that this GPU multiplies right, in the 1.5 ms of all its events.
#[test]
fn what_runs_on_a_gpu_is_timed_with_a_warm_and_with_an_empty_cache() {
    let Some(fakes) = Fakes::new() else { return };
    if Library::Nvrtc.find().is_err() {
        println!("NVRTC not found: skipped");
        return;
    }
    let fakes = fakes.driver(&[], &[]);
    let bench = |option: Option<&str>| {
        let mut command = fakes.command(env!("CARGO_BIN_EXE_ordito"));
        command.args(["bench", "spmm", "empty:0x3", "--on", "cuda", "--variant", "csr", "--k", "8"]);
        let output = command.args(["--samples", "3", "--json"]).args(option).output().unwrap();
        nothing_panicked(&output);
        serde_json::from_slice::<serde_json::Value>(&output.stdout).unwrap()
    };
    let record = bench(None);
    assert_eq!((&record["outcome"], &record["samples"]), (&"passed".into(), &3.into()));
    assert_eq!((&record["median_ns"], &record["flushed_median_ns"]), (&1.5e6.into(), &1.5e6.into()));
    let [compile, upload, all] =
        ["prepare_compile_ns", "prepare_upload_ns", "prepare_ns"].map(|part| record[part].as_f64().unwrap());
    assert!(compile > 0.0 && upload > 0.0 && compile + upload <= all, "{record}");
    assert!(record["cold"].is_null());
    let hot = bench(Some("--hot"));
    assert!(hot["median_ns"] == 1.5e6 && hot["flushed_median_ns"].is_null(), "{hot}");
    let cold = bench(Some("--cold"));
    assert!(
        cold["cold"] == true && cold["median_ns"] == 1.5e6 && cold["flushed_median_ns"].is_null(),
        "{cold}"
    );
}

#[test]
fn cublas_is_set_up_and_multiplies_rows() {
    let Some(fakes) = Fakes::new() else { return };
    let fakes = fakes.driver(&[], &[]);
    fakes.add(Library::Cublas, "libcublas.so", CUBLAS, &[], &[]);
    holds(
        &fakes.child("cublas"),
        &[
            "13.0.2, ",
            "A (2×3, rows 5 elements apart) needs 8 elements, A has 7",
            "B (3×4, rows 3 elements apart) has rows that overlap",
            "C (2×4, rows 8 elements apart) needs 12 elements, C has 11",
            "B (3×4, rows 0 elements apart) has rows that overlap",
            "has more elements than 64 bits count",
        ],
    );

    fakes.add(Library::Cublas, "libcublas.so", CUBLAS, &["-DGEMM=13"], &[]);
    let text = fakes.child("cublas");
    assert_eq!(text, "refused: cublasDgemm_v2_64 failed: a sentence of the library (13)");

    fakes.add(Library::Cublas, "libcublas.so", CUBLAS, &[], &["cublasDgemm_v2_64"]);
    holds(
        &fakes.child("cublas"),
        &[
            "refused: libcublas.so (13.0.2, ",
            "has no function cublasDgemm_v2_64",
            "pip install nvidia-cublas",
        ],
    );
}

#[test]
fn operands_of_another_gpu_are_refused() {
    let Some(fakes) = Fakes::new() else { return };
    let fakes = fakes.driver(&["-DGPUS=2"], &[]);
    fakes.add(Library::Cublas, "libcublas.so", CUBLAS, &[], &[]);
    fakes.add(Library::Cusparse, "libcusparse.so", CUSPARSE, &[], &[]);
    let text = fakes.child("foreign");
    let named: Vec<&str> =
        text.lines().filter_map(|line| line.split(" lies in the memory of another device").next()).collect();
    assert_eq!(named, ["what is copied", "A", "B", "C", "A", "A", "A", "A", "A", "A"], "{text}");
}

#[test]
fn without_cublas_the_refusal_says_what_to_install() {
    let Some(fakes) = Fakes::new() else { return };
    let fakes = fakes.driver(&[], &[]);
    // Looked for first: a real one is not to be opened with a fake driver.
    let looked_for = fakes.child_without_toolkits("find-cublas");
    if looked_for.starts_with("found") {
        println!("cuBLAS lies in a place of the system: its absence cannot be tried");
        return;
    }
    holds(&looked_for, &["refused: libcublas.so was not found", "CUDA_HOME", "`pip install nvidia-cublas`"]);
    assert_eq!(fakes.child_without_toolkits("cublas"), looked_for);
}

#[test]
fn the_doctor_tells_all_of_it() {
    let Some(fakes) = Fakes::new() else { return };
    let fakes = fakes.driver(&["-DINIT=100"], &[]);
    let doctor = |fakes: &Fakes| {
        let mut command = fakes.command(env!("CARGO_BIN_EXE_ordito"));
        // That of other tests, kept between runs: it holds the machine's ceilings, which take long to measure.
        command.env("ORDITO_CACHE_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache"));
        let output = command.args(["doctor", "--json"]).output().unwrap();
        nothing_panicked(&output);
        let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        (output.status.code(), json)
    };
    let (code, json) = doctor(&fakes);
    assert_eq!(code, Some(0), "a machine without a GPU is well: {json}");
    assert_eq!(json["gpus"], serde_json::json!([]));
    holds(&json.to_string(), &["sees no GPU", r#""name":"cublas""#]);

    // This GPU computes nothing, and the doctor must notice.
    let fakes = fakes.driver(&[], &[]);
    let (code, json) = doctor(&fakes);
    assert_eq!(json["gpus"][0]["name"], "Fake GPU");
    assert_eq!(json["gpus"][0]["compute_capability"], serde_json::json!([9, 0]));
    if Library::Nvrtc.find().is_ok() {
        assert_eq!(code, Some(1), "{json}");
        holds(&json.to_string(), &["a small A·X on GPU 0 is WRONG"]);
    } else {
        println!("NVRTC not found: no product was tried");
        assert_eq!(code, Some(0), "{json}");
    }
}
