//! Debian packages: which are missing, the line that an administrator would type, and their installation.
//!
//! A package whose installation would start a daemon is downloaded and unpacked instead; that needs no root either.

use std::fs;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use model::catalogue::build::Build;
use model::{Problem, Result};

use crate::needed::{Needed, Part};
use crate::program::Program;
use crate::{disk, program};

/// The number of an unpacked package's own modules that are looked at; no server's package has as many.
const MAX_MODULES: usize = 256;

/// How a package gets onto the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// By `apt-get install`, for everybody.
    Install,
    /// Downloaded and unpacked under our home: installing it would start a daemon.
    Unpack,
}

/// A package that is needed and not there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    /// Its name.
    pub package: String,
    /// What it is for.
    pub why: String,
    /// How it is to be had.
    pub how: How,
}

/// The packages that services, with what they are built with, and builds of applications lack, each once. Nothing of a part is missing if its program and
/// files are there, wherever they came from; what an unpacked program and its modules link to is looked for in any case,
/// since nobody else sees to it. Libraries are there when the loader finds all of them, whatever this release of the system
/// calls their packages.
pub fn missing(services: &[Needed<'_>], builds: &[&Build], home: &Path) -> Vec<Missing> {
    let mut found: Vec<Missing> = Vec::new();
    for part in parts(services, builds) {
        let unpacks = part.packages.unpack.iter().filter(|name| !program::unpacked(home).join(name).is_dir());
        let (installs, unpacks): (Vec<&String>, Vec<&String>) = match presence(&part, home) {
            Presence::Whole => continue,
            Presence::Unpacked(program) => (lacking_beside(&part, &program), Vec::new()),
            Presence::None => (lacking(&part), unpacks.collect()),
        };
        let installs = installs.into_iter().map(|name| (name, How::Install));
        for (package, how) in installs.chain(unpacks.into_iter().map(|name| (name, How::Unpack))) {
            if !found.iter().any(|one| one.package == *package) {
                found.push(Missing { package: package.clone(), why: part.packages.why.clone(), how });
            }
        }
    }
    found
}

fn parts<'a>(services: &'a [Needed<'a>], builds: &'a [&'a Build]) -> impl Iterator<Item = Part<'a>> {
    let of_builds = builds.iter().map(|build| Part::of_build(build));
    services.iter().flat_map(Needed::parts).chain(of_builds)
}

/// How much of a part is on this machine.
enum Presence {
    /// All of it, from a package that is installed or from elsewhere.
    Whole,
    /// The program, out of a package that was only unpacked.
    Unpacked(Program),
    /// Not all of it.
    None,
}

fn presence(part: &Part<'_>, home: &Path) -> Presence {
    if !part.files.iter().all(|path| program::has_file(path, home)) {
        return Presence::None;
    }
    if !part.programs.iter().all(|name| program::find(name, home).is_some()) {
        return Presence::None;
    }
    match part.binary.map(|binary| program::find(binary, home)) {
        Some(Some(program)) if program.root.as_os_str().is_empty() => Presence::Whole,
        Some(Some(program)) => Presence::Unpacked(program),
        Some(None) => Presence::None,
        // Without a file or a program to look for only the packages themselves tell.
        None if part.files.is_empty() && part.programs.is_empty() => Presence::None,
        None => Presence::Whole,
    }
}

fn lacking<'a>(part: &Part<'a>) -> Vec<&'a String> {
    part.packages.install.iter().filter(|name| !is_installed(name)).collect()
}

/// What an unpacked `program` lacks.
fn lacking_beside<'a>(part: &Part<'a>, program: &Program) -> Vec<&'a String> {
    let lacking = lacking(part);
    if lacking.iter().any(|name| is_library(name)) && links(program) {
        return lacking.into_iter().filter(|name| !is_library(name)).collect();
    }
    lacking
}

/// By the names that Debian gives to shared libraries; they change with the library (`libssl3`, then `libssl3t64`).
fn is_library(package: &str) -> bool {
    package.starts_with("lib") || package.starts_with("zlib")
}

