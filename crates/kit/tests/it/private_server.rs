//! A MariaDB of the test's own, in a temporary directory, reached by a socket there, gone with the test.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use kit::Server;
use mysql::prelude::Queryable;
use mysql::{Conn, OptsBuilder};
use tempfile::TempDir;
use testkit::ending::skip;

pub(crate) struct PrivateServer {
    child: Child,
    folder: TempDir,
}

/// The program, or `None` where it is missing: then the test is skipped.
pub(crate) fn program(names: &[&str]) -> Option<PathBuf> {
    let folders = ["/usr/sbin", "/usr/bin", "/usr/local/sbin", "/usr/local/bin"];
    let found = names
        .iter()
        .flat_map(|name| folders.map(|folder| Path::new(folder).join(name)))
        .find(|path| path.exists());
    if found.is_none() {
        skip(&format!("none of {} is installed", names.join(", ")));
    }
    found
}

impl PrivateServer {
    /// Starts one with further options; `None` where MariaDB is missing.
    pub(crate) fn start(options: &[&str]) -> Option<PrivateServer> {
        let program = program(&["mariadbd", "mysqld"])?;
        let folder = tempfile::Builder::new().prefix("kit-db").tempdir().expect("a temporary directory");
        fs::create_dir_all(folder.path().join("data/mysql")).expect("a data directory");
        fs::create_dir(folder.path().join("tmp")).expect("a directory for temporary tables");
        bootstrap(&program, folder.path(), options);
        let child = server(&program, folder.path(), options)
            .arg(format!("--socket={}", folder.path().join("s").display()))
            .spawn()
            .expect("mariadbd can be started");
        let mut started = PrivateServer { child, folder };
        started.wait_for_greeting();
        Some(started)
    }

    pub(crate) fn address(&self, database: &str) -> Server {
        Server { socket: self.socket(), user: "root".into(), database: database.into() }
    }

    pub(crate) fn connect(&self, database: &str) -> Conn {
        let options = OptsBuilder::new().socket(self.socket().to_str());
        Conn::new(options.user(Some("root")).db_name(Some(database))).expect("the database answers")
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.folder.path().join("s")
    }

    /// Ends it as a crash would.
    pub(crate) fn kill(&mut self) {
        self.child.kill().expect("our own child can be killed");
        self.child.wait().expect("our own child can be waited for");
    }

    /// Its error log.
    pub(crate) fn log(&self) -> String {
        fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }

    fn wait_for_greeting(&mut self) {
        let end = Instant::now() + Duration::from_secs(60);
        loop {
            let mut byte = [0];
            let greeted = UnixStream::connect(self.socket())
                .and_then(|mut stream| std::io::Read::read_exact(&mut stream, &mut byte));
            if greeted.is_ok() {
                return;
            }
            let ended = self.child.try_wait().expect("our own child can be asked");
            assert!(ended.is_none() && Instant::now() < end, "mariadbd did not start:\n{}", self.log());
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for PrivateServer {
    fn drop(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

/// The only figure of a query's only row.
#[track_caller]
pub(crate) fn figure(conn: &mut Conn, sql: &str) -> f64 {
    let found = conn.query_first::<f64, _>(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    found.unwrap_or_else(|| panic!("no row: {sql}"))
}

/// Lets the child end with the test's thread, also when the test is killed.
fn tie(command: &mut Command) -> &mut Command {
    // SAFETY: prctl is async-signal-safe and reads nothing of this process.
    unsafe {
        command.pre_exec(|| {
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
            Ok(())
        })
    }
}

fn server(program: &Path, folder: &Path, options: &[&str]) -> Command {
    let log = fs::File::create(folder.join("log")).expect("a log");
    let mut command = Command::new(program);
    command
        .arg("--no-defaults")
        .arg(format!("--datadir={}", folder.join("data").display()))
        .arg(format!("--tmpdir={}", folder.join("tmp").display()))
        .args(["--skip-networking", "--skip-log-bin", "--innodb-flush-log-at-trx-commit=0"])
        .args(["--innodb-log-file-size=16M", "--innodb-buffer-pool-size=64M", "--innodb-doublewrite=0"])
        .args(["--innodb-ft-min-token-size=3", "--innodb-ft-enable-stopword=OFF", "--local-infile=1"])
        .args(options)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(log);
    // SAFETY: getuid reads one number of this process and can't fail.
    if unsafe { libc::getuid() } == 0 {
        command.arg("--user=root");
    }
    tie(&mut command);
    command
}

fn bootstrap(program: &Path, folder: &Path, options: &[&str]) {
    let tables = |name: &str| {
        fs::read_to_string(format!("/usr/share/mysql/{name}")).expect("MariaDB's own system tables")
    };
    let input = format!(
        "use mysql;\n{}\nset @auth_root_socket = null;\n{}\n",
        tables("mysql_system_tables.sql"),
        tables("mysql_system_tables_data.sql")
    );
    let mut child = server(program, folder, options)
        .arg("--bootstrap")
        .stdin(Stdio::piped())
        .spawn()
        .expect("mariadbd can be started");
    let mut stdin = child.stdin.take().expect("its input is a pipe");
    stdin.write_all(input.as_bytes()).expect("it reads its input");
    drop(stdin);
    let status = child.wait().expect("our own child can be waited for");
    assert!(status.success(), "bootstrap: {}", fs::read_to_string(folder.join("log")).unwrap_or_default());
}

/// PHP's own web server over a folder, gone with the test.
pub(crate) struct PhpServer {
    child: Child,
    pub(crate) address: std::net::SocketAddr,
}

impl PhpServer {
    /// Starts it on a free port; `None` where PHP is missing.
    pub(crate) fn start(folder: &Path) -> Option<PhpServer> {
        let program = program(&["php8.2", "php"])?;
        let mut child = tie(&mut Command::new(program))
            .args(["-d", "opcache.enable_cli=0", "-S", "127.0.0.1:0", "-t"])
            .arg(folder)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("php can be started");
        let mut lines = BufReader::new(child.stderr.take().expect("its log is a pipe")).lines();
        let address = lines
            .by_ref()
            .map_while(Result::ok)
            .find_map(|line| line.split("(http://").nth(1)?.split(')').next()?.parse().ok())
            .expect("php says where it listens");
        // Its log must be read, or it would stand still when the pipe is full.
        std::thread::spawn(move || lines.map_while(Result::ok).for_each(drop));
        Some(PhpServer { child, address })
    }
}

impl Drop for PhpServer {
    fn drop(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
    }
}
