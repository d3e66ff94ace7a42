//! A directory of links to kept files: made at once whatever their size, and what is written there stays there. A kept
//! file belongs to the tool's user and is read-only, so that a server can replace a link but never change the file.

use std::fs;
use std::path::Path;

use model::Result;

use crate::disk;

/// Makes `to` a tree like `from`: directories of `owner`'s own, in which every file is a link to the kept one. Sockets,
/// pipes and symbolic links are left out. Both must lie on the same file system.
pub(crate) fn link_tree(from: &Path, to: &Path, owner: Option<u32>) -> Result<()> {
    disk::make_private_dir(to, owner)?;
    let read = |error: std::io::Error| disk::failed("read", from, &error);
    for entry in fs::read_dir(from).map_err(read)? {
        let entry = entry.map_err(read)?;
        let kind = entry.file_type().map_err(read)?;
        let target = to.join(entry.file_name());
        if kind.is_dir() {
            link_tree(&entry.path(), &target, owner)?;
        } else if kind.is_file() {
            fs::hard_link(entry.path(), &target).map_err(|error| disk::failed("link", &target, &error))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{MetadataExt, PermissionsExt};

    #[test]
    fn links_are_to_the_same_files_and_replacing_one_leaves_the_kept_file() {
        let dir = tempfile::tempdir().expect("a directory");
        let (kept, run) = (dir.path().join("kept"), dir.path().join("run"));
        fs::create_dir_all(kept.join("a/b")).expect("a directory");
        fs::write(kept.join("a/b/one"), b"kept").expect("a file");
        fs::set_permissions(kept.join("a/b/one"), fs::Permissions::from_mode(0o444)).expect("ours");
        link_tree(&kept, &run, None).expect("they are on one file system");
        let inode = |path: &Path| fs::metadata(path).expect("it is there").ino();
        assert_eq!(inode(&kept.join("a/b/one")), inode(&run.join("a/b/one")));
        fs::write(run.join("a/new"), b"new").expect("the run's own directory");
        fs::write(run.join("a/other"), b"replaced").expect("the run's own directory");
        fs::rename(run.join("a/other"), run.join("a/b/one")).expect("a link can be replaced");
        assert_eq!(fs::read(kept.join("a/b/one")).expect("it is there"), b"kept");
        assert!(!kept.join("a/new").exists());
    }
}
