//! What a job consists of, stage by stage: which of them it waits for.

use crate::report::outcome::Outcome;
use crate::report::record::Record;
use crate::report::table::layout::{Printed, laid_out};
use crate::transfer::is_upload;
use ordito::units;

/// A part of a job, and how long it takes.
#[derive(Debug, Clone, PartialEq)]
pub struct Stage {
    /// What is done, and by whom.
    pub name: String,
    /// How long it takes.
    pub ns: f64,
    /// Bytes that it moves or reads.
    pub bytes: u64,
}

/// The stages of a reduction whose statistics were measured as `reductions`, and the copies of as many bytes as
/// `copies`: what was read from a file, up from pageable and from pinned memory, the fastest variant that computes all
/// statistics on each side, down. Nothing of the emulator, whose times mean nothing.
pub fn stages_of(read: Vec<Stage>, reductions: &[Record], copies: &[Record]) -> Vec<Stage> {
    let mut stages = read;
    let timed = |records: &[Record]| -> Vec<Record> {
        let here = |record: &&Record| record.outcome == Outcome::Passed && record.place != "emulator";
        records.iter().filter(here).filter(|record| record.median_ns.is_some()).cloned().collect()
    };
    for copy in timed(copies).iter().filter(|copy| is_upload(&copy.variant) && !copy.is_auto()) {
        stages.push(Stage {
            name: format!("upload ({})", copy.variant),
            ns: copy.median_ns.unwrap_or_default(),
            bytes: copy.bytes.unwrap_or_default(),
        });
    }
    let reductions = timed(reductions);
    for place in ["cpu", "cuda"] {
        let here = reductions.iter().filter(|record| record.place == place);
        let complete = here.filter(|record| record.partial.is_none() && record.chosen.is_none());
        let ns = |record: &Record| record.median_ns.unwrap_or(f64::INFINITY);
        let Some(fastest) = complete.min_by(|a, b| ns(a).total_cmp(&ns(b))) else { continue };
        let bytes = fastest.gbytes_per_s.map_or(0, |rate| (rate * ns(fastest)).round() as u64);
        stages.push(Stage { name: format!("kernel ({})", fastest.variant), ns: ns(fastest), bytes });
        if let Some(download_ns) = fastest.download_ns.filter(|_| place == "cuda") {
            let results = fastest.cols.unwrap_or_default() * 4 * size_of::<f64>() as u64;
            stages.push(Stage { name: "download of the statistics".into(), ns: download_ns, bytes: results });
        }
    }
    stages
}

/// A table of them; nothing where there is only one to be seen. The last column says how often the fastest kernel would
/// have run meanwhile.
pub fn stages(heading: &str, stages: &[Stage]) -> Option<String> {
    if stages.len() < 2 {
        return None;
    }
    let kernels = stages.iter().filter(|stage| stage.name.starts_with("kernel"));
    let kernel_ns = kernels.map(|stage| stage.ns).fold(f64::INFINITY, f64::min);
    let column = |title, is_text, cell: &dyn Fn(&Stage) -> String| Printed {
        title,
        is_text,
        cells: stages.iter().map(cell).collect(),
    };
    let columns = [
        column("stage", true, &|stage| stage.name.clone()),
        column("time", false, &|stage| units::duration(stage.ns)),
        column("GB/s", false, &|stage| units::number(stage.bytes as f64 / stage.ns)),
        column("kernels", false, &|stage| units::number(stage.ns / kernel_ns)),
    ];
    let lines = std::iter::once(heading.to_owned()).chain(laid_out(&columns));
    Some(lines.map(|line| line + "\n").collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timed(op: &str, variant: &str, place: &str, median_ns: f64) -> Record {
        let record = Record::new(op, variant, Outcome::Passed);
        Record {
            place: place.to_owned(),
            median_ns: Some(median_ns),
            bytes: Some(7_515_136),
            cols: Some(5248),
            gbytes_per_s: Some(7_515_136.0 / median_ns),
            ..record
        }
    }

    #[test]
    fn the_fastest_complete_kernel_stands_beside_copies_and_reading() {
        let mean_only = Record { partial: Some("mean only".into()), ..timed("columns", "tree", "cuda", 1e3) };
        let ours = Record { download_ns: Some(2e4), ..timed("columns", "strips", "cuda", 5e3) };
        let emulated = timed("columns", "strips", "emulator", 1.0);
        let reductions = [timed("columns", "serial", "cpu", 1e6), mean_only, ours, emulated];
        let copies = [
            timed("transfer", "pageable-cuda-upload", "cuda", 7e5),
            timed("transfer", "pinned-cuda-upload", "cuda", 1.5e5),
            timed("transfer", "pinned-cuda-download", "cuda", 1.5e5),
        ];
        let read = vec![Stage { name: "parse".into(), ns: 4e7, bytes: 47_000_000 }];
        let found = stages("stages", &stages_of(read, &reductions, &copies)).unwrap();
        let expected = "\
stages
stage                             time  GB/s  kernels
──────────────────────────────────────────────────────
parse                          40.0 ms  1.18     8000
upload (pageable-cuda-upload)   700 µs  10.7      140
upload (pinned-cuda-upload)     150 µs  50.1     30.0
kernel (serial)                1.00 ms  7.52      200
kernel (strips)                5.00 µs  1503     1.00
download of the statistics     20.0 µs  8.40     4.00
";
        assert_eq!(found, expected, "found\n{found}");
    }

    #[test]
    fn one_stage_alone_says_nothing() {
        let reductions = [timed("columns", "serial", "cpu", 1e6)];
        assert_eq!(stages("stages", &stages_of(Vec::new(), &reductions, &[])), None);
    }
}
