//! A file set in a file system of its own, made once and kept beside the set: mounted anew, its names are cold.

use std::fs;
use std::time::Instant;

use model::record::Step;
use model::{Problem, Result, units};
use testbed::Lab;

use crate::artefact::file_set::FileSet;
use crate::environment::Environment;

/// The image's name beside the directory of the files.
const IMAGE: &str = "files.ext4";

/// Has the set served from its own file system, mounted in `lab`.
pub(super) fn mount(
    lab: &Lab,
    set: &mut FileSet,
    steps: &mut Vec<Step>,
    env: &mut Environment<'_>,
) -> Result<()> {
    let beside = set.root.parent().ok_or_else(|| Problem::bug("a file set at the root of everything"))?;
    let image = beside.join(IMAGE);
    if !image.exists() {
        let half = beside.join(format!("{IMAGE}.half"));
        let size = units::show_bytes(set.result.bytes);
        env.progress.step(&format!("making a file system of the file set, {size}: this is done once"));
        let started = Instant::now();
        // What an interrupted one left is written over.
        testbed::make_image(&set.root, (set.result.files, set.result.bytes), &half)?;
        let kept = fs::rename(&half, &image);
        kept.map_err(|error| {
            Problem::environment(format!("failed to keep the file set's file system: {error}"))
                .file(image.display().to_string())
        })?;
        steps.push(Step {
            name: "make the file set's file system".to_string(),
            took_s: started.elapsed().as_secs_f64(),
        });
    }
    let mounted = lab.mount(&image)?;
    set.move_to(mounted.at().to_path_buf());
    set.mounted = Some(mounted);
    Ok(())
}
