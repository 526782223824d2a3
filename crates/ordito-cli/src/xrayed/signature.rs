//! Kernels of a `.cu` file: their names, parameters, and what the emulator cannot run.

use crate::xrayed::launch_text::Element;

/// A parameter of a kernel.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Parameter {
    pub(crate) name: String,
    /// As it was written.
    pub(crate) written: String,
    pub(crate) kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A number.
    Scalar(Element),
    /// `bool`
    Truth,
    /// A pointer to numbers; `None`: to something else, such as `float4`, whose arrays are given by their bytes.
    Pointer(Option<Element>),
    /// What no argument can be given for.
    Unknown,
}

/// A kernel.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Signature {
    pub(crate) name: String,
    pub(crate) line: usize,
    pub(crate) is_template: bool,
    pub(crate) parameters: Vec<Parameter>,
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

/// Other names for types: what the command line, `#define`, `typedef` and `using` say, each with its name.
pub(crate) fn aliases(code: &str, defines: &[String]) -> Vec<(String, String)> {
    let mut aliases = Vec::new();
    let mut add = |name: &str, kind: &str| aliases.push((name.trim().to_owned(), kind.trim().to_owned()));
    defines.iter().filter_map(|define| define.split_once('=')).for_each(|(name, value)| add(name, value));
    for line in code.lines().map(str::trim) {
        if let Some((name, value)) =
            line.strip_prefix("#define ").and_then(|rest| rest.trim().split_once(' '))
        {
            add(name, value);
        }
        let statement = line.split(';').next().unwrap_or("");
        if let Some((kind, name)) =
            statement.strip_prefix("typedef ").and_then(|rest| rest.trim().rsplit_once(' '))
        {
            add(name, kind);
        }
        if let Some((name, kind)) = statement.strip_prefix("using ").and_then(|rest| rest.split_once('=')) {
            add(name, kind);
        }
    }
    aliases
}

/// Every `__global__` function of the text, whose comments are blank.
pub(crate) fn kernels(code: &str, aliases: &[(String, String)]) -> Vec<Signature> {
    let mut found = Vec::new();
    for (at, word) in code.match_indices("__global__") {
        let before = &code[..at];
        let line = before.matches('\n').count() + 1;
        let head = &before[before.rfind([';', '}', '{']).map_or(0, |end| end + 1)..];
        let is_template = head.contains("template");
        let Some((name, parameters)) = declared(&code[at + word.len()..]) else { continue };
        let parameters = split(parameters).into_iter().map(|written| parameter(written, aliases)).collect();
        let signature = Signature { name, line, is_template, parameters };
        // A declaration before the definition says the same.
        if !found.iter().any(|other: &Signature| other.name == signature.name) {
            found.push(signature);
        }
    }
    found
}

/// ` void __launch_bounds__(256) saxpy(int n, …)`: the name and what stands in its parentheses.
fn declared(code: &str) -> Option<(String, &str)> {
    let mut rest = code;
    loop {
        let open = rest.find('(')?;
        let name =
            rest[..open].trim_end().rsplit(|c: char| !(c.is_alphanumeric() || c == '_')).next()?.to_owned();
        let mut depth = 0;
        let close = rest[open..].char_indices().find_map(|(index, c)| {
            depth += match c {
                '(' => 1,
                ')' => -1,
                _ => 0,
            };
            (depth == 0).then_some(open + index)
        })?;
        if name != "__launch_bounds__" && name != "__attribute__" {
            return (!name.is_empty()).then_some((name, &rest[open + 1..close]));
        }
        rest = &rest[close + 1..];
    }
}

/// At commas that stand in no brackets.
fn split(parameters: &str) -> Vec<&str> {
    let (mut depth, mut start, mut parts) = (0, 0, Vec::new());
    for (index, c) in parameters.char_indices() {
        match c {
            '(' | '<' | '[' | '{' => depth += 1,
            ')' | '>' | ']' | '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&parameters[start..index]);
                start = index + 1;
            }
            _ => {}
        }
    }
    parts.push(&parameters[start..]);
    parts.into_iter().filter(|part| !part.trim().is_empty() && part.trim() != "void").collect()
}

