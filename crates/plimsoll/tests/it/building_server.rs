//! A service that is built from sources: once for all tiers and runs that have the same ones; what can't be built is told
//! before anything is started or measured.

use std::fs;

use tempfile::TempDir;
use testkit::ending::skip;

use crate::building::{SESSION, kept_names, up};
use crate::tool::{Home, overlay, wait_for};

/// A page on the stack `tiny`.
pub(crate) const KIT: &str = r#"
format = 1
name = "shop"
version = 1
title = "Shop"
source = "the tests"
needs = ["web+files"]
app = "app"
session = "session.lua"
front_page = "/index.html"
default_size = "one"
default_stack = "tiny"
state = { drifts = false, why = "nothing is written", reset = "none" }
sizes = { one = {} }
users = { default = 1, ramp_per_s = 1 }
mix = { visit = 1 }
qos = {}
"#;

const STACK: &str = r#"
format = 1
name = "tiny"
title = "A server of the tests, twice"
provides = ["web+files"]

[[tier]]
name = "app"
service = "tiny"

[[tier]]
name = "web"
service = "tiny"
"#;

const SERVICE: &str = r#"
format = 1
name = "tiny"
title = "Tiny"
ports = ["http"]
logs = ["logs/error.log"]
packages = { why = "it is built" }
ready = { probe = "http", within_s = 20 }
stop = { signal = "TERM", within_s = 5 }

[build]
folder = "servers/tiny"
run = ["sh", "build.sh"]
product = "out/bin"
programs = ["cc"]
packages = { install = ["gcc"], why = "to build the server of the tests" }

[program]
binary = "tiny"
args = ["{{ ports.http }}", "{{ built }}/page.txt"]
version_args = ["--version"]
known_versions = ["1."]
"#;

/// It sends the same page to everybody, one after the other.
const SERVER: &str = r#"
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv) {
    if (argc < 3) { puts("tiny 1.2"); return 0; }
    char page[512] = "", asked[4096], answer[1024];
    FILE *file = fopen(argv[2], "r");
    if (!file || !fgets(page, sizeof page, file)) return 1;
    int length = snprintf(answer, sizeof answer, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n%s", page);
    int on = 1, listener = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons(atoi(argv[1])) };
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(listener, (struct sockaddr *) &at, sizeof at) || listen(listener, 64)) return 1;
    for (;;) {
        int client = accept(listener, 0, 0);
        if (read(client, asked, sizeof asked) > 0 && write(client, answer, length) < 0) return 1;
        close(client);
    }
}
"#;

/// A product that only its user may read, as with a umask of 077.
const SCRIPT: &str = "umask 077; mkdir -p out/bin; cc -o out/bin/tiny tiny.c; cp page.txt out/bin\n";

/// The kit, and the stack whose servers that script of the shell builds.
fn shop(script: &str, service: &str) -> TempDir {
    overlay(&[
        ("kits/shop/kit.toml", KIT),
        ("kits/shop/session.lua", SESSION),
        ("kits/shop/app/index.html", "not what the server sends\n"),
        ("stacks/tiny.toml", STACK),
        ("services/tiny/service.toml", service),
        ("servers/tiny/build.sh", script),
        ("servers/tiny/tiny.c", SERVER),
        ("servers/tiny/page.txt", "a page of the sources\n"),
        ("servers/tiny/out/bin/tiny", "built by hand: no source\n"),
    ])
}

fn has_compiler() -> bool {
    let found = testbed::program::find("cc", Home::shared().path());
    found.is_some() || skip("there is no C compiler: apt-get install gcc")
}

