//! Which part of every pixel an area covers. Rows of pixels are cut into thin ones. Where edges cross the middle of a thin row is
//! known to a fraction of a pixel, and the rule tells which of the stretches between them are inside.

use crate::frame::Spot;

/// Steps of how much of a pixel is covered. Finer ones nobody sees, and files are two thirds larger: 1.28 MB of all figures of
/// `gallery.rs` so, 2.15 MB with 255.
const STEPS: f32 = 16.0;

/// Thin rows of a row of pixels. Nearly all edges lie at tenths of a unit, which are fifths of a pixel: none in the middle of a thin row.
const THIN: usize = 10;

/// What is inside of rings that cross or lie within one another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rule {
    /// What they do not go around as often one way as the other.
    NonZero,
    /// What lies within an odd number of them.
    EvenOdd,
}

/// The part of an edge that crosses thin rows of the picture.
struct Edge {
    first: usize,
    end: usize,
    /// Where it crosses the row that is drawn, in pixels, and how much further the next one.
    x: f64,
    step: f64,
    /// 1 downwards, -1 upwards.
    winding: i32,
}

/// What is within rings.
pub(super) struct Area {
    edges: Vec<Edge>,
    thin_rows: f64,
}

impl Area {
    /// Nothing, on a picture so many pixels high. What is drawn above and below of it takes no memory.
    pub(super) fn new(height: usize) -> Self {
        Area { edges: Vec::new(), thin_rows: (height * THIN) as f64 }
    }

    /// With what lies within places, in pixels, of which the last is joined to the first.
    pub(super) fn ring(&mut self, places: impl Iterator<Item = Spot> + Clone) {
        let Some(mut from) = places.clone().last() else { return };
        for to in places {
            self.edge(from, to);
            from = to;
        }
    }

    fn edge(&mut self, from: Spot, to: Spot) {
        let (top, bottom, winding) = if from.1 <= to.1 { (from, to, 1) } else { (to, from, -1) };
        let [above, below] = [top.1, bottom.1].map(|y| y * THIN as f64 - 0.5);
        let [first, end] = [above, below].map(|y| y.ceil().clamp(0.0, self.thin_rows));
        if first < end {
            let step = (bottom.0 - top.0) / (below - above);
            let x = top.0 + (first - above) * step;
            self.edges.push(Edge { first: first as usize, end: end as usize, x, step, winding });
        }
    }

    /// For each row that the area touches, from top to bottom: its number, the first pixel, and how much of this one and of those
    /// that follow is covered, in 255ths.
    pub(super) fn rows(mut self, width: usize, rule: Rule, mut row: impl FnMut(usize, usize, &[u8])) {
        self.edges.sort_unstable_by_key(|edge| edge.first);
        let mut next = self.edges.into_iter().peekable();
        let mut crossed: Vec<Edge> = Vec::new();
        let mut cover = Cover::new(width);
        let mut thin = 0;
        while let Some(first) =
            if crossed.is_empty() { next.peek().map(|edge| edge.first) } else { Some(thin) }
        {
            if first / THIN != thin / THIN {
                cover.hand_over(thin / THIN, &mut row);
            }
            thin = first;
            while let Some(edge) = next.next_if(|edge| edge.first == thin) {
                crossed.push(edge);
            }
            crossed.sort_by(|one, other| one.x.total_cmp(&other.x));
            stretches(&crossed, rule, |from, to| cover.add(from, to));
            crossed.retain_mut(|edge| {
                edge.x += edge.step;
                edge.end > thin + 1
            });
            thin += 1;
            if thin % THIN == 0 {
                cover.hand_over(thin / THIN - 1, &mut row);
            }
        }
        cover.hand_over(thin / THIN, &mut row);
    }
}

/// From where to where a thin row is inside, by the edges that cross it, from left to right.
fn stretches(crossed: &[Edge], rule: Rule, mut inside: impl FnMut(f64, f64)) {
    let is_inside = |winding: i32| match rule {
        Rule::NonZero => winding != 0,
        Rule::EvenOdd => winding % 2 != 0,
    };
    let (mut winding, mut from) = (0, 0.0);
    for edge in crossed {
        let was_inside = is_inside(winding);
        winding += edge.winding;
        match (was_inside, is_inside(winding)) {
            (false, true) => from = edge.x,
            (true, false) => inside(from, edge.x),
            _ => {}
        }
    }
}

/// How much thin rows cover of a row of pixels.
struct Cover {
    /// How much more than of the pixel before, in thin rows.
    more: Vec<f32>,
    /// Pixels of which something is covered.
    first: usize,
    end: usize,
    covered: Vec<u8>,
}

impl Cover {
    fn new(width: usize) -> Self {
        Cover { more: vec![0.0; width + 2], first: usize::MAX, end: 0, covered: Vec::with_capacity(width) }
    }

    fn width(&self) -> usize {
        self.more.len() - 2
    }

    /// A thin row, from here to there.
    fn add(&mut self, from: f64, to: f64) {
        let [from, to] = [from, to].map(|x| x.clamp(0.0, self.width() as f64));
        if from.is_nan() || to.is_nan() || from >= to {
            return;
        }
        for (x, sign) in [(from, 1.0), (to, -1.0)] {
            let pixel = x as usize;
            let part = (x - pixel as f64) as f32;
            self.more[pixel] += sign * (1.0 - part);
            self.more[pixel + 1] += sign * part;
        }
        self.first = self.first.min(from as usize);
        self.end = self.end.max(to.ceil() as usize);
    }

