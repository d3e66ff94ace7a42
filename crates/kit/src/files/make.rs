//! Making a file set on all cores. The first failure of any thread stops all, and nothing of the set is left.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant, UNIX_EPOCH};

use model::{Kind, Problem, Problems, Result, units};

use super::content::Content;
use super::failed;
use super::list::{Entry, FileList, NAME_BYTES, NAMES_EACH, ROUNDING_BYTES, Source};

/// The folder of the files below the directory of the set, so that what is known of it can stand beside them.
pub const MADE: &str = "files";

/// What is made where.
pub struct MakeOptions<'a> {
    /// The files.
    pub list: &'a FileList,
    /// A directory that does not exist yet; the files go into [`MADE`] below it.
    pub into: &'a Path,
    /// The cores that may be used.
    pub threads: usize,
    /// Called some ten times a second.
    pub on_progress: &'a mut dyn FnMut(Making),
    /// Set by another thread to give up soon.
    pub cancelled: &'a AtomicBool,
}

/// How far a set has come, in what it takes on disk ([`FileList::disk_bytes`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Making {
    /// Bytes so far.
    pub done: u64,
    /// Bytes in all.
    pub total: u64,
}

/// How often progress is told and a cancellation is looked for.
const TICK: Duration = Duration::from_millis(100);
/// What a thread writes at once.
const BUFFER_BYTES: usize = 256 * 1024;
/// Beyond the set itself: a disk that is full to the brim serves nobody.
const SPARE_BYTES: u64 = 64 << 20;
/// 1 January 2000, 00:00:00 GMT.
const MODIFIED_S: u64 = 946_684_800;
/// Servers run as another user: they may read the files, nobody may write them.
const FILE_MODE: u32 = 0o444;
/// They may enter every directory.
const FOLDER_MODE: u32 = 0o755;

/// Makes every file and syncs them to disk; how long that took in seconds.
///
/// # Errors
/// A disk without room for the set, before anything is written; what the disk refuses;
/// [`model::Kind::Interrupted`] when cancelled. Nothing is left then.
pub fn make(options: MakeOptions<'_>) -> Result<f64> {
    let started = Instant::now();
    let into = options.into;
    let parent = into.parent().unwrap_or(Path::new("/"));
    check_room(options.list, parent)?;
    make_all(options).inspect_err(|_| _ = fs::remove_dir_all(into))?;
    Ok(started.elapsed().as_secs_f64())
}

fn check_room(list: &FileList, on: &Path) -> Result<()> {
    let free = rustix::fs::statvfs(on)
        .map_err(|error| failed("see how much room the disk has", on, &error.into()))?;
    let free_bytes = free.f_bavail.saturating_mul(free.f_frsize);
    let needed = list.disk_bytes() + SPARE_BYTES;
    if needed <= free_bytes {
        return Ok(());
    }
    let what = format!(
        "the file set needs {} on this disk ({} files, {} as they are served), which has {} free",
        units::show_bytes(needed),
        list.count(),
        units::show_bytes(list.bytes()),
        units::show_bytes(free_bytes)
    );
    Err(Problem::environment(what)
        .file(on.display().to_string())
        .why("a disk that fills up spoils every run on it; nothing has been written")
        .remedy("a smaller --size, `plimsoll clean --datasets`, or a PLIMSOLL_HOME with more room")
        .into())
}

fn make_all(options: MakeOptions<'_>) -> Result<()> {
    let MakeOptions { list, into, threads, on_progress, cancelled } = options;
    let root = into.join(MADE);
    make_folder(into)?;
    make_folder(&root)?;
    list.folders().iter().try_for_each(|folder| make_folder(&root.join(folder)))?;
    let work = Work {
        list,
        root: &root,
        next: AtomicUsize::new(0),
        written: AtomicU64::new(0),
        cancelled,
        failed: Mutex::default(),
        links: list.originals.keys().map(|name| (name.as_str(), Mutex::default())).collect(),
    };
    let total = list.disk_bytes();
    thread::scope(|scope| {
        let crew: Vec<_> = (0..threads.max(1)).map(|_| scope.spawn(|| work.run())).collect();
        let mut told = Instant::now();
        while crew.iter().any(|one| !one.is_finished()) {
            thread::sleep(Duration::from_millis(2));
            if told.elapsed() >= TICK {
                told = Instant::now();
                on_progress(Making { done: work.written.load(Ordering::Relaxed), total });
            }
        }
    });
    let first = work.failed.into_inner().unwrap_or_else(PoisonError::into_inner);
    first.map_or(Ok(()), Err)?;
    if cancelled.load(Ordering::Relaxed) {
        return Err(Problem::new(Kind::Interrupted, "making the file set was interrupted").into());
    }
    // One call for all of them: a call for each file would wait for the disk as often.
    let synced = File::open(&root).and_then(|dir| rustix::fs::syncfs(dir).map_err(io::Error::from));
    synced.map_err(|error| failed("sync the file set to disk", &root, &error).into())
}

