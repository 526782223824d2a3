//! Winners of earlier measurements: one small file of lines `name value` per matrix, K, precision and machine in the cache folder, which
//! `auto` looks for before it judges by itself.

use crate::Scalar;
#[cfg(feature = "cuda")]
use crate::device::gpu::Library;
use crate::files::{Key, cache_folder, read_own, write_own};
use crate::machine::{Accelerator, Machine};
use crate::op::{Choice, Op, Place};
use crate::spmm::product::{Spmm, Subject};
use std::path::{Path, PathBuf};

/// Row starts and columns of a matrix that go into its fingerprint, at most. Matrices of one shape and one number of nonzeros
/// that agree in all of them are taken for alike: a wrong guess costs time, never correctness.
const SAMPLED: usize = 4096;
/// The first line. New fields take a new number; files of another are as good as none.
const FIRST_LINE: &str = "ordito-tuned 3";

/// What is remembered.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Winner {
    /// The fastest.
    pub(crate) variant: String,
    /// How long one of its products took.
    pub(crate) median_ns: f64,
    /// How many were measured.
    pub(crate) candidates: usize,
    /// What `auto` would have taken.
    pub(crate) instead_of: String,
    /// How long one of its products took; absent where it refused.
    pub(crate) instead_of_ns: Option<f64>,
}

impl Winner {
    pub(crate) fn new(
        (variant, median_ns): (&str, f64),
        candidates: usize,
        (instead_of, instead_of_ns): (&str, Option<f64>),
    ) -> Self {
        let (variant, instead_of) = (variant.to_owned(), instead_of.to_owned());
        Winner { variant, median_ns, candidates, instead_of, instead_of_ns }
    }

    fn to_text(&self) -> String {
        let Winner { variant, median_ns, candidates, instead_of, instead_of_ns } = self;
        let mut text = format!(
            "{FIRST_LINE}\nvariant {variant}\nmedian_ns {median_ns}\ncandidates {candidates}\ninstead_of {instead_of}\n"
        );
        if let Some(ns) = instead_of_ns {
            text += &format!("instead_of_ns {ns}\n");
        }
        text
    }

    /// `None` for a file of another schema; a sentence where it is damaged.
    fn from_text(text: &str) -> Result<Option<Self>, String> {
        let mut lines = text.lines();
        match lines.next() {
            Some(FIRST_LINE) => {}
            Some(other) if other.starts_with("ordito-tuned ") => return Ok(None),
            _ => return Err(format!("line 1 is not `{FIRST_LINE}`")),
        }
        let mut value = |name: &str| lines.next()?.strip_prefix(name)?.strip_prefix(' ').map(str::to_owned);
        let missing = |name: &str| format!("no `{name}` where it should be");
        let variant = value("variant").ok_or_else(|| missing("variant"))?;
        let number = |text: Option<String>| text?.parse::<f64>().ok().filter(|ns| ns.is_finite());
        let median_ns = number(value("median_ns")).ok_or_else(|| missing("median_ns"))?;
        let candidates = value("candidates").and_then(|text| text.parse().ok());
        let candidates = candidates.ok_or_else(|| missing("candidates"))?;
        let instead_of = value("instead_of").ok_or_else(|| missing("instead_of"))?;
        let instead_of_ns = number(value("instead_of_ns"));
        Ok(Some(Winner { variant, median_ns, candidates, instead_of, instead_of_ns }))
    }

    /// As `auto` says it; `None` where no variant has the name any more.
    pub(crate) fn choice<S: Scalar>(&self) -> Option<Choice> {
        let variant = Spmm::<S>::variant(&self.variant)?.name();
        let took = |ns: f64| format!("{:.1} µs", ns / 1e3);
        let rival = match self.instead_of_ns {
            _ if self.variant == self.instead_of => "also the choice without measuring".to_owned(),
            Some(ns) => format!("{} takes {}", self.instead_of, took(ns)),
            None => format!("{} refuses", self.instead_of),
        };
        let (candidates, took) = (self.candidates, took(self.median_ns));
        Some(Choice { variant, reason: format!("tuned: the fastest of {candidates}, {took}; {rival}") })
    }
}

