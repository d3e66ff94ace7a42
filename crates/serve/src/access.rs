//! Who may do what: links that are good for one sign-in, and sessions that come of them.
//!
//! Each is a file of its own, whose name is the SHA-256 of its token: whoever reads the files can't sign in with them, a link is
//! used up by the removal of its file, which only one can do, and another process makes a link for a server that runs.

use std::collections::HashMap;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use model::{Problem, Result};
use sha2::{Digest, Sha256};

use crate::password;

/// A link that nobody has used for so long is good for nothing.
const LINK_LIFETIME: Duration = Duration::from_secs(24 * 3_600);
/// A session ends so long after the sign-in.
pub(crate) const SESSION_LIFETIME: Duration = Duration::from_secs(30 * 24 * 3_600);
/// 256 bits.
const TOKEN_BYTES: usize = 32;

/// What somebody may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// Look at everything, change nothing.
    Reader,
    /// Everything that the page can do.
    Runner,
}

impl Role {
    const ALL: [(&str, Role); 2] = [("reader", Role::Reader), ("runner", Role::Runner)];

    /// A word for it.
    pub fn word(self) -> &'static str {
        Role::ALL.iter().find(|(_, role)| *role == self).map_or("", |(word, _)| word)
    }

    fn read(word: &str) -> Option<Role> {
        Role::ALL.iter().find(|(known, _)| *known == word.trim()).map(|(_, role)| *role)
    }
}

/// Links and sessions below a home.
pub struct Access {
    directory: PathBuf,
    /// Sessions that were looked up before; one that has ended is found out when its file is gone or too old.
    known: Mutex<HashMap<String, Role>>,
}

impl Access {
    /// Those of `home`, whose directory for them is made where it is missing, for nobody else to read.
    ///
    /// # Errors
    /// It can't be made.
    pub fn open(home: &Path) -> Result<Access> {
        let directory = home.join("serve");
        for one in [&directory, &directory.join("links"), &directory.join("sessions")] {
            DirBuilder::new()
                .recursive(true)
                .mode(0o700)
                .create(one)
                .map_err(|error| failed(&error, "making the directory of links", one))?;
        }
        Ok(Access { directory, known: Mutex::default() })
    }

    /// Where everything about access is kept.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Keeps the page's address, for links that another process makes.
    ///
    /// # Errors
    /// No room.
    pub fn set_origin(&self, origin: &str) -> Result<()> {
        write(&self.directory.join("origin"), origin)
    }

    /// The address of the page that was served last; nothing before the first time.
    pub fn origin(&self) -> Option<String> {
        fs::read_to_string(self.directory.join("origin")).ok()
    }

    /// A token that is good for one sign-in within a day.
    ///
    /// # Errors
    /// No random numbers, no room.
    pub fn new_link(&self, role: Role) -> Result<String> {
        let token = token()?;
        write(&self.directory.join("links").join(name_of(&token)), role.word())?;
        Ok(token)
    }

    /// Uses a link's token up; gives that of a new session, nothing where it is no link's, was used before, or is too old.
    ///
    /// # Errors
    /// No random numbers, no room.
    pub(crate) fn redeem(&self, link: &str) -> Result<Option<String>> {
        let path = self.directory.join("links").join(name_of(link));
        let role = younger_than(&path, LINK_LIFETIME).then(|| role_in(&path)).flatten();
        // Of two that come at once the one that removes it has it.
        if fs::remove_file(&path).is_err() {
            return Ok(None);
        }
        role.map(|role| self.new_session(role)).transpose()
    }

    /// The token of a new session.
    ///
    /// # Errors
    /// No random numbers, no room.
    pub(crate) fn new_session(&self, role: Role) -> Result<String> {
        let token = token()?;
        write(&self.session(&token), role.word())?;
        Ok(token)
    }

    /// What the session with that token may do; nothing where there is none.
    pub(crate) fn role_of(&self, session: &str) -> Option<Role> {
        let path = self.session(session);
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let name = name_of(session);
        if !younger_than(&path, SESSION_LIFETIME) {
            known.remove(&name);
            return None;
        }
        if let Some(role) = known.get(&name) {
            return Some(*role);
        }
        let role = role_in(&path)?;
        known.insert(name, role);
        Some(role)
    }

    /// Ends the session with that token.
    pub(crate) fn end(&self, session: &str) {
        _ = fs::remove_file(self.session(session));
    }

    /// Keeps what a password is checked by.
    ///
    /// # Errors
    /// It is too short; no room.
    pub fn set_password(&self, password: &str) -> Result<()> {
        write(&self.password_file(), &password::hash(password, &random()?)?)
    }

