//! The static kit asks for what its specification says: a million draws against the closed form.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use engine::random::Stream;
use engine::script::natives::{self, CurrentStream};
use engine::script::{constants, sandbox};
use kit::files::{self, FileList};
use kit::{Kit, Setup};
use model::{Catalogue, Value};

const DRAWS: u64 = 1_000_000;
const CLASSES: [f64; 4] = [0.35, 0.50, 0.14, 0.01];
const ORDER: [usize; 9] = [4, 3, 5, 2, 6, 1, 7, 8, 0];

fn catalogue() -> Catalogue {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../catalogue/kits/static");
    let entries = std::fs::read_dir(folder).expect("the kit's folder").flatten();
    let read = |entry: std::fs::DirEntry| {
        let name = format!("kits/static/{}", entry.file_name().to_string_lossy());
        (name, std::fs::read(entry.path()).expect("a file").into())
    };
    Catalogue::new(entries.map(read).collect::<BTreeMap<_, _>>())
}

fn kit_and_setup(size: &str) -> (Kit, Setup) {
    let kit = Kit::open(&catalogue(), "static").expect("the kit is right");
    let params =
        kit.manifest.params.iter().map(|param| (param.name.clone(), param.default.clone())).collect();
    let setup = Setup { size: kit.manifest.size(size).expect("a size"), params, seed: 1 };
    (kit, setup)
}

fn listed(size: &str) -> FileList {
    let (kit, setup) = kit_and_setup(size);
    files::list(&kit, &setup, &catalogue()).expect("the script is right").expect("it has files")
}

fn file_share(file: usize) -> f64 {
    let rank = 1 + ORDER.iter().position(|one| *one == file).expect("a file of nine");
    1.0 / rank as f64 / (1..=9).map(|rank| 1.0 / f64::from(rank)).sum::<f64>()
}

/// Directory, class and file of `file_set/dir00012/class3_4`.
fn parts(path: &str) -> (usize, usize, usize) {
    let number = |from: usize, to: usize| path[path.len() - from..path.len() - to].parse().expect(path);
    (number(14, 9), number(3, 2), number(1, 0))
}

#[test]
fn sizes_are_those_of_the_specification() {
    for (size, dirs, bytes) in [
        ("quick", 10, 51_194_840),
        ("500mb", 102, 522_187_368),
        ("1.5gb", 307, 1_571_681_588),
        ("3.3gb", 676, 3_460_771_184),
    ] {
        let list = listed(size);
        assert_eq!((list.count(), list.bytes()), (36 * dirs, bytes), "{size}");
    }
    let dirs = |size: &str| kit_and_setup(size).1.size["dirs"];
    assert_eq!((dirs("800mb"), dirs("128mb"), dirs("1mb")), (164.0, 26.0, 1.0));
    let lengths: HashMap<String, u64> =
        listed("quick").files().map(|(path, length)| (path.to_string(), length)).collect();
    let of = |class: u32| {
        (0..9).map(|file| lengths[&format!("file_set/dir00009/class{class}_{file}")]).collect::<Vec<_>>()
    };
    assert_eq!(of(0), [102, 204, 307, 409, 512, 614, 716, 819, 921]);
    assert_eq!(of(3), (1..=9).map(|k| 102_400 * k).collect::<Vec<u64>>());
}

/// What `session.lua` asks for, without a server: path and count.
fn drawn(function: &str, calls: u64, size: &str) -> (HashMap<String, u64>, HashMap<String, u64>) {
    drawn_with(function, calls, size, 0.0)
}

/// The same where this share of the requests asks for a program.
fn drawn_with(
    function: &str,
    calls: u64,
    size: &str,
    cgi: f64,
) -> (HashMap<String, u64>, HashMap<String, u64>) {
    let (kit, mut setup) = kit_and_setup(size);
    setup.params.insert("cgi".to_string(), Value::Float(cgi));
    let lua = sandbox::new_lua(kit.modules.clone(), 256 << 20).expect("a state");
    constants::install(&lua, &setup.size, &setup.params).expect("constants");
    natives::install(&lua, &CurrentStream::new(Stream::new(7, 7))).expect("helpers");
    let files = listed(size);
    let files = files.files().map(|(path, length)| (format!("/{path}"), length));
    let lengths: HashMap<String, u64> = files.chain([("/cgi/stub".to_string(), 1_000)]).collect();
    lua.globals().raw_set("lengths", lengths).expect("a table");
    lua.load(
        r#"
        paths, seen = {}, {}
        local function add(list, name) list[name] = (list[name] or 0) + 1 end
        local page = setmetatable({}, { __len = function(page) return lengths[page.path] end })
        function page:match() return lengths[self.path] .. " " .. self.path end
        function get(path)
          add(paths, path)
          page.path, page.bytes = path, lengths[path]
          return page
        end
        function operation(name) add(seen, name) end
        function count(name, n) if not n then add(seen, name) end end
        function check(truth, what) if not truth then error(what .. " " .. page.path) end end
        "#,
    )
    .exec()
    .expect("stand-ins");
    lua.load(kit.text("session.lua").expect("a session")).exec().expect("the session is right");
    let session: mlua::Function = lua.globals().raw_get(function).expect("a session");
    (0..calls).for_each(|_| session.call::<()>(()).expect("it checks its own answers"));
    let counts = |name: &str| lua.globals().raw_get(name).expect("counts");
    (counts("paths"), counts("seen"))
}

