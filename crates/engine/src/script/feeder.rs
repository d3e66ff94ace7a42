//! Rows of a kit's files, dealt out to sessions: `feed.NAME()`.

mod rows;

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use mlua::Lua;
use model::catalogue::kit::{FeedMode, OnEnd};
use rustc_hash::FxHashMap;

pub use rows::Rows;

use super::calls::SharedHost;
use super::stack::{Answer, Call, Fault, define};

/// A feeder, ready to be dealt out.
#[derive(Debug, Clone)]
pub struct Feeder {
    /// `feed.NAME`.
    pub name: String,
    /// Read once, shared by all threads.
    pub rows: Arc<Rows>,
    /// Who is given which rows.
    pub mode: FeedMode,
    /// What happens when there is none left.
    pub on_end: OnEnd,
}

/// A feeder as one thread deals it out.
struct Dealer {
    feeder: Feeder,
    host: SharedHost,
    /// What each place's user has been given.
    given_to: RefCell<FxHashMap<u32, Given>>,
}

/// How many rows a user has been given.
#[derive(Debug, Clone, Copy, Default)]
struct Given {
    draw_index: u32,
    rows: u64,
}

impl Dealer {
    /// The user whose session asks, how many rows it has been given before, and among how many users rows are dealt out.
    /// None of that depends on the number of threads, nor on who was quicker.
    fn next(&self) -> Result<(u64, u64, u64), Fault> {
        let mut host = self.host.borrow_mut();
        let session = &host.turn("feed.NAME()")?.session;
        let (place, draw_index) = (session.user_number, session.draw_index);
        let mut given_to = self.given_to.borrow_mut();
        let given = given_to.entry(place).or_default();
        if given.draw_index != draw_index {
            *given = Given { draw_index, rows: 0 };
        }
        let before = given.rows;
        given.rows += 1;
        Ok((draw_index.into(), before, host.people))
    }
}

/// Defines `feed` in `lua`.
pub(crate) fn install(lua: &Lua, host: &SharedHost, feeders: &[Feeder]) -> mlua::Result<()> {
    let feed = lua.create_table()?;
    for feeder in feeders {
        let dealer = Dealer { feeder: feeder.clone(), host: Rc::clone(host), given_to: RefCell::default() };
        feed.raw_set(feeder.name.as_str(), define(lua, &Rc::new(dealer), give)?)?;
    }
    lua.globals().raw_set("feed", feed)
}

