//! All runs below a home.

use std::path::{Path, PathBuf};
use std::time::Duration;

use model::{Result, RunRecord};

use crate::fault;
use crate::filter::Filter;
use crate::groups::{Fold, Folded};
use crate::index::{self, Entry, Index};
use crate::look::{self, Look};
use crate::notes::Notes;
use crate::run::Run;
use crate::select::{Scope, Selected, Selection};
use crate::shelf::Shelf;
use crate::summary::RunSummary;
use crate::touch::INDEX;
use crate::writer::RunWriter;

/// All runs below a home; a study's directory is the home of its trials' runs. Any number of processes may use it at
/// once.
pub struct Runs {
    home: PathBuf,
    shelf: Shelf,
}

impl Runs {
    /// The runs below `home`, which is made when it is missing.
    pub fn open(home: &Path) -> Result<Runs> {
        let shelf =
            Shelf { directory: home.join("runs"), noun: "run", nouns: "runs", maker: "plimsoll run KIT" };
        shelf.make()?;
        Ok(Runs { home: home.to_path_buf(), shelf })
    }

    /// Where the runs are kept.
    pub fn directory(&self) -> PathBuf {
        self.shelf.directory.clone()
    }

    /// Ids of all runs, the oldest first.
    pub fn ids(&self) -> Result<Vec<String>> {
        self.shelf.ids()
    }

    /// Begins to keep a run: `record` says what is to be done, with [`model::record::Outcome::Unfinished`].
    pub fn create(&self, record: &RunRecord) -> Result<RunWriter> {
        RunWriter::create(&self.shelf.directory, record)
    }

    /// Goes on with keeping the run of that id, whose writer has died; with its record as that left it.
    ///
    /// # Errors
    /// It isn't there, has ended, or is still under way.
    pub fn reopen(&self, id: &str) -> Result<(RunRecord, RunWriter)> {
        RunWriter::reopen(&self.shelf.find(id)?)
    }

    /// Every run in a line, the oldest first; also those whose record can't be read, with the reason. Thousands take much memory:
    /// see [`Runs::each`].
    pub fn list(&self) -> Result<Vec<RunSummary>> {
        let mut all = Vec::new();
        self.each(&Selection::of(Filter::default()), |run| all.push(run))?;
        Ok(all)
    }

    /// The runs that are meant, one after the other, so that one at a time is in memory.
    pub fn each(&self, selection: &Selection, mut take: impl FnMut(RunSummary)) -> Result<()> {
        let (index, keys, _) = self.ask_index(Look::All, Duration::MAX, |index| index.keys(selection))?;
        for key in keys {
            // Whoever removes it meanwhile has removed it.
            if let Ok(entry) = index.entry(key) {
                take(entry.summary);
            }
        }
        Ok(())
    }

    /// A page of the runs that are meant. What the index doesn't know is read from the newest on as long as `time` allows, and
    /// kept in the index, so that whoever asks again gets more.
    pub fn select(&self, selection: &Selection, look: Look, time: Duration) -> Result<Selected> {
        let (_, selected, unread) = self.ask_index(look, time, |index| {
            let scope = Scope::of(&selection.filter);
            let select = |index: &mut Index| {
                let keys = index.keys(selection)?;
                keys.into_iter().map(|key| index.entry(key)).collect::<rusqlite::Result<Vec<Entry>>>()
            };
            let mut entries = select(index)?;
            if look == Look::Changes && look::look_again(index, &self.home, &entries)? {
                entries = select(index)?;
            }
            Ok(Selected {
                runs: entries.into_iter().map(|entry| entry.summary).collect(),
                number: index.count(&selection.filter, scope)?,
                all: index.count(&Filter::default(), scope)?,
                unread: 0,
            })
        })?;
        Ok(Selected { unread, ..selected })
    }

    /// Bytes of everything kept of the runs that stand alone, as the index knows them.
    pub fn bytes(&self) -> Result<u64> {
        Ok(self.ask_index(Look::Changes, Duration::ZERO, |index| index.bytes())?.1)
    }

    /// A page of the groups of the runs that are meant; the rest as [`Runs::select`].
    pub fn folded(&self, fold: Fold, selection: &Selection, look: Look, time: Duration) -> Result<Folded> {
        let (_, folded, unread) = self.ask_index(look, time, |index| {
            let (folded, shown) = index.groups(fold, selection)?;
            match look == Look::Changes && look::look_again(index, &self.home, &shown)? {
                true => Ok(index.groups(fold, selection)?.0),
                false => Ok(folded),
            }
        })?;
        Ok(Folded { unread, ..folded })
    }

    /// What the index says, once it knows what there is on the disk, and how many runs there was no time to read.
    fn ask_index<T>(
        &self,
        look: Look,
        time: Duration,
        ask: impl Fn(&mut Index) -> rusqlite::Result<T>,
    ) -> Result<(Index, T, usize)> {
        std::fs::read_dir(&self.shelf.directory)
            .map_err(|error| fault::io(&error, "listing the runs", &self.shelf.directory))?;
        let path = self.home.join(INDEX);
        let attempt = |index: rusqlite::Result<Index>, look| {
            let mut index = index?;
            let unread = look::refresh(&mut index, &self.home, look, time)?;
            let answer = ask(&mut index)?;
            Ok((index, answer, unread))
        };
        let first: rusqlite::Result<_> = attempt(Index::open(&path), look);
        let first = first.or_else(|error| match index::is_held(&error) || !index::discard(&path) {
            true => Err(error),
            // Damaged: only a new one helps.
            false => attempt(Index::open(&path), look),
        });
        // Held by somebody, or nothing can be kept there: for this once, without it.
        let answered = first.or_else(|_| attempt(Index::in_memory(), Look::All));
        answered.map_err(|error| fault::sql(&error, "listing the runs", &path).into())
    }

    /// The run of that id, of the only id that begins with `name`, or the last one for `last`.
    pub fn find(&self, name: &str) -> Result<Run> {
        Run::open(&self.shelf.find(name)?)
    }

    /// Removes a run for good; gives the bytes that are free now. `name` as for [`Self::find`], except `last`: a word
    /// that means another run every day is too short for something that can't be undone.
    pub fn remove(&self, name: &str) -> Result<u64> {
        self.shelf.remove(name)
    }
    /// Removes several runs for good, all of them or, where one can't be removed, none; gives their ids, each with its bytes.
    pub fn remove_all(&self, names: &[String]) -> Result<Vec<(String, u64)>> {
        self.shelf.remove_all(names)
    }
    /// The id of the run that the one of that id is held against: the baseline of its setup, else of its kit.
    pub fn baseline_of(&self, id: &str) -> Result<Option<String>> {
        Ok(self.ask_index(Look::Changes, Duration::MAX, |index| index.baseline_of(id))?.1)
    }

    /// Makes a run the baseline of its setup, in place of the one that was; gives the ids of those that are none any more.
    pub fn set_baseline(&self, run: &Run) -> Result<Vec<String>> {
        let same = Selection::of(Filter::of_setup(&run.record().id));
        let mut before = Vec::new();
        self.each(&same, |other| before.extend(other.notes.baseline.then_some(other.id)))?;
        before.retain(|id| *id != run.record().id);
        for id in &before {
            let directory = self.shelf.directory.join(id);
            Notes { baseline: false, ..Notes::read(&directory)? }.write(&directory)?;
        }
        Notes { baseline: true, ..Notes::read(run.directory())? }.write(run.directory())?;
        Ok(before)
    }
}
