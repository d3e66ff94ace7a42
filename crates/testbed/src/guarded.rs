//! Files in folders that the servers' unprivileged user owns. That user may put anything there: a link to a file that only
//! root may read or write, a pipe that nobody writes to. So the kernel resolves a path without following any link on the
//! way (the tool's own part of it has none), only regular files that have no other name are opened, nobody is waited
//! for, and owner and mode are changed of what was opened and not of what has that name by then.

use std::ffi::OsStr;
use std::fs::{File, Permissions};
use std::io::{self, ErrorKind, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
use std::path::Path;

use rustix::fs::{AtFlags, CWD, Mode, OFlags, ResolveFlags, fcntl_setfl, mkdirat, openat, openat2, unlinkat};

/// Opens a file to be read.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    regular(resolve(path, OFlags::RDONLY, Mode::empty())?)
}

/// Opens a file to be appended to, and makes it if there is none; it belongs to `owner`, if there is one.
pub(crate) fn append(path: &Path, mode: u32, owner: Option<u32>) -> io::Result<File> {
    let flags = OFlags::WRONLY | OFlags::APPEND | OFlags::CREATE;
    let file = regular(resolve(path, flags, Mode::from_raw_mode(mode))?)?;
    // Whoever inherits it is to find it as usual.
    fcntl_setfl(&file, OFlags::APPEND)?;
    give(&file, owner)?;
    Ok(file)
}

/// Writes a file in the place of whatever has that name, unless that is a directory; it belongs to `owner`, and others can't
/// read it.
pub(crate) fn replace(path: &Path, bytes: &[u8], owner: Option<u32>) -> io::Result<()> {
    let (folder, name) = folder_and_name(path)?;
    match unlinkat(&folder, name, AtFlags::empty()) {
        Err(rustix::io::Errno::NOENT) | Ok(()) => {}
        Err(error) => return Err(error.into()),
    }
    let mut file = make_at(&folder, name, 0o600)?;
    file.write_all(bytes)?;
    file.set_permissions(Permissions::from_mode(0o600))?;
    give(&file, owner)
}

/// Makes a file to be written that was not there before.
pub(crate) fn make(path: &Path, mode: u32) -> io::Result<File> {
    let (folder, name) = folder_and_name(path)?;
    make_at(&folder, name, mode)
}

/// Writes over a file, which keeps its owner and mode.
pub(crate) fn overwrite(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = regular(resolve(path, OFlags::WRONLY, Mode::empty())?)?;
    file.set_len(0)?;
    file.write_all(bytes)
}

/// Makes a directory that only its owner may enter; one that exists keeps its mode. Its parent must be there.
pub(crate) fn make_dir(path: &Path, owner: Option<u32>) -> io::Result<()> {
    let (folder, name) = folder_and_name(path)?;
    match mkdirat(&folder, name, Mode::RWXU) {
        Err(rustix::io::Errno::EXIST) | Ok(()) => {}
        Err(error) => return Err(error.into()),
    }
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    give(&File::from(openat(&folder, name, flags, Mode::empty())?), owner)
}

/// The directory that a path's last part is in, and that part.
fn folder_and_name(path: &Path) -> io::Result<(OwnedFd, &OsStr)> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::Error::new(ErrorKind::InvalidInput, "it has no name"));
    };
    Ok((resolve(parent, OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty())?, name))
}

/// No link is followed, wherever it stands, and no pipe waited for.
fn resolve(path: &Path, flags: OFlags, mode: Mode) -> io::Result<OwnedFd> {
    let flags = flags | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let links = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    match openat2(CWD, path, flags, mode, links) {
        Ok(fd) => Ok(fd),
        Err(rustix::io::Errno::LOOP) => Err(refused("a symbolic link stands in its place")),
        // A pipe that nobody reads.
        Err(rustix::io::Errno::NXIO) => Err(refused("it is no regular file")),
        Err(error) => Err(error.into()),
    }
}

fn make_at(folder: &OwnedFd, name: &OsStr, mode: u32) -> io::Result<File> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(File::from(openat(folder, name, flags, Mode::from_raw_mode(mode))?))
}

/// Refuses what is no file, and a file that has another name: that may be somebody else's.
fn regular(fd: OwnedFd) -> io::Result<File> {
    let file = File::from(fd);
    let about = file.metadata()?;
    if !about.is_file() {
        return Err(refused("it is no regular file"));
    }
    if about.nlink() > 1 {
        return Err(refused("it has another name elsewhere"));
    }
    Ok(file)
}