/// What `auto` would take without this file, or what was measured.
pub(crate) fn or_remembered<S: Scalar>(
    machine: &Machine,
    subject: &Subject<S>,
    choose: impl FnOnce() -> Choice,
) -> Choice {
    let Some(path) = path(machine, subject) else { return choose() };
    match read(&path) {
        Ok(None) => choose(),
        Ok(Some(winner)) => {
            let is_there = Spmm::<S>::variant(&winner.variant).is_some_and(|v| v.available(machine).is_ok());
            winner.choice::<S>().filter(|_| is_there).unwrap_or_else(choose)
        }
        Err(why) => {
            let Choice { variant, reason } = choose();
            let file = path.display();
            Choice { variant, reason: format!("{reason} (what was tuned is not used: {file}: {why})") }
        }
    }
}

/// Keeps a winner, where that is possible: a cache is never worth an error.
pub(crate) fn remember<S: Scalar>(machine: &Machine, subject: &Subject<S>, winner: &Winner) {
    if let Some(path) = path(machine, subject) {
        let _ = write_own(&path, winner.to_text().as_bytes());
    }
}

/// `None` where there is no such file, or one of another schema; a sentence where it is damaged or may be somebody else's.
fn read(path: &Path) -> Result<Option<Winner>, String> {
    let Some(text) = read_own(path)? else { return Ok(None) };
    Winner::from_text(&String::from_utf8_lossy(&text))
}

fn path<S: Scalar>(machine: &Machine, subject: &Subject<S>) -> Option<PathBuf> {
    let name = fingerprint(subject, &format!("{}; {}", describe(machine)?, rivals::<S>(machine))).to_hex();
    Some(cache_folder("tuned")?.join(format!("{name}.txt")))
}

/// What runs it. The emulator's times say nothing: nothing is remembered of it.
fn describe(machine: &Machine) -> Option<String> {
    let version = env!("CARGO_PKG_VERSION");
    match machine.accelerator() {
        Accelerator::Emulator => None,
        Accelerator::None => {
            let (cpu, threads) = (machine.cpu(), machine.threads());
            Some(format!("ordito {version}, {}, {:?}, {threads} threads", cpu.model, cpu.simd))
        }
        #[cfg(not(feature = "cuda"))]
        Accelerator::Cuda(_) => None,
        #[cfg(feature = "cuda")]
        Accelerator::Cuda(_) => {
            let (device, driver) = (machine.device().ok()?, Library::Cuda.find().ok()?.version);
            let driver = driver.map_or("unknown".into(), |version| version.to_string());
            Some(format!("ordito {version}, {}, driver {driver}", device.limits().name))
        }
    }
}

/// Names of all that could have won: where there is a new one, or one less, what was measured counts no more.
fn rivals<S: Scalar>(machine: &Machine) -> String {
    let on_device = machine.accelerator() != Accelerator::None;
    let here = Spmm::<S>::variants()
        .iter()
        .map(|variant| variant.describe())
        .filter(|variant| variant.can_be_chosen && (variant.place == Place::Cuda) == on_device);
    here.map(|variant| variant.name).collect::<Vec<_>>().join(" ")
}

