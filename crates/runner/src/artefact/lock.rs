//! One plimsoll makes what is kept, others wait for it.

use std::fs;
use std::path::Path;
use std::time::Duration;

use model::{Problem, Result};

use crate::interrupt::Interrupt;
use crate::progress::Progress;

/// Holds the right to make what will be kept in `folder` as `id`, until the file is dropped. `what` is the kind of thing:
/// `data set`.
pub(crate) fn hold(
    folder: &Path,
    id: &str,
    what: &str,
    interrupt: &Interrupt,
    progress: &mut dyn Progress,
) -> Result<fs::File> {
    let path = folder.join(format!(".{id}.lock"));
    let failed = |error: &std::io::Error| {
        Problem::environment(format!("failed to lock the {what}: {error}")).file(path.display().to_string())
    };
    fs::create_dir_all(folder).map_err(|error| failed(&error))?;
    let file = fs::File::create(&path).map_err(|error| failed(&error))?;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(fs::TryLockError::Error(error)) => return Err(failed(&error).into()),
            Err(fs::TryLockError::WouldBlock) => {}
        }
        interrupt.check()?;
        progress.advance(&format!("another plimsoll is making {what} {id}"), 0.0);
        std::thread::sleep(Duration::from_millis(100));
    }
}
