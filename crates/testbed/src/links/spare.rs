//! Links that serve again. Half a million of them take eleven seconds to make and as long to remove, a look at them takes three: so
//! the tree that a stack leaves lies beside the kept files until the next one takes it, and is made what it was.
//!
//! Whoever takes it has it alone, because a directory can be renamed by one only; who comes second makes links of its own. One
//! that is killed with its lab is lost with it, and nothing else is.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::{self, FileType, Permissions};
use std::io;
use std::os::unix::fs::{DirEntryExt, PermissionsExt};
use std::path::{Path, PathBuf};

use model::Result;

use super::{link_entry, link_tree};
use crate::disk;

/// Makes `to` a tree of links to the files of `kept`, as [`link_tree`] does, from the one that was given back where there is one.
pub(crate) fn take_tree(kept: &Path, to: &Path, owner: Option<u32>) -> Result<()> {
    let spare = spare_dir(kept);
    let is_there = fs::symlink_metadata(&spare).is_ok_and(|about| about.is_dir());
    if !is_there || fs::rename(&spare, to).is_err() {
        return link_tree(kept, to, owner);
    }
    mend(kept, to, owner).or_else(|_| {
        disk::remove_dir(to)?;
        link_tree(kept, to, owner)
    })
}

/// Takes a tree of links to the files of `kept` back. Nobody may write into it any more. It stays where it is when another one
/// was given back already.
pub(crate) fn give_back(kept: &Path, tree: &Path) {
    _ = fs::rename(tree, spare_dir(kept));
}

/// Beside the kept files.
fn spare_dir(kept: &Path) -> PathBuf {
    let mut name = kept.file_name().unwrap_or_default().to_os_string();
    name.push(".links");
    kept.with_file_name(name)
}

/// Makes a tree that servers have written into one of links to `kept` alone again. Names and inode numbers tell: a kept file
/// can't be changed, only its link replaced.
fn mend(kept: &Path, tree: &Path, owner: Option<u32>) -> Result<()> {
    disk::make_private_dir(tree, owner)?;
    let open = Permissions::from_mode(0o700);
    fs::set_permissions(tree, open).map_err(|error| disk::failed("open", tree, &error))?;
    let mut left = entries(tree).map_err(|error| disk::failed("read", tree, &error))?;
    let unreadable = |error: io::Error| disk::failed("read", kept, &error);
    for entry in fs::read_dir(kept).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let kind = entry.file_type().map_err(unreadable)?;
        let target = tree.join(entry.file_name());
        match left.remove(&entry.file_name()) {
            Some((_, own)) if kind.is_dir() && own.is_dir() => mend(&entry.path(), &target, owner)?,
            Some((inode, own)) if kind.is_file() && own.is_file() && inode == entry.ino() => {}
            own => {
                own.map_or(Ok(()), |(_, own)| remove(&target, own))?;
                link_entry(&entry, &target, owner, &|kept, target| fs::hard_link(kept, target))?;
            }
        }
    }
    for (name, (_, kind)) in left {
        remove(&tree.join(name), kind)?;
    }
    Ok(())
}

/// What is in a directory: its inode, and what it is itself where it is a link.
fn entries(folder: &Path) -> io::Result<HashMap<OsString, (u64, FileType)>> {
    let about = |entry: fs::DirEntry| Ok((entry.file_name(), (entry.ino(), entry.file_type()?)));
    fs::read_dir(folder)?.map(|entry| entry.and_then(about)).collect()
}

