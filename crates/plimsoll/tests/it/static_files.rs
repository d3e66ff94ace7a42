//! The static kit on a real server: its answers are the files, the page cache is what was asked for, and what is wrong
//! on disk is noticed.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use serde_json::Value as Json;
use testkit::ending::skip;

use crate::tool::{Home, have, judged, wait_for};

const SHORT: &str = "--stack nginx --ramp-up 1s --steady 3s --ramp-down 0s";
const LIMIT_BYTES: f64 = (24 << 20) as f64;

/// A home of a test's own: Apache follows no link on the way to a file, and files of a set that tests share would be in memory
/// already.
static OF_DISK: LazyLock<Home> = LazyLock::new(|| Home::below(&disk_folder()));

/// Where files can be evicted from the page cache and servers can enter: the temporary directory, or cargo's.
fn disk_folder() -> PathBuf {
    let cargo = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let better = is_in_memory(&std::env::temp_dir()) && !is_in_memory(&cargo) && can_be_entered(&cargo);
    if better { cargo } else { std::env::temp_dir() }
}

fn shared() -> &'static Home {
    &OF_DISK
}

fn is_in_memory(dir: &Path) -> bool {
    const TMPFS: i64 = 0x0102_1994;
    rustix::fs::statfs(dir).is_ok_and(|about| about.f_type == TMPFS)
}

/// Servers run as a user of their own.
fn can_be_entered(dir: &Path) -> bool {
    let open = |dir: &Path| fs::metadata(dir).is_ok_and(|about| about.permissions().mode() & 0o001 != 0);
    dir.ancestors().all(open)
}

/// Whether the stack's server is here, and files can be evicted from the page cache.
fn can_be_measured(stack: &str) -> bool {
    if is_in_memory(&disk_folder()) {
        return skip("the temporary directory is in memory: its files can't be evicted");
    }
    have(stack)
}

/// A short run's record; whether it was judged well is not the question here.
fn record(home: &Home, words: &str) -> Json {
    let ended = home.plimsoll(&format!("run static {words} --json")).run();
    assert!(ended.code.is_some_and(|code| matches!(code, 0 | 3 | 99)), "{ended:?}");
    home.last_run()
}

fn operation<'a>(record: &'a Json, name: &str) -> &'a Json {
    let rows = record["operations"].as_array().expect("operations");
    rows.iter().find(|row| row["name"] == name && row["kind"] == "operation").expect(name)
}

fn errors(record: &Json, name: &str, kind: &str) -> u64 {
    operation(record, name)["errors"][kind].as_u64().unwrap_or_default()
}

fn metric(record: &Json, name: &str) -> f64 {
    let rows = record["metrics"].as_array().expect("metrics");
    rows.iter().find(|row| row["name"] == name).and_then(|row| row["value"].as_f64()).expect(name)
}

fn completed(record: &Json, kind: &str, name: &str) -> f64 {
    let rows = record["operations"].as_array().expect("operations");
    let row = rows.iter().find(|row| row["kind"] == kind && row["name"] == name).expect(name);
    row["completed"].as_f64().expect("a count")
}

/// Sessions of one request and of 5 to 15 have their shares, to within four standard errors and what `users` had under
/// way at the ends of the steady state. Gives how many there were.
fn sessions_are_specweb99s(record: &Json, users: f64) -> f64 {
    let (single, long) =
        (completed(record, "session", "one"), completed(record, "session", "five_to_fifteen"));
    let sessions = single + long;
    assert!(sessions > 300.0, "{sessions} sessions are too few to tell");
    let (share, error) = (single / sessions, (0.3 * 0.7 / sessions).sqrt());
    assert!((share - 0.3).abs() < 4.0 * error + users / sessions, "{share} of {sessions} have one request");
    let requests: f64 = (0..4).map(|class| completed(record, "operation", &format!("class{class}"))).sum();
    // The variance of a number drawn evenly from eleven is (11 * 11 - 1) / 12.
    let (length, error) = ((requests - single) / long, (10.0 / long).sqrt());
    assert!((length - 10.0).abs() < 4.0 * error + 15.0 * users / long, "{length} requests in a long session");
    sessions
}

