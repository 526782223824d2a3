//! Columns of text as lines: padded, aligned, and without any line but one under the titles.

use comfy_table::{Cell, CellAlignment, ContentArrangement, ContentLineStyle, LineStyle, Table, TableStyle};

/// A column as it is printed.
pub struct Printed<'a> {
    /// Above it.
    pub title: &'a str,
    /// Text stands left, numbers right.
    pub is_text: bool,
    /// From top to bottom.
    pub cells: Vec<String>,
}

/// Numbers in columns need no lines, and the width goes further.
const STYLE: TableStyle = TableStyle::new()
    .header_lines(ContentLineStyle::none())
    .header_separator(LineStyle::none().fill('─').junction('─'))
    .content_lines(ContentLineStyle::none());

/// Between two columns: one of padding, and the invisible junction.
const GAP: usize = 2;

/// Characters of a line.
pub(crate) fn total_width(columns: &[Printed<'_>]) -> usize {
    let characters = |text: &str| text.chars().count();
    let widest = |column: &Printed<'_>| {
        column.cells.iter().map(|cell| characters(cell)).fold(characters(column.title), usize::max)
    };
    columns.iter().map(|column| widest(column) + GAP).sum::<usize>().saturating_sub(GAP)
}

/// The titles, a line under them, and a line for each row. Columns have equally many cells.
pub fn laid_out(columns: &[Printed<'_>]) -> Vec<String> {
    let mut table = Table::new();
    table.load_style(STYLE).set_content_arrangement(ContentArrangement::Disabled);
    let aligned = |column: &Printed<'_>, content: &str| {
        let side = if column.is_text { CellAlignment::Left } else { CellAlignment::Right };
        Cell::new(content).set_alignment(side)
    };
    table.set_header(columns.iter().map(|column| aligned(column, column.title)));
    let rows = columns.first().map_or(0, |column| column.cells.len());
    for row in 0..rows {
        table.add_row(columns.iter().map(|column| aligned(column, &column.cells[row])));
    }
    for column in table.column_iter_mut() {
        column.set_padding((0, 1));
    }
    table.lines().map(|line| line.trim_end().to_owned()).collect()
}
