//! The files of the file set as the servers left them, for `check.lua`: read and listed, within bounds. Servers may have put
//! anything there, so no symbolic link is followed and nothing but regular files is read.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};

use mlua::{Error, Lua, Table, Value};
use rustix::fs::{Dir, FileType, Mode, OFlags, ResolveFlags, open, openat2, statat};

/// A longer file is refused: it would fill the script's memory.
const MAX_FILE_BYTES: u64 = 4 << 20;
/// What one check reads in all; a check is no second run.
const MAX_BYTES: u64 = 1 << 30;
/// Names that one listing may look at.
const MAX_NAMES: usize = 100_000;

/// The directory of a file set, to be looked at.
pub(super) struct DataFiles {
    /// Absent where there is none to look into.
    root: Option<PathBuf>,
    read_bytes: Cell<u64>,
}

impl DataFiles {
    /// Those below `root`.
    pub(super) fn new(root: Option<&Path>) -> DataFiles {
        DataFiles { root: root.map(Path::to_path_buf), read_bytes: Cell::new(0) }
    }

    /// `read_file(PATH)`: the file's bytes, or nil where there is none.
    pub(super) fn read(&self, lua: &Lua, path: &str) -> mlua::Result<Value> {
        let opened = self.open(path, OFlags::RDONLY)?;
        let Some(mut file) = opened.map(File::from) else { return Ok(Value::Nil) };
        let about = file.metadata().map_err(|error| wrong(path, &error.to_string()))?;
        if !about.is_file() {
            return Err(wrong(path, "it is no regular file"));
        }
        let mut bytes = Vec::new();
        let read = (&mut file).take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes);
        read.map_err(|error| wrong(path, &error.to_string()))?;
        if bytes.len() as u64 > MAX_FILE_BYTES {
            return Err(wrong(path, "it is longer than the 4 MiB that a check may look at"));
        }
        self.read_bytes.set(self.read_bytes.get() + bytes.len() as u64);
        if self.read_bytes.get() > MAX_BYTES {
            return Err(wrong(path, "this check has read 1 GiB of files: look at fewer of them"));
        }
        Ok(Value::String(lua.create_string(&bytes)?))
    }

    /// `list_files(FOLDER)`: the paths of all regular files below it in alphabetical order, or nil where there is no such folder.
    pub(super) fn list(&self, lua: &Lua, folder: &str) -> mlua::Result<Option<Table>> {
        let folder = folder.trim_end_matches('/');
        let Some(first) = self.open(folder, OFlags::RDONLY | OFlags::DIRECTORY)? else { return Ok(None) };
        let (mut found, mut seen) = (BTreeSet::new(), 0);
        let mut folders = vec![(folder.to_string(), first)];
        while let Some((path, fd)) = folders.pop() {
            for (name, kind) in entries(&fd).map_err(|error| wrong(&path, &error.to_string()))? {
                seen += 1;
                if seen > MAX_NAMES {
                    return Err(wrong(folder, "it has more than the 100,000 names that a check may look at"));
                }
                let inside = if path.is_empty() { name } else { format!("{path}/{name}") };
                match kind {
                    FileType::RegularFile => _ = found.insert(inside),
                    FileType::Directory => {
                        let opened = self.open(&inside, OFlags::RDONLY | OFlags::DIRECTORY)?;
                        folders.extend(opened.map(|fd| (inside, fd)));
                    }
                    _ => {}
                }
            }
        }
        lua.create_sequence_from(found).map(Some)
    }

    /// Opens what is inside of the root, by no link; nothing where there is none.
    fn open(&self, path: &str, flags: OFlags) -> mlua::Result<Option<OwnedFd>> {
        let root = self.root.as_ref();
        let root =
            root.ok_or_else(|| Error::runtime("there is no file set that this check could look into"))?;
        let inside = |part: Component<'_>| matches!(part, Component::Normal(_));
        if !Path::new(path).components().all(inside) {
            return Err(wrong(path, "it is no path inside of the file set: relative, and without `..`"));
        }
        let path_or_root = if path.is_empty() { "." } else { path };
        let flags = flags | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let within = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        let root = open(root, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty());
        match root.and_then(|root| openat2(root, path_or_root, flags, Mode::empty(), within)) {
            Ok(fd) => Ok(Some(fd)),
            Err(rustix::io::Errno::NOENT | rustix::io::Errno::NOTDIR) => Ok(None),
            Err(rustix::io::Errno::LOOP) => Err(wrong(path, "a symbolic link stands in its place")),
            Err(error) => Err(wrong(path, &error.to_string())),
        }
    }
}

