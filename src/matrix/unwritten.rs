//! Memory that several threads write, without its being zeroed before. The allocator zeroes what it hands out again,
//! all of it on one thread: that was 8 % of the time of COO → CSR.

use super::huge_pages;
use crate::scalar::lanes::{copy_streaming, prefetch};
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Of a cache.
const LINE_BYTES: usize = 64;

/// Room for so many elements, of which the first are handed out as [`Stretch`]es to be written.
pub(super) struct Room<T> {
    elements: Vec<T>,
    taken: AtomicUsize,
    written: Counters,
}

/// What was written, in several numbers: a single one would be fought over by all threads, each of which has thousands of
/// stretches where entries are dealt. Stretches that are taken one after the other count in turn.
struct Counters(Vec<Apart>);

/// In a pair of cache lines of its own: two are fetched together.
#[repr(align(128))]
struct Apart(AtomicUsize);

impl Counters {
    const COUNT: usize = 16;

    fn new() -> Self {
        Counters((0..Self::COUNT).map(|_| Apart(AtomicUsize::new(0))).collect())
    }

    fn of(&self, turn: usize) -> &AtomicUsize {
        &self.0[turn % Self::COUNT].0
    }

    fn sum(&self) -> usize {
        self.0.iter().map(|counter| counter.0.load(Ordering::Relaxed)).sum()
    }
}

/// What of the room is left to take.
pub(super) struct Left<'a, T> {
    slots: &'a mut [MaybeUninit<T>],
    stretches: usize,
    taken: &'a AtomicUsize,
    written: &'a Counters,
}

/// The room's memory given out a second time, while what was written the first time is still being read.
pub(super) struct Again<'a, T> {
    slots: *mut MaybeUninit<T>,
    /// So many elements were written the first time.
    held: usize,
    length: usize,
    taken: &'a AtomicUsize,
    written: &'a Counters,
    memory: PhantomData<&'a mut [MaybeUninit<T>]>,
}

// SAFETY: it stands for a slice of elements, some of which are read and others written by the threads that have it.
unsafe impl<T: Send + Sync> Sync for Again<'_, T> {}
// SAFETY: as above.
unsafe impl<T: Send + Sync> Send for Again<'_, T> {}

/// Elements for one thread to write, from the first to the last.
pub(super) struct Stretch<'a, T> {
    slots: &'a mut [MaybeUninit<T>],
    length: usize,
    written: &'a AtomicUsize,
}

impl<T: Copy> Room<T> {
    pub(super) fn for_most(count: usize) -> Self {
        let mut elements = Vec::with_capacity(count);
        huge_pages::advise(elements.spare_capacity_mut());
        Room { elements, taken: AtomicUsize::new(0), written: Counters::new() }
    }

    /// Whoever had the memory before has touched it: nothing has to be zeroed by the system.
    pub(super) fn was_touched(&mut self) -> bool {
        huge_pages::was_touched(self.elements.spare_capacity_mut())
    }

    pub(super) fn take(&mut self) -> Left<'_, T> {
        self.begin();
        Left {
            slots: self.elements.spare_capacity_mut(),
            stretches: 0,
            taken: &self.taken,
            written: &self.written,
        }
    }

    /// Everything that was taken must have been written by now, as for [`into_vec`](Self::into_vec).
    pub(super) fn take_again(&mut self) -> Again<'_, T> {
        let held = self.all_written();
        self.begin();
        let slots = self.elements.spare_capacity_mut();
        let (length, slots) = (slots.len(), slots.as_mut_ptr());
        Again { slots, held, length, taken: &self.taken, written: &self.written, memory: PhantomData }
    }

    fn begin(&mut self) {
        (self.taken, self.written) = (AtomicUsize::new(0), Counters::new());
    }

    /// How much was taken: a stretch that was not written is a mistake of the caller's.
    fn all_written(&mut self) -> usize {
        assert!(*self.taken.get_mut() == self.written.sum(), "memory was taken and not written");
        *self.taken.get_mut()
    }

    /// What was taken, all of which must have been written by now.
    pub(super) fn into_vec(mut self) -> Vec<T> {
        let written = self.all_written();
        // SAFETY: stretches follow each other from the first element on, `taken` elements in all; each counts only
        // elements that it wrote, and as many were counted.
        unsafe { self.elements.set_len(written) };
        // What duplicates leave over is given back.
        self.elements.shrink_to_fit();
        self.elements
    }
}

impl<'a, T> Left<'a, T> {
    /// The next so many elements.
    pub(super) fn stretch(&mut self, length: usize) -> Stretch<'a, T> {
        let (slots, rest) = std::mem::take(&mut self.slots).split_at_mut(length);
        self.slots = rest;
        self.stretches += 1;
        self.taken.fetch_add(length, Ordering::Relaxed);
        Stretch { slots, length, written: self.written.of(self.stretches) }
    }
}

