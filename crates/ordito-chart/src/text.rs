//! Text in a picture: measured, cut and wrapped.

/// About how wide a text is, in the unit of the font's size. Which font a reader has is not known: rather too wide
/// than too narrow.
pub(crate) fn width(text: &str, size: f64) -> f64 {
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
pub(crate) fn cut(text: &str, size: f64, room: f64) -> String {
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

/// On one line, and without its middle where it would be wider than `room`: names often differ at their end.
pub(crate) fn cut_middle(text: &str, size: f64, room: f64) -> String {
    let line = one_line(text);
    if width(&line, size) <= room {
        return line;
    }
    let half = (room - width("…", size)) / 2.0;
    let fitting = |characters: &mut dyn Iterator<Item = char>| {
        let mut kept = String::new();
        for character in characters {
            kept.push(character);
            if width(&kept, size) > half {
                kept.pop();
                break;
            }
        }
        kept
    };
    let (first, last) = (fitting(&mut line.chars()), fitting(&mut line.chars().rev()));
    format!("{}…{}", first.trim_end(), last.chars().rev().collect::<String>().trim_start())
}

/// On one line, or on two where it would be wider than `room`: names are broken behind one of their dashes or spaces.
pub(crate) fn in_two(text: &str, size: f64, room: f64) -> Vec<String> {
    let line = one_line(text);
    if width(&line, size) <= room {
        return vec![line];
    }
    let after = |(at, character): (usize, char)| {
        let end = at + character.len_utf8();
        ("-, ".contains(character) && width(line[..end].trim_end(), size) <= room).then_some(end)
    };
    match line.char_indices().rev().find_map(after) {
        Some(end) => {
            vec![line[..end].trim_end().to_owned(), cut_middle(line[end..].trim_start(), size, room)]
        }
        None => vec![cut_middle(&line, size, room)],
    }
}

/// In lines no wider than `room`, at most `most` of them.
pub(crate) fn wrap(text: &str, size: f64, room: f64, most: usize) -> Vec<String> {
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
    fn the_end_of_a_name_stays() {
        let cut = cut_middle("ell-padded-threads-elements, 2 threads", 10.0, 150.0);
        assert!(cut.starts_with("ell-p") && cut.ends_with("threads") && cut.contains('…'), "{cut}");
        assert!(width(&cut, 10.0) <= 150.0);
        assert_eq!(cut_middle("short", 10.0, 150.0), "short");
    }

    #[test]
    fn a_name_is_broken_behind_a_dash() {
        assert_eq!(in_two("csr-cuda-lanes2-per-element", 10.0, 100.0), ["csr-cuda-lanes2-", "per-element"]);
        assert_eq!(in_two("short", 10.0, 100.0), ["short"]);
        for long in ["x".repeat(500), "a-".repeat(500), "è, ".repeat(99)] {
            let lines = in_two(&long, 10.0, 100.0);
            assert!(lines.len() <= 2 && lines.iter().all(|line| width(line, 10.0) <= 100.0), "{lines:?}");
        }
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