#[test]
fn a_server_is_built_once_for_all_tiers_and_runs_that_have_the_same_sources() {
    if !has_compiler() {
        return;
    }
    let home = Home::empty();
    let (page, said) = up(&home, &shop(SCRIPT, SERVICE));
    assert_eq!(page, "a page of the sources\n");
    let line = "building the server tiny: sh build.sh (this is done once)";
    assert_eq!(said.matches(line).count(), 1, "two tiers have it: {said}");
    assert!(!said.contains("never tried here"), "it is asked for its version: {said}");

    let catalogue = shop(SCRIPT, SERVICE);
    let words = "run shop --users 2 --ramp-up 0s --steady 1s --ramp-down 0s --json --catalogue";
    let again = home.plimsoll(words).arg(catalogue.path()).run();
    assert!(!again.stderr.contains("building"), "{}", again.stderr);
    let one = kept_names(&home);
    let record = again.json();
    let tiers = record["setup"]["tiers"].as_array().expect("it has tiers");
    let built: Vec<_> = tiers.iter().filter_map(|tier| tier["built"].as_str()).collect();
    assert_eq!((one.len(), built), (1, vec![one[0].as_str(); 2]), "{record:#}");

    fs::write(catalogue.path().join("servers/tiny/page.txt"), "another page\n").expect("ours");
    let (page, said) = up(&home, &catalogue);
    assert_eq!(
        (page.as_str(), said.matches(line).count(), kept_names(&home).len()),
        ("another page\n", 1, 2),
        "{said}"
    );
    home.plimsoll("clean --datasets").run().expect(0).says("what was built");
    assert_eq!(kept_names(&home), Vec::<String>::new());
    home.expect_nothing_left();
}

#[test]
fn a_server_that_can_not_be_built_is_told_with_the_logs_end_and_nothing_is_started_or_measured() {
    if !has_compiler() {
        return;
    }
    let home = Home::empty();
    let broken = shop("cc -o tiny no-such-file.c; exit 7\n", SERVICE);
    let whole = shop(SCRIPT, SERVICE);
    let compared = format!(
        "compare default --kit shop --users 1 --catalogue {} --most-blocks 8",
        whole.path().display()
    );
    let arm = format!("catalogue:{}", broken.path().display());
    for tool in [home.plimsoll("up shop --catalogue").arg(broken.path()), home.plimsoll(&compared).arg(arm)] {
        let failed = tool
            .run()
            .expect(2)
            .says(
                "services/tiny/service.toml: build: failed to build the server: sh ended with exit status: 7",
            )
            .says("no-such-file.c")
            .says("has no program to start")
            .says("it needs gcc (to build the server of the tests)");
        assert!(
            !failed.stderr.contains("start web") && !failed.stderr.contains("trial 1"),
            "{}",
            failed.stderr
        );
    }
    assert_eq!(kept_names(&home).len(), 1, "that of the side that could be built");
    home.expect_nothing_left();
}

#[test]
fn what_building_lacks_is_told_as_a_package_before_anything_is_begun() {
    let home = Home::empty();
    let service = SERVICE.replace(r#"["cc"]"#, r#"["no-such-compiler"]"#).replace("gcc", "no-such-package");
    let catalogue = shop(SCRIPT, &service);
    let doctor = home.plimsoll("doctor --stack tiny --catalogue").arg(catalogue.path()).run();
    let option = format!("--stack tiny --catalogue {}", catalogue.path().display());
    doctor.says("stack tiny: missing: no-such-package").says(&option);
    let refused = home.plimsoll("up shop --catalogue").arg(catalogue.path()).run().expect(2);
    let refused = refused
        .says("no-such-package: to build the server of the tests")
        .says(&option)
        .says("apt-get install --no-install-recommends no-such-package");
    assert!(!refused.stderr.contains("building") && kept_names(&home).is_empty(), "{}", refused.stderr);
}

#[test]
fn a_server_that_is_being_built_when_it_is_given_up_ends_with_all_that_it_started() {
    let home = Home::empty();
    let service = SERVICE.replace(r#"programs = ["cc"]"#, "");
    let catalogue = shop("sleep 1000 &\ntouch begun\nsleep 1000\n", &service);
    let running = home.plimsoll("up shop --catalogue").arg(catalogue.path()).start().until_dropped();
    wait_for("it has begun", || {
        kept_names(&home)
            .into_iter()
            .find(|half| home.path().join("built").join(half).join("source/begun").exists())
    });
    running.end().expect(105).says("interrupted while the server tiny was built");
    assert_eq!(kept_names(&home), Vec::<String>::new(), "nothing half-made stays");
    home.expect_nothing_left();
}
