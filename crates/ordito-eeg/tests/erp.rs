//! The EEG job through the library, on recordings with known peaks.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

use ordito::Scalar;
use ordito::cpu::Pool;
use ordito::machine::Machine;
use ordito_eeg::demo::{COMPONENTS, Demo};
use ordito_eeg::{
    Analysis, Baseline, ComputeOn, GroupOrder, Groups, Inputs, Layout, Recording, Sensors, Settings, Wave,
    analyse,
};
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Eight sensors, few epochs, two of them spoilt.
fn small_demo(response: f64) -> Demo {
    let sensors = ["Fpz", "FCz", "Cz", "CPz", "Pz", "POz", "Oz", "T7"].map(String::from).to_vec();
    let recording = Recording { sensors, ..Demo::standard(0).recording };
    let bad_epochs = if response > 0.0 { vec![17, 43] } else { vec![] };
    Demo { recording, targets: 80, nontargets: 161, bad_epochs, response, seed: 11 }
}

fn written(demo: &Demo) -> (TempDir, Inputs) {
    let folder = tempfile::tempdir().unwrap();
    demo.write(folder.path(), &Pool::new(2).unwrap()).unwrap();
    let inputs = Inputs {
        target: folder.path().join("target.txt"),
        nontarget: vec![folder.path().join("nontarget.txt")],
    };
    (folder, inputs)
}

fn settings(demo: &Demo) -> Settings {
    Settings {
        sensors: Sensors::Named(demo.recording.sensors.clone()),
        start_s: demo.recording.start_s,
        baseline: Some(Baseline { from_s: -0.1, to_s: 0.0 }),
        reject: Some(150.0),
        ..Settings::default()
    }
}

fn place(threads: usize) -> ComputeOn {
    ComputeOn { machine: Machine::with_threads(threads).unwrap(), spare_gpu: None, variant: None }
}

fn run<S: Scalar>(inputs: &Inputs, settings: &Settings) -> Analysis {
    analyse::<S>(inputs, settings, &place(2)).unwrap()
}

#[test]
fn planted_peaks_are_found_and_bad_epochs_rejected() {
    let demo = small_demo(1.0);
    let (_folder, inputs) = written(&demo);
    let settings = Settings { permutations: Some(200), ..settings(&demo) };
    for analysis in [run::<f64>(&inputs, &settings), run::<f32>(&inputs, &settings)] {
        let [target, nontarget] = &analysis.conditions[..] else { panic!("two conditions") };
        assert_eq!(target.rejected.iter().map(|rejected| rejected.epoch).collect::<Vec<_>>(), [17, 43]);
        assert_eq!((target.read, target.kept, nontarget.kept), (80, 78, 161));
        assert!(nontarget.rejected.is_empty() && target.rejected.iter().all(|r| r.peak_to_peak > 250.0));
        for component in &COMPONENTS[..2] {
            let positive = component.in_targets > 0.0;
            let of = |peak: &&ordito_eeg::Peak| {
                peak.of == Wave::Difference && peak.sensor.is_some() && (peak.amplitude > 0.0) == positive
            };
            let peak = analysis.peaks.iter().find(of).unwrap();
            assert_eq!(demo.recording.sensors[peak.sensor.unwrap()], component.sensor);
            assert!(peak.sample.abs_diff(demo.sample_of(component)) <= 1, "{component:?}: {peak:?}");
            let planted = component.in_targets - component.in_nontargets;
            let error = analysis.difference.as_ref().unwrap().sem
                [demo.recording.index(peak.sensor.unwrap(), peak.sample)];
            assert!((peak.amplitude - planted).abs() < 4.0 * error, "{component:?}: {peak:?} ± {error}");
        }
        let test = analysis.difference.as_ref().unwrap().permutations.as_ref().unwrap();
        let at = demo.sample_of(&COMPONENTS[0]);
        let holds = |found: &ordito_eeg::Interval| found.sensor == 4 && (found.from..=found.to).contains(&at);
        assert!(test.intervals.iter().any(holds), "{:?}", test.intervals);
        assert!((3.0..6.0).contains(&test.critical_t), "{}", test.critical_t);
        assert_eq!(test.p.iter().copied().fold(1.0, f64::min), 1.0 / 201.0);
    }
}

#[test]
fn nothing_is_found_in_noise() {
    let demo = small_demo(0.0);
    let (_folder, inputs) = written(&demo);
    let analysis = run::<f64>(&inputs, &Settings { permutations: Some(200), ..settings(&demo) });
    let test = analysis.difference.unwrap().permutations.unwrap();
    assert!(test.intervals.is_empty() && test.p.iter().all(|p| *p > 0.05), "{:?}", test.intervals);
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    let demo = small_demo(1.0);
    let (_folder, inputs) = written(&demo);
    let groups = Some(Groups { count: 7, order: GroupOrder::Interleaved });
    let settings = Settings { average_reference: true, permutations: Some(50), groups, ..settings(&demo) };
    let [one, two] = [1, 2].map(|threads| {
        let analysis = analyse::<f64>(&inputs, &settings, &place(threads)).unwrap();
        // The difference holds p, the critical t and the intervals.
        (analysis.conditions, analysis.groups, analysis.peaks, analysis.difference.unwrap())
    });
    assert!(one.3.permutations.as_ref().is_some_and(|test| !test.intervals.is_empty()));
    assert!(one == two);
}

