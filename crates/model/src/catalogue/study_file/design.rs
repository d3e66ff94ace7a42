//! Which cells a study has: the full grid of its factors, or those that it lists.

use std::collections::BTreeSet;

use super::level::{Change, Column, Level, column, path};
use super::{CellRequest, StudyFile};
use crate::catalogue::setting::Value;
use crate::problem::Problem;

/// More cells than this are a mistake: a day of trials, at the least.
const MAX_CELLS: usize = 5_000;

/// Factors, and the combinations of their levels that are measured.
#[derive(Debug, Clone, Default)]
pub(super) struct Design {
    /// The slowest first.
    pub(super) columns: Vec<Column>,
    /// For each cell the number of the level of each factor.
    pub(super) combinations: Vec<Vec<usize>>,
}

/// Problems, each with its path in the file.
pub(super) type Found = Vec<(Vec<String>, Problem)>;

/// The study's cells; mistakes are added to `found`.
pub(super) fn design(file: &StudyFile, found: &mut Found) -> Design {
    if file.cells.is_empty() { grid(file, found) } else { listed(file, found) }
}

/// Every combination of the levels; a list of one is no factor, but part of every cell.
fn grid(file: &StudyFile, found: &mut Found) -> Design {
    let mut columns = vec![stacks(file), topologies(file), sizes(file), mixes(file)];
    columns.extend(file.factors.iter().enumerate().filter_map(|(at, factor)| column(factor, at, found)));
    columns.extend([users(file), rates(file)]);
    columns.retain(|column| !column.levels.is_empty());
    for column in &columns {
        let mut seen = BTreeSet::new();
        for level in column.levels.iter().filter(|level| !seen.insert(&level.label)) {
            let what = format!("the level {} of {} is there twice", level.label, column.name);
            found.push((level.path.clone(), Problem::recipe(what).remedy("leave it out; `repeats` repeats")));
        }
    }
    let cells = columns.iter().fold(1_usize, |cells, column| cells.saturating_mul(column.levels.len()));
    if cells > MAX_CELLS {
        let what = format!("the factors' levels make {cells} cells; {MAX_CELLS} are the most");
        let problem = Problem::recipe(what).remedy("fewer levels, or the cells that matter as [[cell]]s");
        found.push((path(&["factor"]), problem));
        return Design { columns, combinations: Vec::new() };
    }
    let mut combinations = vec![Vec::new()];
    for column in &columns {
        let longer = |combination: &Vec<usize>| {
            let combination = combination.clone();
            (0..column.levels.len()).map(move |level| [combination.clone(), vec![level]].concat())
        };
        combinations = combinations.iter().flat_map(longer).collect();
    }
    Design { columns, combinations }
}

/// The levels of a combination, each with its factor's name.
pub(super) fn chosen<'a>(
    design: &'a Design,
    levels: &'a [usize],
) -> impl Iterator<Item = (&'a str, &'a Level)> {
    let pairs = design.columns.iter().zip(levels);
    pairs.map(|(column, level)| (column.name.as_str(), &column.levels[*level]))
}

fn levels<T: ToString>(list: &[T], key: &str, change: impl Fn(&T) -> Change) -> Vec<Level> {
    let level = |(at, value): (usize, &T)| Level {
        label: value.to_string(),
        change: change(value),
        path: path(&[key, &at.to_string()]),
    };
    list.iter().enumerate().map(level).collect()
}

fn stacks(file: &StudyFile) -> Column {
    let change = |stack: &String| Change { stack: Some(stack.clone()), ..Change::default() };
    Column { name: "stack".to_string(), levels: levels(&file.stacks, "stacks", change) }
}

fn topologies(file: &StudyFile) -> Column {
    let change = |topology: &String| Change { topology: Some(topology.clone()), ..Change::default() };
    Column { name: "topology".to_string(), levels: levels(&file.topologies, "topologies", change) }
}

fn sizes(file: &StudyFile) -> Column {
    let change = |size: &String| Change { size: Some(size.clone()), ..Change::default() };
    Column { name: "size".to_string(), levels: levels(&file.sizes, "sizes", change) }
}

fn mixes(file: &StudyFile) -> Column {
    let change = |mix: &String| Change { mix: Some(mix.clone()), ..Change::default() };
    Column { name: "mix".to_string(), levels: levels(&file.mixes, "mixes", change) }
}

fn users(file: &StudyFile) -> Column {
    let change = |users: &u32| Change { users: Some(*users), ..Change::default() };
    Column { name: "users".to_string(), levels: levels(&file.users, "users", change) }
}

fn rates(file: &StudyFile) -> Column {
    let change = |rate: &String| Change { rate: Some(rate.clone()), ..Change::default() };
    Column { name: "rate".to_string(), levels: levels(&file.rate, "rate", change) }
}

