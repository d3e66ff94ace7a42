//! A data set's name: the same for the same contents, another for others.

use model::Result;
use sha2::{Digest, Sha256};

use crate::folder::{Kit, Setup};
use crate::sql::file;

/// A stable word for the data set that [`super::load`] would make: `dvdstore-small-1f0c…`. It depends on everything
/// that the rows depend on: the kit's name and version, the size's numbers, the seed, the files that make rows (SQL
/// as rendered), the parameters that `data.lua` reads, and `server_version`, because the data directory's format is
/// the server's.
pub fn dataset_id(kit: &Kit, setup: &Setup, size_label: &str, server_version: &str) -> Result<String> {
    let manifest = &kit.manifest;
    let mut hash = Sha256::new();
    let mut add = |name: &str, text: &str| {
        for part in [name, text] {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part.as_bytes());
        }
    };
    add("kit", &manifest.name);
    add("version", &manifest.version.to_string());
    add("server", server_version);
    add("seed", &setup.seed.to_string());
    setup.size.iter().for_each(|(name, value)| add(name, &value.to_string()));
    for sql in [&manifest.schema, &manifest.finish].into_iter().flatten() {
        add(sql, &file::text(kit, sql, setup)?);
    }
    if let Some(data) = &manifest.data {
        add(data, kit.text(data)?);
        for (name, text) in row_makers(kit) {
            add(name, text);
        }
        for (name, value) in setup.params.iter().filter(|(name, _)| reads(kit, name)) {
            add(name, &value.to_string());
        }
    }
    let digest = hash.finalize();
    let word: String = digest.iter().take(6).map(|byte| format!("{byte:02x}")).collect();
    let label: String = size_label.to_lowercase().chars().filter(char::is_ascii_alphanumeric).collect();
    Ok(format!("{}-{label}-{word}", manifest.name))
}

/// The Lua files that rows can depend on: all but the session, the check and the script of the file set.
fn row_makers(kit: &Kit) -> impl Iterator<Item = (&String, &String)> {
    let manifest = &kit.manifest;
    let files = manifest.file_set.as_ref().map(|set| &set.script);
    let others = [Some(&manifest.session), manifest.check.as_ref(), files];
    kit.modules.iter().filter(move |(name, _)| {
        others.iter().flatten().all(|file| file.trim_end_matches(".lua") != name.as_str())
    })
}

/// Whether a file that makes rows can read the parameter; when in doubt, it does.
fn reads(kit: &Kit, param: &str) -> bool {
    row_makers(kit).any(|(_, text)| {
        text.match_indices("param").any(|(at, word)| {
            let rest = &text[at + word.len()..];
            match rest.strip_prefix('.') {
                Some(field) => {
                    let name = field.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).next();
                    name == Some(param)
                }
                None => !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'),
            }
        })
    })
}
