//! What can be computed, and the ways to compute it. Three traits carry the house:
//!
//! * [`Op`]: an operation: its operands, its oracle, its one list of variants;
//! * [`Variant`]: one way to do it, which either gets ready or refuses with a sentence;
//! * [`Prepared`]: converted, uploaded, compiled; `run` is the only timed part.
//!
//! Help, `list`, `verify`, `bench` and the tests all walk [`Op::variants`]; nothing is typed twice.

pub(crate) mod break_even;
pub(crate) mod copy_rows;
pub(crate) mod description;
pub(crate) mod listed_rows;
#[cfg(any(feature = "cuda", feature = "emulator"))]
pub(crate) mod on_device;
pub(crate) mod on_host;
pub(crate) mod operands;
#[cfg(any(feature = "cuda", feature = "emulator"))]
pub(crate) mod padded_rows;
#[cfg(any(feature = "cuda", feature = "emulator"))]
pub(crate) mod phase_clock;
pub(crate) mod reference;
#[cfg(any(feature = "cuda", feature = "emulator"))]
pub(crate) mod scale_rows;
#[cfg(any(feature = "cuda", feature = "emulator"))]
pub(crate) mod transposed;

pub use break_even::Products;
pub use description::{Computes, Description, Role, SourceFile, Storage};
pub use listed_rows::ListedRows;
pub use reference::{Extent, Observed, Projection, Reference};

use crate::Scalar;
#[cfg(feature = "cuda")]
use crate::device::Gpu;
use crate::device::{Device, DeviceError, KernelSource, LaunchReport};
use crate::machine::{Accelerator, Interrupt, Interrupted, Machine};
use crate::matrix::{EllPadded, FormatError};
use crate::refusal::Refusal;
use std::any::Any;
use std::sync::Arc;

/// An operation: what is computed.
pub trait Op: Sized + 'static {
    /// As on the command line.
    const NAME: &'static str;
    /// One line for people.
    const ABOUT: &'static str;
    /// What `prepare` may look at: the sparse matrix and shapes, never X.
    type Subject;
    /// What a run reads beside the subject: X, α, β.
    type Inputs;
    /// What comes out.
    type Output: Observed;
    /// What `prepare` hands out: `dyn Prepared<Self>`, or more where the library call needs more.
    type Ready: ?Sized + Prepared<Self>;

    /// Every way to do it. The one list.
    fn variants() -> &'static [&'static dyn Variant<Self>];
    /// What `auto` takes here, and why. Nothing runs.
    fn choose(machine: &Machine, subject: &Self::Subject) -> Choice;
    /// What the work costs at least.
    fn cost(subject: &Self::Subject) -> Cost;
    /// The answer, computed serially in f64 by the simplest loop there is; none once it is interrupted.
    fn oracle(
        subject: &Self::Subject,
        inputs: &Self::Inputs,
        extent: Extent,
        interrupt: &Interrupt,
    ) -> Result<Reference, Interrupted>;

    /// The variant of this name, of today or of old.
    fn variant(name: &str) -> Option<&'static dyn Variant<Self>> {
        Self::variants().iter().copied().find(|variant| variant.describe().is_called(name))
    }
}

/// The list of `O` among those of both precisions. Each operation makes its two lists in functions that are not generic: so its
/// kernels are compiled once, with this crate, and not again with every program that asks for them.
#[doc(hidden)]
pub fn of_precision<O: Op>(in_f32: &dyn Any, in_f64: &dyn Any) -> &'static [&'static dyn Variant<O>] {
    let lists = [in_f32, in_f64].into_iter();
    lists.filter_map(|list| list.downcast_ref().copied()).next().unwrap_or(&[])
}

/// One way to compute an operation.
pub trait Variant<O: Op>: Sync {
    /// What it is.
    fn describe(&self) -> &Description;
    /// Its name, as on the command line.
    fn name(&self) -> &'static str {
        self.describe().name
    }
    /// Every kernel that it may ask a device to compile, with every set of definitions.
    fn kernels(&self) -> Vec<KernelSource> {
        Vec::new()
    }
    /// Could it run on this machine at all? Nothing is prepared.
    fn available(&self, machine: &Machine) -> Result<(), Refusal> {
        match self.describe().place {
            Place::Serial | Place::Threads => Ok(()),
            Place::Cuda => takes_all(machine, &|| self.kernels()),
        }
    }
    /// Converts, allocates, compiles: all that depends on the subject alone.
    fn prepare(&self, machine: &Arc<Machine>, subject: &O::Subject) -> Result<Box<O::Ready>, Refusal>;
    /// The same for whoever would rather have another variant where this one does not pay: what finds that out on the way stops
    /// there, and says why in a sentence.
    fn prepare_if_it_pays(
        &self,
        machine: &Arc<Machine>,
        subject: &O::Subject,
    ) -> Result<Result<Box<O::Ready>, String>, Refusal> {
        self.prepare(machine, subject).map(Ok)
    }
}

