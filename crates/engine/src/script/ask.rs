//! The calls that make requests: their arguments become what the host sends, and the script waits.

use std::cell::RefCell;

use super::host::{Asked, Host};
use super::pairs;
use super::stack::{Answer, Argument, Call, Fault};

/// `get(path, query, options)`
pub(crate) fn get<'a>(host: &'a RefCell<Host>, call: Call<'a>) -> Result<Answer<'a>, Fault> {
    ask(host, call, b"GET", call.argument(2), None)
}

/// `head(path, query, options)`
pub(crate) fn head<'a>(host: &'a RefCell<Host>, call: Call<'a>) -> Result<Answer<'a>, Fault> {
    ask(host, call, b"HEAD", call.argument(2), None)
}

/// `post(path, form, options)`
pub(crate) fn post<'a>(host: &'a RefCell<Host>, call: Call<'a>) -> Result<Answer<'a>, Fault> {
    ask(host, call, b"POST", Argument::Nil, Some(call.argument(2)))
}

/// Raises where the script can't wait, before anything is changed.
pub(crate) fn can_wait(call: Call<'_>) -> Result<(), Fault> {
    if call.can_wait() {
        return Ok(());
    }
    Err(Fault::new("a session can't wait here: inside of a function that gsub, sort or an operator calls"))
}

fn ask<'a>(
    host: &'a RefCell<Host>,
    call: Call<'a>,
    method: &[u8],
    query: Argument<'a, 'a>,
    form: Option<Argument<'a, 'a>>,
) -> Result<Answer<'a>, Fault> {
    can_wait(call)?;
    let path = path(call, 1)?;
    let mut options = Options::default();
    options.read(call.argument(3))?;
    let mut host = host.borrow_mut();
    let (mut target, mut body) = (std::mem::take(&mut host.target), std::mem::take(&mut host.form));
    target.clear();
    body.clear();
    target.extend_from_slice(path);
    let separator = if path.contains(&b'?') { b'&' } else { b'?' };
    pairs::write(query, Some(separator), &mut target)?;
    if let Some(form) = form {
        pairs::write(form, None, &mut body)?;
    }
    let asked = Asked {
        method,
        target: &target,
        name: options.name,
        headers: &options.headers,
        body: form.map(|_| (&b"application/x-www-form-urlencoded"[..], &body[..])),
        expected_status: options.expected_status,
        ..Asked::default()
    };
    host.request(&asked);
    host.target = target;
    host.form = body;
    Ok(Answer::Wait)
}

fn path(call: Call<'_>, argument: i32) -> Result<&[u8], Fault> {
    let path = call.text(argument).ok_or_else(|| {
        Fault::new(format!("a path is wanted here, not a {}", call.argument(argument).type_name()))
    })?;
    if path.first() != Some(&b'/') || path.iter().any(|byte| *byte <= b' ' || matches!(byte, b'#' | 0x7f)) {
        let shown = String::from_utf8_lossy(path);
        return Err(Fault::new(format!(
            "`{shown}` is not a path: it starts with / and has no blank and no #"
        )));
    }
    Ok(path)
}

/// `{ expect = 404, name = "home", headers = { Accept = "text/css" } }`.
#[derive(Debug, Default)]
struct Options<'a> {
    expected_status: u16,
    name: Option<&'a [u8]>,
    headers: Vec<u8>,
}

impl<'a> Options<'a> {
    fn read(&mut self, options: Argument<'a, 'a>) -> Result<(), Fault> {
        let list = match options {
            Argument::Nil => return Ok(()),
            Argument::List(list) => list,
            other => return Err(Fault::new(format!("options are a table, not a {}", other.type_name()))),
        };
        list.spread(|pairs| pairs.iter().try_for_each(|(key, value)| self.option(key, value)))
    }

    fn option(&mut self, key: &Argument<'a, '_>, value: &Argument<'a, '_>) -> Result<(), Fault> {
        let Argument::Text(key) = *key else { return Err(Fault::new("options have names")) };
        match (key, *value) {
            (b"expect", Argument::Integer(status @ 100..=599)) => self.expected_status = status as u16,
            (b"name", Argument::Text(name)) => self.name = Some(name),
            (b"headers", Argument::List(headers)) => pairs::write_headers(headers, &mut self.headers)?,
            _ => {
                let key = String::from_utf8_lossy(key);
                return Err(Fault::new(format!(
                    "option `{key}` is none of expect (a status), name, headers, or has a wrong type"
                )));
            }
        }
        Ok(())
    }
}
