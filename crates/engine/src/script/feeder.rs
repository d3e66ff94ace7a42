//! Rows of a kit's files, dealt out to sessions: `feed.NAME()`.

mod rows;

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use mlua::Lua;
use model::kit::{FeedMode, OnEnd};
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
    /// Rows that this thread has given to anybody.
    given: Cell<usize>,
    /// Rows that each user has been given, by the user's number.
    given_to: RefCell<FxHashMap<u32, usize>>,
}

/// Defines `feed` in `lua`.
pub(crate) fn install(lua: &Lua, host: &SharedHost, feeders: &[Feeder]) -> mlua::Result<()> {
    let feed = lua.create_table()?;
    for feeder in feeders {
        let dealer = Dealer {
            feeder: feeder.clone(),
            host: Rc::clone(host),
            given: Cell::new(0),
            given_to: RefCell::default(),
        };
        feed.raw_set(feeder.name.as_str(), define(lua, &Rc::new(dealer), give)?)?;
    }
    lua.globals().raw_set("feed", feed)
}

fn give<'a>(dealer: &'a Dealer, _call: Call<'a>) -> Result<Answer<'a>, Fault> {
    let Feeder { name, rows, mode, on_end } = &dealer.feeder;
    let place = match mode {
        FeedMode::Unique | FeedMode::Shared => {
            let (worker, workers) = dealer.host.borrow().thread;
            let nth = dealer.given.replace(dealer.given.get() + 1);
            worker + nth * workers
        }
        FeedMode::PerUser => {
            let user = dealer.host.borrow().visit.as_ref().map_or(1, |visit| visit.user_number);
            let mut given_to = dealer.given_to.borrow_mut();
            let nth = given_to.entry(user).or_default();
            *nth += 1;
            // Each user begins at its own number, and has had them all after one round.
            if *nth > rows.len() && *on_end == OnEnd::Stop { usize::MAX } else { user as usize + *nth - 2 }
        }
    };
    let repeats = *mode == FeedMode::PerUser || (*mode == FeedMode::Shared && *on_end == OnEnd::Repeat);
    if place == usize::MAX || (!repeats && place >= rows.len()) {
        let whose = if *mode == FeedMode::PerUser { "this user has" } else { "sessions have" };
        return Err(Fault::new(format!(
            "feeder `{name}` is used up: {whose} been given all of its {} rows; it needs more of them",
            rows.len()
        )));
    }
    rows.row(place % rows.len().max(1)).ok_or_else(|| Fault::new(format!("feeder `{name}` has no rows")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::host::Host;

    #[test]
    fn threads_deal_out_every_row_once_between_them() {
        let rows =
            Arc::new(Rows::read("n.json", br#"[{"n":0},{"n":1},{"n":2},{"n":3},{"n":4}]"#).expect("right"));
        let mut given = Vec::new();
        for worker in 0..3 {
            let host = Rc::new(RefCell::new(Host::new(1, false)));
            host.borrow_mut().thread = (worker, 3);
            let lua = Lua::new();
            let name = "rows".to_string();
            let feeder =
                Feeder { name, rows: Arc::clone(&rows), mode: FeedMode::Unique, on_end: OnEnd::Stop };
            install(&lua, &host, &[feeder]).expect("it can be installed");
            while let Ok(n) = lua.load("return feed.rows().n").eval::<i64>() {
                given.push(n);
            }
        }
        assert_eq!(given, [0, 3, 1, 4, 2]);
    }
}
