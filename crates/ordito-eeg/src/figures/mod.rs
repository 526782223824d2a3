//! What the EEG job draws: an analysis in, figures out, in the order in which a reader wants them.

mod butterfly;
mod chosen;
mod groups;
mod layout;
mod maps;
mod sensors;
mod time_plot;

pub(crate) use crate::figures::chosen::{chosen_sensors, latencies};

use crate::analysis::Analysis;
use crate::head::Head;
use crate::peaks::Wave;
use ordito_chart::sections::{Section, named};

/// All sections that have anything to show.
pub fn sections(analysis: &Analysis) -> Vec<Section> {
    let head = Head::new(&analysis.recording.sensors);
    let all = [
        (
            "butterfly",
            "All sensors at once",
            "One thin line per sensor, and the global field power: the standard deviation over sensors, which is large \
             when they differ much.",
            butterfly::all(analysis),
        ),
        (
            "sensor",
            "Conditions at chosen sensors",
            "Where the peaks are largest, and the midline. The bands are 95 % confidence intervals of the mean at each \
             time, not of all times at once.",
            sensors::conditions(analysis),
        ),
        (
            "difference",
            "Difference at chosen sensors",
            "The first condition less the second, with the 95 % confidence interval at each time (Welch: the conditions \
             may differ in number and variance). Where the band does not reach zero the two differ at that time alone; \
             among thousands of times some will do so by chance.",
            sensors::differences(analysis),
        ),
        (
            "map",
            "Maps at the peaks",
            "The head from above, nose on top; the ring is the line through Fpz, T7, Oz and T8. Between the sensors \
             (dots) the field is a spherical spline through what they measured.",
            head.as_ref().map_or_else(Vec::new, |head| maps::all(analysis, head)),
        ),
        (
            "layout",
            "Every sensor at its place",
            "One small plot per sensor, all with the same axes.",
            vec![("sensors".to_owned(), layout::panels(analysis, head.as_ref()))],
        ),
        (
            "groups",
            "Nontarget by groups",
            "The mean of every group beside the target's: the groups should not differ from each other.",
            groups::all(analysis),
        ),
    ];
    named(all)
}

/// The wave that maps and peaks are about: the difference where there is one, otherwise the first condition.
pub(crate) fn main_wave(analysis: &Analysis) -> Option<(Wave, &str, &[f64])> {
    match (&analysis.difference, analysis.conditions.first()) {
        (Some(difference), _) => Some((Wave::Difference, "difference", &difference.mean)),
        (None, Some(first)) => Some((Wave::Condition(0), &first.name, &first.mean)),
        (None, None) => None,
    }
}

/// The unit of amplitudes, for axes and tables.
pub(crate) fn unit(analysis: &Analysis) -> &str {
    match analysis.recording.unit.as_str() {
        "" => "amplitude",
        unit => unit,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::planted;

    #[test]
    fn every_question_has_its_figures_and_names_are_unique() {
        let sections = sections(&planted());
        let titles: Vec<&str> = sections.iter().map(|section| section.title).collect();
        assert_eq!(titles.len(), 6, "{titles:?}");
        let mut files: Vec<&str> =
            sections.iter().flat_map(|s| &s.figures).map(|named| named.file.as_str()).collect();
        let count = files.len();
        files.sort_unstable();
        files.dedup();
        assert!(files.len() == count && count > 15, "{files:?}");
    }

    #[test]
    fn one_condition_without_known_sensors_is_drawn_too() {
        let mut analysis = planted();
        analysis.conditions.truncate(1);
        analysis.groups.clear();
        analysis.difference = None;
        analysis.peaks.clear();
        for (number, name) in analysis.recording.sensors.iter_mut().enumerate() {
            *name = format!("E{number}");
        }
        let titles: Vec<&str> = sections(&analysis).iter().map(|section| section.title).collect();
        assert_eq!(
            titles,
            ["All sensors at once", "Conditions at chosen sensors", "Every sensor at its place"]
        );
    }
}
