//! The stack of a plan, or one for each of its guests.

use std::path::Path;
use std::time::Instant;

use model::record::Cloned;
use model::record::plan::Guest;
use model::{Plan, Problem, Problems, Result, units};
use testbed::available_memory_bytes;
use wording::find::MadeOnce;

use crate::environment::Environment;
use crate::page_cache;
use crate::server::ServerAccess;
use crate::standing_stack::StandingStack;

/// What is left to the machine itself beside guests, as a share of what it has.
const LEFT_RATIO: f64 = 0.1;

/// The stack of a plan, or one for each of its guests, the first one first. There is at least one.
pub struct Stacks {
    /// Declared before the first: they end before what was changed of the machine, which is in its ledger, is put back.
    others: Vec<GuestStack>,
    first: GuestStack,
}

/// A stack that stands.
pub struct GuestStack {
    /// The guest that it is; absent on the bare machine.
    pub guest: Option<Guest>,
    /// The stack.
    pub stack: StandingStack,
    /// What it took to make.
    pub cloned: Cloned,
}

impl Stacks {
    /// Stands the plan up, guest by guest; `id` names the lab, or those of the guests.
    ///
    /// # Errors
    /// What [`StandingStack::set_up`] refuses; guests that take more memory or disk than there is, before any server starts where they
    /// have limits, and else when the first one stands. What stood by then is taken down.
    pub fn set_up(plan: &Plan, server: &ServerAccess, id: &str, env: &mut Environment<'_>) -> Result<Stacks> {
        refuse(plan)?;
        let Some((guest, others)) = plan.guests.split_first() else {
            let first = clone(plan, None, server, id, env)?;
            return Ok(Stacks { first, others: Vec::new() });
        };
        let before = Room::now(env.home);
        let first = clone(plan, Some(guest), server, &lab_of(id, guest), env)?;
        let mut stacks = Stacks { first, others: Vec::new() };
        let stood = stacks.check_room(plan, before, env.home).and_then(|()| {
            others.iter().try_for_each(|guest| {
                env.interrupt.check()?;
                let (number, all) = (guest.number, plan.guests.len());
                env.progress.step(&format!("guest {number} of {all}: standing it up"));
                let muted = env.progress.mute(true);
                let stood = clone(plan, Some(guest), server, &lab_of(id, guest), env);
                env.progress.mute(muted);
                stacks.others.push(stood?);
                Ok(())
            })
        });
        match stood {
            Ok(()) => {
                stacks.tell(env);
                Ok(stacks)
            }
            Err(problems) => {
                // Why it failed is what matters; what can't be removed now is the next sweep's.
                _ = stacks.stop();
                _ = stacks.close();
                Err(problems)
            }
        }
    }

    /// The first one.
    pub fn first(&self) -> &StandingStack {
        &self.first.stack
    }

    /// The first one.
    pub fn first_mut(&mut self) -> &mut StandingStack {
        &mut self.first.stack
    }

    /// All of them.
    pub fn all(&self) -> impl Iterator<Item = &GuestStack> {
        std::iter::once(&self.first).chain(&self.others)
    }

    /// All of them.
    pub fn all_mut(&mut self) -> impl Iterator<Item = &mut GuestStack> {
        std::iter::once(&mut self.first).chain(&mut self.others)
    }

    /// Makes them what they were for their first users: see [`StandingStack::cool`].
    pub(crate) fn cool(&mut self, plan: &Plan, env: &mut Environment<'_>) -> Result<()> {
        self.all_mut().try_for_each(|one| one.stack.cool(plan, env))
    }

    /// Seconds that making what is made once took.
    pub(crate) fn made_s(&self) -> f64 {
        self.all().map(|one| one.stack.made_s()).sum()
    }

    /// What its data and files took, whenever they were made; `None` where there are none.
    pub(crate) fn made_once(&self) -> Option<MadeOnce> {
        self.first.stack.made_once()
    }

    /// What the user should know.
    pub(crate) fn take_warnings(&mut self) -> Vec<String> {
        let mut all: Vec<String> =
            self.all_mut().flat_map(|one| std::mem::take(&mut one.stack.warnings)).collect();
        // Guests are alike, and so is what is to be said of them.
        all.sort();
        all.dedup();
        all
    }

    /// Stops the servers of all; their files stay until [`Self::close`].
    pub fn stop(&mut self) -> Result<()> {
        let stopped: Vec<Problem> =
            self.all_mut().filter_map(|one| one.stack.stop().err()).flat_map(Problems::into_vec).collect();
        Problems::check(stopped)
    }

    /// Removes everything. The first one is the last, since what was changed of the machine is in its ledger.
    pub fn close(self) -> Result<()> {
        let all = std::iter::once(self.first).chain(self.others);
        let mut all: Vec<GuestStack> = all.collect();
        all.reverse();
        let closed = all.into_iter().filter_map(|one| one.stack.close().err());
        Problems::check(closed.flat_map(Problems::into_vec).collect())
    }

