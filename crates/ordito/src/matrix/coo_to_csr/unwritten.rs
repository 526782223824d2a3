//! Memory that several threads fill, and that is never zeroed before. The allocator zeroes what it hands out again,
//! all of it on one thread: that was 8 % of the time of COO → CSR.

use crate::matrix::huge_pages;
use crate::simd::{copy_streaming, prefetch};
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Of a cache.
const LINE_BYTES: usize = 64;

/// Room for so many elements, of which the first are handed out as [`Stretch`]es to be written.
pub(crate) struct Room<T> {
    elements: Vec<T>,
    taken: usize,
    written: Counters,
}

/// What was written, in several numbers: a single one would be fought over by all threads, each of which has thousands of
/// stretches where entries are dealt. Stretches that are taken one after the other count in turn.
#[derive(Default)]
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
pub(crate) struct Left<'a, T> {
    slots: &'a mut [MaybeUninit<T>],
    stretches: usize,
    taken: &'a mut usize,
    written: &'a Counters,
}

/// Elements for one thread to write, from the first to the last.
pub(crate) struct Stretch<'a, T> {
    slots: &'a mut [MaybeUninit<T>],
    length: usize,
    written: &'a AtomicUsize,
}

impl<T: Copy> Room<T> {
    pub(crate) fn for_most(count: usize) -> Self {
        let mut elements = Vec::with_capacity(count);
        huge_pages::advise(elements.spare_capacity_mut());
        Room { elements, taken: 0, written: Counters::default() }
    }

    /// Whoever had the memory before has touched it: nothing has to be zeroed by the system.
    pub(crate) fn was_touched(&mut self) -> bool {
        huge_pages::was_touched(self.elements.spare_capacity_mut())
    }

    pub(crate) fn take(&mut self) -> Left<'_, T> {
        (self.taken, self.written) = (0, Counters::new());
        Left {
            slots: self.elements.spare_capacity_mut(),
            stretches: 0,
            taken: &mut self.taken,
            written: &self.written,
        }
    }

    /// What was taken. All of it must have been written by now: a stretch that was not is a mistake of the caller's.
    pub(crate) fn into_vec(mut self) -> Vec<T> {
        assert!(self.taken == self.written.sum(), "memory was taken and not written");
        // SAFETY: stretches follow each other from the first element on, `taken` elements in all; each counts only
        // elements that it wrote, and as many were counted.
        unsafe { self.elements.set_len(self.taken) };
        self.elements
    }
}

impl<'a, T> Left<'a, T> {
    /// The next so many elements.
    pub(crate) fn stretch(&mut self, length: usize) -> Stretch<'a, T> {
        let (slots, rest) = std::mem::take(&mut self.slots).split_at_mut(length);
        self.slots = rest;
        self.stretches += 1;
        *self.taken += length;
        Stretch { slots, length, written: self.written.of(self.stretches) }
    }
}

impl<T: Copy> Stretch<'_, T> {
    /// Asks for the memory of the next so many elements.
    #[inline]
    pub(crate) fn ask_for(&self, count: usize) {
        let (start, bytes) = (self.slots.as_ptr(), count * size_of::<T>());
        for byte in (0..bytes + LINE_BYTES - 1).step_by(LINE_BYTES) {
            prefetch(start.wrapping_byte_add(byte));
        }
    }

    /// Writes the next elements.
    #[inline]
    pub(crate) fn append(&mut self, elements: &[T]) {
        let slots = self.next(elements.len());
        for (slot, &element) in slots.iter_mut().zip(elements) {
            slot.write(element);
        }
    }

    /// Writes by non-temporal stores.
    pub(crate) fn append_streaming(&mut self, elements: &[T])
    where
        T: bytemuck::Pod,
    {
        copy_streaming(elements, self.next(elements.len()));
    }

    fn next(&mut self, count: usize) -> &mut [MaybeUninit<T>] {
        // Before the slots are taken out: `drop` counts those that are gone.
        assert!(count <= self.slots.len(), "a stretch has no such room");
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
    #[cfg_attr(miri, ignore = "there is assembler in it")]
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
    fn too_much_for_a_stretch_does_not_count_as_written() {
        let mut room = Room::for_most(3);
        let mut left = room.take();
        let mut stretch = left.stretch(2);
        let overlong = std::panic::AssertUnwindSafe(|| stretch.append(&[1, 2, 3]));
        assert!(std::panic::catch_unwind(overlong).is_err());
        drop(stretch);
        assert_eq!((room.taken, room.written.sum()), (2, 0));
    }
}
