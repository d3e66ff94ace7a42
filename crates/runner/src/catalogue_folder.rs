//! A folder of the user's that is laid over the catalogue.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use model::catalogue::FOLDERS;
use model::{Catalogue, Problem, Result};

/// Lays the folder over the catalogue. What else lies in it than a catalogue's folders is nobody's concern.
///
/// # Errors
/// A file that can't be read, or a folder that is full of other things.
pub fn lay(folder: &Path, catalogue: &mut Catalogue) -> Result<()> {
    let mut files = BTreeMap::new();
    let mut has_others = false;
    for entry in fs::read_dir(folder).map_err(|error| unreadable(folder, &error))? {
        let entry = entry.map_err(|error| unreadable(folder, &error))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if FOLDERS.contains(&name.as_str()) {
            let within = read(&entry.path())?.into_iter();
            files.extend(within.map(|(path, bytes)| (format!("{name}/{path}"), bytes)));
        } else {
            has_others = true;
        }
    }
    if files.is_empty() && has_others {
        let what = format!("{} has no folder of a catalogue", folder.display());
        let remedy = format!(
            "give the folder that has one of {}: DIR, where a kit is DIR/kits/NAME",
            FOLDERS.join(", ")
        );
        return Err(Problem::recipe(what).key("--catalogue").remedy(remedy).into());
    }
    catalogue.lay_over(folder, files);
    Ok(())
}

/// Every file below `folder` by its path relative to it.
pub fn read(folder: &Path) -> Result<BTreeMap<String, Cow<'static, [u8]>>> {
    let mut files = BTreeMap::new();
    let mut open = vec![folder.to_path_buf()];
    while let Some(dir) = open.pop() {
        let entries = fs::read_dir(&dir).map_err(|error| unreadable(&dir, &error))?;
        for entry in entries {
            let path = entry.map_err(|error| unreadable(&dir, &error))?.path();
            if path.is_dir() {
                open.push(path);
            } else if let Ok(relative) = path.strip_prefix(folder) {
                let bytes = fs::read(&path).map_err(|error| unreadable(&path, &error))?;
                files.insert(relative.to_string_lossy().into_owned(), Cow::Owned(bytes));
            }
        }
    }
    Ok(files)
}

fn unreadable(path: &Path, error: &std::io::Error) -> Problem {
    Problem::recipe(format!("failed to read: {error}")).file(path.display().to_string())
}
