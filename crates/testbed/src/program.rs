//! Server programs on this machine: where they are and which version they say they are.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use model::{Problem, Result, ServiceManifest};

use crate::needed::Needed;

/// The directories of what the servers of tiers were built into, by tier. A tier whose service is not built has none.
pub type BuiltServers = BTreeMap<String, PathBuf>;

/// A program that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// Where it is.
    pub path: PathBuf,
    /// What stands before `/usr` in its paths: a directory of an unpacked package, empty for the system's own.
    pub root: PathBuf,
}

/// What a program says about itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Version {
    /// The number: `2.4.62`; empty when it says none.
    pub number: String,
    /// The line that it stands in.
    pub line: String,
    /// What to say when this version is not one that is known to work.
    pub warning: Option<String>,
}

/// Where packages are unpacked.
pub(crate) fn unpacked(home: &Path) -> PathBuf {
    home.join("programs")
}

/// Where those packages are that a server's parts have unpacked, by their names; whether they are there or not.
pub(crate) fn unpacked_roots(needed: &Needed<'_>, home: &Path) -> BTreeMap<String, PathBuf> {
    let names = needed.parts().flat_map(|part| &part.packages.unpack);
    names.map(|name| (name.clone(), unpacked(home).join(name))).collect()
}

/// The directories of unpacked packages, sorted.
fn roots(home: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(unpacked(home)).into_iter().flatten().flatten();
    let mut roots: Vec<PathBuf> = entries
        .filter(|entry| !entry.file_name().to_string_lossy().starts_with('.'))
        .map(|entry| entry.path())
        .collect();
    roots.sort();
    roots
}

/// Looks for a program in unpacked packages, PATH, and the usual places that a user's PATH lacks.
pub fn find(binary: &str, home: &Path) -> Option<Program> {
    let inside = |root: PathBuf| {
        let paths = ["usr/sbin", "usr/bin", "sbin", "bin"].map(|folder| root.join(folder).join(binary));
        paths.into_iter().find(|path| executable(path)).map(|path| Program { path, root })
    };
    let of_system = || {
        let path = env::var_os("PATH").unwrap_or_default();
        let usual = ["/usr/sbin", "/usr/bin", "/usr/local/sbin", "/usr/local/bin"].map(PathBuf::from);
        let found = env::split_paths(&path)
            .filter(|folder| folder.is_absolute())
            .chain(usual)
            .map(|folder| folder.join(binary))
            .find(|path| executable(path));
        found.map(|path| Program { path, root: PathBuf::new() })
    };
    roots(home).into_iter().find_map(inside).or_else(of_system)
}

/// Whether a file of a package exists, on the system or unpacked.
pub fn has_file(path: &str, home: &Path) -> bool {
    let inside = path.trim_start_matches('/');
    Path::new(path).exists() || roots(home).iter().any(|root| root.join(inside).exists())
}

