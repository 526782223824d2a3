//! `--launch`: a launch as CUDA writes it, with values for its arguments.
//!
//! `saxpy<<<(4), (128)>>>(n=1000, a=2.0f, x=f32[1000], y=f32[1000]=0)`

use crate::xrayed::own_kernel::brackets::Brackets;
use crate::xrayed::own_kernel::element::Element;
use crate::xrayed::own_kernel::launch_reader::{LaunchError, Reader};

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

impl Reader {
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
        let mut brackets = Brackets::default();
        let length = self.text[self.next..].iter().position(|&c| {
            brackets.pass(c);
            brackets.is_outside()
        });
        let Some(length) = length else {
            return Err(LaunchError { at, why: "no `>` closes the arguments of the template".into() });
        };
        let arguments: String = self.text[self.next + 1..self.next + length].iter().collect();
        self.next += length + 1;
        Ok(Some(arguments.trim().into()))
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
        let found = parse("k<(4>2), A<(1<2)>><<<1,1>>>()").unwrap();
        assert_eq!(found.template.as_deref(), Some("(4>2), A<(1<2)>"), "comparisons close nothing");
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
