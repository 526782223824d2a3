//! Patterns and tiles that select nothing.

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
    /// A historic name of something else.
    #[error("`{pattern}` is a kernel of `{owner}`, not of `{op}`; `ordito list {op}` shows what there is")]
    OfAnotherOperation {
        /// The operation.
        op: &'static str,
        /// As typed.
        pattern: String,
        /// The operation that has it.
        owner: &'static str,
    },
    /// Tiles where there are none.
    #[error("--tile: no selected variant of `{op}` has tiles")]
    NoTiles {
        /// The operation.
        op: &'static str,
    },
    /// Tiles that there could be, but are not.
    #[error("--tile {tile}: the selected variants have tiles of {}", widths.iter().map(u32::to_string).collect::<Vec<_>>().join(", "))]
    NoSuchTile {
        /// As typed.
        tile: u32,
        /// All there are.
        widths: Vec<u32>,
    },
}
