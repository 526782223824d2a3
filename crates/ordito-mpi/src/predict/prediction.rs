//! Counts and a machine become times.

use crate::predict::cluster::Cluster;
use crate::predict::counts::{Counts, OfRank};

/// Seconds of one product, of the rank where they are most.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Prediction {
    /// Packing rows for others.
    pub pack: f64,
    /// What multiplies X of a rank's node, which its ranks share.
    pub own: f64,
    /// The exchange, if nothing else happened.
    pub exchange: f64,
    /// What multiplies X of other nodes.
    pub outer: f64,
    /// Adding up in teams.
    pub reduce: f64,
    /// The product of the slowest rank: what is exchanged hides behind its own part.
    pub total: f64,
    /// What a product that hides nothing would take.
    pub without_overlap: f64,
}

impl Prediction {
    /// Of K columns of numbers with so many bytes.
    pub fn of(counts: &Counts, cluster: &Cluster, k: usize, bytes: usize) -> Self {
        let row = (k * bytes) as f64;
        let sharing = cluster.ranks_per_node.min(counts.ranks.len()).max(1) as f64;
        let memory = cluster.memory / sharing;
        let multiply = |nnz: u64, rows_read: u64, rows_written: f64| {
            let moved = nnz as f64 * (bytes + 4) as f64 + rows_read as f64 * row + rows_written * row;
            (moved / memory).max(2.0 * nnz as f64 * k as f64 / cluster.flops_per_rank)
        };
        // A node's ranks talk at once: each has its share of the network. X of a node is read where it lies.
        let network = cluster.bandwidth / sharing;
        let travel =
            |(messages, rows): (u64, u64)| messages as f64 * cluster.latency + rows as f64 * row / network;
        let team = counts.teams.size() as u64;
        let of_rank = |of: &OfRank| {
            let block = of.rows * team; // about: members have as many
            let mut one = Prediction {
                // Read once, written once; about as much goes out as comes in.
                pack: 2.0 * of.far_rows as f64 * row / memory,
                own: multiply(of.own_nnz, of.rows + of.near_rows, block as f64),
                exchange: of.near_neighbours as f64 * cluster.near_latency
                    + travel((of.far_neighbours, of.far_rows)),
                outer: multiply(of.outer_nnz, of.far_rows, 2.0 * of.outer_rows as f64),
                ..Prediction::default()
            };
            if team > 1 {
                let is_near = team as usize <= cluster.ranks_per_node;
                let parts = (team - 1, of.partial_rows);
                let arrive = match is_near {
                    true => parts.0 as f64 * cluster.near_latency,
                    false => travel(parts),
                };
                one.reduce = arrive + 3.0 * of.partial_rows as f64 * row / memory;
            }
            one.total = one.pack + one.own.max(one.exchange) + one.outer + one.reduce;
            one.without_overlap = one.pack + one.own + one.exchange + one.outer + one.reduce;
            one
        };
        counts.ranks.iter().map(of_rank).fold(Prediction::default(), |most, one| Prediction {
            pack: most.pack.max(one.pack),
            own: most.own.max(one.own),
            exchange: most.exchange.max(one.exchange),
            outer: most.outer.max(one.outer),
            reduce: most.reduce.max(one.reduce),
            total: most.total.max(one.total),
            without_overlap: most.without_overlap.max(one.without_overlap),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Partition, Teams};
    use ordito::Csr;

    fn counts(name: &str, ranks: usize) -> Counts {
        let a: Csr<f64> = ordito::io::read_csr(name).unwrap();
        let cut = Partition::even(a.rows() as u64, ranks);
        Counts::of(&a, &cut, &cut, Teams::ALONE, 2)
    }

    #[test]
    fn a_slab_talks_to_two_neighbours() {
        // 8 slabs of one plane each: two planes come, one from the same node.
        let counts = counts("stencil27:8", 8);
        assert_eq!((counts.ranks[3].near_rows, counts.ranks[3].far_rows), (64, 64));
        assert_eq!((counts.ranks[3].near_neighbours, counts.ranks[3].far_neighbours), (1, 1));
        assert_eq!((counts.ranks[0].near_rows, counts.ranks[0].far_rows), (64, 0));
        assert_eq!((counts.most(), counts.total()), (64, 6 * 64));
        let nnz: u64 = counts.ranks.iter().map(|of| of.own_nnz + of.outer_nnz).sum();
        assert_eq!(nnz, 22_u64.pow(3));
        // A slab of one plane: every row has neighbours in the next, and those of the other node are multiplied apart.
        assert_eq!((counts.ranks[3].outer_rows, counts.ranks[3].rows), (64, 64));
        assert_eq!((counts.ranks[3].own_nnz, counts.ranks[3].outer_nnz), (2 * 22 * 22, 22 * 22));
        assert_eq!((counts.ranks[0].outer_rows, counts.ranks[0].outer_nnz), (0, 0));
    }

    #[test]
    fn more_ranks_are_faster_until_the_network_is_all_there_is() {
        let cluster = Cluster { ranks_per_node: 1, ..Cluster::default() };
        let total =
            |ranks, cluster: &Cluster| Prediction::of(&counts("stencil27:20", ranks), cluster, 8, 8).total;
        assert!(total(4, &cluster) < 0.5 * total(1, &cluster));
        let slow = Cluster { latency: 1e-3, ..cluster };
        assert!(total(4, &slow) > total(1, &slow));
        let one = Prediction::of(&counts("stencil27:20", 4), &slow, 8, 8);
        assert!(one.total >= one.exchange && one.without_overlap > one.total);
    }
}
