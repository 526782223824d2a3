//! What `report` prints of several runs: every time beside the first run's, and what that says.

use crate::report::compare::{Changed, Comparison, Comparisons, Overall, Ratio, TEST};
use crate::report::outcome::Outcome;
use crate::report::setting::Setting;
use crate::report::table::layout::{Printed, laid_out};
use crate::report::table::shown;
use ordito::units;

/// Part of a setting: the title of its column, how the heading says it where all rows agree, its text.
type SettingColumn = (&'static str, fn(&str) -> String, fn(&Setting) -> String);

/// What tells rows apart beside variant and input.
const SETTINGS: [SettingColumn; 6] = [
    ("op", str::to_owned, |setting| setting.op.clone()),
    ("where", |place| format!("on {place}"), |setting| setting.place.clone()),
    ("k", |k| format!("k = {k}"), |setting| shown(setting.k, |k| k.to_string())),
    ("dtype", str::to_owned, |setting| setting.dtype.clone()),
    (
        "threads",
        |threads| threads.parse().map_or_else(|_| threads.to_owned(), units::threads),
        |setting| shown(setting.threads, |threads| threads.to_string()),
    ),
    ("caches", str::to_owned, |setting| if setting.cold { "cold caches".into() } else { String::new() }),
];

/// A table, a line for every run after the first, and the test; nothing where there is nothing to compare.
pub fn comparison(found: &Comparisons) -> String {
    let Some(first) = found.labels.first() else { return String::new() };
    if found.rows.is_empty() {
        let nothing = format!("nothing to compare: {first} and the others timed nothing in common\n");
        return changed_lines(found).into_iter().fold(nothing, |text, line| text + &line + "\n");
    }
    let (heading, columns) = columns(found);
    let mut lines = vec![heading];
    lines.extend(laid_out(&columns));
    lines.push(String::new());
    for (label, overall) in found.labels[1..].iter().zip(&found.overall) {
        lines.push(overall_text(label, first, overall));
    }
    if found.unmatched > 0 {
        lines.push(format!(
            "{} more were not timed by {first} and another",
            units::count(found.unmatched as u64)
        ));
    }
    lines.extend(changed_lines(found));
    // A sentence on each line.
    lines.extend(TEST.split_inclusive(". ").map(|sentence| sentence.trim_end().to_owned()));
    lines.into_iter().map(|line| line + "\n").collect()
}

/// How many settings ended otherwise than in the first run, for every run and outcome.
fn changed_lines(found: &Comparisons) -> Vec<String> {
    let mut lines = Vec::new();
    for (run, label) in found.labels.iter().enumerate().skip(1) {
        for outcome in Outcome::ALL {
            let became = |changed: &&Changed| {
                changed.outcomes[run] == Some(outcome) && changed.outcomes[0] != Some(outcome)
            };
            let count = found.changed.iter().filter(became).count();
            if count > 0 {
                lines.push(format!("{label}: {count} {outcome}, otherwise in {}", found.labels[0]));
            }
        }
    }
    lines
}

/// The heading says what all rows have in common.
fn columns(found: &Comparisons) -> (String, Vec<Printed<'_>>) {
    let column = |title, is_text, cell: &dyn Fn(&Comparison) -> String| Printed {
        title,
        is_text,
        cells: found.rows.iter().map(cell).collect(),
    };
    let mut heading = vec![format!("{} against {}", found.labels[1..].join(", "), found.labels[0])];
    let mut columns = vec![
        column("variant", true, &|row| row.setting.variant.clone()),
        column("input", true, &|row| row.setting.input()),
    ];
    for (title, in_heading, cell) in SETTINGS {
        let settings = column(title, false, &|row| cell(&row.setting));
        match settings.cells.iter().all(|cell| *cell == settings.cells[0]) {
            true if settings.cells[0].is_empty() => {}
            true => heading.push(in_heading(&settings.cells[0])),
            false => columns.push(settings),
        }
    }
    for (run, label) in found.labels.iter().enumerate() {
        columns
            .push(column(label, false, &|row| shown(row.times[run], |time| units::duration(time.median_ns))));
        let Some(other) = run.checked_sub(1) else { continue };
        columns.push(column("ratio", false, &|row| {
            shown(row.ratios[other], |ratio| units::number(ratio.ratio))
        }));
        columns.push(column("95 %", false, &|row| shown(row.ratios[other], interval_text)));
        columns.push(column("verdict", true, &|row| {
            shown(row.ratios[other], |ratio| ratio.verdict.name().into())
        }));
    }
    (heading.join(", "), columns)
}

fn interval_text(ratio: Ratio) -> String {
    // Digits enough to see on which side of 1 its ends are.
    shown(ratio.interval, |(low, high)| format!("{low:.3}–{high:.3}"))
}

pub(crate) fn overall_text(label: &str, first: &str, overall: &Overall) -> String {
    let Some(mean) = overall.geometric_mean else {
        return format!("{label}: nothing in common with {first}");
    };
    let unknown = if overall.unknown > 0 { format!(", {} unknown", overall.unknown) } else { String::new() };
    format!(
        "{label} is {} times as fast as {first} (geometric mean of {}): {} faster, {} slower, {} without difference{unknown}",
        units::number(mean),
        overall.ratios(),
        overall.faster,
        overall.slower,
        overall.no_difference,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Run;
    use crate::report::compare::compare;
    use crate::report::compare::tests::two_runs;

    #[test]
    fn two_runs_side_by_side() {
        let expected = "\
new against old, spmm, on cpu, k = 8, f64, 1 thread
variant  input           old      new  ratio         95 %  verdict
─────────────────────────────────────────────────────────────────────────
a        stencil5:4   200 ns   100 ns   2.00  1.636–2.444  faster
b        stencil5:4   100 ns   102 ns  0.980  0.922–1.040  no difference
c        stencil5:4  50.0 ns   100 ns  0.500  0.490–0.510  slower
d        stencil5:4   100 ns  50.0 ns   2.00               unknown

new is 1.18 times as fast as old (geometric mean of 4): 1 faster, 1 slower, 1 without difference, 1 unknown
2 more were not timed by old and another
";
        let found = comparison(&compare(&two_runs()));
        let test = found.strip_prefix(expected).unwrap_or_else(|| panic!("found\n{found}"));
        assert_eq!(test.split_whitespace().collect::<Vec<_>>(), TEST.split_whitespace().collect::<Vec<_>>());
    }

    #[test]
    fn settings_that_differ_are_columns_and_every_run_has_its_own() {
        let [one, mut other] = two_runs();
        other.records.iter_mut().for_each(|record| record.k = Some(16));
        let found = comparison(&compare(&[one.clone(), other, one]));
        let titles = found.lines().nth(1).unwrap();
        assert_eq!(titles.matches("ratio").count(), 2, "{found}");
        assert!(titles.contains("  k  ") && found.starts_with("new, old (2) against old"), "{found}");
    }

    #[test]
    fn nothing_in_common_is_said() {
        let [one, _] = two_runs();
        assert_eq!(comparison(&Comparisons::default()), "");
        let empty = Run { label: "empty".to_owned(), ..Run::default() };
        assert!(comparison(&compare(&[one, empty])).starts_with("nothing to compare"));
    }
}
