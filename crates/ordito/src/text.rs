//! Text of others, such as names of files and of sensors: shown and stored so that it can do no harm.

use std::borrow::Cow;
use std::fmt::Write;

/// Does this character change how others are shown? Control characters drive terminals, those of direction turn lines around.
pub fn is_unsafe(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// For a terminal: unsafe characters are spelled out, ends of lines and tabs stay.
///
/// ```
/// assert_eq!(ordito::text::for_terminal("a\x1b[2J\n"), "a\\u{1b}[2J\n");
/// ```
pub fn for_terminal(text: &str) -> Cow<'_, str> {
    spelled_out(
        text,
        |c| is_unsafe(c) && c != '\n' && c != '\t',
        |to, c| write!(to, "{}", c.escape_default()),
    )
}

/// For a line of a table: ends of lines and tabs are spelled out, too.
pub fn for_one_line(text: &str) -> Cow<'_, str> {
    spelled_out(text, is_unsafe, |to, c| write!(to, "{}", c.escape_default()))
}

/// For a terminal that JSON is printed to: the same JSON, since inside of strings, where alone such characters can be, they may
/// be written by their numbers.
pub fn json_for_terminal(json: &str) -> Cow<'_, str> {
    spelled_out(json, |c| is_unsafe(c) && c != '\n', |to, c| write!(to, "\\u{:04x}", c as u32))
}

fn spelled_out(
    text: &str,
    is_spelled: impl Fn(char) -> bool,
    spell: impl Fn(&mut String, char) -> std::fmt::Result,
) -> Cow<'_, str> {
    if !text.chars().any(&is_spelled) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match is_spelled(c) {
            true => spell(&mut safe, c).unwrap_or_default(), // a string takes everything
            false => safe.push(c),
        }
    }
    Cow::Owned(safe)
}

/// For a cell of a CSV file: what a spreadsheet would take for a formula gets an apostrophe before it. Numbers stay numbers. Who
/// takes one apostrophe away from every cell in which apostrophes and then `=`, `+`, `-`, `@`, a tab or a carriage return come
/// first, has what was written.
///
/// ```
/// use ordito::text::csv_cell;
/// assert_eq!([csv_cell("=1+1"), csv_cell("-1.5"), csv_cell("Pz")], ["'=1+1", "-1.5", "Pz"]);
/// ```
pub fn csv_cell(text: &str) -> Cow<'_, str> {
    let is_formula = text.trim_start_matches('\'').starts_with(['=', '+', '-', '@', '\t', '\r']);
    if is_formula && text.parse::<f64>().is_err() {
        Cow::Owned(format!("'{text}"))
    } else {
        Cow::Borrowed(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_drives_the_terminal() {
        let hostile = "\x1b]0;owned\x07\r\x08\x7f\u{9b}31m\u{202e}txt.exe\u{2066}\u{2069}\u{200f}";
        let shown = for_terminal(hostile);
        assert!(!shown.chars().any(is_unsafe), "{shown:?}");
        assert!(shown.starts_with("\\u{1b}]0;owned\\u{7}\\r"), "{shown}");
        for harmless in ["µV · 27 × 3\n\tnext", "Ünïcödé 🧠", ""] {
            assert!(matches!(for_terminal(harmless), Cow::Borrowed(same) if same == harmless));
        }
        assert_eq!(for_one_line("a\n\tb"), "a\\n\\tb");
    }

    #[test]
    fn json_means_the_same() {
        assert_eq!(
            json_for_terminal("{\"a\":\"\u{202e}\u{9b}\u{7f}\"}\n"),
            "{\"a\":\"\\u202e\\u009b\\u007f\"}\n"
        );
    }

    #[test]
    fn no_cell_is_a_formula_and_all_can_be_read_back() {
        let read_back = |cell: &str| match cell.strip_prefix('\'') {
            Some(rest) if rest.trim_start_matches('\'').starts_with(['=', '+', '-', '@', '\t', '\r']) => {
                rest.to_owned()
            }
            _ => cell.to_owned(),
        };
        for text in ["=cmd|' /C calc'!A0", "+1+1", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "'=1", "''-1", "-"] {
            let cell = csv_cell(text);
            assert!(cell.starts_with('\''), "{text:?}");
            assert_eq!(read_back(&cell), text);
        }
        for text in ["-1.5", "+2e-3", "-inf", "1", "", "a=b", "'quoted'", "Pz"] {
            assert_eq!((csv_cell(text).as_ref(), read_back(text).as_str()), (text, text));
        }
    }
}
