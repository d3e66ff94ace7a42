//! The page cache of a set of files: emptied, filled from inside of a tier, and looked at.
//!
//! A page belongs to the memory of the group that first read it, and stays there for all who read it later. So a server
//! whose files somebody else has read is not charged for them: they are evicted first, then read by a helper in the
//! server's own group.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use model::{Kind, Problem, Result};

use crate::disk;
use crate::helper::Helper;
use crate::stack::Stack;

/// How much of a set of files is in memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Residency {
    /// Bytes of the pages that are.
    pub resident_bytes: u64,
    /// Bytes of all pages.
    pub bytes: u64,
}

/// What a reader reads at once.
const BUFFER_BYTES: usize = 1 << 20;
/// How often a reader tells how far it is.
const TELL_EVERY: Duration = Duration::from_millis(100);

/// Takes files out of the page cache; what a process has mapped or is writing stays. `sync` is a file or directory of
/// their file system: pages that are not on disk yet can't be dropped.
///
/// # Errors
/// A file that can't be opened.
pub fn evict(files: &[PathBuf], sync: &Path) -> Result<()> {
    let synced = File::open(sync).and_then(|dir| rustix::fs::syncfs(dir).map_err(std::io::Error::from));
    synced.map_err(|error| disk::failed("sync", sync, &error))?;
    for path in files {
        let evicted = open(path).and_then(|file| {
            rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed).map_err(std::io::Error::from)
        });
        evicted.map_err(|error| disk::failed("evict", path, &error))?;
    }
    Ok(())
}

/// How much of the files is in the page cache, whoever brought it there.
///
/// # Errors
/// A file that can't be opened or mapped.
pub fn residency(files: &[PathBuf]) -> Result<Residency> {
    let mut sum = Residency::default();
    let mut pages = Vec::new();
    for path in files {
        let one = resident(path, &mut pages).map_err(|error| disk::failed("look into", path, &error))?;
        sum.resident_bytes += one.resident_bytes;
        sum.bytes += one.bytes;
    }
    Ok(sum)
}

/// A server may have replaced a file of its set: no link is followed, and no pipe waited for.
fn open(path: &Path) -> std::io::Result<File> {
    File::options().read(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK).open(path)
}

fn resident(path: &Path, pages: &mut Vec<u8>) -> std::io::Result<Residency> {
    let file = open(path)?;
    let length = file.metadata()?.len() as usize;
    // SAFETY: it takes a number and gives one.
    let page = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4096);
    let count = length.div_ceil(page);
    if count == 0 {
        return Ok(Residency::default());
    }
    pages.clear();
    pages.resize(count, 0);
    // SAFETY: a new mapping of `length` bytes of an open file, nowhere in particular; it is never read through, only asked
    // about, and unmapped below. `pages` has a byte for each of its pages.
    let asked = unsafe {
        let (read, shared) = (libc::PROT_READ, libc::MAP_SHARED);
        let mapped = libc::mmap(std::ptr::null_mut(), length, read, shared, file.as_raw_fd(), 0);
        if mapped == libc::MAP_FAILED {
            return Err(std::io::Error::last_os_error());
        }
        let asked = libc::mincore(mapped, length, pages.as_mut_ptr());
        let error = std::io::Error::last_os_error();
        libc::munmap(mapped, length);
        if asked == 0 { Ok(()) } else { Err(error) }
    };
    asked?;
    let inside = pages.iter().filter(|state| **state & 1 == 1).count();
    Ok(Residency { resident_bytes: (inside * page) as u64, bytes: (count * page) as u64 })
}

