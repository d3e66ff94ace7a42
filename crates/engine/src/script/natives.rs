//! The helpers that `session.lua` and `data.lua` share: draws from the current random stream, and words made of them.
//!
//! | call | gives |
//! |---|---|
//! | `random()` | a number uniform in [0, 1) |
//! | `random(low, high)` | a whole number, both ends included |
//! | `chance(p)` | true with probability p |
//! | `pick(list)` | an element of a list |
//! | `letters(n)` | n random capital letters |
//! | `digits(n)` | n random digits, the first not 0 |
//! | `zipf(n, s)` | 1..n with probability proportional to 1/k^s |
//! | `exponential(mean)` | a number of that distribution |

use std::cell::Cell;
use std::rc::Rc;

use mlua::{Error, Lua, Table, Value, Variadic};

use crate::random::Stream;

/// The stream that the helpers draw from. The owner puts a user's stream in before it runs that user's script, and
/// takes it out afterwards.
#[derive(Debug, Clone)]
pub struct CurrentStream(Rc<Cell<Stream>>);

impl CurrentStream {
    /// Starts with the given stream.
    pub fn new(stream: Stream) -> CurrentStream {
        CurrentStream(Rc::new(Cell::new(stream)))
    }

    /// Puts a stream in.
    pub fn set(&self, stream: Stream) {
        self.0.set(stream);
    }

    /// The stream as it is now.
    pub fn get(&self) -> Stream {
        self.0.get()
    }

    /// Draws from it.
    pub fn draw<T>(&self, draw: impl FnOnce(&mut Stream) -> T) -> T {
        let mut stream = self.0.get();
        let value = draw(&mut stream);
        self.0.set(stream);
        value
    }
}

/// Defines the helpers as globals of `lua`, drawing from `current`.
pub fn install(lua: &Lua, current: &CurrentStream) -> mlua::Result<()> {
    let globals = lua.globals();
    let stream = current.clone();
    globals.set("random", lua.create_function(move |_, ends: Variadic<Value>| random(&stream, &ends))?)?;
    let stream = current.clone();
    globals.set("chance", lua.create_function(move |_, p: f64| Ok(stream.draw(Stream::unit) < p))?)?;
    let stream = current.clone();
    globals.set("pick", lua.create_function(move |_, list: Table| pick(&stream, &list))?)?;
    let stream = current.clone();
    globals
        .set("letters", lua.create_function(move |lua, n: usize| lua.create_string(letters(&stream, n)?))?)?;
    let stream = current.clone();
    globals
        .set("digits", lua.create_function(move |lua, n: usize| lua.create_string(digits(&stream, n)?))?)?;
    let stream = current.clone();
    globals.set("zipf", lua.create_function(move |_, (n, s): (u64, f64)| zipf(&stream, n, s))?)?;
    let stream = current.clone();
    let exponential = move |_: &Lua, mean: f64| Ok(-mean * (1.0 - stream.draw(Stream::unit)).ln());
    globals.set("exponential", lua.create_function(exponential)?)
}

fn random(stream: &CurrentStream, ends: &[Value]) -> mlua::Result<Value> {
    let whole = |value: &Value| match value {
        Value::Integer(number) => Ok(*number),
        Value::Number(number) if number.fract() == 0.0 && number.abs() < 9e15 => Ok(*number as i64),
        other => Err(Error::runtime(format!("random takes whole numbers, not {}", other.type_name()))),
    };
    let (low, high) = match ends {
        [] => return Ok(Value::Number(stream.draw(Stream::unit))),
        [high] => (1, whole(high)?),
        [low, high] => (whole(low)?, whole(high)?),
        _ => return Err(Error::runtime("random takes at most two ends")),
    };
    if low > high {
        return Err(Error::runtime(format!("random({low}, {high}): there is no number in that range")));
    }
    Ok(Value::Integer(stream.draw(|stream| stream.between(low, high))))
}

fn pick(stream: &CurrentStream, list: &Table) -> mlua::Result<Value> {
    let length = list.raw_len() as u64;
    if length == 0 {
        return Err(Error::runtime("pick takes a list with at least one element"));
    }
    list.raw_get(stream.draw(|stream| stream.below(length)) + 1)
}

/// The longest word made in one call: no name, number or text of a kit is longer.
const LONGEST_WORD: usize = 64;

