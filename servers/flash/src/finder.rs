//! Where the bytes of a path are: the caches of names and of open or mapped files, and who is asked for what is in neither.
//! What `pass` and `residency` bring back of the paper's defects is here.

use std::cell::Cell;
use std::collections::HashMap;
use std::io::IoSliceMut;
use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use rustix::io::{Errno, ReadWriteFlags, preadv2};

use crate::helper::Helpers;
use crate::job::{self, CHUNK_BYTES, Given, Job, Reply, Task};
use crate::knobs::{Files, Knobs, Pass, Residency};
use crate::lru::Lru;
use crate::status::{Count, Counts};
use crate::sys::{File, Mapping, Ring};

/// Pages that are tested of a part, as far apart as the kernel reads ahead at least.
const TESTED_BYTES: u64 = 16_384;
const PAGE_BYTES: u64 = 4_096;

/// A file that is open or mapped.
pub struct Data {
    pub size: u64,
    pub modified_s: i64,
    pub file: Option<File>,
    pub map: Option<Mapping>,
    /// Whether a helper has read it: then it is taken to be in memory for as long as it is in the cache.
    is_warm: Cell<bool>,
}

#[derive(Clone, Copy)]
struct Name {
    size: u64,
    modified_s: i64,
    looked_up: Instant,
}

/// Who does what could block.
pub enum Pool {
    Helpers(Helpers),
    Ring(&'static mut Ring),
}

/// What is to be had at once.
pub enum Lookup<T> {
    Ready(T),
    /// Whoever asked is named by [`Finder::finish`].
    Asked,
    Failed(Errno),
}

/// A part of a file.
pub enum Part {
    /// In memory up to there, as far as the loop knows.
    Until(u64),
    Bytes(Rc<Vec<u8>>),
}

pub struct Finder {
    pub knobs: Knobs,
    pub pool: Pool,
    pub counts: Counts,
    names: Lru<Name>,
    data: Lru<Rc<Data>>,
    waiting: HashMap<(Arc<[u8]>, Task), Vec<u64>>,
    shown: [i64; 4],
}

impl Finder {
    pub fn new(knobs: Knobs, pool: Pool, counts: Counts) -> Finder {
        let (names, data) = (Lru::new(knobs.name_cache), Lru::new(knobs.data_cache_bytes));
        Finder { knobs, pool, counts, names, data, waiting: HashMap::new(), shown: [0; 4] }
    }

    /// The file of a path, for the connection `of`.
    pub fn find(&mut self, path: &Arc<[u8]>, of: u64) -> Lookup<Rc<Data>> {
        let lasts_s = self.knobs.revalidate_s;
        let is_fresh = |name: &&Name| lasts_s == 0 || name.looked_up.elapsed().as_secs() < lasts_s;
        let Some(name) = self.names.get(path).filter(is_fresh).copied() else {
            self.forget(path);
            return self.look_up(path, of);
        };
        self.counts.add(Count::name_hits, 1);
        match self.data.get(path) {
            Some(data) if data.is_as(name) => {
                self.counts.add(Count::file_hits, 1);
                Lookup::Ready(Rc::clone(data))
            }
            Some(_) => {
                self.forget(path);
                self.look_up(path, of)
            }
            None => self.open_again(path, name, of),
        }
    }

    pub fn forget(&mut self, path: &[u8]) {
        self.names.remove(path);
        self.data.remove(path);
    }

    fn look_up(&mut self, path: &Arc<[u8]>, of: u64) -> Lookup<Rc<Data>> {
        self.counts.add(Count::names_asked, 1);
        if self.knobs.files == Files::Nowait {
            match job::open_cached(path) {
                Err(Errno::AGAIN) => {}
                opened => return opened.and_then(|given| self.learn(path, given, false)).into(),
            }
        }
        let passes = self.knobs.pass != Pass::None || self.knobs.files == Files::Nowait;
        self.ask(path, Task::Open, None, passes, of)
    }