fn parameter(written: &str, aliases: &[(String, String)]) -> Parameter {
    let written = written.split_whitespace().collect::<Vec<_>>().join(" ");
    let is_pointer = written.contains('*') || written.ends_with(']');
    let spaced = written.replace(['*', '&', '[', ']'], " ");
    let left_out =
        ["const", "volatile", "__restrict__", "__restrict", "restrict", "struct", "__grid_constant__"];
    let words: Vec<&str> = spaced.split_whitespace().filter(|word| !left_out.contains(word)).collect();
    let (name, kind) = match words.split_last() {
        Some((name, kind)) if !kind.is_empty() => (*name, kind.join(" ")),
        _ => ("", words.join(" ")),
    };
    // A name for a name for a type; no further, so that circles end.
    let known = |kind: &str| {
        aliases.iter().find(|(name, _)| name == kind).map_or(kind.to_owned(), |(_, meant)| meant.clone())
    };
    let kind = known(&known(&kind));
    let element = element(&kind);
    let kind = match (is_pointer, kind.as_str()) {
        (true, _) => Kind::Pointer(element),
        (false, "bool") => Kind::Truth,
        (false, _) => element.map_or(Kind::Unknown, Kind::Scalar),
    };
    Parameter { name: name.into(), written, kind }
}

/// The number that a C++ type stands for.
fn element(written: &str) -> Option<Element> {
    let plain = written.trim_start_matches("std::");
    Some(match plain {
        "float" => Element::F32,
        "double" => Element::F64,
        "char" | "signed char" | "int8_t" => Element::I8,
        "unsigned char" | "uint8_t" | "uchar" => Element::U8,
        "short" | "short int" | "int16_t" => Element::I16,
        "unsigned short" | "unsigned short int" | "uint16_t" | "ushort" => Element::U16,
        "int" | "signed" | "signed int" | "int32_t" => Element::I32,
        "unsigned" | "unsigned int" | "uint32_t" | "uint" | "u32" => Element::U32,
        "long" | "long int" | "long long" | "long long int" | "int64_t" | "ptrdiff_t" => Element::I64,
        "unsigned long"
        | "unsigned long int"
        | "unsigned long long"
        | "unsigned long long int"
        | "uint64_t"
        | "size_t"
        | "u64" => Element::U64,
        _ => return None,
    })
}

/// What the emulator cannot run, each with what to say of it.
const UNSUPPORTED: &[(&str, &str)] = &[
    ("<<<", "a launch: a file may hold kernels and what they call, no code of the host"),
    ("cudaMalloc*", "code of the host: a file may hold kernels and what they call"),
    ("cudaMemcpy*", "code of the host: a file may hold kernels and what they call"),
    ("cooperative_groups", "cooperative groups"),
    ("asm", "inline PTX"),
    ("__asm__", "inline PTX"),
    ("__half", "half precision"),
    ("__nv_bfloat16", "half precision"),
    ("cudaTextureObject_t", "textures"),
    ("__managed__", "managed memory"),
    ("nvcuda", "`nvcuda::wmma`; multiply_16x8x8 of ptx.cuh is what the emulator has of tensor cores"),
    ("printf", "printing from a kernel"),
];

/// What in the text, whose comments are blank, cannot be run: line and sentence.
pub(crate) fn unsupported(code: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (index, line) in code.lines().enumerate() {
        for (word, what) in UNSUPPORTED {
            // `cudaMemcpy*`: `cudaMemcpyAsync` is meant as well.
            let (word, is_beginning) = word.strip_suffix('*').map_or((*word, false), |word| (word, true));
            let part_of_name = |c: char| c.is_alphanumeric() || c == '_';
            let is_word = |at: usize| {
                let before = line[..at].chars().next_back();
                let behind = line[at + word.len()..].chars().next();
                !word.starts_with(part_of_name)
                    || !before.is_some_and(part_of_name)
                        && (is_beginning || !behind.is_some_and(part_of_name))
            };
            if line.match_indices(word).any(|(at, _)| is_word(at)) {
                found.push((index + 1, (*what).into()));
            }
        }
        let start = line.trim_start().trim_start_matches("static ").trim_start();
        let is_variable =
            |rest: &str| rest.find([';', '=', '[']).is_some_and(|end| !rest[..end].contains('('));
        if start.strip_prefix("__device__").is_some_and(is_variable) {
            found.push((index + 1, "a variable in memory of the device; give it as an argument".into()));
        }
    }
    found
}

