//! The scripts behind `make`, on machines that lack something: made up by a PATH that holds only what is named.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Programs that every machine has.
const EVERYWHERE: [&str; 23] = [
    "awk", "basename", "bash", "cat", "chmod", "cut", "date", "dirname", "env", "git", "grep", "head", "id",
    "mkdir", "mktemp", "realpath", "rm", "sed", "sort", "touch", "tr", "uname", "wc",
];

struct Machine {
    programs: tempfile::TempDir,
}

impl Machine {
    fn new() -> Machine {
        let machine = Machine { programs: tempfile::tempdir().expect("a temporary directory") };
        for name in EVERYWHERE {
            symlink(Path::new("/usr/bin").join(name), machine.programs.path().join(name)).expect("a link");
        }
        machine
    }

    /// A program that does what the lines say.
    fn with(self, name: &str, lines: &str) -> Machine {
        let path = self.programs.path().join(name);
        // In the place of the link, not through it: that would be this machine's own program.
        let _ = fs::remove_file(&path);
        fs::write(&path, format!("#!/usr/bin/bash\n{lines}\n")).expect("the program is written");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("it may be run");
        self
    }

    /// Runs a script of `scripts/` with nothing else in reach.
    fn run(&self, script: &str, args: &[&str]) -> Said {
        let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts");
        let output = Command::new("/usr/bin/bash")
            .arg(scripts.join(script))
            .args(args)
            .env_clear()
            .env("PATH", self.programs.path())
            .env("CARGO_TARGET_DIR", self.programs.path())
            .env("PLIMSOLL_LONG_RECORD", self.programs.path().join("test-long.md"))
            .env("PLIMSOLL_RESULTS", self.programs.path().join("pages"))
            .output();
        Said::from(output.expect("bash runs"))
    }

    /// On this machine every part of the long tests has passed, and git knows of no change since.
    fn with_all_parts_passed(self) -> Machine {
        let parts = "for part in \"${parts[@]}\"; do echo \"| $part | passed | 2026-01-01 | abc | 1 min | here |\"; done";
        let record = self.programs.path().join("test-long.md");
        let told = self.sourced(parts);
        fs::write(&record, told.out).expect("the record is written");
        self.with("git", "exit 0")
    }

    /// What lines say in a shell that knows the parts.
    fn sourced(&self, lines: &str) -> Said {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let lines = format!(". scripts/parts.sh; {lines}");
        let output = Command::new("/usr/bin/bash")
            .args(["-c", &lines])
            .current_dir(root)
            .env_clear()
            .env("PATH", self.programs.path())
            .output();
        Said::from(output.expect("bash runs"))
    }

    fn calls(&self) -> String {
        fs::read_to_string(self.log()).unwrap_or_default()
    }

    fn log(&self) -> PathBuf {
        self.programs.path().join("calls")
    }
}

#[derive(Debug)]
struct Said {
    code: Option<i32>,
    out: String,
    err: String,
}