fn give<'a>(dealer: &'a Dealer, _call: Call<'a>) -> Result<Answer<'a>, Fault> {
    let Feeder { name, rows, mode, on_end } = &dealer.feeder;
    let (user, before, people) = dealer.next()?;
    let length = rows.len().max(1) as u64;
    let (number, round) = match mode {
        // Each user deals itself every n-th row from its own number on.
        FeedMode::Unique | FeedMode::Shared => {
            let number = user + before * people;
            (number, number / length)
        }
        // Each user begins at its own number, and has had them all after one round.
        FeedMode::PerUser => (user % length + before, before / length),
    };
    if round > 0 && (*mode == FeedMode::Unique || *on_end == OnEnd::Stop) {
        return Err(used_up(name, *mode, rows.len(), people));
    }
    // Where rows are shared a user goes one further on once it has had all rows that are as far apart as there are users: else it
    // would be given the same ones again and again.
    let apart = gcd(people, length);
    let shift = if *mode == FeedMode::Shared { before / (length / apart) % apart } else { 0 };
    let row = ((number + shift) % length) as usize;
    rows.row(row).ok_or_else(|| Fault::new(format!("feeder `{name}` has no rows")))
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

fn used_up(name: &str, mode: FeedMode, rows: usize, people: u64) -> Fault {
    let why = match mode {
        FeedMode::PerUser => format!("this user has been given all of its {rows} rows"),
        _ => format!(
            "of its {rows} rows none is left for this user: each of {people} is given every {people}th"
        ),
    };
    Fault::new(format!("feeder `{name}` is used up: {why}; it needs more of them"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::active_session::ActiveSession;
    use crate::recorder::Recorder;
    use crate::script::host::{Host, Turn};

    /// A turn of the user in place `place` (0-based) who draws as number `draw_index`.
    fn turn(place: u32, draw_index: u32) -> Option<Turn> {
        let mut session = ActiveSession::new(place + 1, 0, 0, 0);
        session.draw_index = draw_index;
        Some(Turn::new(Box::new(session), Box::new(Recorder::new(false)), 0))
    }

    /// What each of `people` users is given by `calls` calls, where their places are those of `threads` threads.
    fn rows_given(
        mode: FeedMode,
        on_end: OnEnd,
        (people, calls): (u32, usize),
        threads: u32,
    ) -> Vec<Vec<i64>> {
        let rows =
            Arc::new(Rows::read("n.json", br#"[{"n":0},{"n":1},{"n":2},{"n":3},{"n":4}]"#).expect("right"));
        let mut given = vec![Vec::new(); people as usize];
        for thread in 0..threads {
            let host = Rc::new(RefCell::new(Host::new(people, people.into(), Rc::default())));
            let lua = Lua::new();
            let feeder = Feeder { name: "rows".to_string(), rows: Arc::clone(&rows), mode, on_end };
            install(&lua, &host, &[feeder]).expect("it can be installed");
            for user in (thread..people).step_by(threads as usize) {
                host.borrow_mut().turn = turn(user, user);
                let calls = (0..calls).map_while(|_| lua.load("return feed.rows().n").eval::<i64>().ok());
                given[user as usize] = calls.collect();
            }
        }
        given
    }

    #[test]
    fn who_is_given_which_rows_does_not_depend_on_the_number_of_threads() {
        let modes = [
            (FeedMode::Unique, OnEnd::Stop),
            (FeedMode::Shared, OnEnd::Repeat),
            (FeedMode::PerUser, OnEnd::Repeat),
        ];
        for (mode, on_end) in modes {
            let alone = rows_given(mode, on_end, (4, 7), 1);
            for threads in [2, 4] {
                assert_eq!(rows_given(mode, on_end, (4, 7), threads), alone, "{mode:?}, {threads} threads");
            }
        }
    }

    #[test]
    fn users_deal_out_every_row_once_between_them() {
        let unique = rows_given(FeedMode::Unique, OnEnd::Stop, (3, 9), 1);
        assert_eq!(unique, [vec![0, 3], vec![1, 4], vec![2]]);
        // As many users as rows: each round begins one further on, so that everybody sees all of them.
        let shared = rows_given(FeedMode::Shared, OnEnd::Repeat, (5, 5), 2);
        assert_eq!(shared[0], [0, 1, 2, 3, 4]);
        assert_eq!(shared[3], [3, 4, 0, 1, 2]);
    }

    #[test]
    fn a_user_is_given_all_shared_rows_before_any_of_them_again() {
        for people in 1..=12_u32 {
            let shared = rows_given(FeedMode::Shared, OnEnd::Repeat, (people, 5), 1);
            for (user, mut rows) in shared.into_iter().enumerate() {
                rows.sort_unstable();
                assert_eq!(rows, [0, 1, 2, 3, 4], "user {user} of {people}");
            }
        }
    }

    #[test]
    fn who_comes_to_another_s_place_is_given_rows_of_its_own() {
        let rows = Arc::new(Rows::read("n.json", br#"[{"n":0},{"n":1},{"n":2},{"n":3}]"#).expect("right"));
        let host = Rc::new(RefCell::new(Host::new(1, 2, Rc::default())));
        let lua = Lua::new();
        let (mode, on_end) = (FeedMode::Unique, OnEnd::Stop);
        install(&lua, &host, &[Feeder { name: "rows".to_string(), rows, mode, on_end }]).expect("installed");
        for (arrival, expected) in [(0, [0, 2]), (1, [1, 3])] {
            host.borrow_mut().turn = turn(0, arrival);
            let call = || lua.load("return feed.rows().n").eval::<i64>().expect("a row");
            assert_eq!([call(), call()], expected, "arrival {arrival}");
        }
    }
}