#[test]
fn specweb99s_mix_has_its_shares_of_single_requests_and_long_sessions() {
    if !can_be_measured("nginx") {
        return;
    }
    let ended = shared().plimsoll(&format!("run static --mix specweb99 {SHORT} --users 4 --json")).run();
    assert!(ended.code.is_some_and(|code| matches!(code, 0 | 3 | 99)), "{ended:?}");
    let record = ended.json();
    assert_eq!(record["outcome"], "completed");
    sessions_are_specweb99s(&record, 4.0);
    for class in 0..4 {
        let row = operation(&record, &format!("class{class}"));
        assert!(row["errors"].as_object().is_some_and(serde_json::Map::is_empty), "{row}");
    }
    // It is judged. Clients that never pause may take all that the generator has: it says so, and nothing else fails.
    let checks = record["validity"].as_array().expect("checks");
    let broken: Vec<&Json> = checks.iter().filter(|check| check["ok"] == false).collect();
    let own = ["generator_cpu", "generator_thread", "send_lag", "think"];
    assert!(broken.iter().all(|check| own.iter().any(|own| check["check"] == *own)), "{broken:#?}");
    assert!(checks.iter().any(|check| check["check"] == "mix"), "{checks:#?}");
    assert_eq!(record["verdict"]["pass"].is_boolean(), broken.is_empty(), "{:#}", record["verdict"]);
    shared().expect_nothing_left();
}

#[test]
fn sessions_arrive_at_a_rate_each_on_a_connection_of_its_own() {
    if !can_be_measured("nginx") {
        return;
    }
    let words = "run static --stack nginx --mix specweb99 --rate 100/s --users 200 \
                 --ramp-up 1s --steady 8s --ramp-down 0s --json";
    let record = judged(|| shared().plimsoll(words)).expect(0).json();
    assert_eq!(record["verdict"]["valid"], true, "{:#}", record["validity"]);
    assert_eq!(record["setup"]["load"]["arrivals"]["from_per_s"], 100.0, "{:#}", record["setup"]["load"]);
    let checks = record["validity"].as_array().expect("checks");
    assert!(checks.iter().any(|check| check["check"] == "arrivals" && check["ok"] == true), "{checks:#?}");
    let sessions = sessions_are_specweb99s(&record, 4.0);
    let expected = 8.0 * 100.0_f64;
    assert!((sessions - expected).abs() < 4.0 * expected.sqrt(), "{sessions} sessions at 100/s in 8 s");
    // Those of the ramp-up count too. A connection for each request would make seven times as many.
    let connects = record["generator"]["connects"].as_f64().expect("a count");
    assert!((sessions..1.5 * sessions).contains(&connects), "{connects} connections for {sessions} sessions");
    shared().expect_nothing_left();
}

#[test]
fn every_class_is_answered_with_its_files_or_with_not_modified() {
    if !can_be_measured("nginx") {
        return;
    }
    let run = || record(shared(), &format!("{SHORT} --users 16 --param verify=1 --param conditional=0.2"));
    let record = run();
    let mut completed = 0.0;
    for class in 0..4 {
        let row = operation(&record, &format!("class{class}"));
        let count = row["completed"].as_f64().expect("a count");
        assert!(count > 0.0 && row["errors"].as_object().expect("errors").is_empty(), "{row}");
        completed += count;
    }
    let share = metric(&record, "not_modified");
    assert!((0.15..0.25).contains(&share), "{share} of the requests");
    // Every answer that was not 304 was compared; a session under way at the edge counts here or there.
    let compared = metric(&record, "verified") / completed;
    assert!((compared + share - 1.0).abs() < 0.01, "{compared} were compared, {share} were not modified");
    let set = &record["file_set"];
    assert_eq!((set["files"].as_u64(), set["bytes"].as_u64()), (Some(360), Some(51_194_840)), "{set}");
    // Seen once: the kernel took a hundredth back before it was counted. What it does each time is the tool's doing.
    let is_whole = |record: &Json| record["file_set"]["page_cache"]["resident_ratio"] == 1.0;
    assert!(
        is_whole(&record) || is_whole(&run()) || is_whole(&run()),
        "it fits, and warm is the default: {set}"
    );
    shared().expect_nothing_left();
}

#[test]
fn a_large_file_over_loopback_does_not_wait_for_an_acknowledgement() {
    if !can_be_measured("nginx") {
        return;
    }
    // nginx holds back what is less than a segment (tcp_nopush), and loopback's segments are as large as a first window: a tenth
    // of the large files took 42 ms, whatever the server could do.
    let record =
        record(shared(), "--stack nginx --users 8 --ramp-up 1s --steady 5s --ramp-down 0s --seed 13");
    let large = operation(&record, "class3");
    let p90_s = large["response"]["p90_s"].as_f64().expect("times");
    assert!(p90_s < 0.035, "{large:#}");
}

