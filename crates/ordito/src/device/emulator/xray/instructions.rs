//! Instructions of every basic block, read off the machine code of this CPU by the program `objdump` where there is one.
//!
//! Additions and multiplications of numbers are what the kernel asks for on every machine: exact. How many instructions a GPU needs for
//! addresses, comparisons and branches is taken to be what this CPU needs: a model.

use crate::files::kernel_prefix;
use std::collections::HashMap;
use std::io::Write;
use std::process::Command;

/// Operations of one thread in one basic block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Mix {
    /// Of f32 and f64: sums, products, quotients and roots, fused products and sums.
    pub(crate) adds: [u32; 2],
    pub(crate) products: [u32; 2],
    pub(crate) quotients: [u32; 2],
    pub(crate) fused: [u32; 2],
    pub(crate) integer: u32,
    pub(crate) branches: u32,
}

impl Mix {
    pub(crate) fn flops(&self, precision: usize) -> u64 {
        u64::from(self.adds[precision] + self.products[precision] + self.quotients[precision])
            + 2 * u64::from(self.fused[precision])
    }

    /// A GPU makes one instruction of a product and the sum that it goes into.
    pub(crate) fn instructions(&self, precision: usize) -> u64 {
        /// A quotient is a short program.
        const QUOTIENT: u32 = 8;
        let both = self.adds[precision].max(self.products[precision]);
        u64::from(both + self.fused[precision] + QUOTIENT * self.quotients[precision])
    }

    fn take(&mut self, instruction: &str, operands: &str) {
        let precision = usize::from(instruction.ends_with('d'));
        match instruction.trim_start_matches('v') {
            "addss" | "addsd" | "subss" | "subsd" => self.adds[precision] += 1,
            "mulss" | "mulsd" => self.products[precision] += 1,
            "divss" | "divsd" | "sqrtss" | "sqrtsd" => self.quotients[precision] += 1,
            "call" if operands.contains("<fmaf") => self.fused[0] += 1,
            "call" if operands.contains("<fma") => self.fused[1] += 1,
            // What the emulator is told is none of the kernel's, and bits are what they are called; other functions stand for an
            // instruction of the GPU each.
            "call" if ["san_", "sanitizer_", "emulator_bits"].iter().any(|name| operands.contains(name)) => {}
            "call" => self.integer += 1,
            // Moves and the stack are free on a GPU, which has registers for all.
            "push" | "pop" | "ret" | "nop" | "nopw" | "nopl" | "endbr64" | "pxor" | "xorps" | "cltq" => {}
            name if name.starts_with('j') => self.branches += 1,
            name if name.starts_with("mov") => {}
            _ => self.integer += 1,
        }
    }
}

const BLOCK_BEGINS: &str = "<__sanitizer_cov_trace_pc";

/// What is in each basic block, known by the address behind the call that tells of it. Empty where there is no `objdump`.
pub(crate) fn basic_blocks(code: &[u8]) -> HashMap<u32, Mix> {
    let disassemble = || {
        let mut library = tempfile::Builder::new().prefix(&kernel_prefix()).tempfile().ok()?;
        library.write_all(code).ok()?;
        let mut command = Command::new("objdump");
        command.args(["-d", "--no-show-raw-insn", "-w"]).arg(library.path()).env("LC_ALL", "C");
        let output = command.output().ok().filter(|output| output.status.success())?;
        Some(String::from_utf8_lossy(&output.stdout).into_owned())
    };
    disassemble().map_or_else(HashMap::new, |text| parse(&text))
}

fn parse(text: &str) -> HashMap<u32, Mix> {
    let mut blocks = HashMap::new();
    let (mut present, mut begins) = (None, false);
    for line in text.lines() {
        // "    11d2:\tmulss  0x4(%rbx),%xmm0"; a function begins with "00001139 <name>:".
        let Some((address, rest)) = line.split_once(":\t") else {
            (present, begins) = (None, false);
            continue;
        };
        let Ok(address) = u32::from_str_radix(address.trim(), 16) else { continue };
        if begins {
            (present, begins) = (Some(address), false);
        }
        let (instruction, operands) =
            rest.trim().split_once(char::is_whitespace).unwrap_or((rest.trim(), ""));
        if instruction == "call" && operands.contains(BLOCK_BEGINS) {
            (present, begins) = (None, true);
        } else if let Some(block) = present {
            let mix: &mut Mix = blocks.entry(block).or_default();
            mix.take(instruction, operands);
        }
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_begin_behind_the_calls_that_tell_of_them() {
        let text = "\
0000000000001139 <k>:
    1139:\tpush   %rbx
    113a:\tcall   1120 <__sanitizer_cov_trace_pc>
    113f:\tmov    %rbx,%rdi
    1142:\tcall   1130 <__tsan_read4>
    1147:\tmulss  0x4(%rbx),%xmm0
    114b:\taddss  %xmm1,%xmm0
    114f:\tadd    $0x4,%rbx
    1153:\tjne    113a <k+0x1>
    1155:\tcall   1120 <__sanitizer_cov_trace_pc>
    115a:\tdivsd  %xmm1,%xmm0
    115e:\tcall   1030 <fma@plt>
    1163:\tret

0000000000001170 <other>:
    1170:\taddsd  %xmm1,%xmm0
";
        let blocks = parse(text);
        assert_eq!(blocks.len(), 2);
        let [first, second] = [0x113f, 0x115a].map(|block| blocks[&block]);
        assert_eq!((first.flops(0), first.instructions(0), first.integer, first.branches), (2, 1, 1, 1));
        assert_eq!((second.flops(1), second.fused[1], second.quotients[1]), (3, 1, 1));
    }
}
