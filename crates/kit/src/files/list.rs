//! Which files a set has, as its script says: every path and length, before anything is written.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::rc::Rc;
use std::sync::Arc;

use engine::random::Stream;
use engine::script::natives::{self, CurrentStream};
use mlua::{Error, Lua, Table, Value};
use model::{Catalogue, Problem, Result};
use sha2::{Digest, Sha256};

use super::declaration::{self, Part};
use crate::folder::{Kit, Setup};
use crate::script;

/// Counts up whenever the same list makes other bytes: kept sets are then made anew.
const CONTENT_VERSION: u64 = 2;
/// The largest number of names of one copy of a kit's file, then another one is made: ext4 lets a file have 65,000, and each
/// run that links to a set at the same time adds as many again.
pub(super) const NAMES_EACH: u64 = 1000;
/// What a file takes beyond its length, at most, where blocks are as large as a page; with its entry.
pub(super) const ROUNDING_BYTES: u64 = 4096 + NAME_BYTES;
/// What one more name of a file takes.
pub(super) const NAME_BYTES: u64 = 256;
/// More files than this are a mistake of the script.
const MAX_FILES: usize = 10_000_000;
/// The stream of the script's top level; no chunk has it.
const TOP_LEVEL: u64 = u64::MAX;

/// The files of a set, in the order in which the script names them.
#[derive(Debug, Clone, PartialEq)]
pub struct FileList {
    pub(super) entries: Vec<Entry>,
    /// The kit's own files that are copied, by their name in its folder.
    pub(super) originals: BTreeMap<String, Arc<[u8]>>,
    pub(super) seed: u64,
    kit: String,
    version: u32,
}

/// A file of a set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    /// Relative to the set's directory.
    pub(super) path: String,
    pub(super) source: Source,
}

/// Where a file's bytes come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Source {
    /// The number of bytes that are made.
    Made(u64),
    Text(Arc<[u8]>),
    /// A file of the kit's folder.
    Copy(String),
}

impl FileList {
    /// How many files there are.
    pub fn count(&self) -> u64 {
        self.entries.len() as u64
    }

    /// Their lengths together; what is linked counts each time.
    pub fn bytes(&self) -> u64 {
        self.entries.iter().map(|entry| self.length(entry)).sum()
    }

    /// What they take on disk, at most: what is linked counts once for each copy, and every name and inode a little.
    pub fn disk_bytes(&self) -> u64 {
        let mut names: BTreeMap<&str, u64> = BTreeMap::new();
        let mut bytes = 0;
        for entry in &self.entries {
            match &entry.source {
                Source::Copy(name) => *names.entry(name).or_default() += 1,
                Source::Made(_) | Source::Text(_) => bytes += self.length(entry) + ROUNDING_BYTES,
            }
        }
        bytes + names.into_iter().map(|(name, count)| self.linked_bytes(name, count)).sum::<u64>()
    }

    /// What `count` names of one of the kit's files take.
    fn linked_bytes(&self, name: &str, count: u64) -> u64 {
        let copies = count.div_ceil(NAMES_EACH);
        copies * (self.original_length(name) + ROUNDING_BYTES) + (count - copies) * NAME_BYTES
    }

    /// Every directory below the set's own, parents before what is in them.
    pub(super) fn folders(&self) -> BTreeSet<&str> {
        let paths = self.entries.iter().map(|entry| entry.path.as_str());
        paths.flat_map(|path| path.match_indices('/').map(move |(end, _)| &path[..end])).collect()
    }

    /// Every path with its length, in the script's order.
    pub fn files(&self) -> impl DoubleEndedIterator<Item = (&str, u64)> {
        self.entries.iter().map(|entry| (entry.path.as_str(), self.length(entry)))
    }

    pub(super) fn length(&self, entry: &Entry) -> u64 {
        match &entry.source {
            Source::Made(bytes) => *bytes,
            Source::Text(text) => text.len() as u64,
            Source::Copy(name) => self.original_length(name),
        }
    }

    fn original_length(&self, name: &str) -> u64 {
        self.originals.get(name).map_or(0, |bytes| bytes.len() as u64)
    }

    /// A stable word for the set that [`super::make`] would make: the same for the same files, another for others.
    pub fn id(&self, size_label: &str) -> String {
        let mut hash = Sha256::new();
        let mut add = |bytes: &[u8]| {
            hash.update((bytes.len() as u64).to_le_bytes());
            hash.update(bytes);
        };
        [CONTENT_VERSION, self.seed, u64::from(self.version)]
            .iter()
            .for_each(|number| add(&number.to_le_bytes()));
        for (name, bytes) in &self.originals {
            add(name.as_bytes());
            add(bytes);
        }
        for entry in &self.entries {
            add(entry.path.as_bytes());
            match &entry.source {
                Source::Made(bytes) => add(&bytes.to_le_bytes()),
                Source::Text(text) => add(text),
                Source::Copy(name) => add(name.as_bytes()),
            }
        }
        let word: String = hash.finalize().iter().take(6).map(|byte| format!("{byte:02x}")).collect();
        let label: String = size_label.to_lowercase().chars().filter(char::is_ascii_alphanumeric).collect();
        format!("{}-files-{label}-{word}", self.kit)
    }
}

