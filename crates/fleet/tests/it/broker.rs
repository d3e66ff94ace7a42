//! A real nats-server on a port of its own, for a test to kill, stop and start again.

use std::env;
use std::fs::{self, File};
use std::io::Write;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use fleet::bus::Broker;
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;
use testkit::ending::skip;

/// Names another program than the distribution's, to try a newer one by hand.
const ANOTHER: &str = "NATS_SERVER";

/// A broker whose store outlives it.
pub(crate) struct Nats {
    program: PathBuf,
    folder: TempDir,
    port: u16,
    streams: Streams,
    process: Option<Child>,
}

/// What it keeps on its disk.
#[derive(Clone, Copy)]
enum Streams {
    None,
    /// As much as there is room for.
    Some,
    /// No more than this, as the server's configuration has it.
    AtMost(&'static str),
    /// As much as it likes, on a disk of this size that it has for itself.
    OnDiskOf(&'static str),
    /// As the configuration says that is there, and where it listens too.
    Configured,
}

impl Nats {
    /// One with streams on the disk, where the program is on this machine.
    pub(crate) fn begin() -> Option<Nats> {
        Nats::with(Streams::Some)
    }

    /// One without any.
    pub(crate) fn without_streams() -> Option<Nats> {
        Nats::with(Streams::None)
    }

    /// One whose streams have no more room than that.
    pub(crate) fn with_room(room: &'static str) -> Option<Nats> {
        Nats::with(Streams::AtMost(room))
    }

    /// One whose disk has that size; nothing, with the reason, where this user may not mount one.
    pub(crate) fn on_disk_of(size: &'static str) -> Option<Nats> {
        let may_mount = Command::new("unshare").args(["--mount", "true"]).status();
        if !may_mount.is_ok_and(|status| status.success()) {
            skip("no right to make a mount namespace");
            return None;
        }
        Nats::with(Streams::OnDiskOf(size))
    }

    /// Leaves no byte of its disk free.
    pub(crate) fn fill_disk(&self) {
        let process = self.process.as_ref().expect("it runs");
        // Its mounts are those of its own namespace.
        let path = format!("/proc/{}/root{}/filler", process.id(), self.store().display());
        let mut filler = File::create(path).expect("a file on its disk");
        while filler.write_all(&[0; 4096]).is_ok() {}
    }

    /// One with the configuration that `text` gives for its address and its folder.
    pub(crate) fn configured(text: impl FnOnce(SocketAddr, &Path) -> String) -> Option<Nats> {
        let mut nats = Nats::stopped(Streams::Configured)?;
        let address = SocketAddr::from(([127, 0, 0, 1], nats.port));
        fs::write(nats.config(), text(address, nats.folder.path())).expect("a file");
        nats.start();
        Some(nats)
    }

    fn with(streams: Streams) -> Option<Nats> {
        let mut nats = Nats::stopped(streams)?;
        nats.start();
        Some(nats)
    }

    fn stopped(streams: Streams) -> Option<Nats> {
        let unpacked = || testkit::programs::unpacked().join("nats-server/usr/sbin/nats-server");
        let program = env::var_os(ANOTHER).map_or_else(unpacked, PathBuf::from);
        if !program.is_file() {
            skip(&format!("there is no {}: `plimsoll doctor --install --stack nats`", program.display()));
            return None;
        }
        let free = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = free.local_addr().expect("it has one").port();
        drop(free);
        let folder = tempfile::tempdir().expect("a folder");
        Some(Nats { program, folder, port, streams, process: None })
    }

    pub(crate) fn broker(&self) -> Broker {
        Broker::local(format!("nats://127.0.0.1:{}", self.port))
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    fn config(&self) -> PathBuf {
        self.folder.path().join("nats.conf")
    }

    fn store(&self) -> PathBuf {
        self.folder.path().join("store")
    }

    /// Starts it, on what it left on the disk.
    pub(crate) fn start(&mut self) {
        let log = File::options().append(true).create(true).open(self.folder.path().join("log"));
        let mut command = match self.streams {
            Streams::OnDiskOf(size) => self.with_disk(size),
            _ => Command::new(&self.program),
        };
        if !matches!(self.streams, Streams::Configured) {
            command.args(["--addr", "127.0.0.1", "--port", &self.port.to_string()]);
        }
        match self.streams {
            Streams::None => {}
            Streams::Some | Streams::OnDiskOf(_) => {
                _ = command.arg("--jetstream").arg("--store_dir").arg(self.store());
            }
            Streams::AtMost(room) => {
                let store = self.store();
                let text = format!("jetstream {{ store_dir: {store:?}, max_file_store: {room} }}");
                fs::write(self.config(), text).expect("a file");
                command.arg("--config").arg(self.config());
            }
            Streams::Configured => _ = command.arg("--config").arg(self.config()),
        }
        command.stdout(Stdio::null()).stderr(log.expect("a log"));
        self.process = Some(command.spawn().expect("it can be started"));
        let began = Instant::now();
        while TcpStream::connect(("127.0.0.1", self.port)).is_err() {
            assert!(began.elapsed() < Duration::from_secs(30), "it doesn't listen: {}", self.log());
            thread::sleep(Duration::from_millis(5));
        }
    }

    fn with_disk(&self, size: &str) -> Command {
        fs::create_dir_all(self.store()).expect("a folder");
        let mut command = Command::new("unshare");
        let script = "mount -t tmpfs -o size=$1 none \"$2\" && shift 2 && exec \"$@\"";
        command.args(["--mount", "--propagation", "private", "sh", "-c", script, "sh", size]);
        command.arg(self.store()).arg(&self.program);
        command
    }

    fn log(&self) -> String {
        fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }

    pub(crate) fn signal(&self, signal: Signal) {
        let process = self.process.as_ref().expect("it runs");
        let id = Pid::from_child(process);
        kill_process(id, signal).expect("it is ours");
    }

    pub(crate) fn kill(&mut self) {
        if let Some(mut process) = self.process.take() {
            process.kill().expect("it is ours");
            process.wait().expect("it ends");
        }
    }

    /// What is on its disk now, beside it.
    pub(crate) fn copy_of_store(&mut self, name: &str) {
        copy(&self.store(), &self.folder.path().join(name));
    }

    /// Its disk as it was then.
    pub(crate) fn set_back(&mut self, name: &str) {
        fs::remove_dir_all(self.store()).expect("the store");
        copy(&self.folder.path().join(name), &self.store());
    }
}

impl Drop for Nats {
    fn drop(&mut self) {
        self.kill();
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder") {
        let entry = entry.expect("an entry");
        let target = to.join(entry.file_name());
        if entry.file_type().expect("its type").is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).expect("a copy");
        }
    }
}
