//! What a lab mounts: written down before it is done, so that whoever ends the lab unmounts it.

use std::fs;
use std::path::Path;

use model::Result;

use crate::disk;
use crate::image::Mounted;
use crate::lab::Lab;
use crate::ledger::Entry;

/// Where in a lab's directory an image is mounted.
const FOLDER: &str = "files";

impl Lab {
    /// Mounts an image in the lab's directory, for reading only.
    ///
    /// # Errors
    /// What losetup or the kernel said.
    pub fn mount(&self, image: &Path) -> Result<Mounted> {
        let at = self.dir().join(FOLDER);
        fs::create_dir(&at).map_err(|error| disk::failed("make", &at, &error))?;
        self.site.note(&Entry::Mount { path: at.clone() })?;
        Mounted::of(image, at)
    }
}
