//! What lies beside a kit or service in a folder that others give as `--catalogue DIR`: its stack, say.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use model::{Catalogue, Result};
use runner::catalogue_folder;

/// What a kit or a service can name.
const FOLDERS: [&str; 4] = ["kits", "links", "services", "stacks"];

/// Lays what lies beside `folder`, which is `DIR/KIND/NAME`, over the catalogue as far as that doesn't have it yet. DIR, where
/// there was anything; `folder` is an absolute path.
///
/// # Errors
/// A file there that can't be read.
pub(super) fn lay(folder: &Path, kind: &str, catalogue: &mut Catalogue) -> Result<Option<PathBuf>> {
    let of_kind = folder.parent().filter(|parent| parent.file_name().is_some_and(|name| name == kind));
    let Some(dir) = of_kind.and_then(Path::parent) else { return Ok(None) };
    let mut files: BTreeMap<String, Cow<'static, [u8]>> = BTreeMap::new();
    for name in FOLDERS {
        let folder = dir.join(name);
        if folder.is_dir() {
            let found = catalogue_folder::read(&folder)?.into_iter();
            files.extend(found.map(|(path, bytes)| (format!("{name}/{path}"), bytes)));
        }
    }
    files.retain(|path, _| catalogue.bytes(path).is_err());
    let any = !files.is_empty();
    catalogue.overlay(files);
    Ok(any.then(|| dir.to_path_buf()))
}

/// What everybody else has to be told.
pub(super) fn sentence(dir: &Path) -> String {
    format!("with what lies beside it: other verbs take it with --catalogue {}", dir.display())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn what_the_catalogue_lacks_is_taken_from_beside_the_folder_and_nothing_else() {
        let dir = tempfile::tempdir().expect("a directory");
        let write = |path: &str, text: &str| {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().expect("it has one")).expect("a directory");
            fs::write(path, text).expect("a file");
        };
        write("kits/shop/kit.toml", "own");
        write("stacks/own.toml", "own");
        write("stacks/known.toml", "own");
        write("papers/large.txt", "own");
        let known = |path: &str| (path.to_string(), Cow::Borrowed("known".as_bytes()));
        let mut catalogue = Catalogue::new([known("stacks/known.toml"), known("kits/shop/kit.toml")].into());
        let folder = dir.path().join("kits/shop");
        assert_eq!(lay(&folder, "services", &mut catalogue), Ok(None), "it is no service's");
        assert!(catalogue.text("stacks/own.toml").is_err());
        assert_eq!(lay(&folder, "kits", &mut catalogue), Ok(Some(dir.path().to_path_buf())));
        assert_eq!(catalogue.text("stacks/own.toml"), Ok("own"));
        assert_eq!(catalogue.text("stacks/known.toml"), Ok("known"));
        assert!(catalogue.text("papers/large.txt").is_err());
        assert_eq!(lay(&folder, "kits", &mut catalogue), Ok(None), "there is nothing more");
    }
}
