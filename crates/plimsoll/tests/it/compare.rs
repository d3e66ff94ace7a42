//! Comparisons on the real stack: the direction is never wrong, and a planted slow-down fails a gate.

use crate::tool::{Finished, Home, catalogue, have, overlay, turn};

const STACK: &str = "apache-prefork-modphp-mariadb";

fn conclusion(finished: &Finished) -> String {
    let record = finished.json();
    let conclusion = &record["question"]["compare"]["conclusion"];
    let name = conclusion.as_str().map(str::to_string);
    name.or_else(|| conclusion.as_object()?.keys().next().cloned())
        .unwrap_or_else(|| panic!("no conclusion in {record:#}"))
}

#[test]
fn the_same_stack_twice_is_never_called_different() {
    if !have(STACK) {
        return;
    }
    let _turn = turn();
    let line = "compare default default --users 5 --window 3s --most-blocks 3 --json";
    let finished = Home::shared().plimsoll(line).run();
    assert!(matches!(finished.code, Some(0 | 3)), "{finished:#?}");
    let said = conclusion(&finished);
    assert!(said == "same" || said == "open", "{said}: {}", finished.stdout);
    let record = finished.json();
    assert!(record["trials"].as_array().is_some_and(|trials| trials.len() >= 3), "{record:#}");
    Home::shared().expect_nothing_left();
}

#[test]
fn a_page_that_was_made_slower_is_found_and_fails_the_gate() {
    if !have(STACK) {
        return;
    }
    let _turn = turn();
    let path = "kits/dvdstore/app/ds2/dsbrowse.php";
    let slower = catalogue(path).replacen("require", "usleep(20000);\nrequire", 1);
    assert!(slower.contains("usleep"), "the page requires the store's functions");
    let dir = overlay(&[(path, &slower)]);
    let junit = dir.path().join("compare.xml");
    // Seventeen milliseconds against a few: more than any noise, so that few short blocks will do. At 80 % three are
    // the fewest that can say anything.
    let line = "compare default --users 3 --window 3s --most-blocks 8 --confidence 80% --gate 3% --json";
    let finished = Home::shared()
        .plimsoll(line)
        .arg(format!("catalogue:{}", dir.path().display()))
        .arg("--junit")
        .arg(&junit)
        .run();
    let xml = std::fs::read_to_string(&junit).unwrap_or_default();
    assert!(xml.starts_with("<?xml"), "{finished:#?}");
    match finished.code {
        Some(99) => {
            assert_eq!(conclusion(&finished), "slower", "{}", finished.stdout);
            assert!(xml.contains("<failure"), "{xml}");
        }
        // A machine so busy that hardly a trial was valid.
        Some(3) => assert_ne!(conclusion(&finished), "faster", "{}", finished.stdout),
        _ => panic!("{finished:#?}"),
    }
}

#[test]
fn what_can_not_be_compared_is_refused_with_the_reason() {
    let home = Home::shared();
    let refused = |words: &str| home.plimsoll(&format!("compare {words}")).run().expect(2);
    refused("default lighttpd-fpm-mariadbb").says("`lighttpd-fpm-mariadb`");
    refused("default web.MaxRequestWorker=4").says("`MaxRequestWorkers`");
    refused("default catalogue:nowhere").says("no such folder");
    refused("default default --gate much --by p95").says("no share between");
    refused("--resume last --gate 3%").says("exclude each other");
}

#[test]
fn stored_runs_are_compared_from_their_seconds_and_only_when_they_can_be() {
    if !have(STACK) {
        return;
    }
    let _turn = turn();
    let home = Home::shared();
    let run = |words: &str| {
        let line = format!("run dvdstore --users 5 --ramp-up 1s --steady 12s --ramp-down 0s --json {words}");
        let finished = crate::tool::judged(|| home.plimsoll(&line));
        let record = finished.json();
        let valid = record["verdict"]["valid"] == true;
        (record["id"].as_str().expect("an id").to_string(), valid)
    };
    let ((a, a_valid), (b, b_valid)) = (run(""), run(""));
    let (other, other_valid) = run("--param n_searches=1");
    if a_valid && b_valid {
        let told = home.plimsoll(&format!("compare {a} {b}")).run().expect(0);
        told.says("one run of each, not paired");
    }
    if a_valid && other_valid {
        let told = home.plimsoll(&format!("compare {a} {other}")).run().expect(2);
        told.says("differ in their parameters");
    }
    home.plimsoll(&format!("compare {a} default")).run().expect(2).says("only one is a stored run");
}