/// The cells of the file. What any of them says, all must say, or it would be a matter of chance what the others have.
fn listed(file: &StudyFile, found: &mut Found) -> Design {
    let several = [
        ("stacks", file.stacks.len()),
        ("topologies", file.topologies.len()),
        ("sizes", file.sizes.len()),
        ("mixes", file.mixes.len()),
        ("users", file.users.len()),
        ("rate", file.rate.len()),
    ];
    for (key, _) in several.iter().filter(|(_, count)| *count > 1) {
        let what = format!("a list of {key} and [[cell]]s exclude each other");
        let of_cells = *key != "mixes";
        let remedy = if of_cells { "say it in each [[cell]], or give one value" } else { "give one value" };
        found.push((path(&[key]), Problem::recipe(what).remedy(remedy)));
    }
    if !file.factors.is_empty() {
        let what = "[[factor]]s and [[cell]]s exclude each other";
        let remedy = "a grid has [[factor]]s, a list has [[cell]]s";
        found.push((path(&["factor", "0"]), Problem::recipe(what).remedy(remedy)));
    }
    let mut names: Vec<String> = Vec::new();
    for cell in &file.cells {
        for (name, _) in
            factor_levels(cell).into_iter().filter(|(name, _)| !names.contains(name)).collect::<Vec<_>>()
        {
            names.push(name);
        }
    }
    for (at, cell) in file.cells.iter().enumerate() {
        let says: Vec<String> = factor_levels(cell).into_iter().map(|(name, _)| name).collect();
        for name in names.iter().filter(|name| !says.contains(name)) {
            let what = format!("cell {} does not say {name}, which others do", at + 1);
            let why = "it would be measured with a value that nobody chose";
            found.push((path(&["cell", &at.to_string()]), Problem::recipe(what).why(why)));
        }
    }
    let base = grid(&StudyFile { factors: Vec::new(), cells: Vec::new(), ..file.clone() }, &mut Vec::new());
    let mut columns: Vec<Column> = names.iter().map(|name| listed_column(file, name)).collect();
    let place = |cell: &CellRequest, column: &Column| {
        let label = factor_levels(cell)
            .into_iter()
            .find(|(name, _)| *name == column.name)
            .map(|(_, level)| level.label);
        column.levels.iter().position(|level| Some(&level.label) == label.as_ref()).unwrap_or(0)
    };
    let combination = |cell| columns.iter().map(|column| place(cell, column)).collect::<Vec<usize>>();
    let mut combinations: Vec<Vec<usize>> = file.cells.iter().map(combination).collect();
    for (at, combination) in combinations.iter().enumerate() {
        if let Some(first) = combinations[..at].iter().position(|other| other == combination) {
            let what = format!("cell {} is the same as cell {}", at + 1, first + 1);
            let problem = Problem::recipe(what).remedy("leave it out; `repeats` repeats");
            found.push((path(&["cell", &at.to_string()]), problem));
        }
    }
    for column in base.columns.into_iter().filter(|column| !names.contains(&column.name)) {
        columns.push(Column { levels: column.levels.into_iter().take(1).collect(), ..column });
        combinations.iter_mut().for_each(|combination| combination.push(0));
    }
    Design { columns, combinations }
}

/// What a cell says: the factor's name, and the level.
fn factor_levels(cell: &CellRequest) -> Vec<(String, Level)> {
    let mut said = Vec::new();
    let mut add = |name: &str, label: String, change: Change| {
        said.push((name.to_string(), Level { label, change, path: Vec::new() }));
    };
    if let Some(stack) = &cell.stack {
        add("stack", stack.clone(), Change { stack: Some(stack.clone()), ..Change::default() });
    }
    if let Some(topology) = &cell.topology {
        let change = Change { topology: Some(topology.clone()), ..Change::default() };
        add("topology", topology.clone(), change);
    }
    if let Some(size) = &cell.size {
        add("size", size.clone(), Change { size: Some(size.clone()), ..Change::default() });
    }
    for (name, value) in &cell.set {
        let set = [(name.clone(), value.clone())].into();
        add(name, value.to_string(), Change { set, ..Change::default() });
    }
    for (name, value) in &cell.param {
        let param = [(name.clone(), value.clone())].into();
        add(&format!("param.{name}"), value.to_string(), Change { param, ..Change::default() });
    }
    if let Some(users) = cell.users {
        add("users", users.to_string(), Change { users: Some(users), ..Change::default() });
    }
    if let Some(rate) = &cell.rate {
        add("rate", rate.clone(), Change { rate: Some(rate.clone()), ..Change::default() });
    }
    said
}

/// The levels that cells say of one factor: numbers by size, words in the order in which they first appear.
fn listed_column(file: &StudyFile, name: &str) -> Column {
    let mut levels: Vec<Level> = Vec::new();
    for (at, cell) in file.cells.iter().enumerate() {
        let level = factor_levels(cell).into_iter().find(|(said, _)| said == name).map(|(_, level)| level);
        let Some(level) = level.filter(|level| levels.iter().all(|known| known.label != level.label)) else {
            continue;
        };
        let at = at.to_string();
        let steps = match (level.change.set.is_empty(), level.change.param.is_empty()) {
            (false, _) => vec!["cell", &at, "set", name],
            (_, false) => vec!["cell", &at, "param", name.trim_start_matches("param.")],
            _ => vec!["cell", &at, name],
        };
        levels.push(Level { path: path(&steps), ..level });
    }
    let size = |level: &Level| match level.change.set.values().chain(level.change.param.values()).next() {
        Some(Value::Int(number)) => Some(*number as f64),
        Some(Value::Float(number)) => Some(*number),
        Some(_) => None,
        None => level.change.users.map(f64::from),
    };
    if levels.iter().all(|level| size(level).is_some()) {
        levels.sort_by(|a, b| size(a).unwrap_or(0.0).total_cmp(&size(b).unwrap_or(0.0)));
    }
    Column { name: name.to_string(), levels }
}
