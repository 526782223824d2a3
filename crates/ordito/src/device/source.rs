//! A kernel as text: a `.cu` file and what is defined before it is compiled, by NVRTC or by the emulator's compiler.

use crate::refusal::Refusal;
use std::fmt;

/// The header that every kernel includes: types, and what differs between a GPU and the emulator.
pub const HEADER_NAME: &str = "ordito.cuh";
/// Its text.
pub static HEADER: &str = include_str!("ordito.cuh");
/// Name and text of the header of asynchronous copies and tensor cores, for [`KernelSource::include`].
pub static PTX: (&str, &str) = ("ptx.cuh", include_str!("ptx.cuh"));
/// Name and text of the header of what only [`SM_90A`] has.
pub static WGMMA: (&str, &str) = ("wgmma.cuh", include_str!("wgmma.cuh"));

/// What the emulator puts beside a kernel: the header before it, the one that it includes, and the file that includes all.
pub(crate) const EMULATOR_HEADER_NAME: &str = "cuda_emulator.h";
pub(crate) const FUNCTIONS_HEADER_NAME: &str = "cuda_functions.h";
pub(crate) const UNIT_NAME: &str = "kernel.cpp";

/// What machine code is made for: `90` runs on compute capability 9.0, `90a` there and nowhere else, and may use
/// instructions that later GPUs do not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Architecture {
    /// Compute capability without its point.
    pub number: u32,
    /// With the instructions of this one generation.
    pub specific: bool,
}

impl Architecture {
    /// `90`
    pub const fn plain(number: u32) -> Self {
        Architecture { number, specific: false }
    }
}

impl fmt::Display for Architecture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let suffix = if self.specific { "a" } else { "" };
        f.pad(&format!("{}{suffix}", self.number))
    }
}

/// Architectures that plain CUDA C++ is checked for: A100, H100 and H200, B200.
pub const PLAIN_ARCHITECTURES: &[Architecture] =
    &[Architecture::plain(80), Architecture::plain(90), Architecture::plain(100)];
/// H100 and H200 with all that they can do.
pub const SM_90A: Architecture = Architecture { number: 90, specific: true };

/// One kernel of one `.cu` file, with the names that are defined before it is compiled.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct KernelSource {
    /// The `extern "C"` function.
    pub entry: &'static str,
    /// Name of the file, for messages.
    pub file: &'static str,
    /// The file.
    pub text: &'static str,
    /// Name and text of each header that it may include, and that headers may include; beside [`HEADER`].
    pub headers: Vec<(&'static str, &'static str)>,
    /// `SCALAR` = `double`, `LANES` = `4` …
    pub defines: Vec<(&'static str, String)>,
    /// Architectures that it is written for; checked in CI.
    pub architectures: &'static [Architecture],
}

impl KernelSource {
    /// A kernel for [`PLAIN_ARCHITECTURES`] without definitions and further headers.
    pub fn new(entry: &'static str, file: &'static str, text: &'static str) -> Self {
        let (headers, defines) = (Vec::new(), Vec::new());
        KernelSource { entry, file, text, headers, defines, architectures: PLAIN_ARCHITECTURES }
    }

    /// With `name` defined as `value`.
    pub fn define(mut self, name: &'static str, value: impl ToString) -> Self {
        self.defines.push((name, value.to_string()));
        self
    }

    /// With a header of this name. Names with folders, and those of other files of a kernel, are refused when it is compiled: the
    /// emulator's compiler reads headers from files.
    pub fn include(mut self, name: &'static str, text: &'static str) -> Self {
        self.headers.push((name, text));
        self
    }

    /// Written for these architectures only.
    pub fn only_for(mut self, architectures: &'static [Architecture]) -> Self {
        self.architectures = architectures;
        self
    }

    /// All headers, [`HEADER`] first.
    pub(crate) fn all_headers(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        [(HEADER_NAME, HEADER)].into_iter().chain(self.headers.iter().copied())
    }

    /// Refuses headers whose names lead elsewhere, or would take the place of another file.
    #[cfg(any(feature = "cuda", feature = "emulator"))]
    pub(crate) fn check_headers(&self) -> Result<(), Refusal> {
        let refuse = |log: String| Err(Refusal::Compile { kernel: self.title(), log });
        let leads_elsewhere = |name: &str| matches!(name, "" | "." | "..") || name.contains(['/', '\\']);
        let mut taken =
            vec![HEADER_NAME, EMULATOR_HEADER_NAME, FUNCTIONS_HEADER_NAME, UNIT_NAME, self.file_name()];
        if leads_elsewhere(self.file_name()) || taken[..4].contains(&self.file_name()) {
            return refuse(format!("a kernel's file cannot be called `{}`", self.file));
        }
        for (name, _) in &self.headers {
            if leads_elsewhere(name) {
                return refuse(format!("the name of the header `{name}` has a folder in it"));
            }
            if taken.contains(name) {
                return refuse(format!(
                    "the name of the header `{name}` is that of another file of the kernel"
                ));
            }
            taken.push(name);
        }
        Ok(())
    }

