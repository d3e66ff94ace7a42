//! The file set of a plan: made once, kept beside the data sets, served or linked to by each run.

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Instant;

use kit::files::{self, FileList, MADE, MakeOptions};
use model::record::{FileSetResult, Step};
use model::{Plan, Problem, Result, units};
use serde_json::Value as Json;
use testbed::Mounted;

use crate::artefact::cache::{self, Artefact, Found, all_cpus};
use crate::artefact::in_use::{self, Use};
use crate::artefact::{own_file_system, settled_files};
use crate::environment::Environment;
use crate::servers::Ground;

/// The version of `file_set.json`.
const FORMAT: u64 = 1;
const ABOUT: &str = "file_set.json";
/// Number of files of a kept set that are compared byte by byte with what was made, whenever it is opened.
const SAMPLE: usize = 16;
/// What a set takes on disk is told where it differs from the files' lengths by more than one part in this number.
const TOLD_PARTS: u64 = 10;

/// A file set at hand.
pub(crate) struct FileSet {
    /// The directory of the files.
    pub(crate) root: PathBuf,
    /// Every file, in the order in which the kit's script names them.
    pub(crate) paths: Vec<PathBuf>,
    /// For the record.
    pub(crate) result: FileSetResult,
    /// Seconds that making it took and letting servers settle it, whenever that was.
    pub(crate) cost_s: f64,
    /// Its own file system, where names are to be cold.
    pub(crate) mounted: Option<Mounted>,
    /// As long as it lives, others see that the kept file set is in use.
    in_use: File,
}

impl FileSet {
    /// From now on it is what servers have made of it, at `root`; where that took time just now, it counts as its making.
    pub(super) fn settled(&mut self, root: PathBuf, made_s: f64, reused: bool) {
        self.move_to(root);
        self.cost_s += made_s;
        if !reused {
            let before_s = if self.result.reused { 0.0 } else { self.result.made_s };
            (self.result.made_s, self.result.reused) = (before_s + made_s, false);
        }
    }

    /// The same files are at `root` now.
    pub(super) fn move_to(&mut self, root: PathBuf) {
        self.paths.iter_mut().for_each(|path| {
            if let Ok(inside) = path.strip_prefix(&self.root) {
                *path = root.join(inside);
            }
        });
        self.root = root;
    }
}

/// The plan's file set, in use by `who` as `how` says: an earlier one that is still what it was, or a new one; settled where a
/// service does that, and in a file system of its own where it is to have `cold_names`. `None` for a kit without.
pub(crate) fn ensure(
    ground: Ground<'_>,
    (who, how): (&str, Use),
    cold_names: bool,
    steps: &mut Vec<Step>,
    env: &mut Environment<'_>,
) -> Result<Option<FileSet>> {
    let plan = ground.plan;
    if plan.kit.file_set.is_none() {
        return Ok(None);
    }
    let kit = kit::Kit::open(env.catalogue, &plan.kit.name)?;
    let list = files::list(&kit, &kit::Setup::of_plan(plan), env.catalogue)?;
    let list = list.ok_or_else(|| Problem::bug("a kit that lost its file set"))?;
    let id = list.id(&plan.size.label);
    let mut wanted = Wanted { plan, list: &list, id: &id, who, how, steps };
    let mut set = cache::ensure(&mut wanted, env)?;
    if how == Use::Shared {
        in_use::share(&set.in_use, &id, env)?;
    }
    settled_files::ensure(ground, &mut set, steps, env)?;
    if cold_names {
        own_file_system::mount(ground.lab, &mut set, steps, env)?;
    }
    Ok(Some(set))
}

/// A set that is to be used. It is in use before it is looked at: a look reads some of its files, into the page cache that
/// another run may have for itself; and what a run serves is not to be made anew under it. Others who lack it wait until it
/// is made, and not until the run that makes it has ended.
struct Wanted<'a> {
    plan: &'a Plan,
    list: &'a FileList,
    id: &'a str,
    who: &'a str,
    how: Use,
    steps: &'a mut Vec<Step>,
}

