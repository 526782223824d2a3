//! How a response fades with the distance on the head.

use crate::montage::{STEP, position};

/// How well a sensor sees what is largest at another: 1 there, less with the angle between them. `spread` is a standard
/// deviation in steps from one sensor to the next. 0 where a name says no place.
pub(crate) fn weight(name: &str, centre: &str, spread: f64) -> f64 {
    let (Some(here), Some(there)) = (position(name), position(centre)) else { return 0.0 };
    let steps = here.dot(there).clamp(-1.0, 1.0).acos() / STEP;
    (-0.5 * (steps / spread).powi(2)).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_farther_away_is_seen_less() {
        assert!((weight("pz", "Pz", 1.0) - 1.0).abs() < 1e-6);
        let one_step = (-0.5f64 / (1.7 * 1.7)).exp();
        assert!((weight("CPz", "Pz", 1.7) - one_step).abs() < 1e-6);
        let seen = ["Pz", "P1", "P3", "P7", "Fpz"].map(|name| weight(name, "Pz", 1.7));
        assert!(seen.windows(2).all(|pair| pair[1] < pair[0]), "{seen:?}");
        assert_eq!(weight("S1", "Pz", 1.7), 0.0);
    }
}
