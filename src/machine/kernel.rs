//! A kernel as text: a `.cu` file and what is defined before it is compiled, by NVRTC or by the emulator's compiler.

/// The header that every kernel includes: types, and what differs between a GPU and the emulator.
pub const HEADER_NAME: &str = "ordito.cuh";
/// Its text.
pub const HEADER: &str = include_str!("ordito.cuh");

/// Architectures that plain CUDA C++ is checked for: A100, H100 and H200, B200.
pub const PLAIN_ARCHITECTURES: &[u32] = &[80, 90, 100];

/// One kernel of one `.cu` file, with the names that are defined before it is compiled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelSource {
    /// The `extern "C"` function.
    pub entry: &'static str,
    /// Name of the file, for messages.
    pub file: &'static str,
    /// The file.
    pub text: &'static str,
    /// `SCALAR` = `double`, `LANES` = `4` …
    pub defines: Vec<(&'static str, String)>,
    /// Architectures that it is written for, as `90`; checked in CI.
    pub architectures: &'static [u32],
}

impl KernelSource {
    /// A kernel for [`PLAIN_ARCHITECTURES`] without definitions.
    pub fn new(entry: &'static str, file: &'static str, text: &'static str) -> Self {
        KernelSource { entry, file, text, defines: Vec::new(), architectures: PLAIN_ARCHITECTURES }
    }

    /// With `name` defined as `value`.
    pub fn define(mut self, name: &'static str, value: impl ToString) -> Self {
        self.defines.push((name, value.to_string()));
        self
    }

    /// `csr_scalar.cu SCALAR=double LANES=4`: for messages and tables.
    pub fn title(&self) -> String {
        let defines = self.defines.iter().map(|(name, value)| format!(" {name}={value}"));
        format!("{}{}", self.file, defines.collect::<String>())
    }
}