impl From<Output> for Said {
    fn from(output: Output) -> Said {
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Said { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }
}

fn rust(version: &str) -> Machine {
    Machine::new().with("cargo", "exit 0").with("rustc", &format!("echo 'rustc {version} (abc 2026-01-01)'"))
}

#[test]
fn without_rust_one_line_says_how_to_get_it() {
    let said = Machine::new().run("toolchain.sh", &[]);
    assert_eq!((said.code, said.err.lines().count()), (Some(2), 1), "{said:?}");
    assert!(said.err.contains("sh.rustup.rs"), "{said:?}");
}

#[test]
fn rust_that_is_too_old_is_named_and_newer_rust_is_not() {
    let old = rust("1.63.0").run("toolchain.sh", &[]);
    assert!(old.code == Some(2) && old.err.contains("Rust 1.63.0 is too old"), "{old:?}");
    for version in ["1.90.0", "1.95.0", "1.100.0", "2.0.0", "1.97.0-nightly"] {
        let said = rust(version).with("cc", "exit 0").run("toolchain.sh", &[]);
        assert_eq!((said.code, said.err.as_str()), (Some(0), ""), "{version}: {said:?}");
    }
}

#[test]
fn without_root_the_exact_line_for_an_administrator_is_printed() {
    let own = || fs::read("/usr/bin/id").expect("this machine has the program");
    let before = own();
    let machine = Machine::new().with("id", "echo 1000").with("apt-get", "exit 0");
    assert!(own() == before, "a made-up program is made up for the test alone");
    let said = machine.run("install.sh", &["a reason", "gcc", "libc6-dev"]);
    assert_eq!(said.code, Some(2), "{said:?}");
    assert!(said.out.contains("installing gcc libc6-dev: a reason"), "what and why come first: {said:?}");
    let line = "apt-get install --yes --no-install-recommends gcc libc6-dev";
    assert!(said.err.trim_end().ends_with(line), "{said:?}");
}

#[test]
fn old_package_lists_are_renewed_once_and_the_install_repeated() {
    let machine = Machine::new().with("id", "echo 0");
    let log = machine.log();
    let log = log.display();
    let apt = format!("echo \"$*\" >> {log}; [[ $1 == update ]] || sed -n '/^update/q0;$q1' {log}");
    let machine = machine.with("apt-get", &apt);
    let said = machine.run("install.sh", &["a reason", "gcc"]);
    assert_eq!(said.code, Some(0), "{said:?}\n{}", machine.calls());
    let install = "install --yes --no-install-recommends gcc";
    assert_eq!(machine.calls(), format!("{install}\nupdate --quiet\n{install}\n"));
}

#[test]
fn an_install_that_fails_ends_with_the_line_to_repeat() {
    let machine = Machine::new().with("id", "echo 0").with("apt-get", "[[ $1 == update ]]");
    let said = machine.run("install.sh", &["a reason", "gcc"]);
    assert_eq!(said.code, Some(2), "{said:?}");
    assert!(said.err.contains("apt-get install --yes --no-install-recommends gcc"), "{said:?}");
}

/// A machine on which everything is installed and everything works, and each call is noted.
fn complete(cargo: &str) -> Machine {
    let machine = Machine::new();
    fs::write(machine.programs.path().join("test-long.md"), "").expect("an empty record");
    let note = |name: &str| format!("echo \"{name} $*\" >> {}", machine.log().display());
    let (log_cargo, log_node, log_plimsoll) = (note("cargo"), note("node"), note("plimsoll"));
    let (log_bench, log_npm) = (note("bench"), note("npm"));
    for profile in ["debug", "demo", "release"] {
        fs::create_dir(machine.programs.path().join(profile)).expect("a folder");
    }
    machine
        .with("rustc", "echo 'rustc 1.95.0 (abc 2026-01-01)'")
        .with("cargo", &format!("{log_cargo}\n{cargo}"))
        .with("cc", "exit 0")
        .with("c++", "exit 0")
        .with("chromium", "exit 0")
        .with("ip", "exit 0")
        .with("xandikos", "exit 0")
        .with("node", &log_node)
        .with("npm", &log_npm)
        .with("wrk", "exit 0")
        .with("strace", "exit 0")
        .with("ssh", "exit 0")
        .with("busybox", "exit 0")
        .with("perf", "exit 0")
        .with("valgrind", "exit 0")
        .with("debug/bench", &log_bench)
        .with("demo/plimsoll", &log_plimsoll)
        .with("debug/plimsoll", &log_plimsoll)
        .with("release/plimsoll", &log_plimsoll)
}

#[test]
fn the_gate_goes_through_its_stages_and_closes_with_their_times_and_what_was_not_judged() {
    let machine = complete("exit 0");
    let said = machine.run("test.sh", &[]);
    assert_eq!(said.code, Some(0), "{said:?}\n{}", machine.calls());
    let calls = machine.calls();
    let beginnings: Vec<String> =
        calls.lines().map(|call| call.split(' ').take(2).collect::<Vec<_>>().join(" ")).collect();
    // Packages are fetched beside the compiler, whenever that is.
    let (aside, rest): (Vec<String>, Vec<String>) =
        beginnings.into_iter().partition(|call| call.starts_with("node") || call.starts_with("npm"));
    let expected = [
        "cargo nextest",
        "cargo fmt",
        "cargo clippy",
        // The same of flash, a workspace of its own.
        "cargo fmt",
        "cargo clippy",
        "cargo build",
        "plimsoll doctor",
        "cargo test",
        "bench instructions",
        "cargo nextest",
    ];
    assert_eq!(rest, expected, "{calls}");
    assert!(aside.iter().all(|call| call == "node --test" || call == "npm ci"), "{calls}");
    assert!(calls.contains("doctor --install --stack all"), "{calls}");
    for stage in ["toolchain", "lint", "build", "packages", "web", "servers", "fuzz", "instructions", "tests"]
    {
        assert!(said.out.contains(&format!("== {stage} took ")), "{stage}: {said:?}");
    }
    let closing = said.out.split("== all stages, ").nth(1).expect("the times of all stages");
    assert!(closing.contains("not judged: 0 of the tests of truth (0 are allowed), 0 others"), "{closing}");
    assert!(closing.contains("make test-long is due: soak (was never run)"), "{closing}");
}

#[test]
fn what_passed_in_the_long_tests_is_left_out_of_the_gate_until_something_below_it_changes() {
    let machine = complete("exit 0").with_all_parts_passed();
    let said = machine.run("test.sh", &[]);
    assert_eq!(said.code, Some(0), "{said:?}\n{}", machine.calls());
    for stage in ["fuzz", "instructions"] {
        assert!(!said.out.contains(&format!("== {stage}")), "{stage} covers nothing that changed: {said:?}");
    }
    let filter = machine.run("due.sh", &[]);
    assert_eq!(
        filter.out.matches("& not (").count(),
        18,
        "six kits, nine more, and three of the four that are never in the gate: {filter:?}"
    );
    assert!(!said.out.contains("is due"), "{said:?}");

    let changed = machine.with(
        "git",
        "[[ $1 != diff || $* != *catalogue/kits/caldav* ]] || echo catalogue/kits/caldav/kit.toml",
    );
    let filter = changed.run("due.sh", &[]);
    let why = "conformance-caldav is due: passed at abc, 2026-01-01; since then catalogue/kits/caldav/kit.toml changed\n";
    assert_eq!(filter.err, why, "{filter:?}");
    assert!(!filter.out.contains("caldav") && filter.out.contains("tpcw"), "{filter:?}");
}

#[test]
fn a_package_that_comes_new_into_the_lock_file_makes_nothing_due_and_one_that_changes_does() {
    let due_when_the_lock_file_says = |lines: &str| {
        let git = format!("[[ $1 != diff || $* != *unified*Cargo.lock ]] || printf -- '{lines}'");
        complete("exit 0").with_all_parts_passed().with("git", &git).run("due.sh", &[])
    };
    let new = due_when_the_lock_file_says(r#"+[[package]]\n+name = "rcgen"\n+version = "0.14.0"\n"#);
    assert_eq!((new.code, new.err.as_str()), (Some(0), ""), "{new:?}");
    let other = due_when_the_lock_file_says(r#"-version = "1.0.0"\n+version = "1.0.1"\n"#);
    assert!(
        other.err.contains("guests is due: passed at abc, 2026-01-01; since then Cargo.lock changed"),
        "{other:?}"
    );
}

#[test]
fn what_was_not_judged_is_counted_and_fails_the_gate() {
    let notes = |lines: &str| {
        let machine = Machine::new();
        let path = machine.programs.path().join("endings");
        fs::write(&path, lines).expect("the notes are written");
        machine.run("endings.sh", &[path.to_str().expect("a path")])
    };
    let said = notes("skipped\ta::b\tno tc\nrefused\ta::c\tno netem\nnot judged\ta::d\tbusy\n");
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(said.out.contains("1 others (3 are allowed); skipped: 1; refusals asserted: 1"), "{said:?}");
    let said = notes("not judged (truth)\tengine::truth x\tdisturbed\n");
    assert!(said.code == Some(1) && said.out.contains("engine::truth x: disturbed"), "{said:?}");
    let said = notes(&"not judged\ta::d\tbusy\n".repeat(4));
    assert!(said.code == Some(1) && said.err.contains("too busy to judge"), "{said:?}");
}

#[test]
fn each_part_of_the_long_tests_covers_folders_that_are_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let script = ". scripts/parts.sh; for part in \"${parts[@]}\"; do echo $part: $(covers $part); done";
    let output = Command::new("bash").args(["-c", script]).current_dir(&root).output().expect("bash runs");
    let said = Said::from(output);
    assert_eq!(said.code, Some(0), "{said:?}");
    let kits = fs::read_dir(root.join("catalogue/kits")).expect("the catalogue has kits").count();
    assert_eq!(said.out.matches("conformance-").count(), kits, "{said:?}");
    for line in said.out.lines() {
        let (part, paths) = line.split_once(": ").expect("a part and its paths");
        for path in paths.split_whitespace() {
            let excepted = path.strip_prefix(":!").is_some();
            assert!(excepted || root.join(path).exists(), "{part} covers {path}, which is not there");
        }
        let services = paths.matches("catalogue/services/").count();
        assert!(services > 0 || !part.starts_with("conformance-"), "{part} has services: {paths}");
    }
}

#[test]
fn a_stage_that_fails_ends_the_gate() {
    let machine = complete("[[ $1 != clippy ]]");
    let said = machine.run("test.sh", &[]);
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(machine.calls().contains("-- -D warnings\n"), "{}", machine.calls());
    assert!(!machine.calls().contains("cargo build"), "{}", machine.calls());
    assert!(said.err.contains("== ended with 1 in stage lint, after "), "{said:?}");
}

#[test]
fn the_demo_builds_installs_and_runs_and_its_exit_code_is_that_of_the_run() {
    let machine = complete("exit 0");
    let log = machine.log();
    let run = format!("echo \"plimsoll $*\" >> {}; [[ $1 != run ]] || exit 99", log.display());
    let machine = machine.with("demo/plimsoll", &run);
    let said = machine.run("demo.sh", &[]);
    assert_eq!(said.code, Some(99), "{said:?}");
    let calls = machine.calls();
    assert!(calls.contains("--profile demo") && calls.contains("--kit dvdstore"), "{calls}");
    let verbs: Vec<&str> = calls.lines().filter_map(|call| call.split(' ').nth(1)).collect();
    assert_eq!(verbs, ["build", "doctor", "run"], "{calls}");
}

/// A machine on which studies take 5 min, but `sun-2008-table2` takes 10 and `sun-2008-soft-rings` is refused; a sweep ends with
/// `code`, and its record says `outcome`.
fn measuring(code: i32, outcome: &str) -> Machine {
    let machine = complete("exit 0").with("git", "[[ $1 != log ]] || echo 0123456789ab");
    let pages = machine.programs.path().join("pages");
    fs::create_dir(&pages).expect("a folder");
    let plimsoll = r#"
        case "$*" in
            "queue check"*soft-rings) echo '      "what": "it needs 4 CPUs",' ;;
            "queue check"*table2) echo '  "takes_s": 600.0,' ;;
            "queue check"*) echo '  "takes_s": 300.0,' ;;
            show*) printf '  "outcome": "OUTCOME",\n  "spent_s": 61.5,\n' ;;
            sweep*--progress-file*) echo '{"at_s":1.5,"kind":"study","study":"id-of-it","text":""}' > "${@: -1}" ;;
        esac
        [[ $1 != sweep ]] || exit CODE
    "#;
    let plimsoll = plimsoll.replace("OUTCOME", outcome).replace("CODE", &code.to_string());
    let log = |name: &str| format!("echo \"{name} $*\" >> {}", machine.log().display());
    let (plimsoll, bench) = (log("plimsoll") + &plimsoll, log("bench"));
    machine.with("release/plimsoll", &plimsoll).with("release/bench", &bench)
}

