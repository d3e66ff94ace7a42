//! The scripts that the far side runs.
//!
//! A login shell there may be any (fish, csh), so the command line has only a fixed word in it, which reads the script from
//! its input, byte by byte: what follows is content. So no value is on a command line, where other users would see it.

use model::{Problem, Result};

/// Printed before and after an answer: a startup file may print too.
pub(super) const BEGIN: &str = "plimsoll-begin\n";
pub(super) const END: &str = "plimsoll-end\n";

/// What all scripts know. They run in braces: a script that did not arrive whole is a syntax error, and does nothing.
const PREAMBLE: &str = r#"
set -u -f
umask 077
LC_ALL=C; export LC_ALL
fail() { printf '%s\n' "$1" >&2; exit 3; }
say() { printf '%s %s\n' "$1" "$2"; }
pause() { sleep 0.05 2>/dev/null || sleep 1; }
sum() { sha256sum <"$1" | cut -d' ' -f1; }
boot() { cat /proc/sys/kernel/random/boot_id 2>/dev/null; }
# Sets state, session and ticks (the start time); a name in parentheses may hold anything, parentheses too.
read_stat() {
    line=$(cat "/proc/$1/stat" 2>/dev/null) && [ -n "$line" ] || return 1
    set -- ${line##*) }
    state=$1 session=$4 ticks=${20}
}
runs() {
    [ "$(boot)" = "$own_boot" ] && read_stat "$pid" && [ "$ticks" = "$own_ticks" ] && [ "$state" != Z ] && [ "$state" != X ]
}
cache=${XDG_CACHE_HOME:-}
case $cache in /*) ;; *) cache=${HOME:?}/.cache ;; esac
root=$cache/plimsoll
"#;

/// A script: `body` is a function's, in which `$name` is each of `values`.
///
/// # Errors
/// A value that no shell can have.
pub(super) fn script(values: &[(&str, &str)], body: &str) -> Result<String> {
    let mut text = format!("{{\nprintf '{}\\n'\n{PREAMBLE}", BEGIN.trim_end());
    for (name, value) in values {
        text.push_str(&format!("{name}={}\n", checked(value)?));
    }
    text.push_str(&format!("main() {{\n{body}\n}}\nmain\nprintf '{}\\n'\n}}\n", END.trim_end()));
    Ok(text)
}

/// The words, each quoted, with blanks between.
///
/// # Errors
/// As [`script`].
pub(super) fn words(list: &[String]) -> Result<String> {
    let words: Result<Vec<String>> = list.iter().map(|word| checked(word)).collect();
    Ok(words?.join(" "))
}

fn checked(value: &str) -> Result<String> {
    if value.contains('\0') {
        let what = format!("{:?} has a zero byte in it, which no command can be given", value);
        return Err(Problem::recipe(what).into());
    }
    Ok(quoted(value))
}

/// One word for a POSIX shell, whatever is in it.
pub(super) fn quoted(value: &str) -> String {
    format!("'{}'", value.replace('\'', r"'\''"))
}

/// The command line that reads a script of that length from its input and runs it.
pub(super) fn command_line(script: &str) -> String {
    format!("sh -c 'eval \"$(dd bs=1 count={} 2>/dev/null)\"'", script.len())
}

/// Refuses a name below our folder that would lead out of it.
///
/// # Errors
/// A name that is empty, absolute, has `.` or `..` or an empty part, or control characters.
pub(super) fn check_name(name: &str) -> Result<()> {
    let wrong = |part: &str| part.is_empty() || part == "." || part == ".." || part.len() > 200;
    if name.split('/').any(wrong) || name.chars().any(char::is_control) {
        return Err(Problem::bug(format!("{name:?} is no name below a host's cache folder")).into());
    }
    Ok(())
}
