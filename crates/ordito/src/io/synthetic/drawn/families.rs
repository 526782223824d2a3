//! The families of `drawn:NUMBER` and `small:NUMBER`.

use crate::io::synthetic::drawn::{DRAW_STREAM, Drawn, Lengths, Places, SMALL_STREAM, between};
use crate::matrix::Random;

/// Families of both.
pub(super) const FAMILIES: u64 = 16;
/// Of `drawn`: about so many nonzeros, in so many rows.
const LEAST_NONZEROS: f64 = 2e3;
pub(super) const MOST_NONZEROS: f64 = 1.2e7;
const LEAST_ROWS: f64 = 1e3;
const MOST_ROWS: f64 = 1e7;
/// Of `small`.
const LEAST_OF_SMALL: f64 = 100.0;
const MOST_OF_SMALL: f64 = 3e5;

/// The matrix `drawn:NUMBER`.
pub(super) fn draw(number: u64, seed: u64) -> Drawn {
    draw_within(number, Random::new(seed, DRAW_STREAM + number), (LEAST_NONZEROS, MOST_NONZEROS), |_| {
        LEAST_ROWS
    })
}

/// The matrix `small:NUMBER`: with so many rows that one has half of the columns at most on average.
pub(super) fn draw_small(number: u64, seed: u64) -> Drawn {
    let least_rows = |nonzeros: f64| (2.0 * nonzeros).sqrt().max(8.0);
    draw_within(number, Random::new(seed, SMALL_STREAM + number), (LEAST_OF_SMALL, MOST_OF_SMALL), least_rows)
}

/// With so many nonzeros, in at least as many rows as these ask for.
fn draw_within(
    number: u64,
    mut random: Random,
    (least, most): (f64, f64),
    least_rows: impl Fn(f64) -> f64,
) -> Drawn {
    let random = &mut random;
    let mean = between(random, 0.5, 500.0);
    let few = between(random, 0.5, 8.0);
    let nonzeros = between(random, least, most);
    let least_rows = least_rows(nonzeros);
    let near = between(random, 4.0, 1e4) as u64;
    let square = |mean: f64, lengths: Lengths, places: Places| {
        let rows = (nonzeros / mean).clamp(least_rows, MOST_ROWS) as u64;
        Drawn { rows, cols: rows, mean: mean.min(rows as f64 / 2.0), lengths, places }
    };
    let mesh = |random: &mut Random, dimensions: u32, shuffled: bool| {
        let diagonals = random.below(2) == 1;
        let points = f64::from(if diagonals { 3_u32.pow(dimensions) } else { 2 * dimensions + 1 });
        let rows = (nonzeros / points).max(least_rows);
        let side = (1..)
            .find(|&side: &u64| side.saturating_pow(dimensions) as f64 > rows)
            .map_or(2, |side| side - 1);
        let of_side = side.max(2);
        let rows = of_side.pow(dimensions);
        let places = if shuffled {
            Places::ShuffledMesh { side: of_side, dimensions, diagonals }
        } else {
            Places::Mesh { side: of_side, dimensions, diagonals }
        };
        Drawn { rows, cols: rows, mean: points, lengths: Lengths::OfPlaces, places }
    };
    match number % FAMILIES {
        0 => square(mean, Lengths::Regular, Places::Anywhere),
        1 => square(mean, Lengths::Geometric, Places::Anywhere),
        2 => square(mean.min(100.0), Lengths::LogNormal(0.3 + 1.2 * random.unit()), Places::Near(near)),
        3 => square(mean.clamp(2.0, 60.0), Lengths::Pareto, Places::Left),
        4 => {
            // About as many nonzeros in long rows as in short ones, or fewer.
            let share = between(random, 0.02, 0.9);
            let rows = 1 + random.below((few / share) as u64 + 1).min(20);
            let dense = Lengths::FewDense { rows, share };
            square(few, dense, Places::Near(near))
        }
        5 => {
            let columns =
                Places::FewColumns { columns: 1 + random.below(30), share: 0.1 + 0.5 * random.unit() };
            square(2.0 * few, Lengths::Geometric, columns)
        }
        6 => square(mean.min(100.0), Lengths::Regular, Places::Band),
        7 => square(mean, Lengths::Regular, Places::Near(near.max(mean as u64))),
        8 => {
            let blocks = Places::Blocks { side: 2 + random.below(5), reach: near };
            square(mean.clamp(6.0, 120.0), Lengths::LogNormal(0.5 * random.unit()), blocks)
        }
        9 => mesh(random, 2, false),
        10 => mesh(random, 3, false),
        11 => {
            let dimensions = 2 + random.below(2) as u32;
            mesh(random, dimensions, true)
        }
        12 => {
            // More rows than columns, or fewer.
            let times = between(random, 0.05, 20.0);
            let wide = square(few, Lengths::Geometric, Places::Anywhere);
            Drawn { cols: (wide.rows as f64 * times).clamp(100.0, MOST_ROWS) as u64, ..wide }
        }
        13 => square(1.0 + few, Lengths::Geometric, Places::NearAndFar(near)),
        14 => {
            let clusters = Places::Clusters { rows: 4 << random.below(6), columns: (3.0 * mean) as u64 + 4 };
            square(mean.clamp(2.0, 200.0), Lengths::Geometric, clusters)
        }
        _ => {
            let lines = square(3.0, Lengths::OfPlaces, Places::Lines(near));
            Drawn { mean: 2.0 + random.unit(), ..lines }
        }
    }
}
