//! The system's C++ compiler, and a kernel made into a shared library by it.

use crate::device::emulator::flags::{self, Checks, LARGEST_FRAME};
use crate::device::source::{EMULATOR_HEADER_NAME, FUNCTIONS_HEADER_NAME, KernelSource, UNIT_NAME};
use crate::files::{Key, TemporaryFolder};
use crate::refusal::Refusal;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::{fs, io};

const EMULATOR_HEADER: &str = include_str!("cuda_emulator.h");
const FUNCTIONS_HEADER: &str = include_str!("cuda_functions.h");
/// Lines of a compiler's log that are worth showing.
const LOG_LINES: usize = 40;

/// A compiler that is there.
#[derive(Debug)]
pub(crate) struct Compiler {
    program: PathBuf,
    arguments: Vec<String>,
    version: String,
    checks: Checks,
}

impl Compiler {
    /// `$CXX`, else the first of `g++`, `c++`, `clang++` that runs. clang compiles right kernels as well, but what it knows
    /// to be undefined it leaves out, and a faulty kernel may end the process where g++ lets it be reported.
    pub(crate) fn find(cxx: Option<OsString>, checks: Checks) -> Result<Self, Refusal> {
        let none = |why: String| {
            let advice = "install one, e.g. `apt install g++`, or set CXX";
            Err(Refusal::NoCompiler(format!("{why}: {advice}")))
        };
        if !cfg!(all(target_os = "linux", target_pointer_width = "64")) {
            return Err(Refusal::NoCompiler("it needs 64-bit Linux".into()));
        }
        if let Some(cxx) = cxx.filter(|cxx| !cxx.is_empty()) {
            let cxx = cxx.to_string_lossy().into_owned();
            // "ccache g++" is a usual value.
            let mut words = cxx.split_whitespace().map(String::from);
            let program = words.next().unwrap_or_default();
            return match Compiler::at(&program, words.collect(), checks) {
                Some(compiler) => Ok(compiler),
                None => none(format!("CXX={cxx} does not run")),
            };
        }
        match ["g++", "c++", "clang++"].iter().find_map(|name| Compiler::at(name, Vec::new(), checks)) {
            Some(compiler) => Ok(compiler),
            None => none("no C++ compiler (g++, c++, clang++)".into()),
        }
    }

    fn at(name: &str, arguments: Vec<String>, checks: Checks) -> Option<Self> {
        let program = on_path(name)?;
        let output = Command::new(&program).args(&arguments).arg("--version").output().ok()?;
        let version = String::from_utf8_lossy(&output.stdout).into_owned();
        output.status.success().then_some(Compiler { program, arguments, version, checks })
    }

    /// `/usr/bin/c++ (c++ (Debian 12.2.0-14) 12.2.0)`: where it is and what it calls itself.
    pub(crate) fn title(&self) -> String {
        let version = self.version.lines().next().unwrap_or("version unknown");
        let clang = if version.contains("clang") { "; g++ reports more faults" } else { "" };
        format!("{} ({version}{clang})", self.program.display())
    }

    pub(crate) fn checks(&self) -> Checks {
        self.checks
    }

    /// Everything that the library depends on.
    pub(crate) fn key(&self, source: &KernelSource) -> Key {
        let program = format!(
            "{:?}",
            (
                &self.program,
                &self.arguments,
                flags::compile(self.checks, &self.version),
                flags::link(self.checks)
            )
        );
        let defines = format!("{:?}", source.defines);
        let unit = unit(source);
        let mut pieces = vec![
            program.as_str(),
            self.version.as_str(),
            EMULATOR_HEADER,
            FUNCTIONS_HEADER,
            source.file,
            source.entry,
            source.text,
            &defines,
            &unit,
        ];
        pieces.extend(source.all_headers().flat_map(|(name, text)| [name, text]));
        Key::of(&pieces.into_iter().map(str::as_bytes).collect::<Vec<_>>())
    }

