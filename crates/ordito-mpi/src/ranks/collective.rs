//! What all ranks do together, written over messages between two: the same bits with every MPI, whatever arrives first.

use crate::ranks::{Exchange, Message, Ranks, RanksError, Tag};

/// Calls that every rank makes.
pub trait Collective {
    /// Bytes for every rank, and what every rank had for this one.
    fn deliver(&self, tag: Tag, for_each: &[Vec<u8>]) -> Result<Vec<Vec<u8>>, RanksError>;
    /// The bytes of every rank, in the order of ranks.
    fn all_gather(&self, mine: &[u8]) -> Result<Vec<Vec<u8>>, RanksError>;
    /// Numbers added up over all ranks, in an order that depends on the number of ranks alone: every rank gets the same bits.
    fn sum(&self, numbers: &mut [f64]) -> Result<(), RanksError>;
    /// Nobody goes on before all have come here.
    fn barrier(&self) -> Result<(), RanksError>;
    /// Did it work out everywhere? If not, what the lowest rank that failed says, on all ranks.
    fn agree<T, E: ToString>(&self, mine: Result<T, E>) -> Result<T, RanksError>;
    /// The same on all ranks? `what` says what it is.
    fn same(&self, what: &str, mine: &str) -> Result<(), RanksError>;
    /// The text of rank 0, on all ranks.
    #[allow(clippy::wrong_self_convention)] // it comes from rank 0, not from a conversion
    fn from_first(&self, text: &str) -> Result<String, RanksError>;
}

/// Starts the messages, and waits for them.
fn once(
    ranks: &dyn Ranks,
    tag: Tag,
    outgoing: &[Message],
    incoming: &[Message],
    fill: impl FnOnce(&mut [u8]),
) -> Result<Box<dyn Exchange>, RanksError> {
    let mut exchange = ranks.exchange(tag, outgoing, incoming)?;
    fill(exchange.outgoing());
    exchange.start()?;
    ranks.wait(&mut *exchange)?;
    Ok(exchange)
}

/// Places of so many bytes for every rank, one behind the other. Each begins at a multiple of 64.
fn in_line(sizes: impl Iterator<Item = usize>) -> Vec<Message> {
    let mut start = 0usize;
    sizes
        .enumerate()
        .map(|(rank, size)| {
            let bytes = start..start + size;
            start = bytes.end.next_multiple_of(64);
            Message { rank, bytes }
        })
        .collect()
}

impl Collective for dyn Ranks + '_ {
    fn deliver(&self, tag: Tag, for_each: &[Vec<u8>]) -> Result<Vec<Vec<u8>>, RanksError> {
        assert_eq!(for_each.len(), self.count(), "something for every rank");
        // How much comes, first.
        let lengths = in_line((0..self.count()).map(|_| size_of::<u64>()));
        let told = once(self, tag, &lengths, &lengths, |out| {
            for (message, bytes) in lengths.iter().zip(for_each) {
                out[message.bytes.clone()].copy_from_slice(&(bytes.len() as u64).to_le_bytes());
            }
        })?;
        let length = |message: &Message| {
            let mut bytes = [0; 8];
            bytes.copy_from_slice(&told.incoming()[message.bytes.clone()]);
            u64::from_le_bytes(bytes) as usize
        };
        let incoming = in_line(lengths.iter().map(length));
        let outgoing = in_line(for_each.iter().map(Vec::len));
        let came = once(self, tag, &outgoing, &incoming, |out| {
            for (message, bytes) in outgoing.iter().zip(for_each) {
                out[message.bytes.clone()].copy_from_slice(bytes);
            }
        })?;
        Ok(incoming.iter().map(|message| came.incoming()[message.bytes.clone()].to_vec()).collect())
    }

    fn all_gather(&self, mine: &[u8]) -> Result<Vec<Vec<u8>>, RanksError> {
        // In a ring of doubling strides: what is known is passed on, log₂ times.
        let (count, rank) = (self.count(), self.rank());
        let mut known: Vec<Option<Vec<u8>>> = vec![None; count];
        known[rank] = Some(mine.to_vec());
        let mut distance = 1;
        while distance < count {
            // Ranks rank, rank − 1, … are known here; `distance` of them.
            let held = (0..distance.min(count - distance)).map(|back| (rank + count - back) % count);
            let text = held.fold(Vec::new(), |mut text, who| {
                let bytes = known[who].as_deref().unwrap_or_default();
                text.extend((bytes.len() as u64).to_le_bytes());
                text.extend(bytes);
                text
            });
            let (to, from) = ((rank + distance) % count, (rank + count - distance) % count);
            let came = passed_on(self, to, from, &text)?;
            let mut rest = &came[..];
            for back in 0..distance.min(count - distance) {
                let Some((length, behind)) = rest.split_first_chunk() else { break };
                let (bytes, behind) = behind.split_at(u64::from_le_bytes(*length) as usize);
                known[(from + count - back) % count] = Some(bytes.to_vec());
                rest = behind;
            }
            distance *= 2;
        }
        Ok(known.into_iter().map(Option::unwrap_or_default).collect())
    }

    fn sum(&self, numbers: &mut [f64]) -> Result<(), RanksError> {
        Sum::new(self, numbers.len())?.add(self, numbers)
    }

    fn barrier(&self) -> Result<(), RanksError> {
        self.sum(&mut [0.0])
    }

    fn agree<T, E: ToString>(&self, mine: Result<T, E>) -> Result<T, RanksError> {
        let text = mine.as_ref().map_or_else(|error| error.to_string(), |_| String::new());
        let texts = self.all_gather(text.as_bytes())?;
        match (texts.iter().position(|text| !text.is_empty()), mine) {
            (None, Ok(value)) => Ok(value),
            (found, _) => {
                let rank = found.unwrap_or(self.rank());
                let why = String::from_utf8_lossy(&texts[rank]);
                // What all of them say needs no number.
                let is_common = texts.iter().all(|text| *text == texts[rank]);
                Err(RanksError::Agreed(if is_common {
                    why.into_owned()
                } else {
                    format!("rank {rank}: {why}")
                }))
            }
        }
    }

    fn same(&self, what: &str, mine: &str) -> Result<(), RanksError> {
        let texts = self.all_gather(mine.as_bytes())?;
        match texts.iter().position(|text| *text != texts[0]) {
            None => Ok(()),
            Some(rank) => {
                let [first, other] = [0, rank].map(|rank| String::from_utf8_lossy(&texts[rank]).into_owned());
                Err(RanksError::Different(format!("{what}: rank 0 has {first}, rank {rank} has {other}")))
            }
        }
    }

    fn from_first(&self, text: &str) -> Result<String, RanksError> {
        let mine = if self.rank() == 0 { text } else { "" };
        Ok(String::from_utf8_lossy(&self.all_gather(mine.as_bytes())?[0]).into_owned())
    }
}

