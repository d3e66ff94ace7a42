use super::*;

const NAMED: &str = "exec-";
const IDLE: &str = "org.apache.tomcat.util.threads.TaskQueue.";

/// A value of several items as the JVM prints it, with its type before; `array` is an item's type.
fn composite(of: &str, array: &str, contents: &str) -> String {
    let kind = format!(
        "javax.management.openmbean.CompositeType(name={of},items=((itemName=x,itemType=y),(itemName=z,itemType={array})))"
    );
    format!("javax.management.openmbean.CompositeDataSupport(compositeType={kind},contents={{{contents}}})")
}

/// As Tomcat 10.1 prints a thread, with fewer types and figures.
fn thread(name: &str, state: &str, (lock, holder): (&str, &str), calls: &[(&str, &str)]) -> String {
    let frame = |(class, method): &(&str, &str)| {
        let contents = format!(
            "classLoaderName=null, className={class}, fileName=A.java, lineNumber=-2, methodName={method}, nativeMethod=true"
        );
        composite("java.lang.StackTraceElement", "s", &contents)
    };
    let frames: Vec<String> = calls.iter().map(frame).collect();
    let contents = format!(
        "blockedCount=1, daemon=false, lockInfo=null, lockName={lock}, lockOwnerId=-1, lockOwnerName={holder}, \
         lockedMonitors=[], priority=5, stackTrace=[{}], suspended=false, threadName={name}, threadState={state}, waitedCount=4",
        frames.join(", ")
    );
    format!("  {}\n", composite("java.lang.management.ThreadInfo", "[Ljavax.Data;", &contents))
}

fn dump(threads: &[String]) -> String {
    format!("{RETURNED}\n{}", threads.concat()).replace('\n', "\r\n")
}

fn reader() -> Threads {
    let requests = RequestThreads { named: vec![NAMED.to_string()], idle: vec![IDLE.to_string()] };
    Threads::new(requests, &Arc::default())
}

fn figures(threads: &Threads, text: &str) -> Vec<(String, f64)> {
    threads.figures(&super::threads(text).expect("a dump")).into_iter().collect()
}

fn counts(blocked: f64, runnable: f64, timed_waiting: f64) -> Vec<(String, f64)> {
    [("blocked", blocked), ("runnable", runnable), ("timed_waiting", timed_waiting), ("waiting", 0.0)]
        .map(|(state, count)| (state.to_string(), count))
        .to_vec()
}

#[test]
fn threads_with_a_request_are_told_with_their_method_their_lock_and_who_holds_it() {
    let socket = [
        ("sun.nio.ch.Net", "poll"),
        ("java.io.FilterInputStream", "read"),
        ("org.mariadb.jdbc.client.socket.impl.PacketReader", "readPacket"),
        ("shop.Home", "doGet"),
    ];
    let text = dump(&[
        thread("exec-1", "RUNNABLE", ("null", "null"), &socket),
        thread("exec-2", "BLOCKED", ("java.lang.Object@1f", "exec-1"), &[("shop.Cart", "add")]),
        thread("exec-3", "BLOCKED", ("java.lang.Object@1f", "exec-1"), &[("shop.Cart", "add")]),
        thread(
            "exec-4",
            "TIMED_WAITING",
            ("java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject@2e", "null"),
            &[("jdk.internal.misc.Unsafe", "park"), ("org.apache.tomcat.util.threads.TaskQueue", "poll")],
        ),
        thread("main", "RUNNABLE", ("null", "null"), &[("sun.nio.ch.Net", "accept")]),
    ]);
    let threads = reader();
    assert_eq!(figures(&threads, &text), counts(2.0, 1.0, 0.0));
    let place = |state, call: &str, lock: Option<&str>, holder: Option<&str>| ThreadPlace {
        state,
        call: call.to_string(),
        lock: lock.map(str::to_string),
        holder: holder.map(str::to_string),
    };
    let reads = "org.mariadb.jdbc.client.socket.impl.PacketReader.readPacket";
    let expected = [
        (place(ThreadState::Runnable, reads, None, None), 1),
        (place(ThreadState::Blocked, "shop.Cart.add", Some("java.lang.Object"), Some(reads)), 2),
    ];
    let seen: Vec<_> = threads.places.take("web").into_iter().map(|one| (one.place, one.threads)).collect();
    assert_eq!(seen, expected);
    assert!(threads.places.take("web").is_empty(), "what was taken is not told again");
}

#[test]
fn where_all_methods_are_the_platforms_the_outermost_is_told_and_hidden_classes_lose_their_number() {
    let all = [("sun.nio.ch.Net", "poll"), ("java.net.Socket$SocketInputStream", "read")];
    let hidden = [("shop.Home$$Lambda$12/0x00007f0d2c0a1000", "run")];
    let text = dump(&[
        thread("exec-1", "RUNNABLE", ("null", "null"), &all),
        thread("exec-2", "RUNNABLE", ("null", "null"), &hidden),
    ]);
    let threads = reader();
    assert_eq!(figures(&threads, &text), counts(0.0, 2.0, 0.0));
    let calls: Vec<String> = threads.places.take("web").into_iter().map(|one| one.place.call).collect();
    assert_eq!(calls, ["java.net.Socket$SocketInputStream.read", "shop.Home$$Lambda$12.run"]);
}

#[test]
fn what_is_no_dump_is_an_error_and_a_thread_that_makes_no_sense_is_left_out() {
    for text in
        ["", "<html>", "Error - No such bean\r\n", "OK - Operation dumpAllThreads without return value\r\n"]
    {
        assert!(super::threads(text).is_none(), "{text}");
    }
    let odd = "exec-1 ), threadState=RUNNABLE})";
    let text = dump(&[
        thread(odd, "RUNNABLE", ("null", "null"), &[("shop.Home", "doGet")]),
        "  rubbish\n".to_string(),
        thread("exec-2", "RUNNABLE", ("null", "null"), &[("shop.Home", "doGet")]),
    ]);
    assert_eq!(figures(&reader(), &text), counts(0.0, 1.0, 0.0));
}

#[test]
fn after_a_dump_that_took_long_no_other_is_asked_for_so_soon() {
    let mut threads = reader();
    threads.not_before = Some(Instant::now() + Duration::from_secs(60));
    let mut asker = Asker::new(&model::catalogue::server_job::StatusPlace::Port(1));
    let figures = threads.read(&mut asker, "/", Instant::now() + Duration::from_secs(1));
    assert_eq!(figures.expect("nothing is asked"), Figures::new(), "no figure, and no failure either");
    assert_eq!(pause_after(Duration::from_millis(20)), Duration::from_secs(1));
}
