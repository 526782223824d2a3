//! The nearest of many points, by a tree that halves them along one axis after the other.

use crate::matrix::Random;

pub(super) const MOST_DIMENSIONS: u64 = 64;
/// Points that are not halved again.
const LEAF: usize = 8;

pub(super) struct Points {
    dimensions: usize,
    coordinates: Vec<f64>,
    /// Points as leaves of the tree have them, and the place of each in it.
    order: Vec<u32>,
    places: Vec<u32>,
}

impl Points {
    /// So many in a cube.
    pub(super) fn anywhere(count: usize, dimensions: usize, random: &mut Random) -> Self {
        let coordinates: Vec<f64> = (0..count * dimensions).map(|_| random.unit()).collect();
        let order = (0..count as u32).collect();
        let mut points = Points { dimensions, coordinates, order, places: vec![0; count] };
        points.halve(0, count, 0);
        for (place, &point) in (0..).zip(&points.order) {
            points.places[point as usize] = place;
        }
        points
    }

    /// Where the point is in an order in which those near each other mostly are.
    pub(super) fn place(&self, point: u32) -> u32 {
        self.places[point as usize]
    }

    fn coordinate(&self, point: u32, axis: usize) -> f64 {
        self.coordinates[point as usize * self.dimensions + axis]
    }

    /// The middle of these places has the middle point along the axis, those before it are below.
    fn halve(&mut self, first: usize, end: usize, axis: usize) {
        if end - first <= LEAF {
            self.order[first..end].sort_unstable();
            return;
        }
        let (middle, dimensions) = (first + (end - first) / 2, self.dimensions);
        let coordinates = &self.coordinates;
        let at = |point: u32| coordinates[point as usize * dimensions + axis];
        self.order[first..end]
            .select_nth_unstable_by(middle - first, |&a, &b| at(a).total_cmp(&at(b)).then(a.cmp(&b)));
        let next = (axis + 1) % dimensions;
        self.halve(first, middle, next);
        self.halve(middle + 1, end, next);
    }

    /// Those nearest to a point, the point itself left out.
    pub(super) fn nearest(&self, point: u32, count: usize) -> Vec<u32> {
        let mut found = Vec::with_capacity(count + 1);
        self.look(point, count, (0, self.order.len()), 0, &mut found);
        found.into_iter().map(|(_, other)| other).collect()
    }

    /// Through these places, the nearest found so far in the order of their distances.
    fn look(
        &self,
        point: u32,
        count: usize,
        (first, end): (usize, usize),
        axis: usize,
        found: &mut Vec<(f64, u32)>,
    ) {
        if end - first <= LEAF {
            self.order[first..end].iter().for_each(|&other| self.consider(point, other, count, found));
            return;
        }
        let (middle, next) = (first + (end - first) / 2, (axis + 1) % self.dimensions);
        let there = self.order[middle];
        self.consider(point, there, count, found);
        let apart = self.coordinate(point, axis) - self.coordinate(there, axis);
        let halves = [(first, middle), (middle + 1, end)];
        let [near, far] = if apart < 0.0 { halves } else { [halves[1], halves[0]] };
        self.look(point, count, near, next, found);
        if found.len() < count || found.last().is_some_and(|&(farthest, _)| apart * apart <= farthest) {
            self.look(point, count, far, next, found);
        }
    }

    fn consider(&self, point: u32, other: u32, count: usize, found: &mut Vec<(f64, u32)>) {
        if point == other {
            return;
        }
        let distance = self.distance(point, other);
        let farthest = if found.len() < count { f64::INFINITY } else { found[count - 1].0 };
        if distance < farthest {
            found.truncate(count - 1);
            let place = found.partition_point(|&(nearer, _)| nearer <= distance);
            found.insert(place, (distance, other));
        }
    }

    /// Squared.
    fn distance(&self, a: u32, b: u32) -> f64 {
        let of = |point: u32| &self.coordinates[point as usize * self.dimensions..][..self.dimensions];
        of(a).iter().zip(of(b)).map(|(a, b)| (a - b) * (a - b)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_are_found() {
        for dimensions in [1, 2, 3, 7] {
            let points = Points::anywhere(200, dimensions, &mut Random::new(3, 0));
            for point in 0..200 {
                let mut all: Vec<u32> = (0..200).filter(|&other| other != point).collect();
                all.sort_by(|&a, &b| points.distance(point, a).total_cmp(&points.distance(point, b)));
                assert_eq!(points.nearest(point, 5), all[..5], "{dimensions} dimensions");
            }
        }
    }

    #[test]
    fn places_are_an_order_and_near_each_other() {
        let points = Points::anywhere(1000, 2, &mut Random::new(3, 0));
        let mut places: Vec<u32> = (0..1000).map(|point| points.place(point)).collect();
        let apart = |point: u32| points.nearest(point, 1)[0];
        let near = (0..1000).filter(|&point| points.place(point).abs_diff(points.place(apart(point))) < 50);
        assert!(near.count() > 700);
        places.sort_unstable();
        assert!(places.into_iter().eq(0..1000));
    }
}
