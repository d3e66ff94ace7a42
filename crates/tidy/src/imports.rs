//! Which file of a crate imports which: `use` declarations and paths in code, read as Rust's tokens.
//!
//! The principal type is [`Modules`]. A name that a module hands on by a `use` of its own leads to the file that defines
//! it. The declaration `mod x;` is no import, and neither tests nor what macros make are read.

mod tokens;

use std::collections::{BTreeMap, BTreeSet};

use tokens::Contents;

/// More steps than this from one `use` to the next are a loop of names that mean each other.
const MAX_STEPS: usize = 16;

/// The modules of a crate by their paths from its root, which is the empty path.
#[derive(Debug, Default)]
pub(crate) struct Modules<'a> {
    by_path: BTreeMap<Vec<String>, Module<'a>>,
}

#[derive(Debug)]
struct Module<'a> {
    file: &'a str,
    contents: Contents,
}

impl<'a> Modules<'a> {
    /// The modules of the crate whose sources are in `folder`, from their paths and texts.
    pub(crate) fn of(folder: &str, files: impl Iterator<Item = (&'a str, &'a str)>) -> Modules<'a> {
        let mut modules = Modules::default();
        for (file, text) in files {
            let Some(path) = file.strip_prefix(folder).and_then(module_path) else { continue };
            for (inner, contents) in tokens::modules(text) {
                let path = path.iter().cloned().chain(inner).collect();
                modules.by_path.insert(path, Module { file, contents });
            }
        }
        modules
    }

    /// The files that each file imports, itself left out.
    pub(crate) fn imports(&self) -> BTreeMap<&'a str, BTreeSet<&'a str>> {
        let mut imports: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for (path, module) in &self.by_path {
            let own = imports.entry(module.file).or_default();
            let named = module.contents.uses.iter().filter(|one| !one.glob);
            // A module that is imported by its name is used by paths that begin with it.
            let named = named
                .filter(|one| !self.absolute(path, &one.path, 0).is_some_and(|path| self.is_module(&path)));
            let named = named.map(|one| &one.path).chain(&module.contents.paths);
            own.extend(named.filter_map(|name| self.definer(&self.absolute(path, name, 0)?, 0)));
            let globs = module.contents.uses.iter().filter(|one| one.glob);
            own.extend(globs.filter_map(|glob| self.definer(&self.absolute(path, &glob.path, 0)?, 0)));
            own.remove(module.file);
        }
        imports
    }

    fn is_module(&self, path: &[String]) -> bool {
        self.by_path.contains_key(path)
    }

    /// The path from the crate's root of what is called `name` in the module at `path`; absent for another crate's.
    fn absolute(&self, path: &[String], name: &[String], steps: usize) -> Option<Vec<String>> {
        let (first, rest) = name.split_first()?;
        let begin = match first.as_str() {
            "crate" => Vec::new(),
            "self" => path.to_vec(),
            "super" => {
                let (_, parent) = path.split_last()?;
                // `super::super::x` goes on from there.
                if rest.first().is_some_and(|next| next == "super") {
                    return self.absolute(parent, rest, steps);
                }
                parent.to_vec()
            }
            child if self.is_module(&joined(path, child)) => joined(path, child),
            alias => self.imported(path, alias, steps)?,
        };
        Some([&begin, rest].concat())
    }

    /// What the module at `path` imports as `alias`, as a path from the root.
    fn imported(&self, path: &[String], alias: &str, steps: usize) -> Option<Vec<String>> {
        if steps > MAX_STEPS {
            return None;
        }
        let uses = &self.by_path.get(path)?.contents.uses;
        let one = uses.iter().find(|one| !one.glob && one.alias.as_deref() == Some(alias))?;
        self.absolute(path, &one.path, steps + 1)
    }

    /// The file that defines what stands at a path from the root: where that can't be read, the file of the last module
    /// on the way.
    fn definer(&self, path: &[String], steps: usize) -> Option<&'a str> {
        let depth = (0..=path.len()).rev().find(|depth| self.is_module(&path[..*depth]))?;
        let (at, rest) = path.split_at(depth);
        let module = &self.by_path[at];
        let Some((name, after)) = rest.split_first() else { return Some(module.file) };
        if module.contents.defines.contains(name) || steps > MAX_STEPS {
            return Some(module.file);
        }
        if let Some(elsewhere) = self.imported(at, name, steps) {
            return self.definer(&[&elsewhere, after].concat(), steps + 1);
        }
        let mut globs = module.contents.uses.iter().filter(|one| one.glob);
        let elsewhere = globs.find_map(|glob| {
            let target = self.absolute(at, &glob.path, steps + 1)?;
            self.by_path.get(&target)?.contents.defines.contains(name).then_some(target)
        });
        elsewhere.map_or(Some(module.file), |target| self.by_path.get(&target).map(|module| module.file))
    }
}

fn joined(path: &[String], name: &str) -> Vec<String> {
    path.iter().cloned().chain([name.to_string()]).collect()
}

/// The module that a file is, by its path in the folder of sources: `["http", "date"]` for `http/date.rs`.
fn module_path(file: &str) -> Option<Vec<String>> {
    let stem = file.strip_suffix(".rs")?;
    let stem = stem.strip_suffix("/mod").unwrap_or(stem);
    match stem {
        "lib" | "main" => Some(Vec::new()),
        _ => Some(stem.split('/').map(str::to_string).collect()),
    }
}
