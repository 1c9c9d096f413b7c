//! Maps and sets as sorted vectors, and stable sorting.
//!
//! The standard library compiles a B-tree of 2 to 8 KB for each pair of types, and a sort of 4 KB for each type. Here the search and
//! the sort are compiled once: they take positions, and compare elements through `dyn FnMut`.

mod map;
mod set;

use std::cmp::Ordering;

pub use map::SortedMap;
pub use set::SortedSet;

/// Sorts values; equal ones keep their order.
pub fn sort_by<T>(values: &mut [T], mut compare: impl FnMut(&T, &T) -> Ordering) {
    let order = order(values.len(), &mut |one, other| match (values.get(one), values.get(other)) {
        (Some(one), Some(other)) => compare(one, other),
        _ => Ordering::Equal,
    });
    arrange(order, &mut |one, other| values.swap(one, other));
}

/// The positions of values in their sorted order.
#[expect(clippy::disallowed_methods, reason = "the only sort, of positions")]
fn order(len: usize, compare: &mut dyn FnMut(usize, usize) -> Ordering) -> Vec<usize> {
    let mut order: Vec<usize> = (0..len).collect();
    order.sort_by(|one, other| compare(*one, *other));
    order
}

/// Brings values into an order by swaps: the value at `order[n]` gets to position `n`. Each swap brings one value to its end, so
/// there are at most as many as values.
fn arrange(mut order: Vec<usize>, swap: &mut dyn FnMut(usize, usize)) {
    for first in 0..order.len() {
        let mut at = first;
        while let Some(place) = order.get_mut(at) {
            let from = std::mem::replace(place, at);
            if from == first || from == at {
                break;
            }
            swap(at, from);
            at = from;
        }
    }
}

/// The position of a key among `len` sorted ones, or else the position at which it belongs. `compare` compares the key at a position
/// with the key that is searched for.
fn search(len: usize, compare: &mut dyn FnMut(usize) -> Ordering) -> Result<usize, usize> {
    let (mut from, mut to) = (0, len);
    while from < to {
        let middle = from.midpoint(to);
        match compare(middle) {
            Ordering::Less => from = middle + 1,
            Ordering::Equal => return Ok(middle),
            Ordering::Greater => to = middle,
        }
    }
    Err(from)
}

#[cfg(test)]
mod tests;
