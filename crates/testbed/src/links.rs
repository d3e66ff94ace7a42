//! A directory of links to kept files: made at once whatever their size, and what is written there stays there. A kept
//! file belongs to the tool's user and is read-only, so that a server can replace a link but never change the file. Or one of
//! copies, for servers that write into files as they are.

mod spare;

use std::fs::{self, DirEntry, File, OpenOptions, Permissions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, fchown, lchown};
use std::path::Path;

use model::Result;

use crate::{disk, guarded};

pub(crate) use spare::{give_back, take_tree};

/// Makes `to` a tree like `from`: directories of `owner`'s own, in which every file is a link to the kept one. Sockets,
/// pipes and symbolic links are left out. Both must lie on the same file system. A kept file that has as many links as
/// the file system allows is copied instead.
pub(crate) fn link_tree(from: &Path, to: &Path, owner: Option<u32>) -> Result<()> {
    link_tree_by(from, to, owner, &|kept, target| fs::hard_link(kept, target))
}

fn link_tree_by(
    from: &Path,
    to: &Path,
    owner: Option<u32>,
    link: &dyn Fn(&Path, &Path) -> io::Result<()>,
) -> Result<()> {
    disk::make_private_dir(to, owner)?;
    let read = |error: std::io::Error| disk::failed("read", from, &error);
    for entry in fs::read_dir(from).map_err(read)? {
        let entry = entry.map_err(read)?;
        link_entry(&entry, &to.join(entry.file_name()), owner, link)?;
    }
    Ok(())
}

fn link_entry(
    entry: &DirEntry,
    target: &Path,
    owner: Option<u32>,
    link: &dyn Fn(&Path, &Path) -> io::Result<()>,
) -> Result<()> {
    let kind = entry.file_type().map_err(|error| disk::failed("read", &entry.path(), &error))?;
    if kind.is_dir() {
        link_tree_by(&entry.path(), target, owner, link)?;
    } else if kind.is_file() {
        link_or_copy(&entry.path(), target, link).map_err(|error| disk::failed("link", target, &error))?;
    }
    Ok(())
}

/// Keeps the tree `from`, which its owner is about to lose, as `to`: the same files, which belong to the tool's user and are
/// read-only from now on. Both must lie on the same file system. Sockets, pipes and symbolic links are left out.
pub(crate) fn keep_tree(from: &Path, to: &Path) -> Result<()> {
    link_tree(from, to, None)?;
    make_kept(to)
}

/// Makes all files below `folder` ours and read-only, and lets everybody enter.
fn make_kept(folder: &Path) -> Result<()> {
    let failed = |path: &Path| {
        let path = path.to_path_buf();
        move |error: io::Error| disk::failed("keep", &path, &error)
    };
    fs::set_permissions(folder, Permissions::from_mode(0o755)).map_err(failed(folder))?;
    for entry in fs::read_dir(folder).map_err(failed(folder))? {
        let path = entry.map_err(failed(folder))?.path();
        let about = fs::symlink_metadata(&path).map_err(failed(&path))?;
        if about.is_dir() {
            make_kept(&path)?;
        } else if about.is_file() {
            let (uid, gid) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
            lchown(&path, Some(uid), Some(gid)).map_err(failed(&path))?;
            fs::set_permissions(&path, Permissions::from_mode(0o444)).map_err(failed(&path))?;
        }
    }
    Ok(())
}

/// Makes `to` a tree like `from` of `owner`'s own files: the same bytes, dated the same, to be written by their owner alone. They
/// share their blocks with the kept ones where the file system can.
pub(crate) fn copy_tree(from: &Path, to: &Path, owner: Option<u32>) -> Result<()> {
    link_tree_by(from, to, owner, &|kept, target| copy_for(kept, target, owner))
}

