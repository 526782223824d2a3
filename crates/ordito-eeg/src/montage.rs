//! Where sensors sit on the head: the 10-10 system, computed from its rule.
//!
//! The head is a sphere. From nasion to inion over the vertex, and from ear to ear, every tenth of the way is a step; the
//! ring through Fpz, T7, Oz and T8, one step inside the ends, is its equator, as in most spherical models, so a step of these
//! two lines is 22.5°. The ring is cut into twenty equal parts, and every row of sensors (AF, F, FC, C, CP, P, PO) is the
//! circle through its two sensors on the ring and its middle one, each half cut into four.

use std::f64::consts::{FRAC_PI_2, PI};

/// A place on the unit sphere.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Position {
    /// To the right ear.
    pub x: f64,
    /// To the nose.
    pub y: f64,
    /// Upwards.
    pub z: f64,
}

/// A tenth of the way from nasion to inion, over the vertex.
pub(crate) const STEP: f64 = FRAC_PI_2 / 4.0;
/// Parts of the ring from Fpz to Oz.
const RING_PARTS: f64 = 10.0;

/// Rows across the head: name of the inner sensors, of those on the ring, steps in front of the vertex.
const ROWS: &[(&str, &str, f64)] = &[
    ("af", "af", 3.0),
    ("f", "f", 2.0),
    ("fc", "ft", 1.0),
    ("c", "t", 0.0),
    ("cp", "tp", -1.0),
    ("p", "p", -2.0),
    ("po", "po", -3.0),
];

/// What some sensors were called before.
const FORMER: &[(&str, &str)] = &[("t3", "t7"), ("t4", "t8"), ("t5", "p7"), ("t6", "p8")];

impl Position {
    /// `angle` from the vertex, in the direction that is `azimuth` to the left of the nose.
    fn polar(angle: f64, azimuth: f64) -> Self {
        Position { x: -angle.sin() * azimuth.sin(), y: angle.sin() * azimuth.cos(), z: angle.cos() }
    }

    /// On the other side of the head.
    fn mirrored(self) -> Self {
        Position { x: -self.x, ..self }
    }

    /// The place in a drawing of the head from above: distances from the vertex are kept (azimuthal equidistant), the
    /// ring has radius 1, the nose is at (0, 1).
    pub fn flat(self) -> (f64, f64) {
        let across = self.x.hypot(self.y);
        if across == 0.0 {
            return (0.0, 0.0);
        }
        let radius = across.atan2(self.z) / FRAC_PI_2;
        (radius * self.x / across, radius * self.y / across)
    }

    /// The place on the sphere that [`flat`](Self::flat) puts there.
    pub fn from_flat((x, y): (f64, f64)) -> Self {
        let radius = x.hypot(y);
        if radius == 0.0 {
            return Position { x: 0.0, y: 0.0, z: 1.0 };
        }
        let (sine, cosine) = (radius * FRAC_PI_2).sin_cos();
        Position { x: sine * x / radius, y: sine * y / radius, z: cosine }
    }

    /// The cosine of the angle between two places.
    pub fn dot(self, other: Self) -> f64 {
        self.x * other.x + self.y * other.y + self.z * other.z
    }
}

/// Where the 10-10 system puts a sensor of this name, in any case, dots at its end ignored; `None` for other names.
///
/// ```
/// use ordito_eeg::position;
/// assert_eq!(position("Cz").unwrap().z, 1.0);
/// assert_eq!(position("Fc5."), position("FC5"));
/// assert_eq!(position("T3"), position("T7"));
/// assert_eq!(position("VEOG"), None);
/// ```
pub fn position(name: &str) -> Option<Position> {
    let name = name.trim().trim_end_matches('.').to_ascii_lowercase();
    let name = FORMER.iter().find(|(former, _)| *former == name).map_or(name.as_str(), |(_, now)| now);
    if let Some(row) = name.strip_suffix('z') {
        return middle(row);
    }
    let digits = name.find(|character: char| character.is_ascii_digit())?;
    let (row, number) = name.split_at(digits);
    if number.starts_with('0') {
        return None;
    }
    let number: u32 = number.parse().ok()?;
    // Odd numbers are on the left, even ones opposite.
    match number % 2 {
        1 => left(row, number),
        _ => left(row, number.checked_sub(1)?).map(Position::mirrored),
    }
}

