//! The servers of the DeBox paper, which are built from this repository: what they serve is the files to the byte, and nobody
//! who sends nonsense, reads slowly or goes away takes anything from the others.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use model::random::Random;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value as Json;

use crate::raw_http::{Connection, request};
use crate::tool::{Home, Running, have, wait_for};

/// Each way in which files are opened and sent.
pub(crate) const STACKS: [&str; 6] =
    ["flash-2004", "flash-sendfile", "flash-new", "flash-today", "flash-uring", "haboob"];
/// A file of 900 kB.
pub(crate) const LARGEST: &str = "/file_set/dir00000/class3_8";
/// Of what is sent at random: another number for other nonsense.
const SEED: u64 = 23;

/// A server of a stack, standing.
pub(crate) struct Standing {
    home: &'static Home,
    address: String,
    /// Its first process.
    pub(crate) pid: u32,
    _up: crate::standing::Standing,
}

impl Standing {
    pub(crate) fn connect(&self) -> Connection {
        Connection::to(&self.address)
    }

    pub(crate) fn status(&self) -> Json {
        let answer = self.connect().get("/plimsoll-status");
        serde_json::from_slice(&answer.body).expect("the status is JSON")
    }

    /// Its processes: the first, and all that it or one of them has started.
    fn processes(&self) -> Vec<u32> {
        let mut all = vec![self.pid];
        let mut next = 0;
        while let Some(pid) = all.get(next) {
            let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
            all.extend(children.split_whitespace().filter_map(|text| text.parse::<u32>().ok()));
            next += 1;
        }
        all
    }

    /// Descriptors of its processes.
    pub(crate) fn descriptors(&self) -> usize {
        let of = |pid: &u32| fs::read_dir(format!("/proc/{pid}/fd")).map_or(0, Iterator::count);
        self.processes().iter().map(of).sum()
    }

    /// Sends it two requests with up to five faults; whatever it makes of them, the connection ends.
    pub(crate) fn take_nonsense(&self, stack: &str, random: &mut Random) {
        let mut text = request(LARGEST).repeat(2).into_bytes();
        for _ in 0..random.below(6) {
            let at = random.below(text.len());
            match random.below(3) {
                0 => text[at] = random.below(256) as u8,
                1 => text.truncate(at.max(1)),
                _ => text.insert(at, b"\r\n %/:?\0"[random.below(8)]),
            }
        }
        let mut connection = self.connect();
        connection.send(&text);
        connection.finish();
        assert!(connection.is_ended(), "{stack}: {:?}", String::from_utf8_lossy(&text));
    }

    /// The directory of the file set, among the data sets that other tests have made.
    fn files(&self) -> PathBuf {
        let mut sets = fs::read_dir(self.home.path().join("datasets")).expect("data sets").flatten();
        let is_ours = |name: &str| name.starts_with("static-files-quick-");
        let set = sets.find(|entry| entry.file_name().to_str().is_some_and(is_ours));
        set.expect("a file set was made").path().join("files")
    }
}

/// Does it with the server of each stack, on the static kit's small set.
pub(crate) fn with_each(stacks: &[&str], set: &str, act: impl Fn(&str, &Standing)) {
    for stack in stacks.iter().filter(|stack| have(stack)) {
        let home = Home::shared();
        let mut up: Running = home.plimsoll(&format!("up static --size quick --stack {stack} {set}")).start();
        let address = up.address();
        let pid = up.pid_of("web");
        act(stack, &Standing { home, address, pid, _up: up.until_dropped() });
    }
}

fn files_below(folder: &Path, root: &Path, files: &mut BTreeMap<String, Vec<u8>>) {
    for entry in fs::read_dir(folder).expect("a directory").flatten() {
        let path = entry.path();
        if path.is_dir() {
            files_below(&path, root, files);
        } else {
            let name = path.strip_prefix(root).expect("below it").display().to_string();
            files.insert(format!("/{name}"), fs::read(&path).expect("a file"));
        }
    }
}

