//! A figure as pixels. The fonts are our own, so the same picture comes out everywhere.

mod area;
mod canvas;
mod file;
mod letters;
mod path;
mod pixels;
mod stroke;

use crate::outline::tenths;
use crate::paper::Sheet;
use crate::{Figure, paper};
use canvas::Canvas;
use letters::Fonts;
use pixels::Pixels;

/// Pixels per unit of the SVG file: sharp on today's screens.
const SCALE: f64 = 2.0;
/// Units on a side of the SVG file.
const MOST_UNITS: f64 = 8000.0;
/// Pixels in all: 192 MB while they are drawn.
const MOST_PIXELS: f64 = 64e6;

/// Why there is no PNG file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PngError {
    /// One of our own.
    #[error("the font of PNG files cannot be read: {0}")]
    Font(#[from] ttf_parser::FaceParsingError),
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
    Encode(#[source] std::io::Error),
}

/// The PNG file of a figure: what its SVG file shows, with two pixels for every unit.
pub fn encode(figure: &Figure) -> Result<Vec<u8>, PngError> {
    encode_sheet(&paper::sheet(figure))
}

/// The PNG file of a sheet.
pub(crate) fn encode_sheet(sheet: &Sheet) -> Result<Vec<u8>, PngError> {
    let pixels = draw(sheet)?;
    file::file(&pixels).map_err(PngError::Encode)
}

fn draw(sheet: &Sheet) -> Result<Pixels, PngError> {
    let (width, height) = (tenths(sheet.width), tenths(sheet.height));
    let pixels = width * height * SCALE * SCALE;
    if !(width <= MOST_UNITS && height <= MOST_UNITS && pixels <= MOST_PIXELS) {
        return Err(PngError::TooLarge { width: width as u32, height: height as u32 });
    }
    let side = |units: f64| (units * SCALE).round().max(1.0) as u32;
    let mut canvas = Canvas::new(Pixels::new(side(width), side(height)), SCALE, Fonts::new()?);
    canvas.sheet(sheet);
    Ok(canvas.finish())
}

#[cfg(test)]
mod tests;
