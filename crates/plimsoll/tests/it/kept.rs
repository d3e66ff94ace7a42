//! What is kept of runs, and the verbs that read it.

use crate::tool::{Home, have, judged};

#[test]
fn a_run_is_listed_shown_and_reported_until_it_is_removed() {
    if !have("apache-prefork-modphp-mariadb") {
        return;
    }
    let home = Home::new();
    let words = "run dvdstore --users 2 --ramp-up 1s --steady 5s --ramp-down 0s --qos=p50<20s";
    judged(|| home.plimsoll(words)).expect(0).says("report.html");
    let id = home.last_run()["id"].as_str().expect("an id").to_string();
    home.plimsoll("runs").run().expect(0).says(&id);
    home.plimsoll(&format!("show {}", &id[..18])).run().expect(0).says("Browse");
    home.plimsoll("explain last").run().expect(0).says(&id);
    let why = home.plimsoll("explain last --json").run().expect(0).json();
    assert_eq!(why["state"], home.last_run()["diagnosis"]["state"], "the same rules say the same: {why}");
    let path = home.plimsoll("report last").run().expect(0).stdout.trim().to_string();
    let html = std::fs::read_to_string(&path).expect("the report is there");
    assert!(html.len() > 50_000, "{} bytes", html.len());
    for outside in ["src=\"http", "href=\"http", "url(http", "import \"http"] {
        assert!(!html.contains(outside), "the report loads something from outside: {outside}");
    }
    home.plimsoll(&format!("show {id}x")).run().expect(2);
    home.plimsoll(&format!("clean --run {id}")).run().expect(0).says("removed run");
    // Where it was tried again the earlier runs are there still.
    home.plimsoll(&format!("show {id}")).run().expect(2);
}

#[test]
fn a_second_run_uses_the_snapshot_of_the_first() {
    if !have("apache-prefork-modphp-mariadb") {
        return;
    }
    let home = Home::empty();
    let words = "run dvdstore --users 1 --ramp-up 1s --steady 3s --ramp-down 0s --json --qos=p50<20s";
    let first = home.plimsoll(words).run().json();
    let second = home.plimsoll(words).run().json();
    assert_eq!(first["dataset"]["reused"], false);
    assert_eq!(second["dataset"]["reused"], true);
    assert_eq!(first["dataset"]["rows"], second["dataset"]["rows"]);
    assert_eq!(first["dataset"]["rows"]["CUSTOMERS"], 20_000);
}

#[test]
fn doctor_tells_what_this_machine_can_do() {
    let told = Home::shared().plimsoll("doctor").run();
    for part in ["CPUs", "home", "cgroups", "descriptors", "generator", "stack apache-prefork-modphp-mariadb"]
    {
        assert!(told.stdout.contains(part), "{part} is missing in:\n{}", told.stdout);
    }
    assert!(!told.stdout.contains("requests/s"), "nothing is measured unasked:\n{}", told.stdout);
    told.says("--ceiling");
    let measured = Home::shared().plimsoll("doctor --ceiling").run();
    measured.says("generator: ").says("scripted requests/s");
}

#[test]
fn doctor_looks_at_the_stacks_that_it_is_asked_about() {
    let told = Home::shared().plimsoll("doctor --stack lighttpd --stack nginx").run().stdout;
    let stacks: Vec<&str> = told.lines().filter(|line| line.contains("  stack ")).collect();
    assert!(stacks.len() == 2 && stacks[0].contains("stack lighttpd:"), "{told}");
    let unknown = Home::shared().plimsoll("doctor --stack lightpd").run().expect(2);
    unknown.says("there is no stack `lightpd`").says("`lighttpd`");
}
