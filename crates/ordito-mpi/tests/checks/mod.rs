//! What must hold between ranks of every kind. Each check is run by all ranks at once, and says what is wrong.

#![allow(dead_code)] // not every program runs all of them

use ordito_mpi::ranks::{Collective, Exchange, Message, Ranks, RanksError, Sum, Tag};

/// Of one rank.
pub(crate) type Checked = Result<(), String>;

fn told(error: RanksError) -> String {
    error.to_string()
}

/// `Err` with these words unless it holds.
fn hold(holds: bool, words: impl FnOnce() -> String) -> Checked {
    if holds { Ok(()) } else { Err(words()) }
}

/// What a check is called, and what it does on every rank.
type Check = (&'static str, fn(&dyn Ranks) -> Checked);

/// All that end well.
pub(crate) const ALL: &[Check] = &[
    ("ring", ring),
    ("several messages between two", several),
    ("everyone to everyone", everyone),
    ("rounds that overtake", overtaking),
    ("sum", sum),
    ("sum again and again", sum_again),
    ("gather", gather),
    ("deliver", deliver),
    ("agree", agree),
    ("same", same),
    ("from the first", from_first),
];

/// Byte `at` of the message from one rank to another in a round.
fn byte(from: usize, to: usize, round: usize, at: usize) -> u8 {
    (from * 31 + to * 17 + round * 7 + at) as u8
}

fn wait(ranks: &dyn Ranks, exchange: &mut dyn Exchange) -> Checked {
    ranks.wait(exchange).map_err(told)
}

/// Rows to the next rank, from the one before; of many sizes, some of which are cut into pieces.
fn ring(ranks: &dyn Ranks) -> Checked {
    let (rank, count) = (ranks.rank(), ranks.count());
    let (next, previous) = ((rank + 1) % count, (rank + count - 1) % count);
    for size in [0, 1, 2, 7, 8, 63, 64, 65, 1000, 4096, 65_536, 100_003, 1_000_000] {
        // Not at the beginning of the buffers: places matter.
        let outgoing = [Message { rank: next, bytes: 5..5 + size }];
        let incoming = [Message { rank: previous, bytes: 64..64 + size }];
        let mut exchange = ranks.exchange(Tag::HALO, &outgoing, &incoming).map_err(told)?;
        for round in 0..3 {
            for (at, place) in exchange.outgoing()[5..].iter_mut().enumerate() {
                *place = byte(rank, next, round, at);
            }
            exchange.start().map_err(told)?;
            wait(ranks, &mut *exchange)?;
            hold(exchange.pending().is_empty(), || "something is pending after the end".to_owned())?;
            let came = &exchange.incoming()[64..];
            let is_right = (0..size).all(|at| came[at] == byte(previous, rank, round, at));
            hold(came.len() == size && is_right, || format!("{size} bytes arrived wrong in round {round}"))?;
        }
    }
    Ok(())
}

/// Three messages between the same two ranks come in the order of the lists, empty ones left out.
fn several(ranks: &dyn Ranks) -> Checked {
    let (rank, count) = (ranks.rank(), ranks.count());
    let (next, previous) = ((rank + 1) % count, (rank + count - 1) % count);
    let at = |rank| [0..4, 8..8, 16..19, 24..40].map(|bytes| Message { rank, bytes });
    let mut exchange = ranks.exchange(Tag::PARTIAL, &at(next), &at(previous)).map_err(told)?;
    for (at, place) in exchange.outgoing().iter_mut().enumerate() {
        *place = byte(rank, next, 0, at);
    }
    exchange.start().map_err(told)?;
    wait(ranks, &mut *exchange)?;
    let is_right = at(previous).iter().all(|message| {
        message.bytes.clone().all(|at| exchange.incoming()[at] == byte(previous, rank, 0, at))
    });
    hold(is_right, || "messages were mixed up".to_owned())
}

/// Different sizes between every two ranks, oneself included.
fn everyone(ranks: &dyn Ranks) -> Checked {
    let (rank, count) = (ranks.rank(), ranks.count());
    let size = |from: usize, to: usize| (from * 5 + to * 3) % 11;
    let lists = |size: &dyn Fn(usize) -> usize| -> Vec<Message> {
        (0..count).map(|other| Message { rank: other, bytes: other * 16..other * 16 + size(other) }).collect()
    };
    let (outgoing, incoming) = (lists(&|to| size(rank, to)), lists(&|from| size(from, rank)));
    let mut exchange = ranks.exchange(Tag::DELIVERY, &outgoing, &incoming).map_err(told)?;
    for message in &outgoing {
        for (at, place) in exchange.outgoing()[message.bytes.clone()].iter_mut().enumerate() {
            *place = byte(rank, message.rank, 0, at);
        }
    }
    exchange.start().map_err(told)?;
    wait(ranks, &mut *exchange)?;
    for message in &incoming {
        let came = &exchange.incoming()[message.bytes.clone()];
        let is_right = came.iter().enumerate().all(|(at, came)| *came == byte(message.rank, rank, 0, at));
        hold(is_right, || format!("wrong from rank {}", message.rank))?;
    }
    Ok(())
}

/// Two exchanges at once, and a rank that is rounds behind: nothing is taken for something else.
fn overtaking(ranks: &dyn Ranks) -> Checked {
    let (rank, count) = (ranks.rank(), ranks.count());
    let (next, previous) = ((rank + 1) % count, (rank + count - 1) % count);
    let make = |tag| {
        let at = |rank| [Message { rank, bytes: 0..8 }];
        ranks.exchange(tag, &at(next), &at(previous)).map_err(told)
    };
    let (mut first, mut second) = (make(Tag::HALO)?, make(Tag::PARTIAL)?);
    for round in 0..50u64 {
        if (round as usize + rank).is_multiple_of(count) {
            std::thread::yield_now();
        }
        let number = |who: usize, which: u64| (who as u64 * 1000 + round * 2 + which).to_le_bytes();
        for (exchange, which) in [(&mut first, 0), (&mut second, 1)] {
            exchange.outgoing().copy_from_slice(&number(rank, which));
            exchange.start().map_err(told)?;
        }
        wait(ranks, &mut *second)?;
        wait(ranks, &mut *first)?;
        let is_right = first.incoming() == number(previous, 0) && second.incoming() == number(previous, 1);
        hold(is_right, || format!("round {round} got another's messages"))?;
    }
    Ok(())
}

/// A number whose sums depend on their order.
fn part(rank: usize, index: usize) -> f64 {
    (rank as f64 + 1.0) / (index as f64 + 3.0) * 1e3f64.powi((rank * 7 + index) as i32 % 5 - 2)
}

/// By recursive doubling, in one process: ranks beyond the greatest power of two are added first.
fn serial_sum(count: usize, index: usize) -> f64 {
    let even = if count.is_power_of_two() { count } else { count.next_power_of_two() / 2 };
    let mut parts: Vec<f64> = (0..even).map(|rank| part(rank, index)).collect();
    for rank in even..count {
        parts[rank - even] += part(rank, index);
    }
    while parts.len() > 1 {
        parts = parts.chunks(2).map(|pair| pair[0] + pair[1]).collect();
    }
    parts[0]
}

fn sum(ranks: &dyn Ranks) -> Checked {
    for length in [0, 1, 64, 1000] {
        let mut numbers: Vec<f64> = (0..length).map(|index| part(ranks.rank(), index)).collect();
        ranks.sum(&mut numbers).map_err(told)?;
        for (index, number) in numbers.iter().enumerate() {
            let expected = serial_sum(ranks.count(), index);
            hold(number.to_bits() == expected.to_bits(), || format!("{number} is not {expected}"))?;
        }
        let bits: String = numbers.iter().map(|number| format!("{:016x}", number.to_bits())).collect();
        ranks.same("sums", &bits).map_err(told)?;
    }
    Ok(())
}

fn sum_again(ranks: &dyn Ranks) -> Checked {
    let mut sum = Sum::new(ranks, 2).map_err(told)?;
    for round in 0..100 {
        let mut numbers = [1.0, (ranks.rank() * round) as f64];
        sum.add(ranks, &mut numbers).map_err(told)?;
        let ranks_in_all = ranks.count() * (ranks.count() - 1) / 2;
        let expected = [ranks.count() as f64, (ranks_in_all * round) as f64];
        hold(numbers == expected, || format!("{numbers:?} is not {expected:?}"))?;
    }
    Ok(())
}

/// What a rank has to say: rank 1 nothing, the others longer the higher they are.
fn words(rank: usize) -> Vec<u8> {
    if rank == 1 { Vec::new() } else { vec![rank as u8; rank * 100 + 1] }
}

fn gather(ranks: &dyn Ranks) -> Checked {
    let gathered = ranks.all_gather(&words(ranks.rank())).map_err(told)?;
    hold(gathered == (0..ranks.count()).map(words).collect::<Vec<_>>(), || "gathered wrong".to_owned())?;
    ranks.barrier().map_err(told)
}

/// Nothing from a rank to itself and to those whose sum is a multiple of three.
fn parcel(from: usize, to: usize) -> Vec<u8> {
    if from == to || (from + to).is_multiple_of(3) { Vec::new() } else { vec![from as u8; to * 1000 + 1] }
}

fn deliver(ranks: &dyn Ranks) -> Checked {
    let rank = ranks.rank();
    let for_each: Vec<Vec<u8>> = (0..ranks.count()).map(|to| parcel(rank, to)).collect();
    let came = ranks.deliver(Tag::DELIVERY, &for_each).map_err(told)?;
    let expected: Vec<Vec<u8>> = (0..ranks.count()).map(|from| parcel(from, rank)).collect();
    hold(came == expected, || "delivered wrong".to_owned())?;
    let nothing = ranks.deliver(Tag::DELIVERY, &vec![Vec::new(); ranks.count()]).map_err(told)?;
    hold(nothing.iter().all(Vec::is_empty), || "something came of nothing".to_owned())
}

fn agree(ranks: &dyn Ranks) -> Checked {
    let agreed = ranks.agree(Ok::<_, String>(ranks.rank()));
    hold(agreed == Ok(ranks.rank()), || format!("{agreed:?} though all is well"))?;
    // The lowest that fails is heard everywhere.
    let last = ranks.count() - 1;
    let mine = if ranks.rank() == last { Err(format!("rank {last} is ill")) } else { Ok(()) };
    let heard = ranks.agree(mine);
    let who = if ranks.count() > 1 { format!("rank {last}: ") } else { String::new() };
    let expected = Err(RanksError::Agreed(format!("{who}rank {last} is ill")));
    hold(heard == expected, || format!("{heard:?}"))
}

fn same(ranks: &dyn Ranks) -> Checked {
    ranks.same("a word", "sesame").map_err(told)?;
    let different = ranks.same("a number", &(ranks.rank() / 2).to_string());
    let expected = match ranks.count() {
        1 | 2 => Ok(()),
        _ => Err(RanksError::Different("a number: rank 0 has 0, rank 2 has 1".to_owned())),
    };
    hold(different == expected, || format!("{different:?}"))
}

fn from_first(ranks: &dyn Ranks) -> Checked {
    let text = ranks.from_first(&format!("from rank {}", ranks.rank())).map_err(told)?;
    hold(text == "from rank 0", || text)
}