#[test]
fn every_file_comes_to_the_byte_and_in_order_however_many_are_asked_for_at_once() {
    with_each(&STACKS, "", |stack, server| {
        let (root, mut files) = (server.files(), BTreeMap::new());
        files_below(&root, &root, &mut files);
        assert_eq!(files.len(), 360);
        let mut connection = server.connect();
        for some in files.iter().collect::<Vec<_>>().chunks(12) {
            connection.send(some.iter().map(|(path, _)| request(path)).collect::<String>());
            for (path, bytes) in some {
                let answer = connection.answer().unwrap_or_else(|| panic!("{stack}: {path} is answered"));
                assert_eq!((answer.status, &answer.body), (200, *bytes), "{stack}: {path}");
            }
        }
    });
}

#[test]
fn what_is_no_request_for_a_file_is_refused_and_the_others_go_on() {
    with_each(&STACKS, "", |stack, server| {
        let mut other = server.connect();
        for (path, status) in [
            ("/nowhere", 404),
            ("/file_set", 404),
            ("/file_set/dir00000/class0_1/x", 404),
            ("/../etc/passwd", 400),
            ("/%2e%2e/etc/passwd", 400),
            ("/file_set/%00", 400),
            ("/%zz", 400),
            ("nowhere", 400),
        ] {
            let answer = server.connect().get(path);
            assert_eq!(answer.status, status, "{stack}: {path}: {answer:?}");
            assert!(!answer.body.windows(5).any(|text| text == b"root:"), "{stack}: {path}");
        }
        for (text, status) in [
            (format!("GET /{} HTTP/1.1\r\nHost: x\r\n\r\n", "a".repeat(9000)), 400),
            ("GET / HTTP/1.1\r\n\r\n".to_string(), 400),
            ("GET / HTTP/3.0\r\nHost: x\r\n\r\n".to_string(), 400),
            ("POST /nowhere HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n12345".to_string(), 405),
        ] {
            let mut connection = server.connect();
            connection.send(&text);
            let answer = connection.answer().unwrap_or_else(|| panic!("{stack}: {text} is answered"));
            assert_eq!(answer.status, status, "{stack}: {text}");
            connection.finish();
            assert!(connection.is_ended(), "{stack}: {text}: what follows may be a body");
        }
        assert_eq!(other.get(LARGEST).body.len(), 921_600, "{stack}");
    });
}

#[test]
fn a_head_has_no_body_and_what_has_not_changed_is_not_sent() {
    with_each(&STACKS, "", |stack, server| {
        let mut connection = server.connect();
        connection.send(format!("HEAD {LARGEST} HTTP/1.1\r\nHost: x\r\n\r\n"));
        let head = connection.answer_to(true).expect("an answer");
        assert_eq!((head.status, head.head["content-length"].as_str()), (200, "921600"), "{stack}");
        for (since, status) in [
            (head.head["last-modified"].as_str(), 304),
            ("Fri, 01 Jan 2100 00:00:00 GMT", 304),
            ("Thu, 01 Jan 1970 00:00:00 GMT", 200),
            ("yesterday", 200),
        ] {
            connection
                .send(format!("GET {LARGEST} HTTP/1.1\r\nHost: x\r\nIf-Modified-Since: {since}\r\n\r\n"));
            let answer = connection.answer().expect("an answer");
            let length = if status == 200 { 921_600 } else { 0 };
            assert_eq!((answer.status, answer.body.len()), (status, length), "{stack}: {since}");
        }
        connection.send("GET /file_set/dir00000/class0_0 HTTP/1.0\r\n\r\n");
        assert_eq!(connection.answer().expect("an answer").body.len(), 102, "{stack}");
        assert!(connection.is_ended(), "{stack}: HTTP/1.0 keeps no connection unasked");
    });
}

