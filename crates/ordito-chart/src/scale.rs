//! Where values lie along an axis, and which of them are marked.

use crate::{Axis, Scale, ticks};

/// Beyond these, differences and powers would leave what an `f64` can hold.
const LARGEST: f64 = 1e300;
const SMALLEST: f64 = 1e-300;

/// How far an axis reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fit {
    /// To round numbers.
    Round,
    /// A little further than the values.
    Padded,
    /// To the largest value, and from so far below the smallest that its bar can be seen.
    Bars,
}

/// A mark on an axis.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tick {
    /// The value there.
    pub(crate) value: f64,
    /// What is written there; empty for marks between the written ones.
    pub(crate) label: String,
}

/// An axis with its values laid out from 0 to 1.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Ruler {
    scale: Scale,
    /// Ends of the axis: values, or their logarithms.
    low: f64,
    high: f64,
    ticks: Vec<Tick>,
}

/// Can a value be drawn on this scale?
pub(crate) fn drawable(scale: Scale, value: f64) -> bool {
    value.is_finite() && (scale == Scale::Linear || value > 0.0)
}

/// The value as it is spread along the axis: itself, or its logarithm.
fn spread(scale: Scale, value: f64) -> f64 {
    match scale {
        Scale::Linear => value.clamp(-LARGEST, LARGEST),
        Scale::Log2 => value.clamp(SMALLEST, LARGEST).log2(),
        Scale::Log10 => value.clamp(SMALLEST, LARGEST).log10(),
    }
}

impl Ruler {
    /// An axis that holds all values that can be drawn; from 0 to 1 or 1 to 10 where there are none.
    pub(crate) fn new(axis: &Axis, values: &[f64], fit: Fit) -> Self {
        let scale = axis.scale;
        let mut low = f64::INFINITY;
        let mut high = f64::NEG_INFINITY;
        let zero = (axis.from_zero && scale == Scale::Linear).then_some(0.0);
        for &value in values.iter().chain(&axis.ticks).chain(&axis.holds).chain(&zero) {
            if drawable(scale, value) {
                low = low.min(spread(scale, value));
                high = high.max(spread(scale, value));
            }
        }
        if low > high {
            (low, high) = (0.0, 1.0);
        }
        let (low, high) = match scale {
            Scale::Linear => linear_ends(low, high, axis.from_zero, fit),
            _ => logarithmic_ends(low, high, scale, fit),
        };
        let mut ruler = Ruler { scale, low, high, ticks: Vec::new() };
        ruler.ticks = if axis.ticks.is_empty() {
            ticks::round(scale, low, high)
        } else {
            ticks::exactly(axis.ticks.iter().copied().filter(|&tick| drawable(scale, tick)))
        };
        ruler
    }

    /// Its marks, with their places.
    pub(crate) fn ticks(&self) -> impl Iterator<Item = (f64, &Tick)> {
        self.ticks.iter().filter_map(|tick| Some((self.at(tick.value)?, tick)))
    }

    /// The place of a value, 0 at the lower end and 1 at the upper; none where it cannot be drawn.
    pub(crate) fn at(&self, value: f64) -> Option<f64> {
        drawable(self.scale, value)
            .then(|| (spread(self.scale, value) - self.low) / (self.high - self.low))
            .filter(|place| place.is_finite())
    }

    /// Like [`at`](Self::at), but what lies infinitely far away is at the end of the axis; none for NaN.
    pub(crate) fn at_or_end(&self, value: f64) -> Option<f64> {
        if value.is_nan() {
            return None;
        }
        self.at(value).or(Some(if value > 0.0 { 1.0 } else { 0.0 }))
    }

    /// The values at its ends, where equal steps are equal differences.
    pub(crate) fn linear_ends(&self) -> Option<(f64, f64)> {
        (self.scale == Scale::Linear).then_some((self.low, self.high))
    }

    /// Is a value between the ends?
    pub(crate) fn holds(&self, value: f64) -> bool {
        self.at(value).is_some_and(|place| (-1e-9..=1.0 + 1e-9).contains(&place))
    }
}

fn linear_ends(mut low: f64, mut high: f64, from_zero: bool, fit: Fit) -> (f64, f64) {
    let largest = low.abs().max(high.abs());
    // Values that are one value but for rounding: room on both sides of it.
    if high - low <= largest * 1e-12 || high - low < 1e-290 {
        if largest < 1e-290 {
            (low, high) = (0.0, 1.0);
        } else {
            (low, high) = (low - largest / 2.0, high + largest / 2.0);
        }
    }
    let step = ticks::step(high - low);
    match fit {
        Fit::Round => ((low / step + 1e-9).floor() * step, (high / step - 1e-9).ceil() * step),
        Fit::Bars => (low, high),
        Fit::Padded => {
            let pad = (high - low) * 0.03;
            let stays = |end: f64| from_zero && end == 0.0;
            (if stays(low) { low } else { low - pad }, if stays(high) { high } else { high + pad })
        }
    }
}

