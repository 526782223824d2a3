//! Curves of very many points: of those in one column of pixels, the ones that are seen.

use crate::frame::Spot;

/// First, lowest, highest and last of every column, in their order.
pub(crate) fn thinned<T: Copy>(points: &[(T, Spot)]) -> Vec<(T, Spot)> {
    let mut kept = Vec::new();
    for column in points.chunk_by(|(_, one), (_, next)| one.0.floor() == next.0.floor()) {
        let by_height =
            |one: &(usize, &(T, Spot)), other: &(usize, &(T, Spot))| f64::total_cmp(&one.1.1.1, &other.1.1.1);
        let numbered = || column.iter().enumerate();
        let lowest = numbered().max_by(by_height).map(|(index, _)| index);
        let highest = numbered().min_by(by_height).map(|(index, _)| index);
        let seen = [Some(0), lowest, highest, Some(column.len() - 1)];
        kept.extend(numbered().filter(|(index, _)| seen.contains(&Some(*index))).map(|(_, point)| *point));
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spikes_are_kept() {
        let heights = [5.0, 5.1, 9.0, 5.2, 1.0, 5.3, 5.4];
        let points: Vec<((), Spot)> =
            heights.iter().enumerate().map(|(step, &y)| ((), (step as f64 * 0.1, y))).collect();
        let kept: Vec<f64> = thinned(&points).iter().map(|(_, place)| place.1).collect();
        assert_eq!(kept, [5.0, 9.0, 1.0, 5.4]);
        let apart: Vec<((), Spot)> = (0..9).map(|step| ((), (f64::from(step), 1.0))).collect();
        assert_eq!(thinned(&apart).len(), 9);
        assert!(thinned::<()>(&[]).is_empty());
    }
}
