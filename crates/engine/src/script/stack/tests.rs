//! What native functions must keep, whatever a script does with them.

use mlua::Thread;

use super::*;

fn echo<'a>(_: &'a (), call: Call<'a>) -> Result<Answer<'a>, Fault> {
    Ok(match call.argument(1) {
        Argument::Nil => Answer::Nil,
        Argument::Truth(truth) => Answer::Truth(truth),
        Argument::Integer(number) => Answer::Integer(number),
        Argument::Number(number) => Answer::Number(number),
        Argument::Text(text) => Answer::Text(text),
        Argument::List(list) => Answer::Element(list, 1),
        other => return Err(Fault::new(format!("a {} can't be said again", other.type_name()))),
    })
}

/// The names and texts of a table, sorted, as one text's length; lists within it count too.
fn measure<'a>(_: &'a (), call: Call<'a>) -> Result<Answer<'a>, Fault> {
    fn length(argument: Argument<'_, '_>) -> Result<i64, Fault> {
        match argument {
            Argument::Text(text) => Ok(text.len() as i64),
            Argument::List(list) => list
                .spread(|pairs| pairs.iter().map(|(name, value)| Ok(length(*name)? + length(*value)?)).sum()),
            _ => Ok(1),
        }
    }
    Ok(Answer::Integer(length(call.argument(1))?))
}

fn wait<'a>(_: &'a (), _: Call<'a>) -> Result<Answer<'a>, Fault> {
    Ok(Answer::Wait)
}

fn fall<'a>(_: &'a (), _: Call<'a>) -> Result<Answer<'a>, Fault> {
    panic!("a native fell")
}

fn lua() -> Lua {
    let lua = Lua::new();
    let room = Rc::new(());
    let natives: [(&str, Native<()>); 4] =
        [("echo", echo), ("measure", measure), ("wait", wait), ("fall", fall)];
    for (name, native) in natives {
        let function = define(&lua, &room, native).expect("a function");
        lua.globals().set(name, function).expect("a global");
    }
    lua
}

fn truth(lua: &Lua, script: &str) {
    let result: mlua::Result<bool> = lua.load(script).eval();
    assert!(matches!(result, Ok(true)), "{script}: {result:?}");
}

/// A stage with the one session `script`, and a coroutine for it.
fn stage(lua: &Lua, script: &str) -> (Stage, Thread) {
    let session: Function =
        lua.load(format!("return function(user) {script} end")).set_name("@s.lua").eval().expect("Lua");
    let sessions = lua.create_sequence_from([session.clone()]).expect("a list");
    let users = lua.load("return { { number = 7 } }").eval().expect("a list");
    let stage = Stage::new(lua, sessions, users).expect("a stage");
    let thread = lua.create_thread(session).expect("a coroutine");
    assert!(stage.reset(&thread));
    (stage, thread)
}

fn raised(resumed: Resumed) -> String {
    match resumed {
        Resumed::Raised(Ok(Value::String(text))) => text.to_string_lossy(),
        other => panic!("an error is expected, not {other:?}"),
    }
}

#[test]
fn every_kind_of_value_goes_in_and_out() {
    let lua = lua();
    truth(&lua, "return echo(nil) == nil and echo() == nil and echo(true) and not echo(false)");
    truth(&lua, "return math.type(echo(3)) == 'integer' and echo(-1) == -1 and echo(0.5) == 0.5");
    truth(&lua, "return echo('') == '' and echo('a\\0b') == 'a\\0b' and #echo(('x'):rep(100000)) == 100000");
    truth(&lua, "return echo({ 'first', 'second' }) == 'first' and echo({}) == nil");
}

#[test]
fn an_error_says_the_line_of_the_call() {
    let lua = lua();
    let (stage, thread) = stage(&lua, "\n\n echo(print)");
    assert_eq!(raised(stage.start(&thread, 0, 0)), "s.lua:3: a function can't be said again");
}

#[test]
fn tables_within_tables_are_read_and_too_many_names_are_an_error() {
    let lua = lua();
    truth(&lua, "return measure({ a = 'bc', d = { 'ef', g = 'h' } }) == 1 + 2 + 1 + 1 + 2 + 1 + 1");
    truth(&lua, "local t = {} for i = 1, 4000 do t[i] = 'x' end return measure(t) == 8000");
    let error =
        lua.load("local t = {} for i = 1, 6000 do t[i] = 'x' end measure(t)").exec().expect_err("too many");
    assert!(error.to_string().contains("more than 5000 names"), "{error}");
    let deep = "local t = {} for _ = 1, 150 do t = { t } end return measure(t) == 150";
    truth(&lua, deep);
}

#[test]
fn a_coroutine_waits_goes_on_and_is_used_again() {
    let lua = lua();
    let (stage, thread) = stage(
        &lua,
        "local page, n = wait(), user.number; if page == nil then error('none') end; wait() seen = n",
    );
    for round in 0..3 {
        assert!(matches!(stage.start(&thread, 0, 0), Resumed::Waits), "round {round}");
        assert!(matches!(stage.go_on(&thread, Some(5)), Resumed::Waits), "round {round}");
        assert!(matches!(stage.go_on(&thread, None), Resumed::Ended), "round {round}");
        assert!(stage.reset(&thread));
    }
    assert_eq!(lua.globals().get::<i64>("seen").ok(), Some(7));
    assert!(matches!(stage.go_on(&thread, None), Resumed::Raised(Err(_))), "it does not wait");
    assert!(matches!(stage.start(&thread, 0, 0), Resumed::Waits));
    assert!(matches!(stage.start(&thread, 0, 0), Resumed::Raised(Err(_))), "it runs already");
    assert!(raised(stage.go_on(&thread, None)).contains("none"));
    assert!(stage.reset(&thread), "after an error too");
    assert!(matches!(stage.start(&thread, 0, 0), Resumed::Waits));
}

#[test]
fn a_shortage_of_memory_in_a_native_call_is_an_error_and_leaves_everything_usable() {
    let lua = lua();
    lua.set_memory_limit(lua.used_memory() + (1 << 20)).expect("a limit");
    let (stage, thread) = stage(
        &lua,
        "local t = {} for i = 1, 1e6 do t[i] = echo('some text of sixty characters and more, number ' .. i) end",
    );
    for _ in 0..3 {
        assert!(raised(stage.start(&thread, 0, 0)).contains("not enough memory"));
        stage.reset(&thread);
    }
    truth(&lua, "return echo('still') == 'still'");
}

#[test]
fn a_panic_in_a_native_goes_on_where_the_script_was_resumed() {
    let lua = lua();
    let (stage, thread) = stage(&lua, "fall()");
    let panic = catch_unwind(AssertUnwindSafe(|| stage.start(&thread, 0, 0))).expect_err("the panic goes on");
    assert_eq!(panic.downcast_ref::<&str>(), Some(&"a native fell"));
    truth(&lua, "return echo(1) == 1");
}

#[test]
fn the_room_lives_as_long_as_its_functions() {
    fn read<'a>(room: &'a Cell<i64>, _: Call<'a>) -> Result<Answer<'a>, Fault> {
        Ok(Answer::Integer(room.get()))
    }
    let lua = Lua::new();
    let room = Rc::new(Cell::new(42));
    let function = define(&lua, &room, read).expect("a function");
    let weak = Rc::downgrade(&room);
    drop(room);
    lua.gc_collect().expect("a collection");
    assert_eq!(function.call::<i64>(()).ok(), Some(42));
    drop(function);
    lua.gc_collect().expect("a collection");
    lua.gc_collect().expect("a collection");
    assert!(weak.upgrade().is_none(), "and no longer");
}
