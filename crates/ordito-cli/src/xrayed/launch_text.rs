//! `--launch`: a launch as CUDA writes it, with values for its arguments.
//!
//! `saxpy<<<(4), (128)>>>(n=1000, a=2.0f, x=f32[1000], y=f32[1000]=0)`

use std::fmt;

/// A launch as it was written.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct LaunchText {
    pub(crate) kernel: String,
    /// Arguments of a template: `float, 4`.
    pub(crate) template: Option<String>,
    pub(crate) grid: [u64; 3],
    pub(crate) block: [u32; 3],
    pub(crate) shared_bytes: u64,
    pub(crate) arguments: Vec<Given>,
}

/// An argument: its name, where one was given, and what it is.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Given {
    pub(crate) name: Option<String>,
    pub(crate) value: Value,
    /// Where it stands, in characters from 1 on.
    pub(crate) at: usize,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    /// A number as it was written, without its suffix.
    Number(String),
    /// An array of so many elements.
    Array { element: Element, len: usize, fill: Fill },
}

/// What arrays are made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Element {
    F32,
    F64,
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
}

impl Element {
    pub(crate) const ALL: [(&'static str, Element); 10] = [
        ("f32", Element::F32),
        ("f64", Element::F64),
        ("i8", Element::I8),
        ("u8", Element::U8),
        ("i16", Element::I16),
        ("u16", Element::U16),
        ("i32", Element::I32),
        ("u32", Element::U32),
        ("i64", Element::I64),
        ("u64", Element::U64),
    ];

    pub(crate) fn name(self) -> &'static str {
        Element::ALL.iter().find(|(_, element)| *element == self).map_or("", |(name, _)| name)
    }
}

/// What is in an array at first.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Fill {
    /// Numbers between 0 and 1 for f32 and f64, zeros for whole numbers.
    Usual,
    /// 0, 1, 2 …
    Index,
    /// This one.
    Number(String),
}

/// What is wrong, and where.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct LaunchError {
    at: usize,
    why: String,
}

impl fmt::Display for LaunchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "--launch, character {}: {}", self.at, self.why)
    }
}

impl std::error::Error for LaunchError {}

/// Arrays beyond that are taken for a slip.
const MOST_ELEMENTS: usize = 1 << 32;

/// Reads it.
pub(crate) fn parse(text: &str) -> Result<LaunchText, LaunchError> {
    let mut reader = Reader { text: text.chars().collect(), next: 0 };
    let kernel = reader.name("the kernel's name")?;
    let template = reader.template()?;
    reader.expect("<<<")?;
    let grid = reader.sides("blocks of the grid")?;
    reader.expect(",")?;
    let at = reader.place();
    let sides = reader.sides("threads of a block")?;
    let mut block = [0; 3];
    for (to, side) in block.iter_mut().zip(sides) {
        *to = u32::try_from(side)
            .map_err(|_| LaunchError { at, why: format!("{side} threads are too many") })?;
    }
    let shared_bytes = if reader.take(",") { reader.whole("bytes of dynamic shared memory")? } else { 0 };
    reader.expect(">>>")?;
    reader.expect("(")?;
    let mut arguments = Vec::new();
    if !reader.take(")") {
        loop {
            arguments.push(reader.argument()?);
            if reader.take(")") {
                break;
            }
            reader.expect_one_of(&[",", ")"])?;
        }
    }
    reader.take(";");
    reader.skip_spaces();
    if reader.next < reader.text.len() {
        return Err(reader.error("nothing may follow the launch"));
    }
    Ok(LaunchText { kernel, template, grid, block, shared_bytes, arguments })
}

struct Reader {
    text: Vec<char>,
    next: usize,
}

impl Reader {
    fn place(&mut self) -> usize {
        self.skip_spaces();
        self.next + 1
    }

    fn error(&mut self, why: impl Into<String>) -> LaunchError {
        LaunchError { at: self.place(), why: why.into() }
    }

    fn skip_spaces(&mut self) {
        while self.text.get(self.next).is_some_and(|c| c.is_whitespace()) {
            self.next += 1;
        }
    }

    fn take(&mut self, word: &str) -> bool {
        self.skip_spaces();
        let length = word.chars().count();
        let found = self.text[self.next..].iter().take(length).copied().eq(word.chars());
        self.next += if found { length } else { 0 };
        found
    }

