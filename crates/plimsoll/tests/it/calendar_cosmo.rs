//! The study `cosmo-2006-local-remote`: a kernel that can't make its network is named before anything is made, and a scaled
//! form of it is measured with the database in each of its three places.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value as Json;
use testkit::ending::skip;

use crate::calendar::STACK;
use crate::record::{row, rows};
use crate::tool::{Finished, Home, catalogue, have, overlay};

const STUDY: &str = "cosmo-2006-local-remote";
/// What tc says where the kernel has no sch_tbf.
const NO_TBF: &str = "#!/bin/sh\necho 'Error: Specified qdisc kind is unknown.' >&2\nexit 2\n";
/// In a mount table of its own: the first argument in the place of the second, for the command that follows.
const IN_PLACE: &str = "mount --bind \"$0\" \"$1\" && shift && exec \"$@\"";
/// Where the tool looks for programs of iproute2.
const PLACES: [&str; 6] = ["/usr/local/sbin", "/usr/sbin", "/sbin", "/usr/local/bin", "/usr/bin", "/bin"];

/// Runs plimsoll where that program is another one.
fn with_another(program: &Path, instead: &Path, home: &Home, words: &str) -> Finished {
    let tool = home.plimsoll(words).before(|command: &mut Command| {
        let mut inside = Command::new("unshare");
        inside.args(["--mount", "--propagation", "private", "sh", "-c", IN_PLACE]).arg(instead).arg(program);
        inside.arg(command.get_program()).args(command.get_args());
        inside.env("PLIMSOLL_HOME", home.path()).env_remove("CI").stdin(Stdio::null());
        *command = inside;
    });
    tool.run()
}

/// What `plimsoll doctor` says of networks that tiers can have.
fn of_networks(doctor: &Finished) -> String {
    let line = doctor.stdout.lines().find(|line| line.contains("hosts of their own"));
    line.unwrap_or_default().to_string()
}

/// What was made in a folder of the home.
fn made(home: &Home, folder: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(home.path().join(folder)).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect()
}

#[test]
fn a_kernel_without_the_queueing_discipline_is_named_before_anything_is_made() {
    if !have(STACK) {
        return;
    }
    let tc = PLACES.iter().map(|place| Path::new(place).join("tc")).find(|path| path.exists());
    let Some(tc) = tc else {
        skip("there is no program tc (package iproute2)");
        return;
    };
    let (home, dir) = (Home::empty(), overlay(&[("tc", NO_TBF)]));
    let fake = dir.path().join("tc");
    fs::set_permissions(&fake, fs::Permissions::from_mode(0o755)).expect("it is ours");
    let told = with_another(&tc, &fake, &home, "doctor");
    let found = of_networks(&told);
    if found.is_empty() || found.contains("no network of its own can be made") {
        skip(&format!("no right to a mount or a network of one's own: {found} {}", told.stderr));
        return;
    }
    told.says("sch_tbf");
    let refused = with_another(&tc, &fake, &home, &format!("sweep {STUDY}")).expect(2);
    let refused = refused.says("tier db can't be on a host of its own as asked");
    let refused =
        refused.says("net.rate_mbit takes the queueing discipline tbf").says("qdisc kind is unknown");
    refused.says("a kernel with sch_tbf").says("; or db.net.rate_mbit=0 (in the study: ");
    for folder in ["studies", "runs", "datasets", "instances"] {
        assert_eq!(made(&home, folder), Vec::<PathBuf>::new(), "nothing was begun: {folder}");
    }
    home.expect_nothing_left();
}

/// The study, over in a minute: each place once, with eight users and the calendars of the other tests.
fn scaled() -> String {
    let text = catalogue(&format!("studies/{STUDY}.toml"));
    let smaller = [
        ("size = \"small\"", "size = \"quick\""),
        ("users = [25]", "users = [8]"),
        ("repeats = 3", "repeats = 1"),
        ("window = \"30s\"", "window = \"4s\""),
        ("[set]\n", "[param]\nevents_median = 20\nevents_most = 60\n\n[set]\n"),
    ];
    smaller.iter().fold(text, |text, (from, to)| {
        assert!(text.contains(from), "{from} is not in the study any more");
        text.replacen(from, to, 1)
    })
}

/// What was rendered for the database of a trial's run.
fn database_of(study: &str, trial: &Json) -> String {
    let number = trial["number"].as_u64().expect("a number");
    let record = Home::shared().plimsoll(&format!("show {study}/{number} --json")).run().expect(0).json();
    let tier = row(&record["setup"], "tiers", "tier", "db");
    tier["files"].as_object().expect("files").values().filter_map(Json::as_str).collect()
}

