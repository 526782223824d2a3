//! `--variant csr-*,auto`: patterns become variants.

use crate::ops::{Op, Place, Variant};
use globset::{Glob, GlobMatcher};

/// The name of the variant that chooses among the others.
pub const AUTO: &str = "auto";

/// A variant of `O`, or the choice left to `O`.
pub enum Selected<O: Op> {
    /// This one.
    Named(&'static dyn Variant<O>),
    /// Whatever [`Op::choose`] takes.
    Auto,
}

impl<O: Op> Selected<O> {
    /// As on the command line.
    pub fn name(&self) -> &'static str {
        match self {
            Selected::Named(variant) => variant.name(),
            Selected::Auto => AUTO,
        }
    }
}

impl<O: Op> Clone for Selected<O> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<O: Op> Copy for Selected<O> {}

/// Why no variant was selected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SelectError {
    /// A pattern that is none.
    #[error("--variant `{pattern}`: {why}")]
    Pattern {
        /// As typed.
        pattern: String,
        /// What is wrong with it.
        why: String,
    },
    /// Nothing is called so.
    #[error("no variant of `{op}` matches `{pattern}`; `ordito list {op}` shows them: {names}")]
    NoMatch {
        /// The operation.
        op: &'static str,
        /// As typed.
        pattern: String,
        /// All there are.
        names: String,
    },
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
    fn holds(self, place: Place) -> bool {
        (place == Place::Cuda) == (self == Side::Device)
    }
}

/// Names under which the CUDA kernels have long been known, as patterns of ours.
const HISTORIC: &[(&str, &str)] = &[
    ("csr", "csr-cuda-thread-per-element"),
    ("csr_scalar", "csr-cuda-thread-*"),
    ("csr_vector", "csr-cuda-warp-per-element"),
    ("csr_vector_sub_warp", "csr-cuda-lanes*-per-element"),
    ("csr_vector_by_row", "csr-cuda-warp-per-row"),
    ("csr_adaptive", "csr-cuda-adaptive-column"),
    ("csr_adaptive_sub_block", "csr-cuda-adaptive-sub-blocks*"),
    ("csr_adaptive_sub_blocks", "csr-cuda-adaptive-sub-blocks*"),
    ("ellpack", "ell-*-cuda-thread-per-element"),
    ("ellpack_kernel", "ell-*-cuda-thread-per-element"),
    ("ellpack_sw", "ell-*-cuda-lanes*-per-element"),
    ("ellpack_sub_warp", "ell-*-cuda-lanes*-per-element"),
];

/// The variants of this side whose names match one of the patterns, in the order of the list, each once; `auto` last.
/// No pattern stands for all of them and `auto`. May be empty: whether anything else was selected is for the caller to
/// know. A pattern that matches no variant at all is an error.
pub fn select<O: Op>(patterns: &[String], side: Side) -> Result<Vec<Selected<O>>, SelectError> {
    let variants = O::variants();
    let mut taken = vec![patterns.is_empty(); variants.len()];
    let mut auto = patterns.is_empty();
    for pattern in patterns {
        if pattern == AUTO {
            auto = true;
            continue;
        }
        let matcher = glob(of_today(pattern))?;
        let matches: Vec<bool> = variants.iter().map(|variant| matcher.is_match(variant.name())).collect();
        if !matches.contains(&true) {
            return Err(no_match::<O>(pattern));
        }
        taken.iter_mut().zip(matches).for_each(|(taken, matches)| *taken |= matches);
    }
    let here = |variant: &&&dyn Variant<O>| side.holds(variant.place());
    let named = variants.iter().zip(taken).filter(|(variant, taken)| *taken && here(variant));
    let mut selected: Vec<Selected<O>> = named.map(|(variant, _)| Selected::Named(*variant)).collect();
    if auto && variants.iter().any(|variant| here(&variant)) {
        selected.push(Selected::Auto);
    }
    Ok(selected)
}

/// The pattern that a historic name stands for, in whatever case it is written; any other as it is.
fn of_today(pattern: &str) -> &str {
    let historic = HISTORIC.iter().find(|(name, _)| name.eq_ignore_ascii_case(pattern));
    historic.map_or(pattern, |(_, ours)| ours)
}

/// Does `--variant pattern` mean this variant?
pub fn is_called(variant: &str, pattern: &str) -> bool {
    glob(of_today(pattern)).is_ok_and(|matcher| matcher.is_match(variant))
}

fn glob(pattern: &str) -> Result<GlobMatcher, SelectError> {
    let glob = Glob::new(pattern)
        .map_err(|why| SelectError::Pattern { pattern: pattern.into(), why: why.kind().to_string() })?;
    Ok(glob.compile_matcher())
}

fn no_match<O: Op>(pattern: &str) -> SelectError {
    let names = O::variants().iter().map(|variant| variant.name()).chain([AUTO]);
    let names = names.collect::<Vec<_>>().join(" ");
    SelectError::NoMatch { op: O::NAME, pattern: pattern.into(), names }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::spmm::Spmm;

    fn names(patterns: &[&str], side: Side) -> Result<Vec<&'static str>, SelectError> {
        let patterns: Vec<String> = patterns.iter().map(|pattern| pattern.to_string()).collect();
        Ok(select::<Spmm<f64>>(&patterns, side)?.iter().map(Selected::name).collect())
    }

    #[test]
    fn patterns_select_each_variant_once() {
        let (cpu, device) = (names(&[], Side::Cpu).unwrap(), names(&[], Side::Device).unwrap());
        assert_eq!(cpu.len() + device.len(), Spmm::<f64>::variants().len() + 2);
        assert_eq!((cpu.last(), device.last()), (Some(&"auto"), Some(&"auto")));
        assert_eq!(names(&["auto"], Side::Device).unwrap(), ["auto"]);
        assert_eq!(names(&["csr-threads-nnz", "csr-threads-*", "csr-serial"], Side::Cpu).unwrap().len(), 3);
        assert!(names(&["csr-serial"], Side::Device).unwrap().is_empty());
    }

    #[test]
    fn what_selects_nothing_is_an_error_that_helps() {
        assert!(names(&["crs-*"], Side::Cpu).unwrap_err().to_string().contains("csr-threads-nnz"));
        assert!(matches!(names(&["csr-["], Side::Cpu), Err(SelectError::Pattern { .. })));
    }

    #[test]
    fn historic_names_stand_for_kernels_of_today() {
        for (historic, _) in HISTORIC {
            assert!(!names(&[historic], Side::Device).unwrap().is_empty(), "{historic}");
            assert!(names(&[historic], Side::Cpu).unwrap().is_empty(), "{historic}");
        }
        assert_eq!(names(&["CSR_Vector"], Side::Device).unwrap(), ["csr-cuda-warp-per-element"]);
        assert!(is_called("csr-cuda-warp-per-row", "csr_vector_by_row"));
        assert!(!is_called("csr-serial", "csr") && !is_called("csr-serial", "csr-["));
        assert_eq!(names(&["csr"], Side::Device).unwrap(), ["csr-cuda-thread-per-element"]);
        assert_eq!(names(&["csr_vector_sub_warp"], Side::Device).unwrap().len(), 5);
    }
}
