//! The cycle that a recording goes through: a window of every group and of the target begins in turn, each at its offset.

use crate::error::ErpError;
use crate::groups::{GroupOrder, Groups};
use crate::recording::Recording;
use crate::settings::Settings;
use crate::windows::{Windows, to_nanoseconds};

/// The cycle of the standard case: eight offsets of 100 ms.
const STANDARD_STEP_S: f64 = 0.8;

/// Its groups, when it begins, and how long it is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Cycle {
    groups: Groups,
    start_s: f64,
    step_s: f64,
}

impl Cycle {
    /// As it was said, or as it is known: the standard offsets of windows as long as the standard cycle, to a sample.
    pub(crate) fn new(settings: &Settings, recording: &Recording) -> Result<Option<Self>, ErpError> {
        let Some(groups) = settings.groups else { return Ok(None) };
        let period_s = 1.0 / recording.rate_hz;
        let off_by_s = (recording.samples as f64 * period_s - STANDARD_STEP_S).abs();
        let known = (groups.are_offsets() && off_by_s < period_s).then_some(STANDARD_STEP_S);
        match (settings.window_step_s.or(known), settings.window_start_s) {
            (Some(step_s), start_s) => Ok(Some(Cycle { groups, start_s: start_s.unwrap_or(0.0), step_s })),
            (None, Some(_)) => Err(ErpError::NoWindowStep),
            (None, None) => Ok(None),
        }
    }

    /// When the windows of every group begin, of `rows` nontarget epochs.
    pub(crate) fn windows(self, rows: usize) -> Vec<Windows> {
        let Groups { count, order } = self.groups;
        let share = rows / count.max(1);
        let of_group = |(group, offset): (usize, usize)| match order {
            GroupOrder::Interleaved => self.at(offset, group + 1, count),
            GroupOrder::Blocked => self.at(offset, group * share + 1, 1),
        };
        self.groups.offsets().0.enumerate().map(of_group).collect()
    }

    /// When those of the target begin, where its offset is known.
    pub(crate) fn windows_of_target(self) -> Option<Windows> {
        self.groups.target_offset().map(|offset| self.at(offset, 1, 1))
    }

    /// The windows at an offset, and their rows.
    fn at(self, offset: usize, first_epoch: usize, epoch_step: usize) -> Windows {
        let Cycle { groups, start_s, step_s } = self;
        let first_s = to_nanoseconds(start_s + step_s * offset as f64 / groups.offsets().1 as f64);
        Windows { first_s, step_s, first_epoch, epoch_step }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grouped(count: usize, order: GroupOrder) -> Settings {
        Settings { groups: Some(Groups { count, order }), ..Settings::default() }
    }

    fn cycle(settings: &Settings, samples: usize, rate_hz: f64) -> Result<Option<Cycle>, String> {
        let recording =
            Recording { sensors: vec!["Cz".into()], samples, rate_hz, start_s: 0.0, unit: "µV".into() };
        Cycle::new(settings, &recording).map_err(|error| error.to_string())
    }

    #[test]
    fn a_cycle_is_said_or_known() {
        let of = |count| grouped(count, GroupOrder::Interleaved);
        let times = |settings: &Settings, samples, rate_hz| {
            cycle(settings, samples, rate_hz).map(|found| found.map(|cycle| (cycle.start_s, cycle.step_s)))
        };
        assert_eq!(times(&Settings::default(), 82, 102.4), Ok(None));
        assert_eq!(times(&of(7), 82, 102.4), Ok(Some((0.0, 0.8))));
        assert_eq!(times(&of(7), 800, 1000.0), Ok(Some((0.0, 0.8))));
        // Another number of groups, and windows of a second, are another cycle.
        assert_eq!(times(&of(6), 82, 102.4), Ok(None));
        assert_eq!(times(&of(7), 1000, 1000.0), Ok(None));
        let said = Settings { window_start_s: Some(2.0), window_step_s: Some(1.2), ..of(6) };
        assert_eq!(times(&said, 10, 100.0), Ok(Some((2.0, 1.2))));
        let later = Settings { window_start_s: Some(2.0), ..of(7) };
        assert_eq!(times(&later, 82, 102.4), Ok(Some((2.0, 0.8))));
        let said = times(&later, 10, 100.0).unwrap_err();
        assert_eq!(
            said,
            "when windows begin is known only with the time from one window of a group to its next"
        );
    }

    #[test]
    fn windows_of_offsets_begin_in_turn() {
        let seven = cycle(&grouped(7, GroupOrder::Interleaved), 82, 102.4).unwrap().unwrap();
        assert_eq!(seven.windows_of_target().unwrap().to_string(), "600, 1400, 2200 … ms");
        let told: Vec<String> = seven.windows(70).iter().map(Windows::to_string).collect();
        assert_eq!((told.len(), told[0].as_str()), (7, "0, 800, 1600 … ms"));
        assert_eq!(told[5..], ["500, 1300, 2100 … ms", "700, 1500, 2300 … ms"]);
        let second = |order| {
            let (window_start_s, window_step_s) = (Some(1.0), Some(0.6));
            let settings = Settings { window_start_s, window_step_s, ..grouped(3, order) };
            let three = cycle(&settings, 82, 102.4).unwrap().unwrap();
            assert_eq!(three.windows_of_target(), None);
            three.windows(12)[1].starts(3).collect::<Vec<_>>()
        };
        assert_eq!(second(GroupOrder::Interleaved), [(2, 1.2), (5, 1.8), (8, 2.4)]);
        assert_eq!(second(GroupOrder::Blocked), [(5, 1.2), (6, 1.8), (7, 2.4)]);
    }
}
