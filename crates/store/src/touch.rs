//! What Plimsoll changes of a run it says to the index, so that a list need not look at every run to see it.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

/// The index below a home.
pub(crate) const INDEX: &str = "index.sqlite";

/// How long another process may hold the index before one does without it.
pub(crate) const BUSY: Duration = Duration::from_millis(500);

/// Has the run in `directory` looked at again by whoever lists runs next: something in it was changed. A failure costs only
/// that somebody else looks at it later.
pub(crate) fn touch(directory: &Path) {
    let name = directory.file_name().and_then(|name| name.to_str());
    // Its home is two levels up; of a trial the study is, and the home of that is two further.
    let homes = [directory.ancestors().nth(2), directory.ancestors().nth(4)];
    for path in homes.into_iter().flatten().map(|home| home.join(INDEX)).filter(|path| path.is_file()) {
        let Ok(index) = Connection::open_with_flags(&path, OpenFlags::SQLITE_OPEN_READ_WRITE) else {
            continue;
        };
        // A cache is not synced: that would queue before a database under test.
        _ = index.busy_timeout(BUSY).and_then(|()| index.execute_batch("PRAGMA synchronous = OFF"));
        _ = index.execute("UPDATE run SET stamp = '' WHERE id = ?", [name]);
    }
}
