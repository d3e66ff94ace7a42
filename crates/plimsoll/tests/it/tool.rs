//! The binary as a test drives it: a home of its own, and everything printed when something is not as expected.

use std::fs;
use std::io::Read;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use model::catalogue::tier_setting::OwnHost;
use serde_json::Value as Json;
use tempfile::TempDir;
use testkit::ending::skip;

/// Nothing that a test waits for takes longer than this, even on a busy machine.
pub(crate) const WAIT_TIMEOUT: Duration = Duration::from_secs(120);

/// A home for all that one test asks for.
static SHARED: LazyLock<Home> = LazyLock::new(Home::new);

/// A home of a test's own. Homes whose tests are over are removed by the next that is made, however those tests ended.
pub(crate) struct Home {
    dir: PathBuf,
}

impl Home {
    /// One in which the data sets, file sets and built applications of other tests are there already.
    pub(crate) fn new() -> Home {
        let home = Home::empty();
        for kept in ["datasets", "built"] {
            let shared = root().join("kept").join(kept);
            fs::create_dir_all(&shared).expect("a directory");
            symlink(&shared, home.path().join(kept)).expect("a link to what is kept");
        }
        home
    }

    /// One in which nothing is kept but the programs that were unpacked.
    pub(crate) fn empty() -> Home {
        Home::below(root())
    }

    /// The same in another directory that other users can enter.
    pub(crate) fn below(place: &Path) -> Home {
        static MADE: AtomicU32 = AtomicU32::new(0);
        remove_of_the_dead(place);
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let dir = place.join(format!("{HOME_PREFIX}{}-{number}", std::process::id()));
        fs::create_dir(&dir).expect("a directory");
        // Servers run as a user of their own and must be able to enter.
        fs::set_permissions(&dir, fs::Permissions::from_mode(0o755)).expect("permissions can be set");
        let programs = testkit::programs::unpacked();
        if programs.is_dir() {
            symlink(programs, dir.join("programs")).expect("a link to unpacked programs");
        }
        Home { dir }
    }

    pub(crate) fn shared() -> &'static Home {
        &SHARED
    }

    pub(crate) fn path(&self) -> &Path {
        &self.dir
    }

    pub(crate) fn plimsoll(&self, words: &str) -> Tool {
        let mut command = Command::new(env!("CARGO_BIN_EXE_plimsoll"));
        command
            .args(words.split_whitespace())
            .env("PLIMSOLL_HOME", self.path())
            .env_remove("CI")
            .stdin(Stdio::null());
        let tool = Tool { command, line: format!("plimsoll {words}") };
        if asserts_timing() { tool.alone() } else { tool.beside_others() }
    }

    /// Processes whose command line or working directory is below this home, but for `plimsoll` itself.
    pub(crate) fn servers(&self) -> Vec<(u32, String)> {
        let home = self.path().to_string_lossy().into_owned();
        let own = env!("CARGO_BIN_EXE_plimsoll");
        let pids = fs::read_dir("/proc").expect("/proc is there").flatten();
        pids.filter_map(|entry| {
            let pid: u32 = entry.file_name().to_string_lossy().parse().ok()?;
            let bytes = fs::read(entry.path().join("cmdline")).ok()?;
            let words = String::from_utf8_lossy(&bytes).replace('\0', " ");
            let cwd = fs::read_link(entry.path().join("cwd")).map(|cwd| cwd.display().to_string());
            let ours = words.contains(&home) || cwd.is_ok_and(|cwd| cwd.starts_with(&home));
            (ours && !words.starts_with(own)).then_some((pid, words))
        })
        .collect()
    }

    pub(crate) fn expect_nothing_left(&self) {
        wait_for("every server is gone", || self.servers().is_empty().then_some(()));
        wait_for("every instance's directory is gone", || self.instances().is_empty().then_some(()));
    }

    /// Directories of instances; a keeper may need a moment to remove them.
    fn instances(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.path().join("instances"));
        let paths = entries.into_iter().flatten().flatten().map(|entry| entry.path());
        paths.filter(|path| path.is_dir()).collect()
    }

    pub(crate) fn last_run(&self) -> Json {
        self.plimsoll("show last --json").run().expect(0).json()
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.dir);
    }
}

const HOME_PREFIX: &str = "plimsoll-it-";

/// Where tests keep what they share, and their homes: a directory that the gate makes and removes, or by hand one that
/// stays, so that the next test finds its data made.
fn root() -> &'static Path {
    static ROOT: LazyLock<PathBuf> = LazyLock::new(|| {
        let usual =
            || std::env::temp_dir().join(format!("plimsoll-tests-{}", rustix::process::geteuid().as_raw()));
        let root = std::env::var_os("PLIMSOLL_TEST_ROOT").map_or_else(usual, PathBuf::from);
        fs::create_dir_all(&root).expect("a directory for tests");
        fs::set_permissions(&root, fs::Permissions::from_mode(0o755)).expect("permissions can be set");
        root
    });
    &ROOT
}

