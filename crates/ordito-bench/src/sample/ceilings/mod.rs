//! What the machine can do at best: how fast it reads working sets of different sizes, and how fast it
//! multiplies and adds. Times are shown as a percentage of the floor that follows.
//!
//! Measured once per CPU, thread count, SIMD level and version of Ordito, in about two seconds, and kept in
//! the cache folder.

mod kernels;
mod measure;

use crate::sample::SampleError;
use ordito::cpu::{CpuInfo, Pool, SimdLevel};
use ordito::files::{WriteError, read_own, write_own};
use serde::{Deserialize, Serialize};
use std::io;
use std::path::{Path, PathBuf};

/// Read bandwidth of one working set, over all threads together.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Bandwidth {
    /// Bytes read again and again, all threads together; each has its own part.
    pub working_set_bytes: u64,
    /// 10⁹ bytes per second.
    pub gbytes_per_s: f64,
}

/// The measured limits of one machine with one number of threads.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ceilings {
    /// Version of Ordito that measured.
    pub version: String,
    /// The CPU's name.
    pub cpu_model: String,
    /// How many threads worked at once.
    pub threads: usize,
    /// The instructions used.
    pub simd: SimdLevel,
    /// Smallest working set first, never empty.
    pub read: Vec<Bandwidth>,
    /// Multiply-adds in f32, two flops each.
    pub peak_gflops_f32: f64,
    /// Multiply-adds in f64, two flops each.
    pub peak_gflops_f64: f64,
}

impl Ceilings {
    /// Measures on every thread of the pool; takes about two seconds and at most a quarter of the memory.
    pub fn measure(cpu: &CpuInfo, pool: &Pool) -> Result<Self, SampleError> {
        measure::measure(cpu, pool)
    }

    /// From the cache folder if they are there, else measured and kept there. A file that is damaged or of
    /// another machine is replaced; a folder that cannot be written to costs only the time of measuring.
    ///
    /// Measuring takes at most `memory_limit` bytes, or the least that it can do with. Where larger working sets are missing for
    /// that, the ceilings are not kept.
    pub fn load_or_measure(
        cpu: &CpuInfo,
        pool: &Pool,
        cache_dir: Option<&Path>,
        memory_limit: u64,
    ) -> Result<Self, SampleError> {
        let threads = pool.threads();
        let path = cache_dir.map(|folder| folder.join(file_name(cpu, threads)));
        if let Some(kept) = path.as_deref().and_then(|path| Ceilings::load(path, cpu, threads)) {
            return Ok(kept);
        }
        let available = cpu.available_memory_bytes;
        let lower = Some(available.unwrap_or(u64::MAX).min(memory_limit.saturating_mul(measure::SHARE)));
        if measure::working_sets(available).eq(measure::working_sets(lower)) {
            return Ceilings::measure_and_keep(cpu, pool, cache_dir);
        }
        Ceilings::measure(&CpuInfo { available_memory_bytes: lower, ..cpu.clone() }, pool)
    }

    /// Measured now, and kept instead of what was there: for a machine that was busy the first time.
    pub fn measure_and_keep(
        cpu: &CpuInfo,
        pool: &Pool,
        cache_dir: Option<&Path>,
    ) -> Result<Self, SampleError> {
        let measured = Ceilings::measure(cpu, pool)?;
        if let Some(folder) = cache_dir {
            // Without a cache the next run measures again: no reason to fail this one.
            let _ = measured.save(&folder.join(file_name(cpu, pool.threads())));
        }
        Ok(measured)
    }

    /// Ceilings that were kept, if the file is whole and of this machine.
    fn load(path: &Path, cpu: &CpuInfo, threads: usize) -> Option<Self> {
        let text = read_own(path).ok()??;
        let kept: Ceilings = serde_json::from_str(std::str::from_utf8(&text).ok()?).ok()?;
        let same = kept.version == env!("CARGO_PKG_VERSION")
            && kept.cpu_model == cpu.model
            && kept.threads == threads
            && kept.simd == cpu.simd;
        (same && kept.is_sound()).then_some(kept)
    }

    fn save(&self, path: &Path) -> Result<(), WriteError> {
        let text = serde_json::to_string_pretty(self).map_err(io::Error::from);
        let text = text.map_err(|reason| WriteError::Io { path: path.to_owned(), reason })?;
        write_own(path, text.as_bytes())
    }

    /// Are all numbers positive and finite, and the working sets ascending?
    fn is_sound(&self) -> bool {
        let good = |number: f64| number.is_finite() && number > 0.0;
        !self.read.is_empty()
            && self.read.iter().all(|read| good(read.gbytes_per_s))
            && self.read.is_sorted_by(|a, b| a.working_set_bytes < b.working_set_bytes)
            && good(self.peak_gflops_f32)
            && good(self.peak_gflops_f64)
    }

    /// Read bandwidth in GB/s for a working set: that of the largest measured one that is not larger.
    ///
    /// A smaller working set lies nearer to the core, so its bandwidth is the higher one. Between two sizes
    /// we take that side: the percentage may then look worse than it is, but never better.
    pub fn bandwidth_for(&self, working_set_bytes: u64) -> f64 {
        let not_larger = self.read.iter().rev().find(|read| read.working_set_bytes <= working_set_bytes);
        not_larger.or(self.read.first()).map_or(f64::INFINITY, |read| read.gbytes_per_s)
    }

