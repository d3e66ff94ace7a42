//! Building an application: a command of the user's own that ends with its lab, and its product in the document root.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use model::{Catalogue, Kind};
use tempfile::TempDir;
use testbed::{BuildCommand, Lab, LabOptions};

use crate::bench::{Bench, get, home, keeper, switch};
use crate::files::{kit, plan};
use crate::tiny::overlay;
use crate::waiting::{processes_of, wait_until};

/// A lab and a directory in which a shell builds.
struct Site {
    lab: Lab,
    id: String,
    dir: TempDir,
    _home: TempDir,
}

impl Site {
    fn new(name: &str) -> Site {
        let home = home();
        let id = format!("{name}-{}", std::process::id());
        let options =
            LabOptions { home: home.path(), id: &id, keeper: keeper(), switch: switch(), cgroups: true };
        let lab = Lab::open(&options).expect("a lab");
        Site { lab, id, dir: tempfile::tempdir().expect("a directory"), _home: home }
    }

    fn log(&self) -> PathBuf {
        self.dir.path().join("build.log")
    }

    fn build(&self, run: &[&str], cancel: &dyn Fn() -> bool) -> model::Result<Result<(), String>> {
        let run: Vec<String> = run.iter().map(ToString::to_string).collect();
        let log = self.log();
        self.lab.build(
            &BuildCommand { what: "it", run: &run, dir: self.dir.path(), log: &log, cpus: &[] },
            cancel,
        )
    }

    fn shell(&self, script: &str) -> Result<(), String> {
        self.build(&["sh", "-c", script], &|| false).unwrap_or_else(|problems| panic!("{problems}"))
    }
}

#[test]
fn a_build_has_the_users_environment_and_its_words_are_in_the_log() {
    let site = Site::new("build");
    assert_eq!(
        site.shell("echo \"$PATH\"; pwd; echo warned >&2; mkdir -p out/app; echo x > out/app/page"),
        Ok(())
    );
    let log = fs::read_to_string(site.log()).expect("a log");
    let path = std::env::var("PATH").expect("a PATH");
    let place = site.dir.path().canonicalize().expect("a directory").display().to_string();
    assert_eq!(log, format!("{path}\n{place}\nwarned\n"));
    assert_eq!(fs::read_to_string(site.dir.path().join("out/app/page")).expect("a file"), "x\n");
}

#[test]
fn a_build_that_fails_or_is_no_program_says_how() {
    let site = Site::new("broken");
    assert_eq!(site.shell("echo so; exit 3"), Err("sh ended with exit status: 3".to_string()));
    assert_eq!(fs::read_to_string(site.log()).expect("a log"), "so\n");
    let said = site.build(&["no-such-builder"], &|| false).expect("the lab is well").expect_err("no program");
    assert!(said.starts_with("no-such-builder can't be started: "), "{said}");
}

#[test]
fn nothing_of_a_build_runs_on_when_it_has_ended_or_is_given_up() {
    let site = Site::new("given-up");
    assert_eq!(site.shell("sleep 1000 & exit 0"), Ok(()));
    assert_eq!(processes_of(&site.id), Vec::new(), "what it left behind is ended");
    let begun = site.dir.path().join("begun");
    let ended = site.build(&["sh", "-c", "sleep 1000 & touch begun; sleep 1000"], &|| begun.exists());
    let problems = ended.expect_err("it was given up");
    assert!(problems.iter().all(|problem| problem.kind == Kind::Interrupted), "{problems}");
    wait_until("the end of all its processes", || processes_of(&site.id).is_empty());
    site.lab.close().expect("a clean end");
}

/// More of the kit of files: a build.
const BUILD: &str = r#"
[build]
folder = "sources"
run = ["sh", "build.sh"]
product = "out"
packages = { why = "a test" }
"#;

fn with_build(catalogue: &mut Catalogue) {
    catalogue.overlay(overlay(&[
        ("kits/pages/kit.toml", &(kit() + BUILD)),
        ("kits/pages/session.lua", "function visit(user) end\n"),
        ("kits/pages/sources/build.sh", "true\n"),
        ("kits/pages/app/settings.html.j2", "of kit {{ kit.name }}\n"),
    ]));
}

fn keep(folder: &Path, name: &str, text: &str) {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().expect("a directory")).expect("a directory");
    fs::write(&path, text).expect("it is writable");
    fs::set_permissions(path, fs::Permissions::from_mode(0o444)).expect("it is ours");
}

#[test]
fn the_product_is_served_beside_the_rendered_files_which_win_and_is_kept_as_it_is() {
    let Some(mut bench) = Bench::with("product", "lighttpd", with_build, plan) else { return };
    let product = bench.home().join("built/pages-1/product");
    keep(&product, "index.html", "the front page\n");
    keep(&product, "deep/er/page.html", "a page\n");
    keep(&product, "settings.html", "of nobody\n");
    bench.built = Some(product.clone());
    let plan = plan(&bench.catalogue, "lighttpd");
    let stack = bench.start(&plan).unwrap_or_else(|problems| panic!("{problems}"));
    let address = stack.web_address().expect("an address");
    for (path, text) in [
        ("/index.html", "the front page\n"),
        ("/deep/er/page.html", "a page\n"),
        ("/settings.html", "of kit pages\n"),
    ] {
        let answer = get(address, path);
        assert!(answer.starts_with("HTTP/1.1 200") && answer.ends_with(text), "{path}: {answer}");
    }
    drop(stack);
    let kept = fs::read_to_string(product.join("settings.html")).expect("it is kept");
    assert_eq!(kept, "of nobody\n", "a run never writes to what is kept");
    bench.lab.close().expect("a clean end");
}
