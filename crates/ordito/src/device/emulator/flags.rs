//! What a C++ compiler is told so that a kernel tells what it does.

/// -O1: less is slower to run, more is slower to compile and moves accesses about. No contraction: the same bits
/// on every machine.
const FLAGS: &[&str] = &[
    "-std=c++17",
    "-O1",
    "-g1",
    "-fPIC",
    "-fvisibility=hidden",
    "-fno-exceptions",
    "-fno-rtti",
    // Some systems turn these on for everybody; they call a library that a kernel does not have.
    "-fno-stack-protector",
    "-U_FORTIFY_SOURCE",
    "-ffp-contract=off",
    "-fstack-usage",
    // A barrier in the source stays one call: by that it is seen that threads came to different ones.
    "-fno-thread-jumps",
    "-w",
];
/// Local variables of one function: more than that is refused. Recursion is another matter, and found when it happens.
pub(crate) const LARGEST_FRAME: usize = 64 << 10;
/// What calls the hooks of `cuda_emulator.h`. Divisions are checked since this machine, unlike a GPU, ends the
/// program when it divides by zero.
const CHECKS: &str =
    "-fsanitize=thread,alignment,bounds,integer-divide-by-zero,shift,signed-integer-overflow";
/// What tells of every basic block.
const BLOCKS: &str = "-fsanitize-coverage=trace-pc";
/// What tells of every access and every basic block. No checks that add branches of their own, except the one without which the
/// program would end. -O2 unrolls what the source asks for, as a compiler for GPUs does. What is copied whole stays whole (no sra, fre
/// and pre): on a GPU it is one access. Blocks stay as they are in the source, and in its order: by that, lanes of a warp find
/// together again. One operation on numbers is one instruction.
const COUNTED: [&str; 16] = [
    "-fsanitize=thread,integer-divide-by-zero",
    BLOCKS,
    "-O2",
    "-fno-reorder-blocks",
    "-fno-reorder-blocks-and-partition",
    // Else what tells of a function's last block would be told to come from who called the function.
    "-fno-optimize-sibling-calls",
    "-fno-crossjumping",
    "-fno-tree-tail-merge",
    "-fno-split-paths",
    "-fno-unswitch-loops",
    "-fno-tree-vectorize",
    "-fno-tree-slp-vectorize",
    "-fno-gcse",
    "-fno-tree-sra",
    "-fno-tree-fre",
    "-fno-tree-pre",
];

/// What is compiled into kernels to find their faults.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Checks {
    /// The emulator's own: every access.
    Own,
    /// The same, and every basic block is told: so loops without an end are found that touch no memory, as far as the compiler tells of them.
    Followed,
    /// None but bounds: every access and every basic block is told, to be counted.
    Counted,
    /// AddressSanitizer and UBSan, whose libraries must have been loaded before the program: a check on the checks.
    AddressSanitizer,
}

impl Checks {
    /// `ORDITO_EMULATOR_SANITIZE=address` asks for the sanitizers.
    pub(crate) fn from_environment() -> Self {
        match std::env::var_os("ORDITO_EMULATOR_SANITIZE") {
            Some(value) if value == "address" => Checks::AddressSanitizer,
            _ => Checks::Own,
        }
    }
}

/// Of the compilation, by a compiler that calls itself this.
pub(crate) fn compile(checks: Checks, version: &str) -> Vec<String> {
    let mut flags: Vec<&str> = FLAGS.to_vec();
    match checks {
        Checks::Own | Checks::Followed | Checks::Counted => {
            flags.push("-DEMULATOR_CHECKS");
            match checks {
                Checks::Counted => {
                    flags.extend(COUNTED.iter().chain(&["-DEMULATOR_XRAY"]));
                    flags.extend(tells_volatile(version).then_some("--param=tsan-distinguish-volatile=1"));
                }
                Checks::Followed => flags.extend([CHECKS, BLOCKS]),
                _ => flags.push(CHECKS),
            }
            // Not expanded where they stand: they would be accesses that no call comes before.
            flags.extend(["-fno-builtin-memcpy", "-fno-builtin-memmove", "-fno-builtin-memset"]);
        }
        Checks::AddressSanitizer => {
            flags.extend(["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]);
            // Fibers leave frames behind that a sanitizer of stacks would take for faults.
            let clang = version.contains("clang");
            flags.extend(if clang { ["-mllvm", "-asan-stack=0"] } else { ["--param", "asan-stack=0"] });
        }
    }
    flags.into_iter().map(String::from).collect()
}

/// Without the start files the kernel's own variables are all that is in `.bss`: shared memory is found by
/// that. The own checks are linked without the sanitizers whose calls they take.
pub(crate) fn link(checks: Checks) -> Vec<String> {
    let mut flags = vec!["-shared", "-nostartfiles"];
    match checks {
        // Of the C library nothing but mathematics, and what counts bits: what other functions touch would not be seen.
        Checks::Own | Checks::Followed | Checks::Counted => flags.extend(["-Wl,-z,defs", "-nodefaultlibs"]),
        Checks::AddressSanitizer => flags.push("-fsanitize=address,undefined"),
    }
    flags.into_iter().map(String::from).collect()
}

/// Does it tell of volatile loads in other words than of others? g++ does from version 11 on.
fn tells_volatile(version: &str) -> bool {
    let number = version.lines().next().and_then(|line| line.split_whitespace().next_back());
    let major = number.and_then(|number| number.split('.').next()?.parse().ok());
    !version.contains("clang") && major.is_some_and(|major: u32| major >= 11)
}