impl<'a, T> Again<'a, T> {
    /// What was written the first time.
    ///
    /// # Safety
    /// As long as it is read nobody has a [`place`](Self::place) there.
    pub(super) unsafe fn held(&self, elements: Range<usize>) -> &[T] {
        assert!(elements.start <= elements.end && elements.end <= self.held);
        // SAFETY: inside of what was written; nobody writes there, says the caller.
        unsafe { std::slice::from_raw_parts(self.slots.add(elements.start).cast(), elements.len()) }
    }

    /// Elements to write, for the second time.
    ///
    /// # Safety
    /// Places follow each other from the first element on, and nobody reads there any more.
    pub(super) unsafe fn place(&self, elements: Range<usize>) -> Stretch<'a, T> {
        assert!(elements.start <= elements.end && elements.end <= self.length);
        // SAFETY: inside of the memory, which is borrowed for `'a`; nobody else writes or reads there, says the caller.
        let slots = unsafe { std::slice::from_raw_parts_mut(self.slots.add(elements.start), elements.len()) };
        self.taken.fetch_add(elements.len(), Ordering::Relaxed);
        Stretch { slots, length: elements.len(), written: self.written.of(0) }
    }
}

impl<T: Copy> Stretch<'_, T> {
    /// Asks for the memory of the next so many elements.
    #[inline]
    pub(super) fn ask_for(&self, count: usize) {
        let (start, bytes) = (self.slots.as_ptr(), count * size_of::<T>());
        for byte in (0..bytes + LINE_BYTES - 1).step_by(LINE_BYTES) {
            prefetch(start.wrapping_byte_add(byte));
        }
    }

    /// Writes the next elements.
    #[inline]
    pub(super) fn append(&mut self, elements: &[T]) {
        let slots = self.next(elements.len());
        for (slot, &element) in slots.iter_mut().zip(elements) {
            slot.write(element);
        }
    }

    /// The same past the caches.
    pub(super) fn append_streaming(&mut self, elements: &[T])
    where
        T: bytemuck::Pod,
    {
        copy_streaming(elements, self.next(elements.len()));
    }

    fn next(&mut self, count: usize) -> &mut [MaybeUninit<T>] {
        let (slots, rest) = std::mem::take(&mut self.slots).split_at_mut(count);
        self.slots = rest;
        slots
    }
}

/// Tells the room what was written.
impl<T> Drop for Stretch<'_, T> {
    fn drop(&mut self) {
        self.written.fetch_add(self.length - self.slots.len(), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_become_one_vector() {
        let mut room = Room::for_most(10);
        let mut left = room.take();
        let (mut first, mut second) = (left.stretch(3), left.stretch(2));
        second.append(&[4, 5]);
        first.append(&[1]);
        first.append(&[2, 3]);
        drop((first, second));
        assert_eq!(room.into_vec(), [1, 2, 3, 4, 5]);
        assert!(Room::<u32>::for_most(0).into_vec().is_empty());
    }

    #[test]
    fn stretches_may_be_streamed() {
        let elements: Vec<u32> = (0..1000).collect();
        let mut room = Room::for_most(1000);
        let mut left = room.take();
        let (mut first, mut second) = (left.stretch(301), left.stretch(699));
        second.append_streaming(&elements[301..]);
        first.append_streaming(&elements[..7]);
        first.append(&elements[7..9]);
        first.append_streaming(&elements[9..301]);
        drop((first, second));
        assert_eq!(room.into_vec(), elements);
    }

    #[test]
    #[should_panic(expected = "not written")]
    fn what_was_not_written_is_never_seen() {
        let mut room = Room::for_most(10);
        let mut left = room.take();
        let (_, mut second) = (left.stretch(3), left.stretch(3));
        second.append(&[1, 2, 3]);
        drop(second);
        room.into_vec();
    }

    #[test]
    fn what_is_there_can_be_read_until_it_is_written_again() {
        let mut room = Room::for_most(5);
        room.take().stretch(4).append(&[1, 2, 3, 4]);
        let again = room.take_again();
        // SAFETY: places are given from the first element on, and only where nothing is read any more.
        unsafe {
            let (first, second) = (again.held(0..2).to_vec(), again.held(2..4));
            again.place(0..1).append(&[first[0] + first[1]]);
            assert_eq!(second, [3, 4]);
            again.place(1..2).append(&[7]);
        }
        assert_eq!(room.into_vec(), [3, 7]);
    }

    #[test]
    #[should_panic(expected = "elements.end <= self.held")]
    fn what_was_never_written_is_not_read() {
        let mut room = Room::for_most(5);
        room.take().stretch(2).append(&[1, 2]);
        // SAFETY: nothing is written.
        unsafe { room.take_again().held(1..3) };
    }
}
