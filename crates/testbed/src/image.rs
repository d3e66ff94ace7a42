//! A directory's files in a file system of their own, an image that is mounted in a lab: mounted anew, not only the data of
//! its files are on the disk alone but also their names and inodes, and no other file of the machine with them.

use std::ffi::CStr;
use std::path::{Path, PathBuf};

use model::{Problem, Result};
use rustix::mount::{MountFlags, mount};

use crate::iproute::{PLACES, output_of};
use crate::page_cache;
use crate::unmount::unmount;

/// The size of the image's blocks, and of a file's inode.
const BLOCK_BYTES: u64 = 4096;
const INODE_BYTES: u64 = 256;
/// Inodes beside those of the files: of directories.
const MORE_INODES: u64 = 4_096;
/// Room beside the files, their inodes and as much as a twentieth of both.
const MORE_BYTES: u64 = 32 << 20;

/// An image that is mounted in a lab, until the lab is closed.
#[derive(Debug)]
pub struct Mounted {
    image: PathBuf,
    at: PathBuf,
}

/// Refuses a machine that can't mount an image, before anything is made.
///
/// # Errors
/// What is missing.
pub fn check_images() -> Result<()> {
    let why = "names can be made cold only by mounting their file system anew";
    if !rustix::process::geteuid().is_root() {
        let problem = Problem::environment("only root can mount the file set's own file system").why(why);
        return Err(problem
            .remedy("run as root; or --param page_cache=cold, which leaves names warm")
            .into());
    }
    if !Path::new("/dev/loop-control").exists() {
        let problem = Problem::environment("this machine has no loop devices (/dev/loop-control)").why(why);
        return Err(problem.remedy("modprobe loop; or --param page_cache=cold").into());
    }
    let is_there = |program: &&str| PLACES.split(':').any(|place| Path::new(place).join(program).exists());
    if let Some(program) = ["mkfs.ext4", "losetup"].iter().find(|program| !is_there(program)) {
        let problem = Problem::environment(format!("there is no program {program}")).why(why);
        return Err(problem
            .remedy("apt-get install e2fsprogs util-linux; or --param page_cache=cold")
            .into());
    }
    Ok(())
}

/// Writes the `count` files of `directory`, `bytes` in all, into a new image.
///
/// # Errors
/// What mkfs.ext4 said; a disk without room.
pub fn make_image(directory: &Path, (count, bytes): (u64, u64), image: &Path) -> Result<()> {
    let inodes = count + MORE_INODES;
    let whole = bytes + count * BLOCK_BYTES + inodes * INODE_BYTES;
    let kilobytes = (whole + whole / 20 + MORE_BYTES) / 1024;
    let options =
        format!("-q -F -m 0 -b {BLOCK_BYTES} -I {INODE_BYTES} -N {inodes} -O ^has_journal,^resize_inode -d");
    let arguments = options.split(' ').map(Into::into);
    let arguments = arguments.chain([directory.into(), image.into(), format!("{kilobytes}k").into()]);
    let made = output_of("mkfs.ext4", arguments.collect(), None);
    made.map(drop).map_err(|said| failed("make", image, &said).into())
}

impl Mounted {
    /// Mounts an image at a directory that is there, for reading only.
    pub(crate) fn of(image: &Path, at: PathBuf) -> Result<Mounted> {
        let mounted = Mounted { image: image.to_path_buf(), at };
        mounted.mount()?;
        Ok(mounted)
    }

    /// The directory of its files.
    pub fn at(&self) -> &Path {
        &self.at
    }

    /// The image.
    pub fn image(&self) -> &Path {
        &self.image
    }

    /// Forgets everything that was read of it: names, inodes and data.
    ///
    /// # Errors
    /// What losetup or the kernel said.
    pub fn anew(&self) -> Result<()> {
        unmount(&self.at)?;
        self.mount()
    }

    fn mount(&self) -> Result<()> {
        page_cache::evict(std::slice::from_ref(&self.image), &self.image)?;
        let looped = |direct: &'static str| {
            let options = ["--find", "--show", "--read-only", direct].map(Into::into);
            output_of("losetup", options.into_iter().chain([self.image.as_os_str().into()]).collect(), None)
        };
        // Read past the page cache of the disk that the image is on: else what was read once would be in memory there.
        let device = looped("--direct-io=on").or_else(|_| looped("--direct-io=off"));
        let device = device.map_err(|said| failed("attach", &self.image, &said))?;
        let flags = MountFlags::RDONLY | MountFlags::NOATIME | MountFlags::NODEV | MountFlags::NOSUID;
        let mounted = mount(device.trim(), &self.at, "ext4", flags, None::<&CStr>);
        // It goes when nothing is mounted from it any more, which may be at once.
        let detached = output_of("losetup", vec!["--detach".into(), device.trim().into()], None);
        mounted.map_err(|error| failed("mount", &self.image, &error.to_string()))?;
        detached.map(drop).map_err(|said| failed("let go of", &self.image, &said).into())
    }
}

fn failed(what: &str, image: &Path, said: &str) -> Problem {
    Problem::environment(format!("failed to {what} the file set's own file system: {said}"))
        .file(image.display().to_string())
        .remedy("--param page_cache=cold, which leaves names warm")
}