    fn tell(&self, env: &mut Environment<'_>) {
        let total = units::show_bytes(self.all().map(|one| one.cloned.disk_bytes).sum());
        let ready: Vec<f64> = self.all().map(|one| one.cloned.ready_s).collect();
        let (count, slowest) = (ready.len(), units::show_seconds(ready.iter().copied().fold(0.0, f64::max)));
        let all = units::show_seconds(ready.iter().sum());
        let line = match count {
            1 => format!("the guest is ready ({all}; {total} on disk)"),
            _ => format!("{count} guests are ready ({all}; the slowest {slowest}; {total} on disk)"),
        };
        env.progress.done(&line);
    }

    /// Refuses the others where they would take more than is left, by what the first one took.
    fn check_room(&self, plan: &Plan, before: Room, home: &Path) -> Result<()> {
        let others = plan.guests.len().saturating_sub(1) as u64;
        let now = Room::now(home);
        let each_bytes = before.memory_bytes.saturating_sub(now.memory_bytes);
        let limited = plan.guests.iter().all(|guest| guest.memory_limit_bytes.is_some());
        let memory = short("memory", others * each_bytes, now.memory_bytes).filter(|_| !limited);
        let disk_bytes = others * self.first.cloned.disk_bytes;
        let disk = now.disk_bytes.and_then(|left| short("disk", disk_bytes, left));
        let problems = memory.into_iter().chain(disk).map(|what| {
            let why = "servers that take it from each other, or end for it, are another measurement";
            Problem::environment(format!("{} guests like the first one take {what}", others + 1))
                .why(why)
                .remedy("fewer guests, or smaller ones")
        });
        Problems::check(problems.collect())
    }
}

/// What a machine has left.
#[derive(Debug, Clone, Copy)]
struct Room {
    memory_bytes: u64,
    /// Of the disk that `$PLIMSOLL_HOME` is on; absent where it can't be told.
    disk_bytes: Option<u64>,
}

impl Room {
    fn now(home: &Path) -> Room {
        let disk = rustix::fs::statvfs(home).ok();
        let disk_bytes = disk.map(|about| about.f_bavail.saturating_mul(about.f_frsize));
        Room { memory_bytes: available_memory_bytes(), disk_bytes }
    }
}

/// What is lacking of what is left; nothing where it is enough.
fn short(what: &str, needed: u64, left: u64) -> Option<String> {
    let allowed = (left as f64 * (1.0 - LEFT_RATIO)) as u64;
    let sizes =
        || format!("{} more {what}, and {} are left", units::show_bytes(needed), units::show_bytes(left));
    (needed > allowed).then(sizes)
}

/// Refuses what comes out before anything starts: limits of memory beyond what there is, and a page cache that each guest would empty
/// for all.
pub(crate) fn refuse(plan: &Plan) -> Result<()> {
    let limits = plan.guests.iter().map(|guest| guest.memory_limit_bytes);
    let needed: u64 = limits.flatten().sum();
    let memory = short("memory", needed, available_memory_bytes()).map(|what| {
        Problem::environment(format!("{} guests may take {what}", plan.guests.len()))
            .key("guest.memory")
            .why("what one takes another would lack, and the kernel ends servers for it")
            .remedy("fewer guests, or smaller ones")
    });
    let cold = (!plan.guests.is_empty() && page_cache::is_cold(plan)).then(|| {
        Problem::recipe("a page cache that is empty at the start, with guests")
            .key("param")
            .why("there is one page cache on this machine, and each guest would empty it for all")
            .remedy("leave the parameter out, or the guests")
    });
    Problems::check(memory.into_iter().chain(cold).collect())
}

fn lab_of(id: &str, guest: &Guest) -> String {
    format!("{id}-{}", guest.number)
}

fn clone(
    plan: &Plan,
    guest: Option<&Guest>,
    server: &ServerAccess,
    id: &str,
    env: &mut Environment<'_>,
) -> Result<GuestStack> {
    let own = guest.map(|guest| plan.of_guest(guest));
    let began = Instant::now();
    // What the first one can't do none can.
    let of_guest = |problem: &mut Problem| {
        if let Some(guest) = guest.filter(|guest| guest.number > 1) {
            problem.what = format!("guest {}: {}", guest.number, problem.what);
        }
    };
    let stack = StandingStack::set_up(own.as_ref().unwrap_or(plan), server, id, env)
        .map_err(|problems| problems.with_first(of_guest))?;
    let ready_s = began.elapsed().as_secs_f64() - stack.made_s();
    let copy = stack.dataset.as_ref();
    let starts =
        stack.steps.iter().filter(|step| step.name.starts_with("start ") && !step.name.ends_with(" to load"));
    let cloned = Cloned {
        copy_s: copy.map_or(0.0, |copy| copy.copy_s),
        start_s: starts.map(|step| step.took_s).sum(),
        ready_s,
        disk_bytes: copy.map_or(0, |copy| copy.disk_bytes),
    };
    Ok(GuestStack { guest: guest.cloned(), stack, cloned })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_takes_more_than_nine_tenths_of_what_is_left_is_short_of_it() {
        assert_eq!(short("memory", 900, 1000), None);
        let said = short("memory", 2 << 30, 1 << 30).expect("it is short");
        assert!(said.contains("2.0 GB more memory") || said.contains("more memory"), "{said}");
        assert!(short("disk", 1, 0).is_some());
    }
}
