//! An arm of a study, resolved: everything wrong with it is known before anything starts.

use std::path::Path;
use std::rc::Rc;

use model::catalogue::setting::Value;
use model::catalogue::tier_setting;
use model::record::study::{Arm, By, Conditions};
use model::{Catalogue, KitManifest, Plan, Problem, Problems, Recipe, Result};

use crate::artefact::Use;
use crate::catalogue_folder;
use crate::trial::settle::Settling;
use crate::{cpus, page_cache};

/// Users who may begin in each second of a ramp-up.
const RAMP_USERS_PER_S: f64 = 50.0;
/// The longest ramp-up, in seconds.
const MAX_RAMP_S: f64 = 10.0;
/// The ramp-up of arrivals, in seconds: they need no more than their rate.
const RAMP_RATE_S: u32 = 2;

/// Users who began a moment ago are all early in their pauses. After this number of mean pauses the age of a pause is what it
/// is in the long run, but for 5 % (e^-3) where pauses are exponential.
const PAUSES_BEFORE_STEADY: f64 = 3.0;

/// The tier that users ask.
pub(crate) const WEB: &str = "web";

/// An arm that can be measured.
#[derive(Debug, Clone)]
pub(crate) struct ReadyArm {
    /// As the study names it.
    pub(crate) arm: Arm,
    /// Its plan at the load that it was resolved with.
    pub(crate) plan: Plan,
    /// The catalogue, with the arm's own folder laid over it and patched by its fault if it has these.
    pub(crate) catalogue: Rc<Catalogue>,
}

/// What a trial is to do.
#[derive(Debug, Clone)]
pub(crate) struct Task {
    /// The arm's recipe with the trial's load.
    pub(crate) recipe: Recipe,
    /// It resolved; its steady state is the longest that the trial may take.
    pub(crate) plan: Plan,
    /// What it was resolved with.
    pub(crate) catalogue: Rc<Catalogue>,
    /// Seconds over which the users begin.
    pub(crate) ramp_up_s: u32,
    /// Seconds after that before a steady state may begin.
    pub(crate) min_warm_up_s: u32,
    /// The longest mean pause of its users; 0 without pauses.
    pub(crate) pause_s: f64,
    /// Steady seconds wanted.
    pub(crate) window_s: u32,
    /// Percentiles that are kept beside the usual ones.
    pub(crate) percentiles: Vec<f64>,
    /// How response times are distributed is kept, too.
    pub(crate) response_times: bool,
    /// Signals of tiers that are kept beside the usual figures: `web.calls.blocks`.
    pub(crate) signals: Vec<String>,
}

/// Trials share a stack that stands: what one of them took from it the next ones would lack.
fn refuse_outages(plan: &Plan) -> Result<()> {
    let Some(injection) = plan.outage() else { return Ok(()) };
    let problem = Problem::recipe(format!("{}: that is for a single run", injection.sentence()));
    let why = "the trials of a study share a stack that stands, and the next ones would lack it";
    Err(problem.key("kill").why(why).remedy("plimsoll run").into())
}

impl ReadyArm {
    /// Every mistake of the arm at once: of the recipe, the kit, the targets. `load` is one that it will be measured
    /// with.
    pub(crate) fn of(arm: &Arm, by: By, load: f64, catalogue: &Rc<Catalogue>) -> Result<ReadyArm> {
        let mut catalogue = catalogue.clone();
        if let Some(folder) = &arm.catalogue {
            catalogue_folder::lay(Path::new(folder), Rc::make_mut(&mut catalogue))?;
        }
        if let Some(fault) = &arm.recipe.fault {
            catalogue.fault(fault)?.patch(Rc::make_mut(&mut catalogue))?;
        }
        let recipe = with_load(&arm.recipe, by, load, 1, 1, 1);
        let plan = Plan::resolve(&recipe, None, &catalogue, &cpus::allowed())?;
        refuse_outages(&plan)?;
        kit::lint(&catalogue, &plan.kit.name)?;
        kit::check_targets(&plan, &catalogue)?;
        Ok(ReadyArm { arm: arm.clone(), plan, catalogue })
    }

