//! What CPU products are held against MKL on: fixed matrices and numbers of columns, for `--suite cpu` and for
//! `benches/spmm_beside_mkl`.

/// Synthetic matrices, each of a kind of its own; all exceed a core's caches.
pub const SYNTHETIC_MATRICES: &[&str] = &[
    "uniform:200000x16",
    "stencil27:58",
    "stencil5:447",
    "powerlaw:200000x16",
    "band:20000x50",
    "blocks:20000x12x3",
];

/// Real matrices, by the names of their files without folder and ending.
pub const REAL_MATRICES: &[&str] = &[
    "ACTIVSg10K",
    "ash958",
    "bcsstk16",
    "bcsstk17",
    "bcsstk18",
    "bcsstk25",
    "bcsstk28",
    "beacxc",
    "BOYD1_A",
    "brack2_3",
    "ca-CondMat",
    "cage10",
    "cage4",
    "cnr-2000",
    "CONT-300_A",
    "facebook_combined",
    "Fashion_MNIST_norm_10NN",
    "gemat1",
    "GL7d25",
    "hangGlider_3",
    "lp_e226",
    "mcfe",
    "mdual",
    "mhda416",
    "olm1000",
    "orani678",
    "p2p-Gnutella31",
    "pubmed",
    "soc-Epinions1",
    "trilinos_ant16km",
    "west2021",
    "zenios",
];

/// Columns of X.
pub const COLUMNS: &[usize] = &[1, 2, 3, 4, 8, 12, 16, 32, 64];

/// A third of the matrices, which the rule of `auto` must not be fitted to: how it does on them says how it does on
/// matrices that nobody thought of. Every third of all names in alphabetical order, from the first on.
pub const HELD_OUT: &[&str] = &[
    "ACTIVSg10K",
    "bcsstk16",
    "bcsstk25",
    "blocks:20000x12x3",
    "ca-CondMat",
    "cnr-2000",
    "Fashion_MNIST_norm_10NN",
    "hangGlider_3",
    "mdual",
    "orani678",
    "pubmed",
    "stencil5:447",
    "west2021",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_third_name_is_held_out() {
        let mut names: Vec<&str> = SYNTHETIC_MATRICES.iter().chain(REAL_MATRICES).copied().collect();
        names.sort_unstable_by_key(|name| name.to_lowercase());
        let third: Vec<&str> = names.into_iter().step_by(3).collect();
        assert_eq!(third, HELD_OUT);
    }
}