fn word(n: usize, mut letter: impl FnMut(usize) -> u8) -> mlua::Result<Word> {
    if n > LONGEST_WORD {
        return Err(Error::runtime(format!("a random word has at most {LONGEST_WORD} characters, not {n}")));
    }
    let mut bytes = [0; LONGEST_WORD];
    bytes[..n].iter_mut().enumerate().for_each(|(index, byte)| *byte = letter(index));
    Ok(Word { bytes, length: n })
}

struct Word {
    bytes: [u8; LONGEST_WORD],
    length: usize,
}

impl AsRef<[u8]> for Word {
    fn as_ref(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

fn letters(stream: &CurrentStream, n: usize) -> mlua::Result<Word> {
    stream.draw(|stream| word(n, |_| b'A' + stream.below(26) as u8))
}

fn digits(stream: &CurrentStream, n: usize) -> mlua::Result<Word> {
    stream.draw(|stream| {
        word(n, |index| if index == 0 { b'1' + stream.below(9) as u8 } else { b'0' + stream.below(10) as u8 })
    })
}

/// Rejection-inversion sampling (Hörmann and Derflinger 1996): constant time for any n, no table.
fn zipf(stream: &CurrentStream, n: u64, s: f64) -> mlua::Result<u64> {
    if n == 0 || !s.is_finite() || s < 0.0 {
        return Err(Error::runtime(format!("zipf({n}, {s}): n must be 1 or more and s not negative")));
    }
    let integral = |x: f64| if (s - 1.0).abs() < 1e-9 { x.ln() } else { (x.powf(1.0 - s) - 1.0) / (1.0 - s) };
    let inverse = |y: f64| {
        if (s - 1.0).abs() < 1e-9 { y.exp() } else { (1.0 + y * (1.0 - s)).max(0.0).powf(1.0 / (1.0 - s)) }
    };
    let (low, high) = (integral(1.5) - 1.0, integral(n as f64 + 0.5));
    loop {
        let y = high + stream.draw(Stream::unit) * (low - high);
        let x = inverse(y);
        let k = x.round().clamp(1.0, n as f64);
        if y >= integral(k + 0.5) - k.powf(-s) {
            return Ok(k as u64);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lua() -> Lua {
        let lua = Lua::new();
        install(&lua, &CurrentStream::new(Stream::new(1, 1))).expect("the helpers are installed");
        lua
    }

    fn truth(script: &str) {
        let result: mlua::Result<bool> = lua().load(script).eval();
        assert!(matches!(result, Ok(true)), "{script}: {result:?}");
    }

    #[test]
    fn helpers_give_what_their_table_says() {
        truth("local x = random(); return x >= 0 and x < 1");
        truth(
            "for _ = 1, 100 do local x = random(3, 5); if x < 3 or x > 5 then return false end end return true",
        );
        truth("return #letters(6) == 6 and letters(20):match('^%u+$') ~= nil");
        truth("return digits(16):match('^[1-9]%d+$') ~= nil and #digits(16) == 16");
        truth("return pick({ 'only' }) == 'only'");
        truth("return chance(1) and not chance(0)");
    }

    #[test]
    fn impossible_draws_are_errors_and_not_crashes() {
        for script in
            ["random(2, 1)", "pick({})", "letters(65)", "letters(-1)", "zipf(0, 1)", "random('a', 1)"]
        {
            assert!(lua().load(script).exec().is_err(), "{script} must be an error");
        }
    }

    #[test]
    fn zipf_follows_its_law() {
        for s in [0.0, 0.8, 1.0, 1.3] {
            let script = format!(
                "local counts = {{}}; for _ = 1, 200000 do local k = zipf(5, {s}); counts[k] = (counts[k] or 0) + 1 end \
                 return counts"
            );
            let counts: Vec<f64> = lua().load(script).eval().expect("a list of counts");
            let weights: Vec<f64> = (1..=5).map(|k| f64::from(k).powf(-s)).collect();
            let total: f64 = weights.iter().sum();
            let expected = weights.iter().map(|weight| weight / total * 200_000.0);
            let chi2: f64 = counts.iter().zip(expected).map(|(count, e)| (count - e).powi(2) / e).sum();
            assert!(
                chi2 < 18.5,
                "s = {s}: chi-square {chi2} over the 0.999 quantile of 4 degrees of freedom"
            );
        }
    }
}
