//! Guests side by side: their figures, verdicts and what is said of them, as the terminal and the page show them.

use model::record::{GuestResult, Outcome};

use crate::figures;
use crate::headline::sentence;

/// A figure of each guest.
pub(crate) struct GuestFigure {
    /// At the head of a column.
    pub(crate) short: &'static str,
    /// At the head of a row.
    pub(crate) title: &'static str,
    /// Its value with its unit.
    pub(crate) value: fn(&GuestResult) -> String,
}

const fn figure(short: &'static str, title: &'static str, value: fn(&GuestResult) -> String) -> GuestFigure {
    GuestFigure { short, title, value }
}

/// What it was to do, and did for its users.
pub(crate) const LOAD: [GuestFigure; 6] = [
    figure("users", "Users", |guest| figures::count(guest.users.into())),
    figure("/s", "Operations per second", |guest| figures::number(Some(guest.per_s))),
    figure("mean", "Mean response time", |guest| figures::time(guest.mean_s)),
    figure("p95", "p95", |guest| figures::time(guest.p95_s)),
    figure("p99", "p99", |guest| figures::time(guest.p99_s)),
    figure("failed", "Failed operations", |guest| figures::percent(Some(guest.failed_ratio))),
];

/// What it took of the machine.
pub(crate) const USE: [GuestFigure; 2] = [
    figure("cores", "Cores used", |guest| figures::number(guest.cpu_cores)),
    figure("memory", "Largest memory", |guest| figures::bytes(guest.memory_bytes)),
];

/// What it took to come to stand.
pub(crate) const CLONE: [GuestFigure; 4] = [
    figure("copied in", "Data copied in", |guest| figures::time(Some(guest.cloned.copy_s))),
    figure("started in", "Servers started in", |guest| figures::time(Some(guest.cloned.start_s))),
    figure("ready after", "First answer after", |guest| figures::time(Some(guest.cloned.ready_s))),
    figure("disk", "Taken of the disk by the copy", |guest| figures::bytes(Some(guest.cloned.disk_bytes))),
];

/// What all servers of a guest may use together: `0.5 cores, 2.62 GB`.
pub(crate) fn limits(guest: &GuestResult) -> String {
    let guest = &guest.guest;
    let limits = wording::guest_limits(guest.cpu_limit_cores, guest.memory_limit_bytes);
    limits.map_or_else(|| "none".to_string(), |limits| limits.trim_end_matches(" of memory").to_string())
}

/// Whether any of them is limited.
pub(crate) fn some_limited(guests: &[GuestResult]) -> bool {
    guests.iter().any(|one| one.guest.cpu_limit_cores.is_some() || one.guest.memory_limit_bytes.is_some())
}

/// How a guest's run ended and what it came to, in a word or two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    Pass,
    /// The targets that are missed are told beside.
    Misses,
    /// Valid, with no target to meet.
    Valid,
    NotValid,
    Ended(Outcome),
}

impl Verdict {
    pub(crate) fn of(guest: &GuestResult) -> Verdict {
        match (guest.outcome, guest.valid, guest.pass) {
            (Outcome::Completed, true, Some(true)) => Verdict::Pass,
            (Outcome::Completed, true, Some(false)) => Verdict::Misses,
            (Outcome::Completed, true, None) => Verdict::Valid,
            (Outcome::Completed, false, _) => Verdict::NotValid,
            (other, ..) => Verdict::Ended(other),
        }
    }

    pub(crate) fn word(self) -> &'static str {
        match self {
            Verdict::Pass => "pass",
            Verdict::Misses => "misses",
            Verdict::Valid => "valid",
            Verdict::NotValid => "not valid",
            Verdict::Ended(Outcome::Interrupted) => "interrupted",
            Verdict::Ended(Outcome::Unfinished) => "unfinished",
            Verdict::Ended(_) => "aborted",
        }
    }
}

/// How far guests are apart, and which was slowest.
pub(crate) fn apart(guests: &[GuestResult]) -> Option<String> {
    wording::guests_apart(guests).map(|said| sentence(&said))
}

/// What it took to make them.
pub(crate) fn clones(guests: &[GuestResult]) -> Option<String> {
    wording::clones(guests).map(|said| sentence(&said))
}

/// Which guests miss what, and what holds which: those of which the same is to be said are told at once.
pub(crate) fn remarks(guests: &[GuestResult]) -> Vec<String> {
    missed(guests).into_iter().chain(held(guests)).collect()
}

fn missed(guests: &[GuestResult]) -> Vec<String> {
    let missed = |guest: &GuestResult| {
        let misses = Verdict::of(guest) == Verdict::Misses && !guest.missed.is_empty();
        misses.then(|| guest.missed.join(", "))
    };
    let said = |(numbers, what): (Vec<u32>, String)| {
        let verb = if numbers.len() == 1 { "misses" } else { "miss" };
        format!("{} {verb} {what}", wording::guest_numbers(&numbers))
    };
    alike(guests, missed).into_iter().map(said).collect()
}

/// What holds which.
pub(crate) fn held(guests: &[GuestResult]) -> Vec<String> {
    let said = |(numbers, what): (Vec<u32>, String)| {
        format!("what holds {}: {what}", wording::guest_numbers(&numbers))
    };
    alike(guests, |guest| guest.held_by.clone()).into_iter().map(said).collect()
}

/// The numbers of the guests of which the same is to be said, in the order of the first of each.
fn alike(guests: &[GuestResult], of: impl Fn(&GuestResult) -> Option<String>) -> Vec<(Vec<u32>, String)> {
    let mut groups: Vec<(Vec<u32>, String)> = Vec::new();
    for guest in guests {
        let Some(what) = of(guest) else { continue };
        match groups.iter_mut().find(|(_, other)| *other == what) {
            Some((numbers, _)) => numbers.push(guest.guest.number),
            None => groups.push((vec![guest.guest.number], what)),
        }
    }
    groups
}
