//! A plimsoll that is killed while it builds an application: nothing of the build runs on, whoever else is killed with it,
//! and the next start builds anew.

use std::fs;
use std::process::Command;

use crate::building::{STACK, kept_names, shop, up};
use crate::outage::kill;
use crate::tool::{Home, have, wait_for};

/// Where it is told to linger, it starts a process that leaves its session, and neither ends by itself.
const SCRIPT: &str = "\
if [ -n \"$LINGERS\" ]; then
    setsid sh -c 'echo $$ > grandchild.pid; exec sleep 1000' &
    sleep 1000
fi
mkdir -p out/site
cp front.txt out/site/index.html
";

/// The number of the build's grandchild, once it has told it.
fn grandchild(home: &Home) -> Option<u32> {
    let half = kept_names(home).into_iter().find(|name| name.starts_with(".half-shop-"))?;
    let told = fs::read_to_string(home.path().join("built").join(half).join("source/grandchild.pid")).ok()?;
    told.strip_suffix('\n')?.parse().ok()
}

/// Whether it runs: neither a zombie nor another process that has its number now.
fn sleeps(pid: u32) -> bool {
    fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|words| words == b"sleep\x001000\x00")
}

/// The process that ends a lab of this home when its tool has died.
#[track_caller]
fn keeper(home: &Home) -> u32 {
    let folder = home.path().to_string_lossy().into_owned();
    let entries = fs::read_dir("/proc").expect("/proc is there").flatten();
    let mut pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let keeps = |pid: &u32| {
        let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let words = String::from_utf8_lossy(&words).replace('\0', " ");
        words.contains(" keeper ") && words.contains(&folder)
    };
    pids.find(keeps).expect("a lab has a keeper")
}

#[test]
fn nothing_of_a_build_outlives_a_plimsoll_that_is_killed_and_the_next_one_builds_anew() {
    if !have(STACK) {
        return;
    }
    for keeper_too in [false, true] {
        let home = Home::empty();
        let kit = shop(SCRIPT);
        let lingering =
            home.plimsoll("up shop --catalogue").arg(kit.path()).before(|command: &mut Command| {
                command.env("LINGERS", "yes");
            });
        let building = lingering.start().until_dropped();
        let grandchild = wait_for("the build's grandchild tells its number", || grandchild(&home));
        wait_for("it sleeps", || sleeps(grandchild).then_some(()));
        if keeper_too {
            kill(keeper(&home));
        }
        assert_eq!(building.kill().code, None, "killed by a signal");
        if keeper_too {
            assert!(sleeps(grandchild), "nobody is left who could end it, or the next start is not tested");
        } else {
            wait_for("the keeper has ended all of it", || home.servers().is_empty().then_some(()));
            assert!(!sleeps(grandchild), "it has left its session, and not the lab");
        }

        let (page, said) = up(&home, &kit);
        assert!(page.contains("the front page") && said.contains("building the application"), "{said}");
        assert_eq!(said.contains("removed what 1 killed run(s) had left behind"), keeper_too, "{said}");
        assert!(!sleeps(grandchild), "the next start ends what is left");
        let left = kept_names(&home);
        assert!(
            left.len() == 1 && left[0].starts_with("shop-"),
            "the application and no half of one: {left:?}"
        );
        home.expect_nothing_left();
    }
}
