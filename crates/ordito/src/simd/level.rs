//! The vector instructions that this CPU has and that may be used: asked here and nowhere else.

use std::cmp::Ordering;
use std::fmt;
use std::sync::LazyLock;

/// Which vector instructions the kernels may use. Ordered as far as it goes: a CPU that has one level has all lower ones, and
/// none has levels of two architectures, of which neither is the lower one.
///
/// ```
/// use ordito::cpu::SimdLevel;
/// assert!(SimdLevel::Portable < SimdLevel::Avx2 && SimdLevel::Avx2 < SimdLevel::Avx512);
/// assert!(SimdLevel::Portable < SimdLevel::Neon);
/// assert!(!(SimdLevel::Neon <= SimdLevel::Avx512) && !(SimdLevel::Avx2 <= SimdLevel::Neon));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
#[non_exhaustive]
pub enum SimdLevel {
    /// What the compiler makes of plain loops for every CPU of the architecture.
    #[default]
    Portable,
    /// AArch64: 128-bit vectors with fused multiply-add, which every CPU of the architecture has.
    Neon,
    /// x86-64: 256-bit vectors with fused multiply-add.
    Avx2,
    /// x86-64: 512-bit vectors with masks: F, VL, DQ and BW.
    Avx512,
}

impl SimdLevel {
    /// All levels, lowest first.
    pub const ALL: [SimdLevel; 4] =
        [SimdLevel::Portable, SimdLevel::Neon, SimdLevel::Avx2, SimdLevel::Avx512];

    /// What users call it: `portable`, `neon`, `avx2`, `avx512`.
    pub fn name(self) -> &'static str {
        match self {
            SimdLevel::Portable => "portable",
            SimdLevel::Neon => "neon",
            SimdLevel::Avx2 => "avx2",
            SimdLevel::Avx512 => "avx512",
        }
    }

    /// The level with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        SimdLevel::ALL.into_iter().find(|level| level.name().eq_ignore_ascii_case(name.trim()))
    }

    /// The highest level that this CPU and operating system support.
    #[cfg(target_arch = "x86_64")]
    pub fn supported() -> Self {
        let avx2 = is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("fma")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("popcnt");
        let avx512 = avx2
            && is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512bw");
        match (avx512, avx2) {
            (true, _) => SimdLevel::Avx512,
            (false, true) => SimdLevel::Avx2,
            (false, false) => SimdLevel::Portable,
        }
    }

    /// The highest level that this CPU and operating system support.
    #[cfg(not(target_arch = "x86_64"))]
    pub fn supported() -> Self {
        if cfg!(target_arch = "aarch64") { SimdLevel::Neon } else { SimdLevel::Portable }
    }

    /// This level where the CPU has it, otherwise the highest that it has.
    pub fn or_supported(self) -> Self {
        if self <= Self::supported() { self } else { Self::supported() }
    }

    /// The level that this process uses: what is supported, or less where `ORDITO_SIMD` asks for less. Asked once.
    pub fn in_use() -> Self {
        Self::chosen().0
    }

    /// The level in use, and why `ORDITO_SIMD` was not obeyed where it was not.
    pub(crate) fn chosen() -> (Self, Option<&'static str>) {
        static CHOSEN: LazyLock<(SimdLevel, Option<String>)> = LazyLock::new(|| {
            choose_level(SimdLevel::supported(), std::env::var(SIMD_VARIABLE).ok().as_deref())
        });
        (CHOSEN.0, CHOSEN.1.as_deref())
    }
}

impl PartialOrd for SimdLevel {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        let (low, high) = if (*self as u8) < *other as u8 { (self, other) } else { (other, self) };
        // `ALL` is in order but for NEON, which stands before levels that are not above it.
        let are_apart = *low == SimdLevel::Neon && low != high;
        (!are_apart).then(|| (*self as u8).cmp(&(*other as u8)))
    }
}

impl fmt::Display for SimdLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Name of the variable that lowers the SIMD level, to one of [`SimdLevel::ALL`] by name.
const SIMD_VARIABLE: &str = "ORDITO_SIMD";

/// The level to use and, where the wish could not be granted, a sentence that says so. A wish can only
/// lower the level: executing instructions which the CPU lacks would be undefined behaviour.
fn choose_level(supported: SimdLevel, wish: Option<&str>) -> (SimdLevel, Option<String>) {
    let Some(wish) = wish.filter(|text| !text.trim().is_empty()) else {
        return (supported, None);
    };
    match SimdLevel::from_name(wish) {
        Some(level) if level <= supported => (level, None),
        Some(level) => {
            let note = format!("{SIMD_VARIABLE}={wish}: this CPU has no {level}, using {supported}");
            (supported, Some(note))
        }
        None => {
            let names = SimdLevel::ALL.map(SimdLevel::name).join(", ");
            let note = format!("{SIMD_VARIABLE}={wish} is none of {names}: ignored, using {supported}");
            (supported, Some(note))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wish_only_lowers() {
        use SimdLevel::*;
        assert_eq!(choose_level(Avx512, None), (Avx512, None));
        assert_eq!(choose_level(Avx512, Some("")), (Avx512, None));
        assert_eq!(choose_level(Avx512, Some("avx2")), (Avx2, None));
        assert_eq!(choose_level(Avx2, Some(" PORTABLE ")), (Portable, None));
        let (level, note) = choose_level(Avx2, Some("avx512"));
        assert_eq!((level, note.unwrap().contains("no avx512, using avx2")), (Avx2, true));
        assert_eq!(choose_level(Neon, Some("portable")), (Portable, None));
        for (supported, wish) in [(Avx512, "neon"), (Neon, "avx2"), (Portable, "neon")] {
            let (level, note) = choose_level(supported, Some(wish));
            assert_eq!((level, note.is_some()), (supported, true), "{wish} of {supported}");
        }
        let (level, note) = choose_level(Avx2, Some("sse9"));
        assert_eq!((level, note.unwrap().contains("portable, neon, avx2, avx512: ignored")), (Avx2, true));
    }

    #[test]
    fn levels_are_ordered_within_their_architecture() {
        use SimdLevel::*;
        let both_ways = |a: SimdLevel, b: SimdLevel| (a.partial_cmp(&b), b.partial_cmp(&a));
        for (low, high) in [(Portable, Avx2), (Avx2, Avx512), (Portable, Avx512), (Portable, Neon)] {
            assert_eq!(both_ways(low, high), (Some(Ordering::Less), Some(Ordering::Greater)), "{low} {high}");
        }
        assert_eq!([both_ways(Neon, Avx2), both_ways(Neon, Avx512)], [(None, None); 2]);
        for level in SimdLevel::ALL {
            assert_eq!(level.partial_cmp(&level), Some(Ordering::Equal));
            assert!(level.or_supported() <= SimdLevel::supported());
        }
    }

    #[test]
    fn names_come_back() {
        for level in SimdLevel::ALL {
            assert_eq!(SimdLevel::from_name(level.name()), Some(level));
            assert_eq!(serde_json::to_string(&level).unwrap(), format!("\"{level}\""));
        }
    }
}
