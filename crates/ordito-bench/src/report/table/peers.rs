//! What `bench` prints at the end where our own kernels and cuSPARSE ran on a GPU: a row per case, then the totals.

use crate::catalogue::describe;
use crate::report::peers::{PeerCase, PeerSummary, Ratios, Standing, Totals};
use crate::report::table::layout::{Printed, laid_out};
use crate::report::table::shown;
use ordito::units;

/// A column: its title, whether it is text, and what it says of a case.
type Column = (&'static str, bool, fn(&PeerCase) -> String);

fn flushed(case: &PeerCase, show: impl Fn(&Standing) -> String) -> String {
    shown(case.flushed.as_ref(), show)
}
fn hot(case: &PeerCase, show: impl Fn(&Standing) -> String) -> String {
    shown(case.hot.as_ref(), show)
}
fn duration(ns: f64) -> String {
    units::duration(ns)
}
fn times(ratio: f64) -> String {
    format!("{ratio:.2}")
}
fn percent(share: Option<f64>) -> String {
    shown(share, |share| format!("{share:.0} %"))
}
fn peer(standing: &Standing) -> String {
    let name = &standing.cusparse.variant;
    describe("spmm", name).map_or(name.as_str(), |variant| variant.short).to_owned()
}
fn ahead(standing: &Standing) -> String {
    shown(standing.ahead_after, |products| products.to_string())
}
fn auto_times(standing: &Standing) -> String {
    shown(standing.auto.as_ref(), |auto| times(auto.ratio.ratio))
}
fn auto_share(standing: &Standing) -> String {
    shown(standing.auto.as_ref(), |auto| format!("{:.0} %", 100.0 * auto.share_of_own))
}

const COLUMNS: &[Column] = &[
    ("matrix", true, |case| case.matrix.clone()),
    ("k", false, |case| shown(case.k, |k| k.to_string())),
    ("dtype", true, |case| case.dtype.clone()),
    ("flushed: own", true, |case| flushed(case, |at| at.own.variant.clone())),
    ("time", false, |case| flushed(case, |at| duration(at.own.timed.median_ns))),
    ("copy", false, |case| flushed(case, |at| percent(at.own.percent_of_copy))),
    ("cuSPARSE", true, |case| flushed(case, peer)),
    ("time", false, |case| flushed(case, |at| duration(at.cusparse.timed.median_ns))),
    ("ratio", false, |case| flushed(case, |at| times(at.ratio.ratio))),
    ("ahead after", false, |case| flushed(case, ahead)),
    ("auto", false, |case| flushed(case, auto_times)),
    ("of own", false, |case| flushed(case, auto_share)),
    ("hot: own", true, |case| hot(case, |at| at.own.variant.clone())),
    ("time", false, |case| hot(case, |at| duration(at.own.timed.median_ns))),
    ("cuSPARSE", true, |case| hot(case, peer)),
    ("time", false, |case| hot(case, |at| duration(at.cusparse.timed.median_ns))),
    ("ratio", false, |case| hot(case, |at| times(at.ratio.ratio))),
    ("auto", false, |case| hot(case, auto_times)),
    ("of own", false, |case| hot(case, auto_share)),
];

/// The table and the sentences below it.
pub fn peers(summary: &PeerSummary) -> String {
    let printed = COLUMNS.iter().map(|(title, is_text, cell)| Printed {
        title,
        is_text: *is_text,
        cells: summary.cases.iter().map(cell).collect(),
    });
    let said: Vec<Printed<'_>> =
        printed.filter(|column| column.cells.iter().any(|cell| !cell.is_empty())).collect();
    let heading = "own kernels and cuSPARSE, the fastest of each: ratio is cuSPARSE's time over ours, ahead after so \
                   many products with preparing (not compiling) counted, auto the ratio of `auto`, of own our fastest over `auto`, copy the least bytes over a copy's bandwidth";
    let lines = std::iter::once(heading.to_owned()).chain(laid_out(&said)).chain(sentences(summary));
    lines.map(|line| line + "\n").collect()
}

/// All cases in a few sentences.
pub(crate) fn sentences(summary: &PeerSummary) -> Vec<String> {
    let both = [("flushed", &summary.flushed), ("hot", &summary.hot)];
    let known = both.into_iter().filter_map(|(cache, totals)| Some((cache, totals.as_ref()?)));
    known.flat_map(|(cache, totals)| of_cache(cache, totals)).collect()
}

fn of_cache(cache: &str, totals: &Totals) -> Vec<String> {
    let mut lines = vec![format!("{cache}, own kernels: {}", ratios(&totals.own))];
    if let Some(auto) = &totals.auto {
        let (near, cases) = (auto.near_the_best, auto.ratios.cases);
        let took = match auto.took_cusparse {
            0 => String::new(),
            count => format!("; it took cuSPARSE in {count}"),
        };
        let near = format!("at most a tenth slower than our fastest in {near} of {cases}{took}");
        lines.push(format!("{cache}, auto: {}; {near}", ratios(&auto.ratios)));
    }
    lines
}

fn ratios(of: &Ratios) -> String {
    let slower = match of.slower.len() {
        0 => "none slower beyond the spread".to_owned(),
        count => format!("{count} slower beyond the spread ({})", of.slower.join("; ")),
    };
    format!(
        "geometric mean {:.3} × the fastest cuSPARSE over {} cases, worst {:.2} ({}), {} ({:.0} %) at 1 or above, {slower}",
        of.geometric_mean,
        of.cases,
        of.worst,
        of.worst_case,
        of.at_least_one,
        100.0 * of.at_least_one as f64 / of.cases as f64
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::peers::tests::example;

    #[test]
    fn a_row_per_case_and_sentences_below() {
        let found = peers(&PeerSummary::of(&example()).unwrap());
        let lines: Vec<&str> = found.lines().collect();
        assert_eq!(lines.len(), 1 + 2 + 2 + 4, "{found}");
        assert!(lines[3].starts_with("m       1  f64    csr-cuda-fast  10.0 µs  50 %  alg2"), "{found}");
        assert!(lines[4].contains("alg3-columns") && lines[4].contains("0.80"), "{found}");
        assert!(
            lines[5].starts_with("flushed, own kernels: geometric mean 1.265 × the fastest cuSPARSE over 2 cases, worst 0.80 (m, K = 8, f64), 1 (50 %) at 1 or above, 1 slower beyond the spread (m, K = 8, f64)"),
            "{found}"
        );
        assert!(
            lines[6].ends_with("at most a tenth slower than our fastest in 1 of 2; it took cuSPARSE in 1"),
            "{found}"
        );
        assert!(lines[7].starts_with("hot, own kernels: geometric mean"), "{found}");
    }
}
