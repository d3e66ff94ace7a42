//! File sets and the memory of a tier: what a server reads counts against its limit, and a run never changes what is kept.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Instant;

use model::Plan;
use model::catalogue::kit::{FileSet, Writable};
use model::catalogue::service::Command;
use testbed::{Stack, page_cache};
use testkit::ending::skip;

use crate::bench::{Bench, LIGHTTPD, get};
use crate::held::groups_of;
use crate::tiny::overlay;

const LIMIT_BYTES: u64 = 32 << 20;

/// What counts as the web tier's memory; `None` where this machine has no such controller.
fn charged(bench: &Bench, stack: &Stack) -> Option<u64> {
    let unified = stack.tier("web")?.cgroup.clone().map(|group| group.join("memory.current"));
    let legacy = groups_of(&bench.id).into_iter().map(|group| group.join("1/web/memory.usage_in_bytes"));
    let text = unified.into_iter().chain(legacy).find_map(|path| fs::read_to_string(path).ok())?;
    text.trim().parse().ok()
}

fn read_inside(stack: &Stack, files: &[PathBuf]) -> u64 {
    let actor = Path::new(env!("CARGO_BIN_EXE_testbed-actor"));
    let read = stack.read_inside("web", (actor, &["read"]), files, &|| false, &mut |_| ());
    read.unwrap_or_else(|problems| panic!("{problems}"))
}

#[test]
fn what_a_tier_reads_first_counts_as_its_memory_and_no_more_than_its_limit_stays() {
    let Some(mut bench) = Bench::new("charge", LIGHTTPD) else { return };
    let plan = bench.plan(LIGHTTPD, &[("web.cgroup.memory", "32M")]);
    if let Err(problems) = bench.lab.check_limits(&plan) {
        let said = problems.to_string();
        assert!(said.contains("--set web.cgroup.memory=0"), "{said}");
        skip(&said);
        return;
    }
    let stack = bench.start(&plan).unwrap_or_else(|problems| panic!("{problems}"));
    // On a disk: files in memory alone can't be evicted.
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
    let files: Vec<PathBuf> = (0..48).map(|number| dir.path().join(number.to_string())).collect();
    files.iter().for_each(|path| fs::write(path, vec![1; 1 << 20]).expect("it is writable"));
    let charge = || charged(&bench, &stack).expect("a group with a limit");

    // We wrote them: they are ours, and the server may read all of them for nothing.
    let before = charge();
    assert_eq!(read_inside(&stack, &files), 48 << 20);
    let whole = page_cache::residency(&files).expect("they can be mapped");
    assert_eq!((whole.resident_bytes, whole.bytes), (48 << 20, 48 << 20));
    assert!(charge() < before + (4 << 20), "{before} bytes before, {} after", charge());

    page_cache::evict(&files, dir.path()).expect("they are there");
    assert_eq!(page_cache::residency(&files).expect("they can be mapped").resident_bytes, 0);
    assert_eq!(read_inside(&stack, &files), 48 << 20);
    let resident = page_cache::residency(&files).expect("they can be mapped").resident_bytes;
    assert!(charge() <= LIMIT_BYTES, "{} bytes", charge());
    assert!(charge() > LIMIT_BYTES * 8 / 10, "near the limit: {} bytes", charge());
    assert!(resident <= LIMIT_BYTES && resident > LIMIT_BYTES / 2, "{resident} bytes are resident");
    let last = page_cache::residency(&files[47..]).expect("it can be mapped");
    assert_eq!(last.resident_bytes, last.bytes, "what was read last remains");

    drop(stack);
    bench.lab.close().expect("a clean end");
    assert_eq!(groups_of(&bench.id), Vec::<PathBuf>::new());
}

