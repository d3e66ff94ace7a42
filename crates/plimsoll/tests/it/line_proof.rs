//! What holds a load line is found by changing something, and is not always what is full there.

use serde_json::Value as Json;

use crate::record::rows;
use crate::tool::{Home, have};

/// The answer to a find with `words`, and what was proved of it.
fn proved(words: &str) -> (Json, Json) {
    let home = Home::shared();
    let find = home.plimsoll(&format!("find dvdstore --quick --json {words}")).run().json();
    let line = &find["question"]["find"]["answer"]["load_line"];
    assert!(line["load"].is_number(), "there is a line to hold: {}", find["sentence"]);
    let id = find["id"].as_str().expect("an id");
    let diagnosis = home.plimsoll(&format!("explain {id} --prove --json")).run().expect(0).json();
    home.expect_nothing_left();
    (find, diagnosis["line_proof"].clone())
}

fn move_of<'a>(proof: &'a Json, about: &str) -> &'a Json {
    let is_it = |one: &&Json| {
        let of = &one["intervention"]["about"];
        of == about || of.get(about).is_some()
    };
    rows(proof, "moves").iter().find(is_it).unwrap_or_else(|| panic!("{about} was not tried: {proof:#}"))
}

/// 150 processes of Apache are held by kept connections while the database fills the CPU.
#[test]
fn pools_that_hold_a_line_are_told_from_the_cpu_that_is_full() {
    let stack = "apache-prefork-modphp-mariadb";
    if !have(stack) {
        return;
    }
    let (find, proof) = proved(&format!("--stack {stack}"));
    let first = &find["diagnosis"]["suspects"][0];
    assert_eq!(first["resource"], "cpu", "by what is full the CPU would be to blame: {first:#}");
    let pools = move_of(&proof, "pools");
    assert!(pools["interval"][1].as_f64().is_some_and(|high| high < 0.0), "{proof:#}");
    assert!(pools["line_factor"].as_f64().is_some_and(|factor| factor > 1.1), "{proof:#}");
    let said = proof["sentence"].as_str().expect("a sentence");
    assert!(said.starts_with("What holds the line is the pools that were full"), "{said}");
}

/// Few processes of PHP, all of them busy because the CPU is: more of them only wait for it.
#[test]
fn a_cpu_that_holds_a_line_is_told_from_the_pool_that_is_full() {
    let stack = "lighttpd-fpm-mariadb";
    if !have(stack) {
        return;
    }
    let (_, proof) = proved(&format!("--stack {stack} --set app.pm=static --set app.pm.max_children=6"));
    let pools = move_of(&proof, "pools");
    let line_factor = pools["line_factor"].as_f64().expect("its slope is known");
    assert!(line_factor < 1.1, "twice the processes move the line by little: {proof:#}");
    let cpu = move_of(&proof, "cpu");
    assert!(cpu["margin"].as_f64().is_some_and(|margin| margin > 0.0), "{proof:#}");
    let said = proof["sentence"].as_str().expect("a sentence");
    assert!(said.starts_with("The CPU time of"), "{said}");
}
