//! A kit's scripts outside of sessions end, too: at their top level, in `make` and in a check, whatever they loop over.

use engine::Target;
use kit::{CheckInputs, CheckOptions, Kit, files};
use model::{Catalogue, Problems};

use crate::fake_web::{FakeWeb, Then, answer};
use crate::shop::{catalogue, changed, setup};

const LOOP: &str = "while true do end";
/// A loop within one call of a function of C.
const IN_A_LIBRARY: &str = "table.move({}, 1, 1e15, 1)";

fn data(script: &str) -> Result<(), Problems> {
    let catalogue = changed("data.lua", |text| format!("{script}\n{text}"));
    let kit = Kit::open(&catalogue, "dvdstore")?;
    kit::data::declared_tables(&kit, &setup(&kit, "small", &[])).map(|_| ())
}

fn check(script: &str, web: Option<&Target>) -> Result<(), Problems> {
    let catalogue = changed("check.lua", |_| script.to_string());
    let kit = Kit::open(&catalogue, "dvdstore")?;
    let (setup, inputs) = (setup(&kit, "small", &[]), CheckInputs::default());
    let options = CheckOptions {
        kit: &kit,
        setup: &setup,
        inputs: &inputs,
        database: None,
        web,
        files: None,
        on_answer: &mut |_| {},
    };
    kit::check(options).map(|_| ())
}

/// `files.lua` of the kit for static files, which makes its list as `script` says.
fn file_set(script: &str) -> Result<(), Problems> {
    let mut catalogue: Catalogue = catalogue();
    let text = format!(
        "return {{ parts = {{ {{ name = 'all', count = 1, chunk = 1, make = function() {script} end }} }} }}"
    );
    catalogue.overlay([("kits/static/files.lua".to_string(), text.into_bytes().into())].into());
    let kit = Kit::open(&catalogue, "static")?;
    let size = kit.manifest.default_size.clone();
    files::list(&kit, &setup(&kit, &size, &[]), &catalogue).map(|_| ())
}

#[track_caller]
fn expect_ended(what: &str, ended: Result<(), Problems>, file: &str) {
    let said = ended.expect_err(what).to_string();
    let reason = said.contains("loop without end") || said.contains("longer than 10 seconds");
    assert!(reason && said.contains(file), "{what}: {said}");
}

#[test]
fn no_script_of_a_kit_is_held_up_in_a_function_of_c() {
    expect_ended(IN_A_LIBRARY, data(IN_A_LIBRARY), "kits/dvdstore/data.lua:1");
    expect_ended(IN_A_LIBRARY, check(IN_A_LIBRARY, None), "kits/dvdstore/check.lua:1");
    expect_ended(IN_A_LIBRARY, file_set(IN_A_LIBRARY), "kits/static/files.lua:1");
}

#[test]
fn a_loop_without_end_is_ended() {
    // Of one only: each takes its ten seconds, and the test above shows that all have the same budget.
    expect_ended(LOOP, data(LOOP), "kits/dvdstore/data.lua:1");
}

#[test]
fn nothing_catches_what_ends_a_script() {
    for catches in ["pcall(error)", "xpcall(error, print)", "coroutine.wrap(error)()"] {
        for ended in [data(catches), check(catches, None), file_set(catches)] {
            let said = ended.expect_err(catches).to_string();
            assert!(said.contains("nil value"), "{catches}: {said}");
        }
    }
}

#[test]
fn a_check_that_asks_again_and_again_may_go_on() {
    let server = FakeWeb::start(|_| Then::Answer(answer(200, "", "here")));
    let target = Target::from(server.address);
    // After each answer a fifth is spent of what there is in one go.
    let script = "for n = 1, 8 do\n  request('GET', '/' .. n)\n  for _ = 1, 6 do string.packsize('c100000000') end\nend";
    check(script, Some(&target)).unwrap_or_else(|problems| panic!("{problems}"));
    assert_eq!(server.requests().len(), 8);
}
