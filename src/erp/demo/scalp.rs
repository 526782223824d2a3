//! Where sensors sit, roughly: enough to let a response fade with the distance.

/// How well a sensor sees what is largest at another: 1 there, less with the distance. 0 where a name says no place.
pub(super) fn weight(name: &str, centre: &str, spread: f64) -> f64 {
    let (Some((x, y)), Some((to_x, to_y))) = (place(name), place(centre)) else { return 0.0 };
    let square = ((x - to_x).powi(2) + (y - to_y).powi(2)) / (spread * spread);
    (-0.5 * square).exp()
}

/// Where a sensor of the 10-10 system sits, in steps from Cz: letters say how far to the front, numbers how far to the side
/// (odd left, even right, z the middle).
fn place(name: &str) -> Option<(f64, f64)> {
    let name = name.to_lowercase();
    let letters = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == 'z');
    let front = match letters {
        "fp" => 4.0,
        "af" => 3.0,
        "f" => 2.0,
        "fc" | "ft" => 1.0,
        "c" | "t" => 0.0,
        "cp" | "tp" => -1.0,
        "p" => -2.0,
        "po" => -3.0,
        "o" => -4.0,
        "i" => -5.0,
        _ => return None,
    };
    let side = match &name[letters.len()..] {
        "z" => 0.0,
        number => {
            let number = number.parse::<u8>().ok().filter(|number| (1..=10).contains(number))?;
            let steps = f64::from(number.div_ceil(2));
            if number % 2 == 1 { -steps } else { steps }
        }
    };
    Some((side, front))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::erp::sensors::default_names;

    #[test]
    fn sensors_have_places() {
        assert_eq!(
            (place("Cz"), place("P4"), place("T9")),
            (Some((0.0, 0.0)), Some((2.0, -2.0)), Some((-5.0, 0.0)))
        );
        assert_eq!((place("S1"), place("P"), place("P11"), place("")), (None, None, None, None));
        assert!(default_names(64).iter().all(|name| place(name).is_some()));
        assert_eq!(weight("pz", "Pz", 1.0), 1.0);
        assert!(weight("P1", "Pz", 1.7) < 0.9 && weight("S1", "Pz", 1.7) == 0.0);
    }
}
