//! A figure as an SVG file that stands alone: fixed colours on white, title and note on top, legend below.

use crate::legend;
use crate::legend::{Entry, SWATCH_HEIGHT, SWATCH_WIDTH};
use crate::markup::escape;
use crate::pen::{Medium, px};
use crate::text::{cut, width, wrap};
use crate::{Figure, drawing};
use std::fmt::Write;

/// Those of the PNG files first, then what most machines have.
const FONTS: &str = "Ubuntu, DejaVu Sans, Arial, sans-serif";
/// Around everything.
const MARGIN: f64 = 10.0;
const TITLE_SIZE: f64 = 16.0;
const NOTE_SIZE: f64 = 13.0;
const LEGEND_SIZE: f64 = 13.0;
/// Lines of a title or a note; what is longer is cut.
const MOST_LINES: usize = 4;

/// The file's text.
pub fn render(figure: &Figure) -> String {
    let inner = Medium::Paper.width();
    let (mut body, mut y) = (String::new(), MARGIN);
    // The font of the PNG files has no bold face: an outline makes the title's letters stronger.
    let title = "fill=\"#000000\" stroke=\"#000000\" stroke-width=\"0.4\"";
    let note = "fill=\"#4a4f55\"";
    for (text, size, ink) in [(figure.title(), TITLE_SIZE, title), (figure.note(), NOTE_SIZE, note)] {
        for line in wrap(text, size, inner, MOST_LINES) {
            y += size * 1.2;
            // Writing to a string cannot fail.
            let _ = writeln!(
                body,
                "<text x=\"{MARGIN}\" y=\"{}\" font-size=\"{size}\" {ink}>{}</text>",
                px(y),
                escape(&line)
            );
        }
    }
    y += 10.0;
    let drawing = drawing::draw(figure, Medium::Paper);
    let _ = writeln!(body, "<g transform=\"translate({MARGIN} {})\">\n{}</g>", px(y), drawing.body);
    y += drawing.height;
    let (entries, legend_height) = columns(&legend::entries(figure), inner);
    let _ = writeln!(body, "<g transform=\"translate({MARGIN} {})\">\n{entries}</g>", px(y));
    y += legend_height + MARGIN;

    let (width, height) = (px(inner + 2.0 * MARGIN), px(y.ceil()));
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
         font-family=\"{FONTS}\" font-size=\"{}\" fill=\"#1c1e21\">\n<title>{}</title>\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>\n{body}</svg>\n",
        Medium::Paper.letters(),
        escape(figure.title())
    )
}

/// The legend in as many columns as fit, and its height.
fn columns(entries: &[Entry], room: f64) -> (String, f64) {
    if entries.is_empty() {
        return (String::new(), 0.0);
    }
    let letters = LEGEND_SIZE;
    let beside = SWATCH_WIDTH + 6.0;
    let names: Vec<String> = entries.iter().map(|entry| cut(&entry.name, letters, room - beside)).collect();
    let widest = names.iter().map(|name| width(name, letters)).fold(0.0, f64::max) + beside + 14.0;
    let count = ((room + 14.0) / widest).max(1.0) as usize;
    let pitch = (room + 14.0) / count as f64;
    // Names go down the columns, for that is how lists are read.
    let rows = entries.len().div_ceil(count);
    let line = letters * 1.4;
    let mut svg = String::new();
    for (number, (entry, name)) in entries.iter().zip(&names).enumerate() {
        let (x, y) = (pitch * (number / rows) as f64, 4.0 + line * (number % rows) as f64);
        let _ = writeln!(
            svg,
            "<g transform=\"translate({} {})\">{}<text x=\"{beside}\" y=\"{}\" font-size=\"{letters}\">{}</text></g>",
            px(x),
            px(y),
            legend::swatch(entry, Medium::Paper).replace('\n', ""),
            px(SWATCH_HEIGHT / 2.0 + letters * 0.35),
            escape(name)
        );
    }
    (svg, 4.0 + line * rows as f64)
}
