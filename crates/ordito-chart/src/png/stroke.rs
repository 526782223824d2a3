//! Lines with a width as areas: a rectangle along every stretch, a wedge outside of every corner. All of them turn the same way
//! round, so that what lies in several of them is inside.

use super::path::{Path, Polyline, arc};
use crate::frame::Spot;
use crate::ink::Line;

/// A corner as sharp as this has no tip: it would reach further than four times half the width. It is SVG's.
const MITER_LIMIT: f64 = 4.0;
/// Places as close as this are one: their direction would be chance.
const SAME: f64 = 1e-3;
/// More dashes than this are drawn as a line without gaps.
const MOST_DASHES: f64 = 1e6;

/// Hands over the areas, ring by ring, that a line along a path consists of. Its ends are where the path's are.
pub(super) fn stroke(path: &Path, line: &Line, mut ring: impl FnMut(&[Spot])) {
    let mut along = |course: &Course| course.areas(line.width / 2.0, line.round, &mut ring);
    for polyline in &path.0 {
        let course = Course::new(polyline);
        match dashes(&course, line.dashes) {
            Some(dashes) => dashes.iter().for_each(&mut along),
            None => along(&course),
        }
    }
}

/// Places that follow one another, none twice, and the directions between them, whose length is 1.
struct Course {
    places: Vec<Spot>,
    directions: Vec<Spot>,
    lengths: Vec<f64>,
    is_closed: bool,
}

impl Course {
    fn new(line: &Polyline) -> Self {
        let first = line.places.first().filter(|_| line.is_closed);
        let mut course = Course {
            places: Vec::with_capacity(line.places.len() + 1),
            directions: Vec::with_capacity(line.places.len()),
            lengths: Vec::with_capacity(line.places.len()),
            is_closed: line.is_closed,
        };
        for &place in line.places.iter().chain(first) {
            course.go(place);
        }
        course
    }

    fn go(&mut self, to: Spot) {
        if let Some(from) = self.places.last() {
            let (x, y) = (to.0 - from.0, to.1 - from.1);
            let length = x.hypot(y);
            if length.is_nan() || length <= SAME {
                return;
            }
            self.directions.push((x / length, y / length));
            self.lengths.push(length);
        }
        self.places.push(to);
    }

    fn areas(&self, radius: f64, round: bool, ring: &mut impl FnMut(&[Spot])) {
        for (ends, &(x, y)) in self.places.windows(2).zip(&self.directions) {
            let (across, down) = (-y * radius, x * radius);
            let beside = |(x, y): Spot, side: f64| (x + side * across, y + side * down);
            ring(&[beside(ends[0], 1.0), beside(ends[1], 1.0), beside(ends[1], -1.0), beside(ends[0], -1.0)]);
        }
        for (directions, &place) in self.directions.windows(2).zip(&self.places[1.min(self.places.len())..]) {
            corner(place, directions[0], directions[1], radius, round, ring);
        }
        if let (true, Some(&last), Some(&first)) =
            (self.is_closed, self.directions.last(), self.directions.first())
        {
            corner(self.places[0], last, first, radius, round, ring);
        }
    }
}

/// The wedge between the two rectangles that meet at a place, on the side where there is a gap between them.
fn corner(place: Spot, before: Spot, after: Spot, radius: f64, round: bool, ring: &mut impl FnMut(&[Spot])) {
    let turn = before.0 * after.1 - before.1 * after.0;
    let same = before.0 * after.0 + before.1 * after.1;
    let side = if turn > 0.0 { -radius } else { radius };
    let [from, to] = [before, after].map(|(x, y)| (-y * side, x * side));
    let mut wedge = vec![(0.0, 0.0)];
    if round {
        wedge.extend(arc(from, -same.clamp(-1.0, 1.0).acos().copysign(side)));
    } else {
        wedge.push(from);
        // From the place to the tip it is 1 / cos(half the turn) times as far as to the side.
        if (1.0 + same) / 2.0 >= MITER_LIMIT.powi(-2) {
            wedge.push(((from.0 + to.0) / (1.0 + same), (from.1 + to.1) / (1.0 + same)));
        }
    }
    wedge.push(to);
    if side < 0.0 {
        wedge.reverse();
    }
    for (x, y) in &mut wedge {
        (*x, *y) = (place.0 + *x, place.1 + *y);
    }
    ring(&wedge);
}