    fn expect(&mut self, word: &str) -> Result<(), LaunchError> {
        if self.take(word) { Ok(()) } else { Err(self.wanted(&format!("`{word}`"))) }
    }

    fn expect_one_of(&mut self, words: &[&str]) -> Result<(), LaunchError> {
        let found = words.iter().any(|word| self.take(word));
        let all = words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(" or ");
        if found { Ok(()) } else { Err(self.wanted(&all)) }
    }

    fn wanted(&mut self, what: &str) -> LaunchError {
        self.skip_spaces();
        let found = self.text.get(self.next).map_or("the end".into(), |c| format!("`{c}`"));
        self.error(format!("{what} expected, {found} found"))
    }

    /// Characters as long as they are wanted.
    fn word(&mut self, wanted: impl Fn(char) -> bool) -> String {
        self.skip_spaces();
        let word: String = self.text[self.next..].iter().copied().take_while(|&c| wanted(c)).collect();
        self.next += word.chars().count();
        word
    }

    fn name(&mut self, what: &str) -> Result<String, LaunchError> {
        let start = self.next;
        let name = self.word(|c| c.is_alphanumeric() || c == '_');
        if name.chars().next().is_none_or(|first| first.is_ascii_digit()) {
            self.next = start;
            return Err(self.wanted(what));
        }
        Ok(name)
    }

    /// `<float, 4>`, if there is one: a single `<`.
    fn template(&mut self) -> Result<Option<String>, LaunchError> {
        self.skip_spaces();
        let [Some('<'), Some(behind)] = [0, 1].map(|ahead| self.text.get(self.next + ahead)) else {
            return Ok(None);
        };
        if *behind == '<' {
            return Ok(None);
        }
        let at = self.place();
        let mut depth = 0;
        let length = self.text[self.next..].iter().position(|c| {
            depth += match c {
                '<' => 1,
                '>' => -1,
                _ => 0,
            };
            depth == 0
        });
        let Some(length) = length else {
            return Err(LaunchError { at, why: "no `>` closes the arguments of the template".into() });
        };
        let arguments: String = self.text[self.next + 1..self.next + length].iter().collect();
        self.next += length + 1;
        Ok(Some(arguments.trim().into()))
    }

    fn whole(&mut self, what: &str) -> Result<u64, LaunchError> {
        let at = self.place();
        let digits = self.word(|c| c.is_ascii_digit() || c == '_').replace('_', "");
        if digits.is_empty() {
            return Err(self.wanted(&format!("a number ({what})")));
        }
        digits.parse().map_err(|_| LaunchError { at, why: format!("{digits} is too large ({what})") })
    }

    /// `4`, `(4)`, `(4, 2)`, `dim3(4, 2, 1)`
    fn sides(&mut self, what: &str) -> Result<[u64; 3], LaunchError> {
        let mut sides = [1; 3];
        let at = self.place();
        self.take("dim3");
        if self.take("(") {
            let mut count = 0;
            loop {
                if count == 3 {
                    return Err(self.error(format!("at most three numbers ({what})")));
                }
                sides[count] = self.whole(what)?;
                count += 1;
                if self.take(")") {
                    break;
                }
                self.expect_one_of(&[",", ")"])?;
            }
        } else {
            sides[0] = self.whole(what)?;
        }
        if sides.contains(&0) {
            return Err(LaunchError { at, why: format!("0 is no number of {what}") });
        }
        Ok(sides)
    }

    fn argument(&mut self) -> Result<Given, LaunchError> {
        let at = self.place();
        let start = self.next;
        let mut name = None;
        let is_word = self.text.get(self.next).is_some_and(|c| c.is_alphabetic() || *c == '_');
        if is_word {
            let word = self.name("a name")?;
            if self.take("=") {
                name = Some(word);
            } else {
                self.next = start;
            }
        }
        let value = self.value()?;
        Ok(Given { name, value, at })
    }

