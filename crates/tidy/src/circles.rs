//! Files of a crate that import each other in a circle can only be read, and moved, together.

use std::collections::{BTreeMap, BTreeSet};

use crate::imports::Modules;
use crate::source::is_test;
use crate::{Complaint, House};

/// The number of files that may import each other, directly or by way of others.
const MAX_FILES: usize = 3;

/// Checks every crate; a circle is complained of once, at the first of its files.
pub fn check(house: &House) -> Vec<Complaint> {
    let rooms = house.folders("crates").into_iter().map(|room| format!("crates/{room}"));
    rooms.chain(["benches".to_string()]).flat_map(|room| circles(house, &format!("{room}/src/"))).collect()
}

fn circles(house: &House, folder: &str) -> Vec<Complaint> {
    let rest = |path: &str| path[folder.len()..].to_string();
    // A program beside the library is a crate of its own.
    let own = |path: &str| !is_test(path) && !rest(path).starts_with("bin/");
    let library = house.has(&format!("{folder}lib.rs"));
    let own = |path: &str| own(path) && !(library && rest(path) == "main.rs");
    let files = house.matching(folder, ".rs").filter(|(path, _)| own(path));
    let imports = Modules::of(folder, files).imports();
    let too_large = components(&imports).into_iter().filter(|circle| circle.len() > MAX_FILES);
    too_large.map(|circle| complaint(&circle, folder)).collect()
}

fn complaint(circle: &BTreeSet<&str>, folder: &str) -> Complaint {
    let files: Vec<&str> = circle.iter().map(|file| &file[folder.len()..]).collect();
    let what = format!(
        "a circle of {} files that import each other: {}; move what they share into a file of its own below them",
        files.len(),
        files.join(", ")
    );
    let path = circle.first().map(|file| file.to_string()).unwrap_or_default();
    Complaint { rule: "circle", path, line: 0, what }
}

/// The strongly connected components: sets of files each of which leads to each other.
fn components<'a>(imports: &BTreeMap<&'a str, BTreeSet<&'a str>>) -> Vec<BTreeSet<&'a str>> {
    let reached: BTreeMap<&str, BTreeSet<&str>> =
        imports.keys().map(|file| (*file, reached_from(file, imports))).collect();
    let mut components: Vec<BTreeSet<&str>> = Vec::new();
    for (file, there) in &reached {
        if !components.iter().any(|component| component.contains(file)) {
            let and_back = |other: &&&str| reached.get(**other).is_some_and(|back| back.contains(file));
            components.push(there.iter().filter(and_back).copied().chain([*file]).collect());
        }
    }
    components
}

