//! A kit that borrows modules of another one: it has them as they are there, what it makes follows them, and mistakes
//! in them are told where they lie.

use std::borrow::Cow;
use std::collections::BTreeMap;

use kit::data::{dataset_id, declared_tables};
use kit::{Kit, files};
use model::Catalogue;

use crate::shop::{catalogue, setup};

const MANIFEST: &str = r#"
format = 1
name = "NAME"
version = 1
title = "Tales"
source = "ours"
needs = ["web+php", "sql"]
app = "app"
session = "session.lua"
data = "data.lua"
borrows = [BORROWS]
front_page = "/"
default_size = "one"
default_stack = "web"
state = { drifts = false, why = "nothing is written", reset = "none" }
sizes = { one = { tales = 3 } }
users = { default = 1, ramp_per_s = 1 }
mix = { visit = 1 }
qos = { all = ["p95 < 1s"] }
"#;

const DATA: &str = r#"
local names = require "names"
local function make(first, last)
  for n = first, last do emit("TALES", n, names.of(n)) end
end
return {
  tables = { TALES = { "ID", "NAME" } },
  parts = { { name = "tales", count = size.tales, chunk = 10, rows = { TALES = 1 }, make = make } },
}
"#;

const NAMES: &str = r#"
-- As require "dictionary" did it.
local alphabet = require("alphabet")
local names = {}
function names.of(n) return alphabet.letter(n) .. n end
return names
"#;

const ALPHABET: &str = "return { letter = function(n) return string.char(64 + n % 26) end }";

type Texts = BTreeMap<String, Cow<'static, [u8]>>;

fn texts(files: &[(&str, &str)]) -> Texts {
    files.iter().map(|(path, text)| (path.to_string(), Cow::Owned(text.as_bytes().to_vec()))).collect()
}

/// A kit's files without its modules.
fn bare(name: &str, borrows: &[&str]) -> Texts {
    let list: Vec<String> = borrows.iter().map(|entry| format!("{entry:?}")).collect();
    let manifest = MANIFEST.replace("NAME", name).replace("BORROWS", &list.join(", "));
    let file = |file: &str| format!("kits/{name}/{file}");
    texts(&[
        (&file("kit.toml"), &manifest),
        (&file("session.lua"), "function visit(user) get('/') end"),
        (&file("data.lua"), DATA),
        (&file("app/index.php"), "tales"),
    ])
}

/// The kit `words` with three modules, and the kit `tales` that borrows the given ones.
fn tales(borrows: &[&str]) -> Catalogue {
    let mut all = Catalogue::new(bare("words", &[]));
    all.overlay(bare("tales", borrows));
    all.overlay(texts(&[
        ("kits/words/names.lua", NAMES),
        ("kits/words/alphabet.lua", ALPHABET),
        ("kits/words/dictionary.lua", "return {}"),
    ]));
    all
}

const BOTH: [&str; 2] = ["words/names.lua", "words/alphabet.lua"];

/// The kits with one file changed or added.
fn with(path: &str, text: &str) -> Catalogue {
    let mut all = tales(&BOTH);
    all.overlay(texts(&[(path, text)]));
    all
}

fn open(catalogue: &Catalogue, name: &str) -> Kit {
    Kit::open(catalogue, name).unwrap_or_else(|problems| panic!("{problems}"))
}

fn refused(catalogue: &Catalogue) -> String {
    kit::lint(catalogue, "tales").expect_err("it is wrong").to_string()
}

#[test]
fn what_is_borrowed_is_required_as_the_kit_s_own() {
    let all = tales(&BOTH);
    kit::lint(&all, "tales").unwrap_or_else(|problems| panic!("{problems}"));
    let kit = open(&all, "tales");
    assert_eq!(kit.modules["names"], NAMES);
    let modules: Vec<&str> = kit.modules.keys().map(String::as_str).collect();
    assert_eq!(modules, ["alphabet", "data", "names", "session"], "and nothing else of the other kit");
    let tables = declared_tables(&kit, &setup(&kit, "one", &[]));
    assert_eq!(tables.expect("the script is right"), ["TALES"]);
}

#[test]
fn a_data_set_s_name_follows_what_is_borrowed_and_nothing_else_of_that_kit() {
    let id = |catalogue: &Catalogue| {
        let kit = open(catalogue, "tales");
        dataset_id(&kit, &setup(&kit, "one", &[]), "one", "10.11.1").expect("the kit has an identity")
    };
    let first = id(&tales(&BOTH));
    assert_ne!(first, id(&with("kits/words/names.lua", &NAMES.replace(".. n", ".. -n"))));
    assert_ne!(first, id(&with("kits/words/alphabet.lua", &ALPHABET.replace("64", "96"))));
    for other in ["dictionary.lua", "session.lua", "data.lua"] {
        assert_eq!(first, id(&with(&format!("kits/words/{other}"), "return { 1 }")), "{other}");
    }
}