    /// The name is known, and the file no longer open.
    fn open_again(&mut self, path: &Arc<[u8]>, name: Name, of: u64) -> Lookup<Rc<Data>> {
        if matches!(self.knobs.files, Files::Nowait | Files::Uring) {
            return self.look_up(path, of);
        }
        if self.knobs.pass == Pass::Both {
            return self.ask(path, Task::Read { offset: 0, len: name.size as usize }, None, true, of);
        }
        // As Flash did: a helper has looked at this name, so it is taken to be in memory.
        self.counts.add(Count::loop_opens, 1);
        job::open(path).and_then(|given| self.learn(path, given, false)).into()
    }

    /// Puts a file that was opened into the caches.
    fn learn(&mut self, path: &Arc<[u8]>, given: Given, is_warm: bool) -> Result<Rc<Data>, Errno> {
        let Given { size, modified_s, file, .. } = given;
        self.names.insert(Arc::clone(path), Name { size, modified_s, looked_up: Instant::now() }, 1);
        let map = match &file {
            Some(file) if self.knobs.files == Files::Mmap && size > 0 => {
                let mapped = Mapping::of(file, 0, size as usize);
                Some(mapped.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::NOMEM))?)
            }
            _ => None,
        };
        let keeps_file = map.is_none() || self.knobs.residency == Residency::Nowait;
        let file = file.filter(|_| keeps_file).map(Arc::new);
        let data = Rc::new(Data { size, modified_s, file, map, is_warm: Cell::new(is_warm) });
        // Small files count for more than their bytes, so that there are no more than descriptors.
        let weight = size.max(self.knobs.data_cache_bytes / self.knobs.max_open_files);
        self.data.insert(Arc::clone(path), Rc::clone(&data), weight);
        Ok(data)
    }

    /// The next part of a file that is sent, from `offset`, for the connection `of`.
    pub fn part(&mut self, path: &Arc<[u8]>, data: &Data, offset: u64, of: u64) -> Lookup<Part> {
        let end = data.size.min(offset + CHUNK_BYTES);
        let len = (end - offset) as usize;
        let read = Task::Read { offset, len };
        match (self.knobs.files, &data.file) {
            (Files::Nowait, Some(file)) => {
                let mut bytes = vec![0; len];
                let read = preadv2(file, &mut [IoSliceMut::new(&mut bytes)], offset, ReadWriteFlags::NOWAIT);
                if read != Err(Errno::AGAIN) {
                    return read.and_then(|number| some_of(bytes, number)).into();
                }
            }
            (Files::Uring, Some(file)) => return self.ask(path, read, Some(Arc::clone(file)), false, of),
            _ => {}
        }
        let from = offset / PAGE_BYTES * PAGE_BYTES;
        let tested = (end - from) as usize;
        let is_resident = self.knobs.files != Files::Nowait
            && match (self.knobs.residency, &data.map, &data.file) {
                (Residency::Guess, ..) if data.is_warm.get() => return Lookup::Ready(Part::Until(data.size)),
                (Residency::Mincore, Some(map), _) => map.is_resident(from as usize, tested),
                (Residency::Mincore, None, Some(file)) => {
                    Mapping::of(file, from, tested).is_ok_and(|map| map.is_resident(0, tested))
                }
                (Residency::Nowait, _, Some(file)) => is_resident(file, offset, end),
                _ => false,
            };
        if is_resident {
            return Lookup::Ready(Part::Until(end));
        }
        let is_whole = self.knobs.residency == Residency::Guess && self.knobs.files != Files::Nowait;
        let whole = Task::Read { offset: 0, len: data.size as usize };
        let part = Task::Read { offset: from, len: tested };
        self.ask(path, if is_whole { whole } else { part }, None, false, of)
    }

    /// Has something done by others, once for all who ask for it meanwhile.
    fn ask<T>(
        &mut self,
        path: &Arc<[u8]>,
        task: Task,
        file: Option<File>,
        passes: bool,
        of: u64,
    ) -> Lookup<T> {
        if matches!(task, Task::Read { .. }) {
            self.counts.add(Count::reads_asked, 1);
        }
        let waiting = self.waiting.entry((Arc::clone(path), task.clone())).or_default();
        waiting.push(of);
        self.counts.add(Count::waiting, 1);
        if waiting.len() > 1 {
            return Lookup::Asked;
        }
        let job = Job { path: Arc::clone(path), task, file, passes };
        match &mut self.pool {
            Pool::Helpers(helpers) => helpers.submit(job),
            Pool::Ring(ring) => {
                if let Err(error) = ring.submit(job.clone()) {
                    self.waiting.remove(&(job.path, job.task));
                    self.counts.add(Count::waiting, -1);
                    return Lookup::Failed(Errno::from_io_error(&error).unwrap_or(Errno::IO));
                }
            }
        }
        Lookup::Asked
    }

    /// Takes a reply in: who has waited for it, and what of the file is in memory now, if that was asked for.
    pub fn finish(&mut self, reply: Reply) -> (Vec<u64>, Result<Option<Part>, Errno>) {
        let Job { path, task, passes, .. } = reply.job;
        let waited = self.waiting.remove(&(Arc::clone(&path), task.clone())).unwrap_or_default();
        self.counts.add(Count::waiting, -(waited.len() as i64));
        let outcome = reply.outcome.and_then(|given| match task {
            Task::Open if given.file.is_some() => self.learn(&path, given, false).map(|_| None),
            Task::Open => {
                let Given { size, modified_s, .. } = given;
                self.names.insert(path, Name { size, modified_s, looked_up: Instant::now() }, 1);
                Ok(None)
            }
            Task::Read { .. } if passes => self.learn(&path, given, true).map(|_| None),
            Task::Read { .. } if self.knobs.files == Files::Uring => {
                let number = given.bytes.len();
                some_of(given.bytes, number).map(Some)
            }
            // Now it can be read without waiting.
            Task::Read { .. } if self.knobs.files == Files::Nowait => Ok(None),
            Task::Read { offset, len } => {
                if let (Some(data), Residency::Guess) = (self.data.get(&path), self.knobs.residency) {
                    data.is_warm.set(true);
                }
                Ok(Some(Part::Until(offset + len as u64)))
            }
        });
        (waited, outcome)
    }

    /// Brings the counters of what there is now up to date.
    pub fn count(&mut self) {
        let (files, bytes) = (self.data.len() as i64, self.data.weight() as i64);
        let now = [self.names.len() as i64, files, bytes, self.waiting.len() as i64];
        let counts = [Count::names, Count::files, Count::file_bytes, Count::jobs];
        for ((count, now), shown) in counts.into_iter().zip(now).zip(&mut self.shown) {
            self.counts.add(count, now - *shown);
            *shown = now;
        }
    }
}