    /// Empties it.
    fn hand_over(&mut self, number: usize, row: &mut impl FnMut(usize, usize, &[u8])) {
        if self.first >= self.end {
            return;
        }
        let mut thin_rows = 0.0;
        self.covered.clear();
        self.covered.extend(self.more[self.first..self.end].iter().map(|more| {
            thin_rows += more;
            // A half more and cut off: rounded, without a call for every pixel.
            let steps = (thin_rows * (STEPS / THIN as f32) + 0.5) as u8;
            (f32::from(steps) * (255.0 / STEPS) + 0.5) as u8
        }));
        row(number, self.first, &self.covered);
        self.more[self.first..self.end + 2].fill(0.0);
        (self.first, self.end) = (usize::MAX, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rectangle(left: f64, top: f64, right: f64, bottom: f64) -> [Spot; 4] {
        [(left, top), (right, top), (right, bottom), (left, bottom)]
    }

    /// What is covered of 12 by 8 pixels.
    fn covered(rings: &[&[Spot]], rule: Rule) -> [[u8; 12]; 8] {
        let mut area = Area::new(8);
        for ring in rings {
            area.ring(ring.iter().copied());
        }
        let mut pixels = [[0; 12]; 8];
        area.rows(12, rule, |row, first, covered| {
            assert!(pixels[row] == [0; 12], "row {row} twice");
            pixels[row][first..first + covered.len()].copy_from_slice(covered);
        });
        pixels
    }

    #[test]
    fn a_pixel_is_as_dark_as_it_is_covered() {
        let pixels = covered(&[&rectangle(2.5, 1.5, 9.25, 6.2)], Rule::NonZero);
        let is_near = |covered: u8, part: f64, most: f64| (f64::from(covered) - 255.0 * part).abs() <= most;
        for col in 3..9 {
            assert!(is_near(pixels[1][col], 0.5, 2.0) && pixels[2][col] == 255, "{:?}", pixels[1]);
            // To sixteenths.
            assert!(is_near(pixels[6][col], 0.2, 8.0), "{:?}", pixels[6]);
        }
        assert!(is_near(pixels[3][2], 0.5, 2.0) && is_near(pixels[3][9], 0.25, 2.0), "{:?}", pixels[3]);
        assert!(is_near(pixels[1][2], 0.25, 8.0) && pixels[0] == [0; 12] && pixels[7] == [0; 12]);
        assert!(pixels.iter().all(|row| row[..2] == [0; 2] && row[10..] == [0; 2]));
        // Below a diagonal.
        let pixels = covered(&[&[(0.0, 0.0), (8.0, 8.0), (0.0, 8.0)]], Rule::NonZero);
        assert!((0..8).all(|place| is_near(pixels[place][place], 0.5, 2.0)), "{pixels:?}");
        assert!(pixels[5][4] == 255 && pixels[5][6] == 0);
    }

    #[test]
    fn rules_differ_where_rings_overlap() {
        let (around, hole) = (rectangle(1.0, 1.0, 11.0, 7.0), rectangle(4.0, 3.0, 8.0, 5.0));
        let mut other_way = hole;
        other_way.reverse();
        let middle = |rings: &[&[Spot]], rule| {
            let pixels = covered(rings, rule);
            assert_eq!((pixels[2][2], pixels[0][0]), (255, 0));
            pixels[4][6]
        };
        assert_eq!(middle(&[&around, &hole], Rule::NonZero), 255);
        assert_eq!(middle(&[&around, &other_way], Rule::NonZero), 0);
        assert_eq!(middle(&[&around, &hole], Rule::EvenOdd), 0);
        assert_eq!(middle(&[&around, &hole, &hole], Rule::EvenOdd), 255);
        // Twice the same half of a pixel is half of it.
        let half = rectangle(1.0, 1.5, 11.0, 7.0);
        let twice = covered(&[&half, &half], Rule::NonZero);
        assert_eq!(twice, covered(&[&half], Rule::NonZero));
    }

    #[test]
    fn what_is_outside_of_the_picture_does_nothing() {
        let nothing = [[0; 12]; 8];
        for far in [13.0, 1e6, 1e15, f64::MAX] {
            let places = [(0.0, -far), (3.0, -1.5 * far), (1.0, -9.0)];
            assert_eq!(covered(&[&places], Rule::NonZero), nothing);
            for beside in [rectangle(-far - 9.0, 1.0, -1.0, 6.0), rectangle(12.0, 1.0, 12.0 + far, 6.0)] {
                assert_eq!(covered(&[&beside], Rule::NonZero), nothing);
            }
            assert_eq!(covered(&[&rectangle(1.0, 8.0, 6.0, 8.0 + far)], Rule::NonZero), nothing);
        }
        for all in [30.0, 1e6, 1e9] {
            let pixels = covered(&[&rectangle(-all, -all, all, all)], Rule::NonZero);
            assert_eq!(pixels, [[255; 12]; 8]);
        }
        assert_eq!(covered(&[&[], &[(1.0, 1.0)], &[(1.0, 1.0), (5.0, 5.0)]], Rule::NonZero), nothing);
        // Nothing sound, but no panic either.
        covered(&[&[(f64::NAN, 1.0), (f64::INFINITY, f64::NEG_INFINITY), (3.0, f64::NAN)]], Rule::NonZero);
    }
}
