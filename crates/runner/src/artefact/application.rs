//! The application that a plan's kit builds: made once from the same sources, kept beside the data sets, laid into the
//! document root of each run.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Instant;

use kit::build::Sources;
use model::catalogue::kit::Build;
use model::record::Step;
use model::{Plan, Problem, Problems, Result, units};
use serde_json::Value as Json;
use testbed::{BuildCommand, Lab};

use crate::artefact::cache::{self, Artefact, Found, all_cpus};
use crate::environment::Environment;

/// The version of `built.json`.
const FORMAT: u64 = 1;
const ABOUT: &str = "built.json";
/// The step of a run that built it.
pub(crate) const BUILD: &str = "build the application";
const LOG: &str = "build.log";
/// The product's files, below the directory that is kept.
const PRODUCT: &str = "product";
/// The sources while they are built.
const SOURCE: &str = "source";
/// Lines of the log that a failure shows.
const SHOWN_LINES: usize = 20;
/// Servers run as another user: they may read the files, nobody may write them.
const FILE_MODE: u32 = 0o444;

/// The directory of the files that the plan's application was built into: an earlier one, or a new one. `None` for a kit
/// that builds nothing.
pub(crate) fn ensure(
    plan: &Plan,
    lab: &Lab,
    steps: &mut Vec<Step>,
    env: &mut Environment<'_>,
) -> Result<Option<PathBuf>> {
    let Some(build) = &plan.kit.build else { return Ok(None) };
    let sources = Sources::of(env.catalogue, &plan.kit.name, build);
    cache::ensure(&mut Wanted { plan, build, sources, lab, steps }, env).map(Some)
}

/// An application that is to be at hand.
struct Wanted<'a> {
    plan: &'a Plan,
    build: &'a Build,
    sources: Sources,
    lab: &'a Lab,
    steps: &'a mut Vec<Step>,
}

