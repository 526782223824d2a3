//! The head seen from above: which sensors have a place on it, its outline, and a field between the sensors.

use crate::montage::{Position, position};
use crate::spline;
use std::f64::consts::TAU;

/// Sensors below which a field between them would be guessed.
const FEWEST: usize = 8;
/// How far nose and ears reach from the middle.
const NOSE: f64 = 1.14;
/// Half the angle that the nose takes up, and the ears reach from and to.
const NOSE_HALF: f64 = 0.03;
const EAR: [(f64, f64); 9] = [
    (0.985, 0.14),
    (1.03, 0.17),
    (1.08, 0.14),
    (1.09, 0.06),
    (1.07, 0.01),
    (1.09, -0.07),
    (1.07, -0.15),
    (1.03, -0.18),
    (0.985, -0.15),
];

/// Sensors on a head. Places in the drawing are shares of a square's side, from the left and from the top.
pub(crate) struct Head {
    /// Which of the recording's sensors these are.
    pub(crate) sensors: Vec<usize>,
    positions: Vec<Position>,
}

/// How values at the sensors of a head become a square of cells.
pub(crate) struct Field {
    /// Cells on a side.
    pub(crate) side: usize,
    /// Which cells lie in the field.
    pub(crate) inside: Vec<usize>,
    /// What each sensor counts in each of those.
    pub(crate) weights: Vec<f64>,
}

impl Head {
    /// Sensors whose names the 10-10 system knows; of several at one place, the first. `None` where they are too few.
    pub(crate) fn new(names: &[String]) -> Option<Self> {
        let mut head = Head { sensors: Vec::new(), positions: Vec::new() };
        for (sensor, name) in names.iter().enumerate() {
            if let Some(position) = position(name).filter(|position| !head.positions.contains(position)) {
                head.sensors.push(sensor);
                head.positions.push(position);
            }
        }
        (head.sensors.len() >= FEWEST).then_some(head)
    }

    /// Places of the sensors where the ring has radius 1: to the right, to the nose.
    pub(crate) fn flat(&self) -> Vec<(f64, f64)> {
        self.positions.iter().map(|position| position.flat()).collect()
    }

    /// Half the side of the square that holds all of the drawing, in radii of the ring. The field ends at the ring: below
    /// it there are few sensors, and far from them a spline says little.
    fn reach(&self) -> f64 {
        self.flat().iter().map(|(x, y)| x.hypot(*y)).fold(NOSE, f64::max) * 1.03
    }

    /// The radius of the ring, and so of the field, as a share of the square's side.
    pub(crate) fn disc(&self) -> f64 {
        1.0 / (2.0 * self.reach())
    }

    fn share(&self, (x, y): (f64, f64)) -> (f64, f64) {
        let reach = self.reach();
        ((x / reach + 1.0) / 2.0, (1.0 - y / reach) / 2.0)
    }

    /// Places of the sensors in the drawing.
    pub(crate) fn dots(&self) -> Vec<(f64, f64)> {
        self.flat().into_iter().map(|place| self.share(place)).collect()
    }

    /// Head, nose and ears.
    pub(crate) fn outline(&self) -> Vec<Vec<(f64, f64)>> {
        let on_ring = |turn: f64| ((turn * TAU).sin(), (turn * TAU).cos());
        let ring = (0..=72).map(|part| on_ring(f64::from(part) / 72.0)).collect();
        let nose = vec![on_ring(-NOSE_HALF), (0.0, NOSE), on_ring(NOSE_HALF)];
        let right = EAR.to_vec();
        let left = EAR.iter().map(|&(x, y)| (-x, y)).collect();
        let lines: [Vec<(f64, f64)>; 4] = [ring, nose, right, left];
        lines.into_iter().map(|line| line.into_iter().map(|place| self.share(place)).collect()).collect()
    }

