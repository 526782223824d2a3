//! `ordito erp` on files: what it prints, what it writes, what it refuses.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

#[path = "common/command.rs"]
mod command;

use command::{json_lines, ordito};
use ordito::io::npy::Conversion;
use ordito::io::read_npy;
use std::fs;
use tempfile::TempDir;

/// Target and nontarget epochs of two sensors and four samples; the third target epoch jumps.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let target = "1 3 2 1 0 -1 0 2\n3 5 2 1 0 -3 0 2\n0 900 0 0 0 0 0 0\n2 4 2 1 0 -2 0 2\n";
    let nontarget = "1,1,1,1,0,0,0,1\n1,1,1,3,0,0,0,1\n1,1,1,2,0,1,0,1\n";
    fs::write(folder.path().join("target.txt"), target).unwrap();
    fs::write(folder.path().join("nontarget.csv"), nontarget).unwrap();
    folder
}

#[test]
fn the_summary_tells_epochs_and_peaks() {
    let folder = folder();
    let output = ordito(
        &folder,
        &["erp", "target.txt", "nontarget.csv", "--sensors", "2", "--rate", "1000", "--reject", "100"],
    );
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    for line in [
        "2 sensors × 4 samples, 1000 Hz, 0 ms to 3 ms",
        "target       3 of 4 epochs, rejected 3 (S1 900 µV)",
        "nontarget    3 of 3 epochs",
        "target       peaks 4.00 µV S1 1 ms, -2.00 µV S2 1 ms; field power 3.00 µV 1 ms",
    ] {
        assert!(text.lines().any(|found| found == line), "{line}\nis not in\n{text}");
    }
    assert!(text.lines().last().unwrap().starts_with("times        "), "{text}");
}

#[test]
fn json_is_one_object_with_the_same() {
    let folder = folder();
    let output = ordito(
        &folder,
        &["erp", "target.txt", "nontarget.csv", "--sensors", "2", "--reject", "100", "--json"],
    );
    let [line] = &json_lines(&output)[..] else { panic!("one line") };
    assert_eq!((&line["op"], &line["dtype"], &line["schema"]), (&"erp".into(), &"f64".into(), &1.into()));
    assert_eq!(line["conditions"][0]["kept"], 3);
    assert_eq!(line["conditions"][0]["rejected"][0]["epoch"], 3);
    assert_eq!((&line["peaks"][0]["sensor"], &line["peaks"][0]["amplitude"]), (&"S1".into(), &4.0.into()));
    assert_eq!(line["conditions"][0]["rejected"][0]["sensor"], "S1");
    assert_eq!(line["peaks"][0]["wave"], "target");
    let warning = "no --rate was given: latencies are those of 102.4 Hz";
    assert!(line["warnings"].as_array().unwrap().iter().any(|found| found == warning), "{line}");
}

#[test]
fn the_folder_holds_waves_and_tables() {
    let folder = folder();
    let arguments =
        ["erp", "target.txt", "nontarget.csv", "--sensors", "2", "--rate", "1000", "--reject", "100"];
    let more = ["--groups", "3", "--permutations", "19", "--out", "results/new"];
    let output = ordito(&folder, &[&arguments[..], &more].concat());
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let out = folder.path().join("results/new");
    let read = |name: &str| read_npy::<f64>(&out.join(name), Conversion::Refuse).unwrap();
    let mean = read("mean_target.npy");
    assert_eq!(
        (mean.rows(), mean.cols(), mean.data()),
        (2, 4, &[2.0, 4.0, 2.0, 1.0, 0.0, -2.0, 0.0, 2.0][..])
    );
    assert_eq!(read("difference.npy").data(), [1.0, 3.0, 1.0, -1.0, 0.0, -2.0 - 1.0 / 3.0, 0.0, 1.0]);
    assert!((read("sem_target.npy").data()[0] - 1.0 / 3f64.sqrt()).abs() < 1e-15);
    assert_eq!((read("t.npy").rows(), read("p.npy").cols()), (2, 4));
    assert_eq!(read("groups/mean_group_1.npy").data()[3], 1.0);
    let text = |name: &str| fs::read_to_string(out.join(name)).unwrap();
    assert_eq!(text("rejected.csv"), "condition,epoch,sensor,peak-to-peak (µV)\ntarget,3,S1,900\n");
    assert!(text("peaks.csv").starts_with("wave,sensor,time_s,amplitude (µV)\ntarget,S1,0.001,4\n"));
    assert!(text("mean_target.csv").starts_with("time_s,S1,S2\n0,2,0\n0.001,4,-2\n"));
    assert!(text("field_power.csv").starts_with("time_s,target,nontarget,difference\n0,1,0.5,0.5\n"));
    assert_eq!(text("sensors.txt"), "S1\nS2\n");
    assert!(text("intervals.csv").starts_with("sensor,from_s,to_s,p\n"));
    // Two sensors without places: no maps, but all the rest.
    let page = text("report.html");
    assert!(page.contains("There are no maps") && page.contains("S1: target and nontarget"));
    assert!(text("plots/layout-sensors.svg").starts_with("<svg") && out.join("plots/sensor-s1.png").exists());
}

