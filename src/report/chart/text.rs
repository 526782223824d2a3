//! Text in a picture: made harmless, measured, cut and wrapped.

/// Text that is safe in HTML and SVG, as content and in attributes. Characters XML does not know are replaced.
pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '\n' | '\t' => escaped.push(character),
            '\u{FFFE}' | '\u{FFFF}' => escaped.push('\u{FFFD}'),
            // Marks that turn the direction of what follows would turn the rest of the page, too.
            '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' => escaped.push('\u{FFFD}'),
            other if other.is_control() => escaped.push('\u{FFFD}'),
            other => escaped.push(other),
        }
    }
    escaped
}

/// About how wide a text is, in the unit of the font's size. Which font a reader has is not known: rather too wide
/// than too narrow.
pub(super) fn width(text: &str, size: f64) -> f64 {
    // Those of DejaVu Sans, about: few fonts are wider.
    let share = |character: char| match character {
        'i' | 'j' | 'l' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' | ' ' => 0.30,
        'f' | 'r' | 't' | '(' | ')' | '[' | ']' | '/' | '-' | 'I' => 0.40,
        'm' | 'w' | 'M' | 'W' | '@' | '%' | '…' => 0.97,
        'A'..='Z' => 0.69,
        '0'..='9' => 0.64,
        '\u{1100}'.. => 1.05,
        _ => 0.62,
    };
    text.chars().map(share).sum::<f64>() * size
}

/// On one line, and ended by … where it would be wider than `room`.
pub(super) fn cut(text: &str, size: f64, room: f64) -> String {
    let line = one_line(text);
    if width(&line, size) <= room {
        return line;
    }
    let mut kept = String::new();
    for character in line.chars() {
        kept.push(character);
        if width(&kept, size) + width("…", size) > room {
            kept.pop();
            break;
        }
    }
    format!("{}…", kept.trim_end())
}

/// In lines no wider than `room`, at most `most` of them.
pub(super) fn wrap(text: &str, size: f64, room: f64, most: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in one_line(text).split_whitespace() {
        let full = lines.len() >= most;
        match lines.last_mut() {
            // The last line takes all that is left; it is cut below.
            Some(line) if full || width(&format!("{line} {word}"), size) <= room => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines.iter().map(|line| cut(line, size, room)).collect()
}

fn one_line(text: &str) -> String {
    let plain = |character: char| !(character.is_whitespace() || character.is_control());
    text.chars().map(|character| if plain(character) { character } else { ' ' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_text_is_harmless() {
        assert_eq!(escape("<script>'\"&"), "&lt;script&gt;&#39;&quot;&amp;");
        assert_eq!(escape("a\0b\u{202E}c\nd"), "a\u{FFFD}b\u{FFFD}c\nd");
    }

    #[test]
    fn long_text_is_cut_to_its_room() {
        let cut_text = cut(&"x".repeat(500), 10.0, 100.0);
        assert!(cut_text.ends_with('…') && width(&cut_text, 10.0) <= 100.0, "{cut_text}");
        assert_eq!(cut("a\nb", 10.0, 100.0), "a b");
        assert_eq!(cut("abc", 10.0, 0.0), "…");
    }

    #[test]
    fn lines_are_wrapped_and_counted() {
        let lines = wrap("one two three four five six", 10.0, 60.0, 2);
        assert_eq!(lines.len(), 2);
        assert!(lines.iter().all(|line| width(line, 10.0) <= 60.0), "{lines:?}");
        assert!(wrap(" ", 10.0, 60.0, 2).is_empty());
    }
}
