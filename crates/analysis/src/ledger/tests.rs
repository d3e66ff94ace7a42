use model::record::calls::{CallLedger, CallRow, DoingThreads, TierCalls, WaitEdge};
use model::record::diagnosis::{Doing, Mechanism, SignalSummary};
use model::record::threads::{ThreadPlace, ThreadState, ThreadsResult};

use super::*;
use crate::signals::figure;

fn of(tier: &str, name: &str, mean: f64) -> SignalSummary {
    SignalSummary { tier: Some(tier.to_string()), ..figure(name, "threads", mean) }
}

/// Ten operations a second of 400 ms each: four are under way on average.
fn run() -> Vec<SignalSummary> {
    vec![
        figure("run.operations_per_s", "operations/s", 10.0),
        figure("run.response_s", "s", 0.4),
        of("app", "cpu.cores", 0.5),
        of("app", "cpu.wait_cores", 0.2),
        of("app", "threads.running", 0.6),
        of("app", "threads.callee", 1.5),
        of("db", "cpu.cores", 0.2),
        of("db", "cpu.wait_cores", 0.1),
        of("db", "threads.running", 0.2),
        of("db", "threads.lock", 20.0),
        of("db", "threads.disk", 1.0),
        of("db", "sql.running", 2.4),
    ]
}

/// Nothing was counted.
fn only(signals: &[SignalSummary]) -> Seen<'_> {
    Seen { signals, calls: None }
}

fn share(ledger: &Ledger, tier: &str, doing: Doing) -> f64 {
    let part = ledger.parts.iter().find(|part| part.tier == tier && part.doing == doing);
    part.map_or(0.0, |part| (part.share_ratio * 1e4).round() / 1e4)
}

#[test]
fn a_callers_wait_is_what_its_callee_did_and_what_nobody_did_was_waiting_before() {
    let ledger = ledger(&["db", "app"], only(&run())).expect("threads were watched");
    assert_eq!(share(&ledger, "app", Doing::Running), 0.125, "{ledger:#?}");
    assert_eq!(share(&ledger, "app", Doing::WaitingForCpu), 0.05);
    assert_eq!(share(&ledger, "db", Doing::WaitingForDisk), 0.25);
    assert_eq!(
        share(&ledger, "db", Doing::WaitingForLock),
        0.025,
        "the server says that 1.4 of its threads work: the other locks are idle threads"
    );
    assert_eq!(
        share(&ledger, "app", Doing::WaitingForCallee),
        0.025,
        "1.5 threads waited, 1.4 did something"
    );
    assert!((ledger.unaccounted_s - 0.18).abs() < 1e-9, "{ledger:#?}");
    assert_eq!(ledger.parts[0].doing, Doing::WaitingForDisk, "the largest comes first");
}

#[test]
fn idle_threads_of_a_servlet_container_wait_for_no_lock() {
    let mut run = run();
    // Each of its threads that has no work waits in a place of its own, as for a lock.
    run.extend([of("app", "threads.lock", 30.0), of("app", "threads.busy", 2.4)]);
    let ledger = ledger(&["db", "app"], only(&run)).expect("threads were watched");
    let left = "2.4 threads had a request: 0.7 computed or waited for a CPU, 1.5 waited for the database";
    assert_eq!(share(&ledger, "app", Doing::WaitingForLock), 0.05, "{left}: {ledger:#?}");
}

#[test]
fn threads_that_wait_for_a_connection_of_a_pool_wait_for_a_lock_also_where_they_look_idle() {
    let mut run = run();
    run.extend([
        of("app", "threads.idle", 30.0),
        of("app", "threads.busy", 3.0),
        of("app", "pool.waiting", 0.6),
    ]);
    let ledger = ledger(&["db", "app"], only(&run)).expect("threads were watched");
    assert_eq!(share(&ledger, "app", Doing::WaitingForLock), 0.15, "0.6 of four: {ledger:#?}");
}

/// Of the servlet container in front of the database, by its own word.
fn with_jvm(blocked: f64, waiting: f64, timed: f64, pool: f64) -> Vec<SignalSummary> {
    let told = [
        ("jvm.blocked", blocked),
        ("jvm.waiting", waiting),
        ("jvm.timed_waiting", timed),
        ("pool.waiting", pool),
        ("threads.idle", 30.0),
        ("threads.busy", 4.0),
    ];
    let mut run = run();
    run.extend(told.map(|(name, threads)| of("app", name, threads)));
    run
}

