//! What was meant by a name that nobody knows.

/// Letters that may be wrong: beyond these a suggestion is a guess.
const MOST_EDITS: usize = 2;

/// The name that is nearest to what was asked for, if any is near.
pub fn nearest<'a>(asked: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let with_distance = names.into_iter().map(|name| (distance(asked, name), name));
    let (edits, name) = with_distance.min_by_key(|(edits, _)| *edits)?;
    (edits <= MOST_EDITS).then_some(name)
}

/// Letters to insert, delete or replace on the way from one word to the other, in any case (Levenshtein).
fn distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.to_lowercase().chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (i, a) in from.to_lowercase().chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, &b) in to.iter().enumerate() {
            let replaced = diagonal + usize::from(a != b);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_count_letters() {
        let pairs = [("", "abc"), ("ab", ""), ("band", "Band"), ("bnad", "band"), ("kitten", "sitting")];
        assert_eq!(pairs.map(|(from, to)| distance(from, to)), [3, 2, 0, 2, 3]);
    }

    #[test]
    fn only_what_is_near_is_suggested() {
        assert_eq!(nearest("CPzz", ["Cz", "CPz"]), Some("CPz"));
        assert_eq!(nearest("electrode", ["Cz", "CPz"]), None);
        assert_eq!(nearest("Cz", []), None);
    }
}
