//! A kit's file set: what its script may say, what is made of it, and that a kept one is still that.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::sync::atomic::AtomicBool;

use kit::files::{self, FileList, MADE, MakeOptions, Making};
use kit::{Kit, Setup};
use model::{Catalogue, Problems};

const MANIFEST: &str = r#"
format = 1
name = "pages"
version = 1
title = "Pages"
source = "ours"
needs = ["web+files"]
session = "session.lua"
front_page = "/a/one"
default_size = "small"
default_stack = "web"
state = { drifts = false, why = "nothing is written", reset = "none" }
sizes = { small = { folders = 3 } }
users = { default = 1, ramp_per_s = 1 }
mix = { visit = 1 }
qos = {}
[file_set]
script = "files.lua"
page_cache = "cache"
[[param]]
name = "cache"
type = "choice"
default = "warm"
values = ["cold", "warm"]
help = "what is cached"
"#;

fn catalogue(script: &str) -> Catalogue {
    let texts = [
        ("kits/pages/kit.toml", MANIFEST),
        ("kits/pages/session.lua", "function visit(user) get('/a/one') end"),
        ("kits/pages/files.lua", script),
        ("kits/pages/media/photo.jpg", "not really a photo"),
    ];
    let own = |(path, text): (&str, &str)| (path.to_string(), text.as_bytes().to_vec().into());
    Catalogue::new(BTreeMap::from(texts.map(own)))
}

fn listed(script: &str, seed: u64) -> Result<FileList, Problems> {
    let catalogue = catalogue(script);
    let kit = Kit::open(&catalogue, "pages")?;
    let setup = Setup { size: kit.manifest.size("small").expect("a size"), params: defaults(&kit), seed };
    Ok(files::list(&kit, &setup, &catalogue)?.expect("the kit has a file set"))
}

fn defaults(kit: &Kit) -> model::catalogue::setting::Values {
    kit.manifest.params.iter().map(|param| (param.name.clone(), param.default.clone())).collect()
}

/// A part with one thing, whose files `body` names.
fn naming(body: &str) -> String {
    format!("return {{ parts = {{ {{ name = 'p', count = 1, chunk = 1, make = function() {body} end }} }} }}")
}

fn make(list: &FileList, into: &Path) -> Result<Vec<Making>, Problems> {
    let mut told = Vec::new();
    let on_progress = &mut |making| told.push(making);
    let cancelled = &AtomicBool::new(false);
    files::make(MakeOptions { list, into, threads: 2, on_progress, cancelled }).map(|_| told)
}

const SMALL: &str = "
    local function folder(first, last)
      for n = first, last do
        file('d' .. n .. '/made', { bytes = 102 * n })
        file('d' .. n .. '/word', { text = letters(5) .. n })
        file('d' .. n .. '/photo.jpg', { copy = 'media/photo.jpg' })
      end
    end
    return { parts = { { name = 'folders', count = size.folders, chunk = 2, make = folder } } }";

#[test]
fn a_set_is_made_as_its_script_says_and_nobody_may_write_it() {
    let list = listed(SMALL, 7).expect("the script is right");
    assert_eq!((list.count(), list.bytes()), (9, 102 + 204 + 306 + 3 * 6 + 3 * 18));
    let home = tempfile::tempdir().expect("a directory");
    let place = home.path().join("set");
    make(&list, &place).expect("there is room");
    for (path, length) in list.files() {
        let about = fs::metadata(place.join(MADE).join(path)).expect("it was made");
        assert_eq!((about.len(), about.permissions().mode() & 0o777), (length, 0o444), "{path}");
    }
    let read = |path: &str| fs::read(place.join(MADE).join(path)).expect("it was made");
    let text = String::from_utf8(read("d1/made")).expect("it is text");
    assert!(text.starts_with("102 /d1/made\n") && text.ends_with('\n'), "{text}");
    assert_eq!(text.lines().count(), 2, "{text}");
    assert_ne!(read("d2/made")[20..100], read("d3/made")[20..100], "contents follow the path");
    assert_eq!(read("d3/photo.jpg"), b"not really a photo");
    let links = fs::metadata(place.join(MADE).join("d1/photo.jpg")).expect("it was made").nlink();
    assert_eq!(links, 3, "the same file three times");
    files::check(&list, &place, 9).expect("it is what was made");
}