/// Of the pattern, K, the precision and the machine; never of the values.
fn fingerprint<S: Scalar>(subject: &Subject<S>, machine: &str) -> Key {
    let (a, k) = (subject.a.pattern(), subject.k);
    let numbers = [a.rows(), a.cols(), subject.a.nnz(), subject.a.longest_row(), k].map(|n| n as u64);
    let step = |len: usize| len.div_ceil(SAMPLED).max(1);
    let starts: Vec<u64> =
        a.offsets().iter().step_by(step(a.offsets().len())).map(|&start| start as u64).collect();
    let columns: Vec<u32> = a.columns().iter().step_by(step(a.columns().len())).copied().collect();
    Key::of(&[
        machine.as_bytes(),
        S::NAME.as_bytes(),
        bytemuck::cast_slice(&numbers),
        bytemuck::cast_slice(&starts),
        bytemuck::cast_slice(&columns),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::{CpuInfo, SimdLevel};
    use crate::machine::Limits;
    use crate::matrix::{Coo, Csr, Duplicates};
    use std::sync::Arc;

    fn subject<S: Scalar>(columns: &[u32], value: f64, k: usize) -> Subject<S> {
        let rows = (0..columns.len() as u32).collect();
        let values = vec![S::from_f64(value); columns.len()];
        let coo = Coo::new(columns.len(), 10, rows, columns.to_vec(), values).unwrap();
        Subject { a: Arc::new(Csr::from_coo(&coo, Duplicates::Keep)), triplets: None, k }
    }

    #[test]
    fn fingerprints_see_pattern_k_precision_and_machine_but_no_values() {
        let of =
            |columns: &[u32], value, k, machine| fingerprint(&subject::<f64>(columns, value, k), machine);
        let one = of(&[1, 2, 3], 1.0, 4, "here");
        assert_eq!(one, of(&[1, 2, 3], 7.0, 4, "here"));
        let others = [
            of(&[1, 2, 4], 1.0, 4, "here"),
            of(&[1, 2, 3], 1.0, 5, "here"),
            of(&[1, 2, 3], 1.0, 4, "there"),
            of(&[1, 2], 1.0, 4, "here"),
            fingerprint(&subject::<f32>(&[1, 2, 3], 1.0, 4), "here"),
        ];
        assert!(others.iter().all(|other| *other != one));
    }

    #[test]
    fn what_was_measured_belongs_to_the_processor_its_threads_and_its_instructions() {
        let cpu = CpuInfo { model: "one".into(), ..CpuInfo::default() };
        let of = |cpu: &CpuInfo, threads| {
            let machine = Machine::new(cpu.clone(), threads, Limits::of(cpu)).unwrap();
            describe(&machine).unwrap()
        };
        let here = of(&cpu, 1);
        assert!(here.contains("one") && here.contains("1 threads") && here.contains("Portable"), "{here}");
        let other = CpuInfo { model: "other".into(), ..cpu.clone() };
        let wider = CpuInfo { simd: SimdLevel::supported(), ..cpu.clone() };
        assert!(of(&other, 1) != here && of(&cpu, 2) != here);
        assert_eq!(of(&wider, 1) == here, SimdLevel::supported() == SimdLevel::Portable);
        let machine = Machine::with_threads(1).unwrap();
        assert!(rivals::<f64>(&machine).contains("csr-threads-nnz"));
        assert!(!rivals::<f64>(&machine).contains("csr-serial")); // a rung of the ladder
    }

    #[test]
    fn winners_come_back_and_damaged_files_are_sentences() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("winner.txt");
        assert_eq!(read(&path), Ok(None));
        let winner = Winner::new(("csr-serial", 1500.0), 3, ("csr-threads-nnz", Some(2000.0)));
        std::fs::write(&path, winner.to_text()).unwrap();
        assert_eq!(read(&path), Ok(Some(winner.clone())));
        let choice = winner.choice::<f64>().unwrap();
        assert_eq!(choice.reason, "tuned: the fastest of 3, 1.5 µs; csr-threads-nnz takes 2.0 µs");
        let refused = Winner { instead_of_ns: None, ..winner.clone() };
        assert_eq!(Winner::from_text(&refused.to_text()), Ok(Some(refused)));
        std::fs::write(&path, "ordito-tuned 4\nwinner csr-serial\n").unwrap();
        assert_eq!(read(&path), Ok(None));
        let unknown = Winner { variant: "csr-magic".into(), ..winner };
        assert_eq!(unknown.choice::<f64>(), None);
        std::fs::write(&path, "{\"variant\": 3").unwrap();
        assert!(read(&path).unwrap_err().contains("line 1"));
        std::fs::write(&path, format!("{FIRST_LINE}\nvariant csr-serial\nmedian_ns NaN\n")).unwrap();
        assert!(read(&path).unwrap_err().contains("median_ns"));
    }

    #[cfg(unix)]
    #[test]
    fn what_others_can_write_is_not_believed() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("winner.txt");
        let winner = Winner::new(("csr-serial", 1500.0), 3, ("csr-threads-nnz", None));
        std::fs::write(&path, winner.to_text()).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o666)).unwrap();
        assert!(read(&path).unwrap_err().contains("others may write"));
    }
}
