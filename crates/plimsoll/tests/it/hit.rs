//! One request repeated: counted exactly, judged honestly.

use std::fs;
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use engine::null_server::NullServer;
use serde_json::Value as Json;
use tempfile::TempDir;
use testkit::ending::skip;

use crate::tool::{Finished, Home, wait_for};

fn hit(words: &str) -> Finished {
    Home::shared().plimsoll(&format!("hit {words}")).run()
}

fn count(record: &Json, field: &str) -> u64 {
    record[field].as_u64().unwrap_or_else(|| panic!("no {field} in {record:#}"))
}

/// Valid or not valid: how fast the machine is today is not what is asked here.
#[track_caller]
fn judged(ended: Finished) -> Json {
    let code = if ended.code == Some(3) { 3 } else { 0 };
    ended.expect(code).json()
}

#[test]
fn as_many_requests_are_reported_as_the_server_answered() {
    for length in ["-d 2s", "-n 5000", "-n 7"] {
        let server = NullServer::start(None).expect("a loopback port");
        let record = judged(hit(&format!("http://{}/ -c 20 {length} --json", server.address())));
        assert_eq!(count(&record, "requests"), server.served(), "{length}: {record:#}");
        assert_eq!(count(&record, "completed"), server.served(), "{length}: {record:#}");
        assert!(count(&record, "connects") <= 20, "{length}: {record:#}");
    }
}

#[test]
fn a_number_of_requests_is_kept_to_whatever_the_number_of_connections() {
    let server = NullServer::start(None).expect("a loopback port");
    let record = judged(hit(&format!("http://{}/ -c 64 -n 1003 --threads 1 --json", server.address())));
    assert_eq!((count(&record, "requests"), server.served()), (1003, 1003));
}

/// A private nginx that writes a line for every request; ended when dropped.
struct Nginx {
    child: Child,
    dir: TempDir,
    port: u16,
    tls_port: u16,
}