    /// Peak GFLOP/s for `"f32"` or `"f64"`.
    pub fn peak_gflops(&self, dtype: &str) -> Option<f64> {
        match dtype {
            "f32" => Some(self.peak_gflops_f32),
            "f64" => Some(self.peak_gflops_f64),
            _ => None,
        }
    }

    /// The least time in nanoseconds for work that must move `bytes` and compute `flops`: the longer of the
    /// two. `None` for an unknown dtype and for no work at all.
    pub fn floor_ns(&self, bytes: u64, flops: u64, dtype: &str) -> Option<f64> {
        let moving = bytes as f64 / self.bandwidth_for(bytes);
        let computing = flops as f64 / self.peak_gflops(dtype)?;
        Some(moving.max(computing)).filter(|&floor| floor > 0.0 && floor.is_finite())
    }

    /// The floor as a percentage of the time that was needed; above 100 where the work stayed in a nearer
    /// cache than its size suggests.
    pub fn percent(&self, time_ns: f64, bytes: u64, flops: u64, dtype: &str) -> Option<f64> {
        let floor = self.floor_ns(bytes, flops, dtype)?;
        (time_ns > 0.0).then(|| 100.0 * floor / time_ns).filter(|percent| percent.is_finite())
    }
}

/// One file per key. The CPU's name is hashed (FNV-1a): it is no good file name.
fn file_name(cpu: &CpuInfo, threads: usize) -> PathBuf {
    let key = format!("{}|{threads}|{}|{}", cpu.model, cpu.simd, env!("CARGO_PKG_VERSION"));
    let hash = key.bytes().fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    PathBuf::from(format!("ceilings-{threads}-threads-{}-{hash:016x}.json", cpu.simd))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ceilings() -> Ceilings {
        let read = |working_set_bytes, gbytes_per_s| Bandwidth { working_set_bytes, gbytes_per_s };
        Ceilings {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            cpu_model: "Example".to_owned(),
            threads: 2,
            simd: SimdLevel::Avx2,
            read: vec![read(1000, 200.0), read(10_000, 50.0), read(100_000, 10.0)],
            peak_gflops_f32: 100.0,
            peak_gflops_f64: 50.0,
        }
    }

    fn cpu() -> CpuInfo {
        CpuInfo { model: "Example".to_owned(), simd: SimdLevel::Avx2, ..CpuInfo::default() }
    }

    #[test]
    fn the_nearest_size_that_is_not_larger_counts() {
        let c = ceilings();
        for (bytes, expected) in
            [(0, 200.0), (1000, 200.0), (9_999, 200.0), (10_000, 50.0), (100_000, 10.0), (u64::MAX, 10.0)]
        {
            assert_eq!(c.bandwidth_for(bytes), expected, "{bytes} bytes");
        }
    }

    #[test]
    fn the_floor_is_the_longer_of_the_two() {
        let c = ceilings();
        assert_eq!(c.floor_ns(10_000, 50, "f64"), Some(200.0));
        assert_eq!(c.floor_ns(10_000, 50_000, "f64"), Some(1000.0));
        assert_eq!(c.floor_ns(10_000, 50_000, "f32"), Some(500.0));
        assert_eq!(c.floor_ns(0, 0, "f64"), None);
        assert_eq!(c.floor_ns(10_000, 1, "i8"), None);
        assert_eq!(c.percent(400.0, 10_000, 50, "f64"), Some(50.0));
        assert_eq!(c.percent(0.0, 10_000, 50, "f64"), None);
    }

    #[test]
    fn a_memory_limit_leaves_large_working_sets_out_and_is_not_kept() {
        let folder = tempfile::tempdir().unwrap();
        let (cpu, pool) = (CpuInfo::detect(), Pool::new(1).unwrap());
        let measured = Ceilings::load_or_measure(&cpu, &pool, Some(folder.path()), 1).unwrap();
        assert_eq!(measured.read.len(), 1);
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
    }

    #[test]
    fn kept_only_if_whole_and_of_this_machine() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(file_name(&cpu(), 2));
        assert_eq!(Ceilings::load(&path, &cpu(), 2), None);
        ceilings().save(&path).unwrap();
        assert_eq!(Ceilings::load(&path, &cpu(), 2), Some(ceilings()));
        assert_eq!(Ceilings::load(&path, &cpu(), 3), None);
        let other = CpuInfo { simd: SimdLevel::Portable, ..cpu() };
        assert_eq!(Ceilings::load(&path, &other, 2), None);
        assert_ne!(file_name(&cpu(), 2), file_name(&other, 2));

        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, &text[..text.len() / 2]).unwrap();
        assert_eq!(Ceilings::load(&path, &cpu(), 2), None, "cut off");
        std::fs::write(&path, text.replace("200.0", "-1.0")).unwrap();
        assert_eq!(Ceilings::load(&path, &cpu(), 2), None, "impossible");
    }
}