#[test]
fn a_kits_file_is_written_again_after_a_thousand_names_and_takes_room_as_often() {
    let body = "for n = 1, 2500 do file('d/' .. n, { copy = 'media/photo.jpg' }) end";
    let list = listed(&naming(body), 1).expect("the script is right");
    let (served, on_disk) = (list.bytes(), list.disk_bytes());
    assert_eq!(served, 2500 * 18);
    assert_eq!(on_disk, 3 * (18 + 4096) + 2500 * 256, "three copies, and a little for each name");
    let home = tempfile::tempdir().expect("a directory");
    let place = home.path().join("set");
    make(&list, &place).expect("there is room");
    let mut names: BTreeMap<u64, u64> = BTreeMap::new();
    for (path, _) in list.files() {
        let about = fs::metadata(place.join(MADE).join(path)).expect("it was made");
        names.insert(about.ino(), about.nlink());
    }
    let mut counts: Vec<u64> = names.into_values().collect();
    counts.sort_unstable();
    assert_eq!(counts, [500, 1000, 1000]);
    files::check(&list, &place, 16).expect("it is what was made");
}

#[test]
fn other_users_can_enter_every_directory_and_a_kept_set_with_a_closed_one_is_refused() {
    let list = listed(&naming("file('a/b/one', { bytes = 1 })"), 1).expect("the script is right");
    let home = tempfile::tempdir().expect("a directory");
    let place = home.path().join("set");
    let folders = ["", MADE, "files/a", "files/a/b"].map(|folder| place.join(folder));
    let set_mode = |folder: &Path, mode| {
        fs::set_permissions(folder, fs::Permissions::from_mode(mode)).expect("it is ours");
    };
    // As a strict umask would have them.
    fs::create_dir_all(place.join("files/a/b")).expect("a directory");
    folders.iter().for_each(|folder| set_mode(folder, 0o700));
    make(&list, &place).expect("there is room");
    for folder in &folders {
        let mode = fs::metadata(folder).expect("it was made").permissions().mode();
        assert_eq!(mode & 0o777, 0o755, "{}", folder.display());
        set_mode(folder, 0o750);
        let text = files::check(&list, &place, 1).expect_err("it is closed").to_string();
        assert!(text.contains("can't enter"), "{text}");
        set_mode(folder, 0o755);
    }
    files::check(&list, &place, 1).expect("it is what was made");
}

#[test]
fn contents_follow_the_seed_and_are_hard_to_shorten() {
    let script =
        naming("file('big', { bytes = 600000 }) file('none', { bytes = 0 }) file('tiny', { bytes = 5 })");
    let bytes = |seed: u64| {
        let list = listed(&script, seed).expect("the script is right");
        let home = tempfile::tempdir().expect("a directory");
        make(&list, &home.path().join("set")).expect("there is room");
        let read = |name: &str| fs::read(home.path().join("set").join(MADE).join(name)).expect("it was made");
        assert_eq!((read("none").len(), read("tiny")), (0, b"5 /ti".to_vec()));
        read("big")
    };
    let (one, other) = (bytes(1), bytes(2));
    assert_eq!(one.len(), 600_000);
    assert_eq!(one, bytes(1));
    assert_ne!(one, other);
    let mut counts = [0u32; 256];
    one[20..599_999].iter().for_each(|byte| counts[usize::from(*byte)] += 1);
    assert!(one[20..599_999].iter().all(|byte| byte.is_ascii_graphic()));
    let used = counts.iter().filter(|count| **count > 0).count();
    let entropy: f64 = counts
        .iter()
        .filter(|count| **count > 0)
        .map(|count| {
            let share = f64::from(*count) / 599_979.0;
            -share * share.log2()
        })
        .sum();
    assert_eq!(used, 64);
    assert!(entropy > 5.99, "{entropy} bits a byte of at most 6");
}

#[test]
fn whatever_changes_the_files_changes_the_name() {
    let id = |script: &str, seed: u64| listed(script, seed).expect("the script is right").id("small");
    let ids = [
        id(SMALL, 1),
        id(SMALL, 2),
        id(&SMALL.replace("102", "103"), 1),
        id(&SMALL.replace("/word", "/term"), 1),
        id(&SMALL.replace("letters(5)", "letters(6)"), 1),
    ];
    assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len(), "{ids:?}");
    assert_eq!(ids[0], id(&format!("-- a comment\n{SMALL}"), 1), "the same files have the same name");
    assert!(ids[0].starts_with("pages-files-small-"), "{}", ids[0]);
}

