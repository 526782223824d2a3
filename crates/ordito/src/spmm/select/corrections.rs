//! What a sum of prices leaves out: that parts of the work hide behind each other, that a kernel is compiled in several forms, that a
//! launch has a least time. Small trees of questions about a product, fitted to what prices predict wrong, multiply the sum.

use crate::spmm::select::aspects::Aspects;

/// Questions of a tree.
pub(super) const QUESTIONS: usize = 4;

/// Is this aspect larger than that? All questions are asked; the answers, read as a binary number, lead to the logarithm of a factor.
pub(super) struct Tree(pub(super) [(usize, f32); QUESTIONS], pub(super) [f32; 1 << QUESTIONS]);

impl Tree {
    fn logarithm(&self, aspects: &Aspects) -> f64 {
        let answers = self.0.iter().fold(0, |answers, &(aspect, limit)| {
            2 * answers + usize::from(aspects[aspect] > f64::from(limit))
        });
        self.1[answers].into()
    }
}

/// What the price of a product is multiplied by.
pub(super) fn factor(trees: &[Tree], aspects: &Aspects) -> f64 {
    trees.iter().map(|tree| tree.logarithm(aspects)).sum::<f64>().exp()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spmm::select::aspects;
    use crate::spmm::select::device_trees::TREES;

    #[test]
    fn answers_are_read_as_a_number() {
        let tree = Tree([(0, 1.0), (1, 1.0), (0, 3.0), (1, 3.0)], std::array::from_fn(|at| at as f32));
        let mut aspects = [0.0; aspects::COUNT];
        assert_eq!(tree.logarithm(&aspects), 0.0);
        (aspects[0], aspects[1]) = (2.0, 4.0);
        assert_eq!(tree.logarithm(&aspects), f64::from(0b1101));
        let half = || Tree([(0, 0.0); QUESTIONS], [-std::f32::consts::LN_2; 1 << QUESTIONS]);
        assert!((factor(&[half(), half()], &aspects) - 0.25).abs() < 1e-6);
        assert_eq!(factor(&[], &aspects), 1.0);
    }

    #[test]
    fn every_tree_asks_what_there_is_and_answers_moderately() {
        for trees in &TREES {
            assert!(trees.iter().all(|tree| tree.0.iter().all(|&(aspect, _)| aspect < aspects::COUNT)));
            let most = |sign: f32| -> f32 {
                let of_tree = |tree: &Tree| tree.1.iter().map(|answer| sign * answer).fold(0.0, f32::max);
                trees.iter().map(of_tree).sum()
            };
            assert!(most(1.0) < 4.0 && most(-1.0) < 4.0, "{} {}", most(1.0), most(-1.0));
        }
    }
}
