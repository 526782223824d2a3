//! What a C++ compiler is told so that a kernel tells what it does.

/// -O1: less is slower to run, more is slower to compile and moves accesses about. No contraction: the same bits
/// on every machine.
const FLAGS: &[&str] = &[
    "-std=c++17",
    "-O1",
    // Lines alone. DWARF 5 counts files from 0 on, and addr2line up to 2.40 at least names the file before the one that is meant,
    // where no function of another file was inlined. (The level comes last: clang takes the last word for it.)
    "-gdwarf-4",
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
    !version.contains("clang") && major(version).is_some_and(|major| major >= 11)
}

/// The major version of what calls itself `g++ (SUSE Linux) 13.2.1 20231130 [revision …]`: the first number that stands in no
/// brackets. Behind it may be a date, or more brackets.
fn major(version: &str) -> Option<u32> {
    let mut depth = 0_usize;
    let outside = |letter: char| {
        match letter {
            '(' | '[' => depth += 1,
            ')' | ']' => depth = depth.saturating_sub(1),
            _ if depth == 0 => return letter,
            _ => {}
        }
        ' '
    };
    let line: String = version.lines().next()?.chars().map(outside).collect();
    line.split_whitespace().find_map(|word| word.split('.').next()?.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_stand_behind_brackets_and_before_dates() {
        for (line, number) in [
            ("g++ (Debian 10.2.1-6) 10.2.1 20210110", 10),
            ("g++ (Debian 12.2.0-14+deb12u1) 12.2.0\nCopyright (C) 2022 Free Software Foundation, Inc.", 12),
            ("g++ (Ubuntu 11.4.0-1ubuntu1~22.04) 11.4.0", 11),
            ("g++-9 (Ubuntu 9.5.0-1ubuntu1~22.04) 9.5.0", 9),
            ("g++ (SUSE Linux) 7.5.0", 7),
            ("g++ (SUSE Linux) 13.2.1 20231130 [revision 741743c028dc00f27b9c8b1d5211c1f602f2fddd]", 13),
            ("g++ (Alpine 13.2.1_git20231014) 13.2.1 20231014", 13),
            ("g++ (GCC) 8.5.0 20210514 (Red Hat 8.5.0-20)", 8),
            ("g++ (GCC) 14.1.1 20240701", 14),
            ("g++ (crosstool-NG 1.25 (of 2022) here) 12.1.0", 12),
            ("g++ 11.2", 11),
        ] {
            assert_eq!(major(line), Some(number), "{line}");
            assert_eq!(tells_volatile(line), number >= 11, "{line}");
        }
        for line in
            ["Debian clang version 14.0.6", "clang version 18.1.3 (https://github.com/llvm/llvm-project 1)"]
        {
            assert!(!tells_volatile(line), "{line}");
        }
        assert_eq!([major(""), major("g++ (12.2.0)"), major("a compiler")], [None; 3]);
    }
}
