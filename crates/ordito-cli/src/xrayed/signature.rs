//! Kernels of a `.cu` file: their names and parameters.

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
    /// Parameters of a template, as they were written: `typename T`, `int N = 4`.
    pub(crate) template: Option<Vec<String>>,
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
        let template = head
            .split_once("template")
            .and_then(|(_, rest)| Some(rest.split_once('<')?.1.rsplit_once('>')?.0));
        let template = template.map(|written| split(written).into_iter().map(words).collect());
        let Some((name, parameters)) = declared(&code[at + word.len()..]) else { continue };
        let parameters = split(parameters).into_iter().map(|written| parameter(written, aliases)).collect();
        let signature = Signature { name, line, template, parameters };
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

/// With one space between two words.
fn words(written: &str) -> String {
    written.split_whitespace().collect::<Vec<_>>().join(" ")
}

impl Signature {
    /// What types are called in an instance `<float, 4>` of the template: `T` means `float`. `None`: it is no such template.
    pub(crate) fn instance(&self, arguments: &str) -> Option<Vec<(String, String)>> {
        let parameters = self.template.as_ref()?;
        let arguments = split(arguments);
        let has_default = |parameter: &String| parameter.contains('=') || parameter.contains("...");
        if arguments.len() > parameters.len() || !parameters.iter().skip(arguments.len()).all(has_default) {
            return None;
        }
        let meant = parameters.iter().enumerate().filter_map(|(index, parameter)| {
            let (declared, default) = parameter.split_once('=').unwrap_or((parameter, ""));
            let kind_and_name =
                declared.trim().split_once(' ').filter(|(kind, _)| ["typename", "class"].contains(kind));
            let argument = arguments.get(index).copied().unwrap_or(default);
            kind_and_name.map(|(_, name)| (name.trim().to_owned(), words(argument)))
        });
        Some(meant.collect())
    }
}

fn parameter(written: &str, aliases: &[(String, String)]) -> Parameter {
    let written = words(written);
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

/// Shared memory in words that the emulator knows; lines stay where they are.
pub(crate) fn with_shared(text: &str) -> String {
    with_dynamic_shared(
        &text.replace("static __shared__", "__shared__").replace("__shared__ static", "__shared__"),
    )
}

/// `extern __shared__ float sums[];`
fn with_dynamic_shared(text: &str) -> String {
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
        assert_eq!((found[0].name.as_str(), found[0].line, &found[0].template), ("saxpy", 3, &None));
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
        assert_eq!(
            (found[1].name.as_str(), found[1].template.as_deref()),
            ("other", Some(&["typename T".to_owned()][..]))
        );
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
    fn instances_of_templates_say_what_types_mean() {
        let text = "template <class A, typename  B = double, int N = 2>\n__global__ void k(A* x, B y) {}\n";
        let [found] = &kernels(text, &[])[..] else { panic!() };
        let meant = |arguments| {
            found.instance(arguments).map(|meant| {
                meant.into_iter().map(|(name, kind)| format!("{name}={kind}")).collect::<Vec<_>>().join(" ")
            })
        };
        assert_eq!(meant("float").as_deref(), Some("A=float B=double"));
        assert_eq!(meant("unsigned int, float, 3").as_deref(), Some("A=unsigned int B=float"));
        assert_eq!((meant(""), meant("int, int, 1, 2")), (None, None));
        assert_eq!(kernels("__global__ void k() {}", &[])[0].instance("int"), None);
    }

    #[test]
    fn dynamic_shared_memory_is_declared_in_other_words() {
        let text = "extern __shared__ float sums[];\nextern \"C\" void f();\nextern __shared__\n  __align__(16) unsigned char b [ ];";
        let expected =
            "DYNAMIC_SHARED(float, sums);\nextern \"C\" void f();\nDYNAMIC_SHARED(unsigned char, b)\n;";
        assert_eq!(with_shared(text), expected);
        assert_eq!(with_shared("static __shared__ float a[2];"), "__shared__ float a[2];");
    }
}