/// Names in a folder that are text, and what they are.
fn entries(folder: &OwnedFd) -> io::Result<Vec<(String, FileType)>> {
    let mut found = Vec::new();
    for entry in Dir::read_from(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name == "." || name == ".." {
            continue;
        }
        let kind = match entry.file_type() {
            // Not every file system says it.
            FileType::Unknown => {
                let about = statat(folder, entry.file_name(), rustix::fs::AtFlags::SYMLINK_NOFOLLOW)?;
                FileType::from_raw_mode(about.st_mode)
            }
            kind => kind,
        };
        found.push((name, kind));
    }
    Ok(found)
}

fn wrong(path: &str, what: &str) -> Error {
    Error::runtime(format!("`{path}` of the file set: {what}"))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use rustix::fs::CWD;

    use super::*;

    /// `outside` beside a set with `a/one`, `a/b/two`, a link `a/away` to outside and a pipe `a/pipe`.
    fn set() -> (tempfile::TempDir, DataFiles) {
        let dir = tempfile::tempdir().expect("a directory");
        let root = dir.path().join("set");
        fs::create_dir_all(root.join("a/b")).expect("a directory");
        fs::write(dir.path().join("outside"), "secret").expect("a file");
        fs::write(root.join("a/one"), "first\nsecond").expect("a file");
        fs::write(root.join("a/b/two"), b"\xff\x00").expect("a file");
        symlink(dir.path().join("outside"), root.join("a/away")).expect("a link");
        symlink(dir.path(), root.join("a/up")).expect("a link");
        rustix::fs::mkfifoat(CWD, root.join("a/pipe"), Mode::RWXU).expect("a pipe");
        let files = DataFiles::new(Some(&root));
        (dir, files)
    }

    fn text(files: &DataFiles, path: &str) -> mlua::Result<Option<Vec<u8>>> {
        Ok(files.read(&Lua::new(), path)?.as_string().map(|text| text.as_bytes().to_vec()))
    }

    fn names(files: &DataFiles, folder: &str) -> mlua::Result<Option<Vec<String>>> {
        let lua = Lua::new();
        files.list(&lua, folder)?.map(|table| table.sequence_values().collect()).transpose()
    }

    #[test]
    fn files_are_read_and_listed_as_they_are_and_what_is_not_there_is_nil() {
        let (_dir, files) = set();
        assert_eq!(text(&files, "a/one").expect("a file").as_deref(), Some(&b"first\nsecond"[..]));
        assert_eq!(text(&files, "a/b/two").expect("a file").as_deref(), Some(&b"\xff\x00"[..]));
        assert_eq!(text(&files, "a/none").expect("it may be gone"), None);
        assert_eq!(text(&files, "a/one/more").expect("it may be gone"), None);
        let all = ["a/b/two", "a/one"].map(str::to_string).to_vec();
        assert_eq!(names(&files, "").expect("the whole"), Some(all.clone()));
        assert_eq!(names(&files, "a/").expect("a folder"), Some(all));
        assert_eq!(names(&files, "a/b").expect("a folder"), Some(vec!["a/b/two".to_string()]));
        assert_eq!(names(&files, "none").expect("it may be gone"), None);
    }

    #[test]
    fn what_is_outside_or_no_file_or_too_long_is_refused() {
        let (dir, files) = set();
        for path in ["../outside", "/etc/passwd", "a/../../outside", "a/away", "a/up/outside", "a/pipe", "a"]
        {
            let refused = text(&files, path).expect_err(path).to_string();
            assert!(refused.contains(&format!("`{path}` of the file set")), "{refused}");
        }
        let long = File::create(dir.path().join("set/long")).expect("a file");
        long.set_len(MAX_FILE_BYTES + 1).expect("a hole");
        assert!(text(&files, "long").expect_err("it is too long").to_string().contains("4 MiB"));
        long.set_len(MAX_FILE_BYTES).expect("a hole");
        assert!(text(&files, "long").is_ok());
    }

    #[test]
    fn where_there_is_no_set_it_is_said() {
        let files = DataFiles::new(None);
        for said in [text(&files, "a").map(drop), names(&files, "a").map(drop)] {
            assert!(said.expect_err("there is none").to_string().contains("no file set"));
        }
    }

    #[test]
    fn a_check_reads_so_much_and_no_more() {
        let (_dir, files) = set();
        files.read_bytes.set(MAX_BYTES - 12);
        assert!(text(&files, "a/one").is_ok(), "12 bytes are left");
        assert!(text(&files, "a/one").expect_err("none are").to_string().contains("1 GiB"));
    }
}