/// A test that was killed, or whose home is a static, removes nothing itself.
fn remove_of_the_dead(place: &Path) {
    let entries = fs::read_dir(place).into_iter().flatten().flatten();
    for entry in entries {
        let name = entry.file_name().to_string_lossy().into_owned();
        let process = name.strip_prefix(HOME_PREFIX).and_then(|rest| rest.split('-').next());
        if process.is_some_and(|id| !Path::new("/proc").join(id).exists()) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

pub(crate) struct Tool {
    command: Command,
    line: String,
}

/// The modules whose tests compare times with what they should be, or blame a bottleneck. The same stand in
/// `.config/nextest.toml`.
const TIMED: [&str; 4] = ["compare::", "find::", "ground_truth::", "starved::"];

/// Whether the test that runs is one of those: the test harness names its thread after it.
fn asserts_timing() -> bool {
    let thread = std::thread::current();
    thread.name().is_some_and(|name| name == "main" || TIMED.iter().any(|module| name.starts_with(module)))
}

impl Tool {
    /// Measures beside other measurements of this machine: for a test that asserts nothing about time.
    fn beside_others(self) -> Tool {
        self.before(|command| _ = command.env("PLIMSOLL_MEASURE_BESIDE", "1"))
    }

    /// Measures only while nobody else does, as users do.
    pub(crate) fn alone(self) -> Tool {
        self.before(|command| _ = command.env_remove("PLIMSOLL_MEASURE_BESIDE"))
    }

    pub(crate) fn arg(mut self, arg: impl AsRef<std::ffi::OsStr>) -> Tool {
        self.line = format!("{} {:?}", self.line, arg.as_ref());
        self.command.arg(arg);
        self
    }

    /// Changes how the process is started.
    pub(crate) fn before(mut self, change: impl FnOnce(&mut Command)) -> Tool {
        change(&mut self.command);
        self
    }

    pub(crate) fn run(mut self) -> Finished {
        let output = self.command.output().expect("the binary can be started");
        Finished {
            line: self.line,
            code: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    pub(crate) fn start(mut self) -> Running {
        let child = self
            .command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary can be started");
        Running { child, line: self.line }
    }
}

#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) line: String,
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Finished {
    #[track_caller]
    pub(crate) fn expect(self, code: i32) -> Finished {
        assert_eq!(
            self.code,
            Some(code),
            "\n$ {}\n--- stdout\n{}\n--- stderr\n{}",
            self.line,
            self.stdout,
            self.stderr
        );
        self
    }

    #[track_caller]
    pub(crate) fn says(self, text: &str) -> Finished {
        let said = self.stdout.contains(text) || self.stderr.contains(text);
        assert!(
            said,
            "not said: {text}\n$ {}\n--- stdout\n{}\n--- stderr\n{}",
            self.line, self.stdout, self.stderr
        );
        self
    }

    #[track_caller]
    pub(crate) fn json(&self) -> Json {
        let parsed = serde_json::from_str(&self.stdout);
        parsed.unwrap_or_else(|error| panic!("{error}\n$ {}\n{}\n{}", self.line, self.stdout, self.stderr))
    }

    /// The record that it printed, or the one beside the report that it named; absent where nothing was measured.
    fn record(&self) -> Option<Json> {
        let named = || {
            let report = self.stdout.lines().find_map(|line| line.strip_prefix("Report: "))?;
            let record = fs::read(Path::new(report).with_file_name("run.json")).ok()?;
            serde_json::from_slice(&record).ok()
        };
        serde_json::from_str(&self.stdout).ok().or_else(named)
    }
}

pub(crate) struct Running {
    child: Child,
    line: String,
}

impl Running {
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn signal(&self, signal: rustix::process::Signal) {
        let pid = rustix::process::Pid::from_raw(self.child.id() as i32).expect("a process number");
        rustix::process::kill_process(pid, signal).expect("our own child can be signalled");
    }

    /// Reads stdout until `wanted` finds something in a line; that line is not part of what [`Self::wait`] gives.
    pub(crate) fn first_line(&mut self, wanted: impl Fn(&str) -> Option<String>) -> String {
        if let Some(found) = first_line_of(self.child.stdout.as_mut().expect("stdout is piped"), wanted) {
            return found;
        }
        let mut said = String::new();
        _ = self.child.stderr.as_mut().expect("stderr is piped").read_to_string(&mut said);
        panic!("{} ended without the line:\n{said}", self.line)
    }

    /// The same of stderr.
    pub(crate) fn first_error_line(&mut self, wanted: impl Fn(&str) -> Option<String>) -> String {
        let found = first_line_of(self.child.stderr.as_mut().expect("stderr is piped"), wanted);
        found.unwrap_or_else(|| panic!("{} ended without the line", self.line))
    }

    pub(crate) fn wait(mut self) -> Finished {
        let (mut stdout, mut stderr) = (String::new(), String::new());
        let mut out = self.child.stdout.take().expect("stdout is piped");
        let mut err = self.child.stderr.take().expect("stderr is piped");
        let reader = std::thread::spawn(move || {
            let _ = err.read_to_string(&mut stderr);
            stderr
        });
        let _ = out.read_to_string(&mut stdout);
        let stderr = reader.join().expect("the reader ends");
        let status = self.child.wait().expect("the child can be waited for");
        Finished { line: self.line, code: status.code(), stdout, stderr }
    }
}

fn first_line_of(out: &mut impl Read, wanted: impl Fn(&str) -> Option<String>) -> Option<String> {
    let (mut line, mut byte) = (Vec::new(), [0]);
    while out.read(&mut byte).expect("it can be read") > 0 {
        if byte[0] != b'\n' {
            line.push(byte[0]);
            continue;
        }
        if let Some(found) = wanted(&String::from_utf8_lossy(&line)) {
            return Some(found);
        }
        line.clear();
    }
    None
}

/// Runs until a run is judged: one that the machine's other business made invalid says so, and is tried again.
pub(crate) fn judged(tool: impl Fn() -> Tool) -> Finished {
    const TRIES: usize = 5;
    let disturbed = |ended: &Finished| ended.code == Some(3) && ended.record().is_some_and(was_disturbed);
    let runs = (0..TRIES).map(|_| tool().run());
    let mut last = None;
    for ended in runs {
        let again = disturbed(&ended);
        last = Some(ended);
        if !again {
            break;
        }
    }
    last.expect("it was tried at least once")
}

/// Whether the generator was kept from its work, and every check that failed, of a run or of a study, tells of that or
/// follows from it: users who are late pause and arrive otherwise than asked.
fn was_disturbed(record: Json) -> bool {
    const GENERATOR: [&str; 3] = ["generator_cpu", "generator_thread", "send_lag"];
    const FOLLOWS: [&str; 4] = ["users", "arrivals", "think", "cycle"];
    let list = |value: &Json| value.as_array().cloned().unwrap_or_default();
    let checks = [list(&record["validity"]), list(&record["checks"])].concat();
    let broken = checks.into_iter().filter(|check| check["ok"] == false);
    let faults = list(&record["trials"]).into_iter().flat_map(|trial| list(&trial["faults"]));
    let names: Vec<Json> = broken.chain(faults).map(|fault| fault["check"].clone()).collect();
    let among = |known: &[&str], name: &Json| known.iter().any(|known| name == known);
    names.iter().any(|name| among(&GENERATOR, name))
        && names.iter().all(|name| among(&GENERATOR, name) || among(&FOLLOWS, name))
}

#[test]
fn only_a_run_whose_generator_was_disturbed_is_tried_again() {
    let run = |broken: &[&str]| {
        let check = |name: &&str| serde_json::json!({ "check": name, "ok": !broken.contains(name) });
        let checks = ["tiers", "send_lag", "think", "little"].iter().map(check);
        serde_json::json!({ "validity": checks.collect::<Vec<Json>>() })
    };
    let table: [(&[&str], bool); 6] = [
        (&["send_lag"], true),
        (&["send_lag", "think"], true),
        (&["think"], false),
        (&["little"], false),
        (&["send_lag", "tiers"], false),
        (&[], false),
    ];
    for (broken, again) in table {
        assert_eq!(was_disturbed(run(broken)), again, "{broken:?}");
    }
    let study = |check: &str| serde_json::json!({ "trials": [{ "faults": [{ "check": check }] }] });
    assert!(was_disturbed(study("send_lag")) && !was_disturbed(study("samples")));
}

/// Waits until `condition` gives something.
#[track_caller]
pub(crate) fn wait_for<T>(what: &str, condition: impl FnMut() -> Option<T>) -> T {
    wait_within(WAIT_TIMEOUT, what, condition)
}

/// The same with another patience, for what is done once and takes its time.
#[track_caller]
pub(crate) fn wait_within<T>(patience: Duration, what: &str, mut condition: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = condition() {
            return found;
        }
        assert!(start.elapsed() < patience, "waited {patience:?} in vain until {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// True when the servers that a stack needs are here; by hand a test is skipped otherwise, in CI it fails.
pub(crate) fn have(stack: &str) -> bool {
    let home = Home::shared();
    let found = home.plimsoll("doctor --stack").arg(stack).run();
    let line =
        found.stdout.lines().find(|line| line.contains(&format!("stack {stack}:"))).unwrap_or_default();
    line.starts_with("ok") || skip(&format!("the packages of stack {stack} are missing: {line}"))
}

/// True when a tier can be on such a host of its own here; otherwise the test is skipped, as by [`have`].
pub(crate) fn host_can_be_made(own: &OwnHost) -> bool {
    testbed::try_host(own).map_or_else(|reason| skip(&reason.to_string()), |()| true)
}

/// Lays files over the catalogue: (path in it, text).
pub(crate) fn overlay(files: &[(&str, &str)]) -> TempDir {
    let dir = tempfile::tempdir().expect("a temporary directory");
    for (path, text) in files {
        let path = dir.path().join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        fs::write(path, text).expect("a file");
    }
    dir
}

/// A file of the built-in catalogue.
pub(crate) fn catalogue(path: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../catalogue");
    fs::read_to_string(root.join(path)).expect("a file of the catalogue")
}
