//! Making what is kept: one plimsoll makes it while others wait for it, and what has its name is whole. Everything else in
//! these folders has a name that begins with a dot, and is used by nobody.

use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

use model::{Plan, Problem, Problems, Result};

use crate::environment::Environment;
use crate::interrupt::Interrupt;
use crate::progress::Progress;

/// Where data sets and file sets are kept, and where what is built from sources is: below the home directory.
pub(super) const DATA_SETS: &str = "datasets";
pub(super) const PRODUCTS: &str = "built";

/// Something that is made once and kept.
pub(super) trait Artefact {
    /// Where things of its kind are kept, below the home directory.
    const FOLDER: &'static str;
    /// What a run needs of it.
    type Ready;

    /// What kind of thing it is, for people.
    fn kind(&self) -> &'static str;

    /// Its name, which tells what it was made from.
    fn id(&self) -> String;

    /// Looks at what is kept at `place`.
    ///
    /// # Errors
    /// It could not be looked at: the user's wish to stop, a lock that can't be made.
    fn open(&self, place: &Path, env: &mut Environment<'_>) -> Result<Found<Self::Ready>>;

    /// Makes it in the directory `half`, which is not there yet; it will be renamed to `place`.
    fn make(&mut self, half: &Path, place: &Path, env: &mut Environment<'_>) -> Result<Self::Ready>;
}

/// What is kept under a name.
pub(super) enum Found<T> {
    Whole(T),
    /// Nothing that this version of Plimsoll could use.
    Nothing,
    /// It is no longer as it was made.
    Damaged(Problems),
}

impl<T> From<Option<T>> for Found<T> {
    fn from(found: Option<T>) -> Found<T> {
        found.map_or(Found::Nothing, Found::Whole)
    }
}

/// The artefact at hand: an earlier one that is whole, or a new one.
pub(super) fn ensure<A: Artefact>(artefact: &mut A, env: &mut Environment<'_>) -> Result<A::Ready> {
    let (folder, id) = (env.home.join(A::FOLDER), artefact.id());
    let place = folder.join(&id);
    if let Found::Whole(ready) = artefact.open(&place, env)? {
        return Ok(ready);
    }
    let _lock = lock(&folder, &id, artefact.kind(), env.interrupt, env.progress)?;
    match artefact.open(&place, env)? {
        // Another plimsoll has made it meanwhile.
        Found::Whole(ready) => return Ok(ready),
        Found::Nothing => {}
        Found::Damaged(problems) => {
            let text = format!("the kept {} is not used, it is made anew: {problems}", artefact.kind());
            env.progress.note(&text);
        }
    }
    remove_half_made(&folder, &id);
    let half = folder.join(format!(".half-{id}-{}", std::process::id()));
    let made = artefact.make(&half, &place, env).and_then(|ready| {
        publish(&half, &place).map(|()| ready).map_err(|error| {
            Problem::environment(format!("failed to keep the {}: {error}", artefact.kind()))
                .file(half.display().to_string())
                .into()
        })
    });
    made.inspect_err(|_| _ = fs::remove_dir_all(&half))
}

/// Holds the right to make what will be kept in `folder` as `id`, until the file is dropped.
fn lock(
    folder: &Path,
    id: &str,
    kind: &str,
    interrupt: &Interrupt,
    progress: &mut dyn Progress,
) -> Result<fs::File> {
    let path = folder.join(format!(".{id}.lock"));
    let failed = |error: &io::Error| {
        Problem::environment(format!("failed to lock the {kind}: {error}")).file(path.display().to_string())
    };
    fs::create_dir_all(folder).map_err(|error| failed(&error))?;
    let file = fs::File::create(&path).map_err(|error| failed(&error))?;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(fs::TryLockError::Error(error)) => return Err(failed(&error).into()),
            Err(fs::TryLockError::WouldBlock) => {}
        }
        interrupt.check()?;
        progress.advance(&format!("another plimsoll is making {kind} {id}"), 0.0);
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// Gives what was made its name by one rename, in the place of what had it and could not be used. Whatever happens to the
/// machine: what has the name is whole.
fn publish(half: &Path, place: &Path) -> io::Result<()> {
    rustix::fs::syncfs(fs::File::open(half)?)?;
    if place.exists() {
        let broken = half.with_file_name(
            half.file_name().unwrap_or_default().to_string_lossy().replacen(".half-", ".broken-", 1),
        );
        fs::rename(place, &broken)?;
        let _ = fs::remove_dir_all(&broken);
    }
    fs::rename(half, place)?;
    place.parent().map_or(Ok(()), |folder| fs::File::open(folder)?.sync_all())
}

/// Removes what killed plimsolls left of the artefact `id`, whose lock is held: nobody else makes it. What can't be removed
/// is in nobody's way.
fn remove_half_made(folder: &Path, id: &str) {
    let of_id = |name: &str| {
        let rest = name.strip_prefix(".half-").or_else(|| name.strip_prefix(".broken-"));
        let process = rest.and_then(|rest| rest.strip_prefix(id)?.strip_prefix('-'));
        process.is_some_and(|process| process.bytes().all(|byte| byte.is_ascii_digit()))
    };
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if of_id(&entry.file_name().to_string_lossy()) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// The CPUs to make it with: that is no measurement, and may use the generator's too.
pub(super) fn all_cpus(plan: &Plan) -> Vec<usize> {
    let mut cpus = [plan.placement.stack.clone(), plan.placement.generator.clone()].concat();
    cpus.sort_unstable();
    cpus.dedup();
    cpus
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::thread;

    use super::*;
    use crate::environment::tests::with_environment;

    /// A file with a number: how often it was made.
    struct Number<'a> {
        made: &'a AtomicU32,
        fails: bool,
    }

    impl Artefact for Number<'_> {
        const FOLDER: &'static str = "numbers";
        type Ready = u32;

        fn kind(&self) -> &'static str {
            "number"
        }

        fn id(&self) -> String {
            "one".to_string()
        }

        fn open(&self, place: &Path, _env: &mut Environment<'_>) -> Result<Found<u32>> {
            let Ok(text) = fs::read_to_string(place.join("number")) else { return Ok(Found::Nothing) };
            Ok(match text.parse() {
                Ok(number) => Found::Whole(number),
                Err(_) => Found::Damaged(Problem::environment("it is no number").into()),
            })
        }

        fn make(&mut self, half: &Path, _place: &Path, _env: &mut Environment<'_>) -> Result<u32> {
            let number = self.made.fetch_add(1, Ordering::SeqCst) + 1;
            fs::create_dir_all(half).expect("a directory");
            fs::write(half.join("number"), number.to_string()).expect("a file");
            if self.fails { Err(Problem::environment("it failed").into()) } else { Ok(number) }
        }
    }

