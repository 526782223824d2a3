//! Red, green and blue of every pixel, and colours that are laid over them.

use super::area::{Area, Rule};
use crate::frame::Frame;
use crate::ink::Colour;

/// A picture without transparent places.
pub(super) struct Pixels {
    width: usize,
    height: usize,
    /// Row by row, from the top.
    colours: Vec<[u8; 3]>,
}

impl Pixels {
    /// All white.
    pub(super) fn new(width: u32, height: u32) -> Self {
        let (width, height) = (width as usize, height as usize);
        Pixels { width, height, colours: vec![[255; 3]; width * height] }
    }

    /// With these colours.
    #[cfg(test)]
    pub(super) fn of(width: usize, colours: Vec<[u8; 3]>) -> Self {
        Pixels { width, height: colours.len() / width, colours }
    }

    pub(super) fn width(&self) -> usize {
        self.width
    }

    pub(super) fn height(&self) -> usize {
        self.height
    }

    /// All of them.
    pub(super) fn colours(&self) -> &[[u8; 3]] {
        &self.colours
    }

    /// Lays a colour, as strong as said, up to 1, over an area.
    pub(super) fn fill(&mut self, area: Area, rule: Rule, Colour(colour): Colour, strength: f64) {
        let [_, colour @ ..] = colour.to_be_bytes();
        let strength = (strength.clamp(0.0, 1.0) * 255.0).round() as u8;
        area.rows(self.width, rule, |row, first, covered| {
            let pixels = &mut self.colours[row * self.width + first..][..covered.len()];
            for (pixel, &covered) in pixels.iter_mut().zip(covered) {
                mix(pixel, colour, part(strength, covered));
            }
        });
    }

    /// The same for all pixels whose middles lie in a rectangle, in pixels: rectangles that touch leave none out and share none.
    pub(super) fn crisp(&mut self, area: Frame, Colour(colour): Colour, strength: f64) {
        let [_, colour @ ..] = colour.to_be_bytes();
        let strength = (strength.clamp(0.0, 1.0) * 255.0).round() as u8;
        let first = |side: f64, most: usize| (side - 0.5).ceil().clamp(0.0, most as f64) as usize;
        let (left, right) = (first(area.left, self.width), first(area.right, self.width));
        for row in first(area.top, self.height)..first(area.bottom, self.height) {
            for pixel in
                self.colours[row * self.width..][..self.width].get_mut(left..right).unwrap_or_default()
            {
                mix(pixel, colour, strength);
            }
        }
    }
}

/// A part of a whole, all in 255ths.
fn part(whole: u8, part: u8) -> u8 {
    ((u32::from(whole) * u32::from(part) + 127) / 255) as u8
}

fn mix(pixel: &mut [u8; 3], colour: [u8; 3], strength: u8) {
    if strength == 255 {
        *pixel = colour;
        return;
    }
    for (below, above) in pixel.iter_mut().zip(colour) {
        let sum = u32::from(*below) * u32::from(255 - strength) + u32::from(above) * u32::from(strength);
        *below = ((sum + 127) / 255) as u8;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crisp_neighbours_leave_no_gap_and_do_not_overlap() {
        for (across, down) in [(1.0, 1.0), (0.37, 0.5), (2.73, 1.91), (7.5, 3.5)] {
            let mut pixels = Pixels::new(20, 15);
            let side = |start: f64, cell: f64, number: usize| start + cell * number as f64;
            for (col, row) in (0..60).flat_map(|row| (0..60).map(move |col| (col, row))) {
                let area = Frame {
                    left: side(2.3, across, col),
                    top: side(1.7, down, row),
                    right: side(2.3, across, col + 1),
                    bottom: side(1.7, down, row + 1),
                };
                pixels.crisp(area, Colour(0x00_0000), 0.5);
            }
            // Half black once is grey; twice would be darker, never is white.
            let (end_col, end_row) = (side(2.3, across, 60), side(1.7, down, 60));
            for (place, &pixel) in pixels.colours().iter().enumerate() {
                let (x, y) = ((place % 20) as f64 + 0.5, (place / 20) as f64 + 0.5);
                let is_inside = x > 2.3 && x < end_col && y > 1.7 && y < end_row;
                assert_eq!(pixel, [if is_inside { 127 } else { 255 }; 3], "{x} {y}, {across} {down}");
            }
        }
    }

    #[test]
    fn crisp_areas_end_at_the_picture() {
        let mut pixels = Pixels::new(4, 3);
        for (left, right) in [(-1e9, -1.0), (4.0, 1e9), (3.0, 1.0), (f64::NAN, 1.0)] {
            pixels.crisp(Frame { left, top: -5.0, right, bottom: 5.0 }, Colour(0), 0.0);
            pixels.crisp(Frame { left: 0.0, top: left, right: 4.0, bottom: left }, Colour(0), 1.0);
        }
        assert!(pixels.colours().iter().all(|&pixel| pixel == [255; 3]));
        pixels.crisp(
            Frame { left: -1e300, top: -1e300, right: 1e300, bottom: 1e300 },
            Colour(0x12_3456),
            1.0,
        );
        assert!(pixels.colours().iter().all(|&pixel| pixel == [0x12, 0x34, 0x56]));
    }

    #[test]
    fn colours_mix_by_their_strength() {
        let mixed = |strength| {
            let mut pixel = [200, 100, 0];
            mix(&mut pixel, [0, 100, 255], strength);
            pixel
        };
        assert_eq!([mixed(0), mixed(51), mixed(255)], [[200, 100, 0], [160, 100, 51], [0, 100, 255]]);
        assert_eq!((part(255, 200), part(128, 128), part(0, 255)), (200, 64, 0));
    }
}
