//! The families of `sketched:NUMBER`: what networks, the web, optimization and topology bring, mostly small.

use crate::io::synthetic::drawn::{Drawn, Lengths, Places, SKETCH_STREAM, between};
use crate::io::synthetic::graphs::{Network, Web};
use crate::matrix::Random;

pub(super) const FAMILIES: u64 = 12;
/// About so many nonzeros.
const LEAST_NONZEROS: f64 = 200.0;
const MOST_NONZEROS: f64 = 3e6;
/// Points of more than three dimensions, of which some are near to many: finding neighbours takes long.
const MOST_POINTS: f64 = 6e3;

/// The matrix of that number.
pub(super) fn draw(number: u64, seed: u64) -> Drawn {
    let mut random = Random::new(seed, SKETCH_STREAM + number);
    let random = &mut random;
    let nonzeros = between(random, LEAST_NONZEROS, MOST_NONZEROS);
    let near = between(random, 2.0, 1e3) as u64;
    let square = |mean: f64, lengths: Lengths, places: Places| {
        let rows = (nonzeros / mean).max(16.0) as u64;
        Drawn { rows, cols: rows, mean: mean.min(rows as f64 / 2.0), lengths, places }
    };
    let nearest = |random: &mut Random, dimensions: u64, in_order: bool, most: f64| {
        let degree = between(random, 3.0, 20.0);
        // The other side's neighbours are half as many again.
        let rows = (nonzeros / (1.5 * degree)).clamp(32.0, most) as u64;
        let places = Places::Nearest { degree: degree as u64, dimensions, in_order };
        Drawn { rows, cols: rows, mean: degree, lengths: Lengths::OfPlaces, places }
    };
    match number % FAMILIES {
        0 => {
            let in_order = random.below(2) == 1;
            nearest(random, 2, in_order, f64::INFINITY)
        }
        1 => {
            let in_order = random.below(2) == 1;
            nearest(random, 3, in_order, f64::INFINITY)
        }
        2 => {
            let dimensions = between(random, 4.0, 40.0) as u64;
            nearest(random, dimensions, false, MOST_POINTS)
        }
        3 => {
            let web = Web { host: between(random, 20.0, 500.0) as u64, copied: 0.4 + 0.5 * random.unit() };
            let mean = between(random, 3.0, 30.0);
            square(mean, Lengths::LogNormal(0.8 + 0.6 * random.unit()), Places::Web(web))
        }
        4 => {
            let network = Network {
                reach: near,
                links: 1.0 + random.unit(),
                far: 0.0,
                side: 1 + random.below(2),
                shuffled: false,
            };
            let mean = (1.0 + 2.0 * network.links) * network.side as f64;
            square(mean, Lengths::OfPlaces, Places::Network(network))
        }
        5 => {
            let network = Network {
                reach: near,
                links: 1.0 + 4.0 * random.unit(),
                far: random.unit(),
                side: 1,
                shuffled: true,
            };
            square(1.0 + 2.0 * network.links, Lengths::OfPlaces, Places::Network(network))
        }
        6 => bounded(random, nonzeros, near, |mean| (Lengths::Geometric, mean)),
        7 => {
            let share = between(random, 0.02, 1.0);
            let rows = 1 + random.below(20);
            bounded(random, nonzeros, near, |mean| (Lengths::FewDense { rows, share }, mean))
        }
        8 => {
            let share = 0.2 + 0.7 * random.unit();
            let places = if random.below(2) == 1 { Places::Left } else { Places::Anywhere };
            square(between(random, 1.0, 6.0), Lengths::ManyEmpty(share), places)
        }
        9 => {
            // Small and rather full.
            let rows = between(random, 16.0, 3e3);
            let mean = (rows * between(random, 0.01, 0.3)).max(2.0);
            let places = match random.below(4) {
                0 => Places::Anywhere,
                1 => Places::Left,
                2 => Places::Near(near),
                _ => Places::FewColumns { columns: 1 + random.below(30), share: 0.1 + 0.5 * random.unit() },
            };
            let lengths = Lengths::LogNormal(0.1 + random.unit());
            Drawn { rows: rows as u64, cols: rows as u64, mean, lengths, places }
        }
        10 => {
            // Boundaries of simplices: as many faces each.
            let faces = square(between(random, 3.0, 40.0).floor(), Lengths::Regular, Places::Anywhere);
            let times = between(random, 0.3, 8.0);
            Drawn { cols: (faces.rows as f64 * times).max(faces.mean) as u64, ..faces }
        }
        _ => {
            let lengths = Lengths::LogNormal(0.6 + random.unit());
            square(between(random, 3.0, 40.0), lengths, Places::NearAndFar(near))
        }
    }
}

/// Constraints of an optimization: equations, then bounds.
fn bounded(random: &mut Random, nonzeros: f64, near: u64, lengths: impl Fn(f64) -> (Lengths, f64)) -> Drawn {
    let (lengths, mean) = lengths(between(random, 1.0, 6.0));
    let share = 0.2 + 0.8 * random.unit();
    let rows = (nonzeros / (share * mean + 1.0 - share)).max(16.0);
    let equations = (rows * share) as u64;
    let cols = (rows * (0.3 + 0.7 * random.unit())) as u64;
    // Anywhere, for some.
    let reach = if random.below(3) == 0 { cols } else { near };
    Drawn { rows: rows as u64, cols, mean, lengths, places: Places::Bounded { equations, reach } }
}