#[test]
fn studies_without_a_page_come_first_and_what_is_not_measured_is_named_with_the_reason() {
    let machine = measuring(0, "completed");
    let of = |commit: &str, day: &str| {
        format!(
            "<!-- measured: begin -->\n`plimsoll sweep x` (1 trials), with Plimsoll 0.1.0 of {commit}, on {day}: text\n"
        )
    };
    let pages = [
        ("sun-2008-uploads", "# By hand\n".to_string()),
        ("sun-2008-table6", of("0123456789ab", "2026-01-03")),
        ("sun-2008-memcached", of("aaaaaaaaaaaa", "2026-01-02")),
        ("sun-2008-link-saturation", of("aaaaaaaaaaaa", "2026-01-01")),
    ];
    for (study, page) in &pages {
        let path = machine.programs.path().join(format!("pages/{study}.md"));
        fs::write(path, page).expect("the page is written");
    }
    let others = ["sun-2008-table3", "sun-2008-table2", "sun-2008-soft-rings"];
    let asked = ["--hours", "0.15"].into_iter().chain(pages.iter().map(|page| page.0)).chain(others);
    let said = machine.run("results.sh", &asked.collect::<Vec<_>>());
    assert_eq!(said.code, Some(0), "{said:?}");
    let calls = machine.calls();
    let begun = calls.lines().filter_map(|call| call.strip_prefix("plimsoll sweep ")?.split(' ').next());
    let order = ["sun-2008-table3", "sun-2008-link-saturation", "sun-2008-memcached"];
    assert_eq!(begun.collect::<Vec<_>>(), order, "{calls}");
    let written = calls.lines().filter(|call| call.starts_with("bench study-page ")).count();
    assert_eq!((written, calls.matches("--commit 0123456789ab --into").count()), (3, 3), "{calls}");
    for line in [
        "sun-2008-uploads: its page is by hand",
        "sun-2008-table6: has its page from 0123456789ab already",
        "sun-2008-table2: no time left for its 10 min",
        "sun-2008-soft-rings: refused: it needs 4 CPUs",
    ] {
        assert!(said.out.contains(&format!("   {line}\n")), "{line}: {said:?}");
    }
}