#[test]
fn a_cold_cache_is_empty_and_a_warm_one_holds_what_the_limit_lets_it() {
    if !can_be_measured("nginx") {
        return;
    }
    let limited = format!("{SHORT} --users 16 --set web.cgroup.memory=24M");
    let ended = shared().plimsoll(&format!("run static {limited} --param page_cache=cold --json")).run();
    if ended.code == Some(2) && ended.stderr.contains("--set web.cgroup.memory=0") {
        skip(&ended.stderr);
        return;
    }
    let cold = shared().last_run();
    let warm = record(shared(), &limited);
    let cache = |record: &Json, key: &str| record["file_set"]["page_cache"][key].as_f64().expect("a number");
    for left in ["left_bytes", "resident_bytes"] {
        // What the tool itself lets pass: a hundredth of the set.
        assert!(cache(&cold, left) <= 0.01 * 51_194_840.0, "{left}: {}", cache(&cold, left));
    }
    let resident = cache(&warm, "resident_bytes");
    assert!(resident > LIMIT_BYTES / 2.0 && resident <= LIMIT_BYTES, "{resident} bytes of 51 MB");
    // The set is twice the limit: what users ask for pushes out what is there.
    let signal = |name: &str, figure: &str| {
        let rows = warm["signals"].as_array().expect("signals");
        let row = rows.iter().find(|row| row["name"] == name && row["tier"] == "web");
        row.and_then(|row| row[figure].as_f64()).unwrap_or_else(|| panic!("{name} is not among the signals"))
    };
    assert!(signal("memory.charged_bytes", "max") <= LIMIT_BYTES);
    assert!(signal("memory.charged_bytes", "mean") > 0.9 * LIMIT_BYTES, "it was at its limit");
    assert!(signal("memory.page_cache_bytes", "mean") > 0.5 * LIMIT_BYTES);
    assert!(signal("io.read_bytes", "max") > 0.0, "what was not in memory came from the disk");
    for class in 0..4 {
        assert!(operation(&warm, &format!("class{class}"))["errors"].as_object().expect("errors").is_empty());
    }
    shared().expect_nothing_left();
}

#[test]
fn with_cold_names_a_server_waits_for_the_disk_where_it_opens_files() {
    if !can_be_measured("nginx") {
        return;
    }
    // Names are cold once: there have to be more of them than are looked up before the first reading.
    let load = "--stack nginx --size 200mb --users 2 --ramp-up 0s --steady 5s --ramp-down 0s";
    let words = format!("run static {load} --param page_cache=cold-names --set web.cgroup.read_iops=50");
    let ended = shared().plimsoll(&format!("{words} --json")).run();
    if ended.code == Some(2)
        && ["only root", "loop devices", "read_iops=0"].iter().any(|why| ended.stderr.contains(why))
    {
        skip(&ended.stderr);
        return;
    }
    let record = shared().last_run();
    let cache = &record["file_set"]["page_cache"];
    assert_eq!(cache["asked"], "cold-names", "{}", ended.stderr);
    assert!(cache["resident_ratio"].as_f64().is_some_and(|ratio| ratio < 0.01), "{cache}");
    assert!(operation(&record, "class0")["completed"].as_f64().is_some_and(|count| count > 0.0), "{ended:?}");
    if record["calls"].is_null() {
        skip("calls are not counted here: see `plimsoll doctor`");
        return;
    }
    let rows = record["calls"]["tiers"][0]["rows"].as_array().expect("the web tier's calls");
    let by_name = |row: &&Json| {
        let call = row["call"].as_str().unwrap_or_default();
        row["doing"] == "waiting_for_disk" && (call.starts_with("open") || call.contains("stat"))
    };
    assert!(rows.iter().any(|row| by_name(&row)), "a name was read from the disk: {rows:#?}");
    shared().expect_nothing_left();
}

