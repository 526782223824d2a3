//! What every page has: the head, the way through its sections, tables.

use crate::STYLE as CHART_STYLE;
use crate::markup::escape;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac_sha256::Hash;
use std::fmt::Write;

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");

/// The sections of a page, in order.
#[derive(Default)]
pub struct Contents {
    titles: Vec<String>,
    html: String,
}

impl Contents {
    /// A section, unless there is nothing in it. The title is ours, the text is markup.
    pub fn add(&mut self, title: &str, html: &str) {
        if html.is_empty() {
            return;
        }
        let number = self.titles.len();
        let _ = writeln!(
            self.html,
            "<section id=\"part{number}\" aria-labelledby=\"title{number}\">\n<h2 id=\"title{number}\">{title}</h2>\n{html}</section>"
        ); // writing to a string cannot fail
        self.titles.push(title.to_owned());
    }

    fn navigation(&self) -> String {
        let link = |(number, title): (usize, &String)| format!("<a href=\"#part{number}\">{title}</a>");
        let links: Vec<String> = self.titles.iter().enumerate().map(link).collect();
        format!("<nav aria-label=\"Sections\">{}</nav>\n", links.join(" "))
    }
}

/// What a page has beyond the others: its own style sheet and script, after the common ones.
#[derive(Default)]
pub struct Additions {
    /// CSS.
    pub style: &'static str,
    /// JavaScript.
    pub script: &'static str,
}

/// The whole page. Only this very script may run, and nothing may be fetched.
pub fn page(title: &str, header: &str, contents: &Contents) -> String {
    page_with(title, header, contents, &Additions::default())
}

/// The same with more than the common style sheet and script.
pub fn page_with(title: &str, header: &str, contents: &Contents, additions: &Additions) -> String {
    let all = format!("{SCRIPT}{}", additions.script);
    let script = STANDARD.encode(Hash::hash(all.as_bytes()));
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; \
         script-src 'sha256-{script}'\">\n\
         <title>{title}</title>\n<style>\n{STYLE}{}{}</style>\n</head>\n<body>\n\
         <header>\n<h1>{title}</h1>\n{header}{}</header>\n<main>\n{}</main>\n\
         <script>{all}</script>\n</body>\n</html>\n",
        CHART_STYLE,
        additions.style,
        contents.navigation(),
        contents.html
    )
}

/// A cell: its text, its class, and what it is sorted by where that is not the text.
pub struct Cell {
    /// Markup.
    pub text: String,
    /// Of the style sheet.
    pub class: &'static str,
    /// What the column is sorted by.
    pub value: Option<f64>,
}

impl Cell {
    /// Text.
    pub fn text(text: impl Into<String>) -> Self {
        Cell { text: text.into(), class: "", value: None }
    }

    /// A number, at the right.
    pub fn number(text: impl Into<String>) -> Self {
        Cell { class: "number", ..Cell::text(text) }
    }

    /// Text that may be long.
    pub fn wide(text: impl Into<String>) -> Self {
        Cell { class: "wide", ..Cell::text(text) }
    }
}

/// A row, the first cell of which says what it is of; red where `bad`.
pub fn row(bad: bool, cells: &[Cell]) -> String {
    let mut html = String::from(if bad { "<tr class=\"bad\">" } else { "<tr>" });
    for (index, cell) in cells.iter().enumerate() {
        let mut attributes = String::new();
        if !cell.class.is_empty() {
            let _ = write!(attributes, " class=\"{}\"", cell.class);
        }
        if let Some(value) = cell.value.filter(|value| value.is_finite()) {
            let _ = write!(attributes, " data-value=\"{value}\"");
        }
        let text = escape(&cell.text);
        html.push_str(&match index {
            0 => format!("<th scope=\"row\"{attributes}>{text}</th>"),
            _ => format!("<td{attributes}>{text}</td>"),
        });
    }
    html + "</tr>\n"
}

/// A table of such rows, which scrolls by itself where it is too wide. Titles come with the class of their column.
pub fn table(caption: &str, titles: &[(&str, &str)], rows: &str) -> String {
    whole_table("", caption, titles, rows)
}

/// The same with an attribute for the script.
pub fn whole_table(attribute: &str, caption: &str, titles: &[(&str, &str)], rows: &str) -> String {
    let titles: String = titles
        .iter()
        .map(|(title, class)| format!("<th scope=\"col\" class=\"{class}\">{}</th>", escape(title)))
        .collect();
    format!(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{0}\"><table{attribute}>\n<caption>{0}</caption>\n\
         <thead><tr>{titles}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table></div>\n",
        escape(caption)
    )
}
