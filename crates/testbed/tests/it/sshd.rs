//! Private SSH servers on loopback ports, with keys of their own, for a test to reach, kill and leave behind nothing of.
//!
//! Other rooms' tests include this file by its path (`#[path]`): `testkit` may not start processes. It needs nothing of this
//! room. `sshd` is Debian's, unpacked and never installed; as root it runs in a mount namespace in which it finds a user of
//! its own, and without root as whoever runs the test.

use std::fs::{self, File};
use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;
use testkit::ending::skip;

/// Machines that are all this one: one `sshd` each, with a cache folder of its own.
pub(crate) struct Machines {
    folder: TempDir,
    program: PathBuf,
    servers: Vec<Server>,
}

struct Server {
    name: String,
    port: u16,
    process: Option<Child>,
}

impl Machines {
    /// Starts one for each name, which [`Machines::config`] has as an alias; `None`, with the reason, where there is no sshd.
    pub(crate) fn start(names: &[&str]) -> Option<Machines> {
        let found = testkit::programs::tool("sshd").filter(|tool| tool.join("usr/sbin/sshd").is_file());
        let Some(program) = found else {
            skip("there is no sshd in target/tools: scripts/packages.sh unpacks it");
            return None;
        };
        if !runs("ssh", &["-V"]) {
            skip("there is no ssh: scripts/packages.sh installs openssh-client");
            return None;
        }
        if is_root() && !runs("unshare", &["--mount", "true"]) {
            skip(
                "as root, sshd needs a user `sshd`, which only a mount namespace gives it without installing it",
            );
            return None;
        }
        let folder = tempfile::tempdir().expect("a temporary directory");
        let mut machines = Machines { folder, program, servers: Vec::new() };
        for key in ["host", "user", "stranger"] {
            let path = machines.path(key);
            let path = path.to_str().expect("text");
            assert!(runs("ssh-keygen", &["-q", "-t", "ed25519", "-N", "", "-f", path]), "a key is made");
        }
        fs::copy(machines.path("user.pub"), machines.path("authorized")).expect("a copy");
        for name in names {
            machines.servers.push(Server { name: name.to_string(), port: 0, process: None });
            machines.start_again(name);
        }
        machines.write_known_hosts("host.pub");
        machines.write_config();
        Some(machines)
    }

    /// For `ssh -F`.
    pub(crate) fn config(&self) -> PathBuf {
        self.path("ssh_config")
    }

    /// Adds an alias, `lines` being its options, with no `Host` in it.
    pub(crate) fn add_alias(&self, name: &str, lines: &str) {
        let mut config = fs::read_to_string(self.config()).expect("the configuration");
        config.insert_str(0, &format!("Host {name}\n{lines}\n"));
        fs::write(self.config(), config).expect("it is written");
    }

    /// The cache folder of a machine's user; what is ours is in its folder `plimsoll`.
    pub(crate) fn cache(&self, name: &str) -> PathBuf {
        self.path(&format!("cache of {name}"))
    }

    /// A file of the machines' own folder.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The port of a machine.
    pub(crate) fn port(&self, name: &str) -> u16 {
        self.server(name).port
    }

    /// Lets clients believe that the machines' key is that of a file.
    pub(crate) fn write_known_hosts(&self, key: &str) {
        let key = fs::read_to_string(self.path(key)).expect("a key");
        let lines: Vec<String> =
            self.servers.iter().map(|server| format!("{} {}", server.name, key.trim())).collect();
        fs::write(self.path("known_hosts"), lines.join("\n") + "\n").expect("it is written");
    }

    /// From now on a connection runs this instead of its command, which is in `SSH_ORIGINAL_COMMAND`. Quotes need a backslash.
    pub(crate) fn allow_only(&self, command: &str) {
        let key = fs::read_to_string(self.path("user.pub")).expect("a key");
        fs::write(self.path("authorized"), format!("command=\"{command}\" {key}")).expect("it is written");
    }

    /// Kills a machine's sshd and those that serve its connections; what was started by it lives on.
    pub(crate) fn kill_sshd(&mut self, name: &str) {
        let Some(mut process) = self.server_mut(name).process.take() else { return };
        let mut all = vec![process.id()];
        // Those that serve connections are children of it or of one another; what they run has another program.
        let mut next = 0;
        while next < all.len() {
            all.extend(children_of(all[next]).into_iter().filter(|pid| name_of(*pid).starts_with("sshd")));
            next += 1;
        }
        all.into_iter().for_each(kill);
        _ = process.wait();
    }

    /// Starts a machine's sshd, on the port that it had.
    pub(crate) fn start_again(&mut self, name: &str) {
        let deadline = Instant::now() + Duration::from_secs(30);
        loop {
            let port = match self.server(name).port {
                0 => free_port(),
                port => port,
            };
            let mut process = self.spawn(name, port);
            while TcpStream::connect(("127.0.0.1", port)).is_err() {
                let log = || fs::read_to_string(self.path("sshd.log")).unwrap_or_default();
                assert!(Instant::now() < deadline, "sshd does not listen: {}", log());
                if process.try_wait().expect("it can be asked").is_some() {
                    break;
                }
                std::thread::sleep(Duration::from_millis(5));
            }
            // Somebody else may have got the port first.
            if process.try_wait().expect("it can be asked").is_none() {
                let server = self.server_mut(name);
                (server.port, server.process) = (port, Some(process));
                return;
            }
            assert!(Instant::now() < deadline, "sshd ends: {}", read(&self.path("sshd.log")));
        }
    }