/// Small whole numbers: 3 sensors × 2 samples, `rows` epochs.
fn epochs(rows: usize) -> Vec<Vec<f64>> {
    (0..rows).map(|row| (0..6).map(|column| ((row * 7 + column * column) % 11) as f64).collect()).collect()
}

fn write_text(path: &Path, epochs: &[Vec<f64>]) {
    let lines = epochs.iter().map(|epoch| epoch.iter().map(f64::to_string).collect::<Vec<_>>().join(" "));
    fs::write(path, lines.map(|line| line + "\n").collect::<String>()).unwrap();
}

fn write_npy(path: &Path, epochs: &[Vec<f64>], shape: &str) {
    let header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(epochs.iter().flatten().flat_map(|number| number.to_le_bytes()));
    fs::write(path, bytes).unwrap();
}

fn three_sensors() -> Settings {
    Settings { sensors: Sensors::Count(3), ..Settings::default() }
}

fn only(target: PathBuf) -> Inputs {
    Inputs { target, nontarget: Vec::new() }
}

#[test]
fn text_matrices_and_stacks_are_the_same_epochs() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let numbers = epochs(5);
    write_text(&path("a.txt"), &numbers);
    write_npy(&path("a.npy"), &numbers, "(5, 6)");
    write_npy(&path("stack.npy"), &numbers, "(5, 3, 2)");
    let transposed: Vec<Vec<f64>> =
        numbers.iter().map(|e| vec![e[0], e[2], e[4], e[1], e[3], e[5]]).collect();
    write_text(&path("sample_major.txt"), &transposed);
    let expected = run::<f64>(&only(path("a.txt")), &three_sensors()).conditions;
    for name in ["a.npy", "stack.npy"] {
        assert_eq!(run::<f64>(&only(path(name)), &three_sensors()).conditions, expected, "{name}");
    }
    assert_eq!(run::<f64>(&only(path("stack.npy")), &Settings::default()).conditions, expected);
    let sample_major = Settings { layout: Layout::SampleMajor, ..three_sensors() };
    assert_eq!(run::<f64>(&only(path("sample_major.txt")), &sample_major).conditions, expected);
    // Of three dimensions, sample-major means epochs × samples × sensors.
    write_npy(&path("sample_stack.npy"), &transposed, "(5, 2, 3)");
    let unsaid = Settings { layout: Layout::SampleMajor, ..Settings::default() };
    for settings in [&sample_major, &unsaid] {
        assert_eq!(run::<f64>(&only(path("sample_stack.npy")), settings).conditions, expected);
    }
    let bad_channels = vec!["s2".to_string()];
    let without = run::<f64>(&only(path("a.txt")), &Settings { bad_channels, ..three_sensors() });
    assert_eq!(without.recording.sensors, ["S1", "S3"]);
    assert_eq!(without.conditions[0].mean, [&expected[0].mean[..2], &expected[0].mean[4..]].concat());
}

#[test]
fn groups_are_averages_of_their_rows() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let numbers = epochs(21);
    write_text(&path("t.txt"), &numbers[..4]);
    // Two files are one condition: 10 + 11 rows.
    write_text(&path("a.txt"), &numbers[..10]);
    write_text(&path("b.txt"), &numbers[10..]);
    let inputs = Inputs { target: path("t.txt"), nontarget: vec![path("a.txt"), path("b.txt")] };
    for (order, third) in [(GroupOrder::Interleaved, [2, 9, 16]), (GroupOrder::Blocked, [6, 7, 8])] {
        let groups = Some(Groups { count: 7, order });
        let analysis = run::<f64>(&inputs, &Settings { groups, ..three_sensors() });
        let group = &analysis.groups[2];
        let mean: Vec<f64> =
            (0..6).map(|c| third.iter().map(|&r: &usize| numbers[r][c]).sum::<f64>() / 3.0).collect();
        assert_eq!((group.name.as_str(), group.kept, group.read), ("offset 2", 3, 3));
        assert!(
            group.mean.iter().zip(&mean).all(|(a, b)| (a - b).abs() < 1e-12),
            "{:?} {mean:?}",
            group.mean
        );
        assert_eq!(analysis.groups[6].name, "offset 7");
        assert_eq!(analysis.conditions[1].kept, 21);
    }
}

#[test]
fn not_finite_numbers_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.npy");
    let mut numbers = epochs(3);
    numbers[1][4] = f64::NAN;
    write_npy(&path, &numbers, "(3, 6)");
    let error = analyse::<f64>(&only(path), &three_sensors(), &place(1)).unwrap_err().to_string();
    assert!(error.ends_with("a.npy: epoch 2, column 5 is NaN; every number must be finite"), "{error}");
}

#[test]
fn epochs_without_samples_are_none() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.npy");
    for shape in ["(0, 6)", "(4, 0)", "(4, 3, 0)", "(4, 0, 2)"] {
        write_npy(&path, &[], shape);
        let error = analyse::<f64>(&only(path.clone()), &three_sensors(), &place(1)).unwrap_err().to_string();
        assert!(error.ends_with("a.npy holds no epochs"), "{shape}: {error}");
    }
}
