//! What a report draws: records in, figures out, in the order in which a reader wants them.

mod errors;
mod groups;
mod looks;
mod matrices;
mod roofline;
mod speed;
mod speed_up;
mod threads;
mod time_split;

use super::Run;
use super::chart::Figure;
use groups::{Group, grouped, timed};

/// A figure and the name of its files.
#[derive(Debug, Clone, PartialEq)]
pub struct Named {
    /// Without an extension: unique in the report, plain letters, digits and dashes.
    pub file: String,
    /// What is drawn.
    pub figure: Figure,
}

/// Figures that answer the same question.
#[derive(Debug, Clone, PartialEq)]
pub struct Section {
    /// What it is about.
    pub title: &'static str,
    /// What a reader should know before looking.
    pub intro: &'static str,
    /// Never empty.
    pub figures: Vec<Named>,
}

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
            "speed",
            "Speed",
            "Higher is better. Points are medians; where lines are few, a band reaches from the 5 % to the 95 % quantile of the runs.",
            of_groups(speed::rates),
        ),
        (
            "threads",
            "Speed over threads",
            "Perfect scaling doubles with the threads; a line that stays flat waits for memory, or for one thread.",
            of_groups(threads::rates),
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

/// Sections from what their files' names begin with, title, introduction and figures; those without figures are left out.
pub(crate) fn named(
    all: impl IntoIterator<Item = (&'static str, &'static str, &'static str, Vec<(String, Figure)>)>,
) -> Vec<Section> {
    let mut names = Names::default();
    let mut sections = Vec::new();
    for (prefix, title, intro, figures) in all {
        let named = |(of, figure): (String, Figure)| Named { file: names.unique(prefix, &of), figure };
        let figures: Vec<Named> = figures.into_iter().map(named).collect();
        if !figures.is_empty() {
            sections.push(Section { title, intro, figures });
        }
    }
    sections
}

/// Names of files that were given out already.
#[derive(Default)]
struct Names(std::collections::BTreeSet<String>);

impl Names {
    /// What a name keeps at most: file systems end near 255.
    const LONGEST: usize = 80;

    /// The prefix and what of the rest is letters and digits, numbered where that was given out already.
    fn unique(&mut self, prefix: &str, of: &str) -> String {
        let mut name = String::from(prefix);
        for character in of.chars() {
            match character {
                letter if letter.is_ascii_alphanumeric() => name.push(letter.to_ascii_lowercase()),
                _ if !name.ends_with('-') => name.push('-'),
                _ => {}
            }
            // The first character of what it is of stands apart from the prefix.
            if name.len() == prefix.len() + 1 && !name.ends_with('-') {
                name.insert(prefix.len(), '-');
            }
            if name.len() >= Self::LONGEST {
                break;
            }
        }
        let name = name.trim_end_matches('-').to_owned();
        let numbered = |count: usize| if count == 1 { name.clone() } else { format!("{name}-{count}") };
        let free = (1..).map(numbered).find(|name| !self.0.contains(name)).unwrap_or(name.clone());
        self.0.insert(free.clone());
        free
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::report::{Outcome, Record};

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
    fn names_are_plain_short_and_unique() {
        let mut names = Names::default();
        assert_eq!(names.unique("speed", "stencil27:40, f64"), "speed-stencil27-40-f64");
        assert_eq!(names.unique("speed", "stencil27/40 f64"), "speed-stencil27-40-f64-2");
        assert_eq!(names.unique("speed", "../../etc"), "speed-etc");
        assert_eq!(names.unique("speed", "è"), "speed");
        assert!(names.unique("speed", &"x".repeat(500)).len() <= Names::LONGEST);
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
        assert_eq!(titles(several), ["Speed", "Speed over threads", "Speed-up", "Bytes moved", "Error"]);
    }
}
