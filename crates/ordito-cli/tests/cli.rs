//! What the commands print, times blanked: `tests/cmd/*.trycmd`.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

#[path = "common/command.rs"]
mod command;

use command::{json_lines, ordito, shared_cache};
use std::process::{Command, Output};

#[test]
fn commands_print_what_is_written_down() {
    trycmd::TestCases::new()
        .env("ORDITO_CACHE_DIR", shared_cache().to_str().unwrap())
        .env("CUDA_VISIBLE_DEVICES", "") // what is written down was printed on a machine without a GPU
        .env("ORDITO_REQUIRE_GPU", "")
        .case("tests/cmd/*.trycmd");
}

#[test]
fn bench_writes_every_file_with_every_field() {
    let folder = tempfile::tempdir().unwrap();
    let arguments =
        ["bench", "spmm", "stencil5:20", "--k", "3,8", "--threads", "1,2", "--samples", "6", "--out", "r"];
    let output = ordito(&folder, &arguments);
    assert!(output.status.success(), "{output:?}");
    let csv = std::fs::read_to_string(folder.path().join("r/samples.csv")).unwrap();
    let json = std::fs::read_to_string(folder.path().join("r/samples.json")).unwrap();
    let html = std::fs::read_to_string(folder.path().join("r/report.html")).unwrap();

    let mut lines = json.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let fingerprint = lines.next().unwrap();
    for field in ["version", "date", "command", "cpu", "threads", "compiler", "profile", "ceilings"] {
        assert!(!fingerprint[field].is_null(), "fingerprint has no {field}");
    }
    let matrix = lines.next().unwrap();
    assert_eq!((&matrix["kind"], &matrix["matrix"]), (&"matrix".into(), &"stencil5:20".into()));
    assert_eq!((&matrix["nnz"], &matrix["spy"]["rows"]), (&1920.into(), &96.into()));
    let records: Vec<_> = lines.collect();
    // 3 serial variants once, 12 threaded ones and auto for each number of threads; two Ks.
    assert_eq!(records.len(), 2 * (3 + 2 * 13));
    for record in &records {
        assert_eq!(record["outcome"], "passed", "{record}");
        for field in [
            "schema",
            "op",
            "variant",
            "where",
            "matrix",
            "rows",
            "cols",
            "nnz",
            "k",
            "dtype",
            "threads",
            "seed",
            "max_rel_err",
            "mean_rel_err",
            "samples",
            "gflops_mean",
            "gflops_stddev",
            "mean_ns",
            "stddev_ns",
            "min_ns",
            "median_ns",
            "p05_ns",
            "p95_ns",
            "median_low_ns",
            "median_high_ns",
            "gflops",
            "gbytes_per_s",
            "percent_of_ceiling",
            "prepare_ns",
            "stop_reason",
        ] {
            assert!(!record[field].is_null(), "no {field} in {record}");
        }
        let name = record["variant"].as_str().unwrap();
        assert_eq!(
            record["repack_ns"].is_null(),
            !name.ends_with("-elements") && !name.ends_with("-dealt"),
            "{name}"
        );
        assert_eq!(record["chosen"].is_null(), name != "auto", "{name}");
        assert!(html.contains(name) && csv.contains(name));
    }
    assert_eq!(csv.lines().count(), records.len() + 1);

    let page = ordito(&folder, &["report", "r/samples.json", "r/samples.json", "-o", "both.html"]);
    assert!(page.status.success(), "{page:?}");
    assert!(std::fs::read_to_string(folder.path().join("both.html")).unwrap().contains("stencil5:20"));
}

