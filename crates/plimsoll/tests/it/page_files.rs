//! The files of a run on the page: looked into, searched, and all of them in an archive that another machine can use.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use crate::page::{OTHER, Page, RUN, home_with_runs};
use crate::tool::Home;

/// Below the log's lines there is one with what must not steer anything.
fn put_log(home: &Home) {
    let logs = home.path().join("runs").join(RUN).join("logs");
    fs::create_dir_all(&logs).expect("a directory");
    let lines: String = (1..=500).map(|number| format!("request {number} was answered\n")).collect();
    let hostile = "<script>alert(1)</script> \u{1b}[2J \u{202e}reversed\n";
    fs::write(logs.join("access.log"), lines + hostile).expect("a file");
}

/// Unpacks an archive below the runs of a home.
fn unpack(archive: &std::path::Path, home: &Home) {
    let runs = home.path().join("runs");
    fs::create_dir_all(&runs).expect("a directory");
    let tar = Command::new("tar").arg("-xzf").arg(archive).arg("-C").arg(&runs).status();
    assert!(tar.expect("tar is there").success());
}

#[test]
fn a_downloaded_archive_is_a_run_of_the_machine_that_unpacks_it() {
    let home = home_with_runs();
    put_log(&home);
    let directory = home.path().join("runs").join(RUN);
    symlink("/etc/shadow", directory.join("logs/shadow")).expect("a link");
    let fifo = Command::new("mkfifo").arg(directory.join("logs/pipe")).status();
    assert!(fifo.expect("mkfifo is there").success());
    home.plimsoll(&format!("note {RUN} --tag night --pin")).run().expect(0);
    let page = Page::start(&home, "");
    let runner = page.sign_in(page.link());
    let answer = runner.get(&format!("/runs/{RUN}/archive.tar.gz"));
    assert_eq!(answer.status, 200);
    assert_eq!(answer.head["content-type"], "application/gzip");
    assert_eq!(answer.head["content-disposition"], format!("attachment; filename=\"{RUN}.tar.gz\""));
    page.end();
    let other = Home::new();
    let archive = other.path().join("run.tar.gz");
    fs::write(&archive, &answer.body).expect("there is room");
    unpack(&archive, &other);
    let there = other.path().join("runs").join(RUN);
    assert!(!there.join("logs/shadow").exists() && !there.join("logs/pipe").exists(), "only files are in it");
    let list = other.plimsoll("runs --json --where tag:night").run().expect(0).json();
    assert_eq!(list[0]["id"], RUN, "{list:#}");
    assert_eq!(list[0]["pinned"], true);
    let shown = |home: &Home| home.plimsoll(&format!("show {RUN} --json --series")).run().expect(0).stdout;
    assert_eq!(shown(&other), shown(&home), "its database came along");
    assert_eq!(
        fs::read(there.join("logs/access.log")).expect("it is there"),
        fs::read(directory.join("logs/access.log")).expect("it is there")
    );
}

#[test]
fn an_archive_from_the_terminal_is_the_same_run_and_overwrites_nothing() {
    let (home, other) = (home_with_runs(), Home::new());
    let archive = other.path().join("run.tar.gz");
    let export = || home.plimsoll("export --archive").arg(archive.to_str().expect("UTF-8")).arg(OTHER).run();
    export().expect(0).says(OTHER);
    export().expect(2).says("failed to write the archive");
    unpack(&archive, &other);
    other.plimsoll(&format!("show {OTHER}")).run().expect(0).says("FAILED");
}

#[test]
fn a_log_opens_at_its_end_is_searched_by_words_and_steers_nothing() {
    let home = home_with_runs();
    put_log(&home);
    let page = Page::start(&home, "");
    let runner = page.sign_in(page.link());
    let files = runner.text(&format!("/runs/{RUN}/files")).replace("&#x2f;", "/");
    assert!(files.contains(&format!("/runs/{RUN}/log/logs/access.log")), "{files}");
    let place = format!("/runs/{RUN}/log/logs/access.log");
    let end = runner.text(&place);
    assert!(end.contains("The last 200 lines") && end.contains("request 500 was answered"), "{end}");
    assert!(!end.contains("request 301 was answered") && end.contains("request 302 was answered"));
    assert!(!end.contains("<script>alert") && end.contains("&lt;script&gt;"), "{end}");
    assert!(!end.contains('\u{1b}') && !end.contains('\u{202e}'), "it steers nothing");
    let found = runner.text(&format!("{place}?find=ANSWERED+request"));
    assert!(found.contains("200 lines with") && found.contains("300 more are not shown"), "{found}");
    assert!(found.contains("<span class=\"quiet\">7</span> request 7 was answered"), "{found}");
    let one = runner.text(&format!("{place}?find=request+417+"));
    assert!(one.contains("1 line with") && one.contains("<span class=\"quiet\">417</span>"), "{one}");
    assert!(runner.text(&format!("/runs/{RUN}/log/run.sqlite")).contains("This is no text"));
    for gone in ["logs/none", "..%2f..%2fqueue.sqlite", "%2fetc%2fpasswd"] {
        assert_eq!(runner.get(&format!("/runs/{RUN}/log/{gone}")).status, 404, "{gone}");
    }
    assert!(runner.text(&format!("/runs/{RUN}/files/logs/access.log")).starts_with("request 1 was"));
    page.end();
}
