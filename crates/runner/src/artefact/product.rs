//! What a plan builds from sources: its kit's application, which is laid into the document root of each run, and the programs
//! of its servers. Made once from the same sources, kept beside the data sets.

mod subject;
mod tree;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Instant;

use kit::build::Sources;
use model::record::Step;
use model::{Plan, Problem, Problems, Result, units};
use serde_json::Value as Json;
use testbed::{BuildCommand, BuiltServers, Lab};

use crate::artefact::cache::{self, Artefact, Found, all_cpus};
use crate::environment::Environment;
use subject::{Role, Subject};
use tree::{Tree, let_enter};

/// The version of `built.json`.
const FORMAT: u64 = 1;
const ABOUT: &str = "built.json";
const LOG: &str = "build.log";
/// The product's files, below the directory that is kept.
const PRODUCT: &str = "product";
/// The sources while they are built.
const SOURCE: &str = "source";
/// Lines of the log that a failure shows.
const SHOWN_LINES: usize = 20;
/// How the step of a run begins that built something.
const STEP: &str = "build ";

/// Directories of what a plan's sources were built into.
#[derive(Debug, Default)]
pub(crate) struct Products {
    /// Of the kit's application, where it is built.
    pub(crate) application: Option<PathBuf>,
    /// Of the servers that are built.
    pub(crate) servers: BuiltServers,
}

/// Everything that the plan builds: made earlier, or now. Each thing once, whatever the number of tiers that have it.
pub(crate) fn ensure(
    plan: &Plan,
    lab: &Lab,
    steps: &mut Vec<Step>,
    env: &mut Environment<'_>,
) -> Result<Products> {
    let mut products = Products::default();
    for subject in Subject::all(plan) {
        let sources = subject.sources(env.catalogue);
        let product = cache::ensure(&mut Wanted { subject, sources, plan, lab, steps }, env)?;
        match subject.role {
            Role::Application { .. } => products.application = Some(product),
            Role::Server { tier, .. } => _ = products.servers.insert(tier.to_string(), product),
        }
    }
    Ok(products)
}

/// Whether everything that the plan builds is there already.
pub(crate) fn are_there(plan: &Plan, env: &Environment<'_>) -> bool {
    Subject::all(plan).all(|subject| {
        let id = subject.sources(env.catalogue).id();
        is_whole(&env.home.join(cache::PRODUCTS).join(&id), &id)
    })
}

/// Whether a step of a run was one of building.
pub(crate) fn is_building(step: &Step) -> bool {
    step.name.starts_with(STEP)
}

/// The name under which the product in this directory is kept: it follows the sources.
pub(crate) fn id_of(product: &Path) -> Option<String> {
    Some(product.parent()?.file_name()?.to_string_lossy().into_owned())
}

/// Something that is to be at hand.
struct Wanted<'a> {
    subject: Subject<'a>,
    sources: Sources,
    /// Whose CPUs build it.
    plan: &'a Plan,
    lab: &'a Lab,
    steps: &'a mut Vec<Step>,
}

impl Artefact for Wanted<'_> {
    const FOLDER: &'static str = cache::PRODUCTS;
    type Ready = PathBuf;

    fn kind(&self) -> &'static str {
        self.subject.kind()
    }

    fn id(&self) -> String {
        self.sources.id()
    }

    fn open(&self, place: &Path, _env: &mut Environment<'_>) -> Result<Found<PathBuf>> {
        Ok(is_whole(place, &self.id()).then(|| place.join(PRODUCT)).into())
    }

    fn make(&mut self, half: &Path, place: &Path, env: &mut Environment<'_>) -> Result<PathBuf> {
        let (id, subject) = (self.id(), self.subject);
        let making = Making { subject, id: &id, half, failed: &env.failed(&id) };
        let (what, words) = (subject.title(), subject.build.run.join(" "));
        env.progress.step(&format!("building {what}: {words} (this is done once)"));
        let started = Instant::now();
        let interrupt = env.interrupt;
        let cancel = || interrupt.count() > 0;
        let tree = making.run(&self.sources, self.lab, &all_cpus(self.plan), &cancel)?;
        let took_s = started.elapsed().as_secs_f64();
        making.settle(&tree, took_s)?;
        self.steps.push(Step { name: format!("{STEP}{what}"), took_s });
        env.progress.done(&format!(
            "{} {id}: {} files, {}, built in {}",
            subject.kind(),
            tree.files.len(),
            units::show_bytes(tree.bytes),
            units::show_seconds(took_s)
        ));
        Ok(place.join(PRODUCT))
    }
}

