//! The text of a `.cu` file as it is looked through: without comments and strings, and without what the emulator's compiler leaves out.

/// Such a text; lines stay where they are.
pub(crate) fn plain(text: &str) -> String {
    without_host(&code(text))
}

/// The text with comments and strings blanked; lines stay where they are.
pub(crate) fn code(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    let blank = |c: char| if c == '\n' { '\n' } else { ' ' };
    while let Some(c) = rest.next() {
        match (c, rest.peek()) {
            ('/', Some('/')) => {
                while let Some(&c) = rest.peek() {
                    if c == '\n' {
                        break;
                    }
                    rest.next();
                }
            }
            ('/', Some('*')) => {
                let mut last = ' ';
                rest.next();
                for c in rest.by_ref() {
                    code.push(blank(c));
                    if (last, c) == ('*', '/') {
                        break;
                    }
                    last = c;
                }
            }
            ('"', _) => {
                code.push('"');
                let mut escaped = false;
                for c in rest.by_ref() {
                    if (c == '"' && !escaped) || c == '\n' {
                        code.push(c);
                        break;
                    }
                    escaped = c == '\\' && !escaped;
                    code.push(' ');
                }
            }
            _ => code.push(c),
        }
    }
    code
}

/// Without branches of conditionals that are left out where `ORDITO_EMULATOR` is defined.
fn without_host(code: &str) -> String {
    let mut result = String::with_capacity(code.len());
    let mut open: Vec<Conditional> = Vec::new();
    for line in code.lines() {
        let directive = line.trim_start().strip_prefix('#').map_or("", str::trim_start);
        let end = directive.find(|c: char| !c.is_alphabetic()).unwrap_or(directive.len());
        let (word, condition) = directive.split_at(end);
        match word {
            "endif" => drop(open.pop()),
            "if" | "ifdef" | "ifndef" => open.push(Conditional::default()),
            _ => {}
        }
        if let (Some(is_true), Some(conditional)) = (branch(word, condition), open.last_mut()) {
            conditional.begin_branch(is_true);
        }
        if open.iter().all(|conditional| conditional.is_seen) {
            result.push_str(line);
        }
        result.push('\n');
    }
    result
}

/// From `#if` to `#endif`.
#[derive(Debug, Default)]
struct Conditional {
    /// May the compiler see the branch that was begun last?
    is_seen: bool,
    /// It sees one before, and no other.
    is_decided: bool,
}

impl Conditional {
    fn begin_branch(&mut self, is_true: Option<bool>) {
        self.is_seen = !self.is_decided && is_true != Some(false);
        self.is_decided |= is_true == Some(true);
    }
}

/// Whether the condition of a branch holds, as far as that is known; `None`: this directive begins none.
fn branch(word: &str, condition: &str) -> Option<Option<bool>> {
    let names_us = condition.trim() == "ORDITO_EMULATOR";
    match word {
        "if" | "elif" => Some(holds(condition)),
        "ifdef" | "elifdef" => Some(names_us.then_some(true)),
        "ifndef" | "elifndef" => Some(names_us.then_some(false)),
        "else" => Some(Some(true)),
        _ => None,
    }
}

/// Whether all parts of `… && …` hold.
fn holds(condition: &str) -> Option<bool> {
    let parts: Vec<&str> = condition.split("&&").collect();
    let is_whole = |part: &&str| part.matches('(').count() == part.matches(')').count();
    if condition.contains("||") || !parts.iter().all(is_whole) {
        return None;
    }
    let known = |part: &&str| {
        let part = part.replace(['(', ')', ' ', '\t'], "");
        match part.replace("definedORDITO", "ORDITO").as_str() {
            "ORDITO_EMULATOR" | "1" => Some(true),
            "!ORDITO_EMULATOR" | "0" => Some(false),
            _ => None,
        }
    };
    let known: Vec<Option<bool>> = parts.iter().map(known).collect();
    match known.contains(&Some(false)) {
        true => Some(false),
        false => known.iter().all(Option::is_some).then_some(true),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is left of a text, its directives apart.
    fn left(text: &str) -> String {
        let plain = plain(text);
        assert_eq!(plain.lines().count(), text.lines().count());
        plain.lines().filter(|line| !line.starts_with('#')).collect::<Vec<_>>().join("")
    }

    #[test]
    fn code_of_the_host_may_be_put_aside() {
        assert_eq!(
            left("a\n#ifndef ORDITO_EMULATOR\nb\n#if 1\nc\n#else\nd\n#endif\n#else\ne\n#endif\nf"),
            "aef"
        );
        assert_eq!(left("#ifdef ORDITO_EMULATOR\na\n#elif X\nb\n#else\nc\n#endif\nd"), "ad");
        assert_eq!(left("#ifndef ORDITO_EMULATOR\na\n#elif X\nb\n#else\nc\n#endif\nd"), "bcd");
        assert_eq!(left("# if X\na\n#elif defined ORDITO_EMULATOR\nb\n#else\nc\n#endif\nd"), "abd");
        assert_eq!(left("#endif\n#else\na\n#elif 0\nb"), "ab", "what the compiler will refuse");
    }

    #[test]
    fn conditions_that_are_known() {
        for never in [
            "!defined(ORDITO_EMULATOR)",
            "! defined ORDITO_EMULATOR",
            "!(defined(ORDITO_EMULATOR))",
            "X && !defined(ORDITO_EMULATOR)",
            "0",
        ] {
            assert_eq!(holds(never), Some(false), "{never}");
        }
        for always in ["defined(ORDITO_EMULATOR)", "ORDITO_EMULATOR", "1 && defined(ORDITO_EMULATOR)"] {
            assert_eq!(holds(always), Some(true), "{always}");
        }
        for open in [
            "X",
            "X || !defined(ORDITO_EMULATOR)",
            "!(X && !defined(ORDITO_EMULATOR))",
            "defined(ORDITO_EMULATOR) && X",
            "",
        ] {
            assert_eq!(holds(open), None, "{open}");
        }
    }

    #[test]
    fn comments_and_strings_are_blank() {
        assert_eq!(plain("a // b\n\"c\" /* d\n*/ e"), "a \n\" \"   \n   e\n");
    }
}