#[test]
fn threads_of_a_virtual_machine_that_look_idle_sleep_or_wait_for_a_lock_by_its_own_word() {
    let ledger = ledger(&["db", "app"], only(&with_jvm(0.2, 0.1, 1.3, 0.5))).expect("threads were watched");
    let sleeps = share(&ledger, "app", Doing::Sleeping);
    assert_eq!(sleeps, 0.2, "0.5 of 1.3 wait for the pool: 0.8 of four: {ledger:#?}");
    let waits = share(&ledger, "app", Doing::WaitingForLock);
    assert_eq!(waits, 0.2, "0.2 to enter, 0.1 to be woken, 0.5 for the pool: {ledger:#?}");
}

#[test]
fn threads_of_a_virtual_machine_that_wait_while_a_tier_behind_works_wait_for_it_through_another_thread() {
    let mut run = with_jvm(0.0, 0.3, 1.2, 0.0);
    run.retain(|signal| signal.name != "threads.callee");
    let tiers = ["db", "app"];
    let ledger = ledger(&tiers, only(&run)).expect("threads were watched");
    assert_eq!(share(&ledger, "db", Doing::WaitingForDisk), 0.25, "the database did 1.4: {ledger:#?}");
    assert_eq!(share(&ledger, "app", Doing::Sleeping), 0.02, "a fifteenth of 1.2 is left");
    assert_eq!(share(&ledger, "app", Doing::WaitingForLock), 0.005, "and of 0.3");
    let signals = signals(&ledger, &tiers, only(&run));
    let waited = find(&signals, Some("app"), "work.callee").map(|signal| (signal.mean * 1e3).round());
    assert_eq!(waited, Some(636.0), "1.4 of 2.2 at work");
}

#[test]
fn what_waits_to_be_accepted_is_time_before_its_tier_and_no_work_of_it() {
    let mut run = run();
    run.extend([of("app", "listen.queue", 1.6), of("db", "listen.queue", 0.1)]);
    let tiers = ["db", "app"];
    let ledger = ledger(&tiers, only(&run)).expect("threads were watched");
    assert_eq!(share(&ledger, "app", Doing::Queued), 0.4, "1.6 of four: {ledger:#?}");
    assert_eq!(share(&ledger, "db", Doing::Queued), 0.025);
    assert_eq!(
        share(&ledger, "app", Doing::WaitingForCallee),
        0.0,
        "what waited there was before the database"
    );
    assert!((ledger.unaccounted_s - 0.02).abs() < 1e-9, "{ledger:#?}");
    let signals = signals(&ledger, &tiers, only(&run));
    let value = |tier, name| find(&signals, tier, name).map(|signal| (signal.mean * 1e3).round());
    assert_eq!(value(Some("app"), "ledger.queue"), Some(400.0));
    assert_eq!(value(Some("app"), "work.callee"), Some(682.0), "a queue is no work");
    assert_eq!(value(Some("db"), "ledger.disk"), Some(250.0));
    assert_eq!(
        value(Some("db"), "caused.disk"),
        Some(268.0),
        "0.1 wait for each 1.4 that the database works"
    );
    assert_eq!(value(None, "run.unserved_ratio"), Some(475.0), "0.05 of nobody, 0.425 in queues");
}

#[test]
fn a_request_that_an_event_loop_has_not_read_waits_before_it_and_one_whose_thread_is_awake_does_not() {
    let mut run = run();
    run.extend([of("app", "requests.unread", 1.8), of("db", "requests.unread", 0.1)]);
    let ledger = ledger(&["db", "app"], only(&run)).expect("threads were watched");
    assert_eq!(
        share(&ledger, "app", Doing::Queued),
        0.4,
        "1.8 less the 0.2 threads without a CPU, of four: {ledger:#?}"
    );
    assert_eq!(share(&ledger, "db", Doing::Queued), 0.0, "its 0.1 threads wait for a CPU with it");
}

