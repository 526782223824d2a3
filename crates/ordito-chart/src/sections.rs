//! Figures that answer the same question, with the names of their files and what a reader should know first.

use crate::markup::escape;
use crate::{Figure, page};

/// A figure and the name of its files.
#[derive(Debug, Clone, PartialEq)]
pub struct Named {
    /// Without an extension: unique in the report, plain letters, digits and dashes.
    pub file: String,
    /// What is drawn.
    pub figure: Figure,
}

/// Figures that answer the same question.
#[derive(Debug, Clone, PartialEq)]
pub struct Section {
    /// What it is about.
    pub title: &'static str,
    /// What a reader should know before looking.
    pub intro: &'static str,
    /// Never empty.
    pub figures: Vec<Named>,
}

/// Sections from what their files' names begin with, title, introduction and figures; those without figures are left out.
pub fn named(
    all: impl IntoIterator<Item = (&'static str, &'static str, &'static str, Vec<(String, Figure)>)>,
) -> Vec<Section> {
    let mut names = Names::default();
    let mut sections = Vec::new();
    for (prefix, title, intro, figures) in all {
        let named = |(of, figure): (String, Figure)| Named { file: names.unique(prefix, &of), figure };
        let figures: Vec<Named> = figures.into_iter().map(named).collect();
        if !figures.is_empty() {
            sections.push(Section { title, intro, figures });
        }
    }
    sections
}

/// Names of files that were given out already.
#[derive(Default)]
struct Names(std::collections::BTreeSet<String>);

impl Names {
    /// What a name keeps at most: file systems end near 255.
    const LONGEST: usize = 80;

    /// The prefix and what of the rest is letters and digits, numbered where that was given out already.
    fn unique(&mut self, prefix: &str, of: &str) -> String {
        let mut name = String::from(prefix);
        for character in of.chars() {
            match character {
                letter if letter.is_ascii_alphanumeric() => name.push(letter.to_ascii_lowercase()),
                _ if !name.ends_with('-') => name.push('-'),
                _ => {}
            }
            // The first character of what it is of stands apart from the prefix.
            if name.len() == prefix.len() + 1 && !name.ends_with('-') {
                name.insert(prefix.len(), '-');
            }
            if name.len() >= Self::LONGEST {
                break;
            }
        }
        let name = name.trim_end_matches('-').to_owned();
        let numbered = |count: usize| if count == 1 { name.clone() } else { format!("{name}-{count}") };
        let free = (1..).map(numbered).find(|name| !self.0.contains(name)).unwrap_or(name.clone());
        self.0.insert(free.clone());
        free
    }
}

/// The figures of a section, after what a reader should know.
pub fn drawn(section: &Section) -> String {
    let mut html = format!("<p>{}</p>\n<div class=\"charts\">\n", escape(section.intro));
    for named in &section.figures {
        html.push_str(&page::render(&named.figure, &named.file));
    }
    html + "</div>\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_plain_short_and_unique() {
        let mut names = Names::default();
        assert_eq!(names.unique("speed", "stencil27:40, f64"), "speed-stencil27-40-f64");
        assert_eq!(names.unique("speed", "stencil27/40 f64"), "speed-stencil27-40-f64-2");
        assert_eq!(names.unique("speed", "../../etc"), "speed-etc");
        assert_eq!(names.unique("speed", "è"), "speed");
        assert!(names.unique("speed", &"x".repeat(500)).len() <= Names::LONGEST);
    }
}
