//! The catalogue of this repository, as the binary has it: with the sources of its servers.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use model::Catalogue;

/// Where somebody has built by hand; never part of the catalogue.
const BUILT_BY_HAND: &str = "target";

/// The root of the repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Everything of it.
///
/// # Panics
/// Without the repository, which tests are part of.
pub fn catalogue() -> Catalogue {
    let (mut files, root) = (BTreeMap::new(), root());
    read(&root.join("catalogue"), "", &mut files);
    read(&root.join("servers"), "servers/", &mut files);
    Catalogue::new(files)
}

fn read(folder: &Path, inside: &str, files: &mut BTreeMap<String, Cow<'static, [u8]>>) {
    for entry in fs::read_dir(folder).expect("a folder of the repository").flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if !entry.path().is_dir() {
            files.insert(format!("{inside}{name}"), fs::read(entry.path()).expect("a file of it").into());
        } else if name != BUILT_BY_HAND {
            read(&entry.path(), &format!("{inside}{name}/"), files);
        }
    }
}
