//! The workbench of Ordito: every variant of an operation verified against a serial oracle, then timed honestly.
//!
//! ```text
//!  case ──► workbench ──► record ──► report ──► terminal, CSV, JSON, HTML
//!             │   ▲
//!     check ◄─┘   └── sample
//! ```
//!
//! | module | holds | knows nothing of |
//! |---|---|---|
//! | [`check`] | NaN-safe comparison, rigorous bounds, verdicts, the failing case on disk | which operation it judges |
//! | [`sample`] | clocks, stop rules, quantiles, emptied caches, ceilings of the machine | what it times |
//! | [`workbench`] | prepare, verify, sample in turn, make records; patterns of `--variant` | the command line |
//! | [`report`] | one flat record; tables, bars, CSV, JSON, figures, the page | how it was measured |
//! | [`catalogue`] | all operations and their variants, by name | |
//! | [`convert`], [`transfer`] | operations that exist to be studied: formats from triplets, copies to and from a GPU | |
//!
//! Operations are those of [`ordito::op::Op`]. Whatever implements it can be listed, verified and timed.

pub mod catalogue;
pub mod check;
pub mod convert;
pub mod report;
pub mod sample;
pub mod transfer;
pub mod workbench;