/// Whether the loader finds everything that `program` and the modules of its package link to. Where it can't be asked, the
/// packages' names tell.
fn links(program: &Program) -> bool {
    let mut ldd = Command::new("ldd");
    ldd.arg(&program.path).args(modules(&program.root)).env("LC_ALL", "C").stdin(Stdio::null());
    let output = ldd.output();
    output.is_ok_and(|output| {
        let said = [&output.stdout[..], &output.stderr[..]].concat();
        output.status.success() && !String::from_utf8_lossy(&said).contains("not found")
    })
}

/// The shared objects of an unpacked package, which its program may load as it starts.
fn modules(root: &Path) -> Vec<PathBuf> {
    let (mut folders, mut found) = (vec![root.join("usr/lib")], Vec::new());
    while let Some(folder) = folders.pop().filter(|_| found.len() < MAX_MODULES) {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let (path, Ok(kind)) = (entry.path(), entry.file_type()) else { continue };
            if kind.is_dir() {
                folders.push(path);
            } else if kind.is_file() && path.extension().is_some_and(|end| end == "so") {
                found.push(path);
            }
        }
    }
    found.truncate(MAX_MODULES);
    found
}

fn is_installed(package: &str) -> bool {
    let output = quiet("dpkg-query", &["-W", "-f", "${Status}", package]);
    output.is_ok_and(|output| output.stdout.starts_with(b"install ok installed"))
}

/// The line that installs what services and builds of applications need, for an administrator. Packages that are unpacked
/// are not in it: they need no administrator.
pub fn apt_line(services: &[Needed<'_>], builds: &[&Build]) -> String {
    let parts = parts(services, builds);
    let mut names: Vec<&str> = parts.flat_map(|part| &part.packages.install).map(String::as_str).collect();
    names.sort_unstable();
    names.dedup();
    line(&names)
}

fn line(names: &[&str]) -> String {
    format!("apt-get install --no-install-recommends {}", names.join(" "))
}

/// Installs and unpacks what is missing. `say` hears what and why before it is done.
///
/// # Errors
/// No right to install: the exact line for an administrator. What apt-get says when it fails.
pub fn install(missing: &[Missing], home: &Path, say: &mut dyn FnMut(&str)) -> Result<()> {
    let of = |how: How| missing.iter().filter(move |one| one.how == how).collect::<Vec<_>>();
    let (installs, unpacks) = (of(How::Install), of(How::Unpack));
    let names: Vec<&str> = installs.iter().map(|one| one.package.as_str()).collect();
    let apt = Apt { names: &names };
    if !names.is_empty() {
        installs.iter().for_each(|one| say(&format!("{} is needed: {}", one.package, one.why)));
        apt.check_right()?;
    }
    let update = |say: &mut dyn FnMut(&str)| {
        say("reading the lists of packages (apt-get update)");
        apt.run(&["update", "-q"])
    };
    let known = missing.iter().all(|one| is_known(&one.package));
    if !known {
        update(say)?;
    }
    if let Err(problems) = fetch(&apt, &unpacks, home, say) {
        // Lists that are some days old name archives that a newer version has replaced.
        if known && apt.check_right().is_ok() {
            update(say)?;
            return fetch(&apt, &unpacks, home, say);
        }
        return Err(problems);
    }
    Ok(())
}

fn fetch(apt: &Apt<'_>, unpacks: &[&Missing], home: &Path, say: &mut dyn FnMut(&str)) -> Result<()> {
    if !apt.names.is_empty() {
        say(&format!("running {}", line(apt.names)));
        let install = ["install", "-y", "-q", "--no-install-recommends", "-o", "DPkg::Lock::Timeout=120"];
        apt.run(&[&install, apt.names].concat())?;
    }
    for one in unpacks {
        let target = program::unpacked(home).join(&one.package);
        if !target.is_dir() {
            say(&format!("{} is needed: {}; unpacking it into {}", one.package, one.why, target.display()));
            unpack(&one.package, home)?;
        }
    }
    Ok(())
}

/// Whether the package lists on this machine offer it.
fn is_known(package: &str) -> bool {
    let output = quiet("apt-cache", &["policy", package]);
    output.is_ok_and(|output| {
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        text.lines().any(|line| line.trim().starts_with("Candidate:") && !line.contains("(none)"))
    })
}

/// apt-get with the right to change the system.
struct Apt<'a> {
    /// For the line that an administrator gets.
    names: &'a [&'a str],
}