#[test]
fn requests_that_an_event_loop_has_and_nobody_works_on_wait_in_it() {
    let mut run = run();
    // One of them is the observer's own question.
    run.extend([of("web", "cpu.cores", 0.1), of("web", "threads.running", 0.1)]);
    run.push(of("web", "connections.handling", 4.5));
    let ledger = ledger(&["db", "app", "web"], only(&run)).expect("threads were watched");
    // The application server has 2.2: 0.7 of its own, and 1.5 wait for the database. 0.1 are the loop's.
    assert_eq!(share(&ledger, "web", Doing::Queued), 0.3, "3.5 less 2.3, of four: {ledger:#?}");
    run.retain(|signal| signal.name != "connections.handling");
    run.push(of("web", "connections.handling", 2.0));
    let few = super::ledger(&["db", "app", "web"], only(&run)).expect("threads were watched");
    assert_eq!(share(&few, "web", Doing::Queued), 0.0, "it has no more than are worked on");
}

#[test]
fn requests_that_wait_for_helpers_at_the_disk_wait_for_the_disk() {
    let mut run = run();
    run.extend([
        of("web", "cpu.cores", 0.1),
        of("web", "threads.running", 0.1),
        of("web", "threads.disk", 0.4),
    ]);
    run.push(of("web", "requests.waiting", 2.5));
    let tiers = ["web"];
    let ledger = ledger(&tiers, only(&run)).expect("threads were watched");
    assert_eq!(share(&ledger, "web", Doing::Queued), 0.5, "2.5 less 0.5, of four: {ledger:#?}");
    let signals = signals(&ledger, &tiers, only(&run));
    let caused = find(&signals, Some("web"), "caused.disk").map(|signal| (signal.mean * 1e3).round());
    assert_eq!(caused, Some(500.0), "0.1 at the disk, and four times as much before it");
}

#[test]
fn what_threads_that_have_ended_waited_for_a_cpu_is_in_the_kernels_ledger_alone() {
    let mut run = run();
    let doing = |doing, threads| DoingThreads { doing, threads };
    let account = TierCalls {
        tier: "app".to_string(),
        closes_ratio: 1.0,
        doing: vec![doing(Doing::Running, 0.5), doing(Doing::WaitingForCpu, 0.9)],
        ..TierCalls::default()
    };
    let calls = CallLedger { length_s: 30.0, tiers: vec![account], ..CallLedger::default() };
    run.push(of("app", "listen.half_open", 0.2));
    let seen = Seen { signals: &run, calls: Some(&calls) };
    let ledger = ledger(&["db", "app"], seen).expect("threads were watched");
    assert_eq!(share(&ledger, "app", Doing::WaitingForCpu), 0.225, "0.9 of four, not 0.2: {ledger:#?}");
    assert_eq!(share(&ledger, "app", Doing::Queued), 0.05, "0.2 are open to their clients alone");
}

#[test]
fn what_an_answer_waits_for_the_generator_is_time_of_the_instrument() {
    let mut run = run();
    run.push(figure("run.send_lag_s", "s", 0.04));
    let tiers = ["db", "app"];
    let ledger = ledger(&tiers, only(&run)).expect("threads were watched");
    assert_eq!(share(&ledger, "generator", Doing::Queued), 0.1, "0.04 of 0.4 s: {ledger:#?}");
    assert!((ledger.unaccounted_s - 0.14).abs() < 1e-9, "0.18 s without it: {ledger:#?}");
    let signals = signals(&ledger, &tiers, only(&run));
    let unserved = find(&signals, None, "run.unserved_ratio").expect("it is told").mean;
    assert!((unserved - 0.35).abs() < 1e-9, "it waits before no tier: {unserved}");
}

#[test]
fn a_connection_whose_first_packet_was_dropped_waits_before_the_tier_that_users_connect_to() {
    let mut run = run();
    run.push(figure("run.connecting_s", "s", 0.1));
    let ledger = ledger(&["db", "app"], only(&run)).expect("threads were watched");
    assert_eq!(share(&ledger, "app", Doing::Queued), 0.25, "0.1 of 0.4 s: {ledger:#?}");
    assert_eq!(share(&ledger, "db", Doing::Queued), 0.0);
}

