//! The files below a directory that is kept.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Servers run as another user: they may read the files and enter the directories, nobody may write the files.
const FILE_MODE: u32 = 0o444;
const PROGRAM_MODE: u32 = 0o555;
const FOLDER_MODE: u32 = 0o755;

/// The files below a directory, and the directories.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Tree {
    pub(super) files: Vec<PathBuf>,
    folders: Vec<PathBuf>,
    pub(super) bytes: u64,
}

impl Tree {
    pub(super) fn of(folder: &Path) -> io::Result<Tree> {
        let mut tree = Tree::default();
        tree.read(folder)?;
        Ok(tree)
    }

    /// Symbolic links are left out: no run would have them.
    fn read(&mut self, folder: &Path) -> io::Result<()> {
        self.folders.push(folder.to_path_buf());
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let kind = entry.file_type()?;
            if kind.is_dir() {
                self.read(&entry.path())?;
            } else if kind.is_file() {
                self.bytes += entry.metadata()?.len();
                self.files.push(entry.path());
            }
        }
        Ok(())
    }

    /// Makes it what every run finds, whatever the umask was when it was built: programs stay programs.
    pub(super) fn open_to_servers(&self) -> io::Result<()> {
        self.folders.iter().try_for_each(|folder| let_enter(folder))?;
        self.files.iter().try_for_each(|path| {
            let is_program = fs::metadata(path)?.permissions().mode() & 0o111 != 0;
            set_mode(path, if is_program { PROGRAM_MODE } else { FILE_MODE })
        })
    }
}

/// Lets everybody enter a directory, where they can't yet.
pub(super) fn let_enter(folder: &Path) -> io::Result<()> {
    let mode = fs::metadata(folder)?.permissions().mode();
    if mode & FOLDER_MODE == FOLDER_MODE { Ok(()) } else { set_mode(folder, FOLDER_MODE) }
}

fn set_mode(path: &Path, mode: u32) -> io::Result<()> {
    fs::set_permissions(path, fs::Permissions::from_mode(mode))
}
