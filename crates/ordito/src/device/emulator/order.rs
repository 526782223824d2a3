//! The orders in which threads and blocks are run.

/// In which order the threads of a launch run. What is right on a GPU gives the same bits in each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Order {
    /// From the first block and thread to the last.
    Ascending,
    /// The mirror image: what came first in [`Ascending`](Order::Ascending) comes last.
    Descending,
    /// Mixed, always in the same way.
    Shuffled,
}

impl Order {
    /// All of them: the default.
    pub const ALL: [Order; 3] = [Order::Ascending, Order::Descending, Order::Shuffled];

    /// The numbers below `count` in this order.
    pub(crate) fn of(self, count: u32) -> Vec<u32> {
        match self {
            Order::Ascending => (0..count).collect(),
            Order::Descending => (0..count).rev().collect(),
            Order::Shuffled => shuffled(count),
        }
    }

    /// Do asynchronous copies move their bytes when they are waited for, as late as a GPU may, rather than at once? The
    /// first order is late, so that what is read too early is old or was never written; the second is not, so that
    /// what is overwritten too early is gone.
    pub(crate) fn copies_late(self) -> bool {
        self != Order::Descending
    }

    /// As a word in messages.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Order::Ascending => "ascending",
            Order::Descending => "descending",
            Order::Shuffled => "shuffled",
        }
    }
}

/// Fisher and Yates, with Knuth's generator: every machine mixes in the same way.
fn shuffled(count: u32) -> Vec<u32> {
    let mut numbers: Vec<u32> = (0..count).collect();
    let mut random = 0x9E37_79B9_7F4A_7C15_u64;
    for last in (1..numbers.len()).rev() {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        numbers.swap(last, ((random >> 33) % (last as u64 + 1)) as usize);
    }
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_order_is_a_permutation_and_no_two_are_equal() {
        for count in [0, 1, 2, 31, 32, 1000] {
            for order in Order::ALL {
                let mut numbers = order.of(count);
                numbers.sort_unstable();
                assert!(numbers.iter().copied().eq(0..count), "{order:?} {count}");
            }
        }
        let [up, down, mixed] = Order::ALL.map(|order| order.of(32));
        assert!(up != down && up != mixed && down != mixed);
        assert_eq!(mixed, Order::Shuffled.of(32));
    }
}