#[test]
fn what_the_kernel_counted_is_believed_before_looks_unless_its_account_does_not_close() {
    let run = run();
    let doing = |doing, threads| DoingThreads { doing, threads };
    let account = TierCalls {
        tier: "db".to_string(),
        doing: vec![doing(Doing::WaitingForDisk, 0.4), doing(Doing::Sleeping, 0.6), doing(Doing::Idle, 20.0)],
        closes_ratio: 1.0,
        ..TierCalls::default()
    };
    let shares = |calls: &CallLedger| {
        let seen = Seen { signals: &run, calls: Some(calls) };
        let ledger = ledger(&["db", "app"], seen).expect("threads were counted");
        [Doing::WaitingForDisk, Doing::Sleeping, Doing::WaitingForLock]
            .map(|doing| share(&ledger, "db", doing))
    };
    let mut calls = CallLedger { tiers: vec![account], changes: 1_000, ..CallLedger::default() };
    assert_eq!(shares(&calls), [0.1, 0.15, 0.0]);
    let looks = [0.25, 0.0, 0.025];
    calls.lost.threads = 11;
    assert_eq!(shares(&calls), looks, "more than a hundredth had no room");
    calls.lost.threads = 10;
    calls.tiers[0].closes_ratio = 0.96;
    assert_eq!(shares(&calls), looks, "a twenty-fifth of its time is missing");
}

/// A row of blocks of the tier's threads.
fn row(doing: Doing, call: &str, object: &str, blocked_s: f64) -> CallRow {
    let (call, object) = (call.to_string(), object.to_string());
    CallRow { doing: Some(doing), call, object, blocked_s, ..CallRow::default() }
}

/// The application's account with these rows, and whom it waited for.
fn counted(rows: Vec<CallRow>, waits: &[(&str, f64)]) -> CallLedger {
    let waiting: f64 = waits.iter().map(|(_, threads)| threads).sum();
    let doing = [(Doing::WaitingForCallee, waiting), (Doing::WaitingForDisk, 0.8)];
    let doing = doing.map(|(doing, threads)| DoingThreads { doing, threads }).to_vec();
    let app = TierCalls { tier: "app".to_string(), doing, closes_ratio: 1.0, rows, ..TierCalls::default() };
    let edge = |(to, threads): &(&str, f64)| WaitEdge {
        from: "app".to_string(),
        to: to.to_string(),
        threads: *threads,
        ..WaitEdge::default()
    };
    CallLedger {
        tiers: vec![app],
        waits: waits.iter().map(edge).collect(),
        changes: 1,
        ..CallLedger::default()
    }
}

/// How the application waited so, with shares in hundredths.
fn ways(calls: &CallLedger, doing: Doing) -> Vec<(String, String, f64)> {
    let run = run();
    let ledger =
        ledger(&["db", "app"], Seen { signals: &run, calls: Some(calls) }).expect("threads were counted");
    let part = ledger.parts.into_iter().find(|part| part.tier == "app" && part.doing == doing);
    let way = |one: Mechanism| (one.call, one.object, (one.share_ratio * 100.0).round());
    part.map(|part| part.mechanisms.into_iter().map(way).collect()).unwrap_or_default()
}

#[test]
fn a_wait_is_told_by_the_calls_that_it_was_in_also_of_threads_with_several_names() {
    let rows = vec![
        CallRow { thread: "one".to_string(), ..row(Doing::WaitingForDisk, "fsync", "tmp/log", 5.0) },
        CallRow { thread: "two".to_string(), ..row(Doing::WaitingForDisk, "fsync", "tmp/log", 3.0) },
        row(Doing::WaitingForDisk, "openat", "images", 1.8),
        row(Doing::WaitingForDisk, "unlink", "tmp/a", 0.2),
        row(Doing::Sleeping, "clock_nanosleep", "", 50.0),
    ];
    let found = ways(&counted(rows, &[]), Doing::WaitingForDisk);
    let way = |call: &str, object: &str, share| (call.to_string(), object.to_string(), share);
    assert_eq!(
        found,
        [way("fsync", "tmp/log", 80.0), way("openat", "images", 18.0)],
        "a fiftieth is not told"
    );
}

