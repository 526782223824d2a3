//! A kernel of one's own: a `.cu` file and a launch, made ready for an emulator.
//!
//! `launch_text` reads the launch; `plain` is the file's text as it is looked through, in which `unsupported` finds what the emulator
//! does not run and `signature` the kernels; `values` makes arguments.

mod brackets;
mod element;
mod launch_reader;
mod launch_text;
mod plain;
mod shared_memory;
mod signature;
mod unsupported;
mod values;

use crate::xrayed::own_kernel::element::Element;
use crate::xrayed::own_kernel::launch_text::{Fill, Given, LaunchText, Value, parse};
use crate::xrayed::own_kernel::plain::plain;
use crate::xrayed::own_kernel::shared_memory::with_shared;
use crate::xrayed::own_kernel::signature::{Kind, Parameter, Signature, aliases, kernels};
use crate::xrayed::own_kernel::unsupported::unsupported;
use crate::xrayed::own_kernel::values::{bytes_of, filled, scalar};
use anyhow::{Context, bail, ensure};
use ordito::device::{Argument, Device, HEADER_NAME, KernelSource, LaunchPlan, PTX};
use std::any::Any;
use std::fs;
use std::path::Path;

/// Headers of CUDA and of C that files include: what kernels use of them the emulator brings by itself.
const KNOWN_HEADERS: &[(&str, &str)] = &[
    ("cuda.h", ""),
    ("cuda_runtime.h", ""),
    ("cuda_runtime_api.h", ""),
    ("device_launch_parameters.h", ""),
    ("math.h", ""),
    ("cmath", ""),
    ("stddef.h", STDDEF),
    ("cstddef", STDDEF),
    ("stdint.h", STDINT),
    ("cstdint", STDINT),
    ("stdio.h", ""),
    ("cstdio", ""),
    ("stdlib.h", ""),
    ("cstdlib", ""),
];
const STDDEF: &str = "#pragma once\ntypedef __SIZE_TYPE__ size_t;\ntypedef __PTRDIFF_TYPE__ ptrdiff_t;\n";
const STDINT: &str = "#pragma once\ntypedef __INT8_TYPE__ int8_t;\ntypedef __UINT8_TYPE__ uint8_t;\ntypedef __INT16_TYPE__ int16_t;\n\
typedef __UINT16_TYPE__ uint16_t;\ntypedef __INT32_TYPE__ int32_t;\ntypedef __UINT32_TYPE__ uint32_t;\n\
typedef __INT64_TYPE__ int64_t;\ntypedef __UINT64_TYPE__ uint64_t;\ntypedef __SIZE_TYPE__ size_t;\n";

/// A kernel and one launch of it.
pub(crate) struct OwnKernel {
    pub(crate) source: KernelSource,
    pub(crate) launch: LaunchText,
    signature: Signature,
    file: String,
}

impl OwnKernel {
    /// Reads the file and the launch; `defines` are `NAME` or `NAME=VALUE`.
    pub(crate) fn read(path: &Path, launch: &str, defines: &[String]) -> anyhow::Result<Self> {
        let launch = parse(launch)?;
        let text = read_text(path)?;
        let file = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        let plain = plain(&text);
        let refused: Vec<String> =
            unsupported(&plain).into_iter().map(|(line, what)| format!("{file}:{line}: {what}")).collect();
        ensure!(refused.is_empty(), "the emulator does not run\n{}", refused.join("\n"));
        let mut meant = aliases(&plain, defines);
        let found = kernels(&plain, &meant);
        let declared = choose(&found, &launch.kernel, &file)?;
        meant.splice(..0, instance(declared, &launch, &file)?);
        let found = kernels(&plain, &meant);
        let signature = choose(&found, &launch.kernel, &file)?.clone();
        let text: &'static str = with_shared(&text).leak();
        let entry = launch
            .template
            .as_ref()
            .map_or_else(|| launch.kernel.clone(), |arguments| format!("{}<{arguments}>", launch.kernel));
        let mut source = KernelSource::new(entry.leak(), file.clone().leak(), text);
        for header in headers(path, &plain)? {
            source = source.include(header.0, header.1);
        }
        for define in defines {
            let (name, value) = define.split_once('=').unwrap_or((define, "1"));
            ensure!(is_name(name), "--define {define}: `{name}` is no name");
            source = source.define(name.to_owned().leak(), value);
        }
        let own = OwnKernel { source, launch, signature, file };
        own.matched()?;
        Ok(own)
    }

