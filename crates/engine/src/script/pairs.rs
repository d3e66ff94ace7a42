//! Tables of names and values as they are sent: queries, forms, headers.

use super::stack::{Argument, Fault, List};
use crate::http::encode::form_component;

/// Writes `{ key = value }` by sorted keys, or `{ { key, value }, … }` in its own order. A list as a value repeats
/// its key. `first` stands before the first pair, `&` before the others.
pub(crate) fn write(pairs: Argument<'_, '_>, first: Option<u8>, out: &mut Vec<u8>) -> Result<(), Fault> {
    let list = match pairs {
        Argument::Nil => return Ok(()),
        Argument::List(list) => list,
        other => return Err(Fault::new(format!("query and form are tables, not a {}", other.type_name()))),
    };
    let mut writer = PairWriter { separator: first, out };
    for number in 1..=list.len() as i64 {
        list.at(number, |pair| writer.own_order(pair))?;
    }
    if list.len() > 0 {
        return Ok(());
    }
    list.spread(|pairs| {
        pairs.sort_unstable_by(|a, b| text(&a.0).cmp(&text(&b.0)));
        pairs.iter().try_for_each(|(key, value)| match key {
            Argument::Text(key) => writer.write(key, *value),
            other => Err(Fault::new(format!("a name is a string, not a {}", other.type_name()))),
        })
    })
}

fn text<'a>(argument: &Argument<'a, '_>) -> Option<&'a [u8]> {
    match argument {
        Argument::Text(text) => Some(text),
        _ => None,
    }
}

struct PairWriter<'a> {
    separator: Option<u8>,
    out: &'a mut Vec<u8>,
}

impl PairWriter<'_> {
    fn own_order(&mut self, pair: Argument<'_, '_>) -> Result<(), Fault> {
        let Argument::List(pair) = pair else {
            return Err(Fault::new("a list of pairs has elements like { \"name\", value }"));
        };
        let mut name = Vec::new();
        pair.at(1, |key| {
            name.extend_from_slice(text(&key).ok_or_else(|| Fault::new("a pair begins with its name"))?);
            Ok(())
        })?;
        pair.at(2, |value| self.write(&name, value))
    }

    fn write(&mut self, key: &[u8], value: Argument<'_, '_>) -> Result<(), Fault> {
        if let Argument::List(list) = value {
            return (1..=list.len() as i64)
                .try_for_each(|number| list.at(number, |item| self.item(key, item)));
        }
        self.item(key, value)
    }

    fn item(&mut self, key: &[u8], value: Argument<'_, '_>) -> Result<(), Fault> {
        self.out.extend(self.separator);
        self.separator = Some(b'&');
        form_component(key, self.out);
        self.out.push(b'=');
        match value {
            Argument::Text(text) => form_component(text, self.out),
            Argument::Integer(number) => self.whole(number),
            Argument::Number(number) if number.fract() == 0.0 && number.abs() < 9e15 => {
                self.whole(number as i64)
            }
            Argument::Number(number) => self.out.extend_from_slice(number.to_string().as_bytes()),
            Argument::Truth(truth) => self.out.extend_from_slice(if truth { b"true" } else { b"false" }),
            other => {
                let key = String::from_utf8_lossy(key);
                return Err(Fault::new(format!("{key}: a {} can't be sent", other.type_name())));
            }
        }
        Ok(())
    }

    fn whole(&mut self, number: i64) {
        self.out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
    }
}

/// Headers that a session can't set: two lengths or two hosts would make a request that servers read differently.
const OWN_HEADERS: [&[u8]; 5] = [b"host", b"content-length", b"transfer-encoding", b"connection", b"cookie"];

/// Writes header lines by sorted names.
pub(crate) fn write_headers(headers: List<'_>, out: &mut Vec<u8>) -> Result<(), Fault> {
    headers.spread(|lines| {
        lines.sort_unstable_by(|a, b| text(&a.0).cmp(&text(&b.0)));
        lines.iter().try_for_each(|(name, value)| {
            let name = text(name).ok_or_else(|| Fault::new("a header's name is a string"))?;
            header_name(name)?;
            let mut digits = itoa::Buffer::new();
            let value = match value {
                Argument::Text(value) => value,
                Argument::Integer(number) => digits.format(*number).as_bytes(),
                other => {
                    return Err(Fault::new(format!(
                        "a header's value is a string, not a {}",
                        other.type_name()
                    )));
                }
            };
            if value.iter().any(|byte| matches!(byte, b'\r' | b'\n' | 0)) {
                return Err(Fault::new("a line break stands in a header's value"));
            }
            for part in [name, b": ", value, b"\r\n"] {
                out.extend_from_slice(part);
            }
            Ok(())
        })
    })
}

/// Whether it is a word as methods and headers' names are (RFC 9110 section 5.6.2).
pub(crate) fn is_token(text: &[u8]) -> bool {
    let of_token = |byte: &u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(byte);
    !text.is_empty() && text.iter().all(of_token)
}

fn header_name(name: &[u8]) -> Result<(), Fault> {
    let shown = || String::from_utf8_lossy(name);
    if !is_token(name) {
        return Err(Fault::new(format!("`{}` is not a header's name", shown())));
    }
    if OWN_HEADERS.iter().any(|own| name.eq_ignore_ascii_case(own)) {
        return Err(Fault::new(format!("the header {} is the generator's own", shown())));
    }
    Ok(())
}
