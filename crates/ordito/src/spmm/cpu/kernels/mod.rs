//! Inner loops that variants share: rows, groups and stretches of rows, spans of columns, writing Y.

pub(crate) mod compact_x;
pub(crate) mod epilogue;
pub(crate) mod fetch;
pub(crate) mod group_kernel;
pub(crate) mod row_kernel;
pub(crate) mod span;
pub(crate) mod stretch_kernel;
#[cfg(target_arch = "x86_64")]
pub(crate) mod stretches_avx512;
pub(crate) mod target;
