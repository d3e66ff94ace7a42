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

use mlua::Lua;

use super::stack::{Answer, Argument, Call, Fault, MAX_WORD_BYTES, Native, define};
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
}

/// Defines the helpers as globals of `lua`, drawing from `current`.
pub fn install(lua: &Lua, current: &CurrentStream) -> mlua::Result<()> {
    let helpers: [(&str, Native<Cell<Stream>>); 7] = [
        ("random", random),
        ("chance", chance),
        ("pick", pick),
        ("letters", letters),
        ("digits", digits),
        ("zipf", zipf),
        ("exponential", exponential),
    ];
    helpers
        .iter()
        .try_for_each(|(name, helper)| lua.globals().raw_set(*name, define(lua, &current.0, *helper)?))
}

fn draw<T>(stream: &Cell<Stream>, draw: impl FnOnce(&mut Stream) -> T) -> T {
    let mut current = stream.get();
    let value = draw(&mut current);
    stream.set(current);
    value
}

fn random<'a>(stream: &'a Cell<Stream>, call: Call<'a>) -> Result<Answer<'a>, Fault> {
    let (low, high) = match call.count() {
        0 => return Ok(Answer::Number(draw(stream, Stream::unit))),
        1 => (1, whole(call, 1)?),
        2 => (whole(call, 1)?, whole(call, 2)?),
        _ => return Err(Fault::new("random takes at most two ends")),
    };
    if low > high {
        return Err(Fault::new(format!("random({low}, {high}): there is no number in that range")));
    }
    Ok(Answer::Integer(draw(stream, |stream| stream.between(low, high))))
}

fn whole(call: Call<'_>, argument: i32) -> Result<i64, Fault> {
    match call.argument(argument) {
        Argument::Integer(number) => Ok(number),
        Argument::Number(number) if number.fract() == 0.0 && number.abs() < 9e15 => Ok(number as i64),
        Argument::Number(number) => Err(Fault::new(format!("a whole number is wanted here, not {number}"))),
        other => Err(Fault::new(format!("a whole number is wanted here, not a {}", other.type_name()))),
    }
}

/// The argument as a number with a fraction.
pub(crate) fn number(call: Call<'_>, argument: i32) -> Result<f64, Fault> {
    match call.argument(argument) {
        Argument::Integer(number) => Ok(number as f64),
        Argument::Number(number) => Ok(number),
        other => Err(Fault::new(format!("a number is wanted here, not a {}", other.type_name()))),
    }
}

fn chance<'a>(stream: &'a Cell<Stream>, call: Call<'a>) -> Result<Answer<'a>, Fault> {
    let p = number(call, 1)?;
    Ok(Answer::Truth(draw(stream, Stream::unit) < p))
}

fn pick<'a>(stream: &'a Cell<Stream>, call: Call<'a>) -> Result<Answer<'a>, Fault> {
    match call.argument(1) {
        Argument::List(list) if list.len() > 0 => {
            Ok(Answer::Element(list, draw(stream, |stream| stream.below(list.len() as u64)) as i64 + 1))
        }
        _ => Err(Fault::new("pick takes a list with at least one element")),
    }
}

/// A word of as many characters as the first argument says: no name, number or text of a kit is longer than
/// [`MAX_WORD_BYTES`].
fn word<'a>(call: Call<'a>, mut letter: impl FnMut(usize) -> u8) -> Result<Answer<'a>, Fault> {
    let n = whole(call, 1)?;
    if !(0..=MAX_WORD_BYTES as i64).contains(&n) {
        return Err(Fault::new(format!("a random word has 0 to {MAX_WORD_BYTES} characters, not {n}")));
    }
    let mut bytes = [0; MAX_WORD_BYTES];
    bytes[..n as usize].iter_mut().enumerate().for_each(|(index, byte)| *byte = letter(index));
    Ok(Answer::Word(bytes, n as usize))
}

fn letters<'a>(stream: &'a Cell<Stream>, call: Call<'a>) -> Result<Answer<'a>, Fault> {
    draw(stream, |stream| word(call, |_| b'A' + stream.below(26) as u8))
}

fn digits<'a>(stream: &'a Cell<Stream>, call: Call<'a>) -> Result<Answer<'a>, Fault> {
    draw(stream, |stream| {
        word(
            call,
            |index| if index == 0 { b'1' + stream.below(9) as u8 } else { b'0' + stream.below(10) as u8 },
        )
    })
}

fn exponential<'a>(stream: &'a Cell<Stream>, call: Call<'a>) -> Result<Answer<'a>, Fault> {
    let mean = number(call, 1)?;
    Ok(Answer::Number(-mean * (1.0 - draw(stream, Stream::unit)).ln()))
}

/// Rejection-inversion sampling (Hörmann and Derflinger 1996): constant time for any n, no table.
fn zipf<'a>(stream: &'a Cell<Stream>, call: Call<'a>) -> Result<Answer<'a>, Fault> {
    let (n, s) = (whole(call, 1)?, number(call, 2)?);
    if n < 1 || !s.is_finite() || s < 0.0 {
        return Err(Fault::new(format!("zipf({n}, {s}): n must be 1 or more and s not negative")));
    }
    let integral = |x: f64| if (s - 1.0).abs() < 1e-9 { x.ln() } else { (x.powf(1.0 - s) - 1.0) / (1.0 - s) };
    let inverse = |y: f64| {
        if (s - 1.0).abs() < 1e-9 { y.exp() } else { (1.0 + y * (1.0 - s)).max(0.0).powf(1.0 / (1.0 - s)) }
    };
    let (low, high) = (integral(1.5) - 1.0, integral(n as f64 + 0.5));
    loop {
        let y = high + draw(stream, Stream::unit) * (low - high);
        let x = inverse(y);
        let k = x.round().clamp(1.0, n as f64);
        if y >= integral(k + 0.5) - k.powf(-s) {
            return Ok(Answer::Integer(k as i64));
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
