//! Files below our folder of a host's cache: the program, small files that nobody else may read, and their removal.

use std::fs::File;
use std::io::Cursor;
use std::path::Path;

use model::{Problem, Result};

use super::call::{Call, Content};
use super::host::SshHost;
use super::script::{check_name, script};
use crate::disk;

const LOOK: &str = r#"
target=$root/bin/$sha256
command -v sha256sum >/dev/null || fail 'there is no sha256sum (package coreutils)'
if [ -f "$target" ] && [ -x "$target" ] && [ "$(sum "$target")" = "$sha256" ]; then say there "$target"; else say missing "$target"; fi
"#;

/// Under a temporary name until it is whole: what a broken connection leaves is removed at once, or, after a power cut, by
/// the next copy an hour later. `mktemp`, since homes are shared by machines that number their processes alike.
const COPY: &str = r#"
target=$root/bin/$sha256
mkdir -p "$root/bin" && chmod 700 "$root" "$root/bin" || fail "failed to make $root/bin"
find "$root/bin" -type f -name '.part-*' -mmin +60 -exec rm -f {} + 2>/dev/null
temporary=$(mktemp "$root/bin/.part-XXXXXX") || fail "failed to make a file in $root/bin"
trap 'rm -f "$temporary"' EXIT
trap 'exit 4' HUP INT PIPE TERM
cat >"$temporary" || fail "failed to write $temporary"
[ "$(sum "$temporary")" = "$sha256" ] || fail 'what arrived is not the file: its SHA-256 is another one'
chmod 700 "$temporary" && mv -f "$temporary" "$target" || fail "failed to make $target"
[ -x "$target" ] || fail "$target can't be executed: is its file system mounted noexec?"
say there "$target"
"#;

const PUT: &str = r#"
target=$root/$name
[ ! -d "$target" ] || fail "$target is a folder"
folder=${target%/*}
mkdir -p "$folder" && chmod 700 "$root" "$folder" || fail "failed to make $folder"
temporary=$(mktemp "$folder/.part-XXXXXX") || fail "failed to make a file in $folder"
trap 'rm -f "$temporary"' EXIT
trap 'exit 4' HUP INT PIPE TERM
cat >"$temporary" || fail "failed to write $temporary"
[ "$(wc -c <"$temporary")" -eq "$size" ] || fail 'the file did not arrive whole'
chmod 600 "$temporary" && mv -f "$temporary" "$target" || fail "failed to make $target"
say there "$target"
"#;

const REMOVE: &str = r#"
target=$root/$name
if [ ! -e "$target" ] && [ ! -L "$target" ]; then say missing "$target"; return; fi
above=$(cd -P "${target%/*}" && pwd -P) || fail "failed to enter ${target%/*}"
real=$(cd -P "$root" && pwd -P) || fail "failed to enter $root"
case $above/ in "$real"/*) ;; *) fail "$target is not below $root: a link leads elsewhere" ;; esac
rm -rf "$above/${name##*/}" || fail "failed to remove $target"
say removed "$target"
"#;

impl SshHost {
    /// Copies a program to `CACHE/plimsoll/bin/SHA256` unless a file with that SHA-256 is there already; its path there.
    /// Only a whole file ever has that name. `progress` hears how many bytes of how many have gone out, and ends the copy
    /// by answering false.
    ///
    /// # Errors
    /// A `sha256` that is none, a file that can't be read or is another one, no connection, no space there.
    pub fn copy(
        &self,
        file: &Path,
        sha256: &str,
        progress: &mut dyn FnMut(u64, u64) -> bool,
    ) -> Result<String> {
        let is_hex = |c: char| c.is_ascii_digit() || ('a'..='f').contains(&c);
        if sha256.len() != 64 || !sha256.chars().all(is_hex) {
            return Err(Problem::bug(format!("{sha256:?} is no SHA-256 in lower-case hexadecimal")).into());
        }
        let operation = &format!("copy {}", file.display());
        let values = [("sha256", sha256)];
        let look = Call {
            operation: &format!("look for a copy of {}", file.display()),
            script: script(&values, LOOK)?,
            content: None,
            timeout: self.answer_timeout,
        };
        let answer = look.run(self)?;
        if let Some(path) = value(&answer, "there") {
            return Ok(path.to_string());
        }
        let unread = |error| disk::failed("read", file, &error);
        let source = File::open(file).map_err(unread)?;
        let total = source.metadata().map_err(unread)?.len();
        let mut progress = |sent| progress(sent, total);
        let content = Content { reader: Box::new(source), progress: &mut progress };
        let script = script(&values, COPY)?;
        let call = Call { operation, script, content: Some(content), timeout: self.answer_timeout };
        self.path(&call.run(self)?, operation)
    }

    /// Writes a small file that only the user there can read (0600, its folder 0700) to `CACHE/plimsoll/NAME`, at once or
    /// not at all; its path there. The bytes go by an input, not on a command line.
    ///
    /// # Errors
    /// A name that leads out of that folder, no connection, no space there.
    pub fn put(&self, name: &str, bytes: &[u8]) -> Result<String> {
        check_name(name)?;
        let operation = &format!("write {name}");
        let script = script(&[("name", name), ("size", &bytes.len().to_string())], PUT)?;
        let mut progress = |_| true;
        let content = Content { reader: Box::new(Cursor::new(bytes.to_vec())), progress: &mut progress };
        let call = Call { operation, script, content: Some(content), timeout: self.answer_timeout };
        self.path(&call.run(self)?, operation)
    }

    /// Removes `CACHE/plimsoll/FOLDER`, a folder or a file, with all that is in it; whether it was there. Links are removed,
    /// not followed.
    ///
    /// # Errors
    /// A name that leads out of that folder, itself or by a link; no connection; no right.
    pub fn remove(&self, folder: &str) -> Result<bool> {
        check_name(folder)?;
        let operation = &format!("remove {folder}");
        let script = script(&[("name", folder)], REMOVE)?;
        let answer = Call { operation, script, content: None, timeout: self.answer_timeout }.run(self)?;
        Ok(value(&answer, "removed").is_some())
    }

    fn path(&self, answer: &str, operation: &str) -> Result<String> {
        let path = value(answer, "there").filter(|path| path.starts_with('/'));
        path.map(str::to_string).ok_or_else(|| self.unclear(answer, operation).into())
    }

    /// An answer of our own script that says nothing that it can say.
    pub(super) fn unclear(&self, answer: &str, operation: &str) -> Problem {
        let shown = super::text::clean(answer.as_bytes(), 5).join("; ");
        Problem::environment(format!("{} gave no clear answer to {operation}: {shown}", self.destination()))
    }
}

/// The value of an answer's line.
pub(super) fn value<'a>(answer: &'a str, key: &str) -> Option<&'a str> {
    answer.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(' '))
}
