//! From a study file to arms, factors and cells, the plan of each cell checked.

use std::collections::BTreeMap;

use super::cells::check_cells;
use super::design::{Design, Found, chosen, design};
use super::level::{Change, path, unique};
use super::signals::StudySignals;
use super::source::{Read, Source};
use super::{StudyFile, services, tables};
use crate::catalogue::recipe::Recipe;
use crate::document;
use crate::problem::{Problem, Problems, Result};
use crate::record::plan::Plan;
use crate::record::study::{Arm, Cell, Factor, Form, Measurement, Sweep};
use crate::units;
use crate::{Catalogue, SignalRegistry};

/// Steady seconds of a trial when a study doesn't say.
const WINDOW_S: f64 = 20.0;

/// A study resolved: nothing has been started, and every cell's plan has been checked.
#[derive(Debug, Clone)]
pub struct SweepPlan {
    /// What is varied and measured, without answers.
    pub sweep: Sweep,
    /// One for each cell, in the cells' order.
    pub arms: Vec<Arm>,
    /// Users, or arrivals per second, of each arm; 0 where the load line is looked for.
    pub loads: Vec<f64>,
    /// The first arm's plan.
    pub first: Plan,
    /// How many CPUs a machine has at least, if fewer show something else.
    pub min_cpus: Option<u32>,
}

impl StudyFile {
    /// Resolves a form of the study on a machine with the given CPUs, the plan of each cell checked. Every mistake is
    /// reported at once, with its line in `text`, which was read from `file`; `signals` are those that a run may hold.
    pub fn resolve(
        &self,
        form: Form,
        file: &str,
        text: &str,
        (catalogue, signals): (&Catalogue, &SignalRegistry),
        cpus: &[usize],
    ) -> Result<SweepPlan> {
        resolve(self, form, &Source { file, text }, (catalogue, signals), cpus)
    }

    /// Resolves every form that the study has, its usual one first; the mistakes of all are reported at once.
    pub fn resolve_all(
        &self,
        file: &str,
        text: &str,
        (catalogue, signals): (&Catalogue, &SignalRegistry),
        cpus: &[usize],
    ) -> Result<Vec<SweepPlan>> {
        let (mut plans, mut problems) = (Vec::new(), Vec::new());
        let full = self.full.as_ref().map(|_| Form::Full);
        for form in [Some(Form::Short), full].into_iter().flatten() {
            match self.resolve(form, file, text, (catalogue, signals), cpus) {
                Ok(plan) => plans.push(plan),
                Err(found) => problems.extend(found.into_vec()),
            }
        }
        // What both forms share is wrong in both.
        let mut told = Vec::new();
        problems.retain(|problem| {
            let new = !told.contains(problem);
            told.push(problem.clone());
            new
        });
        Problems::check(problems).map(|()| plans)
    }
}

/// Resolves a form of `file`.
fn resolve(
    file: &StudyFile,
    form: Form,
    source: &Source<'_>,
    (catalogue, signals): (&Catalogue, &SignalRegistry),
    cpus: &[usize],
) -> Result<SweepPlan> {
    let mut found = Found::new();
    let formed = file.in_form(form)?;
    let study: &StudyFile = &formed;
    let read = Read { study: file, form, source };
    let design = design(study, &mut found);
    let measurement = measurement(study, &mut found);
    check_load(study, &design, &mut found);
    check_overlap(study, &design, &mut found);
    let others = other_designs(file, form);
    check_titles(study, &design, &others, &mut found);
    check_size(study, &mut found);
    check_mix(study, &mut found);
    let kit = catalogue.kit(&study.kit).ok();
    let mut arms: Vec<Arm> = design.combinations.iter().map(|levels| arm(study, &design, levels)).collect();
    if let Some(kit) = &kit {
        services::take_others_away(&mut arms, kit, catalogue);
    }
    let told = StudySignals::of(&arms, kit.as_ref(), catalogue, signals);
    let own_signals = told.own(study, &mut found);
    let published = tables::tables(study, &design, &others, (kit.as_ref(), &told), &mut found);
    let mut problems: Vec<Problem> =
        found.into_iter().map(|(path, problem)| read.locate(&path, problem)).collect();
    let cpus = at_least(study.min_cpus, cpus);
    let checked = check_cells(&design, &arms, &read, catalogue, &cpus, &mut problems);
    Problems::check(problems)?;
    let first = checked.first.ok_or_else(|| Problem::recipe("the study has no cell").file(source.file))?;
    let measurement = match starting(measurement, study, &first) {
        Measurement::LoadLine(goal) => Measurement::LoadLine(goal.for_guests(checked.guests)),
        other => other,
    };
    let sweep = Sweep {
        name: study.name.clone(),
        title: study.title.clone(),
        source: study.source.clone(),
        factors: factors(study, &design),
        cells: cells_of(&design, &measurement, &checked.most),
        measurement,
        repeats: study.repeats.unwrap_or(1),
        order: study.order.unwrap_or_default(),
        seed: study.seed.unwrap_or(1),
        form: file.full.as_ref().map(|_| form),
        signals: own_signals,
        published,
        differs: study.differs.clone(),
    };
    let loads = if study.find.is_some() { vec![0.0; arms.len()] } else { checked.loads };
    Ok(SweepPlan { sweep, arms, loads, first, min_cpus: study.min_cpus })
}