    fn spawn(&self, name: &str, port: u16) -> Child {
        let config = self.path(&format!("sshd_config of {name}"));
        let path = |name: &str| self.path(name).display().to_string();
        let mut text = format!(
            "ListenAddress 127.0.0.1\nPort {port}\nHostKey {}\nAuthorizedKeysFile {}\nUsePAM no\nStrictModes no\nPidFile none\n\
             PasswordAuthentication no\nKbdInteractiveAuthentication no\nPermitRootLogin yes\nPermitUserRC no\n\
             MaxStartups 100\nSetEnv \"XDG_CACHE_HOME={}\"\n",
            path("host"),
            path("authorized"),
            self.cache(name).display(),
        );
        // Since OpenSSH 9.8 and 10.0 these are programs of their own.
        for (option, part) in [("SshdSessionPath", "sshd-session"), ("SshdAuthPath", "sshd-auth")] {
            let part = self.program.join("usr/lib/openssh").join(part);
            if part.is_file() {
                text.push_str(&format!("{option} {}\n", part.display()));
            }
        }
        fs::write(&config, text).expect("it is written");
        let sshd = self.program.join("usr/sbin/sshd");
        let mut command = if is_root() { self.with_user(&sshd) } else { Command::new(&sshd) };
        let log = File::options().create(true).append(true).open(self.path("sshd.log")).expect("a log");
        command.args(["-D", "-e", "-f"]).arg(config).env("LD_LIBRARY_PATH", self.libraries());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        command.spawn().expect("sshd starts")
    }

    /// As root, it wants a user to fall back to and a folder in `/run`: in a mount namespace it has both.
    fn with_user(&self, sshd: &Path) -> Command {
        let users = fs::read_to_string("/etc/passwd").expect("this machine's users");
        let own = "sshd:x:65533:65534::/run/sshd:/usr/sbin/nologin\n";
        let others = users.lines().filter(|line| !line.starts_with("sshd:")).collect::<Vec<_>>().join("\n");
        let file = self.path("passwd");
        fs::write(&file, format!("{others}\n{own}")).expect("it is written");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).expect("a mode");
        let mut command = Command::new("unshare");
        let script = "mount --bind \"$1\" /etc/passwd && mount -t tmpfs none /run && mkdir -m 755 /run/sshd && shift && exec \"$@\"";
        command.args(["--mount", "--propagation", "private", "sh", "-c", script, "sh"]).arg(file).arg(sshd);
        command
    }

    /// Those of its package's libraries that this machine lacks are unpacked beside it.
    fn libraries(&self) -> PathBuf {
        let folders = fs::read_dir(self.program.join("usr/lib")).into_iter().flatten().flatten();
        let found = folders.map(|entry| entry.path()).find(|path| path.join("libwrap.so.0").exists());
        found.unwrap_or_default()
    }

    fn write_config(&self) {
        let mut config = File::create(self.config()).expect("a file");
        for server in &self.servers {
            let text = format!(
                "Host {0}\nHostName 127.0.0.1\nPort {1}\nHostKeyAlias {0}\nIdentityFile \"{2}\"\n",
                server.name,
                server.port,
                self.path("user").display()
            );
            config.write_all(text.as_bytes()).expect("it is written");
        }
        let text = format!(
            "Host *\nIdentitiesOnly yes\nIdentityAgent none\nUserKnownHostsFile \"{}\"\nGlobalKnownHostsFile /dev/null\n",
            self.path("known_hosts").display()
        );
        config.write_all(text.as_bytes()).expect("it is written");
    }

    fn server(&self, name: &str) -> &Server {
        self.servers.iter().find(|server| server.name == name).expect("a machine of this test")
    }

    fn server_mut(&mut self, name: &str) -> &mut Server {
        self.servers.iter_mut().find(|server| server.name == name).expect("a machine of this test")
    }
}

impl Drop for Machines {
    fn drop(&mut self) {
        let names: Vec<String> = self.servers.iter().map(|server| server.name.clone()).collect();
        names.iter().for_each(|name| self.kill_sshd(name));
        // What a failed test has started: its environment says which machine it is on.
        let own: Vec<Vec<u8>> = names
            .iter()
            .map(|name| format!("XDG_CACHE_HOME={}", self.cache(name).display()).into_bytes())
            .collect();
        for pid in processes() {
            let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            if environment.split(|byte| *byte == 0).any(|variable| own.iter().any(|own| own == variable)) {
                kill(pid);
            }
        }
    }
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

fn runs(program: &str, args: &[&str]) -> bool {
    let mut command = Command::new(program);
    command.args(args).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

/// Nobody else is told of it between this and the server's start, but somebody may be given it.
fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("an address").port()
}

fn processes() -> Vec<u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

fn fields_of(pid: u32) -> Vec<String> {
    let stat = read(Path::new(&format!("/proc/{pid}/stat")));
    let rest = stat.rfind(')').map_or("", |end| &stat[end + 1..]);
    rest.split_whitespace().map(str::to_string).collect()
}

/// The processes that another has started.
pub(crate) fn children_of(parent: u32) -> Vec<u32> {
    let own = parent.to_string();
    processes().into_iter().filter(|pid| fields_of(*pid).get(1) == Some(&own)).collect()
}

/// The name that the kernel has for a process.
pub(crate) fn name_of(pid: u32) -> String {
    read(Path::new(&format!("/proc/{pid}/comm"))).trim().to_string()
}

fn kill(pid: u32) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        _ = kill_process(pid, Signal::KILL);
    }
}
