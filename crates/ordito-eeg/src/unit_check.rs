//! Do the amplitudes look as if they were in another unit?

use crate::condition::Condition;
use crate::recording::Recording;
use ordito::units;

/// Averages of any head are far above this many µV, and below this many V.
const LEAST_MICROVOLTS: f64 = 1e-3;

/// A sentence where amplitudes that are said to be µV can hardly be.
pub(crate) fn warning(recording: &Recording, conditions: &[Condition]) -> Option<String> {
    // The micro sign, the Greek letter and what stands for both on many keyboards.
    let is_microvolts = ["µV", "μV", "uV"].contains(&recording.unit.as_str());
    let amplitudes = conditions.iter().flat_map(|condition| &condition.mean).map(|number| number.abs());
    let largest = amplitudes.fold(0.0, f64::max);
    (is_microvolts && largest > 0.0 && largest < LEAST_MICROVOLTS).then(|| {
        format!(
            "the largest amplitude of any average is {} {}, which looks like volts: is --unit V meant?",
            units::number(largest),
            recording.unit
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::planted;

    #[test]
    fn volts_called_microvolts_are_noticed() {
        let mut analysis = planted();
        assert_eq!(warning(&analysis.recording, &analysis.conditions), None);
        analysis.conditions.iter_mut().flat_map(|of| &mut of.mean).for_each(|number| *number *= 1e-6);
        let said = warning(&analysis.recording, &analysis.conditions).unwrap();
        assert!(said.contains("e-6 µV, which looks like volts"), "{said}");
        analysis.recording.unit = "V".into();
        assert_eq!(warning(&analysis.recording, &analysis.conditions), None);
    }
}
