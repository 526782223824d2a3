//! Every variant of every operation, described. Results say names; what those stand for is looked up here, never read out of
//! them.

use crate::convert::Convert;
use crate::transfer::Transfer;
use ordito::column_stats::Columns;
use ordito::gemm::Gemm;
use ordito::op::{Description, Op};
use ordito::spmm::Spmm;
use ordito::tall_skinny::combine::Combine;
use ordito::tall_skinny::gram::Gram;

/// All there are, each with its operation. Both precisions have the same.
pub fn all() -> impl Iterator<Item = (&'static str, &'static Description)> {
    of::<Convert<f64>>()
        .chain(of::<Spmm<f64>>())
        .chain(of::<Gemm<f64>>())
        .chain(of::<Columns<f64>>())
        .chain(of::<Gram<f64>>())
        .chain(of::<Combine<f64>>())
        .chain(of::<Transfer>())
}

fn of<O: Op>() -> impl Iterator<Item = (&'static str, &'static Description)> {
    O::variants().iter().map(|variant| (O::NAME, variant.describe()))
}

/// The variant of exactly this name; `None` for `auto`, and for those of another version that are no more.
///
/// ```
/// use ordito::op::Role;
/// use ordito_bench::catalogue::describe;
/// assert_eq!(describe("spmm", "csr-cuda-cusparse-alg1").unwrap().role, Role::Peer);
/// assert_eq!(describe("gemm", "csr-cuda-cusparse-alg1"), None);
/// ```
pub fn describe(op: &str, variant: &str) -> Option<&'static Description> {
    all().find(|(of, description)| *of == op && description.name == variant).map(|(_, found)| found)
}

/// The variant long known under this name, with its operation.
pub fn known_as(name: &str) -> Option<(&'static str, &'static Description)> {
    all().find(|(_, description)| description.is_known_as(name))
}

/// What a variant is called today, whatever name it is given by.
///
/// ```
/// use ordito_bench::catalogue::name_of_today;
/// assert_eq!(name_of_today("CSR_Vector"), "csr-cuda-warp-per-element");
/// assert_eq!(name_of_today("csr-serial"), "csr-serial");
/// ```
pub fn name_of_today(name: &str) -> String {
    known_as(name).map_or(name, |(_, description)| description.name).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn a_name_of_old_belongs_to_one_variant() {
        for name in all().flat_map(|(_, description)| description.known_as) {
            assert_eq!(all().filter(|(_, other)| other.is_known_as(name)).count(), 1, "{name}");
            assert!(all().all(|(_, other)| other.name != *name), "{name} is a name of today, too");
        }
    }

    #[test]
    fn every_file_is_there_and_shown() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        for (op, description) in all() {
            let text = std::fs::read_to_string(root.join(description.file)).unwrap();
            assert!(description.source.contains(&text), "{op}: {}", description.file);
        }
    }
}
