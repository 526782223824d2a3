//! Ranks as threads of one process: what tests run on, and what needs no MPI.

use crate::ranks::buffer::Buffer;
use crate::ranks::{Exchange, Message, Patience, Ranks, RanksError, Tag};
use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// From whom, to whom, in which exchange.
type Way = (usize, usize, u16);

#[derive(Default)]
struct Post {
    /// Messages that were sent and not yet fetched, in the order in which they were sent.
    boxes: Mutex<HashMap<Way, VecDeque<Vec<u8>>>>,
    /// The first rank that failed, and why.
    failure: Mutex<Option<(usize, String)>>,
}

/// A panic elsewhere is told by `failure`; what the lock guards is whole.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// One of several threads that are ranks to each other.
pub struct Threads {
    rank: usize,
    count: usize,
    host: usize,
    /// How often memory can be shared from now on.
    shared_times: AtomicUsize,
    post: Arc<Post>,
    patience: Patience,
}

impl Threads {
    /// The same, sending everything as messages.
    pub fn without_shared_memory(self) -> Self {
        self.sharing_memory_only(0)
    }

    /// The same on a computer that has memory to share so many times, and then no more.
    pub fn sharing_memory_only(self, times: usize) -> Self {
        Threads { shared_times: AtomicUsize::new(times), ..self }
    }
}

/// Runs `work` on so many ranks, each a thread; their results in the order of ranks. A rank that panics has failed, as others see it.
///
/// ```
/// use ordito_mpi::ranks::{Collective, Patience, Ranks, on_threads};
/// let totals = on_threads(3, Patience::default(), |ranks| {
///     let mut numbers = [ranks.rank() as f64 + 1.0];
///     (&ranks as &dyn Ranks).sum(&mut numbers)?;
///     Ok::<_, ordito_mpi::ranks::RanksError>(numbers[0])
/// });
/// assert!(totals.iter().all(|total| *total == Ok(6.0)));
/// ```
pub fn on_threads<R: Send>(count: usize, patience: Patience, work: impl Fn(Threads) -> R + Sync) -> Vec<R> {
    on_hosts(count, count, patience, work)
}

/// The same, as if only so many of them ran on one computer.
pub fn on_hosts<R: Send>(
    count: usize,
    ranks_per_host: usize,
    patience: Patience,
    work: impl Fn(Threads) -> R + Sync,
) -> Vec<R> {
    let post = Arc::new(Post::default());
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..count)
            .map(|rank| {
                let (post, patience, work) = (post.clone(), patience.clone(), &work);
                scope.spawn(move || {
                    let panicked = TellIfPanicking { rank, post: post.clone() };
                    let host = rank / ranks_per_host.max(1);
                    let result = work(Threads {
                        rank,
                        count,
                        host,
                        shared_times: AtomicUsize::new(usize::MAX),
                        post,
                        patience,
                    });
                    drop(panicked);
                    result
                })
            })
            .collect();
        let resumed = |payload| std::panic::resume_unwind(payload);
        threads.into_iter().map(|thread| thread.join().unwrap_or_else(resumed)).collect()
    })
}

struct TellIfPanicking {
    rank: usize,
    post: Arc<Post>,
}

impl Drop for TellIfPanicking {
    fn drop(&mut self) {
        if std::thread::panicking() {
            locked(&self.post.failure).get_or_insert((self.rank, "panicked".to_owned()));
        }
    }
}

impl Ranks for Threads {
    fn rank(&self) -> usize {
        self.rank
    }
    fn count(&self) -> usize {
        self.count
    }
    fn exchange(
        &self,
        tag: Tag,
        outgoing: &[Message],
        incoming: &[Message],
    ) -> Result<Box<dyn Exchange>, RanksError> {
        assert!(outgoing.iter().chain(incoming).all(|message| message.rank < self.count), "no such rank");
        let not_empty = |messages: &[Message]| {
            messages.iter().filter(|message| !message.bytes.is_empty()).cloned().collect::<Vec<_>>()
        };
        Ok(Box::new(Letters {
            rank: self.rank,
            tag: tag.0,
            post: self.post.clone(),
            buffers: [Buffer::of(outgoing)?, Buffer::of(incoming)?],
            messages: [not_empty(outgoing), not_empty(incoming)],
            awaited: Vec::new(),
        }))
    }
    fn failure(&self) -> Option<RanksError> {
        let failure = locked(&self.post.failure);
        let (rank, why) = failure.as_ref().filter(|(rank, _)| *rank != self.rank)?;
        Some(RanksError::Failed { rank: *rank, why: why.clone() })
    }
    fn fail(&self, why: &str) {
        locked(&self.post.failure).get_or_insert((self.rank, why.to_owned()));
    }
    fn patience(&self) -> &Patience {
        &self.patience
    }
    fn host(&self) -> String {
        self.host.to_string()
    }
    fn shares_memory(&self) -> bool {
        self.shared_times
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1))
            .is_ok()
    }
    fn name(&self) -> String {
        format!("{} threads as ranks", self.count)
    }
}

struct Letters {
    rank: usize,
    tag: u16,
    post: Arc<Post>,
    /// Outgoing, incoming.
    buffers: [Buffer; 2],
    messages: [Vec<Message>; 2],
    /// Indices of incoming messages of this round that have not come.
    awaited: Vec<usize>,
}

impl Letters {
    fn assert_at_rest(&self) {
        assert!(self.awaited.is_empty(), "a round is under way");
    }
}

impl Exchange for Letters {
    fn outgoing(&mut self) -> &mut [u8] {
        self.assert_at_rest();
        self.buffers[0].bytes_mut()
    }
    fn incoming(&self) -> &[u8] {
        self.assert_at_rest();
        self.buffers[1].bytes()
    }
    fn start(&mut self) -> Result<(), RanksError> {
        self.assert_at_rest();
        let mut boxes = locked(&self.post.boxes);
        for message in &self.messages[0] {
            let letter = self.buffers[0].bytes()[message.bytes.clone()].to_vec();
            boxes.entry((self.rank, message.rank, self.tag)).or_default().push_back(letter);
        }
        self.awaited = (0..self.messages[1].len()).collect();
        Ok(())
    }
    fn poll(&mut self) -> Result<bool, RanksError> {
        if self.awaited.is_empty() {
            return Ok(true);
        }
        let mut boxes = locked(&self.post.boxes);
        // From each rank in order: a message that has not come keeps those behind it waiting.
        let mut late = Vec::new();
        let (messages, rank, tag, incoming) = (&self.messages[1], self.rank, self.tag, &mut self.buffers[1]);
        self.awaited.retain(|&index| {
            let message = &messages[index];
            if late.contains(&message.rank) {
                return true;
            }
            let Some(letter) = boxes.get_mut(&(message.rank, rank, tag)).and_then(VecDeque::pop_front) else {
                late.push(message.rank);
                return true;
            };
            incoming.bytes_mut()[message.bytes.clone()].copy_from_slice(&letter);
            false
        });
        Ok(self.awaited.is_empty())
    }
    fn pending(&mut self) -> Vec<usize> {
        let mut ranks: Vec<usize> = self.awaited.iter().map(|&index| self.messages[1][index].rank).collect();
        ranks.dedup();
        ranks
    }
}
