//! Tells the binary how it was compiled, since figures of a build that is compiled for speed of compiling say so, and what is
//! embedded in it: the catalogue, and the sources of its servers.

use std::fmt::Write;
use std::fs;
use std::io;
use std::path::Path;

/// Where somebody has built by hand.
const BUILT_BY_HAND: &str = "target";

fn main() -> io::Result<()> {
    // Of cargo's own profiles and of those that inherit from them.
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    let build = match (variable("PROFILE").as_str(), variable("OPT_LEVEL").as_str()) {
        ("release", "3") => "release",
        ("release", _) => "demo",
        _ => "dev",
    };
    println!("cargo:rustc-env=PLIMSOLL_BUILD={build}");
    println!("cargo:rerun-if-changed=build.rs");
    let root = Path::new(&variable("CARGO_MANIFEST_DIR")).join("../..");
    let mut list = String::new();
    for (folder, inside) in [("catalogue", ""), ("servers", "servers/")] {
        embed(&root.join(folder), inside, &mut list)?;
    }
    fs::write(Path::new(&variable("OUT_DIR")).join("embedded.rs"), format!("&[\n{list}]\n"))
}

/// Adds what is below a folder: the path in the catalogue, and the bytes. The compiler looks for changes of the files, and cargo
/// for new ones.
fn embed(folder: &Path, inside: &str, list: &mut String) -> io::Result<()> {
    println!("cargo:rerun-if-changed={}", folder.display());
    let mut entries = fs::read_dir(folder)?.collect::<io::Result<Vec<_>>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        if !path.is_dir() {
            let (name, path) = (format!("{inside}{name}"), path.canonicalize()?);
            writeln!(list, "    ({name:?}, include_bytes!({path:?})),").map_err(io::Error::other)?;
        } else if name != BUILT_BY_HAND {
            embed(&path, &format!("{inside}{name}/"), list)?;
        }
    }
    Ok(())
}
