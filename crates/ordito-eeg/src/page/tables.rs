//! What the page tells in tables.

use crate::analysis::Analysis;
use crate::condition::Condition;
use crate::figures::unit;
use crate::head::Head;
use crate::peaks::Peak;
use ordito::units;
use ordito_chart::html::{Cell, row, table};
use ordito_chart::markup::escape;

/// Rejected epochs, peaks and intervals that are listed; files have them all.
const MOST_ROWS: usize = 40;

/// What the results depend on.
pub(crate) fn protocol(analysis: &Analysis) -> String {
    let one = |(name, value): &(&'static str, String)| row(false, &[Cell::text(*name), Cell::text(value)]);
    let rows: String = analysis.protocol.iter().map(one).collect();
    table("Files, settings and program", &[("setting", ""), ("value", "")], &rows)
}

/// Epochs kept and left out, and what is meant by SEM and band.
pub(crate) fn epochs(analysis: &Analysis) -> String {
    let all = || analysis.conditions.iter().chain(&analysis.groups);
    let has_windows = all().any(|of| of.windows.is_some());
    let one = |of: &Condition| {
        let mut cells = vec![Cell::text(&of.name)];
        let numbers = [of.read as u64, of.rejected.len() as u64, of.kept];
        cells.extend(numbers.map(|number| Cell::number(units::count(number))));
        if has_windows {
            cells.push(Cell::text(of.windows.map_or(String::new(), |windows| windows.to_string())));
        }
        row(false, &cells)
    };
    let rows: String = all().map(one).collect();
    let mut titles = vec![("", ""), ("read", "number"), ("rejected", "number"), ("kept", "number")];
    titles.extend(has_windows.then_some(("windows begin at", "")));
    let mut html = table("Epochs of each condition", &titles, &rows);
    html += "<p>SEM is the standard error of the mean, s / √n over the n epochs kept, where the variance s² is divided by \
             n − 1. The 95 % band is the mean ± SEM times Student’s quantile for n − 1 degrees of freedom.</p>\n";
    html + &rejected(analysis) + &unplaced(analysis)
}

fn rejected(analysis: &Analysis) -> String {
    let unit = unit(analysis);
    let every =
        || analysis.conditions.iter().flat_map(|of| of.rejected.iter().map(move |rejected| (of, rejected)));
    let count = every().count();
    if count == 0 {
        return String::new();
    }
    let rows: String = every()
        .take(MOST_ROWS)
        .map(|(of, rejected)| {
            let cells = [
                Cell::text(&of.name),
                Cell::number(rejected.epoch.to_string()),
                Cell::text(sensor(analysis, rejected.sensor)),
                Cell::number(units::number(rejected.peak_to_peak)),
            ];
            row(false, &cells)
        })
        .collect();
    let peak_to_peak = format!("peak to peak ({unit})");
    let titles = [("condition", ""), ("epoch", "number"), ("sensor", ""), (peak_to_peak.as_str(), "number")];
    let caption = format!("Rejected epochs and the sensor that moved farthest{}", of_all(count));
    table(&caption, &titles, &rows)
}

/// Sensors that maps cannot show.
fn unplaced(analysis: &Analysis) -> String {
    let sensors = &analysis.recording.sensors;
    let placed = Head::new(sensors).map_or_else(Vec::new, |head| head.sensors);
    let missing: Vec<String> =
        (0..sensors.len()).filter(|sensor| !placed.contains(sensor)).map(|s| sensors[s].clone()).collect();
    match (missing.len(), placed.is_empty()) {
        (0, _) => String::new(),
        (_, true) => "<p>There are no maps: too few sensors have names of the 10-10 system.</p>\n".to_owned(),
        (count, false) => {
            let names = missing.iter().take(MOST_ROWS).map(String::as_str).collect::<Vec<_>>().join(", ");
            let names = format!("{names}{}", of_all(count));
            format!(
                "<p>Not in the maps, for the 10-10 system has no place of their own for them: {}.</p>\n",
                escape(&names)
            )
        }
    }
}

/// The peaks, as they were found.
pub(crate) fn peaks(analysis: &Analysis) -> String {
    if analysis.peaks.is_empty() {
        return String::new();
    }
    let one = |peak: &Peak| {
        let cells = [
            Cell::text(analysis.name_of(peak.of)),
            Cell::text(peak.sensor.map_or("global field power".to_owned(), |index| sensor(analysis, index))),
            Cell::number(format!("{:.1}", 1e3 * peak.time_s)),
            Cell::number(units::number(peak.amplitude)),
        ];
        row(false, &cells)
    };
    let rows: String = analysis.peaks.iter().take(MOST_ROWS).map(one).collect();
    let amplitude = format!("amplitude ({})", unit(analysis));
    let titles = [("wave", ""), ("sensor", ""), ("latency (ms)", "number"), (amplitude.as_str(), "number")];
    table(&format!("Peaks{}", of_all(analysis.peaks.len())), &titles, &rows)
}

/// Where the permutation test found a difference, if it was made.
pub(crate) fn intervals(analysis: &Analysis) -> String {
    let Some(test) = analysis.difference.as_ref().and_then(|difference| difference.permutations.as_ref())
    else {
        return String::new();
    };
    let mut html = format!(
        "<p>The largest |t| over all sensors and times was compared with that of {} random exchanges of the labels (seed {}): \
         |t| above {:.2} has p ≤ 0.05, corrected for having looked everywhere.</p>\n",
        units::count(test.count as u64),
        test.seed,
        test.critical_t
    );
    if test.intervals.is_empty() {
        return html + "<p>There is no such time at any sensor.</p>\n";
    }
    let at = |sample: usize| Cell::number(format!("{:.1}", 1e3 * analysis.recording.time_s(sample)));
    let mut sorted: Vec<_> = test.intervals.iter().collect();
    sorted.sort_by(|one, other| one.p.total_cmp(&other.p)); // stable: sensors stay in their order
    let one = |interval: &&crate::significance::Interval| {
        let name = Cell::text(sensor(analysis, interval.sensor));
        let p = Cell::number(format!("{:.4}", interval.p));
        row(false, &[name, at(interval.from), at(interval.to), p])
    };
    let rows: String = sorted.iter().take(MOST_ROWS).map(one).collect();
    let titles = [("sensor", ""), ("from (ms)", "number"), ("to (ms)", "number"), ("smallest p", "number")];
    let caption = format!("Times at which the conditions differ{}", of_all(test.intervals.len()));
    html += &table(&caption, &titles, &rows);
    html
}

/// Who computed what.
pub(crate) fn chosen(analysis: &Analysis) -> String {
    if analysis.chosen.is_empty() {
        return String::new();
    }
    let one = |of: &crate::analysis::Chosen| {
        row(false, &[Cell::text(of.step), Cell::text(&of.variant), Cell::wide(&of.reason)])
    };
    let rows: String = analysis.chosen.iter().map(one).collect();
    table("Who computed what", &[("step", ""), ("variant", ""), ("why", "wide")], &rows)
}

fn sensor(analysis: &Analysis, index: usize) -> String {
    analysis.recording.sensors.get(index).cloned().unwrap_or_default()
}

/// Said where not all are listed.
fn of_all(count: usize) -> String {
    if count > MOST_ROWS { format!(", the first {MOST_ROWS} of {count}") } else { String::new() }
}