#[test]
fn what_does_not_fit_is_one_line_and_exit_code_2() {
    let folder = folder();
    fs::write(folder.path().join("other.txt"), "1 2\n3 4\n").unwrap();
    fs::write(folder.path().join("one.txt"), "1 2\n").unwrap();
    fs::write(folder.path().join("names.txt"), "Fz\nCz\n").unwrap();
    let cases: [(&[&str], &str); 14] = [
        (
            &["--sensors", "3"],
            "target.txt has 8 columns, which is no multiple of 3 sensors: how many are there (--sensors)?",
        ),
        (
            &[],
            "target.txt has 8 columns, which is no multiple of 64 sensors: how many are there (--sensors)?",
        ),
        (&["--sensors", "2", "--samples", "5"], "target.txt has 8 columns, but 2 sensors × 5 samples are 10"),
        (
            &["--sensors", "2", "--rate", "0"],
            "--rate 0: a positive number of samples per second is needed, such as 102.4",
        ),
        (
            &["--sensors", "names.txt", "--bad-channels", "Fx"],
            "--bad-channels: there is no sensor \"Fx\"; did you mean Fz?",
        ),
        (
            &["--sensors", "nothing.txt"],
            "--sensors nothing.txt: neither a number nor a file of names: No such file or directory (os error 2)",
        ),
        (
            &["--sensors", "2", "--baseline", "-200ms:-100ms"],
            "--baseline -0.2:-0.1 does not lie inside of the epoch, which goes from 0.0000 s to 0.0293 s (--start, --rate)",
        ),
        (
            &["--sensors", "2", "--reject", "0.5"],
            "--reject 0.5 µV leaves none of the 4 target epochs; the quietest has 3.00 µV peak to peak",
        ),
        (
            &["--sensors", "2", "--reject", "3.5"],
            "one target epoch is left: a standard error needs two at least",
        ),
        (&["--sensors", "2", "--groups", "7"], "--groups needs a nontarget file"),
        (&["--sensors", "2", "--permutations", "100"], "--permutations needs a nontarget file"),
        (
            &["nontarget.csv", "--sensors", "2", "--permutations", "5"],
            "--permutations 5: 19 at least are needed for p ≤ 0.05 to be possible",
        ),
        (
            &["nontarget.csv", "--sensors", "2", "--groups", "2", "--group-order", "blocked"],
            "--groups 2: 3 nontarget epochs make no 2 equal blocks, 1 are left over; is the order interleaved?",
        ),
        (
            &["other.txt", "--sensors", "2"],
            "target.txt has 8 columns, other.txt has 2: epochs of one recording have the same",
        ),
    ];
    for (arguments, expected) in cases {
        let output = ordito(&folder, &[&["erp", "target.txt"], arguments].concat());
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(message, format!("ordito: {expected}\n"), "{arguments:?}");
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(output.stdout.is_empty());
    }
    // These are known before anything is read: nobody looks for the file.
    for (option, value) in [("--rate", "-1"), ("--reject", "-1"), ("--reject", "nan"), ("--groups", "0")] {
        let output = ordito(&folder, &["erp", "missing.txt", "missing.txt", option, value]);
        let message = String::from_utf8_lossy(&output.stderr).to_lowercase();
        assert!(message.starts_with(&format!("ordito: {option} {value}: ")), "{message}");
        assert_eq!(output.status.code(), Some(2), "{option} {value}");
    }
    let one = ordito(&folder, &["erp", "one.txt", "--sensors", "2"]);
    assert!(String::from_utf8_lossy(&one.stderr).contains("one target epoch is left"), "{one:?}");
}

#[test]
fn a_second_run_leaves_nothing_of_the_first() {
    let folder = folder();
    let run = |arguments: &[&str]| {
        let always =
            ["erp", "target.txt", "--sensors", "2", "--rate", "1000", "--reject", "100", "--out", "out"];
        let output = ordito(&folder, &[&always[..], arguments].concat());
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    };
    let there = |name: &str| folder.path().join("out").join(name).exists();
    let of_both = ["mean_nontarget.npy", "t.csv", "p.npy", "intervals.csv", "plots/difference-s1.svg"];
    run(&["nontarget.csv", "--permutations", "19"]);
    assert!(of_both.iter().all(|name| there(name)));
    run(&[]);
    assert!(there("report.html") && there("mean_target.npy") && !of_both.iter().any(|name| there(name)));
}

#[test]
fn the_demo_replaces_nothing_and_speaks_json() {
    let folder = folder();
    let before = fs::read(folder.path().join("target.txt")).unwrap();
    let refused = ordito(&folder, &["erp", "--demo", "."]);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(said.contains("target.txt is there already; name another folder"), "{said}");
    assert_eq!(refused.status.code(), Some(2));
    assert_eq!(fs::read(folder.path().join("target.txt")).unwrap(), before);
    assert!(!folder.path().join("nontarget.txt").exists());

    let [line] = &json_lines(&ordito(&folder, &["erp", "--demo", "new", "--json"]))[..] else {
        panic!("one line")
    };
    assert_eq!((&line["op"], &line["target_epochs"]), (&"erp-demo".into(), &358.into()));
    assert_eq!((&line["planted"][0]["name"], &line["planted"][0]["sensor"]), (&"P300".into(), &"Pz".into()));
    assert!(folder.path().join("new/nontarget.txt").exists());

    // Of a run that was ended between its files, the next one makes the rest. Half a file is not of such a run.
    let [target, nontarget] =
        ["target.txt", "nontarget.txt"].map(|name| folder.path().join("new").join(name));
    let whole = [&target, &nontarget].map(|path| fs::read(path).unwrap());
    fs::remove_file(&nontarget).unwrap();
    assert!(ordito(&folder, &["erp", "--demo", "new"]).status.success());
    assert_eq!(fs::read(&nontarget).unwrap(), whole[1]);
    fs::write(&target, &whole[0][..whole[0].len() / 2]).unwrap();
    assert_eq!(ordito(&folder, &["erp", "--demo", "new"]).status.code(), Some(2));
    assert_eq!(fs::metadata(&target).unwrap().len(), whole[0].len() as u64 / 2);
}
