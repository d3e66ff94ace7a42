//! From what a recipe asks for to a [`Load`].

use super::{Arrivals, Lifetime, Load, NO_END_S, Stage, StageRequest};
use crate::catalogue::think::Distribution;
use crate::problem::Problem;
use crate::{KitManifest, Recipe, units};

/// Seconds of a ramp-up of arrivals when none are given.
const OPEN_RAMP_UP_S: f64 = 10.0;
/// Users that may be there at once when arrivals are given without: those who arrive in this number of seconds.
const OPEN_USERS_S: f64 = 10.0;

/// The load that `recipe` asks for; mistakes are added to `problems`.
pub(crate) fn resolve(recipe: &Recipe, kit: &KitManifest, problems: &mut Vec<Problem>) -> Load {
    let mut request = Request { recipe, kit, problems };
    let load = if recipe.stages.is_empty() { request.phases() } else { request.stages() };
    request.check(&load);
    load
}

struct Request<'a> {
    recipe: &'a Recipe,
    kit: &'a KitManifest,
    problems: &'a mut Vec<Problem>,
}

impl Request<'_> {
    fn problem(&mut self, key: &str, what: impl Into<String>) -> &mut Problem {
        self.problems.push(Problem::recipe(what).key(key));
        self.problems.last_mut().expect("one was just pushed")
    }

    fn seconds(&mut self, key: &str, text: Option<&str>, default: f64) -> f64 {
        match text.map(units::duration) {
            None => default,
            Some(Ok(duration)) => duration.as_secs_f64(),
            Some(Err(what)) => {
                self.problem(key, what);
                default
            }
        }
    }

    fn rate(&mut self, key: &str, text: &str) -> (f64, f64) {
        units::rates(text).unwrap_or_else(|what| {
            self.problem(key, what);
            (1.0, 1.0)
        })
    }

    /// One level, with a ramp before and after.
    fn phases(&mut self) -> Load {
        let (recipe, kit) = (self.recipe, self.kit);
        let rates = recipe.rate.as_deref().map(|text| self.rate("rate", text));
        let users = recipe.users.unwrap_or_else(|| match rates {
            Some((from, to)) => pool(from.max(to)),
            None => kit.users.default,
        });
        let ramp_up_s = match (recipe.sessions, rates) {
            (Some(_), _) => 0.0,
            (None, Some(_)) => OPEN_RAMP_UP_S,
            (None, None) => (f64::from(users) / kit.users.ramp_per_s).clamp(10.0, 300.0),
        };
        let steady_s = match recipe.sessions {
            Some(_) => NO_END_S,
            None => self.seconds("steady", recipe.steady.as_deref(), kit.users.steady_s),
        };
        let ramp_down_s = if recipe.sessions.is_some() { 0.0 } else { 3.0 };
        Load {
            users,
            ramp_up_s: self.seconds("ramp_up", recipe.ramp_up.as_deref(), ramp_up_s),
            steady_s,
            ramp_down_s: self.seconds("ramp_down", recipe.ramp_down.as_deref(), ramp_down_s),
            seed: recipe.seed.unwrap_or(1),
            arrivals: rates.and_then(|(from, to)| self.arrivals(from, to)),
            stages: Vec::new(),
            lifetime: self.lifetime(),
            sessions: recipe.sessions,
            populations: Vec::new(),
            by_hand: None,
        }
    }

    /// Several levels, one of which is measured.
    fn stages(&mut self) -> Load {
        let recipe = self.recipe;
        let given = [
            ("rate", recipe.rate.is_some()),
            ("ramp_up", recipe.ramp_up.is_some()),
            ("steady", recipe.steady.is_some()),
        ];
        for (key, _) in given.into_iter().filter(|(_, given)| *given) {
            self.problem(key, format!("{key} and stages exclude each other")).remedy =
                Some("say it in a [[stage]]".to_string());
        }
        let open = recipe.stages[0].rate.is_some();
        let stages: Vec<Stage> = recipe.stages.iter().map(|request| self.stage(request, open)).collect();
        let marked: Vec<usize> = (0..stages.len()).filter(|at| recipe.stages[*at].measure).collect();
        if marked.len() > 1 {
            self.problem("stage", "only one stage can be measured").why =
                Some("figures of two levels are figures of neither".to_string());
        }
        let measured = marked.first().copied().unwrap_or(stages.len() - 1);
        let length = |stage: &Stage| stage.ramp_s + stage.hold_s;
        let before_s: f64 = stages[..measured].iter().map(length).sum();
        let after_s: f64 = stages[measured + 1..].iter().map(length).sum();
        let level = stages[measured].level;
        let peak = stages.iter().map(|stage| stage.level).fold(0.0, f64::max);
        let users = match open {
            true => recipe.users.unwrap_or_else(|| pool(peak)),
            false => level as u32,
        };
        if !open && recipe.users.is_some() {
            self.problem("users", "users and stages of users exclude each other");
        }
        Load {
            users,
            ramp_up_s: before_s + stages[measured].ramp_s,
            steady_s: stages[measured].hold_s,
            ramp_down_s: after_s + self.seconds("ramp_down", recipe.ramp_down.as_deref(), 3.0),
            seed: recipe.seed.unwrap_or(1),
            arrivals: if open { self.arrivals(level, level) } else { None },
            stages,
            lifetime: self.lifetime(),
            sessions: None,
            populations: Vec::new(),
            by_hand: None,
        }
    }

    fn stage(&mut self, request: &StageRequest, open: bool) -> Stage {
        let level = match (request.users, request.rate.as_deref()) {
            (Some(users), None) if !open => f64::from(users),
            (None, Some(rate)) if open => {
                let (from, to) = self.rate("stage.rate", rate);
                if from != to {
                    self.problem("stage.rate", "a stage holds one rate").remedy =
                        Some("the ramp to the next stage's rate is that stage's `ramp`".to_string());
                }
                to
            }
            _ => {
                self.problem("stage", "each stage has either users or rate, all of them the same");
                1.0
            }
        };
        let hold_s = self.seconds("stage.for", Some(&request.hold), 1.0);
        let ramp_s = self.seconds("stage.ramp", request.ramp.as_deref(), 0.0);
        Stage { level, ramp_s, hold_s }
    }

    fn arrivals(&self, from_per_s: f64, to_per_s: f64) -> Option<Arrivals> {
        let pattern = self.recipe.arrivals.unwrap_or_default();
        Some(Arrivals { pattern, arriving: self.recipe.arriving.unwrap_or_default(), from_per_s, to_per_s })
    }

    fn lifetime(&mut self) -> Option<Lifetime> {
        let asked = self.recipe.lifetime.as_deref().map(lifetime);
        match asked {
            None => self.kit.users.lifetime,
            Some(Ok(lifetime)) => Some(lifetime),
            Some(Err(what)) => {
                self.problem("lifetime", what);
                None
            }
        }
    }

    /// A run by number of sessions is as long as they take.
    fn check_sessions(&mut self, load: &Load) {
        let recipe = self.recipe;
        if recipe.sessions.is_none() {
            return;
        }
        let given = [
            ("steady", recipe.steady.is_some()),
            ("ramp_down", recipe.ramp_down.is_some()),
            ("stage", !recipe.stages.is_empty()),
        ];
        for (key, _) in given.into_iter().filter(|(_, given)| *given) {
            self.problem(key, format!("{key} and sessions exclude each other")).why =
                Some("a run by number of sessions ends with the last of them".to_string());
        }
        if !load.is_steady() {
            self.problem("rate", "a rate that rises needs a length, not a number of sessions");
        }
        if recipe.sessions == Some(0) {
            self.problem("sessions", "a run needs at least one session");
        }
    }

    fn check(&mut self, load: &Load) {
        if load.steady_s < 1.0 {
            self.problem("steady", "the steady state must last 1 s or more").why =
                Some("only the steady state counts, so there would be no result".to_string());
        }
        self.check_sessions(load);
        if load.users == 0 {
            self.problem("users", "a run needs at least one user");
        }
        if load.arrivals.is_none() {
            let idle =
                [("arrivals", self.recipe.arrivals.is_some()), ("arriving", self.recipe.arriving.is_some())];
            for (key, _) in idle.into_iter().filter(|(_, given)| *given) {
                self.problem(key, format!("{key} says how users arrive, but no rate is given")).remedy =
                    Some("rate = \"200/s\"".to_string());
            }
        }
        if let Some(fault) = load.lifetime.and_then(|lifetime| lifetime.distribution().fault()) {
            self.problem("lifetime", fault);
        }
    }
}

