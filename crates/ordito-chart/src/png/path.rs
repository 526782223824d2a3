//! What is drawn, as lines through places. Curves are chords that lie so close to them that nobody sees it.

use crate::frame::Spot;
use std::f64::consts::TAU;

/// How far a chord may be from its curve, in units: a fiftieth of a pixel.
const TOLERANCE: f64 = 0.01;

/// From place to place, in units.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Polyline {
    pub(super) places: Vec<Spot>,
    /// Does it go back to its first place?
    pub(super) is_closed: bool,
}

/// Lines of one outline.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Path(pub(super) Vec<Polyline>);

impl Path {
    pub(super) fn move_to(&mut self, place: Spot) {
        self.0.push(Polyline { places: vec![place], is_closed: false });
    }

    pub(super) fn line_to(&mut self, place: Spot) {
        if let Some(line) = self.0.last_mut() {
            line.places.push(place);
        }
    }

    /// A Bézier curve that begins where the line is, is drawn towards places, and ends at the last of them.
    pub(super) fn curve_to<const PLACES: usize>(&mut self, places: [Spot; PLACES]) {
        let Some(&from) = self.0.last().and_then(|line| line.places.last()) else { return };
        let controls: Vec<Spot> = std::iter::once(from).chain(places).collect();
        // A curve is as far from n chords as its controls are from a straight line, times d (d - 1) / 8 n².
        let bend = controls
            .windows(3)
            .map(|three| {
                let [(x0, y0), (x1, y1), (x2, y2)] = [three[0], three[1], three[2]];
                (x0 - 2.0 * x1 + x2).hypot(y0 - 2.0 * y1 + y2)
            })
            .fold(0.0, f64::max);
        let degree = PLACES as f64;
        let chords =
            (degree * (degree - 1.0) / 8.0 * bend / TOLERANCE).sqrt().ceil().clamp(1.0, 100.0) as u32;
        let mut between = Vec::with_capacity(controls.len());
        for chord in 1..=chords {
            let time = f64::from(chord) / f64::from(chords);
            let mix = |from: f64, to: f64| from + time * (to - from);
            between.clone_from(&controls);
            for left in (1..between.len()).rev() {
                for place in 0..left {
                    let (from, to) = (between[place], between[place + 1]);
                    between[place] = (mix(from.0, to.0), mix(from.1, to.1));
                }
            }
            self.line_to(between[0]);
        }
    }

    pub(super) fn close(&mut self) {
        if let Some(line) = self.0.last_mut() {
            line.is_closed = true;
        }
    }

    /// All places are a line of their own.
    pub(super) fn through(&mut self, places: impl IntoIterator<Item = Spot>, is_closed: bool) {
        self.0.push(Polyline { places: places.into_iter().collect(), is_closed });
    }

    pub(super) fn circle(&mut self, (x, y): Spot, radius: f64) {
        self.through(arc((radius, 0.0), TAU).map(|(across, down)| (x + across, y + down)), true);
    }
}

/// Places on the way of a spot that turns around (0, 0) by an angle: its own is the first, that at the end is not among them.
pub(super) fn arc((x, y): Spot, angle: f64) -> impl Iterator<Item = Spot> {
    let radius = x.hypot(y);
    let widest = 2.0 * (1.0 - TOLERANCE / radius.max(TOLERANCE)).acos();
    let chords = (angle.abs() / widest).ceil().clamp(1.0, 1000.0) as u32;
    (0..chords).map(move |chord| {
        let (sin, cos) = (angle * f64::from(chord) / f64::from(chords)).sin_cos();
        (x * cos - y * sin, x * sin + y * cos)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chords_are_close_to_their_circle_and_are_not_many() {
        for radius in [0.5, 4.0, 300.0] {
            let mut path = Path::default();
            path.circle((7.0, 9.0), radius);
            let places = &path.0[0].places;
            assert!(path.0[0].is_closed && places.len() < 400, "{}", places.len());
            for (index, &(x, y)) in places.iter().enumerate() {
                let (next_x, next_y) = places[(index + 1) % places.len()];
                let middle = (0.5 * (x + next_x) - 7.0).hypot(0.5 * (y + next_y) - 9.0);
                assert!(((x - 7.0).hypot(y - 9.0) - radius).abs() < 1e-9);
                assert!(radius - middle <= TOLERANCE + 1e-9 && middle <= radius, "{radius}: {middle}");
            }
        }
    }

    #[test]
    fn curves_begin_and_end_where_they_should() {
        let mut path = Path::default();
        path.move_to((0.0, 0.0));
        path.curve_to([(10.0, 0.0), (10.0, 10.0)]);
        path.curve_to([(10.0, 20.0), (0.0, 20.0), (0.0, 10.0)]);
        path.close();
        let places = &path.0[0].places;
        assert_eq!((places[0], *places.last().unwrap()), ((0.0, 0.0), (0.0, 10.0)));
        // Half-way: a quarter of either end and half of the control; three eighths of both controls.
        let is_near = |(x, y): Spot| places.iter().any(|place| (place.0 - x).hypot(place.1 - y) < 0.6);
        assert!(is_near((7.5, 2.5)) && is_near((5.0, 17.5)) && !is_near((10.0, 0.0)));
        assert!((20..60).contains(&places.len()), "{}", places.len());
        // Nowhere to begin.
        let mut nowhere = Path::default();
        nowhere.curve_to([(1.0, 1.0), (2.0, 2.0)]);
        nowhere.line_to((1.0, 1.0));
        nowhere.close();
        assert!(nowhere.0.is_empty());
    }
}