#[test]
fn a_file_that_is_other_or_gone_is_noticed_by_users_and_made_anew_by_the_next_run() {
    if !can_be_measured("nginx") {
        return;
    }
    let home = Home::below(&disk_folder());
    let mut child = home.plimsoll("up static --stack nginx --set web.cgroup.memory=0").start();
    let address = child.first_line(|line| line.strip_prefix("http://").map(str::to_string));
    let address = address.split('/').next().expect("a host").to_string();
    let set = kept_set(&home);
    let other = set.join("file_set/dir00000/class1_4");
    fs::set_permissions(&other, fs::Permissions::from_mode(0o644)).expect("it is ours");
    fs::write(&other, vec![b'x'; 5120]).expect("it is ours");
    fs::remove_file(set.join("file_set/dir00000/class0_4")).expect("it is ours");
    let ended = home
        .plimsoll(&format!(
            "run static --target http://{address} --ramp-up 1s --steady 3s --ramp-down 0s --users 8 --param verify=1 --json"
        ))
        .run();
    assert!(matches!(ended.code, Some(3 | 99)), "errors fail the target: {ended:?}");
    let record = home.last_run();
    assert!(errors(&record, "class1", "check") > 0, "{}", operation(&record, "class1"));
    assert!(errors(&record, "class0", "status") > 0, "{}", operation(&record, "class0"));
    assert!(record["file_set"].is_null(), "a server that stands already has files of its own");
    let waiting = home.plimsoll("try static --stack nginx").start();
    let pid = waiting.pid();
    let waiting = waiting.until_dropped();
    wait_for("it wants the set", || has_lock_open(pid).then_some(()));
    assert!(!set.join("file_set/dir00000/class0_4").exists(), "what is served is not made anew");
    child.signal(rustix::process::Signal::INT);
    child.wait().expect(0);
    waiting.wait().expect(0).says("is in use by").says("it is made anew");
    assert!(set.join("file_set/dir00000/class0_4").exists());
    home.expect_nothing_left();
}

/// Whether a process has got as far as the lock of a file set that it wants.
fn has_lock_open(pid: u32) -> bool {
    let links = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    let mut paths = links.filter_map(|link| fs::read_link(link.path()).ok());
    paths.any(|path| path.extension().is_some_and(|end| end == "use"))
}

/// The only file set of a home.
fn kept_set(home: &Home) -> PathBuf {
    let entries = fs::read_dir(home.path().join("datasets")).expect("data sets").flatten();
    let set = entries.map(|entry| entry.path().join("files")).find(|path| path.is_dir());
    set.expect("a file set was made")
}

/// A user of a stack is followed through two sessions, every answer compared and its first line shown.
fn follow(stack: &str) {
    if !can_be_measured(stack) {
        return;
    }
    let words = format!("try static --size quick --stack {stack} --sessions 2 --param verify=1 --bodies");
    let told = shared().plimsoll(&words).run().expect(0);
    let shown = &told.stdout;
    let lines = |wanted: &dyn Fn(&str) -> bool| shown.lines().filter(|line| wanted(line)).count();
    assert_eq!(lines(&|line| line.ends_with(" s  session five of user 1")), 2, "{shown}");
    let class = |line: &str| (0..4).any(|class| line.ends_with(&format!(" s    class{class}")));
    assert_eq!(lines(&class), 10, "an operation for each request:\n{shown}");
    assert_eq!(lines(&|line| line.trim_start().starts_with("200, ")), 10, "{shown}");
    let paths = shown.lines().filter_map(|line| line.split_once(" s      GET ")).map(|(_, path)| path);
    let paths: Vec<&str> = paths.filter(|path| path.starts_with("/file_set/dir")).collect();
    assert_eq!(paths.len(), 10, "{shown}");
    for path in paths {
        let names_it =
            |line: &str| line.trim_start().starts_with("| ") && line.ends_with(&format!(" {path}"));
        assert!(lines(&names_it) > 0, "the file says that it is {path}:\n{shown}");
    }
    assert!(!shown.contains("FAILED") && shown.trim_end().ends_with("session ends"), "{shown}");
    shared().expect_nothing_left();
}

#[test]
fn files_can_be_followed_on_apache_prefork() {
    follow("apache-prefork");
}

#[test]
fn files_can_be_followed_on_apache_worker() {
    follow("apache-worker");
}

#[test]
fn files_can_be_followed_on_apache_event() {
    follow("apache-event");
}

#[test]
fn files_can_be_followed_on_lighttpd() {
    follow("lighttpd");
}

#[test]
fn files_can_be_followed_on_nginx() {
    follow("nginx");
}

#[test]
fn files_can_be_followed_on_nginx_with_threads() {
    follow("nginx-aio");
}

#[test]
fn files_can_be_followed_on_h2o() {
    follow("h2o");
}