/// What is drawn of a course; `None`: all of it.
fn dashes(course: &Course, lengths: &[u8]) -> Option<Vec<Course>> {
    let period: f64 = lengths.iter().copied().map(f64::from).sum();
    let whole: f64 = course.lengths.iter().sum();
    if !(period > 0.0 && whole / period * lengths.len() as f64 <= MOST_DASHES) {
        return None;
    }
    let begin = |place: Spot| Course {
        places: vec![place],
        directions: Vec::new(),
        lengths: Vec::new(),
        is_closed: false,
    };
    // Odd ones are gaps.
    let mut turns = lengths.iter().cycle().copied().map(f64::from).enumerate();
    let (mut turn, mut left) = turns.next()?;
    let mut drawn = Vec::new();
    let mut dash = begin(*course.places.first()?);
    for ((ends, (x, y)), length) in course.places.windows(2).zip(&course.directions).zip(&course.lengths) {
        let mut gone = 0.0;
        while gone + left < *length {
            gone += left;
            let place = (ends[0].0 + gone * x, ends[0].1 + gone * y);
            dash.go(place);
            let done = std::mem::replace(&mut dash, begin(place));
            if turn % 2 == 0 {
                drawn.push(done);
            }
            (turn, left) = turns.next()?;
        }
        left -= length - gone;
        dash.go(ends[1]);
    }
    if turn % 2 == 0 {
        drawn.push(dash);
    }
    Some(drawn)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ink::WHITE;

    const PLAIN: Line = Line { colour: WHITE, width: 4.0, strength: 1.0, round: false, dashes: &[] };

    fn rings(places: &[Spot], is_closed: bool, line: &Line) -> Vec<Vec<Spot>> {
        let mut rings = Vec::new();
        let path = Path(vec![Polyline { places: places.to_vec(), is_closed }]);
        stroke(&path, line, |ring| rings.push(ring.to_vec()));
        rings
    }

    /// Is a place within one of the areas? None may turn the other way round.
    fn is_drawn(rings: &[Vec<Spot>], (x, y): Spot) -> bool {
        rings.iter().any(|ring| {
            let next = ring.iter().cycle().skip(1);
            let sides = ring
                .iter()
                .zip(next)
                .map(|(from, to)| (to.0 - from.0) * (y - from.1) - (to.1 - from.1) * (x - from.0));
            sides.fold(f64::MIN, f64::max) <= 1e-9
        })
    }

    #[test]
    fn a_line_is_as_wide_as_it_should_be_and_ends_where_it_ends() {
        for (dx, dy) in [(1.0, 0.0), (0.0, -1.0), (0.6, 0.8), (-0.8, 0.6)] {
            let at = |along: f64, aside: f64| (along * dx - aside * dy, along * dy + aside * dx);
            let rings = rings(&[at(0.0, 0.0), at(10.0, 0.0)], false, &PLAIN);
            for (along, aside, drawn) in [
                (0.1, 1.9, true),
                (9.9, -1.9, true),
                (5.0, 2.1, false),
                (-0.1, 0.0, false),
                (10.1, 1.0, false),
            ] {
                assert_eq!(is_drawn(&rings, at(along, aside)), drawn, "{along} {aside}");
            }
        }
    }

    #[test]
    fn corners_have_tips_or_are_round_or_are_cut() {
        // Down and back up again, as a V: the sides are 2 from the middle, its tip is 4 / width of the V from the corner.
        let corner = |half_width: f64, round| {
            rings(&[(-half_width, -10.0), (0.0, 0.0), (half_width, -10.0)], false, &Line { round, ..PLAIN })
        };
        let lowest =
            |rings: &[Vec<Spot>]| rings.iter().flatten().map(|place| place.1).fold(f64::MIN, f64::max);
        // At right angles: the square root of 2 times as far.
        assert!((lowest(&corner(10.0, false)) - 2.0 * 2f64.sqrt()).abs() < 1e-9);
        // Nearly four times as far, and then no more.
        let reach = |half_width: f64| 2.0 * half_width.hypot(10.0) / half_width;
        assert!((lowest(&corner(2.7, false)) - reach(2.7)).abs() < 1e-9 && reach(2.7) > 7.6);
        assert!(lowest(&corner(2.5, false)) < 1.0 && reach(2.5) > 8.0);
        for half_width in [1.0, 10.0, 30.0] {
            let round = corner(half_width, true);
            assert!(is_drawn(&round, (0.0, 1.98)) && !is_drawn(&round, (0.0, 2.01)), "{half_width}");
        }
        // Straight back.
        let back = |round| rings(&[(0.0, 0.0), (10.0, 0.0), (4.0, 0.0)], false, &Line { round, ..PLAIN });
        assert!(is_drawn(&back(true), (11.9, 0.0)) && !is_drawn(&back(false), (10.1, 0.0)));
    }

    #[test]
    fn closed_lines_have_all_their_corners() {
        // Whichever way round they go; and where the first place is also the last.
        let mut places = [(0.0, 0.0), (10.0, 0.0), (10.0, 10.0), (0.0, 10.0)];
        for _ in 0..2 {
            for more in [0, 1] {
                let places: Vec<Spot> = places.iter().cycle().take(4 + more).copied().collect();
                let rings = rings(&places, true, &PLAIN);
                for (x, y) in
                    [(-1.9, -1.9), (11.9, -1.9), (11.9, 11.9), (-1.9, 11.9), (1.9, 5.0), (5.0, -1.9)]
                {
                    assert!(is_drawn(&rings, (x, y)), "{x} {y}");
                }
                assert!(!is_drawn(&rings, (2.1, 5.0)) && !is_drawn(&rings, (-2.1, 0.0)));
            }
            places.reverse();
        }
        // One place has no direction.
        for is_closed in [false, true] {
            assert!(rings(&[(1.0, 1.0), (1.0, 1.0)], is_closed, &PLAIN).is_empty());
            assert!(rings(&[], is_closed, &PLAIN).is_empty());
        }
    }

    #[test]
    fn dashes_leave_gaps_and_go_around_corners() {
        let dashed =
            |dashes| rings(&[(0.0, 0.0), (10.0, 0.0), (10.0, 10.0)], false, &Line { dashes, ..PLAIN });
        let drawn = |dashes| {
            let rings = dashed(dashes);
            let places = (0..20).map(|step| f64::from(step) + 0.5);
            places
                .map(|way| is_drawn(&rings, if way < 10.0 { (way, -1.5) } else { (11.5, way - 10.0) }))
                .collect::<Vec<_>>()
        };
        let pattern = |text: &str| text.chars().map(|letter| letter == '#').collect::<Vec<_>>();
        // The dash around the corner has a tip there.
        assert_eq!(drawn(&[7, 2]), pattern("#######..#######..##"));
        assert!(is_drawn(&dashed(&[7, 2]), (11.9, -1.9)));
        assert_eq!(drawn(&[10, 1]), pattern("##########.#########"));
        assert_eq!(drawn(&[3, 1, 1, 1]), pattern("###.#.###.#.###.#.##"));
        // As in SVG, an odd number of them is repeated.
        assert_eq!(drawn(&[4]), pattern("####....####....####"));
        assert_eq!(drawn(&[0, 0]), [true; 20]);
        let far = rings(&[(-1e9, 0.0), (1e9, 0.0)], false, &Line { dashes: &[1, 1], ..PLAIN });
        assert_eq!(far.len(), 1);
    }
}