    fn value(&mut self) -> Result<Value, LaunchError> {
        self.skip_spaces();
        if !self.text.get(self.next).is_some_and(|c| c.is_alphabetic()) {
            return self.number().map(Value::Number);
        }
        let at = self.place();
        let word = self.name("a value")?;
        if word == "true" || word == "false" {
            return Ok(Value::Number(if word == "true" { "1" } else { "0" }.into()));
        }
        let Some((_, element)) = Element::ALL.iter().find(|(name, _)| *name == word) else {
            let known: Vec<&str> = Element::ALL.iter().map(|(name, _)| *name).collect();
            let why = format!(
                "`{word}` is no value: numbers are written as in C, arrays as f32[1000], of {}",
                known.join(", ")
            );
            return Err(LaunchError { at, why });
        };
        self.expect("[")?;
        let at = self.place();
        let len = self.whole("elements of the array")?;
        let len = usize::try_from(len).ok().filter(|&len| len <= MOST_ELEMENTS);
        let len = len.ok_or_else(|| LaunchError { at, why: "so many elements no array has here".into() })?;
        self.expect("]")?;
        let fill = if !self.take("=") {
            Fill::Usual
        } else if self.take("index") {
            Fill::Index
        } else {
            Fill::Number(self.number()?)
        };
        Ok(Value::Array { element: *element, len, fill })
    }

    /// A number as in C, its suffix left out.
    fn number(&mut self) -> Result<String, LaunchError> {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong(text: &str) -> String {
        parse(text).unwrap_err().to_string()
    }

    #[test]
    fn launches_as_cuda_writes_them() {
        let found = parse("saxpy<<<(4),(128)>>>(n=1000, a=2.0f, x=f32[1000], y=f32[1000]=0)").unwrap();
        assert_eq!((found.kernel.as_str(), found.grid, found.block), ("saxpy", [4, 1, 1], [128, 1, 1]));
        assert_eq!(found.arguments.len(), 4);
        assert_eq!(found.arguments[1].name.as_deref(), Some("a"));
        assert_eq!(found.arguments[1].value, Value::Number("2.0".into()));
        let y = Value::Array { element: Element::F32, len: 1000, fill: Fill::Number("0".into()) };
        assert_eq!(found.arguments[3].value, y);
        let found = parse(" k <<< dim3(2, 3), 32, 4_096 >>> ( u32[7]=index, -1e-3, true ) ; ").unwrap();
        assert_eq!((found.grid, found.block, found.shared_bytes), ([2, 3, 1], [32, 1, 1], 4096));
        assert_eq!(found.arguments[1].value, Value::Number("-1e-3".into()));
        assert!(parse("k<<<1,1>>>()").unwrap().arguments.is_empty());
        let found = parse("k < float, A<2> ><<<1,1>>>()").unwrap();
        assert_eq!(
            (found.kernel.as_str(), found.template.as_deref(), found.grid),
            ("k", Some("float, A<2>"), [1; 3])
        );
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place() {
        assert_eq!(wrong(""), "--launch, character 1: the kernel's name expected, the end found");
        assert_eq!(wrong("k<<4,1>>>()"), "--launch, character 2: `<<<` expected, `<` found");
        assert_eq!(wrong("k<int"), "--launch, character 2: no `>` closes the arguments of the template");
        assert_eq!(wrong("k<int>(1)"), "--launch, character 7: `<<<` expected, `(` found");
        assert_eq!(wrong("k<<<4>>>()"), "--launch, character 6: `,` expected, `>` found");
        assert_eq!(wrong("k<<<0,1>>>()"), "--launch, character 5: 0 is no number of blocks of the grid");
        assert_eq!(
            wrong("k<<<1,(1,1,1,1)>>>()"),
            "--launch, character 14: at most three numbers (threads of a block)"
        );
        assert_eq!(wrong("k<<<1,1>>>(n=)"), "--launch, character 14: a number expected, `)` found");
        assert_eq!(wrong("k<<<1,1>>>(n=2x)"), "--launch, character 14: `2x` is no number");
        assert_eq!(wrong("k<<<1,1>>>(n=1 m=2)"), "--launch, character 16: `,` or `)` expected, `m` found");
        assert_eq!(wrong("k<<<1,1>>>(n=1"), "--launch, character 15: `,` or `)` expected, the end found");
        assert_eq!(wrong("k<<<1,1>>>() 7"), "--launch, character 14: nothing may follow the launch");
        assert!(wrong("k<<<1,1>>>(x=f16[3])").contains("character 14: `f16` is no value"));
        assert!(wrong("k<<<1,1>>>(x=f32[99999999999999])").contains("so many elements"));
        assert!(wrong("k<<<1,99999999999>>>()").contains("too many"));
    }
}
