//! What the emulator has to say about a kernel that does what is not allowed.

use crate::device::emulator::source_lines::SourceLines;

/// A sentence in which some places are still addresses in the kernel's machine code.
#[derive(Debug)]
pub(crate) struct Fault {
    pieces: Vec<Piece>,
}

#[derive(Debug)]
enum Piece {
    Text(String),
    /// The instruction behind a call.
    Place(usize),
}

impl Fault {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Fault { pieces: vec![Piece::Text(text.into())] }
    }

    /// What was being done, before the sentence.
    pub(crate) fn during(mut self, what: &str) -> Self {
        self.pieces.insert(0, Piece::Text(format!("{what}: ")));
        self
    }

    pub(crate) fn text(mut self, text: impl Into<String>) -> Self {
        self.pieces.push(Piece::Text(text.into()));
        self
    }

    /// ` at file.cu:17`, where that can be found out.
    pub(crate) fn at(mut self, return_address: usize) -> Self {
        self.pieces.push(Piece::Place(return_address));
        self
    }

    /// The sentence.
    pub(crate) fn message(&self, lines: &SourceLines<'_>) -> String {
        let text = |piece: &Piece| match piece {
            Piece::Text(text) => text.clone(),
            Piece::Place(address) => lines.find(*address).map_or(String::new(), |line| format!(" at {line}")),
        };
        self.pieces.iter().map(text).collect()
    }
}

/// The sizes of a launch, x first.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    pub(crate) grid: [u32; 3],
    pub(crate) block: [u32; 3],
}

impl Shape {
    /// Place of thread `number` in a block.
    pub(crate) fn thread(&self, number: usize) -> [u32; 3] {
        place(number as u64, self.block)
    }
    /// Place of block `number` in the grid.
    pub(crate) fn block(&self, number: u32) -> [u32; 3] {
        place(number.into(), self.grid)
    }
    pub(crate) fn name_thread(&self, number: usize) -> String {
        let [x, y, z] = self.thread(number);
        format!("thread ({x},{y},{z})")
    }
    pub(crate) fn name_block(&self, number: u32) -> String {
        let [x, y, z] = self.block(number);
        format!("block ({x},{y},{z})")
    }
}

fn place(number: u64, [x, y, _]: [u32; 3]) -> [u32; 3] {
    let (x, y) = (u64::from(x), u64::from(y));
    [(number % x) as u32, (number / x % y) as u32, (number / x / y) as u32]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn x_runs_fastest() {
        let shape = Shape { grid: [2, 3, 4], block: [4, 2, 2] };
        assert_eq!(
            [0, 3, 4, 8, 15].map(|n| shape.thread(n)),
            [[0, 0, 0], [3, 0, 0], [0, 1, 0], [0, 0, 1], [3, 1, 1]]
        );
        assert_eq!(shape.name_block(23), "block (1,2,3)");
        assert_eq!(shape.name_thread(15), "thread (3,1,1)");
    }
}
