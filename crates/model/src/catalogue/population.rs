//! Populations: kinds of users, each with its share of all, its own sessions and its own pauses.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::catalogue::mix::{Matrix, Mix, Sessions};
use crate::catalogue::think::Distribution;
use crate::document::nearest;
use crate::problem::{Problem, Problems, Result};

/// How far the shares' sum may be from 1: what rounding them to three digits leaves.
const ROUNDING_RATIO: f64 = 2e-3;

/// A `[population.NAME]` as it is declared: one of `mix`, `matrix` and `sequence` says what its users do.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PopulationDeclaration {
    /// Its share of all users, with arrivals of all who arrive: 0.9. The shares of all populations sum to 1.
    pub share: f64,
    /// Sessions by weight: the names of functions in the session file. Each is drawn afresh.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub mix: BTreeMap<String, f64>,
    /// Sessions by a matrix: the next one depends on the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub matrix: Option<Matrix>,
    /// Sessions in this order, again and again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sequence: Vec<String>,
    /// The session that each of its users begins with, once in its life, before those above: a login.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub begins_with: Option<String>,
    /// The pause after a session, instead of that of `[users]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub think: Option<Distribution>,
    /// The time from a session's start to the next one's, instead of `think` and of that of `[users]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cycle: Option<Distribution>,
    /// Where the pause differs by session: the distribution instead of that of `think` or `cycle`, whichever is in force.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub by_session: BTreeMap<String, Distribution>,
}

/// The declarations of populations by name.
pub type Declarations = BTreeMap<String, PopulationDeclaration>;

/// How long users pause where their population doesn't say otherwise.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub struct UsualPauses {
    /// After a session.
    pub think: Option<Distribution>,
    /// From a session's start to the next one's.
    pub cycle: Option<Distribution>,
    /// Where that differs by session.
    #[serde(default)]
    pub by_session: BTreeMap<String, Distribution>,
}

impl UsualPauses {
    /// The pause after a session of that name; none where the next one begins at once.
    pub fn after(&self, session: &str) -> Option<Distribution> {
        self.by_session.get(session).copied().or(self.cycle).or(self.think)
    }
}

/// A population's share of all users, as loads and records have it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PopulationShare {
    /// The population.
    pub name: String,
    /// Its share of all.
    pub share_ratio: f64,
}

/// A checked population.
#[derive(Debug, Clone, PartialEq)]
pub struct Population {
    /// Its name; empty where all users are alike.
    pub name: String,
    /// Its share of all users.
    pub share_ratio: f64,
    /// Which session comes next.
    pub mix: Mix,
    /// The session that its users begin with, by its number in [`Population::sessions`]; absent where they begin in the mix.
    pub begins_with: Option<usize>,
    /// All its sessions: those of the mix in their order, and at the end the one that it begins with, where the mix has not got
    /// that one.
    pub sessions: Vec<String>,
    /// The pause after each of them.
    pub pauses: Vec<Option<Distribution>>,
    /// Pauses are the rest of a cycle, which runs from start to start.
    pub by_cycles: bool,
    /// The number of its first session among those of all populations.
    pub first_session: usize,
    /// The first of its cells among those of all populations.
    pub first_cell: usize,
}

/// All populations, in the order of their names. Sessions are numbered through all of them, so that the same function in two
/// populations has two numbers; so are the cells in which choices are counted.
#[derive(Debug, Clone, PartialEq)]
pub struct Populations {
    all: Vec<Population>,
    /// Indices of all, the largest share first.
    by_share: Vec<usize>,
}

impl Population {
    /// The distributions that its choices are drawn from, each as (first cell among those of all populations, probabilities).
    pub fn draws(&self) -> Vec<(usize, &[f64])> {
        self.mix.draws().into_iter().map(|(cell, shares)| (self.first_cell + cell, shares)).collect()
    }

    /// The cell in which its sessions are counted when they begin; absent where all users are alike.
    pub fn begun_cell(&self) -> Option<usize> {
        (!self.name.is_empty()).then(|| self.first_cell + self.mix.cells())
    }

    fn cells(&self) -> usize {
        self.mix.cells() + usize::from(self.begun_cell().is_some())
    }
}

impl Populations {
    /// All users are alike; `pauses` are those after each session of the mix.
    pub fn alike(mix: Mix, pauses: Vec<Option<Distribution>>, by_cycles: bool) -> Populations {
        let sessions = mix.names.clone();
        let (name, share_ratio, begins_with) = (String::new(), 1.0, None);
        let (first_session, first_cell) = (0, 0);
        Populations::of(vec![Population {
            name,
            share_ratio,
            mix,
            begins_with,
            sessions,
            pauses,
            by_cycles,
            first_session,
            first_cell,
        }])
    }

