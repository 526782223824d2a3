//! What a product would take on more machines than there are here: counted, not run.
//!
//! [`Counts`] are exact: what every rank of a partition would hold, and what would travel. [`Cluster`] describes computers and their network in a few numbers. [`Prediction`] puts both together:
//!
//! * a rank multiplies as fast as its share of its node's memory, and its core, allow: `own = max(bytes / memory, flops / core)`;
//! * messages of a node share its network: `exchange = latency · neighbours + bytes / bandwidth`, inside a node and between nodes;
//! * the exchange hides behind the own part: `total = pack + max(own, exchange) + outer + reduce`, of the slowest rank.
//!
//! Contention in the network, uneven machines and operating systems are not in it.

mod cluster;
mod counts;
mod order;
mod prediction;

pub use cluster::Cluster;
pub use counts::{Counts, OfRank};
pub use order::in_order_of;
pub use prediction::Prediction;
