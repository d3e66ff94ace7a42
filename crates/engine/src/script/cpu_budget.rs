//! What a session may spend in functions of C before its next request. Lua's hook counts instructions of its own only,
//! and one call of `gsub` can take longer than the age of the universe: so what such calls would cost is reckoned
//! before they are made.

mod lists;
mod pattern;

use std::cell::Cell;
use std::rc::Rc;

use mlua::{Lua, Table};

use super::stack::{Answer, Argument, Call, Fault, Native, define_before};

/// Steps of a pattern, or words of eight bytes, in about a second.
const STEPS_PER_SECOND: u64 = 300_000_000;

/// The number of steps that are left.
#[derive(Debug)]
pub(crate) struct CpuBudget {
    left: Cell<u64>,
    seconds: u32,
}

impl CpuBudget {
    /// As many steps as take about that number of `seconds`.
    pub(crate) fn of_seconds(seconds: u32) -> CpuBudget {
        let budget = CpuBudget { left: Cell::new(0), seconds };
        budget.renew();
        budget
    }

    /// All of them again.
    pub(crate) fn renew(&self) {
        self.left.set(STEPS_PER_SECOND * u64::from(self.seconds));
    }

    fn spend(&self, steps: Option<u64>) -> Result<Answer<'static>, Fault> {
        let left = steps.and_then(|steps| self.left.get().checked_sub(steps));
        self.left.set(left.ok_or_else(|| self.too_much())?);
        Ok(Answer::Through)
    }

    #[cold]
    fn too_much(&self) -> Fault {
        let time =
            if self.seconds == 1 { "a second".to_string() } else { format!("{} seconds", self.seconds) };
        Fault::new(format!(
            "this would take longer than {time}: a pattern that tries too many ways, or texts and tables that grow too \
             long (page:match takes time in proportion to the page)"
        ))
    }
}

/// Puts the reckoning before the functions of `lua` whose cost depends on what they are given.
pub(crate) fn install(lua: &Lua, budget: &Rc<CpuBudget>) -> mlua::Result<()> {
    let costs: [(&str, &str, Native<CpuBudget>); 25] = [
        ("string", "find", first),
        ("string", "match", first),
        ("string", "gmatch", every),
        ("string", "gsub", every),
        ("string", "upper", text),
        ("string", "lower", text),
        ("string", "reverse", text),
        ("string", "byte", values),
        ("string", "sub", copy),
        ("string", "rep", rep),
        ("string", "format", texts),
        ("string", "char", texts),
        ("string", "pack", packed),
        ("string", "packsize", packed),
        ("string", "unpack", unpacked),
        ("utf8", "char", texts),
        ("utf8", "codes", text),
        ("utf8", "codepoint", values),
        ("utf8", "len", rest),
        ("utf8", "offset", offset),
        ("table", "concat", lists::concat),
        ("table", "sort", lists::sort),
        ("table", "move", lists::moved),
        ("table", "insert", lists::insert),
        ("table", "remove", lists::remove),
    ];
    let reckon = |library: &Table, name: &str, cost: Native<CpuBudget>| {
        library.raw_set(name, define_before(lua, budget, cost, library.raw_get(name)?)?)
    };
    let globals = lua.globals();
    costs
        .iter()
        .try_for_each(|(library, name, cost)| reckon(&globals.raw_get::<Table>(*library)?, name, *cost))?;
    reckon(&globals.raw_get::<Table>("table")?, "unpack", lists::unpack)?;
    reckon(&globals, "tonumber", text)
}

fn first<'a>(budget: &'a CpuBudget, call: Call<'a>) -> Result<Answer<'a>, Fault> {
    matching(budget, call, false)
}

fn every<'a>(budget: &'a CpuBudget, call: Call<'a>) -> Result<Answer<'a>, Fault> {
    matching(budget, call, true)
}

fn matching<'a>(budget: &'a CpuBudget, call: Call<'a>, every: bool) -> Result<Answer<'a>, Fault> {
    // Numbers are texts, too, but short ones.
    let (Some(subject), Some(pattern)) = (call.text(1), call.text(2)) else { return Ok(Answer::Through) };
    if !every && call.truth(4) {
        return budget.spend((subject.len() as u64).checked_mul(1 + pattern.len() as u64 / 64));
    }
    let begin = match call.argument(3) {
        Argument::Integer(place) if !every && place > 0 => place as usize - 1,
        _ => 0,
    };
    budget.spend(pattern::steps(subject, pattern, begin, every, budget.left.get()))
}

fn text<'a>(budget: &'a CpuBudget, call: Call<'a>) -> Result<Answer<'a>, Fault> {
    budget.spend(Some(call.text(1).map_or(0, |text| text.len() as u64 / 4)))
}

/// How many bytes lie between the second and the third argument, as Lua counts places in a text; the third is `last` where
/// there is none, or like the second.
fn between(call: Call<'_>, last: Option<i64>) -> u64 {
    let length = call.text(1).map_or(0, |text| text.len() as i64);
    let place = |place: i64| if place < 0 { place.saturating_add(length + 1) } else { place };
    let first = place(call.whole(2).unwrap_or(1)).max(1);
    let last = call.whole(3).or(last).map_or(first, place);
    lists::span(first, last.min(length))
}