#[test]
fn what_a_loop_waits_in_is_told_without_what_helpers_are_there_to_wait_for() {
    let of = |thread: &str, row: CallRow| CallRow { thread: thread.to_string(), ..row };
    let disk = |call: &str, object: &str, s| row(Doing::WaitingForDisk, call, object, s);
    let rows = vec![
        of("helper", disk("pread64", "b", 90.0)),
        of("helper", row(Doing::Idle, "recvmsg", "socket pair", 9.0)),
        of("loop", disk("openat", "a", 3.0)),
        of("loop", row(Doing::WaitingForLock, "openat", "a", 1.0)),
        of("loop", row(Doing::Idle, "epoll_pwait", "", 12.0)),
    ];
    let waits = [Doing::WaitingForDisk, Doing::WaitingForLock];
    let told = |rows: Vec<CallRow>| {
        let ways = waits_of_loops("app", &waits, Some(&counted(rows, &[])));
        ways.into_iter().map(|way| (way.call, way.share_ratio)).collect::<Vec<_>>()
    };
    assert_eq!(told(rows.clone()), [("openat".to_string(), 1.0)]);
    assert_eq!(told(rows[..4].to_vec()), [], "nobody is seen to wait for events");
}

#[test]
fn of_waits_for_others_only_what_these_did_not_do_meanwhile_is_left_and_whom_it_was_for() {
    // The database's threads did 1.4: what the application waited for it.
    let rows = vec![
        row(Doing::WaitingForCallee, "poll", "db", 14.0),
        row(Doing::WaitingForCallee, "recvfrom", "10.0.0.7:443", 6.0),
        row(Doing::WaitingForCallee, "connect", "10.0.0.7:443", 2.0),
    ];
    let calls = counted(rows, &[("db", 1.4), ("10.0.0.7:443", 0.8)]);
    let run = run();
    let ledger =
        ledger(&["db", "app"], Seen { signals: &run, calls: Some(&calls) }).expect("threads were counted");
    assert_eq!(share(&ledger, "app", Doing::WaitingForCallee), 0.2, "0.8 of four: {ledger:#?}");
    let way = |call: &str, share| (call.to_string(), "10.0.0.7:443".to_string(), share);
    assert_eq!(ways(&calls, Doing::WaitingForCallee), [way("recvfrom", 75.0), way("connect", 25.0)]);
}

#[test]
fn the_ledgers_signals_tell_shares_of_the_response_and_of_the_tiers_own_work() {
    let run = run();
    let tiers = ["db", "app"];
    let signals = signals(&ledger(&tiers, only(&run)).expect("threads were watched"), &tiers, only(&run));
    let value = |tier, name| find(&signals, tier, name).map(|signal| (signal.mean * 1e3).round());
    assert_eq!(value(Some("app"), "work.callee"), Some(682.0), "1.5 of 2.2 threads");
    assert_eq!(value(Some("db"), "ledger.disk"), Some(250.0));
    assert_eq!(value(None, "run.unaccounted_ratio"), Some(450.0));
    assert!(signals.iter().all(is_of_ledger));
}

#[test]
fn without_threads_or_operations_there_is_no_ledger() {
    let mut unseen = run();
    unseen.retain(|signal| !signal.name.starts_with("threads."));
    assert_eq!(ledger(&["db", "app"], only(&unseen)), None);
    let mut nothing = run();
    nothing[0].mean = 0.0;
    assert_eq!(ledger(&["db", "app"], only(&nothing)), None);
}

#[test]
fn of_a_virtual_machine_it_is_told_in_which_of_the_programs_methods_its_threads_wait() {
    let at = |state, call: &str, lock: Option<&str>, share_ratio| ThreadsResult {
        tier: "app".to_string(),
        place: ThreadPlace { state, call: call.to_string(), lock: lock.map(str::to_string), holder: None },
        share_ratio,
        seen: 10,
    };
    let threads = [
        at(ThreadState::TimedWaiting, "shop.Home.doGet", None, 0.6),
        at(ThreadState::Blocked, "shop.Cart.add", Some("java.lang.Object"), 0.3),
        at(ThreadState::Runnable, "shop.Cart.save", None, 0.1),
    ];
    let way = |call: &str, object: &str| Mechanism {
        call: call.to_string(),
        object: object.to_string(),
        kernel_lock: false,
        share_ratio: 1.0,
    };
    assert_eq!(waiting_methods("app", Doing::Sleeping, &threads), [way("shop.Home.doGet", "")]);
    assert_eq!(
        waiting_methods("app", Doing::WaitingForLock, &threads),
        [way("shop.Cart.add", "java.lang.Object")]
    );
    assert_eq!(waiting_methods("db", Doing::Sleeping, &threads), []);
    assert_eq!(waiting_methods("app", Doing::WaitingForDisk, &threads), []);
}