/// The most users at once when only a rate is given: between 1,000 and 50,000.
fn pool(per_s: f64) -> u32 {
    (per_s * OPEN_USERS_S).clamp(1_000.0, 50_000.0) as u32
}

/// `15min`, `20 operations`, `1 session`.
fn lifetime(text: &str) -> Result<Lifetime, String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let fixed = |value: f64| Distribution::Fixed { value };
    if let [number, unit] = words[..]
        && let Ok(count) = number.parse::<u32>()
        && count > 0
    {
        match unit.trim_end_matches('s') {
            "session" => return Ok(Lifetime::Sessions(fixed(count.into()))),
            "operation" => return Ok(Lifetime::Operations(fixed(count.into()))),
            _ => {}
        }
    }
    let seconds =
        units::duration(text).map_err(|what| format!("{what}; or `20 operations`, `3 sessions`"))?;
    Ok(Lifetime::Seconds(fixed(seconds.as_secs_f64())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lifetimes_are_read_as_people_write_them() {
        let fixed = |value| Distribution::Fixed { value };
        assert_eq!(lifetime("15min"), Ok(Lifetime::Seconds(fixed(900.0))));
        assert_eq!(lifetime("20 operations"), Ok(Lifetime::Operations(fixed(20.0))));
        assert_eq!(lifetime("1 session"), Ok(Lifetime::Sessions(fixed(1.0))));
        assert!(lifetime("0 sessions").is_err() && lifetime("a while").is_err());
    }
}
