//! Brackets of C++: commas in them separate nothing.

/// Those that are open. `<` and `>` in others compare.
#[derive(Debug, Default)]
pub(crate) struct Brackets {
    angle: i32,
    others: i32,
}

impl Brackets {
    pub(crate) fn pass(&mut self, c: char) {
        match c {
            '(' | '[' | '{' => self.others += 1,
            ')' | ']' | '}' => self.others -= 1,
            '<' if self.others == 0 => self.angle += 1,
            '>' if self.others == 0 => self.angle -= 1,
            _ => {}
        }
    }

    /// Are none open?
    pub(crate) fn is_outside(&self) -> bool {
        self.angle == 0 && self.others == 0
    }
}
