//! `--variant csr-*,auto`: what is wanted becomes variants.

use crate::catalogue::known_as;
use crate::workbench::select_error::SelectError;
use crate::workbench::wanted::{Called, Side, Wanted};
use ordito::op::{Description, Op};

/// The name of the variant that chooses among the others.
pub const AUTO: &str = "auto";

/// A variant of an operation, the choice left to it, or one that cannot be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Selected {
    /// This one.
    Named(&'static Description),
    /// Whatever [`Op::choose`] takes.
    Auto,
    /// Tiles of this width were asked for, which no kernel can have: there to be refused where everybody sees it.
    OversizedTile(u32),
}

impl Selected {
    /// What it is, where that is known before anything is chosen.
    pub fn describe(&self) -> Option<&'static Description> {
        match self {
            Selected::Named(variant) => Some(variant),
            Selected::Auto | Selected::OversizedTile(_) => None,
        }
    }

    /// As on the command line.
    pub fn name(&self) -> String {
        match self {
            Selected::Named(variant) => variant.name.into(),
            Selected::Auto => AUTO.into(),
            Selected::OversizedTile(width) => format!("dense-cuda-tile-{width}"),
        }
    }
}

/// The variants of `O` on this side that are wanted, in the order of the list, each once; then widths of tiles that cannot be,
/// and `auto`. May be empty: whether anything else was selected is for the caller to know. A pattern that matches no
/// variant at all is an error, and so is a width of tiles that there could be and is not.
pub fn select<O: Op>(wanted: &Wanted, side: Side) -> Result<Vec<Selected>, SelectError> {
    let variants: Vec<_> = O::variants().iter().map(|variant| variant.describe()).collect();
    select_among(O::NAME, &variants, wanted, side)
}

