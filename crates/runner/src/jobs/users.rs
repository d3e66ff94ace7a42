//! Another number of users for a job that explores: the wish is a file of the job's folder, which its process looks for once a
//! second.

use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use model::progress::{ProgressLine, Told, UsersAsked};
use model::record::UsersWish;
use model::{Problem, Result};
use store::{Job, JobState};

use super::directory;
use crate::by_hand::out_of_range;

/// The last seconds of a progress file are within this.
const MAX_END_BYTES: u64 = 256 << 10;

/// Where the process of a job looks for how many users are asked for.
pub(super) fn file(home: &Path, id: i64) -> PathBuf {
    directory(home, id).join("users.json")
}

/// Asks for another number of users of a job that explores; what is asked for now. The wish before it, if nobody has looked at it
/// yet, is no more.
///
/// # Errors
/// Its users can't be changed by hand, or not to that number.
pub fn ask_users(home: &Path, job: &Job, wish: UsersWish) -> Result<UsersAsked> {
    let id = job.id;
    if job.state != JobState::Running {
        let what = format!("job {id} is not under way, so it has no users");
        return Err(Problem::recipe(what).key("users").remedy("plimsoll queue list").into());
    }
    let Some(asked) = asked_now(&directory(home, id)) else {
        let problem = Problem::recipe(format!("job {id} has no users that can be changed by hand"));
        let remedy = "only those of `plimsoll explore` can be, once they have come";
        return Err(problem.key("users").remedy(remedy).into());
    };
    if !(1..=asked.max_users).contains(&wish.users) {
        let what = out_of_range(wish.users.into(), asked.max_users);
        return Err(Problem::recipe(what).key("users").into());
    }
    put(&file(home, id), &wish).map_err(|error| {
        let path = file(home, id).display().to_string();
        Problem::environment(format!("the number of users can't be kept: {error}")).file(path)
    })?;
    Ok(UsersAsked { asked_users: wish.users, ..asked })
}

/// Whoever reads it finds one wish or the other, never half of one.
fn put(path: &Path, wish: &UsersWish) -> std::io::Result<()> {
    let new = path.with_extension(format!("{}.new", std::process::id()));
    fs::write(&new, serde_json::to_vec(wish)?)?;
    fs::rename(&new, path).inspect_err(|_| _ = fs::remove_file(&new))
}

/// What the last second of a job's progress says of it; nothing where nobody can ask.
fn asked_now(folder: &Path) -> Option<UsersAsked> {
    let mut file = File::open(folder.join("progress.jsonl")).ok()?;
    let length = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(MAX_END_BYTES))).ok()?;
    let mut text = Vec::new();
    file.read_to_end(&mut text).ok()?;
    let text = String::from_utf8_lossy(&text);
    let lines = text.lines().rev().filter_map(|line| serde_json::from_str::<ProgressLine>(line).ok());
    let mut seconds = lines.filter_map(|line| match line.told {
        Told::Second(second) => Some(second.by_hand),
        _ => None,
    });
    seconds.next()?
}

#[cfg(test)]
mod tests {
    use model::record::AskedBy;
    use store::Queue;

    use super::*;
    use crate::jobs::now;

    #[test]
    fn a_wish_is_kept_only_for_a_job_whose_users_can_be_changed_and_within_its_limits() {
        let home = tempfile::tempdir().expect("a directory");
        let home = home.path();
        let mut queue = Queue::open(home).expect("a queue");
        let words = ["explore", "static"].map(str::to_string);
        let id = queue.add(&words, Path::new("/"), &now()).expect("it is added");
        let ask = |queue: &Queue, users| {
            let wish = UsersWish { users, by: AskedBy::Page };
            ask_users(home, &queue.job(id).expect("it is there"), wish)
                .map_err(|problems| problems.to_string())
        };
        let is = |asked: std::result::Result<UsersAsked, String>, part: &str| {
            let said = asked.expect_err(part);
            assert!(said.contains(part), "{said}");
        };
        is(ask(&queue, 5), "not under way");
        queue.begin(id, &now()).expect("it waits");
        is(ask(&queue, 5), "has no users");
        fs::create_dir_all(directory(home, id)).expect("a directory");
        let progress = directory(home, id).join("progress.jsonl");
        let second = model::progress::SecondProgress {
            by_hand: Some(UsersAsked { asked_users: 20, max_users: 200 }),
            ..Default::default()
        };
        let line = |told| serde_json::to_string(&ProgressLine { at_s: 1.0, told }).expect("JSON") + "\n";
        let note = line(Told::Note { text: "a note".to_string() });
        fs::write(&progress, line(Told::Second(Box::new(second))) + &note + "{\"at_s\":").expect("a file");
        is(ask(&queue, 201), "at most 200");
        is(ask(&queue, 0), "at least 1");
        assert!(!file(home, id).exists());
        assert_eq!(ask(&queue, 40), Ok(UsersAsked { asked_users: 40, max_users: 200 }));
        let kept = fs::read_to_string(file(home, id)).expect("it is kept");
        assert_eq!(kept, r#"{"users":40,"by":"page"}"#);
    }
}
