//! The clock that a session reads: seconds of its user's life, exact on virtual time.

use std::net::SocketAddr;

use engine::{Audience, Program, RunOptions, Scenario, Second, Source, run_on};
use model::catalogue::kit::{FeedMode, OnEnd};
use model::catalogue::load::{Lifetime, Load};
use model::{Distribution, Result};

use crate::session_api::feeder;
use crate::virtual_net::{MS, Reply, VirtualNet, ok};

struct Nobody;

impl Audience for Nobody {
    fn second(&mut self, _second: &Second<'_>) -> Result<()> {
        Ok(())
    }
}

/// The paths that the server is asked for in order, by users who think 1 s between sessions; an answer takes 250 ms.
fn paths(script: &str, load: Load) -> Vec<String> {
    let (clock, net, log) = VirtualNet::new(|_, _| Reply::After(250 * MS, ok("")));
    let scenario = Scenario {
        think: Some(Distribution::Fixed { value: 1.0 }),
        ..Scenario::of(Program::Script(Source::of("session.lua", script, "visit")))
    };
    let target = SocketAddr::from(([127, 0, 0, 1], 80));
    run_on(&RunOptions::of(scenario, load, target), clock, net, &mut Nobody).expect("the run works");
    let path = |text: &str| text.split(' ').nth(1).unwrap_or_default().to_string();
    log.borrow().iter().map(|(_, text)| path(text)).collect()
}

#[test]
fn the_clock_shows_when_the_last_answer_came_or_the_pause_ended() {
    let script = "function visit()
        get('/begins/' .. elapsed())
        get('/answered/' .. elapsed())
        think(2.5)
        get('/paused/' .. elapsed())
    end";
    let found = paths(script, Load { users: 1, steady_s: 6.0, ..Load::default() });
    assert_eq!(found[..3], ["/begins/0.0", "/answered/0.25", "/paused/3.0"]);
    assert_eq!(found[3], "/begins/4.25", "the user's clock runs on while it thinks");
}

#[test]
fn every_user_has_its_own_clock_and_a_new_one_begins_at_nought() {
    let script = "function visit(user) get('/' .. user.number .. '/' .. elapsed()) end";
    let of = |user: &str, all: &[String]| -> Vec<String> {
        all.iter().filter_map(|path| path.strip_prefix(user).map(str::to_string)).collect()
    };
    let two = paths(script, Load { users: 2, ramp_up_s: 3.0, steady_s: 2.0, ..Load::default() });
    let late = of("/2/", &two);
    assert_eq!(late[..2], ["0.0", "1.25"], "the second user comes later, at the beginning of its own time");
    assert_eq!(of("/1/", &two)[..2], ["0.0", "1.25"]);
    // Two sessions each: 0 and 1.25 s. The next user begins as the one before ends, and thinks first.
    let lifetime = Some(Lifetime::Sessions(Distribution::Fixed { value: 2.0 }));
    let turns = paths(script, Load { users: 1, steady_s: 6.0, lifetime, ..Load::default() });
    assert_eq!(turns[..4], ["/1/0.0", "/1/1.25", "/2/1.0", "/2/2.25"]);
}

#[test]
fn what_is_a_user_s_own_is_refused_where_there_is_no_user() {
    for call in ["elapsed()", "unique()", "count('visits')", "feed.logins()"] {
        let (clock, net, _) = VirtualNet::new(|_, _| Reply::Never);
        let text = format!("local before = {call}\nfunction visit() end");
        let mut source = Source::of("session.lua", &text, "visit");
        source.feeders = vec![feeder("logins", FeedMode::Unique, OnEnd::Stop)];
        let target = SocketAddr::from(([127, 0, 0, 1], 80));
        let options = RunOptions::of(Scenario::of(Program::Script(source)), Load::default(), target);
        let problems = run_on(&options, clock, net, &mut Nobody).expect_err("the script can't be begun");
        let text = problems.to_string();
        assert!(text.contains("session.lua:1") && text.contains("call it in a session"), "{call}: {text}");
    }
}
