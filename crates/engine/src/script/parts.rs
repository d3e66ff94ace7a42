//! The parts of a `multipart/form-data` body, as a session writes them down.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::stack::{Argument, Fault, List};
use crate::http::multipart::{Body, Form};

/// Files of the kit by name, shared by all threads.
pub type Files = BTreeMap<String, Arc<[u8]>>;

/// The body and its content type. An element of the list is `{ name = "title", value = "x" }`, or a file:
/// `{ name = "photo", file = "photo.jpg", type = "image/jpeg" }`, with `contents = "…"` when it is not one of the kit's
/// own. `random` makes the boundary.
pub(crate) fn read(parts: List<'_>, files: &Files, random: u64) -> Result<(Body, String), Fault> {
    let mut form = Form::new(random);
    for number in 1..=parts.len() as i64 {
        parts.at(number, |part| match part {
            Argument::List(part) => add(part, files, &mut form),
            _ => Err(wrong()),
        })?;
    }
    let content_type = form.content_type();
    Ok((form.finish(), content_type))
}

fn wrong() -> Fault {
    Fault::new("a part is { name =, value = } or { name =, file =, contents =, type = }, all of them texts")
}

fn add(part: List<'_>, files: &Files, form: &mut Form) -> Result<(), Fault> {
    part.spread(|pairs| {
        let (mut name, mut value, mut file, mut contents, mut content_type) = (None, None, None, None, "");
        for pair in pairs.iter() {
            let (Argument::Text(key), Argument::Text(text)) = *pair else { return Err(wrong()) };
            let words = || std::str::from_utf8(text).map_err(|_| wrong());
            match key {
                b"name" => name = Some(words()?),
                b"value" => value = Some(text),
                b"file" => file = Some(words()?),
                b"contents" => contents = Some(text),
                b"type" => content_type = words()?,
                _ => return Err(wrong()),
            }
        }
        match (name, value, file, contents) {
            (Some(name), Some(value), None, None) => form.field(name, value),
            (Some(name), None, Some(file), Some(contents)) => {
                form.file(name, file, content_type, Arc::from(contents));
            }
            (Some(name), None, Some(file), None) => {
                let contents = files.get(file).ok_or_else(|| {
                    let known: Vec<&str> = files.keys().map(String::as_str).collect();
                    Fault::new(format!("`{file}` is none of the kit's `files` ({})", known.join(", ")))
                })?;
                form.file(name, file, content_type, Arc::clone(contents));
            }
            _ => return Err(wrong()),
        }
        Ok(())
    })
}