/// From nasion to inion.
fn middle(row: &str) -> Option<Position> {
    let ends = [("n", 5.0), ("fp", 4.0), ("o", -4.0), ("i", -5.0)];
    let inner = ROWS.iter().map(|&(row, _, steps)| (row, steps));
    let steps = inner.chain(ends).find(|(name, _)| *name == row)?.1;
    let (sine, cosine) = (steps * STEP).sin_cos();
    Some(Position { x: 0.0, y: sine, z: cosine })
}

/// On the left: 1, 3, 5 between the middle and the ring, 7 on it, 9 a step below.
fn left(row: &str, number: u32) -> Option<Position> {
    let ring = |part: f64| Position::polar(4.0 * STEP, part * PI / RING_PARTS);
    let below = |part: f64| Position::polar(5.0 * STEP, part * PI / RING_PARTS);
    match (row, number) {
        ("fp", 1) => return Some(ring(1.0)),
        ("o", 1) => return Some(ring(9.0)),
        ("o", 9) => return Some(below(9.0)),
        _ => {}
    }
    let wanted =
        |(inner, outer, _): &&(&str, &str, f64)| if number < 7 { *inner == row } else { *outer == row };
    let &(inner, _, steps) = ROWS.iter().find(wanted)?;
    let part = 5.0 - steps;
    match number {
        1 | 3 | 5 => Some(between(middle(inner)?, ring(part), f64::from(number.div_ceil(2)) / 4.0)),
        7 => Some(ring(part)),
        9 => Some(below(part)),
        _ => None,
    }
}

