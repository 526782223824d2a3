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

/// What each lane has still to do.
type Ahead<'a> = [std::slice::Iter<'a, Event>; LANES];

/// Tells the observer all that the lanes did, and forgets it. `inside`: the basic block that each lane is in, where its events begin in
/// the middle of it.
pub(crate) fn converge(trace: &mut WarpTrace, inside: &mut [u32; LANES], observer: &mut impl Observer) {
    let mut ahead: Ahead<'_> = std::array::from_fn(|lane| trace.lanes[lane].iter());
    // The block that each lane comes to next: NOWHERE when it has done all.
    let mut coming: [u32; LANES] = std::array::from_fn(|lane| match ahead[lane].as_slice().first() {
        None => NOWHERE,
        Some(event) if event.place == Where::Block => event.site,
        // What begins in the middle of a block has no event for the block's beginning.
        Some(_) => inside[lane],
    });
    loop {
        let first = coming.iter().fold(NOWHERE, |first, &site| first.min(site));
        if first == NOWHERE {
            break;
        }
        let lanes = (0..LANES).fold(0_u32, |mask, lane| mask | u32::from(coming[lane] == first) << lane);
        let mut begun = 0;
        for lane in bits(lanes) {
            if ahead[lane].as_slice().first().is_some_and(|event| event.place == Where::Block) {
                begun |= 1 << lane;
                ahead[lane].next();
            }
        }
        if begun != 0 {
            observer.block(first, begun);
        }
        run_block(&mut ahead, lanes, observer);
        let (mut least, mut greatest) = (NOWHERE, 0);
        for lane in bits(lanes) {
            inside[lane] = first;
            coming[lane] = ahead[lane].as_slice().first().map_or(NOWHERE, |event| event.site);
            (least, greatest) = (least.min(coming[lane]), greatest.max(coming[lane]));
        }
        if least != greatest {
            observer.parted(first, lanes);
        }
    }
    trace.lanes.iter_mut().for_each(Vec::clear);
}

/// What these lanes do until the next block begins, or they have done all.
fn run_block(ahead: &mut Ahead<'_>, lanes: u32, observer: &mut impl Observer) {
    let mut group = [Event::of(Where::Block, 0); LANES];
    let mut left = lanes;
    while left != 0 {
        // The next of each lane is one instruction, unless lanes went through functions that were not made part of the kernel:
        // then there are several, and each lane waits for the others behind its own.
        let mut step = left;
        while step != 0 {
            let (mut together, mut others, mut count, mut site) = (0_u32, 0_u32, 0, NOWHERE);
            for lane in bits(step) {
                let event = match ahead[lane].as_slice().first() {
                    Some(event) if event.place != Where::Block => event,
                    _ => {
                        left &= !(1 << lane);
                        continue;
                    }
                };
                if count == 0 {
                    site = event.site;
                }
                if event.site == site {
                    group[count % LANES] = *event;
                    count += 1;
                    together |= 1 << lane;
                    ahead[lane].next();
                } else {
                    others |= 1 << lane;
                }
            }
            if count > 0 {
                observer.instruction(together, &group[..count]);
            }
            step = others;
        }
    }
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
        let (mut trace, mut inside, mut told) = (WarpTrace::new(), [NOWHERE; LANES], Told::default());
        lanes.iter().zip(&mut trace.lanes).for_each(|(blocks, events)| *events = lane(blocks));
        converge(&mut trace, &mut inside, &mut told);
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
        let (mut trace, mut inside) = (WarpTrace::new(), [NOWHERE; LANES]);
        let mut told = Told::default();
        trace.lanes[0] = lane(&[10]);
        converge(&mut trace, &mut inside, &mut told);
        trace.lanes[0] = vec![Event::of(Where::Shared, 15)];
        converge(&mut trace, &mut inside, &mut told);
        assert_eq!(told.0, [('b', 10, 1), ('i', 11, 1), ('i', 15, 1)], "one block");
    }
}
