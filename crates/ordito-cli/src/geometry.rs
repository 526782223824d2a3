//! `--block` and `--local-size`: how kernels of the ladders are launched.

use ordito::device::{Adjustable, Geometry};

/// A block of threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Block {
    /// `256`: so many threads.
    Threads(u32),
    /// `16x32`: threads for so many rows and columns of the result.
    Shape([u32; 2]),
}

pub(crate) fn parse_block(text: &str) -> Result<Block, String> {
    let number = |part: &str| {
        part.parse().map_err(|_| format!("`{text}` is no block, such as `256` or, of gemm, `16x32`"))
    };
    let block = match text.split_once('x') {
        Some((rows, cols)) => Block::Shape([number(rows)?, number(cols)?]),
        None => Block::Threads(number(text)?),
    };
    checked(geometry_of(Some(block), None)).map(|_| block)
}

/// A local size; `None` is the rule of the study.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LocalSize(Option<u32>);

pub(crate) fn parse_local_size(text: &str) -> Result<LocalSize, String> {
    if text == "mean" {
        return Ok(LocalSize(None));
    }
    let size = text.parse().map_err(|_| format!("`{text}` is neither a number nor `mean`"))?;
    checked(geometry_of(None, Some(size))).map(|_| LocalSize(Some(size)))
}

fn checked(geometry: Geometry) -> Result<Geometry, String> {
    geometry.check().map_err(|refusal| refusal.to_string())
}

fn geometry_of(block: Option<Block>, local_size: Option<u32>) -> Geometry {
    let (threads_per_block, block_shape) = match block {
        None => (None, None),
        Some(Block::Threads(threads)) => (Some(threads), None),
        Some(Block::Shape(shape)) => (None, Some(shape)),
    };
    Geometry { threads_per_block, block_shape, local_size }
}

/// Every block with every local size; where nothing was asked for, what kernels have by themselves. Refuses what no kernel leaves
/// open of those that were selected.
pub(crate) fn geometries(
    blocks: &[Block],
    local_sizes: &[LocalSize],
    operation: &str,
    open: &[Adjustable],
) -> anyhow::Result<Vec<Geometry>> {
    let threads = open.contains(&Adjustable::ThreadsPerBlock);
    let shape = open.contains(&Adjustable::BlockShape);
    let wrong = blocks.iter().find(|block| !if matches!(block, Block::Threads(_)) { threads } else { shape });
    if wrong.is_some() {
        anyhow::bail!(
            "--block: {}",
            match (threads, shape) {
                (true, _) => format!("these kernels of {operation} take a number of threads, such as 256"),
                (_, true) =>
                    format!("these kernels of {operation} take rows and columns of C, such as 16x32"),
                _ => format!(
                    "no selected kernel of {operation} leaves it open; the CUDA ladder of spmm, and kernel1 and kernel2 of gemm do"
                ),
            }
        );
    }
    anyhow::ensure!(
        local_sizes.is_empty() || open.contains(&Adjustable::LocalSize),
        "--local-size: no selected kernel of {operation} has one; CSR_Adaptive of spmm has"
    );
    let blocks: Vec<Option<Block>> = or_none(blocks.iter().copied().map(Some).collect());
    let local_sizes: Vec<Option<u32>> = or_none(local_sizes.iter().map(|size| size.0).collect());
    let with_all = |block| local_sizes.iter().map(move |&size| geometry_of(block, size));
    Ok(blocks.into_iter().flat_map(with_all).collect())
}

fn or_none<T>(some: Vec<Option<T>>) -> Vec<Option<T>> {
    if some.is_empty() { vec![None] } else { some }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_numbers_or_rectangles() {
        assert_eq!(parse_block("256"), Ok(Block::Threads(256)));
        assert_eq!(parse_block("16x32"), Ok(Block::Shape([16, 32])));
        let told = |text: &str| parse_block(text).unwrap_err();
        assert_eq!(told("100"), "blocks of 100 threads: a multiple of 32 is needed");
        assert_eq!(told("64x32"), "2048 threads per block, the limit is 1024");
        assert_eq!(told("a"), "`a` is no block, such as `256` or, of gemm, `16x32`");
        assert!(parse_block("").is_err() && parse_block("16x").is_err() && parse_block("0x4").is_err());
        assert_eq!(parse_local_size("mean"), Ok(LocalSize(None)));
        assert_eq!(parse_local_size("1024"), Ok(LocalSize(Some(1024))));
        assert!(parse_local_size("0").is_err() && parse_local_size("4096").is_err());
        assert_eq!(parse_local_size("large"), Err("`large` is neither a number nor `mean`".into()));
    }

    #[test]
    fn every_block_goes_with_every_local_size() {
        let open = [Adjustable::ThreadsPerBlock, Adjustable::LocalSize];
        let blocks = [Block::Threads(64), Block::Threads(512)];
        let sizes = [LocalSize(None), LocalSize(Some(256))];
        let found = geometries(&blocks, &sizes, "spmm", &open).unwrap();
        let found: Vec<String> = found.iter().map(Geometry::to_string).collect();
        let expected = ["block 64", "block 64, local size 256", "block 512", "block 512, local size 256"];
        assert_eq!(found, expected);
        assert_eq!(geometries(&[], &[], "spmm", &open).unwrap(), [Geometry::default()]);
        let told = |blocks: &[Block], open: &[Adjustable]| {
            geometries(blocks, &sizes[..0], "that", open).unwrap_err().to_string()
        };
        assert!(told(&[Block::Shape([8, 8])], &open).contains("a number of threads"));
        assert!(told(&blocks, &[Adjustable::BlockShape]).contains("rows and columns"));
        assert!(told(&blocks, &[]).contains("no selected kernel of that"));
        assert!(geometries(&[], &sizes, "gemm", &[]).is_err());
    }
}
