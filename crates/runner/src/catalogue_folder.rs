//! A folder of the user's that is laid over the catalogue.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use model::{Problem, Result};

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