    /// Whether a password was ever set.
    pub fn has_password(&self) -> bool {
        self.password_file().is_file()
    }

    /// Whether that is the password. It takes a while on purpose.
    pub(crate) fn is_password(&self, password: &str) -> bool {
        fs::read_to_string(self.password_file()).is_ok_and(|hash| password::verify(password, &hash))
    }

    fn password_file(&self) -> PathBuf {
        self.directory.join("password")
    }

    fn session(&self, token: &str) -> PathBuf {
        self.directory.join("sessions").join(name_of(token))
    }
}

/// The name of the file of a token; whatever the token is, it is a name.
fn name_of(token: &str) -> String {
    hex(&Sha256::digest(token.as_bytes()))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn token() -> Result<String> {
    Ok(hex(&random()?))
}

fn random() -> Result<[u8; TOKEN_BYTES]> {
    let (mut bytes, source) = ([0; TOKEN_BYTES], Path::new("/dev/urandom"));
    fs::File::open(source)
        .and_then(|mut file| file.read_exact(&mut bytes))
        .map_err(|error| failed(&error, "reading random numbers", source))?;
    Ok(bytes)
}

fn role_in(path: &Path) -> Option<Role> {
    Role::read(&fs::read_to_string(path).ok()?)
}

fn younger_than(path: &Path, lifetime: Duration) -> bool {
    let made = fs::metadata(path).and_then(|metadata| metadata.modified());
    // A clock that was set back makes it no older.
    made.is_ok_and(|made| made.elapsed().unwrap_or_default() < lifetime)
}

/// Writes a file that nobody else can read, whole or not at all.
fn write(path: &Path, text: &str) -> Result<()> {
    let new = path.with_extension("new");
    let write = || {
        let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&new)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&new, path)
    };
    write().map_err(|error| failed(&error, "keeping access", path).into())
}

fn failed(error: &std::io::Error, doing: &str, path: &Path) -> Problem {
    Problem::environment(format!("{doing} failed: {error}")).file(path.display().to_string())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn access() -> (tempfile::TempDir, Access) {
        let home = tempfile::tempdir().expect("a directory");
        let access = Access::open(home.path()).expect("it is writable");
        (home, access)
    }

    #[test]
    fn a_link_is_good_for_one_session_also_of_another_process_and_after_a_restart() {
        let (home, access) = access();
        let link =
            Access::open(home.path()).expect("another process").new_link(Role::Reader).expect("a link");
        let session = access.redeem(&link).expect("there is room").expect("it was not used");
        assert_eq!(access.role_of(&session), Some(Role::Reader));
        assert_eq!(access.redeem(&link).expect("there is room"), None, "it is used up");
        let again = Access::open(home.path()).expect("after a restart");
        assert_eq!(again.role_of(&session), Some(Role::Reader));
        again.end(&session);
        assert_eq!((again.role_of(&session), access.role_of(&session)), (None, None), "it has ended for all");
    }

    #[test]
    fn what_is_no_token_is_nobody() {
        let (_home, access) = access();
        for text in ["", "..", "../password", "a\0b", &"x".repeat(100_000)] {
            assert_eq!(access.role_of(text), None);
            assert_eq!(access.redeem(text).expect("there is room"), None);
        }
    }

    #[test]
    fn nothing_that_is_kept_lets_its_reader_in_and_nobody_else_can_read_it() {
        let (_home, access) = access();
        let link = access.new_link(Role::Runner).expect("a link");
        let session = access.new_session(Role::Runner).expect("a session");
        for folder in ["links", "sessions"] {
            let entries = fs::read_dir(access.directory().join(folder)).expect("it is there");
            for entry in entries.flatten() {
                let name = entry.file_name().to_string_lossy().into_owned();
                let text = fs::read_to_string(entry.path()).expect("this user may");
                assert!(
                    ![&link, &session].iter().any(|token| name.contains(*token) || text.contains(*token))
                );
                assert_eq!(entry.metadata().expect("it is there").permissions().mode() & 0o777, 0o600);
            }
        }
        let mode = fs::metadata(access.directory()).expect("it is there").permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
    }

    #[test]
    fn a_password_is_kept_as_what_it_is_checked_by() {
        let (_home, access) = access();
        assert!(!access.has_password() && !access.is_password(""));
        assert!(access.set_password("short").is_err());
        access.set_password("correct horse battery").expect("it is long enough");
        assert!(access.is_password("correct horse battery") && !access.is_password("correct horse batterx"));
        let kept = fs::read_to_string(access.directory().join("password")).expect("it is kept");
        assert!(kept.starts_with("$argon2id$") && !kept.contains("horse"), "{kept}");
    }
}
