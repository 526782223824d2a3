//! What the lanes of one warp touch, drawn: rows of 128 bytes, the sectors that are moved, the bytes that are used.

use ordito::device::emulator::xray::{Picture, Space};
use ordito_chart::markup::escape;
use std::collections::BTreeMap;
use std::fmt::Write;

const WORDS: u64 = 32;
const WORD_BYTES: u64 = 4;
const ROW_BYTES: u64 = WORDS * WORD_BYTES;
const SECTOR_WORDS: u64 = 8;
/// Rows that are drawn at most: a warp touches no more lines where lanes touch one each.
const MOST_ROWS: usize = 40;
/// Width and height of a word, and room for the addresses.
const CELL: (u64, u64) = (14, 14);
const LABEL: u64 = 84;

/// How the parts look; goes into the page's style sheet.
pub(crate) const STYLE: &str = "
.words { max-width: 100%; height: auto; }
.words .moved { fill: var(--behind); fill-opacity: 0.35; }
.words .used { fill: #0072b2; }
.words .again { fill: #d55e00; }
.words .edge { fill: none; stroke: var(--line); }
.words text { fill: var(--quiet); font: 11px system-ui, sans-serif; }
.source td:last-child, .source th:last-child { white-space: pre; font-family: ui-monospace, monospace; text-align: left; }
details > summary { cursor: pointer; }
";

/// An SVG. Global memory: sectors that are moved are grey, words that some lane uses blue. Shared memory: columns are banks; a word of a
/// bank that serves another one already is orange.
pub(crate) fn draw(picture: &Picture, space: Space, bytes: u32) -> String {
    // By row and word: the lanes that want it.
    let mut rows: BTreeMap<u64, BTreeMap<u64, Vec<u32>>> = BTreeMap::new();
    for (lane, offset) in picture.lanes.iter().zip(&picture.offsets) {
        let last = offset + u64::from(bytes.max(1)) - 1;
        for word in offset / WORD_BYTES..=last / WORD_BYTES {
            rows.entry(word / WORDS).or_default().entry(word % WORDS).or_default().push(*lane);
        }
    }
    let left_out = rows.len().saturating_sub(MOST_ROWS);
    let height = (rows.len() - left_out) as u64 * (CELL.1 + 4) + 22;
    let width = LABEL + WORDS * CELL.0 + 2;
    let what = format!(
        "block {}, warp {}: {} lanes touch {} bytes each of {}",
        picture.block,
        picture.warp,
        picture.lanes.len(),
        bytes,
        picture.buffer
    );
    let mut svg = format!(
        "<svg class=\"words\" role=\"img\" aria-label=\"{0}\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\">\n<title>{0}</title>\n",
        escape(&what)
    );
    let mut served = [false; WORDS as usize];
    for (index, (row, words)) in rows.iter().take(MOST_ROWS).enumerate() {
        let y = index as u64 * (CELL.1 + 4) + 14;
        let _ = writeln!(
            svg,
            "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">+{}</text>",
            LABEL - 6,
            y + 11,
            row * ROW_BYTES
        );
        for sector in 0..WORDS / SECTOR_WORDS {
            let moved = space == Space::Global && words.keys().any(|word| word / SECTOR_WORDS == sector);
            let class = if moved { "moved" } else { "edge" };
            let x = LABEL + sector * SECTOR_WORDS * CELL.0;
            let _ = writeln!(
                svg,
                "<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{}\" height=\"{}\"/>",
                SECTOR_WORDS * CELL.0 - 1,
                CELL.1
            );
        }
        for (word, lanes) in words {
            let again = space == Space::Shared && std::mem::replace(&mut served[*word as usize], true);
            let class = if again { "again" } else { "used" };
            let lanes = lanes.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
            let _ = writeln!(
                svg,
                "<rect class=\"{class}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"><title>byte {}, lane {lanes}</title></rect>",
                LABEL + word * CELL.0 + 1,
                y + 2,
                CELL.0 - 3,
                CELL.1 - 4,
                row * ROW_BYTES + word * WORD_BYTES
            );
        }
    }
    svg.push_str("</svg>\n");
    let more = if left_out > 0 { format!(" {left_out} more rows are left out.") } else { String::new() };
    format!(
        "<figure class=\"warp\">{svg}<figcaption>{}. A row is 128 bytes.{more}</figcaption></figure>\n",
        escape(&what)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(space: Space, offset: impl Fn(u64) -> u64) -> String {
        let (lanes, offsets) = ((0..32).collect(), (0..32).map(offset).collect());
        draw(&Picture { buffer: "X <b>".into(), block: 1, warp: 2, lanes, offsets }, space, 4)
    }

    #[test]
    fn sectors_and_words() {
        let coalesced = drawn(Space::Global, |lane| 4 * lane);
        assert_eq!(coalesced.matches("class=\"moved\"").count(), 4);
        assert_eq!(coalesced.matches("class=\"used\"").count(), 32);
        assert!(coalesced.contains("X &lt;b&gt;") && !coalesced.contains("<b>"));
        let column = drawn(Space::Global, |lane| 512 * lane);
        assert_eq!(
            (column.matches("class=\"moved\"").count(), column.matches("class=\"edge\"").count()),
            (32, 96)
        );
    }

    #[test]
    fn words_of_the_same_bank_stand_out() {
        let conflict = drawn(Space::Shared, |lane| 128 * lane);
        assert_eq!(
            (conflict.matches("class=\"used\"").count(), conflict.matches("class=\"again\"").count()),
            (1, 31)
        );
        assert!(!drawn(Space::Shared, |lane| 132 * lane).contains("class=\"again\""));
    }
}
