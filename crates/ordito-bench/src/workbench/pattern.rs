//! Patterns of names, as shells have them: `*` for anything, `?` for one character, `[abc]`, `[a-z]` and `[!a]` for one of a
//! class, `{a,b}` for either; `\` takes the next one literally.

use std::iter::Peekable;
use std::str::Chars;

/// A pattern that has been read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pattern(Vec<Token>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    Literal(char),
    AnyOne,
    Anything,
    OneOf { ranges: Vec<(char, char)>, is_negated: bool },
    Either(Vec<Vec<Token>>),
}

/// What is wrong with a pattern.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum PatternError {
    #[error("unclosed character class; missing ']'")]
    UnclosedClass,
    #[error("invalid range; '{0}' > '{1}'")]
    Range(char, char),
    #[error("unclosed alternate group; missing '}}' (maybe escape '{{' with '[{{]'?)")]
    UnclosedGroup,
    #[error("unopened alternate group; missing '{{' (maybe escape '}}' with '[}}]'?)")]
    UnopenedGroup,
    #[error("dangling '\\'")]
    DanglingEscape,
}

impl Pattern {
    pub(crate) fn new(text: &str) -> Result<Self, PatternError> {
        let mut rest = text.chars().peekable();
        let tokens = tokens(&mut rest, false)?;
        // Only a brace that nobody opened ends the list before the text does.
        if rest.next().is_some() { Err(PatternError::UnopenedGroup) } else { Ok(Pattern(tokens)) }
    }

    /// Does it mean all of this name?
    pub(crate) fn matches(&self, name: &str) -> bool {
        let name: Vec<char> = name.chars().collect();
        let mut start = vec![false; name.len() + 1];
        start[0] = true;
        reached(&self.0, &name, start)[name.len()]
    }
}

/// Tokens up to the end, or inside a group up to what ends one of its ways.
fn tokens(rest: &mut Peekable<Chars<'_>>, in_group: bool) -> Result<Vec<Token>, PatternError> {
    let mut tokens = Vec::new();
    while let Some(&next) = rest.peek() {
        if next == '}' || (next == ',' && in_group) {
            break;
        }
        rest.next();
        tokens.push(match next {
            '*' => Token::Anything,
            '?' => Token::AnyOne,
            '[' => class(rest)?,
            '{' => either(rest)?,
            '\\' => Token::Literal(rest.next().ok_or(PatternError::DanglingEscape)?),
            literal => Token::Literal(literal),
        });
    }
    Ok(tokens)
}

/// Behind a `{`.
fn either(rest: &mut Peekable<Chars<'_>>) -> Result<Token, PatternError> {
    let mut ways = Vec::new();
    loop {
        ways.push(tokens(rest, true)?);
        match rest.next() {
            Some('}') => return Ok(Token::Either(ways)),
            Some(_) => {} // a comma: one more
            None => return Err(PatternError::UnclosedGroup),
        }
    }
}

/// Behind a `[`. A `]` that comes first is one of the class, and so is a `-` that has nothing on one side.
fn class(rest: &mut Peekable<Chars<'_>>) -> Result<Token, PatternError> {
    let is_negated = rest.next_if(|&next| next == '!' || next == '^').is_some();
    let mut ranges = Vec::new();
    loop {
        let first = rest.next().ok_or(PatternError::UnclosedClass)?;
        if first == ']' && !ranges.is_empty() {
            return Ok(Token::OneOf { ranges, is_negated });
        }
        let mut last = first;
        if rest.next_if_eq(&'-').is_some() {
            match rest.peek() {
                Some(']') => ranges.push(('-', '-')),
                _ => last = rest.next().ok_or(PatternError::UnclosedClass)?,
            }
        }
        if first > last {
            return Err(PatternError::Range(first, last));
        }
        ranges.push((first, last));
    }
}

/// Where in the name one can stand behind these tokens, from where one stood before them.
fn reached(tokens: &[Token], name: &[char], from: Vec<bool>) -> Vec<bool> {
    tokens.iter().fold(from, |from, token| {
        let one = |fits: &dyn Fn(char) -> bool| {
            let mut to = vec![false; from.len()];
            for (at, &character) in name.iter().enumerate() {
                to[at + 1] = from[at] && fits(character);
            }
            to
        };
        match token {
            Token::Literal(literal) => one(&|character| character == *literal),
            Token::AnyOne => one(&|_| true),
            Token::OneOf { ranges, is_negated } => one(&|character| {
                ranges.iter().any(|(first, last)| (first..=last).contains(&&character)) != *is_negated
            }),
            Token::Anything => {
                let first = from.iter().position(|&here| here).unwrap_or(from.len());
                (0..from.len()).map(|at| at >= first).collect()
            }
            Token::Either(ways) => {
                let ends = ways.iter().map(|way| reached(way, name, from.clone()));
                ends.fold(vec![false; from.len()], |one, other| {
                    one.into_iter().zip(other).map(|(one, other)| one || other).collect()
                })
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, name: &str) -> bool {
        Pattern::new(pattern).unwrap().matches(name)
    }

    #[test]
    fn stars_and_question_marks() {
        assert!(matches("*", "") && matches("*", "csr-serial") && matches("csr-*", "csr-"));
        assert!(matches("csr-*-per-*", "csr-cuda-warp-per-row") && !matches("csr-*-per", "csr-a-per-row"));
        assert!(matches("*a*a*a*a*a*a*a*a*a*b", &"a".repeat(60)) == matches("b", "a"));
        assert!(matches("rows?", "rows8") && !matches("rows?", "rows32") && !matches("rows?", "rows"));
        assert!(!matches("", "a") && matches("", "") && !matches("csr", "csr-serial"));
    }

    #[test]
    fn classes() {
        assert!(matches("rows[38]", "rows8") && !matches("rows[38]", "rows1"));
        assert!(matches("[a-cx]1", "b1") && matches("[a-cx]1", "x1") && !matches("[a-cx]1", "d1"));
        assert!(
            matches("[!a]", "b") && !matches("[!a]", "a") && matches("[^a]", "b") && !matches("[!a]", "")
        );
        assert!(matches("[]]", "]") && matches("[a-]", "-") && matches("[-a]", "-") && !matches("[a-]", "b"));
    }

    #[test]
    fn either_of_several() {
        assert!(["csr-a", "csr-bc"].iter().all(|name| matches("csr-{a,bc}", name)));
        assert!(!matches("csr-{a,bc}", "csr-b") && matches("{a*,b?}c", "axyc") && matches("{a*,b?}c", "bxc"));
        assert!(matches("{a,{b,c}d}", "cd") && matches("a{,b}", "a") && matches("a,b", "a,b"));
        assert!(matches(r"\*", "*") && !matches(r"\*", "a") && matches(r"{\,,a}", ","));
    }

    #[test]
    fn what_is_no_pattern_says_why() {
        let why = |pattern: &str| Pattern::new(pattern).unwrap_err().to_string();
        assert_eq!(why("csr-["), "unclosed character class; missing ']'");
        assert_eq!([why("[]"), why("[a"), why("[!"), why("[a-")], [(); 4].map(|()| why("[")));
        assert_eq!(why("[z-a]"), "invalid range; 'z' > 'a'");
        assert_eq!(why("{a,b"), "unclosed alternate group; missing '}' (maybe escape '{' with '[{]'?)");
        assert_eq!(why("a}"), "unopened alternate group; missing '{' (maybe escape '}' with '[}]'?)");
        assert_eq!(why("a\\"), "dangling '\\'");
    }
}