#[test]
fn a_mistake_in_it_is_told_where_it_lies() {
    let unreadable = with("kits/words/names.lua", "local names = {}\nlocal = 3\nreturn names");
    let said = refused(&unreadable);
    assert!(said.starts_with("kits/words/names.lua:2: "), "{said}");
    let fails = with("kits/words/alphabet.lua", "\n\nerror('no letters')");
    let said = refused(&fails);
    assert!(said.starts_with("kits/words/alphabet.lua:3: ") && said.contains("no letters"), "{said}");
}

#[test]
fn a_borrowed_module_has_the_same_files_as_at_home_or_is_refused() {
    let said = refused(&tales(&BOTH[..1]));
    let what = "`words/names.lua` requires `words/alphabet.lua`, which this kit doesn't have";
    assert!(said.starts_with(&format!("kits/tales/kit.toml: borrows: {what}\n")), "{said}");
    assert!(said.ends_with("try: borrow `words/alphabet.lua` too"), "{said}");
    assert!(!said.contains("dictionary"), "what a comment says is not meant: {said}");

    let mut own = tales(&BOTH[..1]);
    own.overlay(texts(&[("kits/tales/alphabet.lua", ALPHABET)]));
    let said = refused(&own);
    assert!(said.contains("`words/alphabet.lua`, which would be kits/tales/alphabet.lua here"), "{said}");
    assert!(said.ends_with("too, and give the other file another name"), "{said}");
}

#[test]
fn what_requires_a_borrowed_module_is_borrowed_together_with_it() {
    let with_rhymes = |borrows: &[&str]| {
        let mut all = tales(&BOTH);
        all.overlay(bare("verses", borrows));
        all.overlay(texts(&[("kits/tales/rhymes.lua", "return { all = require 'names' }")]));
        kit::lint(&all, "verses")
    };
    let said = with_rhymes(&["tales/rhymes.lua"]).expect_err("names are missing").to_string();
    assert!(said.contains("try: borrow `words/names.lua` too"), "{said}");
    let said = with_rhymes(&["tales/rhymes.lua", "tales/names.lua"]).expect_err("a chain").to_string();
    assert!(said.contains("kit tales only borrows `names.lua` itself"), "{said}");
    let whole = ["tales/rhymes.lua", "words/names.lua", "words/alphabet.lua"];
    with_rhymes(&whole).unwrap_or_else(|problems| panic!("{problems}"));
}

#[test]
fn caldav_makes_its_files_by_calendar_s_modules_whichever_of_the_two_is_overlaid() {
    let listed = |catalogue: &Catalogue| {
        let kit = open(catalogue, "caldav");
        let small = setup(&kit, "quick", &[("events_median", "2"), ("events_most", "4")]);
        files::list(&kit, &small, catalogue).expect("the script is right").expect("a file set")
    };
    let (base, mut lender, mut borrower) = (catalogue(), catalogue(), catalogue());
    for file in ["ical", "population"] {
        let text = base.text(&format!("kits/calendar/{file}.lua")).expect("the file is there");
        assert_eq!(open(&base, "caldav").modules[file], text, "{file}");
    }
    let changed = |path: &str, from: &str, to: &str| {
        let text = base.text(path).expect("the file is there");
        assert!(text.contains(from), "{path}: {from}");
        texts(&[(path, &text.replace(from, to))])
    };
    lender.overlay(changed("kits/calendar/population.lua", "user%05d", "person%05d"));
    let (plain, other) = (listed(&base), listed(&lender));
    let path = "collection-root/person00001/calendar/.Radicale.props";
    assert!(other.files().any(|(known, _)| known == path) && !plain.files().any(|(known, _)| known == path));
    assert_ne!(plain.id("quick"), other.id("quick"));

    borrower.overlay(changed("kits/caldav/clock.lua", "2026, 1, 5", "2026, 1, 6"));
    assert_eq!(open(&borrower, "caldav").modules["ical"], open(&base, "caldav").modules["ical"]);
    assert_ne!(plain.id("quick"), listed(&borrower).id("quick"));
    let own = texts(&[("kits/caldav/ical.lua", "return {}")]);
    borrower.overlay(own);
    let said = Kit::open(&borrower, "caldav").expect_err("two of one name").to_string();
    assert!(said.contains("`calendar/ical.lua` has the name of this kit's own `ical.lua`"), "{said}");
}