impl Apt<'_> {
    fn check_right(&self) -> Result<()> {
        if rustix::process::geteuid().is_root() || may_sudo() {
            return Ok(());
        }
        Err(self.refused("packages are missing, and this user may not install them"))
    }

    fn refused(&self, what: &str) -> model::Problems {
        let line = if self.names.is_empty() { "apt-get update".to_string() } else { line(self.names) };
        Problem::environment(what).remedy(format!("as an administrator: {line}")).into()
    }

    fn run(&self, args: &[&str]) -> Result<()> {
        let root = rustix::process::geteuid().is_root();
        let mut command = if root {
            let mut command = Command::new("apt-get");
            command.env("DEBIAN_FRONTEND", "noninteractive");
            command
        } else {
            self.check_right()?;
            let mut command = Command::new("sudo");
            command.args(["env", "DEBIAN_FRONTEND=noninteractive", "apt-get"]);
            command
        };
        let output = command.args(args).env("LC_ALL", "C").stdin(Stdio::null()).output();
        let output = output.map_err(|error| self.refused(&format!("failed to run apt-get: {error}")))?;
        if output.status.success() {
            return Ok(());
        }
        Err(self.refused(&format!("apt-get {} failed:\n    {}", args[0], last_lines(&output))))
    }
}

fn may_sudo() -> bool {
    let asked = quiet("sudo", &["-n", "true"]).is_ok_and(|output| output.status.success());
    asked || (program::find("sudo", Path::new("/nonexistent")).is_some() && std::io::stdin().is_terminal())
}

/// Downloads and unpacks one package; its directory appears whole or not at all.
fn unpack(package: &str, home: &Path) -> Result<()> {
    let folder = program::unpacked(home);
    disk::make_open_dir(home)?;
    disk::make_open_dir(&folder)?;
    let work = folder.join(format!(".{package}-{}", std::process::id()));
    disk::remove_dir(&work)?;
    disk::make_open_dir(&work)?;
    let result = unpack_in(package, &work, &folder.join(package));
    disk::remove_dir(&work)?;
    result
}

fn unpack_in(package: &str, work: &Path, target: &Path) -> Result<()> {
    let failed = |what: &str, output: &Output| {
        Problem::environment(format!("failed to {what} {package}:\n    {}", last_lines(output)))
            .remedy("`apt-get update` as an administrator, then again")
    };
    let missing = |error| Problem::environment(format!("failed to unpack {package}: {error}"));
    let output = Command::new("apt-get")
        .args(["download", "-q", package])
        .env("LC_ALL", "C")
        .current_dir(work)
        .output();
    let output = output.map_err(missing)?;
    if !output.status.success() {
        return Err(failed("download", &output).into());
    }
    let archives = fs::read_dir(work).map_err(|error| disk::failed("read", work, &error))?.flatten();
    let archive =
        archives.map(|entry| entry.path()).find(|path| path.extension().is_some_and(|end| end == "deb"));
    let Some(archive) = archive else { return Err(failed("find the archive of", &output).into()) };
    let tree = work.join("tree");
    let output = Command::new("dpkg-deb").arg("-x").arg(&archive).arg(&tree).output().map_err(missing)?;
    if !output.status.success() {
        return Err(failed("unpack", &output).into());
    }
    match fs::rename(&tree, target) {
        // Another start was faster.
        Err(_) if target.is_dir() => Ok(()),
        renamed => renamed.map_err(|error| disk::failed("rename to", target, &error).into()),
    }
}

fn quiet(program: &str, args: &[&str]) -> std::io::Result<Output> {
    Command::new(program).args(args).env("LC_ALL", "C").stdin(Stdio::null()).output()
}

fn last_lines(output: &Output) -> String {
    let text = [&output.stdout[..], &output.stderr[..]].concat();
    let text = String::from_utf8_lossy(&text).into_owned();
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    lines[lines.len().saturating_sub(5)..].join("\n    ")
}
