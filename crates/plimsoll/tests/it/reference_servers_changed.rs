//! Files that change or vanish while the servers of the DeBox paper have them in their caches, or are sending them.

use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::raw_http::{Connection, request};
use crate::reference_servers::{STACKS, Standing, with_each};
use crate::tool::wait_for;

/// More than the buffers of a connection hold.
const LARGE_BYTES: usize = 64 << 20;

/// A second server with the program and the settings of one that stands, on files of the test's own.
struct Own {
    child: Child,
    address: String,
}

impl Own {
    /// Looks names up again after a second, where it has a setting for that.
    fn start(like: &Standing, root: &Path) -> Own {
        let of_process = |name: &str| Path::new("/proc").join(like.pid.to_string()).join(name);
        let line = fs::read_to_string(of_process("cmdline")).expect("it lives");
        let mut words: Vec<String> = line.split_terminator('\0').skip(1).map(str::to_string).collect();
        let address = TcpListener::bind("127.0.0.1:0").and_then(|socket| socket.local_addr());
        let address = address.expect("a free port").to_string();
        let root = root.display().to_string();
        for (option, value) in [("--listen", address.as_str()), ("--root", &root), ("--revalidate", "1")] {
            if let Some(place) = words.iter().position(|word| word == option) {
                words[place + 1] = value.to_string();
            }
        }
        let program = fs::read_link(of_process("exe")).expect("its program");
        let mut command = Command::new(program);
        command.args(words).env("LC_ALL", "C.UTF-8").stdin(Stdio::null());
        let mut own = Own { child: command.spawn().expect("it starts"), address };
        wait_for("it takes connections", || {
            assert_eq!(own.child.try_wait().expect("a child"), None, "it lives");
            std::net::TcpStream::connect(&own.address).ok()
        });
        own
    }

    fn connect(&self) -> Connection {
        Connection::to(&self.address)
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        _ = rustix::process::kill_process(
            rustix::process::Pid::from_child(&self.child),
            rustix::process::Signal::TERM,
        );
        _ = self.child.wait();
    }
}

/// A server of each stack, with a file that its users have asked for.
fn with_own(act: impl Fn(&str, &Own, &Path)) {
    with_each(&STACKS, "", |stack, server| {
        let root = tempfile::tempdir().expect("a directory");
        fs::write(root.path().join("other"), "other").expect("a file");
        act(stack, &Own::start(server, root.path()), root.path());
    });
}

#[test]
fn a_file_that_is_replaced_is_sent_as_it_was_or_as_it_is_and_soon_as_it_is() {
    with_own(|stack, server, root| {
        let (old, new) = (vec![b'a'; 200_000], vec![b'b'; 100_000]);
        let (file, beside) = (root.join("file"), root.join("file.new"));
        fs::write(&file, &old).expect("a file");
        let mut connection = server.connect();
        for _ in 0..3 {
            assert!(connection.get("/file").body == old, "{stack}");
        }
        fs::write(&beside, &new).expect("a file");
        fs::rename(&beside, &file).expect("it takes the other's place");
        wait_for(&format!("{stack}: the new file is sent"), || {
            let body = connection.get("/file").body;
            assert!(body == old || body == new, "{stack}: {} bytes of both", body.len());
            (body == new).then_some(())
        });
    });
}

#[test]
fn a_file_that_vanishes_is_soon_not_found_and_is_found_when_it_is_back() {
    with_own(|stack, server, root| {
        let file = root.join("file");
        fs::write(&file, "here").expect("a file");
        let mut connection = server.connect();
        assert_eq!(connection.get("/file").body, b"here", "{stack}");
        fs::remove_file(&file).expect("it was there");
        wait_for(&format!("{stack}: it is not found"), || {
            let answer = connection.get("/file");
            assert!(answer.status == 404 || answer.body == b"here", "{stack}: {answer:?}");
            (answer.status == 404).then_some(())
        });
        fs::write(&file, "back").expect("a file");
        wait_for(&format!("{stack}: it is found"), || {
            let answer = connection.get("/file");
            (answer.body == b"back").then_some(())
        });
    });
}

#[test]
fn a_file_that_is_cut_short_while_it_is_sent_ends_the_connection_and_nothing_else() {
    with_own(|stack, server, root| {
        let file = root.join("file");
        fs::write(&file, vec![b'a'; LARGE_BYTES]).expect("a file");
        let mut slow = server.connect();
        slow.send(request("/file"));
        slow.sip(1000);
        let mut other = server.connect();
        assert_eq!(other.get("/other").body, b"other", "{stack}");
        fs::OpenOptions::new().write(true).open(&file).and_then(|file| file.set_len(10)).expect("it is cut");
        // Whatever was promised: with fewer bytes nothing may follow that would be taken for them.
        assert!(slow.is_ended(), "{stack}: the connection ends");
        assert_eq!(other.get("/other").body, b"other", "{stack}: others go on");
        wait_for(&format!("{stack}: it is sent as it is"), || {
            let mut connection = server.connect();
            connection.send(request("/file"));
            connection.answer().filter(|answer| answer.body == [b'a'; 10])
        });
    });
}