    /// The library's bytes.
    pub(crate) fn compile(&self, source: &KernelSource) -> Result<Vec<u8>, Refusal> {
        source.check_headers()?;
        let failed = |error: io::Error| Refusal::Compile { kernel: source.title(), log: error.to_string() };
        let folder = TemporaryFolder::new().map_err(|error| {
            let folder = std::env::temp_dir();
            Refusal::Device(format!(
                "no temporary folder can be made in {}: {}; set TMPDIR",
                folder.display(),
                io::Error::from(error.kind())
            ))
        })?;
        let write = |name: &Path, text: &str| fs::write(folder.path().join(name), text).map_err(failed);
        write(Path::new(EMULATOR_HEADER_NAME), EMULATOR_HEADER)?;
        write(Path::new(FUNCTIONS_HEADER_NAME), FUNCTIONS_HEADER)?;
        let unrolled =
            |text: &str| if self.checks == Checks::Counted { unrolling(text) } else { text.into() };
        source.all_headers().try_for_each(|(name, text)| write(Path::new(name), &unrolled(text)))?;
        write(Path::new(source.file_name()), &unrolled(source.text))?;
        write(Path::new(UNIT_NAME), &unit(source))?;
        let run = |arguments: Vec<String>| {
            let mut command = Command::new(&self.program);
            // The log is shown in messages and compared in tests: no translations.
            command.args(&self.arguments).args(arguments).current_dir(folder.path()).env("LC_ALL", "C");
            // What the compiler keeps for a while is gone with the folder, even when it is ended.
            command.env("TMPDIR", folder.path());
            let output = command.output().map_err(failed)?;
            if output.status.success() {
                Ok(())
            } else {
                Err(Refusal::Compile { kernel: source.title(), log: log(&output) })
            }
        };
        let mut arguments = flags::compile(self.checks, &self.version);
        arguments.extend(source.defines.iter().map(|(name, value)| format!("-D{name}={value}")));
        arguments.extend(["-I.", "-c", UNIT_NAME, "-o", "kernel.o"].map(String::from));
        run(arguments)?;
        let frames = fs::read_to_string(folder.path().join("kernel.su")).map_err(failed)?;
        check_frames(&frames).map_err(|log| Refusal::Compile { kernel: source.title(), log })?;
        let mut arguments = flags::link(self.checks);
        arguments.extend(["kernel.o", "-o", "kernel.so", "-lm", "-lgcc"].map(String::from));
        run(arguments)?;
        let refuse = |log: String| Refusal::Compile { kernel: source.title(), log };
        let library = fs::read(folder.path().join("kernel.so")).map_err(|_| {
            refuse(format!("{} made no file; set CXX to a g++ or clang++", self.program.display()))
        })?;
        if self.checks != Checks::AddressSanitizer && startup_bytes(&library) > OWN_STARTUP_BYTES {
            return Err(refuse("it runs something when it is loaded, which CUDA does not have".into()));
        }
        Ok(library)
    }
}

/// The kernel in a namespace without a name: what templates declare static in it stays out of other sections.
fn unit(source: &KernelSource) -> String {
    let entry = source.entry;
    format!(
        "#include \"{EMULATOR_HEADER_NAME}\"\nnamespace {{\n#include \"{}\"\n}}\n\
         EMULATOR_EXPORT void ordito_call(void** arguments) {{ emulator_call({entry}, arguments); }}\n\
         EMULATOR_EXPORT void ordito_describe(EmulatorDescription* to) {{ emulator_describe({entry}, to); }}\n",
        source.file_name()
    )
}

/// The text with `#pragma unroll` in g++'s words; lines stay where they are.
fn unrolling(text: &str) -> String {
    const CUDA: &str = "#pragma unroll";
    /// The most that g++ takes.
    const ALL: &str = " 65534";
    let line = |line: &str| match line.trim_start().strip_prefix(CUDA) {
        Some(times) => {
            format!("#pragma GCC unroll{}\n", if times.trim().is_empty() { ALL } else { times.trim_end() })
        }
        None => format!("{line}\n"),
    };
    text.lines().map(line).collect()
}

/// The functions that the checks of the compiler have called when a library is loaded: one, which does nothing.
const OWN_STARTUP_BYTES: u64 = 8;

