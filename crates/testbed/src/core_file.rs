//! Where the kernel leaves the core of a server that was ended.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::prepare::numbered;
use crate::stack::Tier;

/// What became of a core.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CoreFile {
    /// It lies here.
    At(PathBuf),
    /// The machine gives cores to this program.
    GivenTo(String),
    /// There is none.
    Missing,
}

const PATTERN: &str = "/proc/sys/kernel/core_pattern";

/// The core of `process`, which was one of the tier's.
pub fn core_file(tier: &Tier, process: u32) -> CoreFile {
    let pattern = fs::read_to_string(PATTERN).unwrap_or_default();
    let own = tier.dir.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let directory = |instance| tier.dir.with_file_name(numbered(own, instance));
    let directories: Vec<PathBuf> = (0..tier.pids.len()).map(directory).collect();
    core_by_pattern(pattern.trim(), &directories, process)
}

/// Lets servers that are started from now on leave cores, as large as they may be.
///
/// # Errors
/// The machine lets nobody leave one.
pub fn allow_cores() -> Result<(), String> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let raised = setrlimit(Resource::Core, Rlimit { current: None, maximum: None });
    let most = getrlimit(Resource::Core).maximum;
    match raised.or_else(|_| setrlimit(Resource::Core, Rlimit { current: most, maximum: most })) {
        Ok(()) if most == Some(0) && raised.is_err() => {
            Err("no process may leave a core here (`ulimit -H -c` is 0)".to_string())
        }
        outcome => outcome.map_err(|error| error.to_string()),
    }
}

/// By the kernel's pattern (core(5)): behind `|` stands a program, a path without `/` is one in the process's working
/// directory, `%` begins what differs from core to core.
fn core_by_pattern(pattern: &str, working_directories: &[PathBuf], process: u32) -> CoreFile {
    if let Some(program) = pattern.strip_prefix('|') {
        return CoreFile::GivenTo(program.split_whitespace().next().unwrap_or_default().to_string());
    }
    let fixed = pattern.split('%').next().unwrap_or_default();
    let (directories, beginning) = match fixed.rsplit_once('/') {
        Some((directory, beginning)) => (vec![PathBuf::from(directory)], beginning),
        None => (working_directories.to_vec(), fixed),
    };
    let is_it = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let of_process = name.contains(&process.to_string()) || name == pattern;
        name.starts_with(beginning) && of_process && is_core(path)
    };
    let files = directories.iter().filter_map(|directory| fs::read_dir(directory).ok()).flatten().flatten();
    files.map(|entry| entry.path()).find(is_it).map_or(CoreFile::Missing, CoreFile::At)
}

/// An ELF file of the type ET_CORE.
fn is_core(path: &Path) -> bool {
    let mut head = [0; 18];
    let read = fs::File::open(path).and_then(|mut file| file.read_exact(&mut head));
    read.is_ok() && head.starts_with(b"\x7fELF") && u16::from_le_bytes([head[16], head[17]]) == 4
}

#[cfg(test)]
mod tests {
    use super::*;

    fn core(directory: &Path, name: &str) -> PathBuf {
        let mut bytes = vec![0; 64];
        bytes[..4].copy_from_slice(b"\x7fELF");
        bytes[16] = 4;
        fs::write(directory.join(name), bytes).expect("a file");
        directory.join(name)
    }

    #[test]
    fn a_core_is_where_the_kernels_pattern_says() {
        let (own, far) = (tempfile::tempdir().expect("one"), tempfile::tempdir().expect("another"));
        let of = |pattern: &str| core_by_pattern(pattern, &[own.path().to_path_buf()], 471);
        assert_eq!(of("core"), CoreFile::Missing);
        fs::write(own.path().join("core"), "no core").expect("a file");
        assert_eq!(of("core"), CoreFile::Missing, "a file of that name is no core yet");
        core(own.path(), "core.12");
        assert_eq!(of("core"), CoreFile::Missing, "another's");
        let with_process = core(own.path(), "core.471");
        assert_eq!(of("core"), CoreFile::At(with_process.clone()));
        assert_eq!(of("core.%p"), CoreFile::At(with_process));
        let far_away = core(far.path(), "of-loop-471");
        assert_eq!(of(&format!("{}/of-%e-%p", far.path().display())), CoreFile::At(far_away));
        assert_eq!(of("|/usr/lib/reporter %p %s"), CoreFile::GivenTo("/usr/lib/reporter".to_string()));
    }
}
