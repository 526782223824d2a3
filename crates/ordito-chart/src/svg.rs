//! A picture as SVG: names of classes in the page, whose style sheet knows the colours, and fixed colours on paper.

use crate::ink;
use crate::ink::{DARK, Edge, Ink, Letters, WHITE};
use crate::markup::escape;
use crate::outline::{Outline, px};
use crate::palette::Look;
use crate::pen::{Anchor, Cells, Element, Lettering, Medium, Run, Shape, Stroke};
use std::fmt::Write;

/// Elements of SVG, a line each.
pub(crate) fn text(elements: &[Element], medium: Medium) -> String {
    let mut svg = String::new();
    for element in elements {
        write(&mut svg, element, medium);
    }
    svg
}

// Writing to a string cannot fail, so what `writeln!` returns is not looked at.
fn write(svg: &mut String, element: &Element, medium: Medium) {
    match element {
        Element::Line(kind, from, to) => {
            let (x1, y1, x2, y2) = (px(from.0), px(from.1), px(to.0), px(to.1));
            let attributes = stroke(*kind, medium);
            let _ = writeln!(svg, "<line {attributes} x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\"/>");
        }
        Element::Path(kind, outline) => path(svg, &stroke(*kind, medium), outline, ""),
        Element::Text { lettering: kind, anchor, place, text } => {
            let anchor = match anchor {
                Anchor::Start => "",
                Anchor::Middle => " text-anchor=\"middle\"",
                Anchor::End => " text-anchor=\"end\"",
            };
            let (x, y, attributes) = (px(place.0), px(place.1), lettering(*kind, medium));
            let text = escape(text);
            let _ = writeln!(svg, "<text {attributes} x=\"{x}\" y=\"{y}\"{anchor}>{text}</text>");
        }
        Element::Area(area, (from, to)) if medium == Medium::Page => {
            let (x, y, width, height) = (px(area.left), px(area.top), px(area.width()), px(area.height()));
            let _ = writeln!(
                svg,
                "<rect class=\"area\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" \
                 data-from=\"{from}\" data-to=\"{to}\"/>"
            );
        }
        Element::Area(..) => {}
        Element::BeginSeries(number, look) => match medium {
            Medium::Page => {
                let _ = writeln!(svg, "<g class=\"series s{}\" data-series=\"{number}\">", look.colour);
            }
            Medium::Paper => svg.push_str("<g>\n"),
        },
        Element::EndSeries => svg.push_str("</g>\n"),
        Element::Shape { shape: kind, look, outline, told } => {
            let told = if medium == Medium::Page { told } else { "" };
            path(svg, &shape(*kind, *look, medium), outline, told);
        }
        Element::Cells(field) => cells(svg, field, medium),
        Element::Sample { hue, strength, outline } => {
            let class =
                if medium == Medium::Page { format!("class=\"s{}\" ", hue.colour) } else { String::new() };
            let colour = colour(*hue, medium);
            path(svg, &format!("{class}fill=\"{colour}\" fill-opacity=\"{strength:.2}\""), outline, "");
        }
        Element::Mask(outline) => {
            let fill = if medium == Medium::Page {
                "class=\"mask\"".to_owned()
            } else {
                format!("fill=\"{WHITE}\"")
            };
            path(svg, &format!("{fill} fill-rule=\"evenodd\""), outline, "");
        }
        Element::Dot { place, radius, told } => {
            let (x, y) = (px(place.0), px(place.1));
            let _ = match medium {
                Medium::Page => writeln!(
                    svg,
                    "<circle class=\"dot\" cx=\"{x}\" cy=\"{y}\" r=\"{radius}\"><title>{}</title></circle>",
                    escape(told)
                ),
                Medium::Paper => {
                    writeln!(svg, "<circle fill=\"{DARK}\" cx=\"{x}\" cy=\"{y}\" r=\"{radius}\"/>")
                }
            };
        }
    }
}

fn path(svg: &mut String, attributes: &str, outline: &Outline, told: &str) {
    let steps = outline.steps();
    let _ = if told.is_empty() {
        writeln!(svg, "<path {attributes} d=\"{steps}\"/>")
    } else {
        writeln!(svg, "<path {attributes} d=\"{steps}\"><title>{}</title></path>", escape(told))
    };
}

/// In units of cells, so that coordinates are short.
fn cells(svg: &mut String, cells: &Cells, medium: Medium) {
    let (colour, (left, top), (across, down)) = (colour(cells.hue, medium), cells.corner, cells.size);
    // Without crisp edges there would be thin lines between neighbouring cells.
    let _ = writeln!(
        svg,
        "<g shape-rendering=\"crispEdges\" fill=\"{colour}\" transform=\"translate({} {}) scale({across:.4} {down:.4})\">",
        px(left),
        px(top)
    );
    for (strength, runs) in &cells.shades {
        let _ = write!(svg, "<path fill-opacity=\"{strength:.2}\" d=\"");
        for Run { row, col, length } in runs {
            let _ = write!(svg, "M{col} {row}h{length}v1H{col}z");
        }
        svg.push_str("\"/>\n");
    }
    svg.push_str("</g>\n");
}