/// The CPUs that there are, and as many more as the study needs: who writes it on a smaller machine is told of its mistakes, and not that
/// the machine is small, which is told when it is to be measured.
fn at_least(min_cpus: Option<u32>, cpus: &[usize]) -> Vec<usize> {
    let lacking = (min_cpus.unwrap_or(0) as usize).saturating_sub(cpus.len());
    let next = cpus.iter().max().map_or(0, |last| last + 1);
    cpus.iter().copied().chain(next..next + lacking).collect()
}

/// A search for the load line begins where the kit says, unless the study does.
fn starting(measurement: Measurement, study: &StudyFile, first: &Plan) -> Measurement {
    let said = study.find.as_ref().is_some_and(|find| find.start.is_some());
    match measurement {
        Measurement::LoadLine(goal) if !said => {
            Measurement::LoadLine(goal.starting_at(first.kit.first_load()))
        }
        other => other,
    }
}

fn measurement(study: &StudyFile, found: &mut Found) -> Measurement {
    if let Some(find) = &study.find {
        let mut problems = Vec::new();
        let goal = find.goal(study.seed.unwrap_or(1), &mut problems);
        for problem in problems {
            let steps: Vec<&str> = problem.place.key.as_deref().unwrap_or("find").split('.').collect();
            found.push((path(&steps), problem.clone()));
        }
        return Measurement::LoadLine(goal);
    }
    let window_s = match study.window.as_deref().map(units::duration) {
        None => WINDOW_S,
        Some(Ok(window)) => window.as_secs_f64(),
        Some(Err(what)) => {
            found.push((path(&["window"]), Problem::recipe(what)));
            WINDOW_S
        }
    };
    if window_s < 2.0 {
        let problem = Problem::recipe("a window must last 2 s or more");
        found.push((path(&["window"]), problem.why("the instrument judges itself by whole seconds")));
    }
    Measurement::Window { window_s }
}

/// Either a load in every cell, or a search for it.
fn check_load(study: &StudyFile, design: &Design, found: &mut Found) {
    let has = |name: &str| design.columns.iter().any(|column| column.name == name);
    if has("users") && has("rate") {
        let what = "users and rate exclude each other";
        found
            .push((path(&["rate"]), Problem::recipe(what).remedy("a study counts either users or arrivals")));
    }
    if study.find.is_none() {
        return;
    }
    for key in ["users", "rate"].into_iter().filter(|key| has(key)) {
        let problem = Problem::recipe(format!("{key} and [find] exclude each other"));
        let remedy = "leave out one: [find] looks for the load";
        let column = design.columns.iter().find(|column| column.name == key);
        let place = column.and_then(|column| column.levels.first()).map(|level| level.path.clone());
        found.push((place.unwrap_or_else(|| path(&[key])), problem.remedy(remedy)));
    }
    if study.window.is_some() {
        let problem = Problem::recipe("window and [find] exclude each other");
        found.push((path(&["window"]), problem.remedy("[find] chooses its windows by `within`")));
    }
}

/// What is varied can't be the same everywhere, and two factors can't set one knob.
fn check_overlap(study: &StudyFile, design: &Design, found: &mut Found) {
    let mut owners: BTreeMap<String, &str> = BTreeMap::new();
    owners.extend(study.set.keys().map(|key| (key.clone(), "[set]")));
    owners.extend(study.param.keys().map(|key| (format!("param.{key}"), "[param]")));
    for column in &design.columns {
        let mut keys: Vec<String> = Vec::new();
        for level in &column.levels {
            let params = level.change.param.keys().map(|key| format!("param.{key}"));
            keys.extend(level.change.set.keys().cloned().chain(params));
        }
        keys.sort();
        keys.dedup();
        for key in keys {
            if let Some(other) = owners.get(&key) {
                let what = format!("{key} is varied by {} and set by {other}", column.name);
                let place = column.levels.first().map(|level| level.path.clone()).unwrap_or_default();
                let why = "only one of the two would be in force";
                found.push((place, Problem::recipe(what).why(why)));
            }
            owners.insert(key, &column.name);
        }
    }
}

