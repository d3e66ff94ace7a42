//! `borrows` of a kit: modules that lie in another kit's folder, so that no kit has to keep a copy of them.

use std::collections::BTreeMap;
use std::fmt;

use super::KitManifest;
use crate::Catalogue;
use crate::document::{self, nearest};
use crate::problem::Problem;

/// A module of another kit: `calendar/ical.lua`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Borrowed<'a> {
    /// The kit in whose folder it lies: `calendar`.
    pub kit: &'a str,
    /// What `require` calls it: `ical`.
    pub module: &'a str,
}

impl<'a> Borrowed<'a> {
    fn of(entry: &'a str) -> Option<Borrowed<'a>> {
        let (kit, file) = entry.split_once('/')?;
        let module = file.strip_suffix(".lua")?;
        let named = !kit.is_empty() && !module.is_empty() && !module.contains('/');
        named.then_some(Borrowed { kit, module })
    }

    /// Where it lies in the catalogue: `kits/calendar/ical.lua`.
    pub fn path(&self) -> String {
        format!("kits/{self}")
    }
}

impl fmt::Display for Borrowed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}.lua", self.kit, self.module)
    }
}

impl KitManifest {
    /// The modules that it borrows.
    pub fn borrowed(&self) -> impl Iterator<Item = Borrowed<'_>> {
        self.borrows.iter().filter_map(|entry| Borrowed::of(entry))
    }
}

/// Everything wrong with what the kit `name` borrows, whose manifest is `text`.
pub(crate) fn problems(kit: &KitManifest, name: &str, text: &str, catalogue: &Catalogue) -> Vec<Problem> {
    let mut earlier = BTreeMap::new();
    let mut problems = Vec::new();
    for (index, entry) in kit.borrows.iter().enumerate() {
        let Some(mut problem) = fault(entry, name, &mut earlier, catalogue) else { continue };
        problem.place.line = document::line(text, &["borrows", index.to_string().as_str()]);
        problems.push(problem.file(format!("kits/{name}/kit.toml")).key("borrows"));
    }
    problems
}

/// What is wrong with one entry of the kit `name`; `earlier` are those before it, by what `require` calls them.
fn fault<'a>(
    entry: &'a str,
    name: &str,
    earlier: &mut BTreeMap<&'a str, &'a str>,
    catalogue: &Catalogue,
) -> Option<Problem> {
    let Some(borrowed) = Borrowed::of(entry) else { return Some(no_module(entry)) };
    let module = borrowed.module;
    if borrowed.kit == name {
        return Some(at_home(entry));
    }
    if !catalogue.kits().contains(&borrowed.kit) {
        return Some(no_kit(borrowed, catalogue));
    }
    if !catalogue.modules(borrowed.kit).contains(&module) {
        return Some(elsewhere(borrowed, catalogue).unwrap_or_else(|| no_file(borrowed, catalogue)));
    }
    match earlier.insert(module, entry) {
        Some(other) if other == entry => return Some(twice(entry)),
        Some(other) => return Some(same_name(borrowed, &format!("`{other}`, which is borrowed too"))),
        None => {}
    }
    let own = catalogue.modules(name).contains(&module);
    own.then(|| same_name(borrowed, &format!("this kit's own `{module}.lua`")))
}

fn no_module(entry: &str) -> Problem {
    Problem::recipe(format!("`{entry}` names no module of another kit"))
        .why("what `require` finds are Lua files that lie directly in a kit's folder")
        .remedy("the kit and the file: `KIT/MODULE.lua`")
}

fn at_home(entry: &str) -> Problem {
    Problem::recipe(format!("`{entry}` is this kit's own"))
        .why("`require` finds every Lua file of the kit's folder by itself")
        .remedy("leave it out")
}

fn no_kit(borrowed: Borrowed<'_>, catalogue: &Catalogue) -> Problem {
    let kits = catalogue.kits();
    let near = nearest(borrowed.kit, kits.iter().copied()).map(|kit| Borrowed { kit, ..borrowed });
    let others = || format!("one of: {}; those of your own are found with --catalogue DIR", kits.join(", "));
    Problem::recipe(format!("there is no kit `{}`", borrowed.kit))
        .why(nothing_found(borrowed))
        .remedy(near.map_or_else(others, |near| format!("`{near}`")))
}

fn no_file(borrowed: Borrowed<'_>, catalogue: &Catalogue) -> Problem {
    let Borrowed { kit, module } = borrowed;
    let modules = catalogue.modules(kit);
    let near = nearest(module, modules.iter().copied()).map(|module| Borrowed { kit, module });
    Problem::recipe(format!("`{module}.lua` does not exist in kits/{kit}"))
        .why(nothing_found(borrowed))
        .remedy(near.map_or_else(|| format!("one of: {}", modules.join(", ")), |near| format!("`{near}`")))
}

fn nothing_found(borrowed: Borrowed<'_>) -> String {
    format!("`require \"{}\"` would find nothing", borrowed.module)
}

/// The kit that is named does not have the module itself, but borrows it.
fn elsewhere(borrowed: Borrowed<'_>, catalogue: &Catalogue) -> Option<Problem> {
    let path = format!("kits/{}/kit.toml", borrowed.kit);
    // A manifest that can't be read is told when that kit is checked.
    let kit: KitManifest = document::read(&path, catalogue.text(&path).ok()?).ok()?;
    let source = kit.borrowed().find(|one| one.module == borrowed.module)?;
    let what = format!("kit {} only borrows `{}.lua` itself", borrowed.kit, borrowed.module);
    let why = "a chain would hide in whose folder the file lies that the results depend on";
    Some(Problem::recipe(what).why(why).remedy(format!("`{source}`")))
}

fn twice(entry: &str) -> Problem {
    Problem::recipe(format!("`{entry}` is borrowed twice"))
        .why("one of the two may have been meant to be another module")
        .remedy("leave one out")
}

fn same_name(borrowed: Borrowed<'_>, other: &str) -> Problem {
    Problem::recipe(format!("`{borrowed}` has the name of {other}"))
        .why(format!("`require \"{}\"` can find only one of them", borrowed.module))
        .remedy("leave one out, or give it another name")
}

#[cfg(test)]
mod tests;
