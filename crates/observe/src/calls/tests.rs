//! The programs in this machine's kernel, on processes that block on purpose.

mod others;
mod plants;

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use model::record::calls::Cell;
use model::record::diagnosis::Doing;
use testkit::ending::skip;

use super::*;
use plants::{PLANTS, Plant};

/// A cgroup of its own for the processes of a test.
struct Group(PathBuf);

impl Group {
    /// `None` with its reason where there can be none.
    fn make(name: &str) -> Option<Group> {
        let path = crate::cgroup2_mount()
            .map(|mount| mount.join(format!("calls-test-{}-{name}", std::process::id())));
        let made = path.filter(|path| fs::create_dir(path).is_ok()).map(Group);
        if made.is_none() {
            skip("no cgroup v2 directory can be made here");
        }
        made
    }

    fn join(&self, child: &Child) {
        fs::write(self.0.join("cgroup.procs"), child.id().to_string()).expect("a process can be moved there");
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let began = Instant::now();
        // The kernel lets go of processes that have ended a little later.
        while fs::remove_dir(&self.0).is_err() && began.elapsed() < Duration::from_secs(10) {
            std::thread::yield_now();
        }
    }
}

fn job(group: &Group, calls: CallCounting) -> Job {
    let app = TierJob { name: "app".to_string(), cgroup: Some(group.0.clone()), ..TierJob::default() };
    Job { tiers: vec![app], calls, ..Job::default() }
}

/// The programs on a group; `None` with its reason where the kernel doesn't let us.
fn counting(group: &Group, calls: CallCounting, room: Room) -> Option<Calls> {
    match Calls::open(&job(group, calls), room) {
        Ok(calls) => calls,
        Err(why) => {
            skip(&format!("calls can't be counted here: {why}"));
            None
        }
    }
}

/// This very program as a process that does `plant` and nothing else.
struct Planted {
    child: Child,
    answers: BufReader<std::process::ChildStdout>,
}

impl Planted {
    fn start(plant: &Plant, group: &Group, directory: &Path) -> Planted {
        let own = std::env::current_exe().expect("a program has a path");
        let mut child = Command::new(own)
            .args(["calls::tests::a_process_that_blocks_on_purpose", "--exact", "--nocapture"])
            .env(PLANT, plant.name)
            .env(DIRECTORY, directory)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the test's own program starts");
        group.join(&child);
        let answers = BufReader::new(child.stdout.take().expect("it was asked for"));
        let mut planted = Planted { child, answers };
        planted.hear(READY_WORD);
        planted
    }

    /// Lets it go on, and waits until it has done its work; gives seconds that it was blocked by its own clock.
    fn blocked_s(&mut self) -> f64 {
        let input = self.child.stdin.as_mut().expect("it was asked for");
        input.write_all(b"go\n").expect("it listens");
        self.hear(DONE_WORD).parse().expect("a number of seconds")
    }

    /// The rest of the next line that begins with `word`.
    fn hear(&mut self, word: &str) -> String {
        loop {
            let mut line = String::new();
            let read = self.answers.read_line(&mut line).expect("it can be heard");
            assert!(read > 0, "the process that blocks on purpose has ended before it said {word}");
            if let Some((_, rest)) = line.trim_end().split_once(word) {
                return rest.trim().to_string();
            }
        }
    }
}

