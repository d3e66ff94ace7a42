//! The server that all generators are measured on: a private nginx of one process on one CPU, which also counts the
//! requests, so that no generator's own figures need to be believed.

use std::fmt::Write as _;
use std::fs;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::{Failure, answers, child};

const START_TIMEOUT: Duration = Duration::from_secs(10);

/// A running nginx; it ends and its files go when dropped.
pub(crate) struct Nginx {
    child: Option<Child>,
    address: SocketAddr,
    _dir: TempDir,
}

impl Nginx {
    /// Starts it on `cpu` with a body of 6 bytes at `/s`, of 100 KB at `/100k`, of 1 MB at `/1m`, and the flow kit's
    /// canned answers.
    pub(crate) fn start(program: &Path, cpu: usize) -> Result<Nginx, Failure> {
        let dir = tempfile::tempdir().map_err(|error| format!("a temporary directory: {error}"))?;
        let address = free_port()?;
        let write = |name: &str, bytes: &[u8]| {
            fs::write(dir.path().join(name), bytes).map_err(|error| format!("{name}: {error}"))
        };
        write("s", b"hello\n")?;
        write("100k", &vec![b'x'; 100 << 10])?;
        write("1m", &vec![b'x'; 1 << 20])?;
        write("nginx.conf", configuration(dir.path(), address).as_bytes())?;
        let mut command = Command::new(program);
        command.arg("-p").arg(dir.path()).args(["-c", "nginx.conf", "-e", "error.log"]);
        let child = child::start(command.stdin(Stdio::null()).stdout(Stdio::null()), cpu)?;
        let nginx = Nginx { child: Some(child), address, _dir: dir };
        let start = Instant::now();
        while nginx.requests().is_err() {
            if start.elapsed() > START_TIMEOUT {
                return Err("nginx did not answer within 10 s".into());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(nginx)
    }

    /// `http://127.0.0.1:PORT`.
    pub(crate) fn base(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Requests answered since the start, this one included.
    pub(crate) fn requests(&self) -> Result<u64, Failure> {
        let mut stream = TcpStream::connect(self.address).map_err(|error| format!("nginx: {error}"))?;
        let mut page = String::new();
        stream
            .write_all(b"GET /status HTTP/1.0\r\n\r\n")
            .and_then(|()| stream.read_to_string(&mut page))
            .map_err(|error| format!("nginx: {error}"))?;
        // "server accepts handled requests" and below it three numbers.
        let numbers = page.lines().skip_while(|line| !line.starts_with("server accepts")).nth(1);
        let requests = numbers.and_then(|line| line.split_whitespace().nth(2)?.parse().ok());
        requests.ok_or_else(|| format!("nginx's status is not as expected: {page}").into())
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        self.child.take().into_iter().for_each(child::end);
    }
}

fn free_port() -> Result<SocketAddr, Failure> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0));
    Ok(listener.and_then(|listener| listener.local_addr()).map_err(|error| format!("a port: {error}"))?)
}

fn configuration(dir: &Path, address: SocketAddr) -> String {
    let mut canned = String::new();
    for answer in &answers::ANSWERS {
        let cookie = answer.cookie.map(|cookie| format!("add_header Set-Cookie '{cookie}';"));
        // Writing to a String can't fail.
        let _ = writeln!(
            canned,
            "location = {} {{ default_type text/html; {} return 200 '{}'; }}",
            answer.path,
            cookie.unwrap_or_default(),
            answers::body(answer)
        );
    }
    let temporary: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map(|name| format!("{name}_temp_path {}/{name};\n", dir.display()))
        .concat();
    format!(
        "daemon off; master_process off; pid {dir}/pid; error_log {dir}/error.log;\n\
         events {{ worker_connections 4096; }}\n\
         http {{\n{temporary}access_log off; sendfile on; tcp_nopush on; keepalive_requests 1000000000;\n\
         open_file_cache max=100;\n\
         server {{ listen {address} backlog=4096; root {dir}; default_type text/plain;\n\
         location = /status {{ stub_status; }}\n{canned}}} }}\n",
        dir = dir.display()
    )
}