impl Artefact for Wanted<'_> {
    const KIND: &'static str = "application";
    const FOLDER: &'static str = cache::APPLICATIONS;
    type Ready = PathBuf;

    fn id(&self) -> String {
        self.sources.id()
    }

    fn open(&self, place: &Path, _env: &mut Environment<'_>) -> Result<Found<PathBuf>> {
        Ok(is_whole(place, &self.id()).then(|| place.join(PRODUCT)).into())
    }

    fn make(&mut self, half: &Path, place: &Path, env: &mut Environment<'_>) -> Result<PathBuf> {
        let (id, build) = (self.id(), self.build);
        let making = Making { kit: &self.plan.kit.name, build, id: &id, half, failed: &env.failed(&id) };
        let words = build.run.join(" ");
        env.progress.step(&format!("building the application: {words} (this is done once)"));
        let started = Instant::now();
        let interrupt = env.interrupt;
        let cancel = || interrupt.count() > 0;
        let tree = making.run(&self.sources, self.lab, &all_cpus(self.plan), &cancel)?;
        let took_s = started.elapsed().as_secs_f64();
        making.settle(&tree, took_s)?;
        self.steps.push(Step { name: BUILD.to_string(), took_s });
        env.progress.done(&format!(
            "application {id}: {} files, {}, built in {}",
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

/// An application that is being built.
struct Making<'a> {
    /// The kit's name.
    kit: &'a str,
    build: &'a Build,
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
        let command = BuildCommand { run: &self.build.run, dir: &source, log: &log, cpus };
        let ended = lab.build(&command, cancel)?;
        ended.and_then(|()| self.product(&source)).map_err(|what| self.failure(&what, &log))
    }

    /// What the command has made, or why that is no product.
    fn product(&self, source: &Path) -> Result<Tree, String> {
        let (words, product) = (self.build.run.join(" "), &self.build.product);
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
        let packages = &self.build.packages;
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
        Problem::environment(format!("failed to build the application: {what}{}", tail(&text)))
            .file(format!("kits/{}/kit.toml", self.kit))
            .key("build")
            .why("the web tier would have nothing to serve")
            .remedy(remedy)
            .into()
    }

    /// Leaves the product and the log of the directory, and says what they are.
    fn settle(&self, tree: &Tree, took_s: f64) -> Result<()> {
        let settled = || -> io::Result<()> {
            for path in &tree.files {
                fs::set_permissions(path, fs::Permissions::from_mode(FILE_MODE))?;
            }
            let source = self.half.join(SOURCE);
            fs::rename(source.join(&self.build.product), self.half.join(PRODUCT))?;
            fs::remove_dir_all(&source)?;
            fs::write(self.half.join(ABOUT), format!("{:#}", self.about(tree, took_s)))
        };
        settled().map_err(|error| {
            Problem::environment(format!("failed to keep the built application: {error}"))
                .file(self.half.display().to_string())
                .into()
        })
    }

    fn about(&self, tree: &Tree, took_s: f64) -> Json {
        let (id, run, files, bytes) = (self.id, &self.build.run, tree.files.len(), tree.bytes);
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

/// The files below a directory.
#[derive(Debug, Default, PartialEq, Eq)]
struct Tree {
    files: Vec<PathBuf>,
    bytes: u64,
}

impl Tree {
    fn of(folder: &Path) -> io::Result<Tree> {
        let mut tree = Tree::default();
        tree.read(folder)?;
        Ok(tree)
    }

    /// Symbolic links are left out: no run would have them.
    fn read(&mut self, folder: &Path) -> io::Result<()> {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let kind = entry.file_type()?;
            if kind.is_dir() {
                self.read(&entry.path())?;
            } else if kind.is_file() {
                self.bytes += entry.metadata()?.len();
                self.files.push(entry.path());
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn build() -> Build {
        Build {
            folder: "servlets".to_string(),
            run: vec!["mvn".to_string(), "package".to_string()],
            product: "target/shop".to_string(),
            packages: model::catalogue::service::Packages {
                install: vec!["maven".to_string()],
                unpack: Vec::new(),
                why: "to build the shop".to_string(),
            },
        }
    }

    /// A directory in which the command has ended, with its log and these files of the product.
    fn built(home: &Path, files: &[&str]) -> PathBuf {
        let half = home.join("built/.half");
        let product = half.join("source/target/shop");
        fs::create_dir_all(half.join("source/src")).expect("a directory");
        fs::write(half.join(LOG), "[INFO] one\n\n[ERROR] two\n").expect("a log");
        for name in files {
            let path = product.join(name);
            fs::create_dir_all(path.parent().expect("a directory")).expect("a directory");
            fs::write(path, name).expect("a file");
        }
        half
    }

    #[test]
    fn a_product_is_kept_whole_under_its_name_without_its_sources() {
        let home = tempfile::tempdir().expect("a directory");
        let half = built(home.path(), &["index.html", "WEB-INF/classes/A.class"]);
        let build = build();
        let making = Making {
            kit: "shop",
            build: &build,
            id: "shop-1",
            half: &half,
            failed: &home.path().join("failed/shop-1"),
        };
        let tree = making.product(&half.join(SOURCE)).expect("a product");
        assert_eq!((tree.files.len(), tree.bytes), (2, 33));
        let place = home.path().join("built/shop-1");
        assert!(!is_whole(&place, "shop-1"));
        making.settle(&tree, 1.5).expect("it is kept");
        fs::rename(&half, &place).expect("ours");
        assert!(is_whole(&place, "shop-1") && !is_whole(&place, "shop-2"));
        assert!(!place.join(SOURCE).exists() && place.join(LOG).is_file());
        let kept = place.join("product/index.html");
        assert!(fs::metadata(&kept).expect("it is there").permissions().readonly());
        fs::remove_file(kept).expect("ours");
        assert!(!is_whole(&place, "shop-1"), "a file is gone: it is built anew");
    }

    #[test]
    fn a_command_that_made_nothing_has_failed() {
        let home = tempfile::tempdir().expect("a directory");
        let build = build();
        let half = built(home.path(), &[]);
        let making = Making {
            kit: "shop",
            build: &build,
            id: "shop-1",
            half: &half,
            failed: &home.path().join("failed/shop-1"),
        };
        let said = making.product(&half.join(SOURCE)).expect_err("there is no such directory");
        assert!(said.starts_with("`mvn package` succeeded, but target/shop can't be read"), "{said}");
        fs::create_dir_all(half.join("source/target/shop")).expect("a directory");
        let said = making.product(&half.join(SOURCE)).expect_err("it is empty");
        assert!(said.ends_with("target/shop has no file"), "{said}");
        fs::rename(half.join("source/target/shop"), half.join("source/shop")).expect("ours");
        std::os::unix::fs::symlink("../shop", half.join("source/target/shop")).expect("ours");
        let said = making.product(&half.join(SOURCE)).expect_err("only a link would be kept");
        assert!(said.ends_with("target/shop is a symbolic link and no directory"), "{said}");
    }

    #[test]
    fn a_failure_shows_the_logs_end_and_where_the_log_is() {
        let home = tempfile::tempdir().expect("a directory");
        let half = built(home.path(), &[]);
        let build = build();
        let making = Making {
            kit: "shop",
            build: &build,
            id: "shop-1",
            half: &half,
            failed: &home.path().join("failed/shop-1"),
        };
        let said = making.failure("mvn ended with exit status: 1", &half.join(LOG)).to_string();
        let log = home.path().join("failed/shop-1/build.log");
        for part in [
            "kits/shop/kit.toml: build: failed to build the application: mvn ended",
            "exit status: 1; its log ends:",
            "[ERROR] two",
            "it needs maven (to build the shop), and the network",
            log.to_str().expect("text"),
        ] {
            assert!(said.contains(part), "{part} in {said}");
        }
        assert!(log.is_file());
    }
}
