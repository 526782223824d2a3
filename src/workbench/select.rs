//! `--variant csr-*,auto`: patterns become variants.

use crate::ops::{Op, Place, Variant};
use globset::Glob;

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

    /// Where it runs; `auto` chooses among what the CPU runs.
    pub fn device(&self) -> &'static str {
        match self {
            Selected::Named(variant) => variant.place().device(),
            Selected::Auto => Place::Threads.device(),
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
    /// A kernel of the CUDA ladder.
    #[error("`{pattern}` is the historic name of {kernel}, a CUDA kernel; this version runs on the CPU only")]
    Historic {
        /// As typed.
        pattern: String,
        /// What it stands for.
        kernel: &'static str,
    },
    /// Patterns that name variants, but none that runs there.
    #[error("no selected variant of `{op}` runs on {device}: this version runs on the CPU only (--on cpu)")]
    NoDevice {
        /// The operation.
        op: &'static str,
        /// What `--on` asked for.
        device: String,
    },
}

/// Names under which the CUDA kernels have long been known.
const HISTORIC: &[(&str, &str)] = &[
    ("csr", "CSR_Scalar v3"),
    ("csr_vector", "CSR_Vector"),
    ("csr_vector_sub_warp", "CSR_Vector_Sub_warp"),
    ("csr_vector_by_row", "CSR_Vector_by_row"),
    ("csr_adaptive", "CSR_Adaptive"),
    ("csr_adaptive_sub_block", "CSR_Adaptive_sub_blocks"),
    ("ellpack", "ELLPACK_kernel"),
    ("ellpack_sw", "ELLPACK_Sub_warp"),
];

/// The variants whose names match one of the patterns, in the order of the list, each once; `auto` last. No
/// pattern stands for all of them and `auto`. `devices` are names such as `cpu`; none stands for all.
pub fn select<O: Op>(patterns: &[String], devices: &[String]) -> Result<Vec<Selected<O>>, SelectError> {
    let variants = O::variants();
    let mut taken = vec![patterns.is_empty(); variants.len()];
    let mut auto = patterns.is_empty();
    for pattern in patterns {
        if pattern == AUTO {
            auto = true;
            continue;
        }
        let error = |why: globset::Error| SelectError::Pattern {
            pattern: pattern.clone(),
            why: why.kind().to_string(),
        };
        let matcher = Glob::new(pattern).map_err(error)?.compile_matcher();
        let matches: Vec<bool> = variants.iter().map(|variant| matcher.is_match(variant.name())).collect();
        if !matches.contains(&true) {
            return Err(no_match::<O>(pattern));
        }
        taken.iter_mut().zip(matches).for_each(|(taken, matches)| *taken |= matches);
    }
    let on_device = |device: &str| devices.is_empty() || devices.iter().any(|wanted| wanted == device);
    let named =
        variants.iter().zip(taken).filter(|(variant, taken)| *taken && on_device(variant.place().device()));
    let mut selected: Vec<Selected<O>> = named.map(|(variant, _)| Selected::Named(*variant)).collect();
    if auto && on_device(Selected::<O>::Auto.device()) {
        selected.push(Selected::Auto);
    }
    if selected.is_empty() {
        return Err(SelectError::NoDevice { op: O::NAME, device: devices.join(",") });
    }
    Ok(selected)
}

fn no_match<O: Op>(pattern: &str) -> SelectError {
    let pattern = pattern.to_string();
    match HISTORIC.iter().find(|(name, _)| *name == pattern) {
        Some((_, kernel)) => SelectError::Historic { pattern, kernel },
        None => {
            let names = O::variants().iter().map(|variant| variant.name()).chain([AUTO]);
            SelectError::NoMatch { op: O::NAME, pattern, names: names.collect::<Vec<_>>().join(" ") }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::spmm::Spmm;

    fn names(patterns: &[&str]) -> Result<Vec<&'static str>, SelectError> {
        let patterns: Vec<String> = patterns.iter().map(|pattern| pattern.to_string()).collect();
        Ok(select::<Spmm<f64>>(&patterns, &[])?.iter().map(Selected::name).collect())
    }

    #[test]
    fn patterns_select_each_variant_once() {
        let all = names(&[]).unwrap();
        assert_eq!(all.len(), Spmm::<f64>::variants().len() + 1);
        assert_eq!(all.last(), Some(&"auto"));
        assert_eq!(names(&["auto"]).unwrap(), ["auto"]);
        assert_eq!(names(&["csr-threads-nnz", "csr-threads-*", "csr-serial"]).unwrap().len(), 3);
    }

    #[test]
    fn what_selects_nothing_is_an_error_that_helps() {
        assert!(names(&["crs-*"]).unwrap_err().to_string().contains("csr-threads-nnz"));
        assert!(names(&["csr_vector"]).unwrap_err().to_string().contains("CUDA kernel"));
        assert!(matches!(names(&["csr-["]), Err(SelectError::Pattern { .. })));
        let on_cuda = select::<Spmm<f64>>(&[], &["cuda".into()]);
        assert!(matches!(on_cuda, Err(SelectError::NoDevice { .. })));
    }
}