    /// The field on `side` × `side` cells.
    pub(crate) fn field(&self, side: usize) -> Option<Field> {
        let reach = self.reach();
        // A cell more than the ring holds, so that its edge can be cut as a circle.
        let radius = 1.0 + 2.0 * reach / side as f64;
        let along = |cell: usize| ((cell as f64 + 0.5) / side as f64 * 2.0 - 1.0) * reach;
        let (mut inside, mut places) = (Vec::new(), Vec::new());
        for cell in 0..side * side {
            let (x, y) = (along(cell % side), -along(cell / side));
            if x.hypot(y) <= radius {
                inside.push(cell);
                places.push(Position::from_flat((x, y)));
            }
        }
        Some(Field { side, inside, weights: spline::weights(&self.positions, &places)? })
    }
}

impl Field {
    /// Row after row, NaN outside of the field.
    pub(crate) fn values(&self, measured: &[f64]) -> Vec<f64> {
        let mut values = vec![f64::NAN; self.side * self.side];
        for (&cell, weights) in self.inside.iter().zip(self.weights.chunks(measured.len().max(1))) {
            values[cell] = weights.iter().zip(measured).map(|(weight, value)| weight * value).sum();
        }
        values
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::montage::tests::BCI2000;

    fn head() -> Head {
        let names: Vec<String> = BCI2000.split_whitespace().map(str::to_owned).collect();
        Head::new(&names).unwrap()
    }

    #[test]
    fn unknown_names_and_second_sensors_of_a_place_are_left_out() {
        let names = |list: &[&str]| -> Vec<String> { list.iter().map(|name| (*name).to_owned()).collect() };
        let head = Head::new(&names(&["E1", "T7", "Cz", "T3", "Pz", "Fz", "T8", "Oz", "F7", "F8"])).unwrap();
        assert_eq!(head.sensors, [1, 2, 4, 5, 6, 7, 8, 9]);
        assert!(Head::new(&names(&["T7", "Cz", "T3", "Pz", "Fz", "T8", "Oz", "F7"])).is_none());
    }

    #[test]
    fn everything_is_drawn_inside_the_square() {
        let head = head();
        for (x, y) in head.outline().into_iter().flatten().chain(head.dots()) {
            assert!((0.0..=1.0).contains(&x) && (0.0..=1.0).contains(&y), "{x} {y}");
        }
        // The nose is on top, and the left ear on the left.
        let cz = head.dots()[10];
        assert!((cz.0 - 0.5).abs() < 1e-12 && head.outline()[1][1].1 < cz.1 && head.outline()[3][2].0 < cz.0);
    }

    #[test]
    fn a_mirrored_measurement_makes_a_mirrored_map() {
        let head = head();
        let measured: Vec<f64> = head.flat().iter().map(|(x, y)| x.abs() * 3.0 - y).collect();
        let values = head.field(24).unwrap().values(&measured);
        let mut compared = 0;
        for row in values.chunks(24) {
            for (one, other) in row.iter().zip(row.iter().rev()).filter(|(one, _)| one.is_finite()) {
                assert!((one - other).abs() < 1e-6);
                compared += 1;
            }
        }
        assert!(compared > 300);
    }

    #[test]
    fn the_largest_value_is_where_it_was_measured() {
        let head = head();
        let names: Vec<&str> = BCI2000.split_whitespace().collect();
        let pz = names.iter().position(|name| *name == "Pz..").unwrap();
        let measured: Vec<f64> = (0..64).map(|sensor| if sensor == pz { 5.0 } else { 0.0 }).collect();
        let values = head.field(64).unwrap().values(&measured);
        let largest = (0..values.len()).filter(|&cell| values[cell].is_finite());
        let largest = largest.max_by(|&a, &b| values[a].total_cmp(&values[b])).unwrap();
        let (x, y) = head.dots()[pz];
        let found = ((largest % 64) as f64 / 64.0, (largest / 64) as f64 / 64.0);
        assert!(
            (found.0 - x).abs() < 0.03 && (found.1 - y).abs() < 0.03,
            "{found:?} instead of {:?}",
            (x, y)
        );
    }
}