/// `byte`, `codepoint`: a number for each.
fn values<'a>(budget: &'a CpuBudget, call: Call<'a>) -> Result<Answer<'a>, Fault> {
    budget.spend(Some(between(call, None)))
}

fn rest<'a>(budget: &'a CpuBudget, call: Call<'a>) -> Result<Answer<'a>, Fault> {
    budget.spend(Some(between(call, Some(-1))))
}

/// Bytes that are only copied: several words at a time.
fn copy<'a>(budget: &'a CpuBudget, call: Call<'a>) -> Result<Answer<'a>, Fault> {
    budget.spend(Some(between(call, Some(-1)) / 64))
}

/// `utf8.offset(text, n, from)` passes over n characters, of which each is as long as its bytes go on.
fn offset<'a>(budget: &'a CpuBudget, call: Call<'a>) -> Result<Answer<'a>, Fault> {
    let text = call.text(1).unwrap_or_default();
    let count = call.whole(2).unwrap_or(0);
    let usual = if count > 0 { 1 } else { text.len() as i64 + 1 };
    let from = call.whole(3).unwrap_or(usual);
    let from = if from < 0 { from.saturating_add(text.len() as i64 + 1) } else { from };
    let from = (from.max(1) as usize - 1).min(text.len());
    let begins = |byte: &u8| byte & 0xc0 != 0x80;
    let wanted = count.unsigned_abs().max(1) as usize;
    // So far as that many characters begin.
    let passed = match count > 0 {
        true => text[from..].iter().enumerate().filter(|(_, byte)| begins(byte)).nth(wanted),
        false => text[..from].iter().rev().enumerate().filter(|(_, byte)| begins(byte)).nth(wanted),
    };
    budget.spend(Some(passed.map_or(text.len(), |(at, _)| at) as u64))
}

fn rep<'a>(budget: &'a CpuBudget, call: Call<'a>) -> Result<Answer<'a>, Fault> {
    let times = call.whole(2).map_or(0, |times| times.max(0) as u64);
    let length = call.text(1).map_or(20, <[u8]>::len) + call.text(3).map_or(20, <[u8]>::len);
    // Pieces that are shorter than a word cost as much as one.
    budget.spend(times.checked_mul(1 + length as u64 / 8))
}

/// All arguments are gone through, and put together.
fn texts<'a>(budget: &'a CpuBudget, call: Call<'a>) -> Result<Answer<'a>, Fault> {
    budget.spend(Some(length_of_all(call) / 8 + call.count() as u64))
}

/// A format may ask for padding of any length (`c1000000`): as long as its numbers say, all of them together.
fn packed<'a>(budget: &'a CpuBudget, call: Call<'a>) -> Result<Answer<'a>, Fault> {
    let format = call.text(1).unwrap_or_default();
    let (mut asked, mut number) = (0_u64, 0_u64);
    for byte in format {
        number = match byte {
            b'0'..=b'9' => number.saturating_mul(10).saturating_add(u64::from(byte - b'0')),
            _ => 0,
        };
        asked = asked.saturating_add(number);
    }
    budget.spend(asked.checked_add(length_of_all(call) + call.count() as u64))
}

/// Numbers are read where they stand; texts (`s`, `z`, `c10`) are copied, at most to the end.
fn unpacked<'a>(budget: &'a CpuBudget, call: Call<'a>) -> Result<Answer<'a>, Fault> {
    let format = call.text(1).unwrap_or_default();
    let texts = format.iter().filter(|byte| matches!(byte, b's' | b'z' | b'c')).count() as u64;
    let length = call.text(2).map_or(0, |text| text.len() as i64);
    let from = call.whole(3).unwrap_or(1);
    let from = if from < 0 { from.saturating_add(length + 1) } else { from };
    let rest = lists::span(from.max(1), length) / 8;
    budget.spend(texts.checked_mul(rest).and_then(|steps| steps.checked_add(1 + format.len() as u64)))
}

