//! Where the entries of each kind of synthetic matrix stand. For every kind two functions: how large it is, with
//! a word about parameters that make no sense, and which columns a row has.

use crate::io::synthetic::{Pattern, Size};
use crate::matrix::Random;

/// How far from the diagonal `blocks` go, in blocks.
const BLOCK_REACH: u64 = 200;

fn square(rows: Option<u64>, entries: u128) -> Size {
    // What overflows 64 bits is more than 32-bit indices reach: the caller says so.
    let rows = rows.unwrap_or(u64::MAX);
    Size { rows, cols: rows, entries }
}

/// `per_row` entries in each row, of which a row can have no more than there are columns.
fn per_row(rows: u64, per_row: u64, what: &str) -> Result<Size, String> {
    if per_row > rows {
        return Err(format!("{what} is {per_row}, more than the {rows} rows"));
    }
    Ok(square(Some(rows), u128::from(rows) * u128::from(per_row)))
}

/// Indices are below 2³²: dimensions were checked.
fn push(columns: &mut Vec<u32>, column: u64) {
    columns.push(column as u32);
}

/// `at` and its neighbours on a line of `side` points.
fn neighbours(at: u64, side: u64) -> std::ops::RangeInclusive<u64> {
    at.saturating_sub(1)..=(at + 1).min(side - 1)
}

pub(super) fn stencil27_size(parameters: &[u64], _: u64) -> Result<Size, String> {
    let side = parameters[0];
    let along_a_line = u128::from(side) * 3 - 2;
    Ok(square(side.checked_pow(3), along_a_line.saturating_pow(3)))
}

pub(super) fn stencil27(parameters: &[u64], _: u64) -> Pattern {
    let side = parameters[0];
    Box::new(move |row, _, columns| {
        let (x, y, z) = (row % side, row / side % side, row / side / side);
        for z in neighbours(z, side) {
            for y in neighbours(y, side) {
                neighbours(x, side).for_each(|x| push(columns, (z * side + y) * side + x));
            }
        }
    })
}

pub(super) fn stencil5_size(parameters: &[u64], _: u64) -> Result<Size, String> {
    let side = u128::from(parameters[0]);
    Ok(square(parameters[0].checked_pow(2), (side * side).saturating_mul(5).saturating_sub(4 * side)))
}

pub(super) fn stencil5(parameters: &[u64], _: u64) -> Pattern {
    let side = parameters[0];
    Box::new(move |row, _, columns| {
        let (x, y) = (row % side, row / side);
        neighbours(x, side).for_each(|x| push(columns, y * side + x));
        neighbours(y, side).filter(|&other| other != y).for_each(|y| push(columns, y * side + x));
    })
}

pub(super) fn uniform_size(parameters: &[u64], _: u64) -> Result<Size, String> {
    per_row(parameters[0], parameters[1], "NNZ_PER_ROW")
}

pub(super) fn uniform(parameters: &[u64], _: u64) -> Pattern {
    let (rows, count) = (parameters[0], parameters[1]);
    Box::new(move |_, random, columns| (0..count).for_each(|_| push(columns, random.below(rows))))
}

pub(super) fn power_law_size(parameters: &[u64], _: u64) -> Result<Size, String> {
    let size = per_row(parameters[0], parameters[1], "AVG")?;
    // Rows that would have less than one entry have one.
    Ok(Size { entries: size.entries + u128::from(size.rows), ..size })
}

/// Row lengths follow a Pareto distribution of exponent 1.2, cut off at a twentieth of the rows before they are
/// scaled to the average; columns are ⌊n·u³⌋. The first number of a row's stream is its length.
pub(super) fn power_law(parameters: &[u64], seed: u64) -> Pattern {
    let (rows, average) = (parameters[0], parameters[1] as f64);
    let longest = rows as f64 / 20.0;
    let length = move |random: &mut Random| random.pareto().min(longest);
    let mean = (0..rows).map(|row| length(&mut Random::new(seed, row))).sum::<f64>() / rows as f64;
    Box::new(move |_, random, columns| {
        let count = (length(random) * average / mean).max(1.0) as u64;
        for _ in 0..count {
            let u = random.unit();
            push(columns, ((rows as f64 * (u * u * u)) as u64).min(rows - 1));
        }
    })
}

pub(super) fn band_size(parameters: &[u64], _: u64) -> Result<Size, String> {
    per_row(parameters[0], parameters[1], "WIDTH")
}

pub(super) fn band(parameters: &[u64], _: u64) -> Pattern {
    let (rows, width) = (parameters[0], parameters[1]);
    Box::new(move |row, _, columns| (row..row + width).for_each(|col| push(columns, col % rows)))
}

