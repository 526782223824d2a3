//! Which sensors and which times are worth a picture.

use crate::analysis::Analysis;
use crate::figures::main_wave;
use crate::peaks::Peak;

/// Sensors of the largest peaks.
const PEAK_SENSORS: usize = 4;
/// Where many components are looked for.
const MIDLINE: [&str; 4] = ["fz", "cz", "pz", "oz"];
/// Maps in a row of pictures.
const MOST_TIMES: usize = 8;

/// Peaks of the main wave, the largest first: those of sensors, or those of the field power.
fn peaks(analysis: &Analysis, of_sensors: bool) -> Vec<&Peak> {
    let wave = main_wave(analysis).map(|(wave, _, _)| wave);
    let wanted = |peak: &&Peak| Some(peak.of) == wave && peak.sensor.is_some() == of_sensors;
    let mut peaks: Vec<&Peak> = analysis.peaks.iter().filter(wanted).collect();
    peaks.sort_by(|one, other| other.amplitude.abs().total_cmp(&one.amplitude.abs()));
    peaks
}

/// The sensors of the largest peaks, then Fz, Cz, Pz and Oz where they are; the first one where there is neither.
pub(crate) fn chosen_sensors(analysis: &Analysis) -> Vec<usize> {
    let mut chosen: Vec<usize> = Vec::new();
    let add = |sensor: usize, chosen: &mut Vec<usize>| {
        if sensor < analysis.recording.sensors.len() && !chosen.contains(&sensor) {
            chosen.push(sensor);
        }
    };
    for sensor in peaks(analysis, true).iter().filter_map(|peak| peak.sensor) {
        if chosen.len() < PEAK_SENSORS {
            add(sensor, &mut chosen);
        }
    }
    for wanted in MIDLINE {
        let plain = |name: &String| name.trim().trim_end_matches('.').to_ascii_lowercase();
        if let Some(sensor) = analysis.recording.sensors.iter().position(|name| plain(name) == wanted) {
            add(sensor, &mut chosen);
        }
    }
    if chosen.is_empty() {
        add(0, &mut chosen);
    }
    chosen
}

/// Samples of the largest peaks, first those of the field power, none beside another, in the order of time; the middle
/// one where there are no peaks.
pub(crate) fn latencies(analysis: &Analysis) -> Vec<usize> {
    let samples = analysis.recording.samples;
    let mut times: Vec<usize> = Vec::new();
    // Peaks of several sensors belong to one component when they are this close.
    let apart = (samples / 40).max(1);
    for peak in peaks(analysis, false).into_iter().chain(peaks(analysis, true)) {
        let is_new = times.iter().all(|time| time.abs_diff(peak.sample) > apart);
        if peak.sample < samples && is_new && times.len() < MOST_TIMES {
            times.push(peak.sample);
        }
    }
    if times.is_empty() && samples > 0 {
        times.push(samples / 2);
    }
    times.sort_unstable();
    times
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::planted;

    #[test]
    fn the_largest_peak_comes_first_and_the_midline_is_there() {
        let analysis = planted();
        let names: Vec<&str> = chosen_sensors(&analysis)
            .iter()
            .map(|&sensor| analysis.recording.sensors[sensor].as_str())
            .collect();
        assert_eq!(names[0], "Pz");
        assert!(["Fz", "Cz", "Oz"].iter().all(|name| names.contains(name)), "{names:?}");
        assert!(names.len() <= PEAK_SENSORS + MIDLINE.len());
    }

    #[test]
    fn times_are_apart_and_in_order() {
        let analysis = planted();
        let times = latencies(&analysis);
        assert!(!times.is_empty() && times.windows(2).all(|pair| pair[0] + 2 < pair[1]), "{times:?}");
        let planted =
            times.iter().map(|&sample| analysis.recording.time_s(sample)).any(|t| (t - 0.35).abs() < 0.02);
        assert!(planted, "{times:?}");
    }
}
