//! What a variant is, as data: its name and everything that anybody asks about it. Nobody reads that out of a name.

use crate::device::Adjustable;
use crate::op::Place;

/// One way to compute an operation, described. Made in a `const` beside the variant.
///
/// ```
/// use ordito::op::{Op, Role, Storage};
/// use ordito::spmm::Spmm;
/// let sorted = Spmm::<f64>::variant("csr-threads-sorted").unwrap().describe();
/// assert_eq!((sorted.role, sorted.storage), (Role::Ours, Storage::Converted));
/// assert!(sorted.file.ends_with("csr_threads_sorted.rs"));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Description {
    /// `<format>-<place>-<who does which work>`.
    pub name: &'static str,
    /// The name among its own kind, where a table shows only that; otherwise the whole name.
    pub short: &'static str,
    /// One line for people.
    pub about: &'static str,
    /// Where it runs.
    pub place: Place,
    /// The file it is written in, from the root of the repository.
    pub file: &'static str,
    /// The text of that file, for those who study kernels; of several files where it is spread over them.
    pub source: &'static str,
    /// What it is there for.
    pub role: Role,
    /// Does it take its operands as they are given?
    pub storage: Storage,
    /// Is it the one of its place that those which convert are held against?
    pub is_plain: bool,
    /// Its parameters, where one kernel is registered with several values: lanes, sub-block size, tile width.
    pub params: &'static [(&'static str, u32)],
    /// Names under which it has long been known elsewhere, as they were spelled. Each is one variant's alone.
    pub known_as: &'static [&'static str],
    /// Factor on the error bound; 1 for everything that multiplies and adds in the precision of its data.
    pub error_factor: f64,
    /// Does it add in the precision of its data, where the operation asks for f64? (Column statistics do.)
    pub adds_as_data: bool,
    /// What of its launch can be chosen.
    pub adjustable: &'static [Adjustable],
    /// How much of the operation it computes.
    pub computes: Computes,
    /// Could `auto` and tuning take it? Not what is there to be compared with: a peer that wants its operands in a layout of
    /// its own, a rung of the CPU's ladder, which later ones beat on every matrix.
    pub can_be_chosen: bool,
}

/// What a variant is there for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum Role {
    /// A rung of the ladder: to be studied, and beaten by later ones.
    Ladder,
    /// One of our best.
    Ours,
    /// A library of others, to be held against.
    Peer,
    /// Wrong on purpose, so that checking is checked.
    Faulty,
}

impl Role {
    /// As results spell it.
    pub fn name(self) -> &'static str {
        match self {
            Role::Ladder => "ladder",
            Role::Ours => "ours",
            Role::Peer => "peer",
            Role::Faulty => "faulty",
        }
    }
}

/// What becomes of the operands before they are computed with: of A in a sparse product.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum Storage {
    /// Used as they are given; lists that say who takes which row may lie beside them.
    AsGiven,
    /// Rearranged into a format or an order of its own.
    Converted,
}

impl Storage {
    /// As results spell it.
    pub fn name(self) -> &'static str {
        match self {
            Storage::AsGiven => "as-given",
            Storage::Converted => "converted",
        }
    }
}

/// How much of its operation a variant computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Computes {
    /// All of it.
    Everything,
    /// Of the statistics of columns, the means.
    MeanOnly,
}

/// A file of the repository with its text, as [`source_file!`](crate::source_file) makes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SourceFile {
    /// From the root of the repository.
    pub path: &'static str,
    /// What stands in it.
    pub text: &'static str,
}

/// `source_file!("spmm/cpu/csr_threads_nnz.rs")`: a file of this crate, named from its `src`.
#[doc(hidden)]
#[macro_export]
macro_rules! source_file {
    ($path:expr) => {
        $crate::op::SourceFile {
            path: concat!("crates/", env!("CARGO_PKG_NAME"), "/src/", $path),
            text: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/", $path)),
        }
    };
}

impl Description {
    /// One of ours that takes its operands as they are given; the rest is said by what follows.
    pub const fn new(name: &'static str, about: &'static str, place: Place, source: SourceFile) -> Self {
        Description {
            name,
            short: name,
            about,
            place,
            file: source.path,
            source: source.text,
            role: Role::Ours,
            storage: Storage::AsGiven,
            is_plain: false,
            params: &[],
            known_as: &[],
            error_factor: 1.0,
            adds_as_data: false,
            adjustable: &[],
            computes: Computes::Everything,
            can_be_chosen: true,
        }
    }

    /// A rung of the ladder.
    pub const fn ladder(self) -> Self {
        Description { role: Role::Ladder, ..self }
    }

    /// A library of others.
    pub const fn peer(self) -> Self {
        Description { role: Role::Peer, ..self }
    }

    /// Wrong on purpose.
    pub const fn faulty(self) -> Self {
        Description { role: Role::Faulty, ..self }
    }

    /// Rearranges its operands.
    pub const fn converted(self) -> Self {
        Description { storage: Storage::Converted, ..self }
    }

    /// The one of its place that those which convert are held against.
    pub const fn plain(self) -> Self {
        Description { is_plain: true, ..self }
    }

    /// Called so among its own kind.
    pub const fn short(self, short: &'static str) -> Self {
        Description { short, ..self }
    }

    /// With these parameters.
    pub const fn params(self, params: &'static [(&'static str, u32)]) -> Self {
        Description { params, ..self }
    }

    /// Long known under these names.
    pub const fn known_as(self, known_as: &'static [&'static str]) -> Self {
        Description { known_as, ..self }
    }

    /// With another factor on the error bound.
    pub const fn error_factor(self, error_factor: f64) -> Self {
        Description { error_factor, ..self }
    }

    /// Adds in the precision of its data.
    pub const fn adds_as_data(self) -> Self {
        Description { adds_as_data: true, ..self }
    }

    /// Leaves this of its launch open.
    pub const fn adjustable(self, adjustable: &'static [Adjustable]) -> Self {
        Description { adjustable, ..self }
    }

    /// Of the statistics of columns only the means.
    pub const fn mean_only(self) -> Self {
        Description { computes: Computes::MeanOnly, ..self }
    }

    /// Never taken by `auto` or by tuning.
    pub const fn never_chosen(self) -> Self {
        Description { can_be_chosen: false, ..self }
    }

    /// The value of a parameter, where it has that one.
    pub fn param(&self, name: &str) -> Option<u32> {
        self.params.iter().find(|(known, _)| *known == name).map(|&(_, value)| value)
    }

    /// Is this its name, of today or of old?
    pub fn is_called(&self, name: &str) -> bool {
        self.name == name || self.is_known_as(name)
    }

    /// Has it long been known under this name, in whatever case that is written?
    pub fn is_known_as(&self, name: &str) -> bool {
        self.known_as.iter().any(|known| known.eq_ignore_ascii_case(name))
    }
}
