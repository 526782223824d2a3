//! What is asked for by `--variant`, `--tile` and suites.

use crate::catalogue::known_as;
use crate::workbench::pattern::Pattern;
use crate::workbench::select_error::SelectError;
use ordito::device::DeviceLimits;
use ordito::op::{Description, Place, Role};
use ordito::refusal::Refusal;
use ordito::units;

/// Patterns of names and tile widths. Of neither: everything there is.
///
/// ```
/// use ordito::spmm::Spmm;
/// use ordito_bench::workbench::{Selected, Side, Wanted, select};
/// let wanted = Wanted::variants(["csr-threads-*", "auto"]);
/// let selected = select::<Spmm<f64>>(&wanted, Side::Cpu)?;
/// let names: Vec<String> = selected.iter().map(Selected::name).collect();
/// let ours = ["nnz", "sorted", "by-length", "clustered"].map(|name| format!("csr-threads-{name}"));
/// assert_eq!(names, [&["csr-threads-rows".into()], &ours[..], &["auto".into()]].concat());
/// # Ok::<(), ordito_bench::workbench::SelectError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Wanted {
    /// Names, patterns, historic names, `auto`; none of them: all variants and `auto`. With `!` in front: but not those.
    pub patterns: Vec<String>,
    /// Of the variants that have tiles, only those with these widths; none of them: all widths.
    pub tiles: Vec<u32>,
    /// Where there are no patterns: of the variants only those of this kind, and `auto`.
    pub kind: Option<Kind>,
}

/// Which variants: those of the CPU, or those of a device (a GPU or the emulator).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// [`Place::Serial`] and [`Place::Threads`].
    Cpu,
    /// [`Place::Cuda`].
    Device,
}

impl Side {
    pub(crate) fn holds(self, place: Place) -> bool {
        (place == Place::Cuda) == (self == Side::Device)
    }
}

/// Variants by what they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kind {
    /// Where they run.
    pub side: Side,
    /// What they are there for.
    pub roles: &'static [Role],
}

impl Kind {
    pub(crate) fn holds(self, description: &Description) -> bool {
        self.side.holds(description.place) && self.roles.contains(&description.role)
    }
}

impl Wanted {
    /// Every variant, and `auto`.
    pub fn all() -> Self {
        Wanted::default()
    }

    /// Whatever these patterns mean, with tiles of any width.
    pub fn variants<P: Into<String>>(patterns: impl IntoIterator<Item = P>) -> Self {
        Wanted { patterns: patterns.into_iter().map(Into::into).collect(), ..Wanted::default() }
    }

    /// Sees that every width asked for is one of these variants', or one that no kernel can have; the latter.
    pub(crate) fn oversized_tiles(
        &self,
        op: &'static str,
        variants: impl Iterator<Item = &'static Description>,
    ) -> Result<Vec<u32>, SelectError> {
        if self.tiles.is_empty() {
            return Ok(Vec::new());
        }
        let mut widths: Vec<u32> = variants.filter_map(tile_width).collect();
        widths.sort_unstable();
        widths.dedup();
        if widths.is_empty() {
            return Err(SelectError::NoTiles { op });
        }
        let mut oversized = Vec::new();
        for &tile in self.tiles.iter().filter(|tile| !widths.contains(tile)) {
            if oversized_tile(tile).is_none() {
                return Err(SelectError::NoSuchTile { tile, widths });
            }
            if !oversized.contains(&tile) {
                oversized.push(tile);
            }
        }
        Ok(oversized)
    }

    /// Is this variant one of those that `--tile` leaves?
    pub(crate) fn keeps_tile(&self, variant: &Description) -> bool {
        self.tiles.is_empty() || tile_width(variant).is_none_or(|width| self.tiles.contains(&width))
    }
}

/// The width of a variant's tiles, where it has some.
fn tile_width(variant: &Description) -> Option<u32> {
    variant.param("tile")
}

/// Shared memory that a kernel may declare.
const DECLARED_SHARED_BYTES: u64 = 48 << 10;

/// Why there is no kernel with tiles so wide: it has a thread for every element of a tile, and a tile of A and one of B in shared
/// memory. No CUDA device allows more threads per block than this one.
pub(crate) fn oversized_tile(tile: u32) -> Option<Refusal> {
    let (elements, limit) = (u64::from(tile).pow(2), u64::from(DeviceLimits::h200().threads_per_block));
    if elements <= limit {
        return None;
    }
    let threads = Refusal::Launch { what: "threads per block", asked: elements, limit };
    let shared = elements.saturating_mul(2 * size_of::<f32>() as u64);
    if shared <= DECLARED_SHARED_BYTES {
        return Some(threads);
    }
    let [shared, limit] = [shared, DECLARED_SHARED_BYTES].map(units::bytes);
    Some(Refusal::Unsupported(format!(
        "{threads}; {shared} of shared memory for two tiles in f32, the limit is {limit}"
    )))
}

/// What a pattern of `--variant` means: the kernel that a name of old stands for, or all whose names look like it.
pub(crate) enum Called {
    KnownAs(&'static Description),
    Like(Pattern),
}

impl Called {
    /// A name of old is one before it is a pattern, whatever operation it belongs to. Case makes no difference.
    pub(crate) fn new(pattern: &str) -> Result<Self, SelectError> {
        if let Some((_, description)) = known_as(pattern) {
            return Ok(Called::KnownAs(description));
        }
        let read = Pattern::new(&pattern.to_ascii_lowercase());
        let why = |why| SelectError::Pattern { pattern: pattern.into(), why: format!("{why}") };
        read.map(Called::Like).map_err(why)
    }

    pub(crate) fn is(&self, description: &Description) -> bool {
        match self {
            Called::KnownAs(known) => known.name == description.name,
            Called::Like(pattern) => {
                let of_old = || description.known_as.iter().map(|name| name.to_ascii_lowercase());
                pattern.matches(description.name) || of_old().any(|name| pattern.matches(&name))
            }
        }
    }

    /// The same kernel with other parameters counts too: its text stands in the same file.
    pub(crate) fn is_kin(&self, description: &Description) -> bool {
        self.is(description) || matches!(self, Called::KnownAs(known) if known.file == description.file)
    }
}

/// Does `--variant pattern` mean this variant?
pub fn is_called(description: &Description, pattern: &str) -> bool {
    Called::new(pattern).is_ok_and(|called| called.is(description))
}