/// The files that the kit's script names; `None` for a kit without a file set.
///
/// # Errors
/// The script's mistakes with file and line: paths that leave the set's directory or come twice, a file of the kit that
/// does not exist.
pub fn list(kit: &Kit, setup: &Setup, catalogue: &Catalogue) -> Result<Option<FileList>> {
    let Some(set) = &kit.manifest.file_set else { return Ok(None) };
    let script = &set.script;
    let named = Rc::new(RefCell::new(Named::default()));
    let stream = CurrentStream::new(Stream::new(setup.seed, TOP_LEVEL));
    let prepare = || {
        let (lua, budget) = script::new_state(kit, setup)?;
        natives::install(&lua, &stream)?;
        install(&lua, &named, kit, catalogue)?;
        Ok((lua, budget))
    };
    let (lua, budget) = prepare().map_err(|error| script::problem(kit, script, &error))?;
    let parts = declaration::parts(kit, script, &lua)?;
    named.borrow_mut().open = true;
    for (index, part) in parts.iter().enumerate() {
        for number in 0..part.count.div_ceil(part.chunk) {
            stream.set(Stream::new(setup.seed, ((index as u64) << 48) | number));
            budget.renew();
            call(part, number).map_err(|error| script::problem(kit, script, &error))?;
        }
    }
    let Named { entries, originals, .. } = named.take();
    if entries.is_empty() {
        return Err(Problem::recipe("the script names no file").file(kit.path_of(script)).into());
    }
    let manifest = &kit.manifest;
    let (kit, version) = (manifest.name.clone(), manifest.version);
    Ok(Some(FileList { entries, originals, seed: setup.seed, kit, version }))
}

fn call(part: &Part, number: u64) -> mlua::Result<()> {
    let first = number * part.chunk + 1;
    part.make.call((first, (first + part.chunk - 1).min(part.count)))
}

/// What the script has named so far.
#[derive(Default)]
struct Named {
    open: bool,
    entries: Vec<Entry>,
    paths: HashSet<String>,
    folders: HashSet<String>,
    originals: BTreeMap<String, Arc<[u8]>>,
}

/// Defines `file(path, { bytes = n })`, `file(path, { text = "…" })` and `file(path, { copy = "photo.jpg" })`.
fn install(lua: &Lua, named: &Rc<RefCell<Named>>, kit: &Kit, catalogue: &Catalogue) -> mlua::Result<()> {
    let named = Rc::clone(named);
    let folder = format!("kits/{}", kit.manifest.name);
    let known: BTreeMap<String, Arc<[u8]>> =
        catalogue.below(&folder).map(|(path, bytes)| (path.to_string(), Arc::from(bytes.to_vec()))).collect();
    let file = move |_: &Lua, (path, from): (String, Table)| {
        let mut named = named.try_borrow_mut().map_err(Error::external)?;
        let source = read_source(&from, &known, &mut named.originals)
            .map_err(|what| Error::runtime(format!("file `{path}`: {what}")))?;
        named.add(path, source).map_err(Error::runtime)
    };
    lua.globals().raw_set("file", lua.create_function(file)?)
}

fn read_source(
    from: &Table,
    known: &BTreeMap<String, Arc<[u8]>>,
    originals: &mut BTreeMap<String, Arc<[u8]>>,
) -> Result<Source, String> {
    let given = |key: &str| from.raw_get::<Value>(key).unwrap_or(Value::Nil);
    let one = "say one of bytes = a number, text = a string, copy = a file of the kit's folder";
    match (given("bytes"), given("text"), given("copy")) {
        (Value::Integer(bytes), Value::Nil, Value::Nil) => {
            u64::try_from(bytes).map(Source::Made).map_err(|_| "bytes is negative".to_string())
        }
        (Value::Number(bytes), Value::Nil, Value::Nil)
            if bytes.fract() == 0.0 && (0.0..1e15).contains(&bytes) =>
        {
            Ok(Source::Made(bytes as u64))
        }
        (Value::Nil, Value::String(text), Value::Nil) => Ok(Source::Text(Arc::from(&*text.as_bytes()))),
        (Value::Nil, Value::Nil, Value::String(name)) => {
            let name = name.to_string_lossy();
            let bytes = known.get(name.as_str()).ok_or_else(|| format!("the kit has no file `{name}`"))?;
            originals.entry(name.clone()).or_insert_with(|| Arc::clone(bytes));
            Ok(Source::Copy(name))
        }
        _ => Err(one.to_string()),
    }
}

impl Named {
    fn add(&mut self, path: String, source: Source) -> Result<(), String> {
        if !self.open {
            return Err("file works only inside of `make`".to_string());
        }
        if let Some(what) = fault(&path) {
            return Err(format!("`{}` can't be a file's path: {what}", path.escape_debug()));
        }
        if self.entries.len() == MAX_FILES {
            return Err(format!("more than {MAX_FILES} files"));
        }
        let above = path.match_indices('/').map(|(end, _)| &path[..end]);
        if let Some(folder) = above.clone().find(|folder| self.paths.contains(*folder)) {
            return Err(format!("`{folder}` is a file already, so `{path}` can't be below it"));
        }
        let new: Vec<String> = above.filter(|one| !self.folders.contains(*one)).map(str::to_string).collect();
        self.folders.extend(new);
        if self.folders.contains(&path) || !self.paths.insert(path.clone()) {
            return Err(format!("`{path}` is named twice"));
        }
        self.entries.push(Entry { path, source });
        Ok(())
    }
}

/// What is wrong with a path: it must be one below the set's directory on any system, and stand in a URL as it is.
fn fault(path: &str) -> Option<&'static str> {
    let fine = |c: char| c.is_ascii_alphanumeric() || "._-/+@~".contains(c);
    if path.is_empty() || path.len() > 1000 {
        return Some("it has 1 to 1000 characters");
    }
    if path.starts_with('/') || path.ends_with('/') {
        return Some("it is relative, and a file's");
    }
    if path.split('/').any(|part| matches!(part, "" | "." | "..") || part.len() > 255) {
        return Some("each of its parts is a name of at most 255 characters, not `.` or `..`");
    }
    (!path.chars().all(fine)).then_some("it has only letters, digits and . _ - + @ ~ /")
}