fn colour(look: Look, medium: Medium) -> String {
    match medium {
        Medium::Page => "currentColor".to_owned(),
        Medium::Paper => ink::of_look(look).to_string(),
    }
}

fn stroke(stroke: Stroke, medium: Medium) -> String {
    match (medium, stroke) {
        (Medium::Page, Stroke::Rule) => "class=\"rule\"".to_owned(),
        (Medium::Page, Stroke::Axis) => "class=\"axis-line\"".to_owned(),
        (Medium::Page, Stroke::Guide) => "class=\"guide\"".to_owned(),
        (Medium::Page, Stroke::Frame) => "class=\"frame\"".to_owned(),
        (Medium::Page, Stroke::Outline) => "class=\"outline\"".to_owned(),
        (Medium::Page, Stroke::Behind) => "class=\"behind\"".to_owned(),
        (Medium::Paper, stroke) => Ink::of_stroke(stroke).attributes(),
    }
}

fn lettering(lettering: Lettering, medium: Medium) -> String {
    match (medium, lettering) {
        (Medium::Page, Lettering::Tick) => "class=\"tick\"".to_owned(),
        (Medium::Page, Lettering::AxisLabel) => "class=\"axis-label\"".to_owned(),
        (Medium::Page, Lettering::Name) => "class=\"name\"".to_owned(),
        (Medium::Page, Lettering::Value) => "class=\"value\"".to_owned(),
        (Medium::Page, Lettering::GuideLabel) => "class=\"guide-label\"".to_owned(),
        (Medium::Page, Lettering::PointLabel) => "class=\"point-label\"".to_owned(),
        (Medium::Page, Lettering::Small) => "class=\"small\"".to_owned(),
        (Medium::Page, Lettering::Panel) => "class=\"panel\"".to_owned(),
        (Medium::Paper, lettering) => {
            let letters = Letters::of(lettering);
            match letters.edge {
                Edge::Halo(colour, width) => {
                    format!("paint-order=\"stroke\" stroke=\"{colour}\" stroke-width=\"{width}\"")
                }
                _ if letters.size != medium.letters() => format!("font-size=\"{}\"", letters.size),
                _ => String::new(),
            }
        }
    }
}

fn shape(shape: Shape, look: Look, medium: Medium) -> String {
    let class = match (medium, shape) {
        (Medium::Paper, shape) => return Ink::of_shape(shape, look).attributes(),
        (Medium::Page, Shape::Line) => "class=\"line\"",
        (Medium::Page, Shape::Thin) => "class=\"line thin\"",
        (Medium::Page, Shape::Band) => "class=\"band\"",
        (Medium::Page, Shape::Range) => "class=\"range\"",
        (Medium::Page, Shape::Point) => "class=\"point\"",
        (Medium::Page, Shape::Bar) => "class=\"bar\"",
    };
    // The style sheet knows colours, but not what tells series of one colour apart.
    match shape {
        Shape::Line if !look.dashes.is_empty() => {
            format!("{class} stroke-dasharray=\"{}\"", ink::dash_array(look.dashes))
        }
        Shape::Bar if look.strength < 100 => {
            format!("{class} fill-opacity=\"{}\"", f64::from(look.strength) / 100.0)
        }
        _ => class.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outline::rectangle;
    use crate::palette::look;

    #[test]
    fn the_page_tells_more_than_paper() {
        let outline = rectangle(0.0, 0.0, 2.0, 1.0);
        let bar = Element::Shape { shape: Shape::Bar, look: look(8), outline, told: "a < b".to_owned() };
        assert_eq!(
            text(std::slice::from_ref(&bar), Medium::Page),
            "<path class=\"bar\" fill-opacity=\"0.62\" d=\"M0 0h2v1h-2z\"><title>a &lt; b</title></path>\n"
        );
        assert!(!text(&[bar], Medium::Paper).contains("title"));
    }

    #[test]
    fn cells_are_drawn_in_units_of_their_own() {
        let run = Run { row: 1, col: 2, length: 3 };
        let field =
            Cells { hue: look(0), corner: (5.0, 6.0), size: (2.0, 4.0), shades: vec![(0.5, vec![run])] };
        let svg = text(&[Element::Cells(field)], Medium::Paper);
        assert!(svg.contains("translate(5 6) scale(2.0000 4.0000)"), "{svg}");
        assert!(svg.contains("<path fill-opacity=\"0.50\" d=\"M2 1h3v1H2z\"/>"), "{svg}");
    }
}
