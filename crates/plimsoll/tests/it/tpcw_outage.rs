//! The bookstore when something between its parts is lost: the connections of its pool are cut under a measured run, and
//! Tomcat is killed behind Apache and comes back. It recovers without anybody's help, and what went wrong is counted.

use crate::bookstore::{HOME, Shop, cell};
use crate::connections::Administrator;
use crate::outage::{Started, ended, kill, server};
use crate::record::{all_failed, failed, missed, nothing_is_lost, rows};
use crate::tool::{Home, have, wait_for};
use crate::tpcw_run::{
    APACHE, BY_THEMSELVES, OPERATIONS, STATEMENTS, TOMCAT, busy, buy, follow, run, the_page_said_so,
};

#[test]
fn connections_to_the_database_that_are_cut_are_told_and_made_anew_without_a_restart() {
    if !have(TOMCAT) {
        return;
    }
    let kit = busy();
    let words = format!("--stack {TOMCAT} --mix busy --ramp-up 1s --steady 300s");
    let (running, mut followed) = follow(run(&kit, &words).arg("--qos=errors < 0.1%"), 3);
    followed.until("books were bought", |run| run.count(&["BuyConfirm"], 0).0 >= 3);
    assert_eq!(followed.count(&OPERATIONS, 0).1, 0, "no page has failed before");

    let lab = followed.run.record().id.clone();
    let tomcat = server(&lab, "org.apache.catalina.startup.Bootstrap");
    let mut administrator = Administrator::of(&lab);
    let (mut cut, mut seconds) = (0, 0);
    wait_for("pages fail", || {
        followed.read_on();
        // Once a second: the pool is given the time to fill again.
        if followed.seconds.len() > seconds {
            seconds = followed.seconds.len();
            cut += administrator.cut("tpcw");
        }
        (followed.count(&BY_THEMSELVES, 0).1 >= 5).then_some(())
    });
    assert!(cut > 0, "there were connections to cut");
    let again = followed.count_from();
    followed.until("users go on", |run| run.count(&BY_THEMSELVES, again).0 >= 20);
    followed.until("books are bought again", |run| run.count(&["BuyConfirm"], again).0 > 0);
    let (completed, failed_again) = followed.count(&BY_THEMSELVES, again);
    assert_eq!(failed_again, 0, "{completed} completed since second {again}");
    assert_eq!(server(&lab, "org.apache.catalina.startup.Bootstrap"), tomcat, "nobody started it again");

    let record = running.end().expect(105).json();
    let counted: u64 = BY_THEMSELVES.iter().map(|name| failed(&record, name, "status")).sum();
    assert!(counted >= 5, "{counted} pages were counted as failed");
    missed(&record, "errors < 0.1%");
    the_page_said_so(&record);
    // A transaction whose connection was cut is whole or not there.
    nothing_is_lost(&record, STATEMENTS);
    Home::shared().expect_nothing_left();
}

/// A run whose own stack loses a tier ends. What users see from then on shows on a stack that goes on.
#[test]
fn tomcat_that_is_killed_behind_apache_and_comes_back_is_told_and_found_again() {
    if !have(APACHE) {
        return;
    }
    let kit = busy();
    // Apache asks a server that took no connection again after a second, instead of after a minute.
    let shop = Shop::open(&format!("--stack {APACHE} --set web.retry=1"));
    let mut visitor = shop.visitor();
    let order = buy(&mut visitor);
    let words = format!("--target http://{} --mix busy --ramp-up 1s --steady 300s", shop.address);
    let (running, mut followed) = follow(run(&kit, &words).arg("--qos=errors < 0.1%"), 3);
    assert_eq!(followed.count(&OPERATIONS, 0).1, 0, "no page has failed before");

    // Whatever the lab is called: no other test has a Tomcat now.
    let pid = server("", "org.apache.catalina.startup.Bootstrap");
    let tomcat = Started::of(pid);
    kill(pid);
    followed.until("pages fail", |run| run.count(&BY_THEMSELVES, 0).1 >= 5);
    let away = visitor.get(HOME, "").status;
    assert!([502, 503].contains(&away), "a gateway says that what is behind it is away, not {away}");

    let restarted = tomcat.again();
    wait_for("the shop is open again", || (visitor.get(HOME, "").status == 200).then_some(()));
    assert_eq!(cell(&visitor.last_order(), "order"), order, "what was bought before is there");
    let again = followed.count_from();
    // Their sessions were Tomcat's memory: the numbers in their links mean nothing any more.
    followed.until("users go on", |run| run.count(&BY_THEMSELVES, again).0 >= 20);
    followed.until("books are bought again", |run| run.count(&["BuyConfirm"], again).0 > 0);
    let (completed, failed_again) = followed.count(&BY_THEMSELVES, again);
    assert_eq!(failed_again, 0, "{completed} completed since second {again}");

    let record = running.end().expect(105).json();
    let counted = all_failed(&record);
    assert!(counted >= 5, "{counted} operations were counted as failed");
    missed(&record, "errors < 0.1%");
    assert!(!rows(&record, "evidence").is_empty(), "what Apache said is kept");
    shop.end().expect(0).says("app: the server ended");
    ended(restarted);
    Home::shared().expect_nothing_left();
}