#[test]
fn a_slow_reader_has_its_file_whole_and_holds_nobody_up() {
    with_each(&STACKS, "", |stack, server| {
        let mut slow: Vec<Connection> = (0..20).map(|_| server.connect()).collect();
        for connection in &mut slow {
            connection.send(request(LARGEST));
            connection.sip(1);
        }
        let mut quick = server.connect();
        for _ in 0..100 {
            assert_eq!(quick.get("/file_set/dir00001/class1_4").body.len(), 5120, "{stack}");
        }
        let bytes = fs::read(server.files().join(&LARGEST[1..])).expect("a file");
        for connection in &mut slow {
            let mut rest = connection.sip(bytes.len());
            // Of the head's rest it is known how long it is only when it has been read.
            let head = rest.windows(4).position(|end| end == b"\r\n\r\n").expect("a head") + 4;
            rest.drain(..head);
            rest.extend(connection.sip(bytes.len() - rest.len()));
            assert!(rest == bytes, "{stack}: the file comes whole");
        }
    });
}

#[test]
fn connections_that_are_cut_leave_no_descriptor() {
    with_each(&STACKS, "", |stack, server| {
        let visit = |number: usize| {
            let mut connection = server.connect();
            match number % 4 {
                0 => _ = connection.send("GET /file_"),
                1 => _ = connection.send(request(LARGEST)),
                2 => {
                    connection.send(request(LARGEST));
                    connection.sip(10);
                }
                _ => _ = connection.send(request("/cgi/stub")),
            }
        };
        (0..40).for_each(visit);
        let idle = || {
            let told = &server.status()["connections"];
            let open = told.as_i64().or_else(|| told["open"].as_i64()).expect("a number of connections");
            (open <= 1).then(|| server.descriptors())
        };
        let before = wait_for("the first ones are gone", idle);
        (0..2000).for_each(visit);
        // A program's pipe, or the connection that asks.
        let gone = || idle().filter(|after| *after <= before + 4);
        wait_for(&format!("{stack}: no more than {before} descriptors are left"), gone);
    });
}

#[test]
fn nonsense_ends_no_server() {
    with_each(&STACKS, "", |stack, server| {
        let before = server.processes();
        let mut random = Random::new(SEED);
        (0..500).for_each(|_| server.take_nonsense(stack, &mut random));
        assert_eq!(server.connect().get(LARGEST).body.len(), 921_600, "{stack}");
        assert_eq!(server.processes(), before, "{stack}: nothing was started again");
    });
}

#[test]
fn helpers_that_are_killed_are_replaced_and_every_request_is_answered() {
    with_each(&["flash-2004", "flash-sendfile", "flash-new"], "", |stack, server| {
        let helpers = || {
            let is_helper = |pid: &u32| {
                fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|name| name.trim() == "helper")
            };
            server.processes().into_iter().filter(is_helper).collect::<Vec<u32>>()
        };
        // Eight, and the one that starts programs.
        let first = wait_for("all helpers are there", || Some(helpers()).filter(|all| all.len() == 9));
        let (root, mut files) = (server.files(), BTreeMap::new());
        files_below(&root, &root, &mut files);
        let mut connection = server.connect();
        for (number, (path, bytes)) in files.iter().enumerate() {
            if number % 40 == 0 {
                for pid in helpers() {
                    let pid = Pid::from_raw(pid as i32).expect("a process number");
                    _ = kill_process(pid, Signal::KILL);
                }
            }
            assert!(connection.get(path).body == *bytes, "{stack}: {path}");
        }
        assert_eq!(connection.get("/cgi/stub").status, 200, "{stack}");
        // That which starts programs is only missed where the loop does not do it itself.
        let all_new =
            || Some(helpers()).filter(|all| all.len() >= 8 && all.iter().all(|pid| !first.contains(pid)));
        wait_for(&format!("{stack}: all have been replaced"), all_new);
        assert!(server.status()["helpers_replaced"].as_i64() >= Some(8), "{stack}");
    });
}