fn remove(path: &Path, kind: FileType) -> Result<()> {
    if kind.is_dir() { disk::remove_dir(path) } else { disk::remove_file(path) }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::os::unix::fs::{MetadataExt, symlink};

    use super::*;

    /// Kept files `a/b/one` and `a/two`, and a tree of links to them.
    fn kept_and_linked() -> (tempfile::TempDir, PathBuf, PathBuf) {
        let dir = tempfile::tempdir().expect("a directory");
        let (kept, run) = (dir.path().join("kept"), dir.path().join("run"));
        fs::create_dir_all(kept.join("a/b")).expect("a directory");
        for name in ["a/b/one", "a/two"] {
            fs::write(kept.join(name), name).expect("a file");
            fs::set_permissions(kept.join(name), Permissions::from_mode(0o444)).expect("it is ours");
        }
        take_tree(&kept, &run, None).expect("it is linked");
        (dir, kept, run)
    }

    /// Every path below, with its inode where it is a file.
    fn tree(root: &Path) -> BTreeMap<PathBuf, Option<u64>> {
        let mut found = BTreeMap::new();
        let mut folders = vec![root.to_path_buf()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).expect("a directory") {
                let entry = entry.expect("an entry");
                let about = fs::symlink_metadata(entry.path()).expect("it is there");
                if about.is_dir() {
                    folders.push(entry.path());
                }
                let path = entry.path().strip_prefix(root).expect("below").to_path_buf();
                found.insert(path, (!about.is_dir()).then(|| about.ino()));
            }
        }
        found
    }

    #[test]
    fn a_tree_that_was_given_back_is_taken_again_and_is_what_it_was() {
        let (dir, kept, run) = kept_and_linked();
        let folder = fs::metadata(&run).expect("it is there").ino();
        let outside = dir.path().join("outside");
        fs::create_dir(&outside).expect("a directory");
        fs::write(outside.join("not ours"), "stays").expect("a file");
        // All that a server may do to a directory of its own.
        fs::write(run.join("a/new"), "new").expect("it may");
        fs::rename(run.join("a/new"), run.join("a/two")).expect("it may");
        fs::create_dir_all(run.join("a/c/d")).expect("it may");
        fs::write(run.join("a/c/d/more"), "more").expect("it may");
        fs::remove_dir_all(run.join("a/b")).expect("it may");
        symlink(&outside, run.join("a/b")).expect("it may");
        fs::set_permissions(run.join("a"), Permissions::from_mode(0o500)).expect("it may");

        give_back(&kept, &run);
        assert!(!run.exists(), "it lies beside the kept files now");
        let next = dir.path().join("next");
        take_tree(&kept, &next, None).expect("it is mended");
        assert_eq!(fs::metadata(&next).expect("it is there").ino(), folder, "it is the same directory");
        assert_eq!(tree(&next), tree(&kept), "names and files are those that were kept");
        assert_eq!(fs::metadata(next.join("a")).expect("it is there").mode() & 0o777, 0o700);
        assert_eq!(fs::read(outside.join("not ours")).expect("it is there"), b"stays");
        assert_eq!(fs::read(kept.join("a/b/one")).expect("it is there"), b"a/b/one");
    }

    #[test]
    fn two_that_want_a_tree_have_one_each_and_one_is_kept_for_the_next() {
        let (dir, kept, run) = kept_and_linked();
        give_back(&kept, &run);
        let (first, second) = (dir.path().join("first"), dir.path().join("second"));
        take_tree(&kept, &first, None).expect("it takes what was given back");
        take_tree(&kept, &second, None).expect("it makes its own");
        assert_eq!((tree(&first), tree(&second)), (tree(&kept), tree(&kept)));
        give_back(&kept, &first);
        give_back(&kept, &second);
        assert!(!first.exists() && second.exists(), "the second one goes with its stack");
    }

    #[test]
    fn what_lies_in_the_place_of_a_tree_and_is_none_is_not_used() {
        let (dir, kept, run) = kept_and_linked();
        fs::remove_dir_all(&run).expect("it is ours");
        fs::write(spare_dir(&kept), "no directory").expect("a file");
        let next = dir.path().join("next");
        take_tree(&kept, &next, None).expect("links are made anew");
        assert_eq!(tree(&next), tree(&kept));
    }
}