    /// What a kit, or one of its mixes, declares: populations, or sessions for all users alike. All mistakes at once, each with
    /// its key.
    ///
    /// # Errors
    /// Shares that don't sum to 1, sessions or pauses with a mistake, sessions beside populations.
    pub fn resolve(own: &Sessions, declared: &Declarations, usual: &UsualPauses) -> Result<Populations> {
        if declared.is_empty() {
            let mix = own.resolve()?;
            let pauses = mix.names.iter().map(|session| usual.after(session)).collect();
            return Ok(Populations::alike(mix, pauses, usual.cycle.is_some()));
        }
        let mut problems = Vec::new();
        if let Some(key) = own.keys().first() {
            let why = "each population says what its users do, so there is nobody left for it";
            problems
                .push(Problem::recipe(format!("{key} and population exclude each other")).key(*key).why(why));
        }
        let total = check_shares(declared, &mut problems);
        let mut all = Vec::new();
        for (name, declaration) in declared {
            match declaration.resolve(name, total, usual) {
                Ok(population) => all.push(population),
                Err(found) => problems.extend(found.into_vec()),
            }
        }
        Problems::check(problems)?;
        Ok(Populations::of(all))
    }

    fn of(mut all: Vec<Population>) -> Populations {
        let (mut session, mut cell) = (0, 0);
        for population in &mut all {
            (population.first_session, population.first_cell) = (session, cell);
            session += population.sessions.len();
            cell += population.cells();
        }
        let mut by_share: Vec<usize> = (0..all.len()).collect();
        by_share.sort_by(|one, other| all[*other].share_ratio.total_cmp(&all[*one].share_ratio));
        Populations { all, by_share }
    }

    /// Each of them.
    pub fn iter(&self) -> std::slice::Iter<'_, Population> {
        self.all.iter()
    }

    /// One of them, by the index that [`Populations::of_user`] gives.
    pub fn get(&self, index: usize) -> &Population {
        &self.all[index]
    }

    /// Users are of different kinds.
    pub fn are_declared(&self) -> bool {
        self.all.iter().any(|population| !population.name.is_empty())
    }

    /// The names of all sessions by their number.
    pub fn sessions(&self) -> impl Iterator<Item = &String> {
        self.all.iter().flat_map(|population| &population.sessions)
    }

    /// The number of cells in which choices are counted.
    pub fn cells(&self) -> usize {
        self.all.iter().map(Population::cells).sum()
    }

    /// The shares; none where all users are alike.
    pub fn shares(&self) -> Vec<PopulationShare> {
        let declared = self.all.iter().filter(|population| !population.name.is_empty());
        declared.map(|one| PopulationShare { name: one.name.clone(), share_ratio: one.share_ratio }).collect()
    }

    /// The population that user `number` (from 0) is of. Of any first n users each population has its share, rounded: it is dealt
    /// out, not drawn, and follows from the number alone.
    pub fn of_user(&self, number: u64) -> usize {
        // The largest share has its part of all, the next one its part of those who are left, and so on.
        let (mut number, mut left_ratio) = (number, 1.0);
        for index in self.by_share.iter().take(self.by_share.len().saturating_sub(1)) {
            let ratio = (self.all[*index].share_ratio / left_ratio).min(1.0);
            let before = rounded_share(number, ratio);
            if rounded_share(number + 1, ratio) > before {
                return *index;
            }
            number -= before;
            left_ratio -= self.all[*index].share_ratio;
        }
        self.by_share.last().copied().unwrap_or_default()
    }

    /// How many of the first `users` are of each population, in their order.
    pub fn of_users(&self, users: u32) -> Vec<u32> {
        let mut counts = vec![0; self.all.len()];
        let (mut users, mut left_ratio) = (u64::from(users), 1.0);
        for (at, index) in self.by_share.iter().enumerate() {
            let share_ratio = self.all[*index].share_ratio;
            let is_last = at + 1 == self.by_share.len();
            let ratio = if is_last { 1.0 } else { (share_ratio / left_ratio).min(1.0) };
            let count = rounded_share(users, ratio);
            counts[*index] = count as u32;
            users -= count;
            left_ratio -= share_ratio;
        }
        counts
    }
}

/// Never more than the users.
fn rounded_share(users: u64, ratio: f64) -> u64 {
    ((users as f64 * ratio).round() as u64).min(users)
}