fn executable(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

/// Finds a service's program, first in `built`, the directory of what its sources were built into, and the files that it needs.
///
/// # Errors
/// What is missing, with the line that installs it.
pub fn of_service(needed: &Needed<'_>, built: Option<&Path>, home: &Path) -> Result<Program> {
    let service = needed.service;
    let own = built.map(|folder| folder.join(&service.program.binary)).filter(|path| executable(path));
    let own = own.map(|path| Program { path, root: PathBuf::new() });
    let found = own.or_else(|| find(&service.program.binary, home));
    let lacking: Vec<&str> = needed
        .parts()
        .flat_map(|part| part.files)
        .map(String::as_str)
        .filter(|path| !has_file(path, home))
        .collect();
    match found {
        Some(program) if lacking.is_empty() => Ok(program),
        found => {
            let what = match found {
                None if built.is_some() => format!(
                    "{} has no program {}, neither in what its sources were built into nor on this machine",
                    service.title, service.program.binary
                ),
                None => format!(
                    "{} is not on this machine: there is no program {}",
                    service.title, service.program.binary
                ),
                Some(_) => format!("{} is not complete: it lacks {}", service.title, lacking.join(", ")),
            };
            let line = crate::packages::apt_line(std::slice::from_ref(needed), &[]);
            let unpacks: Vec<&str> =
                needed.parts().flat_map(|part| &part.packages.unpack).map(String::as_str).collect();
            let remedy = match &unpacks[..] {
                [] => line,
                names => format!(
                    "`plimsoll doctor --install`, which unpacks {}; it needs {line}",
                    names.join(", ")
                ),
            };
            Err(Problem::environment(what).remedy(remedy).into())
        }
    }
}

/// Asks a program for its version. One that is not known to work gives a warning, not an error.
pub fn version(program: &Program, service: &ServiceManifest) -> Version {
    let output = Command::new(&program.path)
        .args(&service.program.version_args)
        .env_clear()
        .env("LANG", "C")
        .current_dir("/")
        .stdin(Stdio::null())
        .output();
    let said = match &output {
        Ok(output) => [&output.stdout[..], &output.stderr[..]].concat(),
        Err(_) => Vec::new(),
    };
    read_version(&String::from_utf8_lossy(&said), service)
}

fn read_version(said: &str, service: &ServiceManifest) -> Version {
    let found = said.lines().find_map(|line| Some((number_in(line)?, line.trim())));
    let (number, line) = found.unwrap_or(("", said.lines().next().unwrap_or_default().trim()));
    let known = service.program.known_versions.iter().any(|known| number.starts_with(known.as_str()));
    let warning = (!known).then(|| {
        let shown = if number.is_empty() { "of an unknown version" } else { number };
        let list = service.program.known_versions.join(", ");
        format!("{} {shown} was never tried here; known to work: {list}", service.title)
    });
    Version { number: number.to_string(), line: line.to_string(), warning }
}

/// The first `1.2` or `1.2.3` of a line.
fn number_in(line: &str) -> Option<&str> {
    line.split(|c: char| !(c.is_ascii_digit() || c == '.'))
        .map(|word| word.trim_matches('.'))
        .find(|word| word.contains('.') && word.split('.').all(|part| !part.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_found_in_what_servers_really_say() {
        for (said, number) in [
            ("Server version: Apache/2.4.62 (Debian)\nServer built: 2024-10-04", "2.4.62"),
            ("PHP 8.2.24 (fpm-fcgi) (built: Sep 27 2024 15:49:48)", "8.2.24"),
            ("/usr/sbin/mariadbd  Ver 10.11.6-MariaDB-0+deb12u1 for debian-linux-gnu", "10.11.6"),
            ("lighttpd/1.4.69 (ssl) - a light and fast webserver", "1.4.69"),
        ] {
            assert_eq!(said.lines().find_map(number_in), Some(number), "{said}");
        }
        assert_eq!(number_in("no version here."), None);
    }

    #[test]
    fn a_program_outside_of_a_users_path_is_found() {
        let nowhere = Path::new("/nonexistent");
        assert_eq!(find("sh", nowhere).map(|program| program.root), Some(PathBuf::new()));
        assert_eq!(find("no-such-server", nowhere), None);
    }

    #[test]
    fn a_program_that_was_built_is_taken_before_the_machines_own() {
        let text = r#"
format = 1
name = "x"
title = "X"
logs = []
packages = { why = "a test" }
program = { binary = "sh", args = [], version_args = [], known_versions = [] }
ready = { probe = "http", within_s = 1 }
stop = { signal = "TERM", within_s = 1 }
"#;
        let mut service: ServiceManifest = model::document::read("service.toml", text).expect("a manifest");
        let (built, nowhere) = (tempfile::tempdir().expect("a directory"), Path::new("/nonexistent"));
        let path = built.path().join("sh");
        fs::write(&path, "").expect("a file");
        let found = |service: &ServiceManifest| {
            of_service(&Needed::whole(service), Some(built.path()), nowhere).map(|program| program.path)
        };
        let of_machine = found(&service).expect("the machine has one");
        assert_ne!(of_machine, path, "it can't be run");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o555)).expect("ours");
        assert_eq!(found(&service).expect("it can"), path);
        service.program.binary = "no-such-server".to_string();
        let said = found(&service).expect_err("there is none").to_string();
        assert!(
            said.starts_with("X has no program no-such-server, neither in what its sources were"),
            "{said}"
        );
    }
}
