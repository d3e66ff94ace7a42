//! What docs/kits-tutorial.md shows: the files of the kit that is made there, word for word, and commands.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The folder that the tutorial calls `wikis`.
pub(crate) fn wikis() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/dokuwiki")
}

fn page() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/kits-tutorial.md");
    fs::read_to_string(path).expect("the tutorial is there")
}

/// Its commands, in the order in which they stand there.
pub(crate) fn commands() -> Vec<String> {
    let page = page();
    let blocks = page.split("```sh\n").skip(1).filter_map(|rest| rest.split("\n```").next());
    let lines = blocks.flat_map(str::lines).filter(|line| line.starts_with("plimsoll "));
    lines.map(str::to_string).collect()
}

/// The lines of each quoted file that say anything, in the order in which they stand on the page.
fn quoted(page: &str) -> BTreeMap<String, Vec<String>> {
    let mut files: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for rest in page.split("<!-- file: ").skip(1) {
        let (path, rest) = rest.split_once(" -->").expect("a comment ends");
        let block =
            rest.split("\n```").nth(1).expect("a block follows").split_once('\n').expect("its language").1;
        files.entry(path.to_string()).or_default().extend(telling_lines(block));
    }
    files
}

fn telling_lines(text: &str) -> Vec<String> {
    text.lines().filter(|line| !line.trim().is_empty()).map(str::to_string).collect()
}

/// The files below a folder by their paths in it.
fn files_below(folder: &Path, prefix: &str, found: &mut BTreeMap<String, Vec<String>>) {
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let path = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() {
            files_below(&entry.path(), &format!("{path}/"), found);
        } else {
            let text = fs::read_to_string(entry.path()).expect("a text");
            found.insert(path, telling_lines(&text));
        }
    }
}

#[test]
fn the_tutorial_shows_every_file_of_its_kit_as_a_whole() {
    let mut kept = BTreeMap::new();
    files_below(&wikis().join("kits/dokuwiki"), "", &mut kept);
    let quoted = quoted(&page());
    assert_eq!(quoted.keys().collect::<Vec<_>>(), kept.keys().collect::<Vec<_>>());
    for (path, lines) in &kept {
        assert_eq!(&quoted[path], lines, "{path}: the fixture and docs/kits-tutorial.md say the same");
    }
}

#[test]
fn the_tutorial_goes_from_a_check_to_a_load_line() {
    let commands = commands();
    let verbs: Vec<&str> = commands.iter().filter_map(|line| line.split(' ').nth(1)).collect();
    assert_eq!(verbs, ["check", "doctor", "try", "run", "find", "explain"]);
}
