//! What a kit can borrow, and what it is told where it can't.

use std::borrow::Cow;

use super::*;

fn manifest(name: &str, borrows: &str) -> String {
    let head = "format = 1\nversion = 1\ntitle = \"Tales\"\nsource = \"ours\"\nneeds = [\"web+files\"]\n";
    let files = "app = \"app\"\nsession = \"session.lua\"\nfront_page = \"/\"\n";
    let defaults = "default_size = \"one\"\ndefault_stack = \"nginx\"\nqos = {}\n";
    let state = "state = { drifts = false, why = \"nothing is written\", reset = \"none\" }\n";
    let users = "users = { default = 1, ramp_per_s = 1 }\n";
    format!("borrows = [{borrows}]\nname = \"{name}\"\n{head}{files}{defaults}{state}{users}")
}

/// The kits `words` and `tales`, which borrows from it, and `shop`, which borrows what is said.
fn catalogue(borrows: &str) -> Catalogue {
    let lua = "words/names words/places words/own words/lib/deep tales/plot tales/places shop/own";
    let lua = lua.split(' ').map(|path| (format!("kits/{path}.lua"), String::new()));
    let kits = [("words", ""), ("tales", "\"words/names.lua\""), ("shop", borrows)];
    let whole = kits.into_iter().flat_map(|(name, borrows)| {
        let file = |file: &str, text: String| (format!("kits/{name}/{file}"), text);
        let session = "function visit(user) get('/') end".to_string();
        [
            file("kit.toml", manifest(name, borrows)),
            file("session.lua", session),
            file("app/index.html", String::new()),
        ]
    });
    let owned = |(path, text): (String, String)| (path, Cow::Owned(text.into_bytes()));
    Catalogue::new(whole.chain(lua).map(owned).collect())
}

fn refused(borrows: &str) -> Vec<Problem> {
    catalogue(borrows).kit("shop").expect_err(borrows).into_vec()
}

#[test]
fn modules_of_several_kits_can_be_borrowed() {
    let kit = catalogue("\"words/names.lua\", \"tales/plot.lua\"").kit("shop");
    let kit = kit.unwrap_or_else(|problems| panic!("{problems}"));
    let paths: Vec<String> = kit.borrowed().map(|one| one.path()).collect();
    assert_eq!(paths, ["kits/words/names.lua", "kits/tales/plot.lua"]);
    let modules: Vec<&str> = kit.borrowed().map(|one| one.module).collect();
    assert_eq!(modules, ["names", "plot"]);
}

#[test]
fn what_can_t_be_borrowed_is_refused_with_its_reason_and_what_to_try() {
    let cases = [
        ("word/names.lua", "there is no kit `word`", "`words/names.lua`"),
        ("dictionary/names.lua", "there is no kit `dictionary`", "one of: shop, tales, words"),
        ("words/name.lua", "`name.lua` does not exist in kits/words", "`words/names.lua`"),
        ("words/x.lua", "`x.lua` does not exist in kits/words", "one of: names, own, places, session"),
        ("tales/names.lua", "kit tales only borrows `names.lua` itself", "`words/names.lua`"),
        ("shop/own.lua", "`shop/own.lua` is this kit's own", "leave it out"),
        ("words/own.lua", "has the name of this kit's own `own.lua`", "another name"),
        ("words/session.lua", "has the name of this kit's own `session.lua`", "another name"),
        ("words", "`words` names no module of another kit", "`KIT/MODULE.lua`"),
        ("words/names", "names no module", "`KIT/MODULE.lua`"),
        ("words/lib/deep.lua", "names no module", "`KIT/MODULE.lua`"),
        ("words/.lua", "names no module", "`KIT/MODULE.lua`"),
        ("/names.lua", "names no module", "`KIT/MODULE.lua`"),
    ];
    for (entry, what, remedy) in cases {
        let problems = refused(&format!("\"{entry}\""));
        let [problem] = problems.as_slice() else { panic!("{entry}: {problems:#?}") };
        assert!(problem.what.contains(what), "{entry}: {problem}");
        assert!(problem.remedy.as_ref().is_some_and(|said| said.contains(remedy)), "{entry}: {problem}");
        assert!(problem.why.is_some(), "{entry}: {problem}");
        assert!(problem.to_string().starts_with("kits/shop/kit.toml:1: borrows: "), "{entry}: {problem}");
    }
}

#[test]
fn everything_wrong_is_told_at_once_each_with_its_line() {
    let entries = "words/names words/names words/places tales/places nowhere/x";
    let list: String = entries.split(' ').map(|entry| format!("\n\"{entry}.lua\",")).collect();
    let problems = refused(&list);
    let told: Vec<(Option<u32>, &str)> =
        problems.iter().map(|problem| (problem.place.line, problem.what.as_str())).collect();
    let wanted = [
        (Some(3), "`words/names.lua` is borrowed twice"),
        (Some(5), "`tales/places.lua` has the name of `words/places.lua`, which is borrowed too"),
        (Some(6), "there is no kit `nowhere`"),
    ];
    assert_eq!(told, wanted, "{problems:#?}");
}