/// Bytes of the lists of functions that a 64-bit ELF library has called when it is loaded and closed.
fn startup_bytes(library: &[u8]) -> u64 {
    const LISTS: std::ops::RangeInclusive<u32> = 14..=16; // of what comes first, last, and before all
    let bytes = |at: usize, count: usize| {
        let field = library.get(at..at.saturating_add(count)).unwrap_or_default();
        field.iter().rev().fold(0_u64, |number, &byte| number << 8 | u64::from(byte))
    };
    let (table, entry_bytes, entries) =
        (bytes(0x28, 8) as usize, bytes(0x3a, 2) as usize, bytes(0x3c, 2) as usize);
    let sections = (0..entries).map(|entry| table.saturating_add(entry * entry_bytes));
    let lists = sections.filter(|&at| LISTS.contains(&(bytes(at.saturating_add(4), 4) as u32)));
    lists.map(|at| bytes(at.saturating_add(0x20), 8)).sum()
}

/// Looks at what the compiler says of every function: `kernel.cpp:1:2:void f(int*)`, bytes, and whether that is known
/// beforehand.
fn check_frames(usage: &str) -> Result<(), String> {
    for line in usage.lines() {
        let mut fields = line.split('\t');
        let (Some(function), Some(bytes), Some(kind)) = (fields.next(), fields.next(), fields.next()) else {
            continue;
        };
        if kind == "dynamic" {
            return Err(format!(
                "{function}: local arrays whose size is computed, which the emulator does not run"
            ));
        }
        if bytes.parse::<usize>().is_ok_and(|bytes| bytes > LARGEST_FRAME) {
            return Err(format!(
                "{function}: {bytes} bytes of local variables, the emulator allows {LARGEST_FRAME}"
            ));
        }
    }
    Ok(())
}

fn log(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    let mut lines: Vec<&str> = text.lines().take(LOG_LINES).collect();
    if text.lines().count() > LOG_LINES {
        lines.push("…");
    }
    lines.join("\n")
}