/// The designs of the study's forms that are not `form`; what is wrong with them is told when they are resolved.
fn other_designs(file: &StudyFile, form: Form) -> Vec<Design> {
    let others = [Form::Short, Form::Full].into_iter().filter(|other| *other != form);
    let studies = others.filter_map(|other| file.in_form(other).ok());
    studies.map(|study| design(&study, &mut Found::new())).collect()
}

/// A size is either the same everywhere or varied.
fn check_size(study: &StudyFile, found: &mut Found) {
    let varied =
        [("sizes", !study.sizes.is_empty()), ("cell", study.cells.iter().any(|cell| cell.size.is_some()))];
    for (key, _) in varied.into_iter().filter(|(_, varied)| *varied && study.size.is_some()) {
        let problem = Problem::recipe("`size` is the same in every cell, and the cells say other sizes");
        let remedy = if key == "sizes" { "leave one of `size` and `sizes` out" } else { "leave `size` out" };
        found.push((path(&["size"]), problem.remedy(remedy)));
    }
}

/// A mix is either the same everywhere or varied.
fn check_mix(study: &StudyFile, found: &mut Found) {
    if study.mix.is_some() && !study.mixes.is_empty() {
        let problem = Problem::recipe("`mix` is the same in every cell, and `mixes` says other ones");
        found.push((path(&["mix"]), problem.remedy("leave one of `mix` and `mixes` out")));
    }
}

fn check_titles(study: &StudyFile, design: &Design, others: &[Design], found: &mut Found) {
    let designs = std::iter::once(design).chain(others);
    let names = unique(designs.flat_map(|design| &design.columns).map(|column| column.name.as_str()));
    for name in study.titles.keys().filter(|name| !names.contains(&name.as_str())) {
        let problem = Problem::recipe(format!("`{name}` is no factor of this study"));
        let remedy = match document::nearest(name, names.iter().copied()) {
            Some(near) => format!("`{near}`"),
            None => format!("one of: {}", names.join(", ")),
        };
        found.push((path(&["titles", name]), problem.remedy(remedy)));
    }
}

/// Only what has several levels is a factor.
fn varied(design: &Design) -> Vec<usize> {
    (0..design.columns.len()).filter(|at| design.columns[*at].levels.len() > 1).collect()
}

fn arm(study: &StudyFile, design: &Design, levels: &[usize]) -> Arm {
    let mut recipe = Recipe {
        format: 1,
        kit: study.kit.clone(),
        size: study.size.clone(),
        mix: study.mix.clone(),
        seed: study.seed,
        qos: study.qos.clone(),
        set: study.set.clone(),
        param: study.param.clone(),
        ..Recipe::default()
    };
    for (_, level) in chosen(design, levels) {
        let Change { stack, topology, size, mix, users, rate, set, param } = level.change.clone();
        recipe.topology = topology.or(recipe.topology);
        recipe.size = size.or(recipe.size);
        recipe.mix = mix.or(recipe.mix);
        recipe.stack = stack.or(recipe.stack);
        recipe.users = users.or(recipe.users);
        recipe.rate = rate.or(recipe.rate);
        recipe.set.extend(set);
        recipe.param.extend(param);
    }
    let factors = varied(design);
    let named: Vec<(String, String)> = factors
        .into_iter()
        .map(|at| (design.columns[at].name.clone(), design.columns[at].levels[levels[at]].label.clone()))
        .collect();
    let label: Vec<String> = named.iter().map(|(name, level)| format!("{name} = {level}")).collect();
    let label = if label.is_empty() { "the only cell".to_string() } else { label.join(", ") };
    Arm { label, recipe, levels: named.into_iter().collect(), stored_run: None, catalogue: None }
}

fn factors(study: &StudyFile, design: &Design) -> Vec<Factor> {
    let factor = |at: usize| {
        let column = &design.columns[at];
        Factor {
            name: column.name.clone(),
            title: study.titles.get(&column.name).unwrap_or(&column.name).clone(),
            levels: column.levels.iter().map(|level| level.label.clone()).collect(),
        }
    };
    varied(design).into_iter().map(factor).collect()
}

/// The cells without answers. A load line is not looked for above the users that a cell's data set is for, `most`.
fn cells_of(design: &Design, measurement: &Measurement, most: &[Option<f64>]) -> Vec<Cell> {
    let factors = varied(design);
    let goal = match measurement {
        Measurement::LoadLine(goal) => Some(goal),
        Measurement::Window { .. } => None,
    };
    let cell = |(levels, most): (&Vec<usize>, &Option<f64>)| Cell {
        levels: factors.iter().map(|at| levels[*at]).collect(),
        answers: Vec::new(),
        most: most.filter(|most| goal.is_some_and(|goal| goal.up_to(*most).is_some())),
    };
    design.combinations.iter().zip(most).map(cell).collect()
}
