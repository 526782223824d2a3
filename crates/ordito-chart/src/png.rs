//! An SVG file as pixels.

use resvg::{tiny_skia, usvg};
use std::sync::Arc;

/// Pixels per unit of the SVG file: sharp on today's screens.
const SCALE: f32 = 2.0;
/// Units on a side of the SVG file.
const MOST_UNITS: f32 = 8000.0;
/// Pixels in all: 256 MB while they are drawn.
const MOST_PIXELS: f64 = 64e6;

/// Why there is no PNG file.
#[derive(Debug, thiserror::Error)]
pub enum PngError {
    /// Not SVG.
    #[error("the picture is no SVG that can be drawn: {0}")]
    Svg(#[from] usvg::Error),
    /// Too many pixels.
    #[error("the picture is {width} x {height}, too large for a PNG file; keep it as SVG or show less in it")]
    TooLarge {
        /// In units of the SVG file.
        width: u32,
        /// In units of the SVG file.
        height: u32,
    },
    /// The encoder gave up.
    #[error("the PNG file cannot be made: {0}")]
    Encode(String),
}

/// The PNG file of an SVG file. The font is our own, so the same picture comes out everywhere.
pub fn encode(svg: &str) -> Result<Vec<u8>, PngError> {
    let mut fonts = usvg::fontdb::Database::new();
    fonts.load_font_source(usvg::fontdb::Source::Binary(Arc::new(epaint_default_fonts::UBUNTU_LIGHT)));
    fonts.set_sans_serif_family("Ubuntu");
    let options = usvg::Options {
        font_family: "Ubuntu".to_owned(),
        fontdb: Arc::new(fonts),
        ..usvg::Options::default()
    };
    let tree = usvg::Tree::from_str(svg, &options)?;
    let (width, height) = (tree.size().width(), tree.size().height());
    let too_large = PngError::TooLarge { width: width as u32, height: height as u32 };
    let pixels = f64::from(width) * f64::from(height) * f64::from(SCALE) * f64::from(SCALE);
    if !(width <= MOST_UNITS && height <= MOST_UNITS && pixels <= MOST_PIXELS) {
        return Err(too_large);
    }
    let side = |units: f32| (units * SCALE).round().max(1.0) as u32;
    let mut pixels = tiny_skia::Pixmap::new(side(width), side(height)).ok_or(too_large)?;
    resvg::render(&tree, tiny_skia::Transform::from_scale(SCALE, SCALE), &mut pixels.as_mut());
    pixels.encode_png().map_err(|error| PngError::Encode(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sized(width: u32, height: u32) -> String {
        format!("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\"/>")
    }

    #[test]
    fn a_png_is_twice_as_large() {
        let png = encode(&sized(30, 20)).unwrap();
        assert_eq!(png[..8], *b"\x89PNG\r\n\x1a\n");
        assert_eq!((png[16..20].to_vec(), png[20..24].to_vec()), (vec![0, 0, 0, 60], vec![0, 0, 0, 40]));
    }

    #[test]
    fn letters_are_drawn() {
        let text = |words: &str| {
            let open = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"90\" height=\"30\" font-family=\"Ubuntu\">";
            encode(&format!("{open}<text x=\"2\" y=\"20\">{words}</text></svg>")).unwrap()
        };
        assert_ne!(text("µ"), text("…"));
        assert_ne!(text("some words"), encode(&sized(90, 30)).unwrap());
    }

    #[test]
    fn what_is_too_large_or_no_svg_is_refused() {
        assert!(matches!(encode(&sized(8001, 10)), Err(PngError::TooLarge { width: 8001, height: 10 })));
        assert!(matches!(encode(&sized(7000, 7000)), Err(PngError::TooLarge { .. })));
        assert!(matches!(encode("<svg"), Err(PngError::Svg(_))));
    }
}
