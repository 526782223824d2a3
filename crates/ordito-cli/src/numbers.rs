//! Numbers of threads, of columns: `8`, `1..8`, `4..12+4`, `1..64*2`.

use std::num::NonZeroUsize;

/// One part of a list: a number, or all of a range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Numbers(Vec<NonZeroUsize>);

/// More than anybody waits for.
const MOST: usize = 1000;

/// All numbers of a list, in its order.
pub(crate) fn all(parts: &[Numbers]) -> Vec<NonZeroUsize> {
    parts.iter().flat_map(|part| part.0.iter().copied()).collect()
}

/// `A..B` counts from A to B, both included; `A..B+S` in steps of S, `A..B*F` by factors of F.
pub(crate) fn parse_numbers(text: &str) -> Result<Numbers, String> {
    let number = |part: &str| {
        let read: Result<NonZeroUsize, _> = part.trim().parse();
        read.map(NonZeroUsize::get).map_err(|_| match part {
            "" => format!("`{text}` lacks a number"),
            part => format!("`{part}` is no number above 0"),
        })
    };
    let Some((first, rest)) = text.split_once("..") else {
        return Ok(Numbers(NonZeroUsize::new(number(text)?).into_iter().collect()));
    };
    // A factor of 1 adds, a step of 0 multiplies.
    let (last, factor, step) = match (rest.split_once('*'), rest.split_once('+')) {
        (Some((last, factor)), _) => (last, number(factor)?, 0),
        (None, Some((last, step))) => (last, 1, number(step)?),
        (None, None) => (rest, 1, 1),
    };
    if (factor, step) == (1, 0) {
        return Err(format!("`{text}`: a factor above 1 is needed"));
    }
    let next = |now: usize| now.checked_mul(factor).and_then(|now| now.checked_add(step));
    let (first, last) = (number(first)?, number(last)?);
    if last < first {
        return Err(format!("`{text}` ends before it begins"));
    }
    let in_range = std::iter::successors(Some(first), |&now| next(now)).take_while(|&now| now <= last);
    let found: Vec<NonZeroUsize> = in_range.take(MOST + 1).filter_map(NonZeroUsize::new).collect();
    if found.len() > MOST {
        return Err(format!("`{text}` has more than {MOST} numbers"));
    }
    Ok(Numbers(found))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(text: &str) -> Vec<usize> {
        all(&[parse_numbers(text).unwrap()]).into_iter().map(NonZeroUsize::get).collect()
    }

    #[test]
    fn ranges_count_add_and_multiply() {
        assert_eq!(numbers("8"), [8]);
        assert_eq!(numbers("1..4"), [1, 2, 3, 4]);
        assert_eq!(numbers("4..12+4"), [4, 8, 12]);
        assert_eq!(numbers("1..64*2"), [1, 2, 4, 8, 16, 32, 64]);
        assert_eq!(numbers("3..20*2"), [3, 6, 12]);
        assert_eq!(numbers("5..5"), [5]);
        assert_eq!(numbers(&format!("1..{}*2", usize::MAX)).len(), 64, "ends where 64 bits do");
    }

    #[test]
    fn what_is_no_range_is_said() {
        let error = |text: &str| parse_numbers(text).unwrap_err();
        assert_eq!(error("0"), "`0` is no number above 0");
        assert_eq!(error("x..3"), "`x` is no number above 0");
        assert_eq!(error("1..64*1"), "`1..64*1`: a factor above 1 is needed");
        assert_eq!(error("8..1"), "`8..1` ends before it begins");
        assert_eq!(error("1..2000"), "`1..2000` has more than 1000 numbers");
        assert_eq!(error("1.."), "`1..` lacks a number");
        assert_eq!(error("1..64*2+3"), "`2+3` is no number above 0");
        assert!(parse_numbers("1..4+0").is_err() && parse_numbers("").is_err());
    }
}
