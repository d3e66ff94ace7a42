//! Debian's Chromium and what drives it, where a machine has them.

use std::env;
use std::path::{Path, PathBuf};

use crate::ending::skip;

/// The browser; a test without one is skipped.
pub fn chromium() -> Option<PathBuf> {
    let known = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
    let chromium = known.into_iter().map(PathBuf::from).find(|path| path.exists());
    if chromium.is_none() {
        skip("no Chromium here; `apt-get install --no-install-recommends chromium` brings it");
    }
    chromium
}

/// The folder of the scripts that drive it, if Node.js and what they import are there; a test without is skipped.
pub fn scripts() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web/browser");
    let path = env::var_os("PATH").unwrap_or_default();
    let node = env::split_paths(&path).any(|folder| folder.join("node").is_file());
    let packages =
        ["playwright-core", "@axe-core/playwright"].map(|name| folder.join("node_modules").join(name));
    if node && packages.iter().all(|package| package.is_dir()) {
        return Some(folder);
    }
    let how = format!("install nodejs and npm, then: npm ci --ignore-scripts --prefix {}", folder.display());
    skip(&format!("nothing that drives a browser here; {how}"));
    None
}
