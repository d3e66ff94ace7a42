//! Files of a run, a study or a job: opened beneath its directory and nowhere else. Servers under users of their own write logs
//! there, so that a name may lead anywhere, or to a pipe that nobody writes.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

/// The regular file `inner` of `directory`: no link, no pipe, nothing outside.
///
/// # Errors
/// There is no such file.
pub(crate) fn open_beneath(directory: &Path, inner: &str) -> io::Result<File> {
    store::open_beneath(directory, Path::new(inner))
}

/// The last `max_bytes` of a file, and whether that is not all.
///
/// # Errors
/// It can't be read.
pub(crate) fn end_of(mut file: File, max_bytes: u64) -> io::Result<(Vec<u8>, bool)> {
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(max_bytes)))?;
    let mut bytes = Vec::new();
    file.take(max_bytes).read_to_end(&mut bytes)?;
    Ok((bytes, length > max_bytes))
}

/// The same as text; empty where there is no such file.
pub(crate) fn text_end(path: &Path, max_bytes: u64) -> String {
    let read = File::open(path).and_then(|file| end_of(file, max_bytes));
    read.map_or_else(|_| String::new(), |(bytes, _)| String::from_utf8_lossy(&bytes).into_owned())
}

/// The names and sizes of the regular files beneath `directory`, in their order, at most `max` of them.
pub(crate) fn list(directory: &Path, max: usize) -> Vec<(String, u64)> {
    let mut found = Vec::new();
    collect(directory, "", &mut found, max);
    found
}

fn collect(directory: &Path, before: &str, found: &mut Vec<(String, u64)>, max: usize) {
    let mut entries: Vec<_> = fs::read_dir(directory).into_iter().flatten().flatten().collect();
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let (Ok(kind), Ok(name)) = (entry.file_type(), entry.file_name().into_string()) else { continue };
        let inner = format!("{before}{name}");
        if kind.is_dir() && before.matches('/').count() < 4 {
            collect(&entry.path(), &format!("{inner}/"), found, max);
        } else if kind.is_file() && found.len() < max {
            found.push((inner, entry.metadata().map_or(0, |metadata| metadata.len())));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn only_regular_files_beneath_the_directory_can_be_read() {
        let home = tempfile::tempdir().expect("a directory");
        let run = home.path().join("run");
        fs::create_dir_all(run.join("logs")).expect("a directory");
        fs::write(home.path().join("secret"), "s").expect("a file");
        fs::write(run.join("logs/access.log"), "line").expect("a file");
        symlink("/etc/shadow", run.join("logs/shadow")).expect("a link");
        symlink("access.log", run.join("logs/link")).expect("a link");
        symlink("/etc", run.join("etc")).expect("a link");
        let made = std::process::Command::new("mkfifo").arg(run.join("logs/pipe")).status();
        assert!(made.is_ok_and(|status| status.success()), "coreutils are here");
        assert!(open_beneath(&run, "logs/access.log").is_ok());
        for name in [
            "logs/shadow",
            "logs/link",
            "etc/passwd",
            "../secret",
            "/etc/passwd",
            "logs",
            "logs/pipe",
            "",
            "a\0b",
        ] {
            assert!(open_beneath(&run, name).is_err(), "{name:?}");
        }
        assert_eq!(list(&run, 10), [("logs/access.log".to_string(), 4)]);
    }

    #[test]
    fn of_a_large_file_its_end_is_read() {
        let home = tempfile::tempdir().expect("a directory");
        let path = home.path().join("log");
        fs::write(&path, "0123456789").expect("a file");
        assert_eq!(text_end(&path, 4), "6789");
        let file = File::open(&path).expect("it is there");
        assert_eq!(end_of(file, 10).expect("it can be read"), (b"0123456789".to_vec(), false));
        assert_eq!(text_end(&home.path().join("none"), 4), "");
    }
}
