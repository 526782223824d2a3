//! Text as outlines of letters, one behind the other. Pairs of letters are not moved closer and no letters are joined: names
//! of figures are short, and where they end is what matters.

use super::path::Path;
use crate::frame::Spot;
use crate::pen::Anchor;
use ttf_parser::{Face, FaceParsingError, GlyphId, OutlineBuilder};

/// What text is set in.
pub(super) struct Fonts {
    /// For nearly everything, among it Greek letters, and superscript digits.
    first: Face<'static>,
    /// For arrows, superscript signs and what else the first one lacks.
    second: Face<'static>,
}

impl Fonts {
    /// Those that come with the program.
    pub(super) fn new() -> Result<Self, FaceParsingError> {
        Ok(Fonts {
            first: Face::parse(epaint_default_fonts::UBUNTU_LIGHT, 0)?,
            second: Face::parse(epaint_default_fonts::HACK_REGULAR, 0)?,
        })
    }

    /// The letter of a character; what no font has is the first one's empty box.
    fn glyph(&self, character: char) -> (&Face<'static>, GlyphId) {
        let found = |face: &Face<'static>| face.glyph_index(character);
        match (found(&self.first), found(&self.second)) {
            (None, Some(glyph)) => (&self.second, glyph),
            (glyph, _) => (&self.first, glyph.unwrap_or_default()),
        }
    }

    /// How wide a text is.
    pub(super) fn width(&self, text: &str, size: f64) -> f64 {
        text.chars()
            .map(|character| {
                let (face, glyph) = self.glyph(character);
                advance(face, glyph, size)
            })
            .sum()
    }

    /// All letters of a text whose baseline begins, has its middle or ends at a place; `None` where there is nothing to see.
    pub(super) fn outline(&self, text: &str, size: f64, anchor: Anchor, (x, y): Spot) -> Option<Path> {
        // As SVG does, spaces that follow one another are one.
        let text = text.split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
        let before = match anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => self.width(&text, size) / 2.0,
            Anchor::End => self.width(&text, size),
        };
        let mut tracer = Tracer { path: Path::default(), x: x - before, y, scale: 1.0 };
        for character in text.chars() {
            let (face, glyph) = self.glyph(character);
            tracer.scale = size / f64::from(face.units_per_em());
            // A space has no outline.
            let _ = face.outline_glyph(glyph, &mut tracer);
            tracer.x += advance(face, glyph, size);
        }
        Some(tracer.path).filter(|path| !path.0.is_empty())
    }
}

fn advance(face: &Face<'_>, glyph: GlyphId, size: f64) -> f64 {
    f64::from(face.glyph_hor_advance(glyph).unwrap_or(0)) * size / f64::from(face.units_per_em())
}

/// Puts the outline of a letter at its place; letters are drawn upwards, pictures downwards.
struct Tracer {
    path: Path,
    x: f64,
    y: f64,
    scale: f64,
}

impl Tracer {
    fn place(&self, x: f32, y: f32) -> Spot {
        (self.x + f64::from(x) * self.scale, self.y - f64::from(y) * self.scale)
    }
}

impl OutlineBuilder for Tracer {
    fn move_to(&mut self, x: f32, y: f32) {
        self.path.move_to(self.place(x, y));
    }

    fn line_to(&mut self, x: f32, y: f32) {
        self.path.line_to(self.place(x, y));
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        self.path.curve_to([self.place(x1, y1), self.place(x, y)]);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        self.path.curve_to([self.place(x1, y1), self.place(x2, y2), self.place(x, y)]);
    }

    fn close(&mut self) {
        self.path.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::Frame;
    use crate::text;

    fn bounds(path: &Path) -> Frame {
        let nothing = Frame { left: f64::MAX, top: f64::MAX, right: f64::MIN, bottom: f64::MIN };
        let with = |frame: Frame, &(x, y): &Spot| Frame {
            left: frame.left.min(x),
            top: frame.top.min(y),
            right: frame.right.max(x),
            bottom: frame.bottom.max(y),
        };
        path.0.iter().flat_map(|line| &line.places).fold(nothing, with)
    }

    #[test]
    fn no_text_is_wider_than_layout_takes_it_for() {
        let fonts = Fonts::new().unwrap();
        for words in [
            "csr-cuda-lanes8-per-element",
            "ceiling by bandwidth, 1450 GFLOP/s",
            "0123456789",
            "10 000",
            "Where the time goes: WIDE, mmm, iii, (f)",
            "α β σ · × µV m³ 10⁻³ – → ≤ ≥ ± …",
        ] {
            let (drawn, assumed) = (fonts.width(words, 14.0), text::width(words, 14.0));
            assert!(drawn > 0.5 * assumed && drawn <= assumed, "{words}: {drawn}, {assumed}");
        }
    }

    #[test]
    fn characters_of_our_figures_have_letters() {
        let fonts = Fonts::new().unwrap();
        for character in "αβγεσΣπ·×µ²³¹⁰⁴⁵⁶⁷⁸⁹⁻−–—→←′…≤≥≈±√∞½°’".chars()
        {
            assert_ne!(fonts.glyph(character).1, GlyphId(0), "{character}");
        }
        let shape = |text| fonts.outline(text, 14.0, Anchor::Start, (0.0, 0.0));
        assert!(shape("→").is_some() && shape("行").is_some() && shape(" ").is_none());
    }

    #[test]
    fn a_text_ends_where_its_anchor_says() {
        let fonts = Fonts::new().unwrap();
        let bounds = |anchor| bounds(&fonts.outline("HH", 20.0, anchor, (100.0, 50.0)).unwrap());
        let width = fonts.width("HH", 20.0);
        let (start, middle, end) = (bounds(Anchor::Start), bounds(Anchor::Middle), bounds(Anchor::End));
        assert!(start.left > 100.0 && end.right < 100.0);
        assert!((start.left - end.left - width).abs() < 0.01);
        assert!((middle.left + middle.right - 200.0).abs() < 1.0);
        assert!((start.bottom - 50.0).abs() < 0.01 && start.top > 30.0);
    }
}