impl Artefact for Wanted<'_> {
    const FOLDER: &'static str = cache::DATA_SETS;
    type Ready = FileSet;

    fn kind(&self) -> &'static str {
        "file set"
    }

    fn id(&self) -> String {
        self.id.to_string()
    }

    /// It is free again where it is not whole.
    fn open(&self, place: &Path, env: &mut Environment<'_>) -> Result<Found<FileSet>> {
        let in_use = in_use::take(self.id, self.who, self.how, env)?;
        Ok(match read_verified(place, self.id, self.list) {
            Ok(result) => result.map(|result| self.at(place, result, in_use)).into(),
            Err(problems) => Found::Damaged(problems),
        })
    }

    fn make(&mut self, half: &Path, place: &Path, env: &mut Environment<'_>) -> Result<FileSet> {
        let in_use = in_use::take(self.id, self.who, Use::Alone, env)?;
        let (id, list) = (self.id, self.list);
        let failed = |what: &str, error: &std::io::Error| {
            Problem::environment(format!("failed to {what} the file set: {error}"))
                .file(half.display().to_string())
        };
        // Servers run as a user of their own and must be able to enter.
        let open_folder = |folder| fs::set_permissions(folder, fs::Permissions::from_mode(0o755));
        half.parent().map_or(Ok(()), open_folder).map_err(|error| failed("make room for", &error))?;
        let (files, bytes, disk_bytes) = (list.count(), list.bytes(), list.disk_bytes());
        let size = size(bytes, disk_bytes);
        env.progress.step(&format!("making {files} files, {size} ({id}): this is done once"));
        let made_s = self.make_files(half, env)?;
        let about = serde_json::json!({ "format": FORMAT, "id": id, "files": files, "bytes": bytes, "made_s": made_s });
        fs::write(half.join(ABOUT), format!("{about:#}")).map_err(|error| failed("describe", &error))?;
        self.steps.push(Step { name: "make the file set".to_string(), took_s: made_s });
        env.progress.done(&format!(
            "file set {id}: {files} files, {size}, made in {} ({}/s)",
            units::show_seconds(made_s),
            units::show_bytes((disk_bytes as f64 / made_s) as u64)
        ));
        let id = id.to_string();
        let result = FileSetResult { id, files, bytes, made_s, reused: false, page_cache: None };
        Ok(self.at(place, result, in_use))
    }
}

impl Wanted<'_> {
    fn at(&self, place: &Path, result: FileSetResult, in_use: File) -> FileSet {
        let root = place.join(MADE);
        let paths = self.list.files().map(|(path, _)| root.join(path)).collect();
        FileSet { root, paths, cost_s: result.made_s, result, mounted: None, in_use }
    }

    /// How long it took in seconds.
    fn make_files(&self, half: &Path, env: &mut Environment<'_>) -> Result<f64> {
        let started = Instant::now();
        let progress = &mut *env.progress;
        files::make(MakeOptions {
            list: self.list,
            into: half,
            threads: all_cpus(self.plan).len(),
            on_progress: &mut |making| {
                let (done, per_s) =
                    (making.done as f64, making.done as f64 / started.elapsed().as_secs_f64());
                let text = format!(
                    "making files: {} of {}, {}/s",
                    units::show_bytes(making.done),
                    units::show_bytes(making.total),
                    units::show_bytes(per_s as u64)
                );
                // More than was expected where the file system allows few links.
                progress.advance(&text, (done / making.total.max(1) as f64).min(1.0));
            },
            cancelled: &env.interrupt.cancelled,
        })
    }
}

/// What is kept under the set's name, if there is one.
///
/// # Errors
/// It is not as it was made.
fn read_verified(place: &Path, id: &str, list: &FileList) -> Result<Option<FileSetResult>> {
    let Some(result) = read_about(place, id, list) else { return Ok(None) };
    files::check(list, place, SAMPLE)?;
    Ok(Some(result))
}

fn read_about(place: &Path, id: &str, list: &FileList) -> Option<FileSetResult> {
    let about: Json = serde_json::from_slice(&fs::read(place.join(ABOUT)).ok()?).ok()?;
    let number = |key: &str| about.get(key)?.as_u64();
    let (files, bytes) = (list.count(), list.bytes());
    if (number("format")?, number("files")?, number("bytes")?) != (FORMAT, files, bytes) {
        return None;
    }
    let made_s = about.get("made_s")?.as_f64()?;
    Some(FileSetResult { id: id.to_string(), files, bytes, made_s, reused: true, page_cache: None })
}

/// What a set's files have as they are served, and what they take on disk where that is something else: links take no
/// room, small files more than their length.
fn size(bytes: u64, disk_bytes: u64) -> String {
    let served = units::show_bytes(bytes);
    if disk_bytes.abs_diff(bytes) <= bytes / TOLD_PARTS {
        return served;
    }
    format!("{served} as they are served, {} on disk", units::show_bytes(disk_bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_set_takes_on_disk_is_told_where_it_is_something_else() {
        assert_eq!(size(51_000_000, 52_000_000), "51.0 MB");
        assert_eq!(size(80_000_000_000, 300_000_000), "80.0 GB as they are served, 300 MB on disk");
        assert_eq!(size(1000, 43_000), "1.00 kB as they are served, 43.0 kB on disk");
    }
}