#[test]
fn runs_are_compared_with_the_first() {
    let folder = tempfile::tempdir().unwrap();
    for out in ["before", "after"] {
        let bench = ["bench", "spmm", "stencil5:6", "--k", "2", "--threads", "1", "--samples", "7"];
        let only = ["--variant", "csr-*", "--bars", "--out", out];
        let output = ordito(&folder, &[&bench[..], &only].concat());
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.contains("best GFLOP/s of each variant\n  csr-serial") && text.contains('#'), "{text}");
    }
    let files = ["report", "before/samples.json", "after/samples.json"];
    let text = String::from_utf8(ordito(&folder, &files).stdout).unwrap();
    assert!(text.starts_with("after against before, spmm, on cpu, k = 2, f64, 1 thread\n"), "{text}");
    assert!(text.contains("(geometric mean of 6)"), "{text}");

    let output = ordito(&folder, &[&files[..], &["--json", "-o", "page.html"]].concat());
    let lines = json_lines(&output);
    assert_eq!(lines.len(), 6 + 1);
    for line in &lines[..6] {
        assert_eq!((&line["schema"], &line["kind"]), (&1.into(), &"comparison".into()));
        let (before, after) = (&line["runs"][0], &line["runs"][1]);
        assert_eq!((&before["label"], &after["label"]), (&"before".into(), &"after".into()));
        assert!(before.get("ratio").is_none() && after["ratio"].as_f64() > Some(0.0), "{line}");
        assert!(after["ratio_interval"][0].as_f64() <= after["ratio"].as_f64(), "{line}");
    }
    assert!(lines[6]["runs"][1]["geometric_mean"].as_f64() > Some(0.0), "{}", lines[6]);
    assert!(folder.path().join("page.html").exists());
}

#[test]
fn json_goes_to_standard_output_alone() {
    let folder = tempfile::tempdir().unwrap();
    for arguments in [
        &["list", "--json"][..],
        &["info", "stencil5:4", "diagonal:3", "--json"],
        &["verify", "spmm", "stencil5:4", "--json"],
        &["verify", "convert", "stencil5:4", "--json"],
        &["bench", "spmm", "stencil5:4", "--k", "2", "--samples", "2", "--json"],
        &["spmm", "stencil5:4", "--k", "2", "--check", "--json"],
        &["verify", "gemm", "7x5x3", "--json"],
        &["bench", "gemm", "20", "--samples", "2", "--json"],
        &["doctor", "--json"],
    ] {
        let output = ordito(&folder, arguments);
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        let lines = json_lines(&output);
        assert!(!lines.is_empty() && lines.iter().all(|line| line["schema"] == 1), "{arguments:?}");
        assert!(output.stderr.is_empty(), "{arguments:?}: {output:?}");
    }
}

#[test]
fn the_doctor_names_the_mpi_that_was_asked_for() {
    let output = Command::new(env!("CARGO_BIN_EXE_ordito"))
        .args(["doctor", "--json"])
        .env("ORDITO_CACHE_DIR", shared_cache())
        .env("CUDA_VISIBLE_DEVICES", "")
        .env_remove("ORDITO_REQUIRE_GPU")
        .env("ORDITO_MPI", "/nowhere/libmpi.so")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let findings = json_lines(&output)[0]["findings"].as_array().unwrap().clone();
    let mpi = findings.iter().find(|finding| finding["name"] == "mpi").unwrap();
    assert_eq!(mpi["state"], "bad");
    assert!(mpi["text"].as_str().unwrap().starts_with("ORDITO_MPI is \"/nowhere/libmpi.so\": "), "{mpi}");
}

#[test]
fn auto_says_what_it_chose_and_why() {
    let folder = tempfile::tempdir().unwrap();
    let output = ordito(&folder, &["spmm", "stencil5:50", "--k", "32", "--variant", "auto", "--json"]);
    let record = &json_lines(&output)[0];
    assert_eq!(record["variant"], "auto");
    assert_eq!(record["chosen"], "csr-threads-nnz");
    assert!(record["reason"].as_str().unwrap().len() > 10, "{record}");
    assert_eq!(record["outcome"], "not-verified");
}

