//! What can be said about a kit without running it: every file compiles, and every name that one file takes from
//! another exists there.

mod application;
mod borrows;
mod metrics;
mod mixes;
mod names;
mod optional;
mod sizes;
mod users;

use std::collections::BTreeSet;

use engine::script::sandbox::{self, Modules};
use model::catalogue::kit::{FeedMode, FeederDeclaration, OnEnd};
use model::record::study::Published;
use model::{Catalogue, Plan, Problem, Problems, Result, catalogue::setting};

use names::{Names, complaint, near};

use crate::data;
use crate::files;
use crate::folder::{Kit, Setup};
use crate::script;
use crate::sql::file;

/// Checks the kit `name`; every mistake at once.
pub fn lint(catalogue: &Catalogue, name: &str) -> Result<()> {
    let kit = Kit::open(catalogue, name)?;
    let mut problems = Vec::new();
    compile(&kit, &mut problems);
    borrows::check(&kit, catalogue, &mut problems);
    params(&kit, &mut problems);
    sizes::check(&kit, &mut problems);
    feeders(&kit, &mut problems);
    file_set(&kit, &mut problems);
    application::check(&kit, catalogue, &mut problems);
    let names = Names::of(&kit)?;
    mixes::check(&kit, &names, &mut problems);
    users::check(&kit, &mut problems);
    metrics::check(&kit, &names, &mut problems);
    optional::check(&kit, &names, &mut problems);
    if problems.is_empty() {
        trial(&kit, catalogue, &mut problems);
    }
    Problems::check(problems)
}

/// What [`lint`] lets pass because only a run can tell whether it is right: a sentence each, with its place.
///
/// # Errors
/// A kit that can't be read.
pub fn notes(catalogue: &Catalogue, name: &str) -> Result<Vec<String>> {
    let kit = Kit::open(catalogue, name)?;
    Ok(metrics::notes(&kit, &Names::of(&kit)?))
}

/// The plan's targets are for operations or sessions that the kit has: a mistyped one would cost a whole run.
pub fn check_targets(plan: &Plan, catalogue: &Catalogue) -> Result<()> {
    let kit = Kit::open(catalogue, &plan.kit.name)?;
    let names = Names::of(&kit)?;
    let sessions = kit.manifest.session_names();
    let known = || names.operations.iter().chain(&sessions);
    let wanted = plan.qos.iter().filter_map(|target| target.operation.as_ref().map(|name| (target, name)));
    let wrong = wanted.filter_map(|(target, name)| {
        let key = format!("qos `{target}`");
        if !known().any(|known| known == name) {
            let what = format!("there is no operation or session `{name}` in kit {}", kit.manifest.name);
            return Some(near(Problem::recipe(what).key(key), name, known().map(String::as_str)));
        }
        let param = plan.kit.lacks_operation(name, &plan.params)?;
        let what = format!("there is no operation `{name}` where {param} is {}", plan.params.get(param)?);
        Some(Problem::recipe(what).key(key).remedy(format!("--param {param}=…, or no target of it")))
    });
    Problems::check(wrong.collect())
}

/// Every published figure is of an operation or session that the kit has.
pub fn check_published(kit: &str, tables: &[Published], catalogue: &Catalogue) -> Result<()> {
    let kit = Kit::open(catalogue, kit)?;
    let names = Names::of(&kit)?;
    let known = || names.operations.iter();
    let unknown = tables.iter().filter_map(|table| {
        let name = table.figure.operation.as_ref().filter(|name| !known().any(|known| known == *name))?;
        let what = format!("there is no operation `{name}` in kit {}", kit.manifest.name);
        let key = format!("published `{}`: of = `{}`", table.title, table.of);
        Some(near(Problem::recipe(what).key(key), name, known().map(String::as_str)))
    });
    Problems::check(unknown.collect())
}

/// Every Lua file is Lua.
fn compile(kit: &Kit, problems: &mut Vec<Problem>) {
    for (name, text) in &kit.modules {
        let file = format!("{name}.lua");
        let compiled = sandbox::new_lua(Modules::new(), 64 << 20).and_then(|lua| {
            lua.load(text.as_str()).set_name(format!("@{}", kit.path_of(&file))).into_function()
        });
        if let Err(error) = compiled {
            problems.push(script::problem(kit, &file, &error));
        }
    }
}