    /// The file's name without its folders.
    #[cfg(any(feature = "cuda", feature = "emulator"))]
    pub(crate) fn file_name(&self) -> &'static str {
        self.file.rsplit('/').next().unwrap_or(self.file)
    }

    /// Names and texts of the file and of all headers.
    pub fn files(&self) -> Vec<(&'static str, &'static str)> {
        [(self.file, self.text)].into_iter().chain(self.all_headers()).collect()
    }

    /// Does the emulator take it? Not what is written for single generations of GPUs, and in no way that others understand.
    #[cfg(any(test, feature = "emulator"))]
    pub(crate) fn emulated(&self) -> Result<(), Refusal> {
        if self.architectures.iter().all(|architecture| architecture.specific) {
            return Err(Refusal::NotEmulated(self.written_for()));
        }
        Ok(())
    }

    /// What a device of compute capability `number` (without the point) compiles it for, or why it does not.
    pub fn target(&self, number: u32) -> Result<Architecture, Refusal> {
        let specific = Architecture { number, specific: true };
        if self.architectures.contains(&specific) {
            return Ok(specific);
        }
        let plain = self.architectures.iter().filter(|architecture| !architecture.specific);
        let least = plain.map(|architecture| architecture.number).min();
        if least.is_some_and(|least| number >= least) {
            return Ok(Architecture::plain(number));
        }
        Err(Refusal::Unsupported(format!("{}; this GPU is sm_{number}", self.written_for())))
    }

    /// `gemm.cu is written for sm_90a`
    fn written_for(&self) -> String {
        let plain = self.architectures.iter().filter(|architecture| !architecture.specific);
        let mut names: Vec<String> =
            plain.min().map(|least| format!("sm_{least} and newer")).into_iter().collect();
        let specific = self.architectures.iter().filter(|architecture| architecture.specific);
        names.extend(specific.map(|architecture| format!("sm_{architecture}")));
        format!("{} is written for {}", self.file, names.join(", "))
    }

    /// `csr_scalar.cu SCALAR=double LANES=4`: for messages and tables.
    pub fn title(&self) -> String {
        let defines = self.defines.iter().map(|(name, value)| format!(" {name}={value}"));
        format!("{}{}", self.file, defines.collect::<String>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(any(feature = "cuda", feature = "emulator"))]
    #[test]
    fn headers_lie_beside_the_kernel() {
        let with = |name| KernelSource::new("k", "k.cu", "").include(name, "").check_headers();
        assert_eq!(with("a..b.cuh"), Ok(()));
        for name in ["..", "../a.cuh", "/a.cuh", "a\\b.cuh"] {
            assert!(with(name).unwrap_err().to_string().contains("has a folder in it"), "{name}");
        }
        for name in ["cuda_emulator.h", "kernel.cpp", "ordito.cuh", "k.cu"] {
            assert!(with(name).unwrap_err().to_string().contains("that of another file"), "{name}");
        }
        let twice = KernelSource::new("k", "k.cu", "").include("a.cuh", "").include("a.cuh", "");
        assert!(twice.check_headers().is_err());
        for file in ["cuda_emulator.h", "folder/kernel.cpp", "folder/.."] {
            assert!(KernelSource::new("k", file, "").check_headers().is_err(), "{file}");
        }
    }

    #[test]
    fn a_device_takes_its_own_architecture_before_a_plain_one() {
        const BOTH: &[Architecture] = &[Architecture::plain(80), SM_90A];
        let source = KernelSource::new("k", "k.cu", "");
        let target = |source: &KernelSource, number| source.target(number).map(|target| target.to_string());
        assert_eq!(target(&source, 90), Ok("90".into()));
        assert_eq!(target(&source, 120), Ok("120".into()), "newer than any that is listed");
        let refusal = source.target(75).unwrap_err();
        assert_eq!(refusal.to_string(), "k.cu is written for sm_80 and newer; this GPU is sm_75");
        let source = source.only_for(BOTH);
        assert_eq!(target(&source, 90), Ok("90a".into()));
        assert_eq!(target(&source, 100), Ok("100".into()));
        assert_eq!(source.emulated(), Ok(()));
        let source = source.only_for(&[SM_90A]);
        assert_eq!(target(&source, 90), Ok("90a".into()));
        assert_eq!(
            source.target(100).unwrap_err(),
            Refusal::Unsupported("k.cu is written for sm_90a; this GPU is sm_100".into())
        );
        assert_eq!(
            source.emulated().unwrap_err().to_string(),
            "runs on a GPU only: k.cu is written for sm_90a"
        );
    }
}