impl Stack {
    /// Reads files in their order by a helper of the tool (`program` with `args`, which calls [`read`]) that is in the
    /// tier's groups: what it brings into the page cache counts as the tier's memory. `told` is called with the bytes
    /// read so far.
    ///
    /// # Errors
    /// A tier that is not there, a helper that fails; [`Kind::Interrupted`] when `cancel` says so.
    pub fn read_inside(
        &self,
        tier: &str,
        (program, args): (&Path, &[&str]),
        files: &[PathBuf],
        cancel: &dyn Fn() -> bool,
        told: &mut dyn FnMut(u64),
    ) -> Result<u64> {
        let cpus = self.tier(tier).map(|tier| tier.cpus.clone());
        let cpus = cpus.ok_or_else(|| Problem::bug(format!("there is no tier `{tier}`")))?;
        let args = args.iter().map(Into::into).collect();
        let helper = Helper { name: format!("{tier}-reader"), program: program.to_path_buf(), args, cpus };
        let (site, instance) = self.site_and_instance();
        let mut helping = site.help_inside(&helper, instance, tier)?;
        let (Some(mut input), Some(output)) = (helping.input.take(), helping.output.take()) else {
            return Err(Problem::bug("a helper without input and output").into());
        };
        let mut list: Vec<u8> = Vec::new();
        for path in files {
            list.extend_from_slice(path.as_os_str().as_encoded_bytes());
            list.push(b'\n');
        }
        // A reader that has ended takes no more of the list: its answer says why.
        let writer = std::thread::spawn(move || input.write_all(&list));
        let mut answer = String::new();
        for line in BufReader::new(output).lines().map_while(std::io::Result::ok) {
            if cancel() {
                let what = "interrupted while files were read into the page cache";
                return Err(Problem::new(Kind::Interrupted, what).into());
            }
            line.parse().into_iter().for_each(&mut *told);
            answer = line;
        }
        _ = writer.join();
        match answer.strip_prefix("done ").and_then(|bytes| bytes.parse().ok()) {
            Some(bytes) => Ok(bytes),
            None => Err(Problem::environment(format!("failed to read the file set into memory: {answer}"))
                .tier(tier)
                .why("the page cache would not be what was asked for")
                .into()),
        }
    }
}

/// The helper's part: reads the files whose paths stand in `list`, a line each, and tells in `out` how many bytes it has
/// read so far, at the end `done BYTES`, or what went wrong.
pub fn read(list: impl BufRead, mut out: impl Write) -> std::io::Result<()> {
    let (mut buffer, mut bytes, mut told) = (vec![0; BUFFER_BYTES], 0u64, Instant::now());
    for path in list.lines() {
        let path = path?;
        let mut file = match open(Path::new(&path)) {
            Ok(file) => file,
            Err(error) => return writeln!(out, "{path}: {error}"),
        };
        loop {
            match file.read(&mut buffer) {
                Ok(0) => break,
                Ok(count) => bytes += count as u64,
                Err(error) => return writeln!(out, "{path}: {error}"),
            }
            if told.elapsed() >= TELL_EVERY {
                told = Instant::now();
                writeln!(out, "{bytes}")?;
                out.flush()?;
            }
        }
    }
    writeln!(out, "done {bytes}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_evicted_is_not_resident_and_what_is_read_is() {
        // Beside this program, which is on a real disk: files in memory alone can't be evicted.
        let program = std::env::current_exe().expect("this program");
        let dir = tempfile::tempdir_in(program.parent().expect("its directory")).expect("a directory");
        let path = dir.path().join("file");
        std::fs::write(&path, vec![7; 1 << 20]).expect("it is writable");
        let files = [path];
        let whole = residency(&files).expect("it can be mapped");
        assert_eq!(whole, Residency { resident_bytes: 1 << 20, bytes: 1 << 20 }, "it has just been written");
        evict(&files, dir.path()).expect("it is there");
        assert_eq!(residency(&files).expect("it can be mapped").resident_bytes, 0);
        let mut out = Vec::new();
        read(files[0].to_string_lossy().as_bytes(), &mut out).expect("it is there");
        assert!(out.ends_with(b"done 1048576\n"), "{}", String::from_utf8_lossy(&out));
        assert_eq!(residency(&files).expect("it can be mapped"), whole);
    }

    #[test]
    fn a_file_that_is_not_there_is_named_by_the_reader() {
        let mut out = Vec::new();
        read(&b"/no/such/file\n"[..], &mut out).expect("it answers");
        assert!(String::from_utf8_lossy(&out).starts_with("/no/such/file: No such file"));
    }
}