/// Every parameter's default is one that it would accept.
fn params(kit: &Kit, problems: &mut Vec<Problem>) {
    let mut seen = BTreeSet::new();
    for param in &kit.manifest.params {
        if !seen.insert(param.name.as_str()) {
            problems.push(complaint(kit, format!("`{}` is declared twice", param.name), "param"));
        }
        if let Err(what) = param.accept(&param.default) {
            problems.push(complaint(
                kit,
                format!("the default is wrong: {what}"),
                &format!("param.{}", param.name),
            ));
        }
    }
    if let Some(unit) = kit.manifest.users.think_unit.as_deref().filter(|unit| !seen.contains(unit)) {
        let problem = complaint(kit, format!("`{unit}` is not a parameter"), "users.think_unit");
        problems.push(near(problem, unit, seen.iter().copied()));
    }
}

/// Every feeder has a name of its own that Lua can read, and does not promise what it can't keep.
fn feeders(kit: &Kit, problems: &mut Vec<Problem>) {
    let mut seen = BTreeSet::new();
    for FeederDeclaration { name, mode, on_end, .. } in &kit.manifest.feeders {
        let key = format!("feeder.{name}");
        let begins = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        if !begins || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
            let what = format!("`{name}` is no name that feed.NAME() can have: letters, digits and _");
            problems.push(complaint(kit, what, &key));
        }
        if !seen.insert(name) {
            problems.push(complaint(kit, format!("feeder `{name}` is declared twice"), &key));
        }
        if (*mode, *on_end) == (FeedMode::Unique, OnEnd::Repeat) {
            let problem =
                complaint(kit, "rows that are given at most once can't be repeated".to_string(), &key);
            problems.push(problem.remedy("mode = \"shared\", or on_end = \"stop\""));
        }
    }
}

/// `page_cache` names a parameter with both its choices.
fn file_set(kit: &Kit, problems: &mut Vec<Problem>) {
    let manifest = &kit.manifest;
    let Some(set) = &manifest.file_set else { return };
    let Some(name) = &set.page_cache else { return };
    let known = manifest.params.iter().map(|param| param.name.as_str());
    match manifest.params.iter().find(|param| param.name == *name) {
        None => {
            let problem = complaint(kit, format!("`{name}` is not a parameter"), "file_set.page_cache");
            problems.push(near(problem, name, known));
        }
        Some(param) if !["cold", "warm"].iter().all(|way| param.values.iter().any(|value| value == way)) => {
            let what = format!("the parameter `{name}` must be a choice with `cold` and `warm`");
            problems.push(complaint(kit, what, "file_set.page_cache"));
        }
        Some(_) => {}
    }
}

/// The data script declares its parts, the script of the file set names its files, and the SQL files render, with the
/// defaults.
fn trial(kit: &Kit, catalogue: &Catalogue, problems: &mut Vec<Problem>) {
    let params = setting::resolve(&kit.manifest.params, &setting::Values::new(), "param.", problems);
    for larger in &kit.manifest.larger_sizes {
        problems.extend(kit.manifest.size(larger).err().map(|what| complaint(kit, what, "larger_sizes")));
    }
    let size = match kit.manifest.size(&kit.manifest.default_size) {
        Ok(size) => size,
        Err(what) => return problems.push(complaint(kit, what, "default_size")),
    };
    let setup = Setup { size, params, seed: 1 };
    if let Err(found) = data::declared_tables(kit, &setup) {
        problems.extend(found.into_vec());
    }
    if let Err(found) = files::list(kit, &setup, catalogue) {
        problems.extend(found.into_vec());
    }
    let (mut texts, known) = (Vec::new(), problems.len());
    for sql in [&kit.manifest.schema, &kit.manifest.finish].into_iter().flatten() {
        match file::text(kit, sql, &setup) {
            Ok(text) => texts.extend(file::statements(&text).into_iter().map(|statement| statement.text)),
            Err(found) => problems.extend(found.into_vec()),
        }
    }
    // Of SQL that can't be read nothing is known.
    if problems.len() == known {
        shards(kit, &texts, problems);
    }
}

/// Tables that are shared out are made by the kit's SQL, with the column that says where a row is.
fn shards(kit: &Kit, statements: &[String], problems: &mut Vec<Problem>) {
    for (table, column) in &kit.manifest.shards {
        let head = format!("CREATE TABLE {table} ");
        let key = format!("shards.{table}");
        match statements.iter().find(|text| text.starts_with(&head)) {
            None => problems.push(complaint(kit, format!("the kit's SQL makes no table `{table}`"), &key)),
            Some(text) if !text.split_whitespace().any(|word| word == column) => {
                problems.push(complaint(kit, format!("table `{table}` has no column `{column}`"), &key));
            }
            Some(_) => {}
        }
    }
}