/// Their sum, by which they are divided.
fn check_shares(declared: &Declarations, problems: &mut Vec<Problem>) -> f64 {
    let mut right = true;
    for (name, population) in declared {
        if name.is_empty() || name.chars().any(|c| !(c.is_ascii_alphanumeric() || c == '_' || c == '-')) {
            let what = format!("`{name}` is no name of a population: letters, digits, `_` and `-`");
            problems.push(Problem::recipe(what).key("population"));
        }
        if !(population.share > 0.0 && population.share <= 1.0) {
            let what = format!("{} is no share of the users", population.share);
            let remedy = "a number above 0 and up to 1; 0.1 is a tenth";
            problems.push(Problem::recipe(what).key(format!("population.{name}.share")).remedy(remedy));
            right = false;
        }
    }
    let total: f64 = declared.values().map(|population| population.share).sum();
    if right && (total - 1.0).abs() > ROUNDING_RATIO {
        let shown = (total * 1e6).round() / 1e6;
        let what = format!("the shares of the populations sum to {shown}, not to 1");
        problems.push(Problem::recipe(what).key("population").why("every user is of one of them"));
    }
    total
}

impl PopulationDeclaration {
    /// How its users' sessions follow each other.
    pub fn sessions(&self) -> Sessions {
        Sessions { mix: self.mix.clone(), matrix: self.matrix.clone(), sequence: self.sequence.clone() }
    }

    /// All its sessions, that which it begins with among them.
    pub fn session_names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.sessions().names().into_iter().map(str::to_string).collect();
        names.extend(
            self.begins_with.iter().filter(|name| !names.contains(name)).cloned().collect::<Vec<_>>(),
        );
        names
    }

    /// Every time in it multiplied by `factor`.
    pub fn scale_pauses(&mut self, factor: f64) {
        self.think = self.think.map(|think| think.scaled(factor));
        self.cycle = self.cycle.map(|cycle| cycle.scaled(factor));
        self.by_session.values_mut().for_each(|pause| *pause = pause.scaled(factor));
    }

    /// Every distribution of pauses that it gives.
    pub fn pauses(&self) -> impl Iterator<Item = &Distribution> {
        self.by_session.values().chain(&self.cycle).chain(&self.think)
    }

    fn resolve(&self, name: &str, total: f64, usual: &UsualPauses) -> Result<Population> {
        let mut problems = Vec::new();
        let sessions = self.session_names();
        self.check_pauses(name, &sessions, usual, &mut problems);
        let resolved = self.sessions().resolve().map_err(|found| {
            problems.extend(found.into_vec().into_iter().map(|mut problem| {
                problem.place.key = problem.place.key.map(|key| format!("population.{name}.{key}"));
                problem
            }));
        });
        Problems::check(problems)?;
        let Ok(mix) = resolved else {
            return Err(Problem::bug("a population has a mistake without words").into());
        };
        let begins_with =
            self.begins_with.as_ref().and_then(|first| sessions.iter().position(|name| name == first));
        let by_cycles = match (self.think, self.cycle) {
            (None, None) => usual.cycle.is_some(),
            (_, cycle) => cycle.is_some(),
        };
        Ok(Population {
            name: name.to_string(),
            share_ratio: self.share / total,
            mix,
            begins_with,
            pauses: sessions.iter().map(|session| self.pause_after(session, usual)).collect(),
            sessions,
            by_cycles,
            first_session: 0,
            first_cell: 0,
        })
    }

    fn pause_after(&self, session: &str, usual: &UsualPauses) -> Option<Distribution> {
        let own = self.by_session.get(session).copied().or(self.cycle).or(self.think);
        own.or_else(|| usual.after(session))
    }

    fn check_pauses(
        &self,
        name: &str,
        sessions: &[String],
        usual: &UsualPauses,
        problems: &mut Vec<Problem>,
    ) {
        let key = |rest: &str| format!("population.{name}.{rest}");
        let named = self.by_session.iter().map(|(session, pause)| (format!("by_session.{session}"), *pause));
        let own = [("think", self.think), ("cycle", self.cycle)];
        let own = own.into_iter().filter_map(|(key, pause)| Some((key.to_string(), pause?)));
        for (rest, pause) in own.chain(named) {
            problems.extend(pause.fault().map(|fault| Problem::recipe(fault).key(key(&rest))));
        }
        if self.think.is_some() && self.cycle.is_some() {
            problems.push(Problem::recipe("think and cycle exclude each other").key(key("cycle")));
        }
        let in_force = self.think.or(self.cycle).or(usual.think).or(usual.cycle);
        if !self.by_session.is_empty() && in_force.is_none() {
            let what = "pauses by session need a `think` or a `cycle` that says which of the two they are";
            problems.push(Problem::recipe(what).key(key("by_session")));
        }
        for session in self.by_session.keys().filter(|session| !sessions.contains(session)) {
            let what = format!("{name} have no session `{session}`");
            let mut problem = Problem::recipe(what).key(key(&format!("by_session.{session}")));
            problem.remedy =
                nearest(session, sessions.iter().map(String::as_str)).map(|near| format!("`{near}`"));
            problems.push(problem);
        }
    }
}

#[cfg(test)]
mod tests;
