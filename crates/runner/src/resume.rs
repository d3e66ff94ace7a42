//! Taking over a run whose controller has died: while its agents go on by themselves it goes on, and what they told meanwhile comes into
//! its record; later what they told is kept and judged.

use std::time::Instant;

use model::Result;
use model::record::{Outcome, Step};
use store::{Run, Runs};

use crate::environment::Environment;
use crate::fleet::handed_over::HandedOver;
use crate::fleet::taking_over::take_over;
use crate::measure::{DRAIN_S, SideBySide, TAKEN_OVER, measure};
use crate::outcome::{Driven, Measured, with_remedy};
use crate::pace::Planned;
use crate::standing_stack::StandingStack;

/// Takes over the run of that id, of the only id that begins with `name`, or the last one for `last`.
///
/// # Errors
/// It has ended, somebody measures it, or its users ended with its controller; or what is needed for it is gone.
pub fn resume(name: &str, env: &mut Environment<'_>) -> Result<Measured> {
    let runs = Runs::open(env.home)?;
    let run = runs.find(name)?;
    run.check_left()?;
    let id = run.record().id.clone();
    let handed_over = HandedOver::read(&run)?;
    let fleet = handed_over.check(&id)?;
    let plan = run.plan()?;
    if let Err(problems) = env.catalogue.kit(&plan.kit.name) {
        return Err(problems.with_first(|first| {
            first.remedy = Some(format!("--catalogue DIR, as it was given to run {id}"));
        }));
    }
    let rules = env.catalogue.rules()?;
    env.machine.hold(env.interrupt, env.progress)?;
    let kept = format!("what was measured until then is kept: plimsoll show {id}");
    let fleet =
        take_over(&fleet, &handed_over.handover, env).map_err(|problems| with_remedy(problems, &kept))?;
    let before = earlier(&run)?;
    let (record, mut writer) = runs.reopen(&id)?;
    let mut standing = StandingStack::of_fleet(handed_over.target, fleet);
    let mut pace = Planned::of(&plan.load);
    let measuring = Instant::now();
    let side = SideBySide::default();
    let recording = measure(&plan, &mut standing, (&mut writer, &mut pace), DRAIN_S, &side, env);
    let again = || format!("plimsoll run --resume {id}; {kept}");
    let mut recording = recording.map_err(|problems| with_remedy(problems, &again()))?;
    recording.unseen.extend(before);
    let took_s = measuring.elapsed().as_secs_f64();
    standing.steps.push(Step { name: "drive the users, taken over".to_string(), took_s });
    let driven = Driven { plan: &plan, recording: &recording, pace: &pace, rules: &rules };
    let stopped = driven.conclude(&mut standing, (record, writer), env)?;
    let closed = standing.close();
    let run = runs.find(&id)?;
    Ok(Measured { run, problems: [stopped, closed.err()].into_iter().flatten().collect() })
}

/// What is to be said of a run that was left behind and can be taken over; nothing of any other one.
pub fn invitation(run: &Run) -> Option<String> {
    let id = &run.record().id;
    let is_left = run.record().outcome == Outcome::Unfinished && !run.under_way();
    let fleet = HandedOver::read(run).ok().filter(|_| is_left)?.check(id).ok()?;
    Some(format!("fleet {fleet} drove it, and its agents kept what they told: plimsoll run --resume {id}"))
}

/// What was not seen when it was taken over before.
fn earlier(run: &Run) -> Result<Vec<String>> {
    let events = run.events()?.into_iter();
    Ok(events.filter(|event| event.kind == TAKEN_OVER).map(|event| event.text).collect())
}