/// Bytes to one rank while others come from another.
fn passed_on(ranks: &dyn Ranks, to: usize, from: usize, bytes: &[u8]) -> Result<Vec<u8>, RanksError> {
    let at = |rank, size| [Message { rank, bytes: 0..size }];
    let length = (bytes.len() as u64).to_le_bytes();
    let told = once(ranks, Tag::COLLECTIVE, &at(to, 8), &at(from, 8), |out| out.copy_from_slice(&length))?;
    let mut length = [0; 8];
    length.copy_from_slice(told.incoming());
    let expected = u64::from_le_bytes(length) as usize;
    let fill = |out: &mut [u8]| out.copy_from_slice(bytes);
    let came = once(ranks, Tag::COLLECTIVE, &at(to, bytes.len()), &at(from, expected), fill)?;
    Ok(came.incoming().to_vec())
}

/// A sum over all ranks of so many numbers, to be taken again and again.
///
/// By recursive doubling: partners exchange what they have, and both add the lower rank's to the higher rank's. Ranks beyond the greatest power of two give theirs to a partner first, and get the
/// sum last.
pub struct Sum {
    length: usize,
    /// Gives its numbers away, and is given the sum.
    beyond: Option<[Box<dyn Exchange>; 2]>,
    /// Takes those of a rank beyond, and tells it the sum.
    for_beyond: Option<[Box<dyn Exchange>; 2]>,
    /// With which rank, in which order.
    rounds: Vec<(usize, Box<dyn Exchange>)>,
}

impl Sum {
    /// Of so many numbers.
    pub fn new(ranks: &dyn Ranks, length: usize) -> Result<Self, RanksError> {
        let (count, rank) = (ranks.count(), ranks.rank());
        let even = if count.is_power_of_two() { count } else { count.next_power_of_two() / 2 };
        let message = |rank| [Message { rank, bytes: 0..length * size_of::<f64>() }];
        let send = |to| ranks.exchange(Tag::COLLECTIVE, &message(to), &[]);
        let receive = |from| ranks.exchange(Tag::COLLECTIVE, &[], &message(from));
        let both = |with| ranks.exchange(Tag::COLLECTIVE, &message(with), &message(with));
        let mut sum = Sum { length, beyond: None, for_beyond: None, rounds: Vec::new() };
        if length == 0 {
            return Ok(sum);
        }
        if rank >= even {
            sum.beyond = Some([send(rank - even)?, receive(rank - even)?]);
            return Ok(sum);
        }
        if rank + even < count {
            sum.for_beyond = Some([receive(rank + even)?, send(rank + even)?]);
        }
        let mut bit = 1;
        while bit < even {
            sum.rounds.push((rank ^ bit, both(rank ^ bit)?));
            bit *= 2;
        }
        Ok(sum)
    }

    /// Adds up.
    pub fn add(&mut self, ranks: &dyn Ranks, numbers: &mut [f64]) -> Result<(), RanksError> {
        assert_eq!(numbers.len(), self.length, "as many numbers as the sum was made for");
        let run = |exchange: &mut Box<dyn Exchange>, out: Option<&[f64]>| {
            if let Some(out) = out {
                exchange.outgoing().copy_from_slice(bytemuck::cast_slice(out));
            }
            exchange.start()?;
            ranks.wait(&mut **exchange)
        };
        if let Some([give, take]) = &mut self.beyond {
            run(give, Some(numbers))?;
            run(take, None)?;
            numbers.copy_from_slice(bytemuck::cast_slice(take.incoming()));
            return Ok(());
        }
        if let Some([take, _]) = &mut self.for_beyond {
            run(take, None)?;
            add(numbers, bytemuck::cast_slice(take.incoming()));
        }
        for (with, exchange) in &mut self.rounds {
            run(exchange, Some(numbers))?;
            let theirs: &[f64] = bytemuck::cast_slice(exchange.incoming());
            if *with > ranks.rank() {
                add(numbers, theirs);
            } else {
                add_to_theirs(numbers, theirs);
            }
        }
        if let Some([_, give]) = &mut self.for_beyond {
            run(give, Some(numbers))?;
        }
        Ok(())
    }
}

fn add(to: &mut [f64], numbers: &[f64]) {
    to.iter_mut().zip(numbers).for_each(|(to, number)| *to += number);
}

/// The other way round. Of two NaNs the first one stays, and all ranks must have the same.
#[allow(clippy::assign_op_pattern)]
fn add_to_theirs(mine: &mut [f64], theirs: &[f64]) {
    mine.iter_mut().zip(theirs).for_each(|(mine, theirs)| *mine = theirs + *mine);
}