impl Nginx {
    fn start() -> Option<Nginx> {
        // The system's, or the one that was unpacked for the stacks.
        let unpacked = Home::shared().path().join("programs/nginx/usr/sbin/nginx");
        let places = ["/usr/sbin/nginx".into(), "/usr/bin/nginx".into(), unpacked];
        let program: PathBuf = places.into_iter().find(|path: &PathBuf| path.exists())?;
        let dir = tempfile::tempdir().expect("a temporary directory");
        let (port, tls_port) = (free_port(), free_port());
        let path = dir.path().display();
        let text = format!(
            "daemon off; master_process off; pid {path}/pid; error_log {path}/error.log;\n\
             events {{ worker_connections 512; }}\n\
             http {{ access_log {path}/access.log; client_body_temp_path {path}/body; proxy_temp_path {path}/proxy;\n\
             fastcgi_temp_path {path}/fastcgi; uwsgi_temp_path {path}/uwsgi; scgi_temp_path {path}/scgi;\n\
             keepalive_requests 100000000; server {{ listen 127.0.0.1:{port}; location / {{ return 200 hello; }}\n\
             location /missing {{ return 404; }} }}\n\
             server {{ listen 127.0.0.1:{tls_port} ssl; ssl_certificate cert.pem; ssl_certificate_key key.pem;\n\
             location / {{ return 200 hello; }} }} }}\n"
        );
        let pair = rcgen::generate_simple_self_signed(vec!["localhost".to_string()]).expect("a certificate");
        fs::write(dir.path().join("cert.pem"), pair.cert.pem()).expect("the certificate is written");
        fs::write(dir.path().join("key.pem"), pair.signing_key.serialize_pem()).expect("its key is written");
        fs::write(dir.path().join("nginx.conf"), text).expect("the configuration is written");
        let child = Command::new(program)
            .args(["-p", &path.to_string(), "-c", "nginx.conf", "-e", "error.log"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("nginx starts");
        let nginx = Nginx { child, dir, port, tls_port };
        wait_for("nginx listens", || std::net::TcpStream::connect(("127.0.0.1", port)).ok());
        Some(nginx)
    }

    /// Requests logged, once the log has been written out.
    fn logged(mut self) -> u64 {
        self.end();
        let text = fs::read_to_string(self.dir.path().join("access.log")).expect("nginx wrote a log");
        text.lines().count() as u64
    }

    fn end(&mut self) {
        let pid = rustix::process::Pid::from_raw(self.child.id() as i32).expect("a process number");
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::QUIT);
        let _ = self.child.wait();
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a loopback port");
    listener.local_addr().expect("it is bound").port()
}

#[test]
fn an_access_log_has_a_line_for_each_request_reported() {
    let Some(nginx) = Nginx::start() else {
        skip("nginx is not installed");
        return;
    };
    let record = judged(hit(&format!("http://127.0.0.1:{}/ -c 10 -d 2s --json", nginx.port)));
    assert_eq!(count(&record, "requests"), nginx.logged(), "{record:#}");
}

#[test]
fn answers_of_a_bad_status_are_requests_and_errors() {
    let Some(nginx) = Nginx::start() else {
        skip("nginx is not installed");
        return;
    };
    let ended = hit(&format!("http://127.0.0.1:{}/missing -c 5 -n 40 --json", nginx.port)).expect(3);
    let record = ended.json();
    assert_eq!((count(&record, "requests"), count(&record, "unanswered")), (40, 0), "{record:#}");
    assert_eq!((record["errors"]["status"].as_u64(), nginx.logged()), (Some(40), 40), "{record:#}");
    assert_eq!(record["statuses"], serde_json::json!({ "404": 40 }), "{record:#}");
}

#[test]
fn handshakes_and_resumptions_are_counted_and_timed() {
    let Some(nginx) = Nginx::start() else {
        skip("nginx is not installed");
        return;
    };
    let url =
        format!("https://127.0.0.1:{}/ --insecure --connection per-request --threads 1", nginx.tls_port);
    let record = judged(hit(&format!("{url} -c 1 -n 20 --json")));
    let wire = |field| count(&record["wire"], field);
    // The first connection has no session to resume, all others resume that of one before.
    assert_eq!((wire("handshakes"), wire("resumptions")), (20, 19), "{record:#}");
    assert_eq!(count(&record["phases"]["tls"], "count"), 20, "{record:#}");
    let text = hit(&format!("{url} -c 1 -n 20")).stdout;
    for part in ["20 TLS handshakes (19 resumed)", "  TLS "] {
        assert!(text.contains(part), "{part} is missing in:\n{text}");
    }
}

#[test]
fn requests_arrive_at_the_rate_that_was_asked_for_whoever_has_time() {
    let server = NullServer::start(None).expect("a loopback port");
    let hit = |words: &str| hit(&format!("http://{}/ {words}", server.address()));
    let record = judged(hit("--rate 300/s --arrivals constant -d 2s --json"));
    assert!((599..=601).contains(&count(&record, "requests")), "{record:#}");
    assert_eq!(count(&record, "requests"), server.served(), "{record:#}");
    assert_eq!(record["statuses"], serde_json::json!({ "200": server.served() }), "{record:#}");
    assert_eq!(record["arrivals"]["pattern"], "constant", "{record:#}");
    let parts =
        [count(&record["phases"]["first_byte"], "count"), count(&record["phases"]["connect"], "count")];
    assert_eq!(parts, [count(&record, "requests"), count(&record, "connects")], "{record:#}");
    let record = judged(hit("--rate 400/s -n 500 --json"));
    assert_eq!(count(&record, "requests"), 500, "{record:#}");
    let text = hit("--rate 100:500/s -d 1s").stdout;
    for part in ["arrivals     100 to 500 requests/s at random (Poisson), over at most 1 000", "first byte"] {
        assert!(text.contains(part), "{part} is missing in:\n{text}");
    }
}

#[test]
fn a_rate_that_the_connections_can_not_carry_is_no_result() {
    let server = NullServer::start(None).expect("a loopback port");
    let said = hit(&format!("http://{}/ --rate 1000000/s -c 1 -d 1s", server.address())).expect(3).stdout;
    let in_one_line = said.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in ["arrivals as asked for", "only when one of 1 users was free", "allow more users (-c)"] {
        assert!(in_one_line.contains(part), "{part} is missing in:\n{said}");
    }
}

/// wrk counts what it had read when its time was up; what was under way then is the server's surplus.
#[test]
fn wrk_and_the_server_agree_as_far_as_wrk_can() {
    let server = NullServer::start(None).expect("a loopback port");
    let url = format!("http://{}/", server.address());
    let Ok(output) = Command::new("wrk").args(["-t1", "-c10", "-d2s", &url]).output() else {
        skip("wrk is not installed");
        return;
    };
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let requests: u64 = said
        .lines()
        .find_map(|line| line.trim().split_once(" requests in "))
        .and_then(|(count, _)| count.parse().ok())
        .unwrap_or_else(|| panic!("wrk said no number of requests:\n{said}"));
    let surplus = server.served().saturating_sub(requests);
    assert!(
        server.served() >= requests && surplus <= 10,
        "{} served, {requests} by wrk\n{said}",
        server.served()
    );
}

#[test]
fn what_can_not_be_asked_for_is_said_before_anything_starts() {
    for (words, expected) in [
        ("http://192.0.2.1/", "--allow-target 192.0.2.1"),
        ("localhost:80", "is not a scheme"),
        ("http://127.0.0.1:1/", "failed to connect"),
        ("http://127.0.0.1:1/ -d 10ms", "1 s or more"),
        ("http://127.0.0.1:1/ -n 5 -d 3s", "cannot be used with"),
        ("http://127.0.0.1:1/ --rate 5x", "--rate: `x` is not a unit of rates"),
        ("http://127.0.0.1:1/ --rate 5:10 -n 5", "a rate rises over a time"),
        ("http://127.0.0.1:1/ --arrivals constant", "--rate"),
        ("http://127.0.0.1:1/ --unix /nowhere --source ::1", "has no source address"),
    ] {
        hit(words).expect(2).says(expected);
    }
}

#[test]
fn a_record_is_as_its_schema_says_and_people_read_the_same() {
    let server = NullServer::start(None).expect("a loopback port");
    let said = hit(&format!("http://{}/x -c 3 -d 1s", server.address()));
    let (word, rate) = if said.code == Some(0) { ("VALID", "requests/s") } else { ("NOT VALID", "/s\n") };
    for part in [word, rate, "response", "3 opened", "of CPU per request", "send lag"] {
        assert!(said.stdout.contains(part), "{part} is missing in:\n{}", said.stdout);
    }
}

#[test]
fn an_interrupted_hit_tells_what_it_saw() {
    let server = NullServer::start(None).expect("a loopback port");
    let running =
        Home::shared().plimsoll(&format!("hit http://{}/ -c 3 -d 100s --json", server.address())).start();
    wait_for("requests arrive", || (server.served() > 100).then_some(()));
    running.signal(rustix::process::Signal::INT);
    let record = running.wait().expect(105).json();
    assert_eq!(
        (record["outcome"].as_str(), count(&record, "requests")),
        (Some("interrupted"), server.served())
    );
}
