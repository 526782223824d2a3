//! Kernels of a `.cu` file: their names and parameters.

use crate::xrayed::own_kernel::brackets::Brackets;
use crate::xrayed::own_kernel::element::Element;

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
    let (mut brackets, mut start, mut parts) = (Brackets::default(), 0, Vec::new());
    for (index, c) in parameters.char_indices() {
        if c == ',' && brackets.is_outside() {
            parts.push(&parameters[start..index]);
            start = index + 1;
        }
        brackets.pass(c);
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
    let element = Element::of_cpp(&kind);
    let kind = match (is_pointer, kind.as_str()) {
        (true, _) => Kind::Pointer(element),
        (false, "bool") => Kind::Truth,
        (false, _) => element.map_or(Kind::Unknown, Kind::Scalar),
    };
    Parameter { name: name.into(), written, kind }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::xrayed::own_kernel::plain::code;

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
        assert_eq!(meant("int, float, (4>2)").as_deref(), Some("A=int B=float"));
        assert_eq!((meant(""), meant("int, int, 1, 2"), meant("int, int, (4>2), 2")), (None, None, None));
        assert_eq!(kernels("__global__ void k() {}", &[])[0].instance("int"), None);
    }
}