fn length_of_all(call: Call<'_>) -> u64 {
    (1..=call.count()).filter_map(|number| call.text(number)).map(|text| text.len() as u64).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state() -> (Lua, Rc<CpuBudget>) {
        let (lua, budget) = (Lua::new(), Rc::new(CpuBudget::of_seconds(1)));
        install(&lua, &budget).expect("it can be installed");
        (lua, budget)
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
    fn no_function_of_a_library_goes_on_for_longer_than_the_script_may() {
        let (lua, budget) = state();
        let prepare = "text = ('x'):rep(200000) list = {} for n = 1, 100000 do list[n] = n end\n\
                       long = { ('x'):rep(1e7), ('y'):rep(1e7) } bytes = ('\\x80'):rep(1e6)";
        lua.load(prepare).exec().expect("it can be made");
        for script in [
            "table.move({}, 1, 1e15, 1)",
            "table.move(list, 1, math.maxinteger - 1, 2, {})",
            "table.move({}, '1', '1e15', 1)",
            "while true do table.insert(list, 1, 0) end",
            "while true do table.insert(list, table.remove(list, 1)) end",
            "while true do table.unpack({}, 1, 100000) end",
            "while true do table.unpack('no list', 1, 100000) end",
            "while true do table.concat(long) end",
            "while true do table.concat(list, text) end",
            "while true do table.sort(list) end",
            "while true do string.format('%s', long[1]) end",
            "while true do string.format(long[1]) end",
            "('x'):rep('1e9')",
            "(''):rep(1e15)",
            "while true do text:byte(1, -1) end",
            "while true do long[1]:sub(2) end",
            "while true do string.char(table.unpack(list, 1, 100)) string.char(text:byte(1, 100000)) end",
            "string.pack('c1000000000', '')",
            "while true do string.unpack('z', text .. '\\0') end",
            "while true do utf8.len(text) end",
            "while true do utf8.codepoint(text, 1, 100000) end",
            "while true do utf8.char(text:byte(1, 100000)) end",
            "while true do utf8.offset(text, 199999) end",
            "while true do utf8.offset(bytes, -1) end",
            "while true do utf8.codes(text) end",
            "while true do tonumber(text) end",
        ] {
            budget.renew();
            let error = lua.load(script).set_name("@s.lua").exec().expect_err(script).to_string();
            assert!(
                error.contains("s.lua:1: ") && error.contains("longer than a second"),
                "{script}: {error}"
            );
        }
    }

    #[test]
    fn a_list_with_functions_of_its_own_is_no_list_for_the_library() {
        let (lua, _) = state();
        let endless =
            "local list = setmetatable({}, { __len = function() return 1e15 end, __index = { 1 } })\n";
        for call in [
            "table.insert(list, 1, 0)",
            "table.remove(list, 1)",
            "table.concat(list)",
            "table.sort(list)",
            "table.unpack(list)",
        ] {
            let error = lua.load(format!("{endless}{call}")).exec().expect_err(call).to_string();
            assert!(error.contains("without a metatable"), "{call}: {error}");
        }
    }

    #[test]
    fn what_costs_little_may_be_done_often() {
        let (lua, _) = state();
        for script in [
            "local text = ('x'):rep(100000) for n = 1, #text do local c, b = text:sub(n, n), text:byte(n) end",
            "local list = {} for n = 1, 100000 do table.insert(list, n) end while #list > 0 do table.remove(list) end",
            "local text = ('ü'):rep(20000) for place, code in utf8.codes(text) do local next = utf8.offset(text, 2, place) end",
            "for n = 1, 100000 do local t = table.concat({ 'a', n, 'b' }, ',') local f = string.format('%5.2f %s', n, t) end",
            "local text = ('x'):rep(100000) for at = 1, #text, 4 do local n = string.unpack('<I4', text, at) end",
            "for n = 1, 100000 do local a, b = table.unpack({ n, n }) assert(tonumber('12') == 12 and a == b) end",
        ] {
            lua.load(script).exec().unwrap_or_else(|error| panic!("{script}: {error}"));
        }
        let same = "local t = table.move({ 1, 2, 3 }, 1, 3, 2) return table.concat(t, '-') == '1-1-2-3' and \
                    select('#', table.unpack(t, 2, 9)) == 8 and table.remove(t, 1) == 1 and #t == 3 and \
                    string.pack('i4', 7):byte() == 7 and utf8.char(228, 246) == 'äö' and utf8.len('äö') == 2 and \
                    utf8.codepoint('äö', 1, -1) == 228 and utf8.offset('äö', 2) == 3 and tonumber('ff', 16) == 255";
        assert_eq!(lua.load(same).eval::<bool>().ok(), Some(true));
    }

    #[test]
    fn a_pattern_that_tries_too_many_ways_is_stopped_and_a_long_text_is_not() {
        let (lua, budget) = state();
        lua.globals().set("text", "a".repeat(100_000)).expect("a text");
        for script in [
            "text:find('.-.-.-.-b')",
            "text:match('a*a*a*b')",
            "text:gsub('(a*)(a*)c', '')",
            "while true do text:upper() end",
            "while true do local s = ('x'):rep(1e6) end",
        ] {
            // A tenth of it, which is spent in a tenth of the time.
            budget.left.set(STEPS_PER_SECOND / 10);
            let error = lua.load(script).set_name("@s.lua").exec().expect_err(script).to_string();
            assert!(
                error.contains("s.lua:1: ") && error.contains("longer than a second"),
                "{script}: {error}"
            );
        }
        budget.renew();
        let linear = "return select(2, text:gsub('a', 'b')) == 100000 and text:find('%w+') == 1 and #text:match('^(.-)$') == 100000";
        assert!(matches!(lua.load(linear).eval::<bool>(), Ok(true)));
    }
}