#[test]
fn products_take_x_and_leave_y() {
    let folder = tempfile::tempdir().unwrap();
    let x = ordito::matrix::Dense::from_rows(3, 2, vec![1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap();
    ordito::io::write_npy(x.view(), &folder.path().join("x.npy")).unwrap();
    let matrix = "%%MatrixMarket matrix coordinate integer general\n2 3 2\n1 3 10\n2 1 -1\n";
    std::fs::write(folder.path().join("a.mtx"), matrix).unwrap();
    let output = ordito(&folder, &["spmm", "a.mtx", "--x", "x.npy", "-o", "y.npy", "--json"]);
    assert_eq!(json_lines(&output)[0]["dtype"], "f32", "the precision of X");
    let read = ordito::io::npy::Conversion::Refuse;
    let y = ordito::io::read_npy::<f32>(&folder.path().join("y.npy"), read).unwrap();
    assert_eq!(y.data(), &[50.0, 60.0, -1.0, -2.0]);

    let wrong = ordito(&folder, &["spmm", "stencil5:4", "--x", "x.npy", "-o", "z.npy"]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&wrong.stderr).contains("X has 3 rows, A has 16 columns"));
    assert!(!folder.path().join("z.npy").exists());
}

#[test]
fn a_vector_gives_a_vector() {
    let folder = tempfile::tempdir().unwrap();
    let x = ordito::matrix::Dense::from_rows(4, 1, vec![1.0, 2.0, 3.0, 4.0]).unwrap();
    ordito::io::npy::write_npy_vector(x.view(), &folder.path().join("x.npy")).unwrap();
    assert!(ordito(&folder, &["spmm", "diagonal:4", "--x", "x.npy", "-o", "y.npy"]).status.success());
    assert!(ordito::io::npy::is_npy_vector(&folder.path().join("y.npy")).unwrap());
}

#[test]
fn what_does_not_fit_is_a_refusal_and_the_rest_runs() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["verify", "spmm", "diagonal:50", "--k", "100000000000,2", "--dtype", "f64", "--json"];
    let output = ordito(&folder, &arguments);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let records = json_lines(&output);
    let count = |outcome: &str| records.iter().filter(|record| record["outcome"] == outcome).count();
    assert!(count("refused") > 0 && count("refused") == count("passed"), "{records:?}");

    let output = ordito(&folder, &["spmm", "empty:100000000x1", "--k", "1000000", "--json"]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(json_lines(&output)[0]["outcome"], "refused");
}

#[test]
fn operands_that_overflow_are_neither_passed_nor_timed() {
    let folder = tempfile::tempdir().unwrap();
    let matrix = "%%MatrixMarket matrix array real general\n2 2\n3e38\n3e38\n3e38\n3e38\n";
    std::fs::write(folder.path().join("a.mtx"), matrix).unwrap();
    let arguments = ["bench", "spmm", "a.mtx", "--k", "8", "--dtype", "f32", "--samples", "2", "--json"];
    let output = ordito(&folder, &arguments);
    assert_eq!(output.status.code(), Some(2));
    for record in json_lines(&output) {
        assert_eq!(record["outcome"], "not-verified", "{record}");
        assert!(record["median_ns"].is_null() && record["bound_ratio"].is_null(), "{record}");
    }
}

#[test]
fn results_are_never_lost() {
    let folder = tempfile::tempdir().unwrap();
    let bench = |input: &str| {
        ordito(&folder, &["bench", "spmm", input, "--k", "2", "--samples", "2", "--out", "r"]).status.code()
    };
    let samples = || std::fs::read(folder.path().join("r/samples.json")).unwrap();
    assert_eq!(bench("stencil5:4"), Some(0));
    let first = samples();
    assert_eq!(bench("nowhere.mtx"), Some(2));
    assert_eq!(samples(), first, "a run without results touches nothing");
    for input in ["stencil5:5", "stencil5:6", "stencil5:7"] {
        assert_eq!(bench(input), Some(0));
    }
    assert_ne!(samples(), first);
    let all = std::fs::read_dir(folder.path().join("r")).unwrap();
    let json =
        all.filter(|entry| entry.as_ref().unwrap().path().extension().is_some_and(|end| end == "json"));
    assert_eq!(json.count(), 4, "one for each run");
    let files = std::fs::read_dir(folder.path().join("r")).unwrap();
    // `plots` is a folder, which cannot be read as a file.
    let kept =
        files.filter(|entry| std::fs::read(entry.as_ref().unwrap().path()).is_ok_and(|text| text == first));
    assert_eq!(kept.count(), 1, "the earlier samples have another name now");

    let page = ordito(&folder, &["report", "r/samples.json", "-o", "r/samples.json"]);
    assert_eq!(page.status.code(), Some(2));
    std::fs::write(folder.path().join("file"), "").unwrap();
    let output = ordito(&folder, &["bench", "spmm", "stencil5:4", "--k", "2", "--out", "file"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
}

#[cfg(unix)]
#[test]
fn an_interrupted_bench_keeps_its_samples() {
    // Where signals are ignored from the start (nohup, a background job), the program leaves it at that.
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap_or("0");
    if u64::from_str_radix(ignored.trim(), 16).unwrap() & 0b11 != 0 {
        println!("skipped: this test run ignores interrupts, and its children inherit that");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("r");
    let arguments = ["bench", "spmm", "stencil5:30", "--k", "2", "--samples", "30000000", "--time", "60"];
    let mut child = Command::new(env!("CARGO_BIN_EXE_ordito"))
        .args(arguments)
        .args(["--variant", "csr-serial", "--threads", "1", "--out", "r"])
        .current_dir(&folder)
        .env("ORDITO_CACHE_DIR", folder.path().join("cache"))
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    // Samples are taken as soon as the ceilings have been measured and kept.
    let cache = folder.path().join("cache");
    while std::fs::read_dir(&cache).map_or(0, |files| files.count()) == 0 {
        std::thread::sleep(std::time::Duration::from_millis(50));
        assert!(child.try_wait().unwrap().is_none(), "ended by itself");
    }
    std::thread::sleep(std::time::Duration::from_secs(3));
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(1));
    let json = std::fs::read_to_string(out.join("samples.json")).unwrap();
    assert!(json.contains(r#""stop_reason":"interrupted""#) && json.contains("median_ns"), "{json}");
}

#[test]
fn converting_there_and_back_keeps_every_bit() {
    let folder = tempfile::tempdir().unwrap();
    for (from, to) in
        [("powerlaw:200x5", "a.mtx"), ("a.mtx", "b.mtx.gz"), ("b.mtx.gz", "c.mtx"), ("a.mtx", "d.npy")]
    {
        let output = ordito(&folder, &["convert", from, "-o", to]);
        assert!(output.status.success(), "{from} → {to}: {output:?}");
    }
    let read = |name: &str| std::fs::read(folder.path().join(name)).unwrap();
    assert_eq!(read("a.mtx"), read("c.mtx"));
    for (from, to, fault) in [
        ("powerlaw:200x5", "e.txt", ".mtx, .mtx.gz or .npy"),
        ("empty:4000000000x4000000000", "e.npy", "memory budget"),
        ("nowhere.mtx", "e.mtx", "nowhere.mtx"),
    ] {
        let output = ordito(&folder, &["convert", from, "-o", to]);
        assert_eq!(output.status.code(), Some(2), "{from} → {to}");
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(message.contains(fault) && message.lines().count() == 1, "{message}");
        assert!(!folder.path().join(to).exists());
    }
}

#[test]
fn unreadable_inputs_do_not_keep_the_others_from_running() {
    let folder = tempfile::tempdir().unwrap();
    let output = ordito(&folder, &["verify", "spmm", "nowhere.mtx", "stencil5:4", "--k", "2", "--json"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(json_lines(&output).len() > 5);
    assert_eq!(String::from_utf8_lossy(&output.stderr).lines().count(), 1);
}

/// The CUDA kernels of a matrix in the emulator: what a record says, and that times are not sold as a GPU's.
#[test]
fn the_emulator_runs_cuda_variants() {
    let folder = tempfile::tempdir().unwrap();
    let lines = |output: &Output| -> Vec<serde_json::Value> {
        let text = String::from_utf8(output.stdout.clone()).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let verify = ["verify", "spmm", "stencil5:6", "--on", "emulator", "--k", "3", "--dtype", "f64", "--json"];
    let output = ordito(
        &folder,
        &[&verify[..], &["--variant", "csr_vector_by_row,csr-cuda-lanes4-per-element"]].concat(),
    );
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    if message.contains("no emulator") && std::env::var("ORDITO_REQUIRE_EMULATOR").as_deref() != Ok("1") {
        return; // the other tests of the emulator say so aloud
    }
    assert_eq!(output.status.code(), Some(0), "{message}");
    let records = lines(&output);
    assert_eq!(records.len(), 2);
    for record in &records {
        assert_eq!((&record["where"], &record["outcome"]), (&"emulator".into(), &"passed".into()));
        assert!(record.get("threads").is_none());
    }
    let lanes = records.iter().find(|record| record["variant"] == "csr-cuda-lanes4-per-element").unwrap();
    assert_eq!(lanes["params"]["lanes"], 4);
    assert_eq!(lanes["launches"][0]["block"], serde_json::json!([512, 1, 1]));
    let by_row = records.iter().find(|record| record["variant"] == "csr-cuda-warp-per-row").unwrap();
    assert_eq!(by_row["launches"].as_array().unwrap().len(), 2, "X is transposed first");

    let bench =
        ["bench", "spmm", "stencil5:6", "--on", "emulator", "--k", "3", "--samples", "2", "--verbose"];
    let output = ordito(&folder, &[&bench[..], &["--variant", "csr_vector"]].concat());
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("no measure of a GPU") && !text.contains("GFLOP/s"), "{text}");
    assert!(text.contains("csr_warp 7 blocks of 512"), "{text}");

    let spmm = [
        "spmm",
        "stencil5:6",
        "--k",
        "2",
        "--on",
        "emulator",
        "--variant",
        "csr_vector_by_row",
        "--check",
        "--json",
    ];
    let output = ordito(&folder, &spmm);
    let record = &lines(&output)[0];
    assert_eq!((&record["variant"], &record["outcome"]), (&"csr-cuda-warp-per-row".into(), &"passed".into()));
    assert!(record["upload_ns"].as_f64() > Some(0.0) && record["median_ns"].as_f64() > Some(0.0));

    let output = ordito(&folder, &["verify", "transfer", "1", "70k", "--on", "emulator", "--json"]);
    assert_eq!(output.status.code(), Some(0));
    let passed = lines(&output).iter().filter(|record| record["outcome"] == "passed").count();
    assert_eq!(passed, 10, "pageable and staged, up and down, and auto, twice");
}

/// Without a GPU: one line that helps, exit code 2; 1 where a GPU is required; and nothing vanishes without a word.
#[test]
fn a_missing_gpu_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str], required: &str| {
        let output = Command::new(env!("CARGO_BIN_EXE_ordito"))
            .args(arguments)
            .env("ORDITO_CACHE_DIR", folder.path().join("cache"))
            .env("CUDA_VISIBLE_DEVICES", "")
            .env("ORDITO_REQUIRE_GPU", required)
            .output()
            .unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    };
    for command in [
        &["bench", "spmm", "stencil5:5", "--on", "cuda"][..],
        &["verify", "spmm", "stencil5:5", "--variant", "csr_vector"],
        &["bench", "transfer"],
        &["spmm", "stencil5:5", "--k", "2", "--on", "cuda"],
    ] {
        let (code, stdout, stderr) = run(command, "");
        assert_eq!((code, stdout.as_str()), (Some(2), ""), "{command:?}: {stderr}");
        assert!(stderr.contains("no usable GPU") && stderr.lines().count() == 1, "{command:?}: {stderr}");
        assert_eq!(run(command, "1").0, Some(1), "{command:?} with ORDITO_REQUIRE_GPU=1");
    }
    let both =
        ["verify", "spmm", "stencil5:5", "--variant", "csr-serial,csr_vector", "--k", "2", "--dtype", "f64"];
    let (code, stdout, _) = run(&both, "");
    assert!(code == Some(0) && stdout.contains("1 passed, 1 refused"), "{stdout}");
    // What has nothing to do with a GPU stays bad usage.
    assert_eq!(run(&["verify", "spmm", "stencil5:5", "--variant", "banana"], "1").0, Some(2));
}
