//! What ssh says when it can't, and that nobody waits for ever.

use std::fs;
use std::net::TcpListener;
use std::time::{Duration, Instant};

use testbed::ssh::SshHost;

use crate::ssh::{broken_copy, clients, host, names_in, program};
use crate::sshd::Machines;
use crate::waiting::wait_until;

fn refusal(host: &SshHost) -> String {
    let said = host.facts().expect_err("it can't be reached").to_string();
    assert!(said.contains(host.destination()) && said.contains("try: "), "{said}");
    assert_eq!(clients(), [0; 0], "no ssh is left: {said}");
    said
}

#[test]
fn a_host_that_nobody_knows_a_port_where_nobody_listens_and_a_refused_key_are_told_apart() {
    let Some(machines) = Machines::start(&["load1"]) else { return };
    machines.add_alias("nowhere", "HostName no-such-host.invalid");
    let said = refusal(&host(&machines, "nowhere"));
    assert!(said.contains("no connection to nowhere") && said.contains("resolve"), "{said}");
    let refusing = testkit::origin::Refusing::start().expect("a port");
    machines.add_alias("closed", &format!("HostName 127.0.0.1\nPort {}", refusing.address().port()));
    let said = refusal(&host(&machines, "closed"));
    assert!(said.contains("Connection refused") && said.contains("sshd listen"), "{said}");
    let stranger = machines.path("stranger");
    let lines = format!(
        "HostName 127.0.0.1\nPort {}\nHostKeyAlias load1\nIdentityFile \"{}\"",
        machines.port("load1"),
        stranger.display()
    );
    machines.add_alias("stranger", &lines);
    let said = refusal(&host(&machines, "stranger"));
    assert!(said.contains("Permission denied") && said.contains("without a password"), "{said}");
    assert!(said.contains("`ssh -F '") && said.contains("stranger true`"), "{said}");
}

#[test]
fn a_host_with_another_key_or_an_unknown_one_is_refused() {
    let Some(machines) = Machines::start(&["load1"]) else { return };
    machines.write_known_hosts("stranger.pub");
    let said = refusal(&host(&machines, "load1"));
    assert!(
        said.contains("Host key verification failed") && said.contains("compare the host's key"),
        "{said}"
    );
    fs::write(machines.path("known_hosts"), "").expect("a write");
    let said = refusal(&host(&machines, "load1"));
    assert!(said.contains("Host key verification failed"), "nobody is asked: {said}");
}

#[test]
fn an_sshd_that_dies_in_the_middle_is_told_as_a_broken_connection() {
    let Some(mut machines) = Machines::start(&["load1"]) else { return };
    let (file, sha256) = program(&machines, 32 * 1024);
    let load1 = host(&machines, "load1");
    let bin = machines.cache("load1").join("plimsoll/bin");
    let said = broken_copy(&load1, (&file, &sha256), &bin, || machines.kill_sshd("load1"));
    assert!(said.contains("the connection to load1 broke while trying to copy"), "{said}");
    wait_until("the removal of the half copy", || names_in(&bin).is_empty());
}

#[test]
fn a_host_that_never_answers_is_given_up_at_the_deadline_with_all_that_ssh_has_started() {
    let Some(machines) = Machines::start(&["load1"]) else { return };
    let silent = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = silent.local_addr().expect("an address").port();
    machines.add_alias("silent", &format!("HostName 127.0.0.1\nPort {port}"));
    let short = Duration::from_secs(1);
    let long = Duration::from_secs(60);
    let start = Instant::now();
    let said = refusal(&host(&machines, "silent").with_timeouts(long, short));
    assert!(said.contains("silent did not answer within 1 s"), "{said}");
    // Its own timeout, by which it says why.
    let said = refusal(&host(&machines, "silent").with_timeouts(short, long));
    assert!(said.contains("no connection to silent") && said.contains("timed out"), "{said}");
    // With a helper, which has to go too.
    let pid = machines.path("pid");
    machines.add_alias(
        "helped",
        &format!("ProxyCommand sh -c 'echo $$ > \"{}\"; exec sleep 1000'", pid.display()),
    );
    let said = refusal(&host(&machines, "helped").with_timeouts(long, short));
    assert!(said.contains("did not answer within 1 s"), "{said}");
    let helper = fs::read_to_string(&pid).expect("it was started");
    let helper: u32 = helper.trim().parse().expect("a number");
    wait_until("the helper's end", || {
        testbed::process::Identity::of(helper).is_none_or(|identity| !identity.runs())
    });
    assert!(start.elapsed() < Duration::from_secs(30), "nobody waits for the longer timeouts");
}

#[test]
fn what_a_startup_file_prints_is_no_answer() {
    let Some(machines) = Machines::start(&["load1"]) else { return };
    machines.allow_only("echo hello; eval \\\"$SSH_ORIGINAL_COMMAND\\\"; echo bye");
    host(&machines, "load1").facts().expect("what is printed before and after is no part of the answer");
    machines.allow_only("echo hello");
    let said = host(&machines, "load1").facts().expect_err("nobody ran the script").to_string();
    assert!(said.contains("not whole") && said.contains("startup file"), "{said}");
    machines.allow_only("echo not today >&2; exit 1");
    let said = host(&machines, "load1").facts().expect_err("nobody ran the script").to_string();
    assert!(said.contains("load1 did not run a script") && said.contains("not today"), "{said}");
}