#[test]
fn a_tier_that_may_read_twenty_times_a_second_waits_for_what_is_not_in_memory_and_for_nothing_else() {
    let Some(mut bench) = Bench::new("reads", LIGHTTPD) else { return };
    let plan = bench.plan(LIGHTTPD, &[("web.cgroup.read_iops", "20")]);
    if let Err(problems) = bench.lab.check_limits(&plan) {
        let said = problems.to_string();
        assert!(said.contains("--set web.cgroup.read_iops=0"), "{said}");
        skip(&said);
        return;
    }
    let mut stack = bench.start(&plan).unwrap_or_else(|problems| panic!("{problems}"));
    let dir = tempfile::tempdir_in(bench.home()).expect("a directory");
    let files: Vec<PathBuf> = (0..60).map(|number| dir.path().join(number.to_string())).collect();
    files.iter().for_each(|path| fs::write(path, vec![1; 4096]).expect("it is writable"));
    let evict = || page_cache::evict(&files, dir.path()).expect("they are there");
    let read = |stack: &Stack| {
        let started = Instant::now();
        assert_eq!(read_inside(stack, &files), 60 * 4096);
        started.elapsed().as_secs_f64()
    };
    evict();
    let (cold_s, warm_s) = (read(&stack), read(&stack));
    // Sixty files are sixty reads: three seconds, less what passes as a burst.
    assert!(cold_s > 1.5, "{cold_s} s for 60 reads at 20 a second");
    assert!(warm_s < cold_s / 3.0, "{warm_s} s from memory, {cold_s} s from the disk");

    // Lifted while a cache is filled, and there again for the users.
    stack.lift_read_limits_of(&plan, dir.path()).unwrap_or_else(|problems| panic!("{problems}"));
    evict();
    let lifted_s = read(&stack);
    assert!(lifted_s < cold_s / 3.0, "{lifted_s} s without the limit, {cold_s} s with it");
    stack.limit_reads_of(&plan, dir.path()).unwrap_or_else(|problems| panic!("{problems}"));
    evict();
    let again_s = read(&stack);
    assert!(again_s > 1.5, "{again_s} s for 60 reads at 20 a second");
    drop(stack);
    bench.lab.close().expect("a clean end");
    assert_eq!(groups_of(&bench.id), Vec::<PathBuf>::new());
}

#[test]
fn a_run_adds_and_replaces_files_of_its_own_and_the_kept_ones_stay() {
    let Some(mut bench) = Bench::new("files", LIGHTTPD) else { return };
    let kept = bench.home().join("kept set");
    fs::create_dir_all(kept.join("a")).expect("a directory");
    for name in ["a/one", "a/two"] {
        fs::write(kept.join(name), "kept").expect("it is writable");
        fs::set_permissions(kept.join(name), fs::Permissions::from_mode(0o444)).expect("it is ours");
    }
    bench.files = Some(kept.clone());
    let page = "<?php $d = '{{ file_set }}/a'; \
                echo @file_put_contents(\"$d/one\", 'x') === false ? 'refused ' : 'written '; \
                file_put_contents(\"$d/new\", 'new'); rename(\"$d/new\", \"$d/two\"); mkdir(\"$d/b\"); \
                echo file_get_contents(\"$d/one\"), ' ', file_get_contents(\"$d/two\");\n";
    bench.catalogue.overlay(overlay(&[("kits/tiny/app/files.php.j2", page)]));
    let mut plan = bench.plan(LIGHTTPD, &[]);
    plan.kit.file_set =
        Some(FileSet { script: "files.lua".into(), writable: Writable::Link, page_cache: None });
    let stack = bench.start(&plan).unwrap_or_else(|problems| panic!("{problems}"));
    let own = stack.tier("web").expect("a tier").dir.parent().expect("the instance").join("files");
    let inode = |path: PathBuf| fs::metadata(path).expect("it is there").ino();
    assert_eq!(inode(own.join("a/one")), inode(kept.join("a/one")));
    let folder = inode(own.clone());
    let said = get(stack.web_address().expect("an address"), "/files.php");
    // Not as root, the servers are the user whose files these are.
    if rustix::process::geteuid().is_root() {
        assert!(said.contains("refused kept new"), "{said}");
    }
    assert_ne!(inode(own.join("a/two")), inode(kept.join("a/two")), "the run has replaced its link");
    drop(stack);
    assert!(!own.exists(), "the run's own directory goes with it");
    for name in ["a/one", "a/two"] {
        assert_eq!(fs::read_to_string(kept.join(name)).expect("it is kept"), "kept");
    }

    // The next stack has the same directory, as if nobody had been there.
    let stack = bench.start(&plan).unwrap_or_else(|problems| panic!("{problems}"));
    let own = stack.tier("web").expect("a tier").dir.parent().expect("the instance").join("files");
    assert_eq!(inode(own.clone()), folder, "half a million links are not made anew for every trial");
    assert_eq!(inode(own.join("a/two")), inode(kept.join("a/two")));
    assert!(!own.join("a/b").exists(), "what the first one added is gone");
    let said = get(stack.web_address().expect("an address"), "/files.php");
    assert!(said.ends_with("new"), "its user may write there: {said}");
    drop(stack);
    bench.lab.close().expect("a clean end");
}

