//! Which values of an axis are marked, and how they are written.

use crate::Scale;
use crate::scale::Tick;
use ordito::units;

/// Written marks on a linear axis, about.
const STEPS: f64 = 5.0;
/// Written marks on a logarithmic axis, at most.
const MOST_POWERS: usize = 8;

/// 1, 2 or 5 times a power of ten: about five steps in `span`, which is positive and finite.
pub(crate) fn step(span: f64) -> f64 {
    let rough = span / STEPS;
    let power = 10f64.powf(rough.log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power);
    steps.into_iter().find(|&step| step >= rough * 0.999).unwrap_or(10.0 * power)
}

/// Exactly these.
pub(crate) fn exactly(values: impl Iterator<Item = f64>) -> Vec<Tick> {
    values.map(|value| Tick { value, label: plain(value) }).collect()
}

/// Round numbers from `low` to `high`, which are logarithms where the scale is logarithmic.
pub(crate) fn round(scale: Scale, low: f64, high: f64) -> Vec<Tick> {
    let (ticks, base) = match scale {
        Scale::Linear => return linear(low, high),
        Scale::Log2 => (powers_of_two(low, high), 2.0),
        Scale::Log10 => (powers_of_ten(low, high), 10.0),
    };
    if ticks.iter().filter(|tick| !tick.label.is_empty()).count() >= 2 {
        return ticks;
    }
    // Too short an axis for powers.
    linear(f64::powf(base, low), f64::powf(base, high))
}

fn linear(low: f64, high: f64) -> Vec<Tick> {
    let step = step(high - low);
    let (first, last) = ((low / step - 1e-6).ceil(), (high / step + 1e-6).floor());
    let largest = low.abs().max(high.abs());
    let count = (last - first).clamp(0.0, 4.0 * STEPS) as u32;
    (0..=count)
        .map(|index| {
            let value = (first + f64::from(index)) * step;
            Tick { value, label: with_step(value, step, largest) }
        })
        .collect()
}

/// All marks of an axis with as many decimals as their distance asks for.
fn with_step(value: f64, step: f64, largest: f64) -> String {
    if value.abs() < step / 2.0 {
        return "0".to_owned();
    }
    let finest = step.log10().floor();
    if largest >= 1e6 || step < 1e-4 {
        let digits = (largest.log10().floor() - finest).clamp(0.0, 12.0) as usize;
        return format!("{value:.digits$e}");
    }
    match (-finest).max(0.0) as usize {
        0 => grouped(value),
        decimals => format!("{value:.decimals$}"),
    }
}

fn powers_of_two(low: f64, high: f64) -> Vec<Tick> {
    let (first, last) = whole(low, high);
    let every = (last - first).max(0) as usize / MOST_POWERS + 1;
    (first..=last)
        .step_by(every)
        .map(|power| {
            let label = match power {
                -3..=19 => plain(f64::from(power).exp2()),
                _ => format!("2^{power}"),
            };
            Tick { value: f64::from(power).exp2(), label }
        })
        .collect()
}

fn powers_of_ten(low: f64, high: f64) -> Vec<Tick> {
    let (first, last) = whole(low, high);
    let decades = (last - first).max(0) as usize;
    let every = decades / MOST_POWERS + 1;
    // Within two decades, 2 and 5 are written, too.
    let written: &[u32] = if high - low < 2.0 { &[1, 2, 5] } else { &[1] };
    let drawn: &[u32] = if decades <= 6 { &[1, 2, 3, 4, 5, 6, 7, 8, 9] } else { &[1] };
    let mut ticks = Vec::new();
    for power in (first - 1..=last).filter(|power| (power - first).rem_euclid(every as i32) == 0) {
        for &digit in drawn {
            // Read, not computed: 3 * 0.1 is not 0.3.
            let value = format!("{digit}e{power}").parse().unwrap_or(f64::NAN);
            let place = value.log10();
            if place >= low - 1e-9 && place <= high + 1e-9 {
                let label = match power {
                    _ if !written.contains(&digit) => String::new(),
                    -3..=4 => plain(value),
                    _ => format!("{digit}e{power}"),
                };
                ticks.push(Tick { value, label });
            }
        }
    }
    ticks
}

/// First and last whole number of a range.
fn whole(low: f64, high: f64) -> (i32, i32) {
    ((low - 1e-9).ceil() as i32, (high + 1e-9).floor() as i32)
}

/// A value as it is written on its own: whole numbers in full.
pub(crate) fn plain(value: f64) -> String {
    match value {
        _ if value == 0.0 => "0".to_owned(),
        _ if value.fract() == 0.0 && value.abs() < 1e9 => grouped(value),
        _ if [0.5, 0.25, 0.125, 0.2, 0.1, 0.05, 0.02, 0.01].contains(&value) => value.to_string(),
        _ if (0.001..0.01).contains(&value) && (value * 1000.0).fract() == 0.0 => value.to_string(),
        _ => units::number(value),
    }
}

/// Whole numbers; long ones in groups of three.
fn grouped(value: f64) -> String {
    let size = value.abs().round();
    let sign = if value < 0.0 { "-" } else { "" };
    if size < 10_000.0 { format!("{sign}{size}") } else { format!("{sign}{}", units::count(size as u64)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(scale: Scale, low: f64, high: f64) -> Vec<String> {
        round(scale, low, high).into_iter().map(|tick| tick.label).filter(|label| !label.is_empty()).collect()
    }

    #[test]
    fn steps_are_round() {
        for (span, expected) in
            [(4.9, 1.0), (5.0, 1.0), (5.1, 2.0), (23.0, 5.0), (99.0, 20.0), (2e300, 5e299)]
        {
            assert!((step(span) / expected - 1.0).abs() < 1e-9, "{span}: {}", step(span));
        }
    }

    #[test]
    fn marks_of_one_axis_are_written_alike() {
        assert_eq!(labels(Scale::Linear, 0.0, 1.0), ["0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(labels(Scale::Linear, -10.0, 10.0), ["-10", "-5", "0", "5", "10"]);
        assert_eq!(labels(Scale::Linear, 0.0, 40_000.0), ["0", "10 000", "20 000", "30 000", "40 000"]);
        assert_eq!(labels(Scale::Linear, 0.0, 1.5e7), ["0", "5.0e6", "1.0e7", "1.5e7"]);
        assert_eq!(labels(Scale::Linear, 0.0, 2e-6), ["0", "5.0e-7", "1.0e-6", "1.5e-6", "2.0e-6"]);
    }

    #[test]
    fn powers_are_thinned_out() {
        assert_eq!(labels(Scale::Log10, -2.0, 1.0), ["0.01", "0.1", "1", "10"]);
        assert!(labels(Scale::Log10, -300.0, 300.0).len() <= MOST_POWERS + 1);
        assert!(labels(Scale::Log2, -1000.0, 1000.0).len() <= MOST_POWERS + 1);
        assert_eq!(labels(Scale::Log2, 18.0, 21.0), ["262 144", "524 288", "2^20", "2^21"]);
        // No two powers in it.
        assert_eq!(labels(Scale::Log2, 5f64.log2(), 7f64.log2()), ["5.0", "5.5", "6.0", "6.5", "7.0"]);
    }

    #[test]
    fn minor_marks_lie_between_the_powers() {
        let ticks = powers_of_ten(0.0, 2.0);
        assert_eq!(ticks.len(), 19);
        assert_eq!(ticks.iter().filter(|tick| !tick.label.is_empty()).count(), 3);
    }
}
