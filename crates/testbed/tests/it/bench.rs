//! A lab with the real catalogue and a tiny kit, for tests that start real servers.

use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::Duration;

use model::catalogue::build::Build;
use model::{Catalogue, Plan};
use tempfile::TempDir;
use testbed::{
    BuiltServers, KeeperCommand, Lab, LabOptions, Needed, SettledFiles, Stack, StartOptions, StepEvent,
    packages,
};
use testkit::ending::skip;

use crate::tiny::{catalogue, plan};

/// How long a server may take to tell about itself.
const ASKED_WITHIN: Duration = Duration::from_secs(2);

pub(crate) const LAMP: &str = "apache-prefork-modphp-mariadb";
pub(crate) const EVENT: &str = "apache-event-fpm-mariadb";
pub(crate) const LIGHTTPD: &str = "lighttpd-fpm-mariadb";

/// A home that servers under another user can enter.
pub(crate) fn home() -> TempDir {
    // With a space, since paths stand in many kinds of configuration files.
    home_called("plimsoll test ")
}

/// A home whose name begins like that.
pub(crate) fn home_called(prefix: &str) -> TempDir {
    let dir = tempfile::Builder::new().prefix(prefix).tempdir().expect("a temporary directory");
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).expect("a mode");
    dir
}

pub(crate) fn keeper() -> KeeperCommand {
    KeeperCommand { program: env!("CARGO_BIN_EXE_testbed-actor").into(), args: vec!["keeper".into()] }
}

pub(crate) fn switch() -> KeeperCommand {
    KeeperCommand { args: vec!["switch".into()], ..keeper() }
}

/// A lab in a home of its own. Its servers' programs are those of the machine, or what `doctor --install` unpacked.
pub(crate) struct Bench {
    pub(crate) catalogue: Catalogue,
    pub(crate) lab: Lab,
    pub(crate) id: String,
    pub(crate) steps: Vec<StepEvent>,
    /// The directory of a kept file set.
    pub(crate) files: Option<PathBuf>,
    /// The directory of a built application.
    pub(crate) built: Option<PathBuf>,
    /// Those of built servers.
    pub(crate) built_servers: BuiltServers,
    home: TempDir,
}

impl Bench {
    /// `None` when this machine lacks a server of the stack.
    pub(crate) fn new(name: &str, stack: &str) -> Option<Bench> {
        Bench::with(name, stack, |_| (), |catalogue, stack| plan(catalogue, stack, &[]))
    }

    /// The same for another kit, which `add` lays over the catalogue and `plan` resolves.
    pub(crate) fn with(
        name: &str,
        stack: &str,
        add: impl Fn(&mut Catalogue),
        plan: impl Fn(&Catalogue, &str) -> Plan,
    ) -> Option<Bench> {
        Bench::at(home(), name, stack, add, plan)
    }

    /// The same in another home.
    pub(crate) fn at(
        home: TempDir,
        name: &str,
        stack: &str,
        add: impl Fn(&mut Catalogue),
        plan: impl Fn(&Catalogue, &str) -> Plan,
    ) -> Option<Bench> {
        let mut catalogue = catalogue();
        add(&mut catalogue);
        programs(home.path());
        if !are_there(home.path(), stack, &plan(&catalogue, stack)) {
            return None;
        }
        let id = format!("{name}-{}", std::process::id());
        let lab = Lab::open(&LabOptions {
            home: home.path(),
            id: &id,
            keeper: keeper(),
            switch: switch(),
            cgroups: true,
        });
        let lab = lab.expect("a lab");
        Some(Bench {
            catalogue,
            lab,
            id,
            steps: Vec::new(),
            files: None,
            built: None,
            built_servers: BuiltServers::new(),
            home,
        })
    }

    pub(crate) fn home(&self) -> &Path {
        self.home.path()
    }

    pub(crate) fn failed_dir(&self) -> PathBuf {
        self.home.path().join("failed")
    }

    pub(crate) fn plan(&self, stack: &str, set: &[(&str, &str)]) -> Plan {
        plan(&self.catalogue, stack, set)
    }

    pub(crate) fn start(&mut self, plan: &Plan) -> model::Result<Stack> {
        self.start_from(plan, None, false)
    }

    pub(crate) fn start_from(
        &mut self,
        plan: &Plan,
        data: Option<&Path>,
        loading: bool,
    ) -> model::Result<Stack> {
        self.with_options(plan, data, loading, |lab, options| lab.start(options))
    }

    pub(crate) fn settle_files(&mut self, plan: &Plan) -> model::Result<SettledFiles> {
        self.with_options(plan, None, false, |lab, options| lab.settle_files(options))
    }

    fn with_options<T>(
        &mut self,
        plan: &Plan,
        data: Option<&Path>,
        loading: bool,
        act: impl FnOnce(&Lab, StartOptions<'_>) -> model::Result<T>,
    ) -> model::Result<T> {
        let failed = self.failed_dir();
        let database = plan.database().map(|tier| tier.name.clone()).unwrap_or_default();
        let data = data.map(|path| (database.clone(), vec![path.to_path_buf()]));
        let snapshots = data.into_iter().collect();
        let steps = &mut self.steps;
        let options = StartOptions {
            plan,
            catalogue: &self.catalogue,
            snapshots: &snapshots,
            file_set: self.files.as_deref(),
            built: self.built.as_deref(),
            built_servers: &self.built_servers,
            loading: loading.then_some(database.as_str()),
            web_port: None,
            keep_failed: &failed,
            ask: &|job, names| observe::figures(job, names, ASKED_WITHIN).ok(),
            cancel: &|| false,
            on_step: &mut |step| steps.push(step),
        };
        act(&self.lab, options)
    }
}

/// Whether the servers of a stack are on this machine; if not the reason is printed, and with CI=true that is a failure.
pub(crate) fn programs_are_there(home: &Path, stack: &str) -> bool {
    programs(home);
    are_there(home, stack, &plan(&catalogue(), stack, &[]))
}

fn are_there(home: &Path, stack: &str, plan: &Plan) -> bool {
    let services = Needed::by_plan(plan).expect("right modules");
    let builds: Vec<&Build> = plan.kit.build.iter().collect();
    let missing = packages::missing(&services, &builds, home);
    let names: Vec<&str> = missing.iter().map(|one| one.package.as_str()).collect();
    if missing.is_empty() {
        return true;
    }
    let line = packages::apt_line(&services, &builds);
    skip(&format!("{stack} needs {}: {line}", names.join(", ")))
}

/// Links what was unpacked for this machine into a home.
fn programs(home: &Path) {
    let (unpacked, link) = (testkit::programs::unpacked(), home.join("programs"));
    if unpacked.is_dir() && !link.exists() {
        symlink(unpacked, link).expect("a link to unpacked programs");
    }
}

/// The whole answer to a GET, head and body.
pub(crate) fn get(address: SocketAddr, path: &str) -> String {
    let mut stream = TcpStream::connect(address).expect("a connection");
    stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a time-out");
    let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).expect("a request");
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).expect("an answer");
    String::from_utf8_lossy(&answer).into_owned()
}
