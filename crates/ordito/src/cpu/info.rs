//! The processor: its name, cores, vector instructions, caches and memory, as far as the system tells.

use crate::simd::{SimdLevel, gathers_are_slow};
use std::path::Path;
use std::sync::OnceLock;

/// What is known of the processor and the memory. Unknown facts are `None`, on any system.
///
/// ```
/// use ordito::cpu::CpuInfo;
/// let cpu = CpuInfo::detect();
/// assert!(cpu.logical_cores >= 1 && cpu.simd <= cpu.simd_supported);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default))]
pub struct CpuInfo {
    /// As the maker calls it; `unknown` where the system does not say.
    pub model: String,
    /// Threads that this process may run at once: affinity masks and container quotas count.
    pub logical_cores: usize,
    /// The level that kernels use: what is supported, or less where `ORDITO_SIMD` asks for less.
    pub simd: SimdLevel,
    /// The highest level that the hardware offers.
    pub simd_supported: SimdLevel,
    /// Why `ORDITO_SIMD` was not obeyed, for `ordito doctor` to show.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub simd_note: Option<String>,
    /// Gather instructions take longer than loading numbers one by one: measured once, so that it may differ from run to run where both are
    /// about as fast. Results do not depend on it.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "std::ops::Not::not"))]
    pub gathers_are_slow: bool,
    /// First-level data cache of one core.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub l1d_bytes: Option<u64>,
    /// Second-level cache of one core.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub l2_bytes: Option<u64>,
    /// Third-level cache, shared by the cores of one socket or cluster.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub l3_bytes: Option<u64>,
    /// All memory.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub memory_bytes: Option<u64>,
    /// Memory that could be allocated without swapping when this was asked.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub available_memory_bytes: Option<u64>,
    /// `linux`, `macos`, `windows`, …
    pub os: String,
    /// `x86_64`, `aarch64`, …
    pub arch: String,
}

impl CpuInfo {
    /// Asks the system.
    pub fn detect() -> Self {
        let (simd, simd_note) = SimdLevel::chosen();
        let text = |path| std::fs::read_to_string(path).unwrap_or_default();
        let (cpuinfo, meminfo) = (text("/proc/cpuinfo"), text("/proc/meminfo"));
        let caches = read_caches(Path::new("/sys/devices/system/cpu/cpu0/cache"));
        CpuInfo {
            model: model_name(&cpuinfo).unwrap_or("unknown").to_owned(),
            logical_cores: logical_cores(),
            simd,
            simd_supported: SimdLevel::supported(),
            simd_note: simd_note.map(str::to_owned),
            gathers_are_slow: gathers_are_slow(simd),
            l1d_bytes: data_cache_bytes(&caches, 1),
            l2_bytes: data_cache_bytes(&caches, 2),
            l3_bytes: data_cache_bytes(&caches, 3),
            memory_bytes: memory_bytes(&meminfo, "MemTotal"),
            available_memory_bytes: memory_bytes(&meminfo, "MemAvailable"),
            os: std::env::consts::OS.to_owned(),
            arch: std::env::consts::ARCH.to_owned(),
        }
    }

    /// Size of the last cache before memory, as far as it is known.
    pub fn last_level_cache_bytes(&self) -> Option<u64> {
        self.l3_bytes.or(self.l2_bytes).or(self.l1d_bytes)
    }
}

/// All memory of this computer, asked once.
pub(crate) fn total_memory_bytes() -> Option<u64> {
    static TOTAL: OnceLock<Option<u64>> = OnceLock::new();
    *TOTAL.get_or_init(|| memory_bytes(&std::fs::read_to_string("/proc/meminfo").ok()?, "MemTotal"))
}

/// Memory that could be allocated without swapping now.
#[cfg(feature = "emulator")]
pub(crate) fn available_memory_bytes() -> Option<u64> {
    memory_bytes(&std::fs::read_to_string("/proc/meminfo").ok()?, "MemAvailable")
}

/// Threads that this process may run at once.
pub(super) fn logical_cores() -> usize {
    std::thread::available_parallelism().map_or(1, |n| n.get())
}

/// The first CPU's name in the text of `/proc/cpuinfo`; AArch64 kernels give none.
fn model_name(cpuinfo: &str) -> Option<&str> {
    let fields = cpuinfo.lines().filter_map(|line| line.split_once(':'));
    let mut models = fields.filter(|(key, _)| matches!(key.trim(), "model name" | "cpu model" | "Model"));
    models.next().map(|(_, name)| name.trim()).filter(|name| !name.is_empty())
}