fn copy_for(kept: &Path, target: &Path, owner: Option<u32>) -> io::Result<()> {
    let mut source = File::open(kept)?;
    let mut copy = match owner {
        Some(_) => guarded::make(target, 0o600)?,
        None => OpenOptions::new().write(true).create_new(true).mode(0o600).open(target)?,
    };
    if rustix::fs::ioctl_ficlone(&copy, &source).is_err() {
        io::copy(&mut source, &mut copy)?;
    }
    copy.set_modified(source.metadata()?.modified()?)?;
    owner.map_or(Ok(()), |uid| fchown(&copy, Some(uid), Some(uid)))
}

fn link_or_copy(kept: &Path, target: &Path, link: &dyn Fn(&Path, &Path) -> io::Result<()>) -> io::Result<()> {
    match link(kept, target) {
        Err(error) if error.kind() == ErrorKind::TooManyLinks => copy(kept, target),
        linked => linked,
    }
}

/// A copy is for servers what a link is: of the same owner, who isn't their user, of the same moment, and read-only.
fn copy(kept: &Path, target: &Path) -> io::Result<()> {
    let about = fs::metadata(kept)?;
    fs::copy(kept, target)?;
    let copy = File::open(target)?;
    copy.set_permissions(Permissions::from_mode(0o444))?;
    copy.set_modified(about.modified()?)?;
    fchown(&copy, Some(about.uid()), Some(about.gid()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, UNIX_EPOCH};

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
    #[test]
    fn copies_are_dated_the_same_and_written_in_place_without_changing_the_kept_files() {
        let dir = tempfile::tempdir().expect("a directory");
        let root = fs::canonicalize(dir.path()).expect("it is there");
        let (kept, run) = (root.join("kept"), root.join("run"));
        fs::create_dir_all(kept.join("a/b")).expect("a directory");
        fs::write(kept.join("a/b/one"), b"kept").expect("a file");
        let moment = UNIX_EPOCH + Duration::from_secs(946_684_800);
        let file = File::options().write(true).open(kept.join("a/b/one")).expect("it is there");
        file.set_modified(moment).expect("it is ours");
        fs::set_permissions(kept.join("a/b/one"), Permissions::from_mode(0o444)).expect("ours");
        copy_tree(&kept, &run, None).expect("there is room");
        let copied = fs::metadata(run.join("a/b/one")).expect("it is there");
        assert_eq!((copied.mode() & 0o777, copied.modified().expect("a time")), (0o600, moment));
        let mut own = File::options().append(true).open(run.join("a/b/one")).expect("it can be written");
        io::Write::write_all(&mut own, b" and changed").expect("there is room");
        assert_eq!(fs::read(run.join("a/b/one")).expect("it is there"), b"kept and changed");
        assert_eq!(fs::read(kept.join("a/b/one")).expect("it is there"), b"kept");
    }

    #[test]
    fn a_kept_file_with_too_many_links_is_copied_with_its_owner_and_moment() {
        let dir = tempfile::tempdir().expect("a directory");
        let (kept, run) = (dir.path().join("kept"), dir.path().join("run"));
        fs::create_dir(&kept).expect("a directory");
        fs::write(kept.join("one"), b"kept").expect("a file");
        let moment = UNIX_EPOCH + Duration::from_secs(946_684_800);
        let file = File::options().write(true).open(kept.join("one")).expect("it is there");
        file.set_modified(moment).expect("it is ours");
        let most = |from: &Path, to: &Path| match fs::metadata(from)?.nlink() {
            1 => fs::hard_link(from, to),
            _ => Err(ErrorKind::TooManyLinks.into()),
        };
        link_tree_by(&kept, &run, None, &most).expect("the first is a link");
        let again = dir.path().join("again");
        link_tree_by(&kept, &again, None, &most).expect("the second is a copy");
        let about = |path: &Path| fs::metadata(path.join("one")).expect("it is there");
        let (linked, copied) = (about(&run), about(&again));
        assert_eq!(linked.ino(), about(&kept).ino());
        assert_ne!(copied.ino(), linked.ino());
        assert_eq!((copied.uid(), copied.gid()), (linked.uid(), linked.gid()));
        assert_eq!((copied.mode() & 0o777, copied.modified().expect("a time")), (0o444, moment));
        assert_eq!(fs::read(again.join("one")).expect("it is there"), b"kept");
    }
}