#[test]
fn each_place_of_the_database_is_measured_at_the_same_quotas_beside_the_mails_figures() {
    if !have(STACK) {
        return;
    }
    let home = Home::shared();
    let doctor = home.plimsoll("doctor").run();
    let networks = of_networks(&doctor);
    if !networks.contains("with net.rate_mbit") {
        skip(&format!("a database can't be behind a cable with a rate: {networks}"));
        return;
    }
    let dir = overlay(&[("scaled.toml", &scaled())]);
    let file = dir.path().join("scaled.toml");
    let swept = home.plimsoll("sweep --json").arg(&file).run();
    if swept.code == Some(2) && swept.stderr.contains("can't be limited to") {
        skip(&format!("a tier's CPU time can't be limited: {}", swept.stderr));
        return;
    }
    assert!(matches!(swept.code, Some(0 | 3)), "{swept:#?}");
    let record = swept.json();
    assert_eq!(record["outcome"], "completed");
    quotas_are_the_same(&record);
    let study = record["id"].as_str().expect("an id");
    let trials = rows(&record, "trials");
    // A trial that a busy machine made invalid was measured once more.
    for arm in 0..3 {
        let of_arm = trials.iter().rfind(|trial| trial["arm"] == arm);
        let trial = of_arm.unwrap_or_else(|| panic!("cell {arm} was not measured: {trials:#?}"));
        every_operation_was_measured(trial);
        let database = database_of(study, trial);
        let place = if arm == 2 { "bind-address = 198.18." } else { "bind-address = 127.0.0.1" };
        assert!(database.contains(place), "{place} of cell {arm}: {database}");
    }
    figures_stand_beside_the_mails(&record, trials);
    let page = home.path().join("studies").join(study).join("report.html");
    let page = fs::read_to_string(page).expect("the page is there");
    assert!(page.contains("each tier has the same CPU quota wherever the database is"), "the report says so");
    home.expect_nothing_left();
}

/// What differs between the places is the way to the database, and nothing else.
fn quotas_are_the_same(record: &Json) {
    let arms = rows(record, "arms");
    let quotas = arms.iter().map(|arm| {
        let set = &arm["recipe"]["set"];
        (set["web.cgroup.cpu"].as_f64(), set["db.cgroup.cpu"].as_f64())
    });
    assert_eq!(quotas.collect::<Vec<_>>(), [(Some(0.7), Some(0.3)); 3]);
    let ways = arms.iter().map(|arm| {
        let text = |value: &Json| value.as_str().unwrap_or_default().to_string();
        let recipe = &arm["recipe"];
        (text(&recipe["set"]["db.net.host"]), text(&recipe["param"]["database_over"]))
    });
    let ways: Vec<(String, String)> = ways.collect();
    let expected = [("shared", "socket"), ("shared", "tcp"), ("own", "tcp")];
    assert_eq!(ways, expected.map(|(host, over)| (host.to_string(), over.to_string())));
}

fn every_operation_was_measured(trial: &Json) {
    for name in ["Put", "Get", "Propfind", "Report", "JsonRpc", "AtomGet", "IcsGet"] {
        let mut figures = rows(&trial["measured"], "figures").iter();
        let mean = figures.find(|figure| figure["name"] == "mean" && figure["operation"] == name);
        let mean_s = mean.and_then(|figure| figure["value"].as_f64());
        assert!(mean_s.is_some_and(|mean_s| mean_s > 0.0), "{name}: {:#}", trial["measured"]);
    }
}

fn figures_stand_beside_the_mails(record: &Json, trials: &[Json]) {
    let tables = rows(&record["question"]["sweep"], "published");
    assert_eq!(tables.len(), 8, "transactions, and the mean of each operation");
    let beside = rows(&tables[0], "rows");
    let told: Vec<(f64, u64)> =
        beside.iter().filter_map(|row| Some((row["value"].as_f64()?, row["cell"].as_u64()?))).collect();
    assert_eq!(told, [(28.4, 1), (31.0, 2)]);
    for row in beside {
        let held = |trial: &&Json| trial["arm"] == row["cell"] && rows(trial, "faults").is_empty();
        let ours = trials.iter().find(held).map(|trial| {
            let metric = self::row(&trial["measured"], "metrics", "name", "transactions");
            metric["value"].as_f64().expect("a number")
        });
        let shown = row["ours"]["value"].as_f64();
        let same = match (ours, shown) {
            (Some(ours), Some(shown)) => (ours / shown - 1.0).abs() < 1e-9,
            (ours, shown) => ours == shown,
        };
        assert!(same, "{shown:?} is shown of {ours:?}");
    }
}
