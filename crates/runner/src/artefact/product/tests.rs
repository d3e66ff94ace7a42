//! What is kept of a build, and what is said of one that failed.

use std::os::unix::fs::PermissionsExt;

use model::catalogue::build::Build;

use super::*;

fn mode(path: &Path) -> u32 {
    fs::metadata(path).expect("it is there").permissions().mode() & 0o777
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("ours");
}

fn build() -> Build {
    Build {
        folder: "servlets".to_string(),
        run: vec!["mvn".to_string(), "package".to_string()],
        product: "target/shop".to_string(),
        programs: Vec::new(),
        packages: model::catalogue::service::Packages {
            install: vec!["maven".to_string()],
            unpack: Vec::new(),
            why: "to build the shop".to_string(),
        },
    }
}

fn subject(build: &Build) -> Subject<'_> {
    Subject { build, role: Role::Application { kit: "shop" } }
}

fn server(build: &Build) -> Subject<'_> {
    let role = Role::Server { tier: "web", service: "flash-mp", folder: "services/flash-mp" };
    Subject { build, role }
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
        subject: subject(&build),
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
    assert_eq!(mode(&kept), 0o444);
    fs::remove_file(kept).expect("ours");
    assert!(!is_whole(&place, "shop-1"), "a file is gone: it is built anew");
}

#[test]
fn servers_can_enter_read_and_run_what_is_kept_whatever_the_umask_was() {
    let home = tempfile::tempdir().expect("a directory");
    let half = built(home.path(), &["flash", "lib/tables"]);
    let product = half.join("source/target/shop");
    set_mode(&product.join("flash"), 0o700);
    set_mode(&product.join("lib/tables"), 0o600);
    for folder in [&product.join("lib"), &product, &half, &home.path().join("built")] {
        set_mode(folder, 0o700);
    }
    let build = build();
    let failed = home.path().join("failed/flash-1");
    let making = Making { subject: server(&build), id: "flash-1", half: &half, failed: &failed };
    let tree = making.product(&half.join(SOURCE)).expect("a product");
    making.settle(&tree, 1.5).expect("it is kept");
    let table = [("product/flash", 0o555), ("product/lib/tables", 0o444)];
    let folders = ["product/lib", "product", "", ".."].map(|folder| (folder, 0o755));
    for (path, expected) in table.into_iter().chain(folders) {
        assert_eq!(mode(&half.join(path)), expected, "{path}: {:o}", mode(&half.join(path)));
    }
}

#[test]
fn a_command_that_made_nothing_has_failed() {
    let home = tempfile::tempdir().expect("a directory");
    let build = build();
    let half = built(home.path(), &[]);
    let making = Making {
        subject: subject(&build),
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
        subject: subject(&build),
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
    let failed = home.path().join("failed/flash-1");
    let making = Making { subject: server(&build), id: "flash-1", half: &half, failed: &failed };
    let problems = making.failure("cargo ended with exit status: 101", &half.join(LOG));
    let said = problems.to_string();
    for part in [
        "services/flash-mp/service.toml: build: failed to build the server: cargo ended with exit status: 101",
        "the tier web has no program to start",
    ] {
        assert!(said.contains(part), "{part} in {said}");
    }
}

#[test]
fn services_that_share_their_sources_share_what_is_built() {
    let file = |path: &str| (path.to_string(), std::borrow::Cow::Borrowed(&b"x"[..]));
    let catalogue = model::Catalogue::new(["servers/flash/a", "kits/shop/servlets/a"].map(file).into());
    let sources = Build { folder: "servers/flash/".to_string(), ..build() };
    let of = |service| {
        let role = Role::Server { tier: "web", service, folder: "services/x" };
        Subject { build: &sources, role }.sources(&catalogue).id()
    };
    let one = of("flash-mp");
    assert!(one.starts_with("flash-") && one == of("flash-sped"), "{one}");
    let build = build();
    let kits = subject(&build).sources(&catalogue).id();
    assert!(kits.starts_with("shop-") && kits[5..] == one[6..], "{kits} {one}: the same file and command");
}
