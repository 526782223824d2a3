//! What lies between the sensors: spherical splines (Perrin, Pernier, Bertrand and Echallier 1989), the smoothest field on
//! the sphere that has the measured value at every sensor.

use crate::montage::Position;
use std::f64::consts::PI;

/// The order m of the splines; 4 is what the paper recommends.
const ORDER: i32 = 4;
/// Terms of the Legendre series. They shrink like n to the power 1 − 2m: after 50 they are below 1e-12 of the first.
const TERMS: u32 = 50;

/// For every place, how much each sensor counts there: places × sensors, row after row. `None` where no sensor is there
/// or where two share a place.
pub(crate) fn weights(sensors: &[Position], places: &[Position]) -> Option<Vec<f64>> {
    let count = sensors.len();
    let size = count + 1;
    // A value is Σ cᵢ·g(cos angle to sensor i) + c₀, with Σ cᵢ = 0, and what was measured at the sensors.
    let mut matrix = vec![0.0; size * size];
    for (row, &one) in sensors.iter().enumerate() {
        for (col, &other) in sensors.iter().enumerate() {
            matrix[row * size + col] = basis(one.dot(other));
        }
        matrix[row * size + count] = 1.0;
        matrix[count * size + row] = 1.0;
    }
    if count == 0 {
        return None;
    }
    let inverse = inverse(matrix, size)?;
    let mut weights = Vec::with_capacity(places.len() * count);
    for &place in places {
        let mut terms: Vec<f64> = sensors.iter().map(|&sensor| basis(place.dot(sensor))).collect();
        terms.push(1.0);
        // The matrix is symmetric, and so is its inverse: rows may be taken for columns.
        let row = |sensor: usize| &inverse[sensor * size..(sensor + 1) * size];
        weights
            .extend((0..count).map(|sensor| row(sensor).iter().zip(&terms).map(|(a, b)| a * b).sum::<f64>()));
    }
    Some(weights)
}

/// g(x) of the paper: Σ (2n + 1) / (n(n + 1))ᵐ · Pₙ(x) / 4π.
fn basis(x: f64) -> f64 {
    let x = x.clamp(-1.0, 1.0);
    let (mut before, mut legendre, mut sum) = (1.0, x, 0.0);
    for n in 1..=TERMS {
        let n = f64::from(n);
        sum += (2.0 * n + 1.0) / (n * (n + 1.0)).powi(ORDER) * legendre;
        (before, legendre) = (legendre, ((2.0 * n + 1.0) * x * legendre - n * before) / (n + 1.0));
    }
    sum / (4.0 * PI)
}

/// Gauss and Jordan with row pivoting; `None` where the matrix is singular.
fn inverse(mut matrix: Vec<f64>, size: usize) -> Option<Vec<f64>> {
    let mut inverse = vec![0.0; size * size];
    for index in 0..size {
        inverse[index * size + index] = 1.0;
    }
    let largest = matrix.iter().fold(0.0, |most: f64, value| most.max(value.abs()));
    for col in 0..size {
        let height = |row: &usize| matrix[row * size + col].abs();
        let pivot = (col..size).max_by(|one, other| height(one).total_cmp(&height(other)))?;
        let is_regular = height(&pivot) > largest * 1e-14; // not so where it is NaN
        if !is_regular {
            return None;
        }
        for row in 0..size {
            matrix.swap(pivot * size + row, col * size + row);
            inverse.swap(pivot * size + row, col * size + row);
        }
        let scale = 1.0 / matrix[col * size + col];
        for index in col * size..(col + 1) * size {
            matrix[index] *= scale;
            inverse[index] *= scale;
        }
        for row in (0..size).filter(|&row| row != col) {
            let factor = matrix[row * size + col];
            for index in 0..size {
                matrix[row * size + index] -= factor * matrix[col * size + index];
                inverse[row * size + index] -= factor * inverse[col * size + index];
            }
        }
    }
    Some(inverse)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::montage::position;
    use crate::montage::tests::BCI2000;

    fn sensors() -> Vec<Position> {
        BCI2000.split_whitespace().map(|name| position(name).unwrap()).collect()
    }

    fn values(weights: &[f64], measured: &[f64]) -> Vec<f64> {
        weights.chunks(measured.len()).map(|row| row.iter().zip(measured).map(|(a, b)| a * b).sum()).collect()
    }

    /// Places all over the head.
    fn places() -> Vec<Position> {
        (0..200)
            .map(|n| f64::from(n) * 0.7)
            .map(|n| Position::from_flat((n.sin() * 0.9, (n * 1.7).cos() * 0.5)))
            .collect()
    }

    #[test]
    fn the_sensors_keep_what_they_measured() {
        let sensors = sensors();
        let measured: Vec<f64> = (0..64).map(|n| f64::from(n * n % 17) - 8.0).collect();
        let again = values(&weights(&sensors, &sensors).unwrap(), &measured);
        for (one, other) in again.iter().zip(&measured) {
            assert!((one - other).abs() < 1e-6, "{one} instead of {other}");
        }
    }

    #[test]
    fn a_constant_stays_constant() {
        for value in values(&weights(&sensors(), &places()).unwrap(), &[3.5; 64]) {
            assert!((value - 3.5).abs() < 1e-6, "{value}");
        }
    }

    #[test]
    fn a_smooth_field_is_found_between_the_sensors() {
        let field = |place: Position| 2.0 * place.z + place.x - place.x * place.y;
        let sensors = sensors();
        let measured: Vec<f64> = sensors.iter().map(|&sensor| field(sensor)).collect();
        for (place, value) in
            places().into_iter().zip(values(&weights(&sensors, &places()).unwrap(), &measured))
        {
            assert!((value - field(place)).abs() < 0.01, "{place:?}: {value} instead of {}", field(place));
        }
    }

    #[test]
    fn what_mirrors_itself_at_the_sensors_does_so_everywhere() {
        let sensors = sensors();
        let measured: Vec<f64> = sensors.iter().map(|s| (s.x.abs() * 9.0).sin() + s.y * s.y + s.z).collect();
        let other_side: Vec<Position> =
            places().iter().map(|&place| Position { x: -place.x, ..place }).collect();
        let one = values(&weights(&sensors, &places()).unwrap(), &measured);
        let other = values(&weights(&sensors, &other_side).unwrap(), &measured);
        assert!(one.iter().zip(&other).all(|(a, b)| (a - b).abs() < 1e-6));
    }

    #[test]
    fn without_places_of_their_own_there_is_nothing() {
        let cz = position("Cz").unwrap();
        assert_eq!(weights(&[], &[cz]), None);
        assert_eq!(weights(&[cz, cz], &[cz]), None);
        assert_eq!(weights(&[cz], &places()[..2]).map(|w| w.len()), Some(2));
    }
}
