//! A table of Lua's as JSON.

use super::stack::{Argument, Fault, List};

/// So deep may tables lie within each other.
const MAX_DEPTH: u8 = 50;

/// Writes a value: a table with elements as a list, any other table as an object by sorted names.
pub(crate) fn write(value: Argument<'_, '_>, out: &mut Vec<u8>) -> Result<(), Fault> {
    write_at(value, 0, out)
}

fn write_at(value: Argument<'_, '_>, depth: u8, out: &mut Vec<u8>) -> Result<(), Fault> {
    match value {
        Argument::Nil => out.extend_from_slice(b"null"),
        Argument::Truth(truth) => out.extend_from_slice(if truth { b"true" } else { b"false" }),
        Argument::Integer(number) => out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes()),
        Argument::Number(number) if number.is_finite() => {
            out.extend_from_slice(number.to_string().as_bytes())
        }
        Argument::Number(number) => return Err(Fault::new(format!("{number} is no number of JSON"))),
        Argument::Text(text) => string(text, out)?,
        Argument::List(_) if depth == MAX_DEPTH => {
            return Err(Fault::new("tables lie too deep within each other for JSON"));
        }
        Argument::List(list) if list.len() > 0 => {
            out.push(b'[');
            for number in 1..=list.len() as i64 {
                if number > 1 {
                    out.push(b',');
                }
                list.at(number, |item| write_at(item, depth + 1, out))?;
            }
            out.push(b']');
        }
        Argument::List(list) => object(list, depth, out)?,
        other => return Err(Fault::new(format!("a {} can't be written as JSON", other.type_name()))),
    }
    Ok(())
}

fn object(list: List<'_>, depth: u8, out: &mut Vec<u8>) -> Result<(), Fault> {
    out.push(b'{');
    list.spread(|pairs| {
        let name = |argument: &Argument<'_, '_>| match argument {
            Argument::Text(text) => Some(text.to_vec()),
            _ => None,
        };
        pairs.sort_by_cached_key(|(key, _)| name(key));
        for (index, (key, value)) in pairs.iter().enumerate() {
            let Argument::Text(key) = key else { return Err(Fault::new("a name in JSON is a string")) };
            if index > 0 {
                out.push(b',');
            }
            string(key, out)?;
            out.push(b':');
            write_at(*value, depth + 1, out)?;
        }
        Ok(())
    })?;
    out.push(b'}');
    Ok(())
}

fn string(text: &[u8], out: &mut Vec<u8>) -> Result<(), Fault> {
    let text = std::str::from_utf8(text).map_err(|_| Fault::new("a text in JSON is UTF-8"))?;
    serde_json::to_writer(out, text).map_err(|error| Fault::new(error.to_string()))
}