/// Whether what is kept under that name is of this version and has its files.
fn is_whole(place: &Path, id: &str) -> bool {
    let read = || -> Option<bool> {
        let about: Json = serde_json::from_slice(&fs::read(place.join(ABOUT)).ok()?).ok()?;
        let number = |key: &str| about.get(key)?.as_u64();
        let told = (number("format")?, about.get("id")?.as_str()?, number("files")?, number("bytes")?);
        let tree = Tree::of(&place.join(PRODUCT)).ok()?;
        Some(told == (FORMAT, id, tree.files.len() as u64, tree.bytes))
    };
    read().unwrap_or(false)
}

/// Something that is being built.
struct Making<'a> {
    subject: Subject<'a>,
    id: &'a str,
    /// The directory in which it is built; it becomes the one that is kept.
    half: &'a Path,
    /// Where the log of a failure is kept.
    failed: &'a Path,
}

impl Making<'_> {
    /// Lays the sources out and runs the command; what it has made.
    fn run(&self, sources: &Sources, lab: &Lab, cpus: &[usize], cancel: &dyn Fn() -> bool) -> Result<Tree> {
        let (source, log) = (self.half.join(SOURCE), self.half.join(LOG));
        sources.lay_out(&source)?;
        let (what, run) = (self.subject.title(), &self.subject.build.run);
        let command = BuildCommand { what: &what, run, dir: &source, log: &log, cpus };
        let ended = lab.build(&command, cancel)?;
        ended.and_then(|()| self.product(&source)).map_err(|what| self.failure(&what, &log))
    }

    /// What the command has made, or why that is no product.
    fn product(&self, source: &Path) -> Result<Tree, String> {
        let build = self.subject.build;
        let (words, product) = (build.run.join(" "), &build.product);
        let place = source.join(product);
        // What it leads to goes with the sources, or is somebody else's.
        if place.is_symlink() {
            return Err(format!("`{words}` succeeded, but {product} is a symbolic link and no directory"));
        }
        match Tree::of(&place) {
            Ok(tree) if tree.files.is_empty() => {
                Err(format!("`{words}` succeeded, but {product} has no file"))
            }
            Ok(tree) => Ok(tree),
            Err(error) => Err(format!("`{words}` succeeded, but {product} can't be read: {error}")),
        }
    }

    /// What a failure says: the last lines of the log, which stays until `plimsoll clean`.
    fn failure(&self, what: &str, log: &Path) -> Problems {
        let text = fs::read(log).unwrap_or_default();
        let is_kept =
            fs::create_dir_all(self.failed).and_then(|()| fs::write(self.failed.join(LOG), &text)).is_ok();
        let packages = &self.subject.build.packages;
        let mut remedy = match packages.install.join(", ") {
            names if names.is_empty() => String::new(),
            names => {
                format!("it needs {names} ({}), and the network where it fetches something", packages.why)
            }
        };
        if is_kept {
            let place = self.failed.join(LOG);
            let and = if remedy.is_empty() { "" } else { "; " };
            remedy = format!("{remedy}{and}the whole log is {}", place.display());
        }
        let kind = self.subject.kind();
        Problem::environment(format!("failed to build the {kind}: {what}{}", tail(&text)))
            .file(self.subject.manifest())
            .key("build")
            .why(self.subject.why())
            .remedy(remedy)
            .into()
    }

    /// Leaves the product and the log of the directory, and says what they are.
    fn settle(&self, tree: &Tree, took_s: f64) -> Result<()> {
        let settled = || -> io::Result<()> {
            tree.open_to_servers()?;
            let source = self.half.join(SOURCE);
            fs::rename(source.join(&self.subject.build.product), self.half.join(PRODUCT))?;
            fs::remove_dir_all(&source)?;
            fs::write(self.half.join(ABOUT), format!("{:#}", self.about(tree, took_s)))?;
            self.half.parent().map_or(Ok(()), let_enter)?;
            let_enter(self.half)
        };
        settled().map_err(|error| {
            Problem::environment(format!("failed to keep the built {}: {error}", self.subject.kind()))
                .file(self.half.display().to_string())
                .into()
        })
    }

    fn about(&self, tree: &Tree, took_s: f64) -> Json {
        let (id, run, files, bytes) = (self.id, &self.subject.build.run, tree.files.len(), tree.bytes);
        serde_json::json!({
            "format": FORMAT, "id": id, "run": run, "files": files, "bytes": bytes, "took_s": took_s
        })
    }
}

/// The last lines of a log that are not empty, as the end of a sentence.
fn tail(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    if lines.is_empty() {
        return "; it said nothing".to_string();
    }
    format!("; its log ends:\n    {}", lines[lines.len().saturating_sub(SHOWN_LINES)..].join("\n    "))
}

#[cfg(test)]
mod tests;