fn logarithmic_ends(mut low: f64, mut high: f64, scale: Scale, fit: Fit) -> (f64, f64) {
    if high - low < 1e-9 {
        (low, high) = (low - 1.0, high + 1.0);
    }
    match (fit, scale) {
        (Fit::Padded, _) => {
            let pad = (high - low) * 0.04;
            (low - pad, high + pad)
        }
        // To 1, 2 or 5 times a power of ten: a whole one would leave much of the axis empty.
        (Fit::Round, Scale::Log10) => {
            let above = one_two_five().into_iter().find(|&mark| mark >= high - high.floor() - 1e-9);
            (round_below(low), high.floor() + above.unwrap_or(1.0))
        }
        (Fit::Bars, _) => (round_below(low - (high - low) * 0.05), high),
        (Fit::Round, _) => ((low + 1e-9).floor(), (high - 1e-9).ceil()),
    }
}

/// Logarithms of the round numbers of a decade.
fn one_two_five() -> [f64; 4] {
    [0.0, 2f64.log10(), 5f64.log10(), 1.0]
}

/// The next round number below, both as logarithms.
fn round_below(value: f64) -> f64 {
    let mark = one_two_five().into_iter().rev().find(|&mark| mark <= value - value.floor() + 1e-9);
    value.floor() + mark.unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(scale: Scale) -> Axis {
        Axis { scale, ..Axis::default() }
    }

    fn labels(ruler: &Ruler) -> Vec<&str> {
        ruler.ticks.iter().map(|tick| tick.label.as_str()).filter(|label| !label.is_empty()).collect()
    }

    #[test]
    fn ends_are_round_numbers() {
        let ruler = Ruler::new(&Axis { from_zero: true, ..axis(Scale::Linear) }, &[3.0, 23.0], Fit::Round);
        assert_eq!((ruler.at(0.0), ruler.at(25.0)), (Some(0.0), Some(1.0)));
        assert_eq!(labels(&ruler), ["0", "5", "10", "15", "20", "25"]);
        let ruler = Ruler::new(&axis(Scale::Linear), &[0.11, 0.29], Fit::Round);
        assert_eq!(labels(&ruler), ["0.10", "0.15", "0.20", "0.25", "0.30"]);
        let ruler = Ruler::new(&axis(Scale::Log2), &[1.0, 64.0], Fit::Round);
        assert_eq!(labels(&ruler), ["1", "2", "4", "8", "16", "32", "64"]);
        let ruler = Ruler::new(&axis(Scale::Log10), &[0.3, 700.0], Fit::Round);
        assert_eq!(labels(&ruler), ["1", "10", "100", "1000"]);
        assert!(ruler.at(0.2).is_some_and(|place| place.abs() < 1e-9));
        let ruler = Ruler::new(&axis(Scale::Log10), &[12.0, 45.0], Fit::Round);
        assert_eq!(labels(&ruler), ["10", "20", "50"]);
    }

    #[test]
    fn whatever_the_values_there_is_an_axis() {
        let awkward = [
            vec![],
            vec![0.0],
            vec![-3.0],
            vec![f64::NAN, f64::INFINITY],
            vec![1e-300, 1e300],
            vec![-1e308, 1e308],
            vec![5e-324],
            vec![5e-324, 1e-320],
            vec![1e15, 1e15 + 0.125],
            vec![7.0, 7.0],
        ];
        for values in &awkward {
            for scale in [Scale::Linear, Scale::Log2, Scale::Log10] {
                for (fit, from_zero) in
                    [(Fit::Round, false), (Fit::Round, true), (Fit::Padded, false), (Fit::Bars, true)]
                {
                    let ruler = Ruler::new(&Axis { from_zero, ..axis(scale) }, values, fit);
                    assert!(
                        ruler.high > ruler.low && ruler.low.is_finite(),
                        "{scale:?} {values:?} {ruler:?}"
                    );
                    assert!(
                        ruler.high.is_finite() && ruler.ticks.len() < 80,
                        "{scale:?} {values:?} {ruler:?}"
                    );
                    assert!(labels(&ruler).len() >= 2, "{scale:?} {values:?} {ruler:?}");
                    for &value in values {
                        let place = ruler.at(value);
                        assert!(
                            place.is_none_or(|place| (-1e-9..=1.0 + 1e-9).contains(&place)),
                            "{value} {place:?}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn infinite_values_lie_at_the_ends() {
        let ruler = Ruler::new(&axis(Scale::Log10), &[1.0, 10.0], Fit::Round);
        let ends = [f64::INFINITY, f64::NEG_INFINITY, 0.0].map(|value| ruler.at_or_end(value));
        assert_eq!(ends, [Some(1.0), Some(0.0), Some(0.0)]);
        assert_eq!((ruler.at_or_end(f64::NAN), ruler.at(0.0)), (None, None));
        assert!(ruler.holds(10.0) && !ruler.holds(11.0));
    }
}
