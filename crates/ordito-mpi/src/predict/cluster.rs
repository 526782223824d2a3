//! Computers and their network, in a few numbers.

/// What a prediction knows of a machine. Rates are those of one node, shared by its ranks, unless they say otherwise.
#[derive(Debug, Clone, PartialEq)]
pub struct Cluster {
    /// Ranks on every node.
    pub ranks_per_node: usize,
    /// Bytes per second that its memory gives.
    pub memory: f64,
    /// Flops per second of one rank, when everything lies in its caches: products of sparse matrices reach a fraction of a core's peak.
    pub flops_per_rank: f64,
    /// Seconds from one node to another.
    pub latency: f64,
    /// Bytes per second between nodes, in each direction.
    pub bandwidth: f64,
    /// Seconds from one rank to another on the same node.
    pub near_latency: f64,
}

impl Default for Cluster {
    /// Nodes of 16 ranks with 200 GB/s of memory, 100 Gbit/s and 2 µs between them.
    fn default() -> Self {
        Cluster {
            ranks_per_node: 16,
            memory: 200e9,
            flops_per_rank: 8e9,
            latency: 2e-6,
            bandwidth: 12.5e9,
            near_latency: 0.5e-6,
        }
    }
}

impl Cluster {
    /// Every number that can be given, with what it means.
    pub const KEYS: &[(&str, &str)] = &[
        ("ranks-per-node", "ranks on every node"),
        ("memory", "GB/s of a node's memory"),
        ("gflops", "GFLOP/s of one rank from its caches"),
        ("latency", "µs between nodes"),
        ("bandwidth", "GB/s between nodes"),
        ("near-latency", "µs between ranks of a node"),
    ];

    /// From `key=value,key=value`; what is not named stays as it is by default.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut cluster = Cluster::default();
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let (key, value) =
                part.split_once('=').ok_or_else(|| format!("{part:?}: key=value is expected"))?;
            let number =
                value.trim().parse::<f64>().ok().filter(|number| *number > 0.0 && number.is_finite());
            let number = number.ok_or_else(|| format!("{part:?}: a positive number is expected"))?;
            match key.trim() {
                "ranks-per-node" if number.fract() == 0.0 && number < 1e9 => {
                    cluster.ranks_per_node = number as usize
                }
                "ranks-per-node" => return Err(format!("{part:?}: ranks come whole")),
                "memory" => cluster.memory = number * 1e9,
                "gflops" => cluster.flops_per_rank = number * 1e9,
                "latency" => cluster.latency = number * 1e-6,
                "bandwidth" => cluster.bandwidth = number * 1e9,
                "near-latency" => cluster.near_latency = number * 1e-6,
                key => {
                    let known = Cluster::KEYS.iter().map(|(key, _)| *key).collect::<Vec<_>>().join(", ");
                    return Err(format!("{key:?} is not known; there are {known}"));
                }
            }
        }
        Ok(cluster)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_names() {
        let cluster = Cluster::parse("latency=1.5, bandwidth=25,ranks-per-node=64").unwrap();
        assert_eq!((cluster.latency, cluster.bandwidth, cluster.ranks_per_node), (1.5e-6, 25e9, 64));
        assert_eq!(cluster.memory, Cluster::default().memory);
        assert_eq!(Cluster::parse(""), Ok(Cluster::default()));
        for (key, _) in Cluster::KEYS {
            assert_ne!(Cluster::parse(&format!("{key}=3")), Ok(Cluster::default()), "{key}");
        }
        for wrong in ["latency", "latency=-1", "latency=x", "speed=1", "ranks-per-node=1.5", "memory=inf"] {
            assert!(Cluster::parse(wrong).is_err(), "{wrong}");
        }
    }
}
