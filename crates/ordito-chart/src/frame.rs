//! Rectangles, and what of a line lies in one.

/// A place in a picture: x to the right, y downwards.
pub(crate) type Spot = (f64, f64);

/// A rectangle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Frame {
    pub(crate) left: f64,
    pub(crate) top: f64,
    pub(crate) right: f64,
    pub(crate) bottom: f64,
}

impl Frame {
    /// From left to right.
    pub(crate) fn width(&self) -> f64 {
        self.right - self.left
    }

    /// From top to bottom.
    pub(crate) fn height(&self) -> f64 {
        self.bottom - self.top
    }

    /// The place at a share of its width, from the left, and of its height, from the bottom.
    pub(crate) fn place(&self, across: f64, up: f64) -> Spot {
        (self.left + across * self.width(), self.bottom - up * self.height())
    }

    /// Is a place inside?
    pub(crate) fn holds(&self, (x, y): Spot) -> bool {
        x >= self.left && x <= self.right && y >= self.top && y <= self.bottom
    }

    /// Is another frame wholly inside?
    pub(crate) fn encloses(&self, other: &Frame) -> bool {
        self.holds((other.left, other.top)) && self.holds((other.right, other.bottom))
    }

    /// Do two frames share a place?
    pub(crate) fn meets(&self, other: &Frame) -> bool {
        self.left < other.right
            && other.left < self.right
            && self.top < other.bottom
            && other.top < self.bottom
    }

    /// The part of a line that is inside (Liang and Barsky).
    pub(crate) fn clip(&self, from: Spot, to: Spot) -> Option<(Spot, Spot)> {
        let (dx, dy) = (to.0 - from.0, to.1 - from.1);
        let (mut enters, mut leaves) = (0.0f64, 1.0f64);
        // For every edge: how fast the line leaves through it, and how far it has to go.
        for (speed, distance) in [
            (-dx, from.0 - self.left),
            (dx, self.right - from.0),
            (-dy, from.1 - self.top),
            (dy, self.bottom - from.1),
        ] {
            if speed == 0.0 {
                if distance < 0.0 {
                    return None;
                }
            } else if speed < 0.0 {
                enters = enters.max(distance / speed);
            } else {
                leaves = leaves.min(distance / speed);
            }
        }
        let along = |share: f64| (from.0 + share * dx, from.1 + share * dy);
        (enters <= leaves).then(|| (along(enters), along(leaves)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRAME: Frame = Frame { left: 0.0, top: 0.0, right: 10.0, bottom: 20.0 };

    #[test]
    fn lines_are_cut_at_the_edges() {
        assert_eq!(FRAME.clip((-10.0, 5.0), (20.0, 5.0)), Some(((0.0, 5.0), (10.0, 5.0))));
        assert_eq!(FRAME.clip((2.0, 2.0), (3.0, 3.0)), Some(((2.0, 2.0), (3.0, 3.0))));
        assert_eq!(FRAME.clip((-5.0, 25.0), (-1.0, 30.0)), None);
        assert_eq!(FRAME.clip((5.0, -10.0), (5.0, 40.0)), Some(((5.0, 0.0), (5.0, 20.0))));
    }

    #[test]
    fn places_are_counted_from_below() {
        assert_eq!(FRAME.place(0.5, 0.25), (5.0, 15.0));
        assert!(FRAME.encloses(&FRAME) && FRAME.meets(&FRAME));
    }
}
