//! Are all ranks on machines of the same kind? Numbers travel as they lie in memory, and results must be the same bits wherever they are computed.

use crate::ranks::{Collective, Ranks, RanksError};
use ordito::cpu::CpuInfo;

/// Refuses ranks whose numbers lie differently in memory, that run another version, or whose kernels would round differently.
///
/// Of the instruction set only the vector level counts: it decides how many sums a kernel keeps side by side, and whether products are fused
/// into them. Cores, caches and clocks may differ. `ORDITO_SIMD` sets the level, so that all can be brought to the lowest.
pub fn refuse_unlike(ranks: &dyn Ranks) -> Result<(), RanksError> {
    ranks.same("ranks run different versions", env!("CARGO_PKG_VERSION"))?;
    ranks.same("numbers lie differently in memory", &layout())?;
    let level = CpuInfo::detect().simd.to_string();
    ranks.same("vector levels differ, and with them results (set ORDITO_SIMD to the lowest on all)", &level)
}

/// Two numbers as they lie in memory, and the width of a pointer.
fn layout() -> String {
    let in_hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    format!(
        "{}-bit pointers, 258 as {}, 0.1 as {}",
        usize::BITS,
        in_hex(&258u32.to_ne_bytes()),
        in_hex(&0.1f64.to_ne_bytes())
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ranks::{Patience, on_threads};

    #[test]
    fn a_machine_is_like_itself() {
        assert!(on_threads(3, Patience::default(), |ranks| refuse_unlike(&ranks)).iter().all(Result::is_ok));
        let expected = "64-bit pointers, 258 as 02010000, 0.1 as 9a9999999999b93f";
        assert!(layout() == expected || cfg!(any(not(target_pointer_width = "64"), target_endian = "big")));
    }
}
