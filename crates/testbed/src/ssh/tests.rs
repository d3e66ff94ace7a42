use std::io::Write;
use std::process::{Command, Stdio};

use super::script::{check_name, command_line, quoted, script};
use super::text::clean;
use super::{SshHost, facts};

#[test]
fn a_destination_that_is_an_option_or_a_command_is_refused() {
    for right in ["load1", "me@load-1.example", "10.0.0.7", "me@[fe80::1%eth0]", "ssh://me@load1:2222"] {
        assert_eq!(SshHost::new(right, None).expect(right).destination(), right);
    }
    for wrong in [
        "",
        "-oProxyCommand=touch${IFS}x",
        "me@-oProxyCommand=x",
        "@load1",
        "me@",
        "load 1",
        "load1\n",
        "a;b",
        "$(a)",
        "`a`",
        "a'b",
        "a\u{1b}[2Jb",
        "a|b",
    ] {
        let said = SshHost::new(wrong, None).expect_err(wrong).to_string();
        assert!(said.contains("no destination of ssh") && !said.contains('\u{1b}'), "{said}");
    }
}

#[test]
fn names_that_lead_out_of_the_folder_are_refused() {
    for right in ["a", "fleets/lab/creds", "it's \"odd\" $HOME", "-rf", "..a"] {
        check_name(right).expect(right);
    }
    for wrong in ["", "/etc/passwd", "..", "a/../../b", "a//b", "a/", "./a", "a\nb", "a\0b"] {
        check_name(wrong).expect_err(wrong);
    }
}

/// What the shell at hand makes of a script and what follows it.
fn run(script: &str, content: &[u8]) -> (Option<i32>, String) {
    let mut shell = Command::new("sh")
        .args(["-c", &command_line(script)])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("a shell");
    let mut input = shell.stdin.take().expect("an input");
    // One that ends early has closed it.
    _ = input.write_all(&[script.as_bytes(), content].concat());
    drop(input);
    let output = shell.wait_with_output().expect("an end");
    (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
}

#[test]
fn values_and_content_reach_a_script_unchanged() {
    let odd = "it's \"odd\" $HOME `id` \\ * \n ü !";
    let made = script(&[("value", odd)], "printf '%s|' \"$value\"; cat").expect("a script");
    let (code, output) = run(&made, b"'$content\n");
    assert_eq!(code, Some(0));
    assert_eq!(output, format!("plimsoll-begin\n{odd}|'$content\nplimsoll-end\n"));
    script(&[("value", "a\0b")], "").expect_err("no shell has zero bytes");
    assert_eq!(quoted("a'b"), r"'a'\''b'");
}

#[test]
fn a_script_that_does_not_arrive_whole_does_nothing() {
    let made = script(&[], "echo done").expect("a script");
    for length in (1..made.len() - 2).step_by(7) {
        let (code, output) = run(&made[..length], b"");
        assert!(code != Some(0) && output.is_empty(), "{length}: {code:?} {output:?}");
    }
}

#[test]
fn another_machine_s_words_are_shown_without_control_characters() {
    let words = b"first\n\n\x1b]0;title\x07red\x1b[31m\r\nlast\xff \xe2\x80\xaeturned\n";
    assert_eq!(clean(words, 2), ["]0;titlered[31m", "last\u{fffd} turned"]);
    assert_eq!(clean(&[b'a'; 10_000], 5)[0].len(), 300);
}

#[test]
fn facts_are_read_strictly() {
    let right = "machine x86_64\nkernel Linux 6.1.0\ncpus 2\nhome /h/m\ncache /h/m/.cache\nfree_kib 12\nmax_open_files 1024\n";
    let read = facts::read(right).expect("right facts");
    assert_eq!((read.cpus, read.free_bytes, read.max_open_files), (2, 12 * 1024, Some(1024)));
    assert_eq!(facts::read(&right.replace("1024", "unlimited")).expect("right").max_open_files, None);
    for (from, to, key) in [
        ("cpus 2", "cpus two", "cpus"),
        ("cpus 2", "cpus 0", "cpus"),
        ("home /h/m\n", "home h\n", "home"),
        ("free_kib 12", "free_kib ", "free_kib"),
        ("machine", "device", "machine"),
        ("max_open_files 1024\n", "", "max_open_files"),
        ("1024\n", "1024\nmore\n", "end"),
    ] {
        assert_eq!(facts::read(&right.replace(from, to)).expect_err(to), key, "{to}");
    }
}
