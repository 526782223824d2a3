//! What a kernel takes, as the assembler tells it: registers and what did not fit into them.

/// What one thread and one block of a kernel take.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Resources {
    /// Registers of a thread.
    pub registers: u32,
    /// Bytes that its code stores and loads because they did not fit into registers, together.
    pub spill_bytes: u32,
    /// Stack of a thread: spilled registers and arrays with computed indices.
    pub stack_bytes: u32,
    /// Shared memory of a block, without the dynamic part.
    pub shared_bytes: u32,
    /// What the assembler could not do as it was told, such as products of warp groups that had to wait for each other.
    pub warnings: Vec<String>,
}

/// `ptxas warning : …`, and information that is one: `Potential Performance Loss: wgmma.mma_async instructions are
/// serialized …`, `setmaxnreg ignored …`.
const WARNINGS: [&str; 3] = ["warning", "Potential Performance Loss", "setmaxnreg"];

impl Resources {
    /// From what `ptxas -v` prints about the kernel of this name; `None` where it is not mentioned.
    pub(crate) fn parse(log: &str, entry: &str) -> Option<Self> {
        const HEAD: &str = "Compiling entry function '";
        let mut lines = log.lines().skip_while(|line| !line.contains(&format!("{HEAD}{entry}'")));
        lines.next()?;
        let (mut resources, mut complete) = (Resources::default(), false);
        // They may stand before any kernel is mentioned.
        let told = |line: &&str| WARNINGS.iter().any(|words| line.contains(words));
        resources.warnings = log.lines().filter(told).map(str::to_owned).collect();
        for line in lines.take_while(|line| !line.contains(HEAD)) {
            // Functions that were not inlined have lines of their own between; their spills count as well.
            let before = |words: &str| number_before(line, words);
            resources.spill_bytes += before(" bytes spill stores") + before(" bytes spill loads");
            resources.stack_bytes = resources.stack_bytes.max(before(" bytes stack frame"));
            if let Some(used) = line.split("Used ").nth(1) {
                resources.registers = number_before(used, " registers");
                resources.shared_bytes = number_before(used, " bytes smem");
                complete = true;
            }
        }
        complete.then_some(resources)
    }
}

/// The number that stands right before these words; 0 where they are missing.
fn number_before(line: &str, words: &str) -> u32 {
    let before = line.find(words).map_or("", |at| &line[..at]);
    let digits = before.rfind(|c: char| !c.is_ascii_digit()).map_or(before, |at| &before[at + 1..]);
    digits.parse().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "\
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'k2' for 'sm_90'
ptxas info    : Function properties for k2
ptxas         .     856 bytes stack frame, 1004 bytes spill stores, 1060 bytes spill loads
ptxas info    : Used 32 registers, used 0 barriers, 856 bytes cumulative stack size
ptxas info    : Compile time = 40.774 ms
ptxas info    : Compiling entry function 'k' for 'sm_90'
ptxas info    : Function properties for k
ptxas         .     800 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 40 registers, used 1 barriers, 800 bytes cumulative stack size, 512 bytes smem
ptxas info    : Compile time = 29.590 ms
";

    #[test]
    fn each_kernel_has_its_own_lines() {
        let warnings = vec![];
        let k2 = Resources { registers: 32, spill_bytes: 2064, stack_bytes: 856, shared_bytes: 0, warnings };
        assert_eq!(Resources::parse(LOG, "k2"), Some(k2));
        let warnings = vec![];
        let k = Resources { registers: 40, spill_bytes: 0, stack_bytes: 800, shared_bytes: 512, warnings };
        assert_eq!(Resources::parse(LOG, "k"), Some(k));
        let serialized =
            "ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are serialized";
        let log = format!("{serialized}\n{LOG}");
        assert_eq!(Resources::parse(&log, "k").unwrap().warnings, [serialized]);
        assert_eq!(Resources::parse(LOG, "k3"), None);
        assert_eq!(Resources::parse("", "k"), None);
    }
}
