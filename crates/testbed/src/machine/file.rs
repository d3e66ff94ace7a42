//! A file of the kernel that is a setting: read, written, put back.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::Path;

use model::catalogue::machine_knob::FileForm;
use model::{Problem, Result};

use super::claim;

/// Why nobody else can.
pub(super) const ONLY_ROOT: &str = "only root may change it";

pub(super) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// What is in force; the error says why it can't be read, for people.
pub(super) fn value(path: &Path, form: FileForm) -> std::result::Result<String, String> {
    let text = read(path)?;
    match form {
        FileForm::Plain => Ok(text),
        FileForm::Marked => marked(&text).ok_or_else(|| format!("{} says `{text}`", path.display())),
    }
}

/// The word in brackets.
fn marked(text: &str) -> Option<String> {
    let inside = |word: &str| word.strip_prefix('[')?.strip_suffix(']').map(str::to_string);
    text.split_whitespace().find_map(inside)
}

/// One line, a blank between words.
fn read(path: &Path) -> std::result::Result<String, String> {
    let text = fs::read_to_string(path).map_err(|error| match error.kind() {
        ErrorKind::NotFound => format!("this kernel has no {}", path.display()),
        _ => format!("{}: {error}", path.display()),
    })?;
    Ok(text.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// Whether it could be written, by opening it; the error says why not, for people.
pub(super) fn check_writable(path: &Path) -> std::result::Result<(), String> {
    if !path.exists() {
        return read(path).map(|_| ());
    }
    if !is_root() {
        return Err(ONLY_ROOT.to_string());
    }
    OpenOptions::new().write(true).open(path).map(|_| ()).map_err(|error| match error.kind() {
        ErrorKind::ReadOnlyFilesystem => format!("{} is mounted for reading only", path.display()),
        _ => format!("{}: {error}", path.display()),
    })
}

/// Whether a file that shows all words that it knows has this one.
pub(super) fn check_offered(path: &Path, form: FileForm, word: &str) -> std::result::Result<(), String> {
    if form == FileForm::Plain {
        return Ok(());
    }
    let text = read(path)?;
    let offered: Vec<&str> = text.split(' ').map(|word| word.trim_matches(['[', ']'])).collect();
    match offered.contains(&word) {
        true => Ok(()),
        false => Err(format!("{} has no `{word}`, only {}", path.display(), offered.join(", "))),
    }
}

/// One write, as the kernel wants it.
pub(super) fn write(path: &Path, text: &str) -> std::result::Result<(), String> {
    // Nothing is made or cut off: it is there, or it is no setting.
    let opened = OpenOptions::new().write(true).open(path);
    let written = opened.and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|error| format!("{} doesn't take {text}: {error}", path.display()))
}

/// Writes back what was found, whatever stands there now, and lets others have the setting. One whose file is gone, with its cable, is back.
pub(crate) fn put_back(path: &Path, found: &str, owner: &str) -> Result<()> {
    if path.exists() && !stands(path, found) {
        write(path, found).map_err(|why| {
            let what = format!("{} could not be put back to {found}: {why}", path.display());
            Problem::environment(what).remedy(format!("as root: echo {found} > {}", path.display()))
        })?;
    }
    claim::release(path, owner);
    Ok(())
}

/// Whether it is as it was found, in either form.
fn stands(path: &Path, found: &str) -> bool {
    read(path).is_ok_and(|text| text == found || marked(&text).as_deref() == Some(found))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_value_in_force_is_the_word_in_brackets_or_the_whole_line() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("setting");
        fs::write(&path, "always [madvise] never\n").expect("a file");
        assert_eq!(value(&path, FileForm::Marked), Ok("madvise".to_string()));
        assert!(check_offered(&path, FileForm::Marked, "never").is_ok());
        let why = check_offered(&path, FileForm::Marked, "bfq").expect_err("there is none");
        assert!(why.ends_with("has no `bfq`, only always, madvise, never"), "{why}");
        fs::write(&path, "4096\t131072\t33554432\n").expect("a file");
        assert_eq!(value(&path, FileForm::Plain), Ok("4096 131072 33554432".to_string()));
        assert!(value(&path, FileForm::Marked).is_err(), "nothing is marked");
        let none = value(&dir.path().join("none"), FileForm::Plain).expect_err("there is none");
        assert!(none.starts_with("this kernel has no "), "{none}");
    }

    #[test]
    fn what_was_found_is_written_back_and_a_file_that_is_gone_is_none_to_mend() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("setting");
        fs::write(&path, "10").expect("a file");
        put_back(&path, "60", "a lab").expect("it can be written");
        assert_eq!(fs::read_to_string(&path).expect("a file"), "60");
        fs::remove_file(&path).expect("removal");
        put_back(&path, "60", "a lab").expect("it is gone with what it was of");
        assert!(!path.exists(), "nothing is made");
    }
}