fn make_folder(path: &Path) -> Result<()> {
    let made = fs::DirBuilder::new().recursive(true).mode(FOLDER_MODE).create(path);
    // Whatever the umask.
    let made = made.and_then(|()| fs::set_permissions(path, fs::Permissions::from_mode(FOLDER_MODE)));
    made.map_err(|error| failed("make a directory of the file set", path, &error).into())
}

/// What the threads share.
struct Work<'a> {
    list: &'a FileList,
    root: &'a Path,
    next: AtomicUsize,
    written: AtomicU64,
    cancelled: &'a AtomicBool,
    failed: Mutex<Option<Problems>>,
    /// The last copy of each of the kit's files, which others are links to.
    links: BTreeMap<&'a str, Mutex<Option<Linked>>>,
}

/// A copy and how many names it has.
struct Linked {
    original: PathBuf,
    names: u64,
}

impl Linked {
    /// Gives it one more name; false where it has as many as it may have.
    fn name(&mut self, path: &Path) -> io::Result<bool> {
        if self.names >= NAMES_EACH {
            return Ok(false);
        }
        match fs::hard_link(&self.original, path) {
            Ok(()) => self.names += 1,
            // A file system that allows fewer.
            Err(error) if error.kind() == io::ErrorKind::TooManyLinks => return Ok(false),
            Err(error) => return Err(error),
        }
        Ok(true)
    }
}

impl Work<'_> {
    fn run(&self) {
        let mut buffer = vec![0; BUFFER_BYTES];
        while let Some(entry) = self.list.entries.get(self.next.fetch_add(1, Ordering::Relaxed)) {
            if self.cancelled.load(Ordering::Relaxed) {
                return;
            }
            let path = self.root.join(&entry.path);
            if let Err(error) = self.write(entry, &path, &mut buffer) {
                // The others stop at their next file.
                self.next.store(self.list.entries.len(), Ordering::Relaxed);
                let problem = failed("write a file of the file set", &path, &error);
                self.failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(problem.into());
                return;
            }
        }
    }

    fn write(&self, entry: &Entry, path: &Path, buffer: &mut [u8]) -> io::Result<()> {
        match &entry.source {
            Source::Made(bytes) => {
                let mut content = Content::new(self.list.seed, &entry.path, *bytes);
                let mut file = new_file(path)?;
                loop {
                    let count = content.next(buffer);
                    if count == 0 {
                        break;
                    }
                    file.write_all(&buffer[..count])?;
                    self.wrote(count as u64);
                }
                self.wrote(ROUNDING_BYTES);
                date(&file)
            }
            Source::Text(text) => self.whole(path, text),
            Source::Copy(name) => self.link(name, path),
        }
    }

    fn whole(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let mut file = new_file(path)?;
        file.write_all(bytes)?;
        self.wrote(bytes.len() as u64 + ROUNDING_BYTES);
        date(&file)
    }

    fn wrote(&self, bytes: u64) {
        self.written.fetch_add(bytes, Ordering::Relaxed);
    }

    /// The first file of that content is written, the others are links to it, up to [`NAMES_EACH`]; then another one is
    /// written.
    fn link(&self, name: &str, path: &Path) -> io::Result<()> {
        let (Some(bytes), Some(last)) = (self.list.originals.get(name), self.links.get(name)) else {
            return Err(io::Error::other("a copy of a file that was not listed"));
        };
        let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(linked) = last.as_mut()
            && linked.name(path)?
        {
            self.wrote(NAME_BYTES);
            return Ok(());
        }
        self.whole(path, bytes)?;
        *last = Some(Linked { original: path.to_path_buf(), names: 1 });
        Ok(())
    }
}

fn new_file(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().write(true).create_new(true).mode(FILE_MODE).open(path)?;
    // Whatever the umask.
    file.set_permissions(fs::Permissions::from_mode(FILE_MODE))?;
    Ok(file)
}

/// Every file is of the same moment, so that a session knows what to ask for with If-Modified-Since.
fn date(file: &File) -> io::Result<()> {
    file.set_modified(UNIX_EPOCH + Duration::from_secs(MODIFIED_S))
}

/// The bytes of a file of the list, all at once.
pub(super) fn bytes_of(list: &FileList, entry: &Entry) -> Arc<[u8]> {
    match &entry.source {
        Source::Made(length) => {
            let mut bytes = vec![0; *length as usize];
            let (mut content, mut at) = (Content::new(list.seed, &entry.path, *length), 0);
            while at < bytes.len() {
                let end = (at + BUFFER_BYTES).min(bytes.len());
                at += content.next(&mut bytes[at..end]);
            }
            Arc::from(bytes)
        }
        Source::Text(text) => Arc::clone(text),
        Source::Copy(name) => list.originals.get(name).cloned().unwrap_or_default(),
    }
}