    /// Runs it once on this device.
    pub(crate) fn run(&self, device: &Device) -> anyhow::Result<()> {
        let LaunchText { grid, block, shared_bytes, .. } = self.launch;
        let plan = LaunchPlan::new(device.limits(), grid, block, shared_bytes).context("--launch")?;
        let kernel = device.kernel(&self.source)?;
        let mut kept = Kept::new();
        let mut arguments = Vec::new();
        for (parameter, given) in self.matched()? {
            arguments.push(argument(device, parameter, given, &mut kept)?);
        }
        // SAFETY: arguments have the sizes that the file declares, which the emulator checks; it lets a kernel touch nothing but the
        // buffers that they point into, and these live until the launch is over.
        unsafe { kernel.launch(&plan, &arguments) }?;
        device.synchronize()?;
        Ok(())
    }

    /// Each parameter with what was given for it.
    fn matched(&self) -> anyhow::Result<Vec<(&Parameter, &Given)>> {
        let (parameters, given) = (&self.signature.parameters, &self.launch.arguments);
        let place = format!("{}:{}", self.file, self.signature.line);
        let takes =
            parameters.iter().map(|parameter| parameter.written.clone()).collect::<Vec<_>>().join(", ");
        ensure!(
            parameters.len() == given.len(),
            "--launch: {} arguments, {} takes {} ({place}): {takes}",
            given.len(),
            self.signature.name,
            parameters.len()
        );
        let mut matched = Vec::new();
        for (index, parameter) in parameters.iter().enumerate() {
            let by_name = given.iter().find(|given| given.name.as_deref() == Some(&parameter.name));
            let in_place = || given.get(index).filter(|given| given.name.is_none());
            let Some(found) = by_name.or_else(in_place) else {
                bail!("--launch: nothing is given for `{}` ({place})", parameter.written);
            };
            matched.push((parameter, found));
        }
        let unknown = given.iter().find(|given| {
            let name = given.name.as_deref();
            name.is_some_and(|name| !parameters.iter().any(|parameter| parameter.name == name))
        });
        if let Some(Given { name: Some(name), at, .. }) = unknown {
            bail!(
                "--launch, character {at}: {} has no parameter `{name}` ({place}): {takes}",
                self.signature.name
            );
        }
        Ok(matched)
    }
}

/// The file; what is wrong with it is said as bad usage is, not as a failure while running.
pub(crate) fn read_text(path: &Path) -> anyhow::Result<String> {
    fs::read_to_string(path).map_err(|error| anyhow::anyhow!("{}: {error}", path.display()))
}

fn is_name(text: &str) -> bool {
    let mut characters = text.chars();
    characters.next().is_some_and(|c| c.is_alphabetic() || c == '_')
        && characters.all(|c| c.is_alphanumeric() || c == '_')
}

fn choose<'a>(found: &'a [Signature], name: &str, file: &str) -> anyhow::Result<&'a Signature> {
    let Some(signature) = found.iter().find(|signature| signature.name == name) else {
        let names: Vec<&str> = found.iter().map(|signature| signature.name.as_str()).collect();
        let there = if names.is_empty() {
            "there is none".into()
        } else {
            format!("there are: {}", names.join(", "))
        };
        bail!("{file} has no kernel `{name}`; {there}");
    };
    Ok(signature)
}

/// What types are called in the instance of a template that is launched; nothing of what is no template.
fn instance(signature: &Signature, launch: &LaunchText, file: &str) -> anyhow::Result<Vec<(String, String)>> {
    let Signature { name, line, template, .. } = signature;
    match (&launch.template, template) {
        (None, None) => Ok(Vec::new()),
        (Some(_), None) => bail!("--launch: {name} is no template ({file}:{line})"),
        (None, Some(parameters)) => bail!(
            "{file}:{line}: {name} is a template <{0}>; say which instance is launched: {name}<…><<<grid, block>>>(…)",
            parameters.join(", ")
        ),
        (Some(arguments), Some(parameters)) => signature.instance(arguments).with_context(|| {
            format!(
                "--launch: <{arguments}> does not fit the template <{}> ({file}:{line})",
                parameters.join(", ")
            )
        }),
    }
}