#[test]
fn paths_that_leave_the_set_or_come_twice_are_refused_with_their_line() {
    for (body, word) in [
        ("file('../passwd', { bytes = 1 })", "not `.` or `..`"),
        ("file('/etc/passwd', { bytes = 1 })", "it is relative"),
        ("file('a//b', { bytes = 1 })", "each of its parts"),
        ("file('a b', { bytes = 1 })", "only letters"),
        ("file('a', { bytes = 1 }) file('a', { bytes = 1 })", "named twice"),
        ("file('a', { bytes = 1 }) file('a/b', { bytes = 1 })", "is a file already"),
        ("file('a/b', { bytes = 1 }) file('a', { bytes = 1 })", "named twice"),
        ("file('a', { bytes = -1 })", "negative"),
        ("file('a', { bytes = 1, text = 'x' })", "say one of"),
        ("file('a', { copy = 'media/none.jpg' })", "no file `media/none.jpg`"),
        ("local x = 1", "names no file"),
    ] {
        let problems = listed(&naming(body), 1).expect_err(body);
        let text = problems.to_string();
        assert!(text.contains("kits/pages/files.lua") && text.contains(word), "{body}: {text}");
        assert_eq!(problems.exit_code(), 2, "{text}");
    }
}

#[test]
fn a_set_that_does_not_fit_is_refused_with_numbers_before_anything_is_written() {
    let list = listed(&naming("file('a', { bytes = 900000000000000 })"), 1).expect("the script is right");
    let home = tempfile::tempdir().expect("a directory");
    let text = make(&list, &home.path().join("set")).expect_err("no disk is that large").to_string();
    assert!(text.contains("the file set needs 900 TB") && text.contains("free"), "{text}");
    assert_eq!(fs::read_dir(home.path()).expect("it is there").count(), 0);
}

#[test]
fn a_making_that_is_cancelled_or_fails_leaves_nothing() {
    let list = listed(SMALL, 1).expect("the script is right");
    let home = tempfile::tempdir().expect("a directory");
    let into = home.path().join("set");
    let options =
        |cancelled, on_progress| MakeOptions { list: &list, into: &into, threads: 2, on_progress, cancelled };
    let stopped = files::make(options(&AtomicBool::new(true), &mut |_| ())).expect_err("it was cancelled");
    assert_eq!(stopped.exit_code(), 105, "{stopped}");
    assert!(!into.exists());
    fs::create_dir_all(into.join(MADE).join("d2/word")).expect("something in the way");
    let failed = make(&list, &into).expect_err("a directory is in the way").to_string();
    assert!(failed.contains("d2/word"), "{failed}");
    assert!(!into.exists());
}

#[test]
fn a_kept_file_that_is_longer_gone_or_other_is_found() {
    let list = listed(SMALL, 1).expect("the script is right");
    let spoil = |spoil: &dyn Fn(&Path)| {
        let home = tempfile::tempdir().expect("a directory");
        let place = home.path().join("set");
        make(&list, &place).expect("there is room");
        let path = place.join(MADE).join("d1/made");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).expect("it is ours");
        spoil(&path);
        files::check(&list, &place, 9).expect_err("it is spoilt").to_string()
    };
    assert!(spoil(&|path| fs::write(path, [b'x'; 103]).expect("ours")).contains("103 bytes, but 102"));
    assert!(spoil(&|path| fs::remove_file(path).expect("ours")).contains("failed to find"));
    assert!(spoil(&|path| fs::write(path, [b'x'; 102]).expect("ours")).contains("is not what was made"));
}

#[test]
fn a_page_cache_parameter_that_is_not_there_is_found_by_check() {
    let lint = |manifest: &str| {
        let mut catalogue = catalogue(SMALL);
        let text = manifest.as_bytes().to_vec();
        catalogue.overlay(BTreeMap::from([("kits/pages/kit.toml".to_string(), text.into())]));
        kit::lint(&catalogue, "pages").map_err(|problems| problems.to_string())
    };
    assert_eq!(lint(MANIFEST), Ok(()));
    let other = lint(&MANIFEST.replace("\"cold\", ", "\"frozen\", ")).expect_err("there is no cold");
    assert!(other.contains("a choice with `cold` and `warm`"), "{other}");
    let missing =
        lint(&MANIFEST.replace("page_cache = \"cache\"", "page_cache = \"cach\"")).expect_err("mistyped");
    assert!(missing.contains("`cach` is not a parameter") && missing.contains("`cache`"), "{missing}");
    let none = lint(&MANIFEST.replace("[file_set]\nscript = \"files.lua\"\npage_cache = \"cache\"\n", ""));
    assert!(none.expect_err("nothing to serve").contains("nothing to serve"));
}