#[test]
fn a_million_requests_follow_the_laws_of_class_file_and_directory() {
    let (paths, seen) = drawn("five", DRAWS / 5, "500mb");
    let (mut dirs, mut classes, mut files) = ([0u64; 102], [0u64; 4], [0u64; 9]);
    for (path, count) in &paths {
        let (dir, class, file) = parts(path);
        dirs[dir] += count;
        classes[class] += count;
        files[file] += count;
    }
    assert_eq!(classes.iter().sum::<u64>(), DRAWS);
    let near = |what: String, found: u64, share: f64| {
        let ratio = found as f64 / DRAWS as f64 / share;
        assert!((0.9..1.1).contains(&ratio), "{what}: {ratio} times what it should be");
    };
    let harmonic: f64 = (1..=102).map(|rank| 1.0 / f64::from(rank)).sum();
    classes.iter().enumerate().for_each(|(n, found)| near(format!("class {n}"), *found, CLASSES[n]));
    files.iter().enumerate().for_each(|(n, found)| near(format!("file {n}"), *found, file_share(n)));
    dirs.iter()
        .enumerate()
        .for_each(|(n, found)| near(format!("dir {n}"), *found, 1.0 / (n + 1) as f64 / harmonic));
    // Operations are the classes, and one answer in a hundred is looked into.
    (0..4).for_each(|class| assert_eq!(seen[&format!("class{class}")], classes[class]));
    near("verified".to_string(), seen["verified"], 0.01);
}

#[test]
fn a_share_of_the_requests_starts_a_program_and_the_others_are_as_they_were() {
    let (paths, seen) = drawn_with("five", 40_000, "quick", 0.01);
    let programs = seen["cgi"];
    assert!((1_900..2_100).contains(&programs), "{programs} of 200,000, not a hundredth");
    assert_eq!((paths["/cgi/stub"], seen["requests"]), (programs, 200_000));
    let classes: Vec<u64> = (0..4).map(|class| seen[&format!("class{class}")]).collect();
    assert_eq!(classes.iter().sum::<u64>(), 200_000 - programs);
    let (paths, seen) = drawn("five", 2_000, "quick");
    assert!(!paths.contains_key("/cgi/stub") && !seen.contains_key("cgi"), "there is no such operation");
}

#[test]
fn sessions_of_the_other_mix_have_one_request_or_five_to_fifteen() {
    let requests = |name: &str| drawn(name, 20_000, "quick").1["requests"];
    assert_eq!(requests("one"), 20_000);
    let mean = requests("five_to_fifteen") as f64 / 20_000.0;
    assert!((9.9..10.1).contains(&mean), "{mean}");
}

#[test]
fn a_few_files_take_most_of_the_requests_as_the_specification_s_table_says() {
    for (size, dirs, table) in [
        ("500mb", 102, [(0.5, 129, 1.1), (0.9, 1_215, 17.7), (0.95, 1_725, 30.8), (0.99, 2_532, 67.3)]),
        ("1.5gb", 307, [(0.5, 233, 2.1), (0.9, 3_224, 48.4), (0.95, 4_813, 85.4), (0.99, 7_419, 187.0)]),
        ("3.3gb", 676, [(0.5, 354, 3.7), (0.9, 6_495, 98.4), (0.95, 10_047, 178.0), (0.99, 16_040, 390.0)]),
    ] {
        let harmonic: f64 = (1..=dirs).map(|rank| 1.0 / f64::from(rank)).sum();
        let list = listed(size);
        let (mut share, mut count, mut bytes, mut rows) = (0.0, 0u64, 0u64, table.iter().peekable());
        // The list begins with the most popular.
        for (path, length) in list.files() {
            let (dir, class, file) = parts(path);
            share += CLASSES[class] * file_share(file) / (dir + 1) as f64 / harmonic;
            (count, bytes) = (count + 1, bytes + length);
            while let Some((_, files, mib)) = rows.next_if(|(wanted, ..)| share >= *wanted) {
                let found = bytes as f64 / f64::from(1 << 20);
                assert!((found / mib - 1.0).abs() < 0.05, "{size}: {found} MiB for {mib}");
                assert!(
                    (count as f64 / f64::from(*files) - 1.0).abs() < 0.02,
                    "{size}: {count} files for {files}"
                );
            }
        }
        assert!(rows.next().is_none() && (share - 1.0).abs() < 1e-9, "{size}: {share}");
    }
}
