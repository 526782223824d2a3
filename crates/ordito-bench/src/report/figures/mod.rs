//! What a report draws: records in, figures out, in the order in which a reader wants them.

mod across;
mod errors;
mod groups;
mod looks;
mod many;
mod matrices;
mod quantity;
mod ranks;
mod roofline;
mod speed;
mod speed_up;
mod threads;
mod time_split;

use crate::report::Run;
use crate::report::figures::groups::{Group, grouped, timed};
use ordito_chart::Figure;
use ordito_chart::sections::{Section, named};

/// All sections that have anything to show.
pub fn sections(runs: &[Run]) -> Vec<Section> {
    let (timed, judged) =
        (timed(runs), grouped(runs, |record| record.bound_ratio.is_some() || record.outcome.is_bad()));
    let of = |groups: &[Group<'_>], draw: fn(&Group<'_>) -> Option<Figure>| -> Vec<(String, Figure)> {
        groups.iter().filter_map(|group| Some((group.title.clone(), draw(group)?))).collect()
    };
    let of_groups = |draw| of(&timed, draw);
    let all = [
        (
            "across",
            "Across matrices",
            "A figure for every K. Of the rates, further right is faster; of the times, which are on a logarithmic scale, \
             further left. A variant whose dots lead in every row is good everywhere.",
            across::all(&timed),
        ),
        (
            "speed",
            "Speed",
            "Higher is better. Points are medians; where lines are few, a band reaches from the 5 % to the 95 % quantile of the runs.",
            of_groups(speed::rates),
        ),
        (
            "time",
            "Time",
            "Lower is better; the median time of one run, on a logarithmic scale. Twice the K in less than twice the time is \
             what a block of vectors gains.",
            of_groups(speed::times),
        ),
        (
            "threads",
            "Speed over threads",
            "Perfect scaling doubles with the threads; a line that stays flat waits for memory, or for one thread.",
            of_groups(threads::rates),
        ),
        (
            "threads-time",
            "Time over threads",
            "Lower is better. Perfect scaling halves the time with twice the threads.",
            of_groups(threads::times),
        ),
        (
            "ranks",
            "Speed over ranks",
            "Perfect scaling doubles with the ranks. A process alone counts as one.",
            of_groups(ranks::rates),
        ),
        (
            "ranks-efficiency",
            "Efficiency over ranks",
            "What the fewest ranks take in all, over what more of them take in all: 100 % is perfect scaling.",
            of_groups(ranks::efficiencies),
        ),
        (
            "speed-up",
            "Speed-up",
            "How many times as fast as the baseline of the same run on the same input, in the same dtype and at the same K, however many threads it has; 1 is the baseline itself.",
            of_groups(speed_up::ratios),
        ),
        (
            "roofline",
            "Roofline",
            "What the machine allows: the slope is its measured bandwidth times the flops per byte that must move at \
             least, the flat part its measured peak. A point near the slope can only be made faster by moving less, one near the flat part by computing less.",
            roofline::all(runs),
        ),
        (
            "bandwidth",
            "Bytes moved",
            "The least bytes that must move (every operand once) over the median time, against what the machine was \
             measured to move from its memory: what lies in caches may be above that.",
            of_groups(speed::bandwidths),
        ),
        (
            "time-split",
            "Where the time of one product goes",
            "What happens in every product that starts and ends in the host's memory; preparing, which happens once, \
             stands behind the bar.",
            of_groups(time_split::parts),
        ),
        (
            "error",
            "Error",
            "The largest error of an element over the largest that rounding alone can cause: 1 is the limit, and \
             more is a wrong result.",
            of(&judged, errors::ratios),
        ),
        (
            "matrix",
            "Matrices",
            "How long the rows are, and where the entries lie: the stronger a cell, the more of them it holds.",
            matrices::all(runs),
        ),
    ];
    let mut sections = named(all);
    looks::assign(&mut sections);
    sections
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::report::outcome::Outcome;
    use crate::report::record::Record;

    pub(crate) fn timed(variant: &str, k: u64, threads: u64, gflops: f64) -> Record {
        let mut record = Record::new("spmm", variant, Outcome::Passed);
        (record.matrix, record.dtype, record.place) = (Some("m".to_owned()), "f64".into(), "cpu".into());
        (record.k, record.threads) = (Some(k), Some(threads));
        (record.median_ns, record.gflops, record.gbytes_per_s) =
            (Some(1e6 / gflops), Some(gflops), Some(gflops / 2.0));
        (record.p05_ns, record.p95_ns) = (Some(0.9e6 / gflops), Some(1.2e6 / gflops));
        record.bound_ratio = Some(0.01);
        record
    }

    pub(crate) fn run(label: &str, records: Vec<Record>) -> Run {
        Run { label: label.to_owned(), records, ..Run::default() }
    }

    #[test]
    fn what_has_nothing_to_show_is_left_out() {
        assert_eq!(sections(&[]), []);
        let mut refused = Record::new("spmm", "x", Outcome::Refused);
        refused.matrix = Some("m".into());
        assert_eq!(sections(&[run("a", vec![refused])]), []);
        let titles =
            |records| -> Vec<&str> { sections(&[run("a", records)]).iter().map(|s| s.title).collect() };
        assert_eq!(titles(vec![timed("x", 8, 1, 2.0)]), ["Speed", "Bytes moved", "Error"]);
        let several = vec![timed("x", 8, 1, 2.0), timed("x", 8, 2, 3.0), timed("csr-serial", 8, 1, 1.0)];
        let over_threads = ["Speed over threads", "Time over threads"];
        let expected = [&["Speed"], &over_threads[..], &["Speed-up", "Bytes moved", "Error"]].concat();
        assert_eq!(titles(several), expected);
        let over_k = vec![timed("x", 4, 1, 2.0), timed("x", 8, 1, 3.0)];
        assert_eq!(titles(over_k), ["Speed", "Time", "Bytes moved", "Error"]);
        let other = Record { matrix: Some("n".into()), ..timed("x", 8, 1, 2.0) };
        let two = vec![timed("x", 8, 1, 2.0), other];
        assert_eq!(titles(two), ["Across matrices", "Speed", "Bytes moved", "Error"]);
    }

    /// Whatever is measured: no figure has more lines than there are colours, none more panels or rows than fit a page.
    #[test]
    fn nobody_has_to_follow_more_than_eight_lines() {
        let mut records = Vec::new();
        for matrix in ["m", "n"] {
            for variant in 0..30 {
                for (k, threads) in [(1, 1), (1, 2), (8, 1), (8, 2), (64, 1), (64, 2)] {
                    let record = timed(&format!("v{variant}"), k, threads, 1.0 + f64::from(variant));
                    records.push(Record { matrix: Some(matrix.into()), ..record });
                }
            }
        }
        let sections = sections(&[run("a", records)]);
        let drawn = sections.iter().flat_map(|section| &section.figures).map(|named| &named.figure);
        let (mut multiples, mut dots) = (0, 0);
        for figure in drawn {
            match figure {
                Figure::Plot(plot) => assert!(plot.series.len() <= 8, "{}", plot.title),
                Figure::Multiples(found) => {
                    multiples += 1;
                    assert!(found.panels.len() <= 24, "{}", found.title);
                    assert!(found.panels.iter().all(|panel| panel.series.len() <= 8), "{}", found.title);
                }
                Figure::Dots(found) => {
                    dots += 1;
                    assert!(found.series.iter().filter(|series| !series.is_grey).count() <= 8);
                }
                _ => {}
            }
        }
        // Rate, time and bytes over K, rate and time over threads, for both matrices; speed-up has its own baseline.
        assert!(multiples >= 10 && dots == 3, "{multiples} {dots}");
    }
}
