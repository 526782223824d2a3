//! Where in a plot there is room for a few words.

use crate::frame::{Frame, Spot};

/// How far words stay from what they name.
const GAP: f64 = 4.0;
/// How close together the places are that stand for a line.
const SAMPLE: f64 = 4.0;

/// A plot's area and what is drawn in it.
pub(crate) struct Room {
    area: Frame,
    drawn: Vec<Spot>,
    words: Vec<Frame>,
}

impl Room {
    /// An empty one.
    pub(crate) fn new(area: Frame) -> Self {
        Room { area, drawn: Vec::new(), words: Vec::new() }
    }

    /// Something is drawn here.
    pub(crate) fn add_mark(&mut self, (x, y): Spot) {
        // A mark is a few pixels wide.
        self.drawn.extend([(x, y), (x - GAP, y), (x + GAP, y), (x, y - GAP), (x, y + GAP)]);
    }

    /// A line is drawn here.
    pub(crate) fn add_line(&mut self, from: Spot, to: Spot) {
        self.drawn.extend(along(from, to, SAMPLE));
    }

    /// The best frame for words of this size beside one of `anchors`, the first of the best; `None` where they fit nowhere
    /// or, when `strict`, where they would lie on something. Strict words belong to a point: rather beside than above it.
    pub(crate) fn take(&mut self, anchors: &[Spot], size: (f64, f64), strict: bool) -> Option<Frame> {
        let mut best: Option<(usize, Frame)> = None;
        for frame in anchors.iter().flat_map(|&anchor| around(anchor, size, strict)) {
            if !self.area.encloses(&frame) {
                continue;
            }
            let cost = self.drawn.iter().filter(|&&place| frame.holds(place)).count()
                + 1000 * self.words.iter().filter(|words| words.meets(&frame)).count();
            if best.is_none_or(|(least, _)| cost < least) {
                best = Some((cost, frame));
            }
            if cost == 0 {
                break;
            }
        }
        let (cost, frame) = best?;
        if strict && cost > 0 {
            return None;
        }
        self.words.push(frame);
        Some(frame)
    }
}

/// Places along a line, the last one first.
pub(crate) fn along(from: Spot, to: Spot, distance: f64) -> Vec<Spot> {
    let (dx, dy) = (from.0 - to.0, from.1 - to.1);
    let steps = (dx.hypot(dy) / distance).clamp(1.0, 1000.0) as u32;
    let share = |step: u32| f64::from(step) / f64::from(steps);
    (0..=steps).map(|step| (to.0 + share(step) * dx, to.1 + share(step) * dy)).collect()
}

/// Frames above, below and on both sides of a place.
fn around((x, y): Spot, (width, height): (f64, f64), sides_first: bool) -> [Frame; 6] {
    let frame = |left: f64, top: f64| Frame { left, top, right: left + width, bottom: top + height };
    let (above, below, middle) = (y - GAP - height, y + GAP, y - height / 2.0);
    let (before, after) = (x - GAP - width, x + GAP);
    let sides = [frame(after + GAP, middle), frame(before - GAP, middle)];
    let [one, two] = [frame(before, above), frame(after, above)];
    let [three, four] = [frame(before, below), frame(after, below)];
    if sides_first {
        [sides[0], sides[1], one, two, three, four]
    } else {
        [one, two, three, four, sides[0], sides[1]]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AREA: Frame = Frame { left: 0.0, top: 0.0, right: 100.0, bottom: 100.0 };

    #[test]
    fn words_stay_inside_and_off_each_other() {
        let mut room = Room::new(AREA);
        let line = along((0.0, 50.0), (100.0, 50.0), 10.0);
        room.add_line((0.0, 50.0), (100.0, 50.0));
        let first = room.take(&line, (40.0, 10.0), true).unwrap();
        let second = room.take(&line, (40.0, 10.0), true).unwrap();
        assert!(AREA.encloses(&first) && AREA.encloses(&second) && !first.meets(&second));
        assert_eq!((first.right, first.bottom), (96.0, 46.0));
    }

    #[test]
    fn words_without_room_are_left_out_when_strict() {
        let mut room = Room::new(AREA);
        assert_eq!(room.take(&[(50.0, 50.0)], (200.0, 10.0), false), None);
        for y in 0..100 {
            room.add_line((0.0, f64::from(y)), (100.0, f64::from(y)));
        }
        assert_eq!(room.take(&[(50.0, 50.0)], (20.0, 10.0), true), None);
        assert!(room.take(&[(50.0, 50.0)], (20.0, 10.0), false).is_some());
    }
}
