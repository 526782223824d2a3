//! Words, numbers and signs of `--launch`, each with its place.

use std::fmt;

/// What is wrong, and where.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct LaunchError {
    pub(super) at: usize,
    pub(super) why: String,
}

impl fmt::Display for LaunchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "--launch, character {}: {}", self.at, self.why)
    }
}

impl std::error::Error for LaunchError {}

/// Characters, and the next one.
pub(super) struct Reader {
    pub(super) text: Vec<char>,
    pub(super) next: usize,
}

impl Reader {
    pub(super) fn place(&mut self) -> usize {
        self.skip_spaces();
        self.next + 1
    }

    pub(super) fn error(&mut self, why: impl Into<String>) -> LaunchError {
        LaunchError { at: self.place(), why: why.into() }
    }

    pub(super) fn skip_spaces(&mut self) {
        while self.text.get(self.next).is_some_and(|c| c.is_whitespace()) {
            self.next += 1;
        }
    }

    pub(super) fn take(&mut self, word: &str) -> bool {
        self.skip_spaces();
        let length = word.chars().count();
        let found = self.text[self.next..].iter().take(length).copied().eq(word.chars());
        self.next += if found { length } else { 0 };
        found
    }

    pub(super) fn expect(&mut self, word: &str) -> Result<(), LaunchError> {
        if self.take(word) { Ok(()) } else { Err(self.wanted(&format!("`{word}`"))) }
    }

    pub(super) fn expect_one_of(&mut self, words: &[&str]) -> Result<(), LaunchError> {
        let found = words.iter().any(|word| self.take(word));
        let all = words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(" or ");
        if found { Ok(()) } else { Err(self.wanted(&all)) }
    }

    pub(super) fn wanted(&mut self, what: &str) -> LaunchError {
        self.skip_spaces();
        let found = self.text.get(self.next).map_or("the end".into(), |c| format!("`{c}`"));
        self.error(format!("{what} expected, {found} found"))
    }

    /// Characters as long as they are wanted.
    pub(super) fn word(&mut self, wanted: impl Fn(char) -> bool) -> String {
        self.skip_spaces();
        let word: String = self.text[self.next..].iter().copied().take_while(|&c| wanted(c)).collect();
        self.next += word.chars().count();
        word
    }

    pub(super) fn name(&mut self, what: &str) -> Result<String, LaunchError> {
        let start = self.next;
        let name = self.word(|c| c.is_alphanumeric() || c == '_');
        if name.chars().next().is_none_or(|first| first.is_ascii_digit()) {
            self.next = start;
            return Err(self.wanted(what));
        }
        Ok(name)
    }

    pub(super) fn whole(&mut self, what: &str) -> Result<u64, LaunchError> {
        let at = self.place();
        let digits = self.word(|c| c.is_ascii_digit() || c == '_').replace('_', "");
        if digits.is_empty() {
            return Err(self.wanted(&format!("a number ({what})")));
        }
        digits.parse().map_err(|_| LaunchError { at, why: format!("{digits} is too large ({what})") })
    }

    /// A number as in C, its suffix left out.
    pub(super) fn number(&mut self) -> Result<String, LaunchError> {
        let at = self.place();
        let start = self.next;
        let mut text = String::new();
        while let Some(&c) = self.text.get(self.next) {
            let sign = matches!(c, '+' | '-') && (text.is_empty() || text.ends_with(['e', 'E']));
            if !(sign || c.is_ascii_alphanumeric() || c == '.' || c == '_') {
                break;
            }
            text.push(c);
            self.next += 1;
        }
        let plain = text.replace('_', "");
        let plain = plain.trim_end_matches(['f', 'F', 'u', 'U', 'l', 'L']);
        if text.is_empty() {
            self.next = start;
            return Err(self.wanted("a number"));
        }
        match plain.parse::<f64>() {
            Ok(_) if plain.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '.')) => {
                Ok(plain.into())
            }
            _ => Err(LaunchError { at, why: format!("`{text}` is no number") }),
        }
    }
}