impl Data {
    /// Whether it is what was looked up; one that is mapped alone is taken to be.
    fn is_as(&self, name: Name) -> bool {
        let stat = self.file.as_ref().map(rustix::fs::fstat);
        let is_same = |stat: rustix::fs::Stat| {
            stat.st_size as u64 == name.size && stat.st_mtime == name.modified_s && stat.st_nlink > 0
        };
        stat.is_none_or(|stat| stat.is_ok_and(is_same))
    }
}

/// Whether a part is in memory, by reads of a byte that don't wait. Such a read of what isn't also starts to read it.
fn is_resident(file: &OwnedFd, offset: u64, end: u64) -> bool {
    let mut places = (offset..end).step_by(TESTED_BYTES as usize).chain([end - 1]);
    places.all(|at| {
        let mut byte = [0];
        preadv2(file, &mut [IoSliceMut::new(&mut byte)], at, ReadWriteFlags::NOWAIT)
            .is_ok_and(|number| number == 1)
    })
}

/// What was read of a part; where that is nothing the file has shrunk.
fn some_of(mut bytes: Vec<u8>, number: usize) -> Result<Part, Errno> {
    bytes.truncate(number);
    if number == 0 { Err(Errno::STALE) } else { Ok(Part::Bytes(Rc::new(bytes))) }
}

impl<T> From<Result<T, Errno>> for Lookup<T> {
    fn from(result: Result<T, Errno>) -> Lookup<T> {
        result.map_or_else(Lookup::Failed, Lookup::Ready)
    }
}