/// `extern __shared__ float sums[];` in words that the emulator knows; lines stay where they are.
pub(crate) fn with_dynamic_shared(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("extern") {
        let (before, from) = rest.split_at(at);
        result.push_str(before);
        let replaced = from.find(';').and_then(|end| Some((dynamic_shared(&from[..end])?, end)));
        match replaced {
            Some((words, end)) => {
                let lines = "\n".repeat(from[..end].matches('\n').count());
                result.push_str(&format!("{words}{lines}"));
                rest = &from[end..];
            }
            None => {
                result.push_str("extern");
                rest = &from["extern".len()..];
            }
        }
    }
    result + rest
}

fn dynamic_shared(declaration: &str) -> Option<String> {
    let words = declaration.strip_prefix("extern")?.trim_start().strip_prefix("__shared__")?.trim();
    let words = match words.strip_prefix("__align__") {
        Some(rest) => rest.split_once(')')?.1.trim(),
        None => words,
    };
    let name_and_kind = words.strip_suffix(']')?.trim_end().strip_suffix('[')?.trim_end();
    let at = name_and_kind.rfind(|c: char| !(c.is_alphanumeric() || c == '_'))?;
    let (kind, name) = name_and_kind.split_at(at + 1);
    (!name.is_empty()).then(|| format!("DYNAMIC_SHARED({}, {name})", kind.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "
// __global__ void not_me(int n);
__global__ void saxpy(int n, float a, const float* __restrict__ x, float *y) { /* \"saxpy\"
*/ }
template <typename T>
extern \"C\" __global__ void __launch_bounds__(256, 2)
    other(std::uint64_t n, bool flag, float4* four, Thing thing, double x[]) {}
";

    #[test]
    fn kernels_and_their_parameters() {
        let found = kernels(&code(TEXT), &[]);
        assert_eq!(found.len(), 2);
        assert_eq!((found[0].name.as_str(), found[0].line, found[0].is_template), ("saxpy", 3, false));
        let kinds = |index: usize| {
            found[index].parameters.iter().map(|it| (it.name.as_str(), it.kind)).collect::<Vec<_>>()
        };
        let pointer = Kind::Pointer(Some(Element::F32));
        assert_eq!(
            kinds(0),
            [
                ("n", Kind::Scalar(Element::I32)),
                ("a", Kind::Scalar(Element::F32)),
                ("x", pointer),
                ("y", pointer)
            ]
        );
        assert_eq!((found[1].name.as_str(), found[1].is_template), ("other", true));
        assert_eq!(
            kinds(1),
            [
                ("n", Kind::Scalar(Element::U64)),
                ("flag", Kind::Truth),
                ("four", Kind::Pointer(None)),
                ("thing", Kind::Unknown),
                ("x", Kind::Pointer(Some(Element::F64)))
            ]
        );
    }

    #[test]
    fn types_may_have_other_names() {
        let text = "#define REAL float\ntypedef unsigned int index;\nusing Both = REAL;\n__global__ void k(Both a, index n, SCALAR* y) {}\n";
        let found = kernels(text, &aliases(text, &["SCALAR=double".into(), "FLAG".into()]));
        let kinds: Vec<Kind> = found[0].parameters.iter().map(|parameter| parameter.kind).collect();
        assert_eq!(
            kinds,
            [Kind::Scalar(Element::F32), Kind::Scalar(Element::U32), Kind::Pointer(Some(Element::F64))]
        );
    }

    #[test]
    fn what_cannot_be_run_is_found_with_its_line() {
        let text = "__device__ int counter;\n__device__ int f(int a) { return a; }\nint main() { k<<<1, 2>>>(); }\n// asm\nint masm = 1;\ncudaMemcpyAsync(a);\n";
        let lines: Vec<usize> = unsupported(&code(text)).into_iter().map(|(line, _)| line).collect();
        assert_eq!(lines, [1, 3, 6]);
    }

    #[test]
    fn dynamic_shared_memory_is_declared_in_other_words() {
        let text = "extern __shared__ float sums[];\nextern \"C\" void f();\nextern __shared__\n  __align__(16) unsigned char b [ ];";
        let expected =
            "DYNAMIC_SHARED(float, sums);\nextern \"C\" void f();\nDYNAMIC_SHARED(unsigned char, b)\n;";
        assert_eq!(with_dynamic_shared(text), expected);
    }
}
