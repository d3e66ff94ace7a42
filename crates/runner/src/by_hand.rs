//! A run whose number of users is changed by hand: who asks for how many, and what became of it.
//!
//! The principal type is [`ByHand`], the pace of such a run. Wishes are looked for once a second, when one has ended: so a change
//! stands at the boundary of two seconds, and the threads that drive the users know nothing of where wishes come from. Not here:
//! how users come and go (`engine::users`).

use std::fs;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::mpsc::Receiver;

use analysis::Steady;
use engine::Second;
use model::progress::UsersAsked;
use model::record::plan::Load;
use model::record::{AskedBy, Event, LoadChange, UsersWish};

use crate::interrupt::Interrupt;
use crate::pace::{Pace, Pacing, Planned};

/// A file with a wish is far smaller.
const MAX_FILE_BYTES: u64 = 4_096;
/// `+` and `-` change the number by this part of it.
const STEP_RATIO: f64 = 0.1;

/// Where wishes for another number of users come from.
#[derive(Debug)]
pub struct Wishes {
    /// Lines that somebody types: a number, `+`, `-`, `+5`, `-5`, or `q` for the end.
    pub typed: Receiver<String>,
    /// A file that is put in the place of the one before for each wish; there may be none yet.
    pub file: Option<PathBuf>,
}

/// What a wish comes to.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Wish {
    Users(i64, AskedBy),
    End,
    /// It can't be read; why.
    Wrong(String),
}

/// The pace of a run whose number of users is changed by hand.
pub(crate) struct ByHand<'a> {
    pub(crate) planned: Planned,
    wishes: &'a Wishes,
    /// Inode and time of the file that was read last.
    file_read: Option<(u64, i64, i64)>,
    interrupt: &'a Interrupt,
    asked: UsersAsked,
    max_length_s: f64,
    ended_s: f64,
    pub(crate) changes: Vec<LoadChange>,
}

impl<'a> ByHand<'a> {
    /// Of a load of which the number of users is changed by hand.
    pub(crate) fn of(load: &Load, wishes: &'a Wishes, interrupt: &'a Interrupt) -> ByHand<'a> {
        let max_users = load.by_hand.map_or(load.users, |by_hand| by_hand.max_users);
        ByHand {
            planned: Planned::of(load),
            wishes,
            file_read: None,
            interrupt,
            asked: UsersAsked { asked_users: load.users, max_users },
            max_length_s: load.total_s(),
            ended_s: 0.0,
            changes: Vec::new(),
        }
    }

    /// What was asked for since the last look, in the order of asking.
    fn look(&mut self) -> Vec<Wish> {
        let mut wishes = Vec::new();
        let (mut users, most) = (i64::from(self.asked.asked_users), i64::from(self.asked.max_users));
        for line in self.wishes.typed.try_iter() {
            wishes.extend(read_line(&line, users));
            // What is not given changes nothing for those that follow.
            match wishes.last() {
                Some(Wish::Users(wanted, _)) if (1..=most).contains(wanted) => users = *wanted,
                _ => {}
            }
        }
        wishes.extend(self.wishes.file.as_deref().and_then(|path| read_file(path, &mut self.file_read)));
        wishes
    }

    fn ask(&mut self, wanted: i64, by: AskedBy, pacing: &mut Pacing) {
        let UsersAsked { asked_users: from, max_users } = self.asked;
        let Some(to) = u32::try_from(wanted).ok().filter(|to| (1..=max_users).contains(to)) else {
            return pacing.notes.push(out_of_range(wanted, max_users));
        };
        if to == from {
            return;
        }
        let change = LoadChange { second: self.ended_s, from, to, by };
        self.asked.asked_users = to;
        self.changes.push(change);
        pacing.users = Some(to);
        let text = wording::load_change(&change);
        pacing.events.push(Event { second: change.second, kind: "load".to_string(), text });
    }
}

impl Pace for ByHand<'_> {
    fn second(&mut self, second: &Second<'_>) -> Pacing {
        self.ended_s = f64::from(second.interval.second) + 1.0;
        let mut pacing = self.planned.second(second);
        // The end of what it may take at most is no ramp-down.
        pacing.events.clear();
        for wish in self.look() {
            match wish {
                Wish::Users(wanted, by) => self.ask(wanted, by, &mut pacing),
                Wish::End => _ = self.interrupt.ask(),
                Wish::Wrong(why) => pacing.notes.push(why),
            }
        }
        pacing
    }

    fn steady(&self) -> &Steady {
        &self.planned.steady
    }

    /// It is no result: nothing has to wait for it.
    fn counts(&self) -> bool {
        false
    }

    fn words(&self) -> (String, f64) {
        let UsersAsked { asked_users, .. } = self.asked;
        let plural = if asked_users == 1 { "user" } else { "users" };
        let words = format!("{asked_users} {plural} asked for, {:.0} s", self.ended_s);
        (words, self.ended_s / self.max_length_s)
    }

    fn by_hand(&self) -> Option<UsersAsked> {
        Some(self.asked)
    }

    fn load_changes(&self) -> &[LoadChange] {
        &self.changes
    }
}

/// Why a number of users is not given.
pub(crate) fn out_of_range(wanted: i64, max_users: u32) -> String {
    match wanted {
        ..1 => format!("{wanted} users can't be asked for: at least 1 (q ends the run)"),
        _ => format!("{wanted} users can't be asked for: at most {max_users} (--max-users)"),
    }
}

/// What a typed line wishes, where `users` are asked for now; an empty one wishes nothing.
fn read_line(line: &str, users: i64) -> Option<Wish> {
    let line = line.trim();
    let step = ((users as f64 * STEP_RATIO).round() as i64).max(1);
    let users = match line {
        "" => return None,
        "q" | "quit" => return Some(Wish::End),
        "+" => Some(users + step),
        "-" => Some(users - step),
        // A sign makes it a difference.
        _ => line.parse::<i64>().ok().map(|number| match line.starts_with(['+', '-']) {
            true => users.saturating_add(number),
            false => number,
        }),
    };
    let wrong =
        || Wish::Wrong(format!("`{line}` is no number of users: a number, +, -, +5, -5, or q to end"));
    Some(users.map_or_else(wrong, |users| Wish::Users(users, AskedBy::Terminal)))
}

/// What the file wishes, where it is another one than that of `before`.
fn read_file(path: &Path, before: &mut Option<(u64, i64, i64)>) -> Option<Wish> {
    // Whoever wishes nothing yet has made none. What is no file could keep whoever reads it waiting.
    let facts = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    let found = (facts.ino(), facts.mtime(), facts.mtime_nsec());
    if before.replace(found) == Some(found) {
        return None;
    }
    let mut text = String::new();
    let read = fs::File::open(path).and_then(|file| file.take(MAX_FILE_BYTES).read_to_string(&mut text));
    let wish = read
        .map_err(|error| error.to_string())
        .and_then(|_| serde_json::from_str::<UsersWish>(&text).map_err(|error| error.to_string()));
    Some(match wish {
        Ok(UsersWish { users, by }) => Wish::Users(users.into(), by),
        Err(why) => {
            let how = "{\"users\": 20}";
            Wish::Wrong(format!("{}: no number of users ({why}); such as {how}", path.display()))
        }
    })
}

#[cfg(test)]
mod tests;