pub(super) fn blocks_size(parameters: &[u64], _: u64) -> Result<Size, String> {
    let [block_rows, blocks_per_row, side] = [parameters[0], parameters[1], parameters[2]];
    let size = per_row(block_rows, blocks_per_row, "BLOCKS_PER_ROW")?;
    let entries = size.entries.saturating_mul(u128::from(side) * u128::from(side));
    Ok(square(block_rows.checked_mul(side), entries))
}

/// Each block row has its blocks up to [`BLOCK_REACH`] blocks from the diagonal, wrapping round.
pub(super) fn blocks(parameters: &[u64], seed: u64) -> Pattern {
    let [block_rows, blocks_per_row, side] = [parameters[0], parameters[1], parameters[2]];
    Box::new(move |row, _, columns| {
        let block_row = row / side;
        // All rows of a block share the places of its blocks: those of the first one's stream.
        let mut random = Random::new(seed, block_row * side);
        for _ in 0..blocks_per_row {
            let left_of_reach = block_row + block_rows - BLOCK_REACH % block_rows;
            let block_col = (left_of_reach + random.below(2 * BLOCK_REACH)) % block_rows;
            (block_col * side..(block_col + 1) * side).for_each(|col| push(columns, col));
        }
    })
}

pub(super) fn diagonal_size(parameters: &[u64], _: u64) -> Result<Size, String> {
    Ok(square(Some(parameters[0]), parameters[0].into()))
}

pub(super) fn diagonal(_: &[u64], _: u64) -> Pattern {
    Box::new(|row, _, columns| push(columns, row))
}

pub(super) fn empty_size(parameters: &[u64], _: u64) -> Result<Size, String> {
    Ok(Size { rows: parameters[0], cols: parameters[1], entries: 0 })
}

pub(super) fn empty(_: &[u64], _: u64) -> Pattern {
    Box::new(|_, _, _| ())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::ReadOptions;
    use crate::io::synthetic::generate;
    use crate::matrix::Coo;

    fn made(name: &str) -> Coo<f32> {
        generate(name, &ReadOptions::default()).unwrap().unwrap()
    }

    fn columns_of(coo: &Coo<f32>, row: u32) -> Vec<u32> {
        coo.entries().filter(|entry| entry.0 == row).map(|entry| entry.1).collect()
    }

    #[test]
    fn stencils_are_cut_at_the_border() {
        let coo = made("stencil5:3");
        assert_eq!(columns_of(&coo, 0), [0, 1, 3]);
        assert_eq!(columns_of(&coo, 4), [1, 3, 4, 5, 7]);
        let coo = made("stencil27:3");
        assert_eq!(columns_of(&coo, 0), [0, 1, 3, 4, 9, 10, 12, 13]);
        assert_eq!(columns_of(&coo, 13), (0..27).collect::<Vec<_>>());
        for (name, size) in [("stencil27:5", stencil27_size(&[5], 0)), ("stencil5:5", stencil5_size(&[5], 0))]
        {
            assert_eq!(made(name).nnz() as u128, size.unwrap().entries);
        }
        assert_eq!((made("stencil27:1").nnz(), made("stencil5:1").nnz()), (1, 1));
    }

    #[test]
    fn bands_wrap_round() {
        let coo = made("band:5x3");
        assert_eq!((columns_of(&coo, 1), columns_of(&coo, 4)), (vec![1, 2, 3], vec![0, 1, 4]));
    }

    #[test]
    #[cfg_attr(miri, ignore = "takes minutes")]
    fn blocks_are_dense_and_near_the_diagonal() {
        let coo = made("blocks:1000x3x4");
        let (first, last) = (columns_of(&coo, 2000), columns_of(&coo, 2003));
        assert_eq!(first, last);
        assert!(first.chunks(4).all(|block| block[0] % 4 == 0 && block[3] == block[0] + 3));
        assert!(first.iter().all(|col| (1200..2800).contains(col)), "{first:?}");
        assert!(made("blocks:1x1x2").nnz() == 4);
    }

    #[test]
    #[cfg_attr(miri, ignore = "takes minutes")]
    fn power_laws_are_skewed_with_the_right_average() {
        let coo = made("powerlaw:20000x16");
        let lengths = coo.row_lengths();
        let average = coo.nnz() as f64 / 20000.0;
        assert!((12.0..17.0).contains(&average), "{average}");
        assert!(*lengths.iter().max().unwrap() > 1000 && *lengths.iter().min().unwrap() >= 1);
        let left = coo.col_indices().iter().filter(|&&col| col < 2500).count() as f64;
        assert!(left / coo.nnz() as f64 > 0.4, "half of the draws fall into the left eighth");
        assert_eq!(made("powerlaw:1x1").nnz(), 1);
    }
}