    fn entries(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).expect("it is there").flatten();
        let mut names: Vec<String> =
            entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    #[test]
    fn of_many_who_want_it_one_makes_it_and_it_is_made_anew_when_it_is_damaged() {
        let home = tempfile::tempdir().expect("a directory");
        let made = AtomicU32::new(0);
        let get =
            || with_environment(home.path(), |env| ensure(&mut Number { made: &made, fails: false }, env));
        let all = thread::scope(|scope| {
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| get().0.expect("a number"))).collect();
            threads.into_iter().map(|one| one.join().expect("no panic")).collect::<Vec<_>>()
        });
        assert_eq!((all, made.load(Ordering::SeqCst)), (vec![1; 4], 1));
        fs::write(home.path().join("numbers/one/number"), "x").expect("ours");
        let (number, told) = get();
        assert_eq!(number.expect("a number"), 2);
        assert_eq!(told, ["the kept number is not used, it is made anew: it is no number"]);
        assert_eq!(entries(&home.path().join("numbers")), [".one.lock", "one"]);
    }

    #[test]
    fn what_failed_has_no_name_and_leaves_nothing() {
        let home = tempfile::tempdir().expect("a directory");
        let made = AtomicU32::new(0);
        let (number, _) =
            with_environment(home.path(), |env| ensure(&mut Number { made: &made, fails: true }, env));
        assert_eq!(number.expect_err("it failed").to_string(), "it failed");
        assert_eq!(entries(&home.path().join("numbers")), [".one.lock"]);
    }

    #[test]
    fn what_killed_ones_left_half_made_is_removed_and_nobody_elses() {
        let home = tempfile::tempdir().expect("a directory");
        let names = [
            ".half-shop-1-77",
            ".broken-shop-1-78",
            ".half-shop-12-77",
            ".half-shop-1-a-7",
            ".half-run-1",
            "shop-1",
        ];
        for name in names {
            fs::create_dir_all(home.path().join(name).join("files")).expect("a directory");
        }
        fs::write(home.path().join(".shop-1.lock"), "").expect("a file");
        remove_half_made(home.path(), "shop-1");
        remove_half_made(&home.path().join("nowhere"), "shop-1");
        assert_eq!(
            entries(home.path()),
            [".half-run-1", ".half-shop-1-a-7", ".half-shop-12-77", ".shop-1.lock", "shop-1"]
        );
    }
}
