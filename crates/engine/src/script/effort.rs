//! What a session may spend in functions of C before its next request. Lua's hook counts instructions of its own only,
//! and one call of `gsub` can take longer than the age of the universe: so what such calls would cost is reckoned
//! before they are made.

mod pattern;

use std::cell::Cell;
use std::rc::Rc;

use mlua::{Lua, Table};

use super::stack::{Answer, Argument, Call, Fault, Native, define_before};

/// Steps of a pattern or words of eight bytes between two requests: about a second.
const MOST_STEPS: u64 = 300_000_000;

/// What is left of it.
#[derive(Debug)]
pub(crate) struct Effort(Cell<u64>);

impl Effort {
    /// All of it.
    pub(crate) fn new() -> Effort {
        Effort(Cell::new(MOST_STEPS))
    }

    /// All of it again.
    pub(crate) fn renew(&self) {
        self.0.set(MOST_STEPS);
    }

    fn spend(&self, steps: Option<u64>) -> Result<Answer<'static>, Fault> {
        let left = steps.and_then(|steps| self.0.get().checked_sub(steps));
        let left = left.ok_or_else(|| {
            Fault::new(
                "this would take longer than a second: a pattern that tries too many ways, or texts and tables that \
                 grow too long (page:match takes time in proportion to the page)",
            )
        })?;
        self.0.set(left);
        Ok(Answer::Through)
    }
}

/// Puts the reckoning before the functions of `lua` whose cost depends on what they are given.
pub(crate) fn install(lua: &Lua, effort: &Rc<Effort>) -> mlua::Result<()> {
    let costs: [(&str, &str, Native<Effort>); 10] = [
        ("string", "find", first),
        ("string", "match", first),
        ("string", "gmatch", every),
        ("string", "gsub", every),
        ("string", "upper", text),
        ("string", "lower", text),
        ("string", "reverse", text),
        ("string", "rep", rep),
        ("table", "concat", list),
        ("table", "sort", list),
    ];
    costs.iter().try_for_each(|(library, name, cost)| {
        let library: Table = lua.globals().raw_get(*library)?;
        library.raw_set(*name, define_before(lua, effort, *cost, library.raw_get(*name)?)?)
    })
}

fn first<'a>(effort: &'a Effort, call: Call<'a>) -> Result<Answer<'a>, Fault> {
    matching(effort, call, false)
}

fn every<'a>(effort: &'a Effort, call: Call<'a>) -> Result<Answer<'a>, Fault> {
    matching(effort, call, true)
}

fn matching<'a>(effort: &'a Effort, call: Call<'a>, every: bool) -> Result<Answer<'a>, Fault> {
    // Numbers are texts, too, but short ones.
    let (Some(subject), Some(pattern)) = (call.text(1), call.text(2)) else { return Ok(Answer::Through) };
    if !every && call.truth(4) {
        return effort.spend((subject.len() as u64).checked_mul(1 + pattern.len() as u64 / 64));
    }
    let begin = match call.argument(3) {
        Argument::Integer(place) if !every && place > 0 => place as usize - 1,
        _ => 0,
    };
    effort.spend(pattern::steps(subject, pattern, begin, every, effort.0.get()))
}

fn text<'a>(effort: &'a Effort, call: Call<'a>) -> Result<Answer<'a>, Fault> {
    effort.spend(Some(call.text(1).map_or(0, |text| text.len() as u64 / 4)))
}

fn rep<'a>(effort: &'a Effort, call: Call<'a>) -> Result<Answer<'a>, Fault> {
    let times = match call.argument(2) {
        Argument::Integer(times) => times.max(0) as u64,
        Argument::Number(times) => times as u64,
        _ => 0,
    };
    let length = call.text(1).map_or(20, <[u8]>::len) + call.text(3).map_or(0, <[u8]>::len);
    // Pieces that are shorter than a word cost as much as one.
    effort.spend(times.checked_mul(1 + length as u64 / 8))
}

/// A list is gone through; sorting does so several times.
fn list<'a>(effort: &'a Effort, call: Call<'a>) -> Result<Answer<'a>, Fault> {
    let Argument::List(list) = call.argument(1) else { return Ok(Answer::Through) };
    effort.spend((list.len() as u64).checked_mul(8))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state() -> (Lua, Rc<Effort>) {
        let (lua, effort) = (Lua::new(), Rc::new(Effort::new()));
        install(&lua, &effort).expect("it can be installed");
        (lua, effort)
    }

    #[test]
    fn guarded_functions_do_what_they_did() {
        let (lua, _) = state();
        for script in [
            "return select(2, ('key = value'):find('(%w+) = (%w+)')) == 11",
            "return ('a.b'):find('.', 2, true) == 2 and ('abc'):match('^(a)(.-)$') == 'a'",
            "local n = 0 for word in ('one two'):gmatch('%a+') do n = n + #word end return n == 6",
            "return ('hello'):gsub('l', { l = 'L' }) == 'heLLo' and string.rep(12, 2) == '1212' and ('x'):rep(3, ',') == 'x,x,x'",
            "local t = { 3, 1, 2 } table.sort(t) return table.concat(t, ' ') == '1 2 3'",
            "return ('THE (quick) fox'):find('%((%a+)%)') == 5 and ('THE (quick) fox'):gsub('%f[%a]%a+', 'x') == 'x (x) x'",
        ] {
            let result: mlua::Result<bool> = lua.load(script).eval();
            assert!(matches!(result, Ok(true)), "{script}: {result:?}");
        }
        let error = lua.load("\nlocal x = ('a'):find('[')").set_name("@s.lua").exec().expect_err("malformed");
        assert!(error.to_string().contains("s.lua:2: malformed pattern"), "{error}");
    }

    #[test]
    fn a_pattern_that_tries_too_many_ways_is_stopped_and_a_long_text_is_not() {
        let (lua, effort) = state();
        lua.globals().set("text", "a".repeat(100_000)).expect("a text");
        for script in [
            "text:find('.-.-.-.-b')",
            "text:match('a*a*a*b')",
            "text:gsub('(a*)(a*)c', '')",
            "while true do text:upper() end",
            "while true do local s = ('x'):rep(1e6) end",
        ] {
            // A tenth of it, which is spent in a tenth of the time.
            effort.0.set(MOST_STEPS / 10);
            let error = lua.load(script).set_name("@s.lua").exec().expect_err(script).to_string();
            assert!(
                error.contains("s.lua:1: ") && error.contains("longer than a second"),
                "{script}: {error}"
            );
        }
        effort.renew();
        let linear = "return select(2, text:gsub('a', 'b')) == 100000 and text:find('%w+') == 1 and #text:match('^(.-)$') == 100000";
        assert!(matches!(lua.load(linear).eval::<bool>(), Ok(true)));
    }
}
