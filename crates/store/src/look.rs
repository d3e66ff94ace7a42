//! How the index learns what has changed on the disk.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::{OptionalExtension, params};

use crate::id;
use crate::index::{Entry, Index, Stamp, stamp, stamp_of};
use crate::run::Run;
use crate::shelf;
use crate::summary::{RunSummary, UNDER_WAY};

/// How closely the disk is looked at before a list is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    /// At each run: also what somebody has changed by hand is seen. That takes two looks a run.
    All,
    /// At what Plimsoll itself has changed: runs that came or went, are under way, or whose notes are others. What a page
    /// shows is looked at in any case.
    Changes,
}

/// Rows that are written at once.
const BATCH: usize = 200;

/// A directory of runs: those that stand alone, or the trials of a study.
struct Place {
    /// Its name; empty for runs that stand alone.
    study: String,
    directory: PathBuf,
}

/// What the index knows of a run.
struct Known {
    stamp: Stamp,
    /// As [`RunSummary::openness`] has it.
    openness: i64,
}

impl Known {
    /// Nothing comes of it that Plimsoll doesn't say.
    fn is_settled(&self) -> bool {
        self.openness == 0 && !self.stamp.is_empty()
    }
}

/// Brings the index up to date with what is below `home`. What it doesn't know is read from the newest on as long as `time`
/// allows; gives how many were not.
pub(crate) fn refresh(index: &mut Index, home: &Path, look: Look, time: Duration) -> rusqlite::Result<usize> {
    let began = Instant::now();
    let places = places(home);
    forget_places(index, &places)?;
    let mut left_out = 0;
    for place in &places {
        left_out += refresh_place(index, place, look, &|| began.elapsed() > time)?;
    }
    Ok(left_out)
}

/// Looks at runs that are to be shown; whether something of them was not as the index had it.
pub(crate) fn look_again(index: &mut Index, home: &Path, shown: &[Entry]) -> rusqlite::Result<bool> {
    let (mut changed, mut found) = (Vec::new(), false);
    for Entry { stamp: known, summary } in shown {
        let place = place_of(home, summary.study.as_deref().unwrap_or_default());
        let directory = place.directory.join(&summary.id);
        let now = stamp(&directory);
        if now == *known {
            continue;
        }
        found = true;
        match directory.is_dir() {
            true => changed.push(entry(&place, &summary.id, now)),
            false => index.remove(&place.study, std::slice::from_ref(&summary.id))?,
        }
    }
    if !changed.is_empty() {
        index.put(&changed)?;
    }
    Ok(found)
}

fn place_of(home: &Path, study: &str) -> Place {
    let directory = match study {
        "" => home.join("runs"),
        study => home.join("studies").join(study).join("runs"),
    };
    Place { study: study.to_string(), directory }
}

fn places(home: &Path) -> Vec<Place> {
    let studies = ids(&home.join("studies")).into_iter().rev();
    std::iter::once(String::new()).chain(studies).map(|study| place_of(home, &study)).collect()
}

/// Names of the directories in `directory` that can be ids, sorted.
fn ids(directory: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let directories = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let names = directories.filter_map(|entry| entry.file_name().into_string().ok());
    names.filter(|name| id::check(name).is_ok()).collect()
}

/// Forgets the trials of studies that are gone.
fn forget_places(index: &mut Index, places: &[Place]) -> rusqlite::Result<()> {
    let there: BTreeSet<&str> = places.iter().map(|place| place.study.as_str()).collect();
    let known = texts(index, "SELECT study FROM place")?;
    for study in known.iter().filter(|study| !there.contains(study.as_str())) {
        let ids = known_of(index, study, false)?.into_keys().collect::<Vec<_>>();
        index.remove(study, &ids)?;
        index.connection.execute("DELETE FROM place WHERE study = ?", [study])?;
    }
    Ok(())
}

fn refresh_place(
    index: &mut Index,
    place: &Place,
    look: Look,
    is_over: &dyn Fn() -> bool,
) -> rusqlite::Result<usize> {
    // Taken before the names are read: what comes meanwhile is seen next time.
    let now = stamp_of(&place.directory).unwrap_or_default();
    let query = "SELECT stamp FROM place WHERE study = ?";
    let listed: Option<Stamp> =
        index.connection.query_row(query, [&place.study], |row| row.get(0)).optional()?;
    let is_listed = look == Look::Changes && listed.as_ref() == Some(&now);
    let known = known_of(index, &place.study, is_listed)?;
    let names = if is_listed { known.keys().cloned().collect() } else { ids(&place.directory) };
    let gone: Vec<String> = known.keys().filter(|id| !names.contains(*id)).cloned().collect();
    if !gone.is_empty() {
        index.remove(&place.study, &gone)?;
    }
    let (mut batch, mut left_out) = (Vec::new(), 0);
    for id in names.iter().rev() {
        let known = known.get(id);
        if known.is_some_and(|known| look == Look::Changes && known.is_settled()) {
            continue;
        }
        let now = stamp(&place.directory.join(id));
        if known.is_some_and(|known| known.stamp == now && known.openness < UNDER_WAY) {
            continue;
        }
        if is_over() {
            left_out += usize::from(known.is_none());
            continue;
        }
        batch.push(entry(place, id, now));
        if batch.len() == BATCH {
            index.put(&std::mem::take(&mut batch))?;
        }
    }
    if !batch.is_empty() {
        index.put(&batch)?;
    }
    if left_out == 0 && listed.as_ref() != Some(&now) {
        index.connection.execute("INSERT OR REPLACE INTO place VALUES (?, ?)", params![place.study, now])?;
    }
    Ok(left_out)
}

/// What the index knows of a place: all of it, or what is looked at in any case.
fn known_of(index: &Index, study: &str, open_only: bool) -> rusqlite::Result<BTreeMap<String, Known>> {
    let which = if open_only { " AND (openness > 0 OR stamp = '')" } else { "" };
    let query = format!("SELECT id, stamp, openness FROM run WHERE study = ?{which}");
    let mut query = index.connection.prepare(&query)?;
    let rows = query
        .query_map([study], |row| Ok((row.get(0)?, Known { stamp: row.get(1)?, openness: row.get(2)? })))?;
    rows.collect()
}

fn texts(index: &Index, query: &str) -> rusqlite::Result<Vec<String>> {
    index.connection.prepare(query)?.query_map([], |row| row.get(0))?.collect()
}

/// A run as it is on the disk now.
fn entry(place: &Place, id: &str, stamp: Stamp) -> Entry {
    let directory = place.directory.join(id);
    let mut summary = match Run::open(&directory) {
        Ok(run) => RunSummary::of(run.record(), &directory),
        Err(problems) => RunSummary::unreadable(id, &directory, shelf::why(&problems)),
    };
    // It is found by the name of its directory, which a copy may have changed.
    summary.id = id.to_string();
    summary.study = Some(place.study.clone()).filter(|study| !study.is_empty());
    Entry { stamp, summary }
}