#[test]
fn a_study_that_would_end_only_just_in_time_by_its_plan_is_not_begun() {
    let machine = measuring(0, "completed");
    let said = machine.run("results.sh", &["--hours", "0.1", "sun-2008-table3"]);
    assert!(said.out.contains("sun-2008-table3: no time left for its 5 min\n"), "5 min of 6: {said:?}");
    assert!(!machine.calls().contains("plimsoll sweep "), "{}", machine.calls());
}

#[test]
fn a_study_that_was_interrupted_is_gone_on_with_and_one_that_lacks_its_page_alone_is_not_measured_again() {
    let machine = measuring(105, "interrupted");
    let said = machine.run("results.sh", &["sun-2008-table3", "sun-2008-uploads"]);
    assert_eq!(said.code, Some(105), "{said:?}");
    assert!(said.err.contains("the same command goes on with sun-2008-table3"), "{said:?}");
    assert_eq!(machine.calls().matches("plimsoll sweep ").count(), 1, "{}", machine.calls());
    let said = machine.run("results.sh", &["sun-2008-table3"]);
    assert!(machine.calls().ends_with("plimsoll sweep --resume id-of-it\n"), "{said:?}\n{}", machine.calls());
    assert!(said.out.contains("== sun-2008-table3, about 3 min"), "a minute of five is spent: {said:?}");

    let path = machine.programs.path().join("release/plimsoll");
    let completed = fs::read_to_string(&path).expect("it is there").replace("interrupted", "completed");
    fs::write(&path, completed).expect("it is written");
    let said = machine.run("results.sh", &["sun-2008-table3"]);
    assert_eq!(said.code, Some(0), "{said:?}");
    assert_eq!(machine.calls().matches("plimsoll sweep ").count(), 2, "{}", machine.calls());
    assert_eq!(machine.calls().matches("bench study-page ").count(), 1, "{}", machine.calls());
}