/// A line such as `MemTotal:       24601680 kB` of `/proc/meminfo`, in bytes (its kB are KiB).
fn memory_bytes(meminfo: &str, field: &str) -> Option<u64> {
    let mut lines = meminfo.lines().filter_map(|line| line.split_once(':'));
    let (_, value) = lines.find(|(key, _)| *key == field)?;
    value.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// One cache as `/sys` describes it, in its own words.
#[derive(Debug, Clone, Default)]
struct CacheText {
    level: String,
    kind: String,
    size: String,
}

fn read_caches(folder: &Path) -> Vec<CacheText> {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Vec::new();
    };
    let text = |path: std::path::PathBuf| std::fs::read_to_string(path).unwrap_or_default();
    let caches = entries.flatten().map(|entry| entry.path()).filter(|path| path.join("level").is_file());
    caches
        .map(|path| CacheText {
            level: text(path.join("level")),
            kind: text(path.join("type")),
            size: text(path.join("size")),
        })
        .collect()
}

/// Size of the cache of this level that holds data.
fn data_cache_bytes(caches: &[CacheText], level: u32) -> Option<u64> {
    let holds_data = |cache: &&CacheText| {
        cache.level.trim().parse() == Ok(level) && matches!(cache.kind.trim(), "Data" | "Unified")
    };
    caches.iter().find(holds_data).and_then(|cache| size_bytes(&cache.size))
}

/// `48K`, `2M` or plain bytes.
fn size_bytes(text: &str) -> Option<u64> {
    let text = text.trim();
    let (digits, unit) = match text.char_indices().last()? {
        (at, 'K') => (&text[..at], 1 << 10),
        (at, 'M') => (&text[..at], 1 << 20),
        (at, 'G') => (&text[..at], 1 << 30),
        _ => (text, 1),
    };
    digits.parse::<u64>().ok()?.checked_mul(unit).filter(|&bytes| bytes > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proc_files_are_read() {
        let cpuinfo = "processor\t: 0\nmodel name\t: Example CPU @ 2.0GHz\nprocessor\t: 1\n";
        assert_eq!(model_name(cpuinfo), Some("Example CPU @ 2.0GHz"));
        assert_eq!(model_name("processor\t: 0\nBogoMIPS\t: 50.00\n"), None);
        assert_eq!(model_name(""), None);
        let meminfo = "MemTotal:       24601680 kB\nMemFree: 5 kB\nMemAvailable:      1000 kB\n";
        assert_eq!(memory_bytes(meminfo, "MemTotal"), Some(24_601_680 * 1024));
        assert_eq!(memory_bytes(meminfo, "MemAvailable"), Some(1_024_000));
        assert_eq!(memory_bytes(meminfo, "Mem"), None);
        assert_eq!(memory_bytes("MemTotal: many kB", "MemTotal"), None);
    }

    #[test]
    fn cache_sizes_have_units() {
        for (text, bytes) in [
            ("48K\n", Some(48 << 10)),
            ("2M", Some(2 << 20)),
            ("1G", Some(1 << 30)),
            ("512", Some(512)),
            ("", None),
            ("K", None),
            ("0K", None),
            ("99999999999999999999G", None),
        ] {
            assert_eq!(size_bytes(text), bytes, "{text:?}");
        }
    }

    #[test]
    fn instruction_caches_hold_no_data() {
        let cache = |level: &str, kind: &str, size: &str| CacheText {
            level: level.into(),
            kind: kind.into(),
            size: size.into(),
        };
        let caches = [
            cache("1\n", "Instruction\n", "32K\n"),
            cache("1\n", "Data\n", "48K\n"),
            cache("2\n", "Unified\n", "2048K\n"),
        ];
        assert_eq!(data_cache_bytes(&caches, 1), Some(48 << 10));
        assert_eq!(data_cache_bytes(&caches, 2), Some(2 << 20));
        assert_eq!(data_cache_bytes(&caches, 3), None);
        assert!(read_caches(Path::new("/no/such/folder")).is_empty());
    }

    #[test]
    fn what_is_missing_in_a_file_is_unknown() {
        let cpu: CpuInfo = serde_json::from_str(r#"{"model":"Old","invented_later":1}"#).unwrap();
        assert_eq!((cpu.model.as_str(), cpu.l3_bytes), ("Old", None));
    }
}
