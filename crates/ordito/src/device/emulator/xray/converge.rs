//! Lanes of a warp become warp instructions.
//!
//! The emulator runs lane after lane; a GPU runs those together that are at the same place. Which those are is found from the
//! basic blocks that each lane went through: of all blocks that lanes come to next, the one that stands first in the code is
//! run, by all lanes that come to it. So lanes that left a loop wait behind it for those that are still inside, and both sides
//! of a branch meet behind it: as on a GPU, whose compiler puts the points where lanes wait for each other there. In a block
//! all lanes do the same things in the same order, so that the first access of each is one instruction, and the second, and so on.

use crate::device::emulator::xray::trace::{Event, LANES, NOWHERE, WarpTrace, Where, bits};

/// Who is told what the warp does.
pub(crate) trait Observer {
    /// Lanes come to a basic block together.
    fn block(&mut self, site: u32, lanes: u32);
    /// Lanes of the block `site` part: they go on in so many directions.
    fn parted(&mut self, site: u32, lanes: u32);
    /// Lanes do the same thing together; one event for each bit of `lanes`, in rising order.
    fn instruction(&mut self, lanes: u32, events: &[Event]);
}

/// Where a lane is in its events.
#[derive(Debug, Clone, Copy, Default)]
struct Cursor {
    next: usize,
    end: usize,
}

/// Tells the observer all that the lanes did, and forgets it.
pub(crate) fn converge(trace: &mut WarpTrace, observer: &mut impl Observer) {
    let mut cursors = [Cursor::default(); LANES];
    // The block that each lane comes to next: NOWHERE when it has done all.
    let mut coming = [NOWHERE; LANES];
    for lane in 0..LANES {
        let events = &trace.lanes[lane];
        coming[lane] = match events.first() {
            None => NOWHERE,
            Some(event) if event.place == Where::Block => event.site,
            Some(_) => trace.inside[lane],
        };
        // What begins in the middle of a block has no event for the block's beginning.
        cursors[lane].next = 0;
    }
    let mut group: Vec<Event> = Vec::with_capacity(LANES);
    loop {
        let first = coming.iter().fold(NOWHERE, |first, &site| first.min(site));
        if first == NOWHERE {
            break;
        }
        let lanes = (0..LANES).fold(0_u32, |mask, lane| mask | u32::from(coming[lane] == first) << lane);
        let mut begun = 0;
        let (mut most, mut fewest) = (0, usize::MAX);
        for lane in bits(lanes) {
            let events = &trace.lanes[lane];
            let cursor = &mut cursors[lane];
            if events[cursor.next].place == Where::Block {
                begun |= 1 << lane;
                cursor.next += 1;
            }
            let rest = &events[cursor.next..];
            let length = rest.iter().position(|event| event.place == Where::Block).unwrap_or(rest.len());
            cursor.end = cursor.next + length;
            (most, fewest) = (most.max(length), fewest.min(length));
        }
        if begun != 0 {
            observer.block(first, begun);
        }
        for step in 0..most {
            let has = |lane: usize| fewest == most || cursors[lane].next + step < cursors[lane].end;
            let mut left = bits(lanes).filter(|&lane| has(lane)).fold(0_u32, |mask, lane| mask | 1 << lane);
            // One instruction, unless lanes went through functions that were not made part of the kernel.
            while left != 0 {
                let leader = left.trailing_zeros() as usize;
                let site = trace.lanes[leader][cursors[leader].next + step].site;
                group.clear();
                let mut together = 0;
                for lane in bits(left) {
                    let event = trace.lanes[lane][cursors[lane].next + step];
                    if event.site == site {
                        group.push(event);
                        together |= 1 << lane;
                    }
                }
                observer.instruction(together, &group);
                left &= !together;
            }
        }
        let (mut least, mut greatest) = (NOWHERE, 0);
        for lane in bits(lanes) {
            let cursor = &mut cursors[lane];
            cursor.next = cursor.end;
            trace.inside[lane] = first;
            coming[lane] = trace.lanes[lane].get(cursor.next).map_or(NOWHERE, |event| event.site);
            (least, greatest) = (least.min(coming[lane]), greatest.max(coming[lane]));
        }
        if least != greatest {
            observer.parted(first, lanes);
        }
    }
    trace.lanes.iter_mut().for_each(Vec::clear);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Told(Vec<(char, u32, u32)>);

    impl Observer for Told {
        fn block(&mut self, site: u32, lanes: u32) {
            self.0.push(('b', site, lanes));
        }
        fn parted(&mut self, site: u32, lanes: u32) {
            self.0.push(('p', site, lanes));
        }
        fn instruction(&mut self, lanes: u32, events: &[Event]) {
            assert_eq!(lanes.count_ones() as usize, events.len());
            self.0.push(('i', events[0].site, lanes));
        }
    }

    /// A lane that comes through these blocks, with an access one byte behind the beginning of each.
    fn lane(blocks: &[u32]) -> Vec<Event> {
        blocks
            .iter()
            .flat_map(|&site| [Event::of(Where::Block, site), Event::of(Where::Global, site + 1)])
            .collect()
    }

    fn told(lanes: &[&[u32]]) -> Vec<(char, u32, u32)> {
        let (mut trace, mut told) = (WarpTrace::new(), Told::default());
        lanes.iter().zip(&mut trace.lanes).for_each(|(blocks, events)| *events = lane(blocks));
        converge(&mut trace, &mut told);
        assert!(trace.lanes.iter().all(Vec::is_empty));
        told.0
    }

    #[test]
    fn lanes_that_left_a_loop_wait_behind_it() {
        // An outer loop of two steps (10 … 30), an inner one (20) of 2 and 1, then 1 and 2 steps.
        let found = told(&[&[10, 20, 20, 30, 10, 20, 30], &[10, 20, 30, 10, 20, 20, 30]]);
        let instructions: Vec<(u32, u32)> =
            found.iter().filter(|told| told.0 == 'i').map(|told| (told.1 - 1, told.2)).collect();
        let both = 0b11;
        assert_eq!(
            instructions,
            [(10, both), (20, both), (20, 1), (30, both), (10, both), (20, both), (20, 2), (30, both)]
        );
        assert_eq!(found.iter().filter(|told| told.0 == 'p').count(), 2);
    }

    #[test]
    fn both_sides_of_a_branch_meet_behind_it() {
        let found = told(&[&[10, 20, 40], &[10, 30, 40], &[10, 20, 40]]);
        let blocks: Vec<(u32, u32)> =
            found.iter().filter(|told| told.0 == 'b').map(|told| (told.1, told.2)).collect();
        assert_eq!(blocks, [(10, 0b111), (20, 0b101), (30, 0b010), (40, 0b111)]);
    }

    #[test]
    fn what_was_cut_by_a_barrier_goes_on() {
        let mut trace = WarpTrace::new();
        let mut told = Told::default();
        trace.lanes[0] = lane(&[10]);
        converge(&mut trace, &mut told);
        trace.lanes[0] = vec![Event::of(Where::Shared, 15)];
        converge(&mut trace, &mut told);
        assert_eq!(told.0, [('b', 10, 1), ('i', 11, 1), ('i', 15, 1)], "one block");
    }
}