#[test]
fn a_study_that_fails_is_named_and_those_after_it_are_measured() {
    let machine = measuring(2, "aborted");
    let said = machine.run("results.sh", &["sun-2008-table3", "sun-2008-uploads"]);
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(
        said.out.contains("sun-2008-table3: failed with 2\n   sun-2008-uploads: failed with 2\n"),
        "{said:?}"
    );
    assert!(!machine.calls().contains("bench study-page"), "{}", machine.calls());
    let said = machine.run("results.sh", &["--hours", "x"]);
    assert!(said.code == Some(2) && said.err.contains("a number of hours"), "{said:?}");
    let said = machine.run("results.sh", &["sun-2008"]);
    assert!(said.code == Some(2) && said.err.contains("no study sun-2008; studies: app-nodes "), "{said:?}");
}

#[test]
fn the_gate_is_make_test_and_nothing_else() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let gate = fs::read_to_string(root.join(".ci/run")).expect("the gate exists");
    let last = gate.lines().rev().find(|line| !line.trim().is_empty());
    assert_eq!(last, Some("exec make test </dev/null"));
    for script in [
        ".ci/run",
        "scripts/demo.sh",
        "scripts/test.sh",
        "scripts/lint.sh",
        "scripts/bench.sh",
        "scripts/instructions.sh",
        "scripts/test-long.sh",
        "scripts/due.sh",
        "scripts/results.sh",
    ] {
        let text = fs::read_to_string(root.join(script)).expect("the script exists");
        assert!(text.contains("\nset -euo pipefail\n"), "{script} must stop at the first failure");
        let mode = fs::metadata(root.join(script)).expect("it exists").permissions().mode();
        assert!(mode & 0o111 == 0o111, "{script} must be executable");
    }
}
