//! A figure as part of the report: a picture whose colours are the style sheet's, a legend of buttons, and the numbers as
//! a table. A script may put the class `off` on a series and `aria-pressed="false"` on its button.

use crate::drawing;
use crate::legend;
use crate::legend::{Entry, SWATCH_HEIGHT, SWATCH_WIDTH};
use crate::markup::escape;
use crate::outline::px;
use crate::pen::Medium;
use crate::svg;
use crate::text::cut;
use crate::{Figure, Numbers, numbers};
use std::fmt::Write;

/// Names that a description lists.
const MOST_NAMES: usize = 12;

/// A `<figure>`; `id` is unique in the page.
pub fn render(figure: &Figure, id: &str) -> String {
    let id = escape(id);
    let (title, note) = (escape(figure.title()), escape(figure.note()));
    let drawing = drawing::draw(figure, Medium::Page);
    let (width, height) = (px(Medium::Page.width()), px(drawing.height));
    let note = if note.is_empty() { note } else { format!(" <span class=\"chart-note\">{note}</span>") };
    format!(
        "<figure class=\"chart\" id=\"{id}\">\n\
         <figcaption><span class=\"chart-title\">{title}</span>{note}</figcaption>\n\
         <div class=\"picture\" tabindex=\"0\"><svg viewBox=\"0 0 {width} {height}\" width=\"100%\" role=\"img\" \
         aria-labelledby=\"{id}-title {id}-desc\">\n\
         <title id=\"{id}-title\">{title}</title>\n<desc id=\"{id}-desc\">{}</desc>\n{}</svg></div>\n{}{}</figure>\n",
        escape(&description(figure)),
        svg::text(&drawing.elements, Medium::Page),
        buttons(&legend::entries(figure)),
        table(figure.title(), &numbers::of(figure)),
    )
}

/// What the picture is, for those who do not see it; the numbers themselves are in the table.
fn description(figure: &Figure) -> String {
    let listed = |names: Vec<&str>| {
        let mut text: Vec<String> = names.iter().take(MOST_NAMES).map(|name| cut(name, 1.0, 40.0)).collect();
        if names.len() > MOST_NAMES {
            text.push(format!("and {} more", names.len() - MOST_NAMES));
        }
        text.join(", ")
    };
    match figure {
        Figure::Plot(plot) => {
            let series = listed(plot.series.iter().map(|series| series.name.as_str()).collect());
            let mut text = format!("{} over {}: {series}.", plot.y.label, plot.x.label);
            if plot.guides.iter().any(|guide| !guide.label.is_empty()) {
                let labels = plot.guides.iter().map(|guide| guide.label.as_str());
                let guides = listed(labels.filter(|label| !label.is_empty()).collect());
                let _ = write!(text, " Held against: {guides}."); // writing to a string cannot fail
            }
            text
        }
        Figure::Bars(bars) => {
            format!("{}: {}.", bars.label, listed(bars.rows.iter().map(|row| row.name.as_str()).collect()))
        }
        Figure::Grid(grid) => format!("{}: {} over {}.", grid.label, grid.y.label, grid.x.label),
        Figure::Maps(maps) => {
            format!("{}: {}.", maps.label, listed(maps.maps.iter().map(|map| map.title.as_str()).collect()))
        }
        Figure::Panels(panels) => {
            let curves = listed(panels.names.iter().map(String::as_str).collect());
            format!(
                "{curves} at {}.",
                listed(panels.panels.iter().map(|panel| panel.name.as_str()).collect())
            )
        }
        Figure::Multiples(multiples) => {
            let names = listed(multiples.panels.iter().map(|panel| panel.name.as_str()).collect());
            format!("{} over {}, a panel each: {names}.", multiples.y.label, multiples.x.label)
        }
        Figure::Dots(dots) => {
            let axes = listed(dots.axes.iter().map(|axis| axis.label.as_str()).collect());
            format!("{axes}: {}.", listed(dots.rows.iter().map(String::as_str).collect()))
        }
    }
}

fn buttons(entries: &[Entry]) -> String {
    if entries.is_empty() {
        return String::new();
    }
    let mut html = "<ul class=\"legend\">\n".to_owned();
    for (number, entry) in entries.iter().enumerate() {
        let _ = writeln!(
            html,
            "<li><button type=\"button\" aria-pressed=\"true\" data-series=\"{number}\">\
             <svg class=\"swatch\" viewBox=\"0 0 {SWATCH_WIDTH} {SWATCH_HEIGHT}\" width=\"{SWATCH_WIDTH}\" \
             height=\"{SWATCH_HEIGHT}\" aria-hidden=\"true\"><g class=\"series s{}\">{}</g></svg>\
             <span>{}</span></button></li>",
            entry.look.colour,
            svg::text(&legend::swatch(entry, Medium::Page), Medium::Page).replace('\n', ""),
            escape(&entry.name)
        );
    }
    html.push_str("</ul>\n");
    html
}

fn table(title: &str, numbers: &Numbers) -> String {
    if numbers.rows.is_empty() {
        return String::new();
    }
    let row = |cells: &[String], first: &str, other: &str| {
        let mut html = "<tr>".to_owned();
        for (column, cell) in cells.iter().enumerate() {
            let (open, close) = if column == 0 { (first, "th") } else { (other, &other[..2]) };
            let _ = write!(html, "<{open}>{}</{close}>", escape(cell));
        }
        html.push_str("</tr>\n");
        html
    };
    let head = row(&numbers.titles, "th scope=\"col\"", "th scope=\"col\"");
    let body: String = numbers.rows.iter().map(|cells| row(cells, "th scope=\"row\"", "td")).collect();
    format!(
        "<details><summary>Numbers</summary><div class=\"table\" tabindex=\"0\"><table>\n<caption>{}</caption>\n\
         <thead>{head}</thead>\n<tbody>\n{body}</tbody></table></div></details>\n",
        escape(title)
    )
}
