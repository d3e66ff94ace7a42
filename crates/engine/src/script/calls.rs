//! The calls that a session script makes. Each one acts on the [`Host`]; those that wait for something yield.

use std::cell::RefCell;
use std::rc::Rc;

use mlua::Lua;

use super::ask;
use super::host::Host;
use super::natives;
use super::promises::State;
use super::stack::{Answer, Argument, Call, Fault, Native, define};
use crate::user_state::Scheme;

/// The host as the calls share it with the worker.
pub(crate) type SharedHost = Rc<RefCell<Host>>;

/// Defines the session API as globals of `lua`.
pub(crate) fn install(lua: &Lua, host: &SharedHost) -> mlua::Result<()> {
    let calls: [(&str, Native<RefCell<Host>>); 18] = [
        ("operation", operation),
        ("check", check),
        ("fail", fail),
        ("abandon", abandon),
        ("count", count),
        ("told", promise),
        ("unique", unique),
        ("elapsed", elapsed),
        ("think", think),
        ("get", ask::get),
        ("head", ask::head),
        ("post", ask::post),
        ("auth", auth),
        ("forget", forget),
        ("put", ask::put),
        ("delete", ask::delete),
        ("request", ask::request),
        ("parallel", ask::parallel),
    ];
    let globals = lua.globals();
    calls.iter().try_for_each(|(name, call)| globals.raw_set(*name, define(lua, host, *call)?))?;
    globals.raw_set("users", host.borrow().users())
}

fn operation<'a>(host: &'a RefCell<Host>, call: Call<'a>) -> Result<Answer<'a>, Fault> {
    let name = call.text(1).ok_or_else(|| Fault::new("operation takes a name"))?;
    host.borrow_mut().operation(name);
    Ok(Answer::Nothing)
}

fn check<'a>(host: &'a RefCell<Host>, call: Call<'a>) -> Result<Answer<'a>, Fault> {
    let holds = call.truth(1);
    if !holds {
        let name = call.text(2).map_or("unnamed".into(), String::from_utf8_lossy);
        host.borrow_mut().fail(&format!("check failed: {name}"), false);
    }
    Ok(Answer::Truth(holds))
}

/// Counts the failure, then ends the session by an error that nobody reads.
fn fail<'a>(host: &'a RefCell<Host>, call: Call<'a>) -> Result<Answer<'a>, Fault> {
    let why = call.text(1).map_or("failed".into(), String::from_utf8_lossy);
    host.borrow_mut().fail(&why, true);
    Err(Fault::new(why))
}

/// `auth(user, password, "basic" or "digest")`: the user's own until it calls it again.
fn auth<'a>(host: &'a RefCell<Host>, call: Call<'a>) -> Result<Answer<'a>, Fault> {
    let text = |number| call.text(number).and_then(|text| std::str::from_utf8(text).ok());
    let (Some(name), Some(password)) = (text(1), text(2)) else {
        return Err(Fault::new("auth takes a user's name and a password"));
    };
    let scheme = match call.argument(3) {
        Argument::Nil | Argument::Text(b"basic") => Scheme::Basic,
        Argument::Text(b"digest") => Scheme::Digest,
        _ => return Err(Fault::new("auth's third argument is \"basic\" or \"digest\"")),
    };
    host.borrow_mut().log_in(name, password, scheme).map_err(Fault::new)?;
    Ok(Answer::Nothing)
}

/// `forget()`: from now on the user is a new visitor. Its `user` table stays.
fn forget<'a>(host: &'a RefCell<Host>, _call: Call<'a>) -> Result<Answer<'a>, Fault> {
    host.borrow_mut().forget();
    Ok(Answer::Nothing)
}

fn abandon<'a>(host: &'a RefCell<Host>, _call: Call<'a>) -> Result<Answer<'a>, Fault> {
    host.borrow_mut().abandon();
    Ok(Answer::Nothing)
}

fn count<'a>(host: &'a RefCell<Host>, call: Call<'a>) -> Result<Answer<'a>, Fault> {
    let name = call.text(1).and_then(|name| std::str::from_utf8(name).ok());
    let name = name.ok_or_else(|| Fault::new("count takes a name"))?;
    let n = match call.argument(2) {
        Argument::Nil => 1,
        Argument::Integer(n @ 0..) => n as u64,
        Argument::Number(n) if n.fract() == 0.0 && (0.0..9e15).contains(&n) => n as u64,
        _ => return Err(Fault::new(format!("count(\"{name}\", n): n is a whole number from 0"))),
    };
    host.borrow_mut().count(name, n)?;
    Ok(Answer::Nothing)
}

/// `told(key, value)`: the user was promised that the thing is so; with `false` that it is gone; with nothing nobody knows.
fn promise<'a>(host: &'a RefCell<Host>, call: Call<'a>) -> Result<Answer<'a>, Fault> {
    let text = |number| call.text(number).and_then(|text| std::str::from_utf8(text).ok());
    let key = text(1).ok_or_else(|| Fault::new("told takes a name, and what it is: a text, or false"))?;
    let state = match (call.argument(2), text(2)) {
        (Argument::Nil, _) => State::Unknown,
        (Argument::Truth(false), _) => State::Gone,
        (_, Some(value)) => State::Is(value),
        (Argument::Text(_), None) => {
            return Err(Fault::new(format!("told(\"{key}\", …): the text is not UTF-8")));
        }
        (other, None) => {
            let what = format!("told(\"{key}\", …): it is a text or false, not a {}", other.type_name());
            return Err(Fault::new(what));
        }
    };
    host.borrow_mut().promise(key, state)?;
    Ok(Answer::Nothing)
}

fn unique<'a>(host: &'a RefCell<Host>, _call: Call<'a>) -> Result<Answer<'a>, Fault> {
    Ok(Answer::Integer(host.borrow_mut().unique()? as i64))
}

/// `elapsed()`: the user's clock. It stands still while the script computes: what that takes is the generator's doing.
fn elapsed<'a>(host: &'a RefCell<Host>, _call: Call<'a>) -> Result<Answer<'a>, Fault> {
    Ok(Answer::Number(host.borrow_mut().elapsed_s()?))
}

fn think<'a>(host: &'a RefCell<Host>, call: Call<'a>) -> Result<Answer<'a>, Fault> {
    let seconds = natives::number(call, 1)?;
    if !(0.0..1e6).contains(&seconds) {
        return Err(Fault::new(format!("think({seconds}): a pause lies between 0 and 1e6 seconds")));
    }
    ask::can_wait(call)?;
    host.borrow_mut().pause((seconds * 1e9) as u64);
    Ok(Answer::Wait)
}