fn select_among(
    op: &'static str,
    variants: &[&'static Description],
    wanted: &Wanted,
    side: Side,
) -> Result<Vec<Selected>, SelectError> {
    let (patterns, tiles) = (&wanted.patterns, &wanted.tiles);
    // Where patterns only say what to leave out, the rest is meant.
    let all = patterns.iter().all(|pattern| left_out(pattern).is_some());
    let of_kind = |variant: &&Description| wanted.kind.is_none_or(|kind| kind.holds(variant));
    let mut taken: Vec<bool> = variants.iter().map(|variant| all && of_kind(variant)).collect();
    let mut auto = all;
    let (others, wishes): (Vec<&String>, Vec<&String>) =
        patterns.iter().partition(|pattern| left_out(pattern).is_some());
    for pattern in wishes.into_iter().chain(others) {
        let (pattern, wanted) = left_out(pattern).map_or((pattern.as_str(), true), |rest| (rest, false));
        if pattern == AUTO {
            auto = wanted;
            continue;
        }
        let called = Called::new(pattern)?;
        // `kernel2 --tile 8,16`: a name of old is one kernel, unless other widths of it are asked for.
        let is_meant = |variant: &&Description| match tiles.is_empty() {
            true => called.is(variant),
            false => called.is_kin(variant),
        };
        let matches: Vec<bool> = variants.iter().map(is_meant).collect();
        if !matches.contains(&true) {
            return Err(no_match(op, variants, pattern));
        }
        taken.iter_mut().zip(matches).filter(|(_, matches)| *matches).for_each(|(taken, _)| *taken = wanted);
    }
    let named =
        || variants.iter().copied().zip(&taken).filter(|(_, taken)| **taken).map(|(variant, _)| variant);
    let oversized = wanted.oversized_tiles(op, named())?;
    let here = |variant: &&'static Description| side.holds(variant.place);
    let kept = named().filter(here).filter(|variant| wanted.keeps_tile(variant));
    let mut selected: Vec<Selected> = kept.map(Selected::Named).collect();
    if side == Side::Device {
        selected.extend(oversized.into_iter().map(Selected::OversizedTile));
    }
    if auto && variants.iter().any(here) {
        selected.push(Selected::Auto);
    }
    Ok(selected)
}

/// What a pattern such as `!csr-cuda-thread-*` leaves out; `None` for one that is a wish.
pub fn left_out(pattern: &str) -> Option<&str> {
    pattern.strip_prefix('!')
}

fn no_match(op: &'static str, variants: &[&Description], pattern: &str) -> SelectError {
    if let Some((owner, _)) = known_as(pattern) {
        return SelectError::OfAnotherOperation { op, pattern: pattern.into(), owner };
    }
    let names = variants.iter().map(|variant| variant.name).chain([AUTO]);
    let names = names.collect::<Vec<_>>().join(" ");
    SelectError::NoMatch { op, pattern: pattern.into(), names }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::{all, describe};
    use crate::workbench::wanted::{Kind, is_called};
    use ordito::gemm::Gemm;
    use ordito::op::Role;
    use ordito::spmm::Spmm;

    fn selected<O: Op>(patterns: &[&str], tiles: &[u32], side: Side) -> Result<Vec<String>, SelectError> {
        let wanted = Wanted { tiles: tiles.to_vec(), ..Wanted::variants(patterns.iter().copied()) };
        Ok(select::<O>(&wanted, side)?.iter().map(Selected::name).collect())
    }

    fn names(patterns: &[&str], side: Side) -> Result<Vec<String>, SelectError> {
        selected::<Spmm<f64>>(patterns, &[], side)
    }

    #[test]
    fn patterns_select_each_variant_once() {
        let (cpu, device) = (names(&[], Side::Cpu).unwrap(), names(&[], Side::Device).unwrap());
        assert_eq!(cpu.len() + device.len(), Spmm::<f64>::variants().len() + 2);
        assert_eq!((cpu.last().unwrap().as_str(), device.last().unwrap().as_str()), ("auto", "auto"));
        assert_eq!(names(&["auto"], Side::Device).unwrap(), ["auto"]);
        assert_eq!(names(&["csr-threads-nnz", "csr-threads-*", "csr-serial"], Side::Cpu).unwrap().len(), 6);
        assert!(names(&["csr-serial"], Side::Device).unwrap().is_empty());
    }

    #[test]
    fn what_selects_nothing_is_an_error_that_helps() {
        assert!(names(&["crs-*"], Side::Cpu).unwrap_err().to_string().contains("csr-threads-nnz"));
        assert!(matches!(names(&["csr-["], Side::Cpu), Err(SelectError::Pattern { .. })));
    }

    #[test]
    fn a_name_of_old_stands_for_one_kernel_of_today() {
        let of_spmm = [
            ("csr", "csr-cuda-thread-per-element"),
            ("CSR_Scalar_v1", "csr-cuda-thread-adds-in-memory"),
            ("CSR_Scalar_v2", "csr-cuda-thread-adds-in-register"),
            ("CSR_Scalar_v3", "csr-cuda-thread-per-element"),
            ("csr_vector", "csr-cuda-warp-per-element"),
            ("csr_vector_sub_warp", "csr-cuda-lanes2-per-element"),
            ("csr_vector_by_row", "csr-cuda-warp-per-row"),
            ("csr_adaptive", "csr-cuda-adaptive-column"),
            ("csr_adaptive_sub_block", "csr-cuda-adaptive-sub-blocks32"),
            ("ellpack", "ell-ragged-cuda-thread-per-element"),
            ("ellpack_sw", "ell-ragged-cuda-lanes2-per-element"),
        ];
        for (old, name) in of_spmm {
            assert_eq!(names(&[old], Side::Device).unwrap(), [name]);
            assert!(names(&[old], Side::Cpu).unwrap().is_empty(), "{old}");
        }
        let of_gemm = [
            ("kernel1", "dense-cuda-element-by-row-32"),
            ("kernel2", "dense-cuda-tile-by-row-32"),
            ("matrixmulkernel", "dense-cuda-element-by-column-10"),
            ("MatrixMulNewKernel", "dense-cuda-tile-by-column-10"),
        ];
        for (old, name) in of_gemm {
            assert_eq!(selected::<Gemm<f32>>(&[old], &[], Side::Device).unwrap(), [name]);
        }
        let described = |name| describe("spmm", name).unwrap();
        assert!(is_called(described("csr-cuda-warp-per-row"), "csr_vector_by_row"));
        assert!(!is_called(described("csr-serial"), "csr") && !is_called(described("csr-serial"), "csr-["));
        for (op, description) in all() {
            let meant = |old: &&str| is_called(describe(op, description.name).unwrap(), old);
            assert!(description.known_as.iter().all(meant), "{}", description.name);
        }
    }

    #[test]
    fn patterns_mean_families_and_names_of_old_too() {
        assert_eq!(names(&["csr-cuda-lanes*-per-element"], Side::Device).unwrap().len(), 5);
        assert_eq!(
            names(&["CSR_Scalar_v?"], Side::Device).unwrap(),
            names(&["csr-cuda-thread-*"], Side::Device).unwrap()
        );
        assert_eq!(names(&["csr_adaptive*"], Side::Device).unwrap().len(), 2);
    }

    #[test]
    fn kinds_leave_out_what_is_there_for_something_else() {
        let of =
            |kind, side| select::<Spmm<f64>>(&Wanted { kind: Some(kind), ..Wanted::all() }, side).unwrap();
        let kind = Kind { side: Side::Device, roles: &[Role::Peer] };
        assert_eq!(of(kind, Side::Device).len(), 11 + 1);
        assert!(of(kind, Side::Device).iter().flat_map(Selected::describe).all(|d| d.role == Role::Peer));
        assert!(matches!(of(kind, Side::Cpu)[..], [Selected::Auto]));
    }

    #[test]
    fn patterns_leave_out_whatever_order_they_stand_in() {
        let peers = names(&["csr-cuda-cusparse-*", "!*-columns", "!*-spmv-*"], Side::Device).unwrap();
        assert_eq!(peers.len(), 4, "{peers:?}");
        assert_eq!(names(&["!*-spmv-*", "csr-cuda-cusparse-*", "!*-columns"], Side::Device).unwrap(), peers);
        let all = names(&[], Side::Cpu).unwrap();
        let but_two = names(&["!csr-serial", "!auto"], Side::Cpu).unwrap();
        assert_eq!(but_two.len() + 2, all.len());
        assert!(!but_two.contains(&"csr-serial".to_owned()) && !but_two.contains(&AUTO.to_owned()));
        assert!(names(&["!csr-nobody"], Side::Cpu).is_err(), "nothing is called so");
    }

    #[test]
    fn a_name_of_another_operation_says_whose_it_is() {
        let error = names(&["kernel1"], Side::Device).unwrap_err().to_string();
        assert!(error.starts_with("`kernel1` is a kernel of `gemm`, not of `spmm`"), "{error}");
        let error = selected::<Gemm<f64>>(&["csr"], &[], Side::Cpu).unwrap_err().to_string();
        assert!(error.starts_with("`csr` is a kernel of `spmm`, not of `gemm`"), "{error}");
    }

    #[test]
    fn tiles_keep_their_widths_and_what_has_none() {
        let tiles = |patterns: &[&str], tiles: &[u32]| selected::<Gemm<f64>>(patterns, tiles, Side::Device);
        let all = tiles(&[], &[8, 32]).unwrap();
        assert!(all.iter().any(|name| name == "dense-cuda-tile-by-row-8") && all.contains(&AUTO.into()));
        assert!(!all.iter().any(|name| name == "dense-cuda-tile-by-row-16"), "{all:?}");
        assert_eq!(tiles(&["kernel2"], &[10]).unwrap(), ["dense-cuda-tile-by-row-10"]);
        let cpu = |tiles: &[u32]| selected::<Gemm<f64>>(&[], tiles, Side::Cpu).unwrap();
        assert_eq!(cpu(&[8]), cpu(&[]), "no tiles there");
    }

    #[test]
    fn tiles_that_cannot_be_are_there_to_be_refused() {
        let tiles = |tiles: &[u32], side| selected::<Gemm<f64>>(&["kernel2", "auto"], tiles, side);
        assert_eq!(
            tiles(&[500, 8, 100, 500], Side::Device).unwrap(),
            ["dense-cuda-tile-by-row-8", "dense-cuda-tile-500", "dense-cuda-tile-100", "auto"]
        );
        assert_eq!(tiles(&[100], Side::Cpu).unwrap(), ["auto"]);
        assert_eq!(tiles(&[u32::MAX], Side::Device).unwrap().len(), 2);
    }

    #[test]
    fn tiles_that_are_not_there_are_an_error() {
        fn error<O: Op>(patterns: &[&str], tile: u32) -> String {
            selected::<O>(patterns, &[tile], Side::Cpu).unwrap_err().to_string()
        }
        let widths = "the selected variants have tiles of 8, 10, 16, 32";
        assert_eq!(error::<Gemm<f64>>(&["kernel1"], 12), format!("--tile 12: {widths}"));
        assert_eq!(error::<Gemm<f64>>(&["kernel1"], 0), format!("--tile 0: {widths}"));
        let none = "--tile: no selected variant of";
        assert_eq!(error::<Spmm<f64>>(&[], 8), format!("{none} `spmm` has tiles"));
        assert_eq!(error::<Gemm<f64>>(&["dense-serial-*"], 8), format!("{none} `gemm` has tiles"));
    }
}