fn reached_from<'a>(file: &str, imports: &BTreeMap<&'a str, BTreeSet<&'a str>>) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::new();
    let mut next: Vec<&str> = imports.get(file).into_iter().flatten().copied().collect();
    while let Some(file) = next.pop() {
        if reached.insert(file) {
            next.extend(imports.get(file).into_iter().flatten());
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;

    fn circles_of(files: &[(&str, &str)]) -> Vec<String> {
        check(&House::of(files.iter().copied()))
            .into_iter()
            .map(|found| found.path + ": " + &found.what)
            .collect()
    }

    /// `a` imports `b`, and so on, and the last one `a`.
    fn ring(names: &[&str], import: impl Fn(&str) -> String) -> Vec<String> {
        let files: Vec<(String, String)> = (0..names.len())
            .map(|at| {
                (
                    format!("crates/x/src/{}.rs", names[at]),
                    format!("pub struct Thing;\n{}", import(names[(at + 1) % names.len()])),
                )
            })
            .collect();
        let files: Vec<(&str, &str)> =
            files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        circles_of(&files)
    }

    #[test]
    fn four_files_that_import_each_other_are_a_fault_and_three_are_none() {
        let plain = |next: &str| format!("use crate::{next}::Thing;\n");
        assert_eq!(ring(&["a", "b", "c"], plain), [""; 0]);
        let found = ring(&["d", "b", "c", "a"], plain);
        assert_eq!(found.len(), 1);
        assert!(found[0].starts_with("crates/x/src/a.rs: a circle of 4 files"), "{found:?}");
        assert!(found[0].contains("a.rs, b.rs, c.rs, d.rs;"), "{found:?}");
    }

    #[test]
    fn an_import_counts_however_it_is_written() {
        let ways: [fn(&str) -> String; 6] = [
            |next| format!("use crate::{{std::fs, {next}::{{Thing as Other, more::Part}}}};"),
            |next| format!("use super::{next}::Thing;"),
            |next| format!("fn f() -> crate::{next}::Thing {{ vec![super::{next}::new()] }}"),
            |next| format!("use crate::{next};\nfn f(x: {next}::Thing) {{}}"),
            |next| format!("mod inner {{ use super::super::{next}::*; }}"),
            |next| format!("use crate::{next}::{{self as other}};\nfn f() {{ other::g() }}"),
        ];
        for way in ways {
            assert_eq!(ring(&["a", "b", "c", "d"], way).len(), 1, "{}", way("b"));
        }
    }

    #[test]
    fn what_is_no_import_closes_no_circle() {
        let ways: [fn(&str) -> String; 6] = [
            |next| format!("// use crate::{next}::Thing;\nconst A: &str = \"crate::{next}::Thing\";"),
            |next| format!("#[cfg(test)]\nmod tests {{\n    use crate::{next}::Thing;\n}}"),
            |next| format!("use other::{next}::Thing;\nuse ::{next}::Part;"),
            |next| format!("pub(in crate::{next}) fn f() {{}}"),
            |_| "#[cfg(test)]\nmod tests { use super::*; }".to_string(),
            |next| format!("mod {next};"),
        ];
        for way in ways {
            assert_eq!(ring(&["a", "b", "c", "d"], way), [""; 0], "{}", way("b"));
        }
    }

    #[test]
    fn a_name_that_the_root_hands_on_is_imported_from_where_it_is_defined() {
        let root = "mod a;\nmod b;\nmod c;\npub use a::A;\npub use b::*;\npub use c::C as Other;\n";
        let files = |c: &'static str| {
            [
                ("crates/x/src/lib.rs", root),
                ("crates/x/src/a.rs", "use crate::B;\npub struct A;"),
                ("crates/x/src/b.rs", "use crate::Other;\npub struct B;"),
                ("crates/x/src/c.rs", c),
            ]
        };
        assert_eq!(
            circles_of(&files("pub struct C;")),
            [""; 0],
            "the root imports them, none of them the root"
        );
        assert_eq!(circles_of(&files("use crate::A;\npub struct C;")), [""; 0], "a circle of three");
        let found = circles_of(&files("use crate::{A, root};\npub struct C;"));
        assert!(
            found.len() == 1 && found[0].contains("circle of 4 files"),
            "what the root defines: {found:?}"
        );
    }

    #[test]
    fn folders_of_modules_are_read_as_the_compiler_reads_them() {
        let files = [
            ("crates/x/src/http/mod.rs", "mod page;\npub use page::Page;\nuse crate::user::User;"),
            ("crates/x/src/http/page.rs", "mod part;\nfn f() { part::g() }"),
            ("crates/x/src/http/page/part.rs", "use super::super::line::Line;"),
            ("crates/x/src/http/line.rs", "use crate::user::User;"),
            ("crates/x/src/user.rs", "use crate::http::Page;"),
            ("crates/x/src/user/tests.rs", "use crate::http::line::Line;"),
        ];
        let found = circles_of(&files);
        assert_eq!(found.len(), 1);
        assert!(
            found[0].contains(
                "of 4 files that import each other: http/line.rs, http/page.rs, http/page/part.rs, user.rs;"
            ),
            "{found:?}"
        );
    }
}