#[test]
fn a_run_writes_into_files_that_are_copies_of_its_own_and_the_next_has_new_ones() {
    let Some(mut bench) = Bench::new("copies", LIGHTTPD) else { return };
    let kept = bench.home().join("kept set");
    fs::create_dir_all(kept.join("a")).expect("a directory");
    fs::write(kept.join("a/one"), "kept").expect("it is writable");
    fs::set_permissions(kept.join("a/one"), fs::Permissions::from_mode(0o444)).expect("it is ours");
    let dated = |path: PathBuf| fs::metadata(path).and_then(|about| about.modified()).expect("it is there");
    let moment = dated(kept.join("a/one"));
    bench.files = Some(kept.clone());
    let page = "<?php $f = '{{ file_set }}/a/one'; echo file_get_contents($f), ' '; \
                file_put_contents($f, 'in place', LOCK_EX); echo file_get_contents($f);\n";
    bench.catalogue.overlay(overlay(&[("kits/tiny/app/files.php.j2", page)]));
    let mut plan = bench.plan(LIGHTTPD, &[]);
    plan.kit.file_set =
        Some(FileSet { script: "files.lua".into(), writable: Writable::Copy, page_cache: None });
    for _ in 0..2 {
        let stack = bench.start(&plan).unwrap_or_else(|problems| panic!("{problems}"));
        let own = stack.files().expect("the kit has a set").to_path_buf();
        assert_eq!(dated(own.join("a/one")), moment, "it is dated as the kept one is");
        let said = get(stack.web_address().expect("an address"), "/files.php");
        assert!(said.contains("kept in place"), "{said}");
        drop(stack);
        assert!(!own.exists(), "the run's own directory goes with it");
        assert_eq!(fs::read_to_string(kept.join("a/one")).expect("it is kept"), "kept");
    }
    bench.lab.close().expect("a clean end");
}

/// A bench with the kept file `a/one`, and a plan whose web server settles it by these commands.
fn settling(name: &str, commands: &[&[&str]]) -> Option<(Bench, Plan, PathBuf)> {
    let mut bench = Bench::new(name, LIGHTTPD)?;
    let kept = bench.home().join("kept set");
    fs::create_dir_all(kept.join("a")).expect("a directory");
    fs::write(kept.join("a/one"), "kept").expect("it is writable");
    fs::set_permissions(kept.join("a/one"), fs::Permissions::from_mode(0o444)).expect("it is ours");
    bench.files = Some(kept.clone());
    let mut plan = bench.plan(LIGHTTPD, &[]);
    plan.kit.file_set =
        Some(FileSet { script: "files.lua".into(), writable: Writable::Link, page_cache: None });
    let web = plan.tiers.iter_mut().find(|tier| tier.name == "web").expect("a web tier");
    web.service.files_settles = commands
        .iter()
        .map(|run| Command {
            title: "read all files".to_string(),
            run: run.iter().map(|word| (*word).to_string()).collect(),
            input: None,
        })
        .collect();
    Some((bench, plan, kept))
}

#[test]
fn what_a_server_works_out_of_files_is_kept_beside_them_and_can_be_read_and_not_be_changed() {
    let read =
        "cp '{{ file_set }}/a/one' '{{ file_set }}/a/.read' && ln -s /etc/passwd '{{ file_set }}/a/link'";
    let Some((mut bench, plan, kept)) = settling("settles", &[&["sh", "-c", read]]) else { return };
    let settled = bench.settle_files(&plan).unwrap_or_else(|problems| panic!("{problems}"));
    let to = bench.home().join("settled");
    settled.keep(&to).unwrap_or_else(|problems| panic!("{problems}"));

    let about =
        |path: PathBuf| fs::symlink_metadata(&path).unwrap_or_else(|error| panic!("{path:?}: {error}"));
    assert_eq!(
        about(to.join("a/one")).ino(),
        about(kept.join("a/one")).ino(),
        "files are linked, not copied"
    );
    assert_eq!(fs::read_to_string(to.join("a/.read")).expect("it was worked out"), "kept");
    let own = rustix::process::geteuid().as_raw();
    assert_eq!((about(to.join("a/.read")).uid(), about(to.join("a/.read")).mode() & 0o777), (own, 0o444));
    assert_eq!(about(to.join("a")).mode() & 0o777, 0o755, "every server's user may enter");
    assert!(fs::symlink_metadata(to.join("a/link")).is_err(), "a link leads to what is not ours to keep");
    assert!(!kept.join("a/.read").exists(), "the set itself stays as it was made");

    // A run that starts from it sees what was worked out, on a stack of its own.
    bench.files = Some(to);
    let stack = bench.start(&plan).unwrap_or_else(|problems| panic!("{problems}"));
    let files = stack.tier("web").expect("a tier").dir.parent().expect("the instance").join("files");
    assert_eq!(fs::read_to_string(files.join("a/.read")).expect("it is linked"), "kept");
    drop(stack);
    bench.lab.close().expect("a clean end");
}

#[test]
fn a_command_that_fails_to_settle_files_is_told_with_its_last_words_and_leaves_nothing() {
    let failing: &[&str] = &["sh", "-c", "echo this calendar is broken >&2; exit 3"];
    let Some((mut bench, plan, _)) = settling("unsettled", &[failing]) else { return };
    let said = bench.settle_files(&plan).expect_err("it ended with 3").to_string();
    assert!(said.contains("could not read all files") && said.contains("this calendar is broken"), "{said}");
    assert!(said.contains("web"), "{said}");
    bench.lab.close().expect("a clean end");
}
