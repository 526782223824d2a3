//! A figure as a sheet that stands alone: fixed colours on white, title and note on top, legend below. An SVG file has the
//! whole sheet as text; `png` has it as pixels.

use crate::ink::{DARK, Edge, LEGEND, Letters, NOTE, TITLE, WHITE};
use crate::legend::{Entry, SWATCH_HEIGHT, SWATCH_WIDTH};
use crate::markup::escape;
use crate::outline::px;
use crate::pen::{Element, Medium};
use crate::text::{cut, width, wrap};
use crate::{Figure, drawing, legend, svg};
use std::fmt::Write;

/// Those of the PNG files first, then what most machines have.
const FONTS: &str = "Ubuntu, DejaVu Sans, Arial, sans-serif";
/// Around everything.
pub(crate) const MARGIN: f64 = 10.0;
/// Lines of a title or a note; what is longer is cut.
const MOST_LINES: usize = 4;

/// All that is on a sheet. Drawing and legend begin at the margin.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Sheet {
    pub(crate) width: f64,
    pub(crate) height: f64,
    /// The whole title.
    pub(crate) title: String,
    /// Lines of title and note.
    pub(crate) head: Vec<HeadLine>,
    /// Where the drawing begins.
    pub(crate) drawing_top: f64,
    pub(crate) drawing: Vec<Element>,
    /// Where the legend begins.
    pub(crate) legend_top: f64,
    pub(crate) legend: Vec<LegendItem>,
}

/// A line of title or note.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct HeadLine {
    pub(crate) baseline: f64,
    pub(crate) letters: Letters,
    pub(crate) text: String,
}

/// A name in the legend, and what it looks like.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct LegendItem {
    /// Seen from the legend's upper left corner.
    pub(crate) corner: (f64, f64),
    pub(crate) swatch: Vec<Element>,
    pub(crate) name: String,
    /// Seen from the item's own corner.
    pub(crate) name_at: (f64, f64),
}

/// The SVG file's text.
pub fn render(figure: &Figure) -> String {
    sheet(figure).svg()
}

/// Everything at its place.
pub(crate) fn sheet(figure: &Figure) -> Sheet {
    let inner = Medium::Paper.width();
    let (mut head, mut y) = (Vec::new(), MARGIN);
    for (text, letters) in [(figure.title(), TITLE), (figure.note(), NOTE)] {
        for text in wrap(text, letters.size, inner, MOST_LINES) {
            y += letters.size * 1.2;
            head.push(HeadLine { baseline: y, letters, text });
        }
    }
    let drawing_top = y + 10.0;
    let drawing = drawing::draw(figure, Medium::Paper);
    let legend_top = drawing_top + drawing.height;
    let (legend, legend_height) = columns(&legend::entries(figure), inner);
    Sheet {
        width: inner + 2.0 * MARGIN,
        height: (legend_top + legend_height + MARGIN).ceil(),
        title: figure.title().to_owned(),
        head,
        drawing_top,
        drawing: drawing.elements,
        legend_top,
        legend,
    }
}

/// The legend in as many columns as fit, and its height.
fn columns(entries: &[Entry], room: f64) -> (Vec<LegendItem>, f64) {
    if entries.is_empty() {
        return (Vec::new(), 0.0);
    }
    let letters = LEGEND.size;
    let beside = SWATCH_WIDTH + 6.0;
    let names: Vec<String> = entries.iter().map(|entry| cut(&entry.name, letters, room - beside)).collect();
    let widest = names.iter().map(|name| width(name, letters)).fold(0.0, f64::max) + beside + 14.0;
    let count = ((room + 14.0) / widest).max(1.0) as usize;
    let pitch = (room + 14.0) / count as f64;
    // Names go down the columns, for that is how lists are read.
    let rows = entries.len().div_ceil(count);
    let line = letters * 1.4;
    let item = |(number, (entry, name)): (usize, (&Entry, String))| LegendItem {
        corner: (pitch * (number / rows) as f64, 4.0 + line * (number % rows) as f64),
        swatch: legend::swatch(entry, Medium::Paper),
        name,
        name_at: (beside, SWATCH_HEIGHT / 2.0 + letters * 0.35),
    };
    let items = entries.iter().zip(names).enumerate().map(item).collect();
    (items, 4.0 + line * rows as f64)
}

impl Sheet {
    /// As an SVG file.
    pub(crate) fn svg(&self) -> String {
        let mut body = String::new();
        for HeadLine { baseline, letters, text } in &self.head {
            let (y, size, text) = (px(*baseline), letters.size, escape(text));
            let ink = match letters.edge {
                Edge::Bold(width) => {
                    format!("fill=\"{0}\" stroke=\"{0}\" stroke-width=\"{width}\"", letters.colour)
                }
                _ => format!("fill=\"{}\"", letters.colour),
            };
            // Writing to a string cannot fail.
            let _ = writeln!(body, "<text x=\"{MARGIN}\" y=\"{y}\" font-size=\"{size}\" {ink}>{text}</text>");
        }
        let drawing = svg::text(&self.drawing, Medium::Paper);
        for (top, part) in [(self.drawing_top, drawing), (self.legend_top, self.legend_svg())] {
            let _ = writeln!(body, "<g transform=\"translate({MARGIN} {})\">\n{part}</g>", px(top));
        }
        let (width, height) = (px(self.width), px(self.height));
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
             font-family=\"{FONTS}\" font-size=\"{}\" fill=\"{DARK}\">\n<title>{}</title>\n\
             <rect width=\"{width}\" height=\"{height}\" fill=\"{WHITE}\"/>\n{body}</svg>\n",
            Medium::Paper.letters(),
            escape(&self.title)
        )
    }

    fn legend_svg(&self) -> String {
        let mut svg = String::new();
        for LegendItem { corner, swatch, name, name_at } in &self.legend {
            let _ = writeln!(
                svg,
                "<g transform=\"translate({} {})\">{}<text x=\"{}\" y=\"{}\" font-size=\"{}\">{}</text></g>",
                px(corner.0),
                px(corner.1),
                svg::text(swatch, Medium::Paper).replace('\n', ""),
                px(name_at.0),
                px(name_at.1),
                LEGEND.size,
                escape(name)
            );
        }
        svg
    }
}
