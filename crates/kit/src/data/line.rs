//! Chunks are made by any thread in any order and leave in their own: what reaches a table is the same, byte for byte,
//! for any number of threads.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};

use model::Result;

use super::declaration::Declaration;
use super::generator::{Generator, Rows};
use super::schedule::{Chunk, chunks};

/// The chunks, and which of each part is next to leave.
pub(crate) struct Line {
    chunks: Vec<Chunk>,
    taken: AtomicUsize,
    turns: Vec<Turn>,
}

#[derive(Default)]
struct Turn {
    next: Mutex<u64>,
    changed: Condvar,
}

impl Line {
    pub(crate) fn new(declaration: &Declaration) -> Line {
        let turns = declaration.parts.iter().map(|_| Turn::default()).collect();
        Line { chunks: chunks(declaration), taken: AtomicUsize::new(0), turns }
    }

    /// One thread's share: takes chunks until none is left or `stop` is set, and lets each leave when it is its turn.
    pub(crate) fn work(
        &self,
        generator: &Generator<'_>,
        stop: &AtomicBool,
        mut leave: impl FnMut(Vec<Rows>) -> Result<()>,
    ) -> Result<()> {
        while let Some(chunk) = self.chunks.get(self.taken.fetch_add(1, Ordering::Relaxed)) {
            let rows = generator.make(chunk)?;
            let turn = &self.turns[chunk.part];
            let mut next = turn.next.lock().unwrap_or_else(PoisonError::into_inner);
            while *next != chunk.number && !stop.load(Ordering::SeqCst) {
                next = turn.changed.wait(next).unwrap_or_else(PoisonError::into_inner);
            }
            if stop.load(Ordering::SeqCst) {
                return Ok(());
            }
            // The lock is kept while the chunk leaves: the next one of this part must wait for it in any case.
            leave(rows)?;
            *next += 1;
            turn.changed.notify_all();
        }
        Ok(())
    }

    /// Lets every waiting thread see that `stop` was set.
    pub(crate) fn wake(&self) {
        for turn in &self.turns {
            // Without the lock a thread between its look at `stop` and its wait would sleep on.
            drop(turn.next.lock().unwrap_or_else(PoisonError::into_inner));
            turn.changed.notify_all();
        }
    }
}
