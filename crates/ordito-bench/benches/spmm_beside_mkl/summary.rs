//! What it all comes to: MKL's best time over that of `auto`, in geometric means; above 1 we are faster.

use super::kept::Outcome;
use ordito_bench::workbench::yardstick::{COLUMNS, HELD_OUT};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Matrices of finite elements: several unknowns in every node share their columns.
const FINITE_ELEMENTS: &[&str] = &["bcsstk16", "bcsstk17", "bcsstk25", "bcsstk28", "blocks:20000x12x3"];
/// Matrices of grids and bands, and the K at which nobody else makes use of that.
const STRUCTURED: &[&str] = &["stencil5:447", "stencil27:58", "band:20000x50", "trilinos_ant16km"];
const STRUCTURED_COLUMNS: &[usize] = &[2, 3];
/// Below this we are slower beyond what differs from run to run.
const LOSING: f64 = 0.95;

/// Is a case one of a group?
type Belongs<'a> = &'a dyn Fn(&Outcome) -> bool;

/// A few numbers of several cases.
struct Figures {
    cases: usize,
    mean: f64,
    worst: (f64, String),
    not_slower: f64,
    hardly_slower: f64,
}

impl Figures {
    fn of<'a>(outcomes: impl Iterator<Item = &'a Outcome>) -> Option<Self> {
        let (mut cases, mut logs, mut not_slower, mut hardly) = (0, 0.0, 0, 0);
        let mut worst = (f64::INFINITY, String::new());
        for outcome in outcomes {
            let ratio = outcome.over_mkl(outcome.auto());
            cases += 1;
            logs += ratio.ln();
            not_slower += usize::from(ratio >= 1.0);
            hardly += usize::from(ratio >= LOSING);
            if ratio < worst.0 || ratio.is_nan() {
                worst = (ratio, outcome.name());
            }
        }
        let share = |count: usize| 100.0 * count as f64 / cases as f64;
        (cases > 0).then(|| Figures {
            cases,
            mean: (logs / cases as f64).exp(),
            worst,
            not_slower: share(not_slower),
            hardly_slower: share(hardly),
        })
    }
}

/// All tables.
pub(crate) fn show(outcomes: &[Outcome]) -> String {
    let mut text = String::from(
        "MKL's best time over that of auto: above 1 auto is faster\n\n\
         cases                        number  geomean   ≥ 1   ≥ 0.95  worst\n",
    );
    let is_of =
        |names: &'static [&'static str]| move |outcome: &Outcome| names.contains(&outcome.matrix.as_str());
    let (held_out, elements, structured) = (is_of(HELD_OUT), is_of(FINITE_ELEMENTS), is_of(STRUCTURED));
    let groups: [(&str, Belongs<'_>); 5] = [
        ("all", &|_| true),
        ("held out", &held_out),
        ("not held out", &|outcome| !held_out(outcome)),
        ("finite elements", &elements),
        ("structured, K = 2, 3", &|outcome| structured(outcome) && STRUCTURED_COLUMNS.contains(&outcome.k)),
    ];
    for (title, belongs) in groups {
        let of = |outcome: &&Outcome| belongs(outcome);
        line(&mut text, title, outcomes.iter().filter(of));
        for (dtype, threads) in settings(outcomes) {
            let there = |outcome: &&Outcome| (outcome.dtype, outcome.threads) == (dtype, threads);
            line(&mut text, &setting(dtype, threads), outcomes.iter().filter(of).filter(there));
        }
    }
    text.push_str(&by_columns(outcomes));
    text.push_str(&by_matrix(outcomes));
    text.push_str(&losing(outcomes));
    text
}

fn setting(dtype: &str, threads: usize) -> String {
    format!("  {dtype}, {threads} thread{}", if threads == 1 { "" } else { "s" })
}

fn settings(outcomes: &[Outcome]) -> Vec<(&'static str, usize)> {
    let mut settings: Vec<_> = outcomes.iter().map(|outcome| (outcome.dtype, outcome.threads)).collect();
    settings.sort_unstable();
    settings.dedup();
    settings
}

// Writing to a string cannot fail.
fn line<'a>(text: &mut String, title: &str, outcomes: impl Iterator<Item = &'a Outcome>) {
    let Some(of) = Figures::of(outcomes) else { return };
    let Figures { cases, mean, worst: (worst, case), not_slower, hardly_slower } = of;
    let _ = writeln!(
        text,
        "{title:<28} {cases:>6} {mean:>8.3} {not_slower:>4.0} %  {hardly_slower:>4.0} %  {worst:.2} {case}"
    );
}

fn by_columns(outcomes: &[Outcome]) -> String {
    let mut text = String::from("\ngeomean (worst) at K\n");
    for (dtype, threads) in settings(outcomes) {
        let _ = write!(text, "{:<18}", setting(dtype, threads));
        for &k in COLUMNS {
            let of = |o: &&Outcome| (o.dtype, o.threads, o.k) == (dtype, threads, k);
            if let Some(figures) = Figures::of(outcomes.iter().filter(of)) {
                let _ = write!(text, "  K={k} {:.2} ({:.2})", figures.mean, figures.worst.0);
            }
        }
        text.push('\n');
    }
    text
}

fn by_matrix(outcomes: &[Outcome]) -> String {
    let mut of_matrix: BTreeMap<&str, Vec<&Outcome>> = BTreeMap::new();
    for outcome in outcomes {
        of_matrix.entry(&outcome.matrix).or_default().push(outcome);
    }
    let mut means: Vec<(f64, &str)> = of_matrix
        .into_iter()
        .filter_map(|(matrix, outcomes)| Some((Figures::of(outcomes.into_iter())?.mean, matrix)))
        .collect();
    means.sort_by(|one, other| one.0.total_cmp(&other.0));
    let held_out = |matrix: &str| if HELD_OUT.contains(&matrix) { "*" } else { "" };
    let shown = means.iter().map(|(mean, matrix)| format!("{matrix}{} {mean:.2}", held_out(matrix)));
    format!("\ngeomean of every matrix (* held out)\n  {}\n", shown.collect::<Vec<_>>().join(", "))
}

/// Where `auto` is slower, the worst first: what it took, and the best that it could have taken, where that was measured.
fn losing(outcomes: &[Outcome]) -> String {
    let ratio = |outcome: &Outcome| outcome.over_mkl(outcome.auto());
    let is_losing = |ratio: f64| ratio < LOSING || ratio.is_nan();
    let mut losing: Vec<&Outcome> = outcomes.iter().filter(|outcome| is_losing(ratio(outcome))).collect();
    losing.sort_by(|one, other| ratio(one).total_cmp(&ratio(other)));
    let mut text = format!("\nbelow {LOSING}: {} of {} cases\n", losing.len(), outcomes.len());
    for outcome in losing {
        let auto = outcome.auto();
        let chosen = auto.chosen.as_ref().map_or("", |(variant, _)| variant);
        let mkl = outcome.fastest(|entry| entry.is_mkl).map_or("", |entry| &entry.variant);
        let _ = write!(text, "  {:.2} {}: {chosen} against {mkl}", ratio(outcome), outcome.name());
        let own = outcome.fastest(|entry| !entry.is_mkl && entry.chosen.is_none());
        if let Some(own) = own.filter(|own| own.variant != chosen) {
            let _ = write!(text, "; {:.2} {}", outcome.over_mkl(own), own.variant);
        }
        text.push('\n');
    }
    text
}