/// Does the machine have a device that takes these kernels? (Compiled once, not for every variant.)
fn takes_all(machine: &Machine, kernels: &dyn Fn() -> Vec<KernelSource>) -> Result<(), Refusal> {
    let (device, kernels) = (machine.device()?, kernels());
    kernels.iter().try_for_each(|kernel| device.takes(kernel))?;
    if kernels.is_empty() { Ok(()) } else { device.find_compiler() }
}

/// Ready to run, as often as one likes. Owns what it needs.
pub trait Prepared<O: Op>: Send {
    /// Takes the inputs to where the kernel reads them.
    fn load(&mut self, inputs: &O::Inputs) -> Result<(), RunError>;
    /// Untimed, before every run: poisons the output, or restores what the run adds to.
    fn reset(&mut self) -> Result<(), RunError>;
    /// Only that part of `run` that rearranges the inputs; `false` where there is none.
    fn repack(&mut self) -> Result<bool, RunError> {
        Ok(false)
    }
    /// The work: the only timed part.
    fn run(&mut self) -> Result<(), RunError>;
    /// The result of the last run.
    fn fetch(&mut self) -> Result<O::Output, RunError>;
    /// The result of the last run, in place of an earlier one, whose memory may be used again: memory that is fresh takes longer to touch
    /// than a result takes to copy.
    fn fetch_into(&mut self, output: &mut O::Output) -> Result<(), RunError> {
        *output = self.fetch()?;
        Ok(())
    }
    /// The device that runs it, where that is not the CPU: `run` then only enqueues, and the device's events time it.
    fn device(&self) -> Option<&Device> {
        None
    }
    /// How long the parts of the last product on a device took.
    fn phases(&self) -> Phases {
        Phases::default()
    }
    /// The launches of a run, for those who study kernels.
    fn launches(&self) -> Vec<LaunchReport> {
        Vec::new()
    }
}

/// What a product on a device consists of; the copies are never part of a run.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub struct Phases {
    /// Rearranging the inputs on the host, before they are uploaded.
    pub host_copy_ns: Option<f64>,
    /// Host to device: what depends on the inputs (X, and Y where it is read), not the subject.
    pub upload_ns: Option<f64>,
    /// Repacking and kernels, waited for; only known of the library's call.
    pub run_ns: Option<f64>,
    /// Device to host: the result.
    pub download_ns: Option<f64>,
    /// All three, where they went on at the same time: nothing is then known of each.
    pub overlapped_ns: Option<f64>,
}

/// Where a variant runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Place {
    /// One thread of the CPU.
    Serial,
    /// All threads of the machine's pool.
    Threads,
    /// A CUDA kernel: on the machine's GPU or in the emulator.
    Cuda,
}

impl Place {
    /// The part of a variant's name that says it.
    pub fn name(self) -> &'static str {
        match self {
            Place::Serial => "serial",
            Place::Threads => "threads",
            Place::Cuda => "cuda",
        }
    }
    /// Where it runs on this machine: what `--on` takes.
    pub fn device(self, machine: &Machine) -> &'static str {
        match (self, machine.accelerator()) {
            (Place::Serial | Place::Threads, _) => "cpu",
            (Place::Cuda, Accelerator::Emulator) => "emulator",
            (Place::Cuda, Accelerator::Cuda(_) | Accelerator::None) => "cuda",
        }
    }
    /// How many of the machine's threads it uses; a kernel on a device uses none.
    pub fn threads(self, machine: &Machine) -> Option<usize> {
        match self {
            Place::Serial => Some(1),
            Place::Threads => Some(machine.threads()),
            Place::Cuda => None,
        }
    }
}

/// The GPU of the machine, for a variant that calls one of NVIDIA's libraries: the emulator has none.
#[cfg(feature = "cuda")]
#[doc(hidden)]
pub fn gpu_for_library(machine: &Machine, library: &str) -> Result<Arc<Gpu>, Refusal> {
    let device = machine.device()?;
    let refusal = || Refusal::NotEmulated(format!("{library} is a library of compiled kernels"));
    device.gpu().cloned().ok_or_else(refusal)
}

/// Refuses padded ELLPACK above the memory budget, with the size it would need and why.
#[doc(hidden)]
pub fn check_padded<S: Scalar>(machine: &Machine, rows: usize, width: usize) -> Result<(), Refusal> {
    let what = format!("padded ELLPACK ({rows} rows, longest row {width})");
    machine.check_memory(what, EllPadded::<S>::bytes_for(rows, width))
}

/// A decision that can be printed and tested without running anything.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Choice {
    /// Name of the variant.
    pub variant: &'static str,
    /// Why this one.
    pub reason: String,
}

impl Choice {
    /// That variant, for that reason.
    pub fn new(variant: &Description, reason: impl Into<String>) -> Self {
        Choice { variant: variant.name, reason: reason.into() }
    }
}