/// Name and text of every header that the file includes, and that they include.
fn headers(path: &Path, code_of_file: &str) -> anyhow::Result<Vec<(&'static str, &'static str)>> {
    let folder = path.parent().unwrap_or(Path::new(""));
    let mut headers: Vec<(&'static str, &'static str)> = Vec::new();
    let raw = read_text(path)?;
    let mut open = included(&raw, code_of_file);
    while let Some((name, is_own)) = open.pop() {
        if name == HEADER_NAME || headers.iter().any(|(known, _)| *known == name) {
            continue;
        }
        if let Some(known) = KNOWN_HEADERS.iter().chain([&PTX]).find(|(known, _)| *known == name) {
            headers.push(*known);
            continue;
        }
        if !is_own {
            continue; // the compiler says that it is not there, and in which line
        }
        let text = read_text(&folder.join(&name))?;
        open.extend(included(&text, &plain(&text)));
        headers.push((name.leak(), with_shared(&text).leak()));
    }
    Ok(headers)
}

/// What a text includes: names, and whether in quotes. Lines that are comments do not count.
fn included(text: &str, code: &str) -> Vec<(String, bool)> {
    let lines = text.lines().zip(code.lines());
    let named = lines.filter_map(|(line, code)| {
        code.trim_start().strip_prefix('#')?.trim_start().strip_prefix("include")?;
        let rest = line.split_once("include")?.1.trim_start();
        let close = match rest.chars().next()? {
            '"' => '"',
            '<' => '>',
            _ => return None,
        };
        Some((rest[1..].split(close).next()?.to_owned(), close == '"'))
    });
    named.collect()
}

/// Buffers, which live until the launch is over.
type Kept = Vec<Box<dyn Any>>;

fn argument(
    device: &Device,
    parameter: &Parameter,
    given: &Given,
    kept: &mut Kept,
) -> anyhow::Result<Argument> {
    let at = given.at;
    let wrong = |why: String| anyhow::anyhow!("--launch, character {at}: `{}`: {why}", parameter.written);
    match (&parameter.kind, &given.value) {
        (Kind::Unknown, _) => Err(wrong("only numbers and pointers can be given".into())),
        (Kind::Truth, Value::Number(text)) => Ok(Argument::of(u8::from(text.parse::<f64>() != Ok(0.0)))),
        (Kind::Scalar(element), Value::Number(text)) => scalar(*element, text).map_err(wrong),
        (Kind::Pointer(_), Value::Number(text)) if text.parse() == Ok(0.0) => Ok(Argument::of(0_u64)),
        (Kind::Pointer(_), Value::Number(_)) => Err(wrong("an array is wanted, such as f32[1000]".into())),
        (Kind::Scalar(_) | Kind::Truth, Value::Array { .. }) => {
            Err(wrong("a number is wanted, not an array".into()))
        }
        (Kind::Pointer(wanted), Value::Array { element, len, fill }) => {
            if let Some(wanted) = wanted.filter(|wanted| wanted != element) {
                return Err(wrong(format!(
                    "an array of {} is wanted, not of {}",
                    wanted.name(),
                    element.name()
                )));
            }
            let free = device.limits().memory_bytes;
            let bytes = *len as u64 * bytes_of(*element);
            ensure!(
                bytes <= free,
                "--launch, character {at}: {bytes} bytes, of which {free} can be had here"
            );
            let name = if parameter.name.is_empty() { "an argument" } else { &parameter.name };
            upload(device, name, *element, *len, fill, kept).map_err(|error| wrong(error.to_string()))
        }
    }
}

fn upload(
    device: &Device,
    name: &str,
    element: Element,
    len: usize,
    fill: &Fill,
    kept: &mut Kept,
) -> anyhow::Result<Argument> {
    macro_rules! upload {
        ($scalar:ty) => {{
            let mut buffer = device.upload(name, &filled::<$scalar>(len, fill)?)?;
            let argument = Argument::from(&mut buffer);
            kept.push(Box::new(buffer));
            argument
        }};
    }
    Ok(match element {
        Element::F32 => upload!(f32),
        Element::F64 => upload!(f64),
        Element::I8 => upload!(i8),
        Element::U8 => upload!(u8),
        Element::I16 => upload!(i16),
        Element::U16 => upload!(u16),
        Element::I32 => upload!(i32),
        Element::U32 => upload!(u32),
        Element::I64 => upload!(i64),
        Element::U64 => upload!(u64),
    })
}