/// Where a program is: its path is a part of what a compiled kernel depends on.
fn on_path(name: &str) -> Option<PathBuf> {
    let path = PathBuf::from(name);
    if path.components().count() > 1 {
        return path.is_file().then_some(path);
    }
    let folders = std::env::var_os("PATH")?;
    std::env::split_paths(&folders).map(|folder| folder.join(name)).find(|path| path.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compiler() -> Compiler {
        Compiler::find(std::env::var_os("CXX"), Checks::Own).unwrap()
    }

    #[test]
    fn a_missing_compiler_is_a_refusal_that_says_what_to_do() {
        let refusal = Compiler::find(Some("/nonexistent/c++ -m64".into()), Checks::Own).unwrap_err();
        assert_eq!(
            refusal.to_string(),
            "no emulator: CXX=/nonexistent/c++ -m64 does not run: install one, e.g. `apt install g++`, or set CXX"
        );
    }

    /// As compilers of some systems are set up: a kernel with an array of its own would call what it is not linked with.
    #[test]
    fn protectors_of_stacks_that_a_system_turns_on_are_turned_off() {
        let cxx = "c++ -fstack-protector-all -D_FORTIFY_SOURCE=2";
        let text = "#include \"ordito.cuh\"\nextern \"C\" __global__ void k(u32* y, u32 n) {\n    u32 own[64];\n    \
                    for (u32 i = 0; i < 64; ++i) own[i] = i * n;\n    y[0] = own[n % 64];\n}\n";
        let compiler = Compiler::find(Some(cxx.into()), Checks::Own).unwrap();
        compiler.compile(&KernelSource::new("k", "own.cu", text)).unwrap();
    }

    #[test]
    fn the_log_names_file_and_line() {
        let text =
            "#include \"ordito.cuh\"\nextern \"C\" __global__ void k(SCALAR* y) {\n    y[0] = nonsense;\n}\n";
        let source = KernelSource::new("k", "wrong.cu", text).define("SCALAR", "float");
        let Err(Refusal::Compile { kernel, log }) = compiler().compile(&source) else { panic!("compiled") };
        assert_eq!(kernel, "wrong.cu SCALAR=float");
        assert!(log.contains("wrong.cu:3:") && log.contains("nonsense"), "{log}");
        assert!(log.lines().count() <= LOG_LINES + 1);
    }

    #[test]
    fn headers_include_each_other_and_the_log_names_their_lines() {
        let text = "#include \"ordito.cuh\"\n#include \"outer.cuh\"\nextern \"C\" __global__ void k(u32* y) { y[0] = outer(); }\n";
        let outer =
            "#pragma once\n#include \"inner.cuh\"\n__device__ inline u32 outer() { return inner(); }\n";
        let source = |inner: &'static str| {
            KernelSource::new("k", "k.cu", text).include("outer.cuh", outer).include("inner.cuh", inner)
        };
        assert!(compiler().compile(&source("__device__ inline u32 inner() { return 1; }\n")).is_ok());
        let wrong = source("// a line\n__device__ inline u32 inner() { return nonsense; }\n");
        let Err(Refusal::Compile { log, .. }) = compiler().compile(&wrong) else { panic!("compiled") };
        assert!(log.contains("inner.cuh:2:") && log.contains("nonsense"), "{log}");
    }

    #[test]
    fn frames_that_no_stack_has_room_for_are_refused() {
        let usage = "k.cpp:1:2:void f()\t65536\tstatic\nk.cpp:3:4:void g(Big)\t368\tdynamic,bounded\n";
        assert_eq!(check_frames(usage), Ok(()));
        let why = check_frames("k.cpp:1:2:void f()\t65537\tstatic\n").unwrap_err();
        assert_eq!(why, "k.cpp:1:2:void f(): 65537 bytes of local variables, the emulator allows 65536");
        assert!(check_frames("k.cpp:1:2:void f(int)\t16\tdynamic\n").unwrap_err().contains("computed"));
        let text = "#include \"ordito.cuh\"\nextern \"C\" __global__ void k(int* y) {\n    volatile int all[1 << 20];\n    all[y[0]] = 1;\n    y[0] = all[y[1]];\n}\n";
        let refusal = compiler().compile(&KernelSource::new("k", "k.cu", text)).unwrap_err().to_string();
        assert!(refusal.contains("k.cu:2:") && refusal.contains("bytes of local variables"), "{refusal}");
    }

    #[test]
    fn what_would_run_when_it_is_loaded_is_refused() {
        let kernel = "extern \"C\" __global__ void k(int* y) { y[0] = 1; }\n";
        assert!(compiler().compile(&KernelSource::new("k", "k.cu", kernel)).is_ok());
        for more in [
            "__attribute__((constructor)) void first() { volatile int one = 1; }",
            "__attribute__((destructor)) void last() { volatile int one = 1; }",
            "struct First { First() { volatile int one = 1; } } first;",
        ] {
            let source = KernelSource::new("k", "k.cu", format!("{kernel}{more}\n").leak());
            let refusal = compiler().compile(&source).unwrap_err().to_string();
            assert!(refusal.contains("runs something when it is loaded"), "{more}: {refusal}");
        }
    }

    #[test]
    fn functions_of_the_c_library_are_refused() {
        let text = "extern \"C\" int puts(const char*);\nextern \"C\" __global__ void k(int* y) { y[0] = puts(\"\"); }\n";
        let refusal = compiler().compile(&KernelSource::new("k", "k.cu", text)).unwrap_err().to_string();
        assert!(refusal.contains("puts"), "{refusal}");
    }

    #[test]
    fn loops_are_unrolled_in_the_words_of_the_compiler() {
        let text = "#pragma once\n  #pragma unroll\nfor (;;)\n#pragma unroll 1\nfor (;;)\n";
        let expected = "#pragma once\n#pragma GCC unroll 65534\nfor (;;)\n#pragma GCC unroll 1\nfor (;;)\n";
        assert_eq!(unrolling(text), expected);
    }

    #[test]
    fn keys_depend_on_text_definitions_and_checks() {
        let (own, source) = (compiler(), KernelSource::new("k", "k.cu", "text"));
        let other = Compiler { checks: Checks::AddressSanitizer, ..compiler() };
        let key = own.key(&source);
        assert_eq!(key, compiler().key(&source));
        assert_ne!(key, other.key(&source));
        assert_ne!(key, own.key(&source.clone().define("A", 1)));
        let with_header = own.key(&source.clone().include("h.cuh", "1"));
        assert_ne!(key, with_header);
        assert_ne!(with_header, own.key(&source.clone().include("h.cuh", "2")));
        assert_ne!(key, own.key(&KernelSource::new("k", "k.cu", "text ")));
        assert_ne!(key, own.key(&KernelSource::new("l", "k.cu", "text")));
    }
}
