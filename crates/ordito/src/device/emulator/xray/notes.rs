//! Where the thread that runs notes what it does. A kernel mostly writes there itself: to call the emulator for every access would take
//! longer than what it notes.

use crate::device::emulator::xray::trace::{Event, Where};
use std::cell::UnsafeCell;
use std::fmt;

/// Of so many accesses in the code it is remembered where they went; as in `cuda_emulator.h`.
const SEEN: usize = 64;

/// Where an access in the code went last: mostly it goes there again; as in `cuda_emulator.h`.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub(crate) struct Seen {
    pub(crate) start: usize,
    pub(crate) len: usize,
    /// What counts as 0 there.
    pub(crate) origin: usize,
    pub(crate) place: Where,
}

/// What a kernel reads and writes; as in `cuda_emulator.h`.
#[repr(C)]
pub(crate) struct Page {
    /// The room that is left for events.
    next: *mut Event,
    end: *mut Event,
    seen: [Seen; SEEN],
}

// `cuda_emulator.h` says the same of its side.
const _: () =
    assert!(size_of::<Event>() == 16 && size_of::<Seen>() == 32 && size_of::<Page>() == 16 + SEEN * 32);

/// A page that a kernel and the emulator write to in turns, in the room behind the events of a lane.
pub(crate) struct Notes {
    page: Box<UnsafeCell<Page>>,
}

impl fmt::Debug for Notes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Notes").finish_non_exhaustive()
    }
}

impl Notes {
    /// Without any room.
    pub(crate) fn new() -> Self {
        let nowhere = Seen { start: 0, len: 0, origin: 0, place: Where::Global };
        let (next, end) = (std::ptr::null_mut(), std::ptr::null_mut());
        Notes { page: Box::new(UnsafeCell::new(Page { next, end, seen: [nowhere; SEEN] })) }
    }

    /// For a kernel; valid as long as these notes.
    pub(crate) fn page(&self) -> *mut Page {
        self.page.get()
    }

    /// From now on what is noted is written behind these events, where they have room.
    ///
    /// # Safety
    /// They stay as they are until [`close`](Self::close).
    #[inline]
    pub(crate) unsafe fn open(&mut self, events: &mut Vec<Event>) {
        let room = events.spare_capacity_mut().as_mut_ptr_range();
        let page = self.page.get_mut();
        (page.next, page.end) = (room.start.cast(), room.end.cast());
    }

    /// What has been noted belongs to the events; there is no room any more.
    ///
    /// # Safety
    /// They are those that were opened last, or nothing has been opened since this was called last.
    #[inline]
    pub(crate) unsafe fn close(&mut self, events: &mut Vec<Event>) {
        let page = self.page.get_mut();
        if !page.next.is_null() {
            let written = (page.next as usize - events.as_ptr() as usize) / size_of::<Event>();
            // SAFETY: so many, whole ones, have been written one behind the other within the room that the vector has.
            unsafe { events.set_len(written) };
        }
        (page.next, page.end) = (std::ptr::null_mut(), std::ptr::null_mut());
    }

    /// Notes one thing more; `false`: there is no room.
    #[inline]
    pub(crate) fn note(&mut self, event: Event) -> bool {
        let page = self.page.get_mut();
        let has_room = page.next != page.end;
        if has_room {
            let Event { address, site, bytes, place, doing } = event;
            // SAFETY: there is room, which nobody else writes to as long as it is open. Each field by itself: as a whole
            // it would be put together in memory first and read from there before that has arrived.
            unsafe {
                (&raw mut (*page.next).address).write(address);
                (&raw mut (*page.next).site).write(site);
                (&raw mut (*page.next).bytes).write(bytes);
                (&raw mut (*page.next).place).write(place);
                (&raw mut (*page.next).doing).write(doing);
                page.next = page.next.add(1);
            }
        }
        has_room
    }

    /// Where the access at this place in the code went last.
    #[inline]
    pub(crate) fn seen(&mut self, site: u32) -> &mut Seen {
        &mut self.page.get_mut().seen[site as usize % SEEN]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_noted_is_behind_what_was_there() {
        let event = |address| Event { address, ..Event::of(Where::Global, 7) };
        let (mut notes, mut events) = (Notes::new(), Vec::with_capacity(3));
        assert!(!notes.note(event(1)), "no room");
        events.push(event(1));
        // SAFETY: the vector is not touched in between.
        unsafe {
            notes.open(&mut events);
            assert!(notes.note(event(2)) && notes.note(event(3)));
            assert_eq!(notes.note(event(4)), events.capacity() > 3);
            notes.close(&mut events);
        }
        let found: Vec<u64> = events.iter().map(|event| event.address).take(3).collect();
        assert_eq!(found, [1, 2, 3]);
        assert!(!notes.note(event(5)), "closed");
        // SAFETY: nothing is open.
        unsafe { notes.close(&mut Vec::new()) };
    }
}