fn give(file: &File, owner: Option<u32>) -> io::Result<()> {
    owner.map_or(Ok(()), |uid| fchown(file, Some(uid), Some(uid)))
}

fn refused(why: &str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, format!("{why}, so it is not touched"))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::path::PathBuf;

    use super::*;

    /// A folder, and a file outside of it that must neither be read nor changed.
    fn folder() -> (tempfile::TempDir, PathBuf, PathBuf) {
        let dir = tempfile::tempdir().expect("a directory");
        let root = fs::canonicalize(dir.path()).expect("it is there");
        let secret = root.join("secret");
        fs::write(&secret, "secret").expect("a file");
        fs::create_dir_all(root.join("server/logs")).expect("a directory");
        (dir, root.join("server/logs"), secret)
    }

    type Way = (&'static str, fn(&Path) -> io::Result<()>);

    /// Every way to touch a path, by its name.
    fn ways() -> [Way; 5] {
        [
            ("open", |path| open(path).map(drop)),
            ("append", |path| append(path, 0o644, None).map(drop)),
            ("make", |path| make(path, 0o600).map(drop)),
            ("overwrite", |path| overwrite(path, b"changed")),
            ("make_dir", |path| make_dir(path, None)),
        ]
    }

    #[test]
    fn what_is_no_file_of_its_own_is_refused_at_once_and_stays_as_it_is() {
        let (_dir, logs, secret) = folder();
        symlink(&secret, logs.join("link")).expect("a link");
        symlink(logs.join("nowhere"), logs.join("dangling")).expect("a link");
        fs::hard_link(&secret, logs.join("name")).expect("a link");
        rustix::fs::mkfifoat(CWD, logs.join("pipe"), Mode::RWXU).expect("a pipe");
        for name in ["link", "dangling", "name", "pipe"] {
            for (way, touch) in ways() {
                assert!(touch(&logs.join(name)).is_err(), "{way} of {name} must be refused");
            }
        }
        assert_eq!(fs::read_to_string(&secret).expect("it is there"), "secret");
        assert!(!logs.join("nowhere").exists());
    }

    #[test]
    fn a_link_in_place_of_a_folder_is_not_followed() {
        let (_dir, logs, secret) = folder();
        let elsewhere = secret.parent().expect("a directory");
        symlink(elsewhere, logs.join("folder")).expect("a link");
        for (way, touch) in ways() {
            assert!(touch(&logs.join("folder/secret")).is_err(), "{way} must be refused");
        }
        assert!(replace(&logs.join("folder/secret"), b"changed", None).is_err());
        assert_eq!(fs::read_to_string(&secret).expect("it is there"), "secret");
    }

    #[test]
    fn what_is_replaced_is_the_name_and_not_what_it_led_to() {
        let (_dir, logs, secret) = folder();
        symlink(&secret, logs.join("link")).expect("a link");
        fs::hard_link(&secret, logs.join("name")).expect("a link");
        rustix::fs::mkfifoat(CWD, logs.join("pipe"), Mode::RWXU).expect("a pipe");
        for name in ["link", "name", "pipe", "new"] {
            replace(&logs.join(name), b"ours", None).expect("a new file");
            let about = fs::symlink_metadata(logs.join(name)).expect("it is there");
            assert_eq!((about.is_file(), about.nlink(), about.mode() & 0o777), (true, 1, 0o600), "{name}");
        }
        assert_eq!(fs::read_to_string(&secret).expect("it is there"), "secret");
    }

    #[test]
    fn a_file_of_its_own_is_read_appended_to_and_written_over() {
        let (_dir, logs, _) = folder();
        let path = logs.join("error.log");
        for part in ["one ", "two"] {
            append(&path, 0o644, None).and_then(|mut file| file.write_all(part.as_bytes())).expect("a file");
        }
        let said = open(&path).and_then(io::read_to_string).expect("a file");
        assert_eq!(said, "one two");
        overwrite(&path, b"new").expect("a file");
        assert_eq!(fs::read_to_string(&path).expect("a file"), "new");
        assert_eq!(open(&logs.join("none")).expect_err("it is not there").kind(), ErrorKind::NotFound);
    }
}