impl Drop for Planted {
    fn drop(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

const PLANT: &str = "PLIMSOLL_TEST_PLANT";
const DIRECTORY: &str = "PLIMSOLL_TEST_DIRECTORY";
const READY_WORD: &str = "planted:ready";
const DONE_WORD: &str = "planted:blocked";

/// The child of the tests below; by itself it does nothing.
#[test]
fn a_process_that_blocks_on_purpose() {
    let Some(name) = std::env::var_os(PLANT) else { return };
    let directory = PathBuf::from(std::env::var_os(DIRECTORY).expect("the parent says where"));
    let plant = PLANTS
        .iter()
        .chain([&plants::CROWD, &plants::CALLER, &plants::SPINNER])
        .find(|plant| plant.name == name)
        .expect("the parent knows its name");
    let act = (plant.prepare)(&directory);
    let mut line = String::new();
    println!("{READY_WORD}");
    std::io::stdin().read_line(&mut line).expect("the parent says when");
    println!("{DONE_WORD} {}", act().as_secs_f64());
    // Until the parent has read the sums.
    std::io::stdin().read_line(&mut line).expect("the parent ends it");
}

/// The step in which `plant` did its work, and how long it was blocked by its own clock.
fn planted(plant: &Plant, room: Room) -> Option<(CallStep, f64)> {
    let group = Group::make(plant.name)?;
    let directory = tempfile::tempdir().expect("a directory");
    let mut calls = counting(&group, CallCounting::Blocks, room)?;
    let mut child = Planted::start(plant, &group, directory.path());
    let began = Instant::now();
    assert_eq!(calls.sample(0.0).expect("it can be read"), None, "one reading is no step");
    let blocked_s = child.blocked_s();
    // Beside other tests reading takes longer than its budget.
    calls.pause_s = 0.0;
    let step = calls.sample(began.elapsed().as_secs_f64().max(1.0)).expect("it can be read");
    Some((step.expect("the second reading is a step"), blocked_s))
}

fn seconds_of(step: &CallStep, is: impl Fn(&Cell) -> bool) -> f64 {
    step.times.iter().filter(|time| is(&time.cell)).map(|time| time.s).sum()
}

fn closes(step: &CallStep) -> f64 {
    seconds_of(step, |_| true) / step.lives[0].lived_s
}

/// The cells with the most time.
fn longest(step: &CallStep) -> String {
    let mut times = step.times.clone();
    times.sort_by(|one, other| other.s.total_cmp(&one.s));
    let line = |time: &CellTime| {
        let Cell { thread, doing, call, object, .. } = &time.cell;
        format!("\n    {:.3} s {thread}: {doing:?}, {call} on {object}", time.s)
    };
    times.iter().take(8).map(line).collect()
}

#[test]
fn what_a_process_blocks_on_is_named_with_its_call_and_its_object_and_for_as_long_as_its_own_clock_says() {
    let mut wrong = Vec::new();
    for plant in PLANTS {
        let Some((step, blocked_s)) = planted(plant, Room::OF_RUNS) else { return };
        let counted_s = seconds_of(&step, |cell| {
            plant.calls.contains(&cell.call.as_str())
                && cell.object.contains(plant.object)
                && cell.doing == plant.doing
        });
        assert!(counted_s > 0.0, "{} is not named: {}", plant.name, longest(&step));
        let near = (counted_s / blocked_s - 1.0).abs() <= 0.1;
        if !near || (closes(&step) - 1.0).abs() > 0.03 {
            wrong.push(format!(
                "{}: {blocked_s:.3} s by its own clock, {counted_s:.3} s counted, closes to {:.3}: {}",
                plant.name,
                closes(&step),
                longest(&step)
            ));
        }
    }
    // Blocks of a tenth of a millisecond are short beside what clocks and wake-ups take.
    assert!(wrong.len() <= 1, "{} of {}:\n{}", wrong.len(), PLANTS.len(), wrong.join("\n"));
}

/// The step in which a child did `plant` after another had, so that what it waits for is known.
fn known_before(plant: &Plant, calls: &mut Calls, group: &Group) -> (CallStep, f64) {
    let directory = tempfile::tempdir().expect("a directory");
    _ = calls.sample(0.0).expect("it can be read");
    let mut last = None;
    for at_s in [1.0, 2.0] {
        let mut child = Planted::start(plant, group, directory.path());
        let blocked_s = child.blocked_s();
        calls.pause_s = 0.0;
        last = calls.sample(at_s).expect("it can be read").map(|step| (step, blocked_s));
    }
    last.expect("the third reading is a step")
}

#[test]
fn waits_are_sampled_with_the_functions_of_the_kernel_and_with_who_ended_them() {
    let Some(group) = Group::make("stacks") else { return };
    let Some(mut calls) = counting(&group, CallCounting::Blocks, Room::OF_RUNS) else { return };
    let flock = PLANTS.iter().find(|plant| plant.name == "flock").expect("it is in the list");
    let (step, blocked_s) = known_before(flock, &mut calls, &group);
    let waits: Vec<_> = step.stacks.iter().filter(|time| time.stack.cell.call == "flock").collect();
    let sampled_s: f64 = waits.iter().map(|time| time.s).sum();
    assert!((sampled_s / blocked_s - 1.0).abs() < 0.2, "{sampled_s} s of {blocked_s} s: {waits:#?}");
    for wait in &waits {
        assert!(wait.stack.frames.iter().any(|frame| frame.contains("lock")), "{wait:#?}");
        let waker = wait.stack.woken_by.as_ref().expect("a wait is ended by somebody");
        assert_eq!(
            (waker.tier.as_str(), waker.call.as_str()),
            ("app", "flock"),
            "who held it let go: {wait:#?}"
        );
    }
    let long = step.slow.iter().find(|wait| wait.stack.cell.call == "flock").expect("20 ms are long");
    assert!(long.s > 0.01 && long.s < 1.0, "{long:#?}");
    assert!(long.at_s > 1.0 - blocked_s && long.at_s <= 2.0, "{long:#?}");
    assert!(long.stack.cell.object.contains("turn"), "{long:#?}");
    assert_eq!(step.lost.samples, 0);
}

#[test]
fn what_computes_is_sampled_with_its_program_and_function() {
    let Some(group) = Group::make("ticks") else { return };
    let Some(mut calls) = counting(&group, CallCounting::Blocks, Room::OF_RUNS) else { return };
    let (step, _) = known_before(&plants::SPINNER, &mut calls, &group);
    let computed_s = seconds_of(&step, |cell| cell.doing == Doing::Running);
    let running: Vec<_> = step.stacks.iter().filter(|time| time.stack.cell.doing == Doing::Running).collect();
    let sampled_s: f64 = running.iter().map(|time| time.s).sum();
    assert!((sampled_s / computed_s - 1.0).abs() < 0.3, "{sampled_s} s of {computed_s} s: {running:#?}");
    let spins = |frames: &[String]| frames.iter().any(|frame| frame.contains("spin"));
    let in_own_s: f64 = running.iter().filter(|time| spins(&time.stack.frames)).map(|time| time.s).sum();
    assert!(in_own_s > 0.5 * sampled_s, "most of it is in its own function: {running:#?}");
    let of_group_s = step.lives[0].cgroup_cpu_s.expect("a cgroup has a cpu.stat");
    assert!(
        (computed_s / of_group_s - 1.0).abs() < 0.2,
        "{computed_s} s of CPU time are {of_group_s} s by the cgroup"
    );
}

#[test]
fn a_program_that_is_new_to_the_observer_does_not_keep_it_from_reading_again() {
    let Some(group) = Group::make("known") else { return };
    let Some(mut calls) = counting(&group, CallCounting::Blocks, Room::OF_RUNS) else { return };
    _ = calls.sample(0.0).expect("it can be read");
    let mut child = Planted::start(&plants::SPINNER, &group, &std::env::temp_dir());
    child.blocked_s();
    calls.pause_s = 0.0;
    let before_s = thread_cpu_s();
    let step = calls.sample(1.0).expect("it can be read").expect("the second reading is a step");
    let (price_s, counts_s) = (thread_cpu_s() - before_s, calls.pause_s * BUDGET);
    assert!(step.stacks.iter().any(|time| time.stack.frames.len() > 1), "its functions are known: {step:#?}");
    assert!(counts_s < 0.2 * price_s, "{price_s} s of CPU time, and {} s until the next one", calls.pause_s);
}

#[test]
fn what_has_no_room_is_counted_and_the_time_is_still_there() {
    let many = PLANTS.iter().find(|plant| plant.name == "files").expect("it is in the list");
    let Some((step, _)) = planted(many, Room { cells: 16, names: 16 }) else { return };
    assert!(step.lost.cells > 0, "{:?}", step.lost);
    assert!((closes(&step) - 1.0).abs() <= 0.03, "closes to {}: {:#?}", closes(&step), step.times);
}

#[test]
fn of_twenty_thousand_threads_none_is_left_out_and_they_are_read_less_often() {
    let Some(group) = Group::make("crowd") else { return };
    let Some(mut calls) = counting(&group, CallCounting::Blocks, Room::OF_RUNS) else { return };
    let mut children = [0, 1].map(|_| Planted::start(&plants::CROWD, &group, &std::env::temp_dir()));
    _ = calls.sample(0.0).expect("it can be read");
    children.iter_mut().for_each(|child| _ = child.blocked_s());
    calls.pause_s = 0.0;
    let step = calls.sample(1.0).expect("it can be read").expect("the second reading is a step");
    assert!(step.lives[0].threads >= 2 * plants::CROWD_THREADS, "{:?}", step.lives);
    assert!((closes(&step) - 1.0).abs() <= 0.03, "closes to {}: {}", closes(&step), longest(&step));
    assert_eq!(step.lost.threads, 0, "{:?}", step.lost);
    assert!(calls.pause_s > 0.0, "a walk over all of them is too dear for each second");
    assert_eq!(calls.sample(1.001).expect("it can be read"), None, "so it waits");
}

#[test]
fn nothing_stays_in_the_kernel_when_the_observer_lets_go() {
    let Some(group) = Group::make("gone") else { return };
    let Some(calls) = counting(&group, CallCounting::Auto, Room::OF_RUNS) else { return };
    let own = calls.kernel.program_ids();
    assert_eq!(own.len(), 11, "blocks, calls, the walk and the clock");
    drop(calls);
    let began = Instant::now();
    let left =
        || aya::programs::loaded_programs().flatten().filter(|program| own.contains(&program.id())).count();
    while left() > 0 && began.elapsed() < Duration::from_secs(1) {
        std::thread::yield_now();
    }
    assert_eq!(left(), 0, "programs that are still loaded");
}

/// The child of the test below; by itself it does nothing.
#[test]
fn a_process_that_counts() {
    let Some(path) = std::env::var_os(GROUP) else { return };
    // The parent's, who removes it.
    let group = std::mem::ManuallyDrop::new(Group(PathBuf::from(path)));
    let calls = Calls::open(&job(&group, CallCounting::Auto), Room::OF_RUNS)
        .expect("its parent could")
        .expect("a tier");
    println!("{READY_WORD} {:?}", calls.kernel.program_ids());
    std::io::stdin().read_line(&mut String::new()).expect("the parent never writes");
}

const GROUP: &str = "PLIMSOLL_TEST_GROUP";

#[test]
fn nothing_stays_in_the_kernel_when_the_observer_is_killed() {
    let Some(group) = Group::make("killed") else { return };
    if counting(&group, CallCounting::Auto, Room::TRIED).is_none() {
        return;
    }
    let own = std::env::current_exe().expect("a program has a path");
    let mut child = Command::new(own)
        .args(["calls::tests::a_process_that_counts", "--exact", "--nocapture"])
        .env(GROUP, &group.0)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the test's own program starts");
    let answers = BufReader::new(child.stdout.take().expect("it was asked for"));
    let mut counting = Planted { child, answers };
    let ids = counting.hear(READY_WORD);
    let ids: Vec<u32> =
        ids.trim_matches(['[', ']']).split(", ").map(|id| id.parse().expect("a number")).collect();
    let left = || aya::programs::loaded_programs().flatten().filter(|one| ids.contains(&one.id())).count();
    assert_eq!(left(), 11, "they are loaded: {ids:?}");
    counting.child.kill().expect("it lives");
    let began = Instant::now();
    while left() > 0 && began.elapsed() < Duration::from_secs(1) {
        std::thread::yield_now();
    }
    assert_eq!(left(), 0, "programs that are still loaded a second later");
}

#[test]
fn a_tier_without_a_cgroup_is_not_followed_and_without_one_nothing_is_loaded() {
    let job = Job { calls: CallCounting::Auto, tiers: vec![TierJob::default()], ..Job::default() };
    assert!(matches!(Calls::open(&job, Room::OF_RUNS), Ok(None)));
}

/// The step in which a child does its work, with its calls counted.
fn step_in_window(calls: &mut Calls, child: &mut Planted) -> CallStep {
    _ = calls.sample(0.0).expect("it can be read");
    calls.kernel.open_window().expect("a window opens");
    child.blocked_s();
    calls.kernel.close_window().expect("and closes");
    calls.pause_s = 0.0;
    calls.sample(1.0).expect("it can be read").expect("the second reading is a step")
}

#[test]
fn calls_are_counted_in_windows_with_their_cpu_time() {
    let Some(group) = Group::make("windows") else { return };
    let Some(mut calls) = counting(&group, CallCounting::Blocks, Room::OF_RUNS) else { return };
    let directory = tempfile::tempdir().expect("a directory");
    let busy = PLANTS.iter().find(|plant| plant.name == "sleep").expect("it is in the list");
    let mut child = Planted::start(busy, &group, directory.path());
    let step = step_in_window(&mut calls, &mut child);
    let sleeps = step.counts.iter().find(|count| count.call == "clock_nanosleep").expect("they were counted");
    assert_eq!(sleeps.count, plants::SLEEPS, "{:?}", step.counts);
    assert!(sleeps.cpu_s > 0.0 && sleeps.cpu_s < 0.01 * plants::SLEEPS as f64, "{sleeps:?}");
}

#[test]
fn of_very_many_objects_those_with_the_most_time_are_kept_apart() {
    let cell = |object: String| Cell {
        tier: "web".to_string(),
        thread: "nginx".to_string(),
        doing: Doing::WaitingForDisk,
        call: "openat".to_string(),
        object,
        kernel_lock: false,
    };
    let sum = |ns: u64| RawSum { count: 1, ns, max_ns: ns };
    let times = (1..=1_000_u64).map(|number| (cell(format!("file{number}")), sum(number))).collect();
    let few = few_objects(times);
    assert_eq!(few.len(), MAX_OBJECTS + 1);
    assert_eq!(few[&cell("file1000".to_string())], sum(1_000));
    let others = few[&cell(OTHERS.to_string())];
    assert_eq!((others.count, others.ns), (800, (1..=800).sum::<u64>()));
}
