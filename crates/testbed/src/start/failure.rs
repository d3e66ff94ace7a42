//! What a start that failed says and keeps.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use model::Problem;

use super::Starting;
use crate::prepare::{main_file, numbered};
use crate::{disk, guarded, killed, log};

/// Lines of a server's log that a failed start shows.
const SHOWN_LINES: usize = 10;

impl Starting<'_, '_> {
    /// What a failed start says; its files and logs are kept.
    pub(super) fn failure(&self, index: usize, instance: usize, what: &str) -> Problem {
        let (tier, ready) = (self.layout.tiers[index], &self.ready[index].servers[instance]);
        let kept = self.options.keep_failed.join(numbered(&tier.name, instance));
        // What an earlier failure left there would be taken for this one's.
        _ = disk::remove_dir(&kept);
        let logs = self.logs(index, instance);
        let named = ready.files.iter().map(|(path, _)| ready.dir.join(path)).chain(logs.iter().cloned());
        let could_keep =
            named.filter_map(|path| Some((guarded::open(&path).ok()?, path))).all(|(file, path)| {
                keep_copy(file, &kept.join(path.strip_prefix(&ready.dir).unwrap_or(&path))).is_ok()
            });
        let lines = log::tails(&logs, SHOWN_LINES);
        let kills = killed::of(&self.site.holds.entered(&self.instance, &tier.name));
        let kill = kills.filter(|kills| kills.count > 0).map(|kills| kills.kill);
        let said = match kill {
            // Its log knows nothing of that.
            Some(kill) => format!(": {kill}"),
            None if lines.is_empty() => "; it wrote no log".to_string(),
            None => format!("; its log ends:\n    {}", lines.join("\n    ")),
        };
        let problem = Problem::environment(format!("{} {what}{said}", tier.service.title)).tier(&tier.name);
        let shown = if could_keep { kept } else { ready.dir.clone() };
        let problem = match main_file(ready) {
            Some(path) => problem.file(shown.join(path).display().to_string()),
            None => problem,
        };
        let kept = format!("the rendered configuration and all logs are in {}", shown.display());
        if let Some(kill) = kill {
            return problem.remedy(format!("{}; {kept}", kill.remedy(&tier.name)));
        }
        if lines.iter().any(|line| tells_of_a_full_disk(line)) {
            let why = format!("the disk that holds {} has no space left", self.site.home.display());
            return problem.why(why).remedy(format!("free space there, or another PLIMSOLL_HOME; {kept}"));
        }
        problem.remedy(kept)
    }
}

/// Keeps a copy that nobody else may read: what servers write may be for root alone.
fn keep_copy(mut file: File, to: &Path) -> io::Result<()> {
    to.parent().map_or(Ok(()), fs::create_dir_all)?;
    let mut copy = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(to)?;
    io::copy(&mut file, &mut copy).map(drop)
}

/// Servers say it in words or by number: ENOSPC is 28 on Linux.
fn tells_of_a_full_disk(line: &str) -> bool {
    ["No space left on device", "error 28", "Errcode: 28"].iter().any(|sign| line.contains(sign))
}