/// What an operation costs at least, on any machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Cost {
    /// Floating-point operations; 0 where the work is moving data.
    pub flops: u64,
    /// Bytes that must move between memory and processor when every operand moves once.
    pub least_bytes: u64,
    /// Steps of the serial oracle.
    pub oracle_steps: u64,
    /// Steps of one row of it, where every row costs the same; 0 where all of them are walked in any case.
    pub oracle_row_steps: u64,
    /// Bytes of its answer.
    pub oracle_bytes: u64,
    /// Bytes of one row of it.
    pub oracle_row_bytes: u64,
}

/// Bytes that an oracle keeps of an element: the answer and its magnitude, in f64.
pub const ORACLE_BYTES_PER_ELEMENT: u64 = 16;

/// What went wrong while running.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// Operands that do not fit each other.
    #[error("{what} is {found}, {expected} expected")]
    Shape {
        /// Which operand.
        what: &'static str,
        /// Its shape.
        found: String,
        /// The shape that fits.
        expected: String,
    },
    /// `run` or `fetch` before `load`.
    #[error("no inputs have been loaded")]
    NotLoaded,
    /// β asks for a Y, a C to add to, and there is none.
    #[error("β is not 0, but no {0} was given to add to")]
    NothingToAddTo(&'static str),
    /// The machine could not be had.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The device failed.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// It was stopped before its end.
    #[error(transparent)]
    Interrupted(#[from] Interrupted),
    /// The result breaks the invariant of its format.
    #[error("the result is no valid matrix: {0}")]
    InvalidResult(#[from] FormatError),
    /// Another rank has failed, or could not be reached: what is known of it.
    #[error("{0}")]
    BetweenRanks(String),
}

/// Has an operand the shape that fits?
pub(crate) fn check_shape(
    what: &'static str,
    found: (usize, usize),
    expected: (usize, usize),
) -> Result<(), RunError> {
    if found == expected {
        return Ok(());
    }
    let shape = |(rows, cols)| format!("{rows}×{cols}");
    Err(RunError::Shape { what, found: shape(found), expected: shape(expected) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    /// `<format>-<place>-<who …>`, in lower case, with the place that the variant declares.
    fn names_are_well_formed<O: Op>() {
        let mut seen = HashSet::new();
        for variant in O::variants() {
            let Description { name, short, about, place, source, params, error_factor, .. } =
                *variant.describe();
            assert!(seen.insert(name), "{name} is listed twice");
            assert_ne!(name, "auto");
            assert!(
                name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-'),
                "{name}"
            );
            assert!(name.split('-').any(|part| part == place.name()), "{name} does not say where");
            assert!(name.split('-').all(|part| !part.is_empty()), "{name}");
            assert!(!about.is_empty() && !about.contains('\n'), "{name}: about");
            assert!(!short.is_empty() && name.contains(&short.replace(' ', "-")), "{name}: {short}");
            assert!(source.starts_with("//"), "{name}: source");
            assert!(params.iter().all(|(_, value)| name.contains(&value.to_string())), "{name}: {params:?}");
            assert!(error_factor >= 1.0);
        }
        assert!(!seen.is_empty());
    }

    /// A name of old means one variant, which is the one that it finds.
    fn names_of_old_mean_one_variant<O: Op>() {
        for variant in O::variants() {
            let Description { name, known_as, .. } = *variant.describe();
            for old in known_as {
                let owners = O::variants().iter().filter(|other| other.describe().is_known_as(old));
                assert_eq!(owners.count(), 1, "{old}");
                let is_of_today = |other: &&'static dyn Variant<O>| other.name().eq_ignore_ascii_case(old);
                assert!(!O::variants().iter().any(is_of_today), "{old} is a name of today");
                assert_eq!(O::variant(&old.to_uppercase()).map(|found| found.name()), Some(name));
            }
        }
    }

    /// The file is there, and what is shown of it is all of it.
    fn files_are_what_is_shown<O: Op>() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        for variant in O::variants() {
            let Description { name, file, source, .. } = *variant.describe();
            let text = std::fs::read_to_string(root.join(file)).unwrap_or_default();
            assert!(!text.is_empty(), "{name}: there is no {file}");
            assert!(source.ends_with(&text), "{name}: {file} reads otherwise");
        }
    }

    fn descriptions_are_true<O: Op>() {
        names_are_well_formed::<O>();
        names_of_old_mean_one_variant::<O>();
        files_are_what_is_shown::<O>();
    }

    #[test]
    fn every_list_holds_true_descriptions() {
        descriptions_are_true::<crate::column_stats::Columns<f32>>();
        descriptions_are_true::<crate::column_stats::Columns<f64>>();
        descriptions_are_true::<crate::gemm::Gemm<f32>>();
        descriptions_are_true::<crate::gemm::Gemm<f64>>();
        descriptions_are_true::<crate::spmm::Spmm<f32>>();
        descriptions_are_true::<crate::spmm::Spmm<f64>>();
        descriptions_are_true::<crate::tall_skinny::gram::Gram<f32>>();
        descriptions_are_true::<crate::tall_skinny::gram::Gram<f64>>();
        descriptions_are_true::<crate::tall_skinny::combine::Combine<f32>>();
        descriptions_are_true::<crate::tall_skinny::combine::Combine<f64>>();
    }
}