    /// All arms, or everything that is wrong with any of them; arms that stored runs stand for are none to measure.
    pub(crate) fn all(
        arms: &[Arm],
        by: By,
        load: f64,
        catalogue: &Catalogue,
    ) -> Result<Vec<Option<ReadyArm>>> {
        let catalogue = Rc::new(catalogue.clone());
        let mut problems = Vec::new();
        let mut ready = Vec::new();
        for arm in arms {
            match arm.stored_run {
                Some(_) => ready.push(None),
                None => match ReadyArm::of(arm, by, load, &catalogue) {
                    Ok(one) => ready.push(Some(one)),
                    Err(found) => problems.extend(found.into_vec()),
                },
            }
        }
        // Cells of a sweep share their mistakes.
        problems.dedup();
        Problems::check(problems)?;
        Ok(ready)
    }

    /// What a trial with this load, under these conditions, with this window and seed is to do.
    pub(crate) fn task(
        &self,
        by: By,
        (load, conditions): (f64, &Conditions),
        window_s: f64,
        seed: u64,
    ) -> Result<Task> {
        let ramp_up_s = ramp_up_s(by, load);
        let window_s = window_s.ceil().max(1.0) as u32;
        let pause_s = longest_pause_s(by, &self.plan.kit);
        let min_warm_up_s = min_warm_up_s(pause_s, ramp_up_s);
        let max_s = Settling::max_s(min_warm_up_s, window_s);
        let recipe = under(conditions, with_load(&self.arm.recipe, by, load, ramp_up_s, max_s, seed));
        let resolved = Plan::resolve(&recipe, None, &self.catalogue, &cpus::allowed())?;
        // Every trial draws anew, and starts from the same data.
        let data_seed = self.arm.recipe.seed.unwrap_or(model::catalogue::load::Load::default().seed);
        let plan = Plan { data_seed: Some(data_seed), ..resolved };
        let catalogue = self.catalogue.clone();
        Ok(Task {
            recipe,
            plan,
            catalogue,
            ramp_up_s,
            min_warm_up_s,
            pause_s,
            window_s,
            percentiles: Vec::new(),
            response_times: false,
            signals: Vec::new(),
        })
    }
}

/// Longer for many users: all at once would be a flood that no real crowd makes.
fn ramp_up_s(by: By, load: f64) -> u32 {
    match by {
        By::Users => (load / RAMP_USERS_PER_S).ceil().clamp(1.0, MAX_RAMP_S) as u32,
        By::Rate => RAMP_RATE_S,
    }
}

/// Whether a trial of this plan can take turns with another one: its stack is started here and is a single one, and it needs nothing for
/// itself alone that both would share.
pub fn can_take_turns(plan: &Plan) -> bool {
    plan.target.is_none() && plan.guests.is_empty() && page_cache::use_of_set(plan) == Use::Shared
}

/// Seconds of a trial with this load before its steady state may begin.
pub fn warm_up_s(by: By, load: f64, kit: &KitManifest) -> f64 {
    let ramp_up_s = ramp_up_s(by, load);
    f64::from(ramp_up_s + min_warm_up_s(longest_pause_s(by, kit), ramp_up_s))
}

/// Seconds for which a trial with this load drives its users at most, while it looks for a steady state of `window_s`.
pub fn longest_s((by, load): (By, f64), window_s: f64, kit: &KitManifest) -> f64 {
    let ramp_up_s = ramp_up_s(by, load);
    let min_warm_up_s = min_warm_up_s(longest_pause_s(by, kit), ramp_up_s);
    f64::from(ramp_up_s + Settling::max_s(min_warm_up_s, window_s.ceil() as u32))
}

/// The longest mean pause between sessions. Arrivals have none.
fn longest_pause_s(by: By, kit: &KitManifest) -> f64 {
    match by {
        By::Users => kit.longest_pause_s(),
        By::Rate => 0.0,
    }
}

/// After a ramp-up of that many seconds: users who began early have aged since.
fn min_warm_up_s(pause_s: f64, ramp_up_s: u32) -> u32 {
    ((PAUSES_BEFORE_STEADY * pause_s).ceil() as u32).saturating_sub(ramp_up_s / 2)
}