/// On the circle through `middle`, `end` and its mirror image, at a share of the way from `middle` to `end`.
fn between(middle: Position, end: Position, share: f64) -> Position {
    // Seen in the plane of the circle: its chord from ear to ear has half the length a, and the middle is h above it.
    let (a, h) = (end.x.abs(), (middle.y - end.y).hypot(middle.z - end.z));
    let centre = (h * h - a * a) / (2.0 * h);
    let radius = h - centre;
    let (sine, cosine) = (share * a.atan2(-centre)).sin_cos();
    let up = (centre + radius * cosine) / h;
    Position {
        x: radius * sine * end.x.signum(),
        y: end.y + up * (middle.y - end.y),
        z: end.z + up * (middle.z - end.z),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// The 64 sensors of BCI2000, as its recordings write them.
    pub(crate) const BCI2000: &str = "Fc5. Fc3. Fc1. Fcz. Fc2. Fc4. Fc6. C5.. C3.. C1.. Cz.. C2.. C4.. C6.. Cp5. \
        Cp3. Cp1. Cpz. Cp2. Cp4. Cp6. Fp1. Fpz. Fp2. Af7. Af3. Afz. Af4. Af8. F7.. F5.. F3.. F1.. Fz.. F2.. F4.. F6.. F8.. \
        Ft7. Ft8. T7.. T8.. T9.. T10. Tp7. Tp8. P7.. P5.. P3.. P1.. Pz.. P2.. P4.. P6.. P8.. Po7. Po3. Poz. Po4. Po8. O1.. \
        Oz.. O2.. Iz..";

    fn at(name: &str) -> Position {
        position(name).unwrap_or_else(|| panic!("{name} has no position"))
    }

    fn distance(one: Position, other: Position) -> f64 {
        (one.x - other.x).hypot(one.y - other.y).hypot(one.z - other.z)
    }

    /// Every name of the system on the left, with its mirror image.
    fn pairs() -> Vec<(String, String)> {
        let mut pairs =
            vec![("Fp1".into(), "Fp2".into()), ("O1".into(), "O2".into()), ("O9".into(), "O10".into())];
        for (inner, outer, _) in ROWS {
            for number in [1, 3, 5, 7, 9] {
                let row = if number < 7 { inner } else { outer };
                pairs.push((format!("{row}{number}"), format!("{row}{}", number + 1)));
            }
        }
        pairs
    }

    #[test]
    fn left_and_right_mirror_each_other_on_the_sphere() {
        for (left, right) in pairs() {
            let (left, right) = (at(&left), at(&right));
            assert!(left.x < -0.05 && left.mirrored() == right, "{left:?} {right:?}");
            assert!((left.dot(left) - 1.0).abs() < 1e-14, "{left:?}");
        }
    }

    #[test]
    fn the_midline_is_in_the_middle_and_in_order() {
        let names = ["Nz", "Fpz", "AFz", "Fz", "FCz", "Cz", "CPz", "Pz", "POz", "Oz", "Iz"];
        let flat: Vec<(f64, f64)> = names.iter().map(|name| at(name).flat()).collect();
        assert!(flat.iter().all(|place| place.0 == 0.0));
        for pair in flat.windows(2) {
            assert!((pair[0].1 - pair[1].1 - 0.25).abs() < 1e-12, "{pair:?}");
        }
        assert_eq!(at("Cz"), Position { x: 0.0, y: 0.0, z: 1.0 });
    }

    #[test]
    fn rows_go_from_the_left_to_the_right_in_equal_steps() {
        for names in [
            ["F7", "F5", "F3", "F1", "Fz", "F2", "F4", "F6", "F8"],
            ["FT7", "FC5", "FC3", "FC1", "FCz", "FC2", "FC4", "FC6", "FT8"],
            ["T7", "C5", "C3", "C1", "Cz", "C2", "C4", "C6", "T8"],
            ["PO7", "PO5", "PO3", "PO1", "POz", "PO2", "PO4", "PO6", "PO8"],
        ] {
            let row = names.map(at);
            let steps: Vec<f64> = row.windows(2).map(|pair| distance(pair[0], pair[1])).collect();
            assert!(row.windows(2).all(|pair| pair[0].x < pair[1].x));
            assert!(steps.iter().all(|step| (step - steps[0]).abs() < 1e-12), "{steps:?}");
        }
        // The row through the vertex is a great circle: C3 is half way down to the equator.
        assert!(distance(at("C3"), Position::polar(PI / 4.0, PI / 2.0)) < 1e-12);
        let ring = ["Fpz", "Fp1", "AF7", "F7", "FT7", "T7", "TP7", "P7", "PO7", "O1", "Oz"].map(at);
        assert!(ring.iter().all(|place| place.z.abs() < 1e-12));
        assert!(ring.windows(2).all(|pair| (pair[0].dot(pair[1]) - (PI / 10.0).cos()).abs() < 1e-12));
    }

    #[test]
    fn the_sensors_of_bci2000_have_places_of_their_own() {
        let places: Vec<Position> = BCI2000.split_whitespace().map(at).collect();
        assert_eq!(places.len(), 64);
        for (index, &one) in places.iter().enumerate() {
            assert!(places[..index].iter().all(|&other| distance(one, other) > 0.1), "{index}");
        }
    }

    #[test]
    fn former_names_are_known_and_others_are_not() {
        for (former, now) in [("T3", "T7"), ("T4", "T8"), ("t5", "P7"), ("T6.", "P8"), (" fz ", "FZ")] {
            assert_eq!(at(former), at(now));
        }
        for unknown in [
            "",
            ".",
            "z",
            "7",
            "C7",
            "C0",
            "C01",
            "Tz",
            "T1",
            "F11",
            "F99999999999",
            "A1",
            "HEOG",
            "行列",
            "Fz-Cz",
        ] {
            assert_eq!(position(unknown), None, "{unknown}");
        }
    }

    #[test]
    fn flat_and_back_is_the_same_place() {
        for name in BCI2000.split_whitespace() {
            assert!(distance(Position::from_flat(at(name).flat()), at(name)) < 1e-12, "{name}");
        }
    }
}