/// The recipe with what a find chose.
fn under(conditions: &Conditions, mut recipe: Recipe) -> Recipe {
    recipe.size = conditions.size.clone().or(recipe.size);
    let knob = || format!("{WEB}.{}", tier_setting::CPU);
    recipe.set.extend(conditions.web_cores.map(|cores| (knob(), Value::Float(cores))));
    recipe
}

fn with_load(recipe: &Recipe, by: By, load: f64, ramp_up_s: u32, steady_s: u32, seed: u64) -> Recipe {
    let (users, rate) = match by {
        By::Users => (Some(load.round().max(1.0) as u32), None),
        By::Rate => (recipe.users, Some(format!("{load}/s"))),
    };
    Recipe {
        users,
        rate,
        stages: Vec::new(),
        ramp_up: Some(format!("{ramp_up_s}s")),
        steady: Some(format!("{steady_s}s")),
        ramp_down: Some("0s".to_string()),
        seed: Some(seed),
        ..recipe.clone()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use model::Distribution;
    use model::catalogue::kit::Users;

    use super::*;

    #[test]
    fn many_users_begin_more_slowly_and_never_longer_than_ten_seconds() {
        let table = [(1.0, 1), (50.0, 1), (51.0, 2), (400.0, 8), (90_000.0, 10)];
        for (users, expected) in table {
            assert_eq!(ramp_up_s(By::Users, users), expected, "{users} users");
        }
        assert_eq!(ramp_up_s(By::Rate, 5_000.0), RAMP_RATE_S);
    }

    #[test]
    fn users_have_three_of_their_longest_mean_pauses_before_a_steady_state_and_arrivals_have_none() {
        let fixed = |value| Distribution::Fixed { value };
        let none: Users =
            serde_json::from_str(r#"{ "default": 1, "ramp_per_s": 1.0 }"#).expect("users who do not pause");
        let think = Users { think: Some(fixed(7.1)), ..none.clone() };
        let cycle = Users { cycle: Some(fixed(5.0)), ..none.clone() };
        let pauses = [("quick", 1.0), ("slow", 20.0)].map(|(name, value)| (name.to_string(), fixed(value)));
        let by_session = Users { by_session: pauses.into(), ..cycle.clone() };
        let kit = testkit::catalogue::catalogue().kit("dvdstore").expect("a kit");
        for (users, expected) in [(none, 0), (think, 22), (cycle, 15), (by_session, 60)] {
            let kit = KitManifest { users, ..kit.clone() };
            let warm_up_s = |by| min_warm_up_s(longest_pause_s(by, &kit), 1);
            assert_eq!((warm_up_s(By::Users), warm_up_s(By::Rate)), (expected, 0), "{:?}", kit.users);
        }
    }

    #[test]
    fn a_trial_of_users_who_pause_has_time_for_their_pauses() {
        let catalogue = Rc::new(testkit::catalogue::catalogue());
        let size = Some("quick".to_string());
        let recipe = Recipe { format: 1, kit: "events".into(), size, ..Recipe::default() };
        let arm = Arm {
            label: "events".into(),
            recipe,
            levels: BTreeMap::new(),
            stored_run: None,
            catalogue: None,
        };
        let ready = ReadyArm::of(&arm, By::Users, 25.0, &catalogue).expect("an arm");
        let arms = Conditions::default();
        let task = ready.task(By::Users, (25.0, &arms), 10.0, 1).expect("a task");
        assert_eq!(task.min_warm_up_s, 15, "its users come back after 5 s");
        assert_eq!(task.plan.load.steady_s, f64::from(Settling::max_s(15, 10)));
    }

    #[test]
    fn a_trials_recipe_is_the_arms_with_the_trials_load() {
        let arm = Recipe { kit: "dvdstore".into(), users: Some(7), ..Recipe::default() };
        let users = with_load(&arm, By::Users, 41.6, 2, 45, 9);
        assert_eq!((users.users, users.rate, users.seed), (Some(42), None, Some(9)));
        let rate = with_load(&arm, By::Rate, 41.5, 2, 45, 9);
        assert_eq!((rate.users, rate.rate.as_deref()), (Some(7), Some("41.5/s")));
        assert_eq!(model::units::rates("41.5/s"), Ok((41.5, 41.5)), "that is a rate");
        assert_eq!(rate.steady.as_deref(), Some("45s"));
    }
}
