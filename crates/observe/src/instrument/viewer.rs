//! The process that serves the laboratory's page, as series of the tier `viewer`: itself, not the jobs that are its children. It
//! names itself in a file, and may come and go while a run lasts.

use std::fs;
use std::path::PathBuf;

use model::ProcessIdentity;
use model::record::instrument::VIEWER;

use crate::points::Points;
use crate::process::{OwnUsage, own_usage, resident_bytes};
use crate::tier::{CPU, CPU_SYSTEM, MEMORY};

/// Reads it once a second.
#[derive(Debug)]
pub(crate) struct Viewer {
    file: PathBuf,
    last: Option<(ProcessIdentity, f64, OwnUsage)>,
    /// It was seen, and nobody has been told of it yet.
    appeared: bool,
    known: bool,
}

impl Viewer {
    /// The one that `file` names, whenever it does.
    pub(crate) fn of(file: PathBuf) -> Viewer {
        Viewer { file, last: None, appeared: false, known: false }
    }

    /// Where its CPU time comes from, once, when it has been seen.
    pub(crate) fn appeared(&mut self) -> Option<(String, String)> {
        std::mem::take(&mut self.appeared).then(|| (VIEWER.to_string(), "/proc".to_string()))
    }

    /// Adds what is seen of it now, and gives the CPU time a second since the last sample; nothing where it does not live.
    pub(crate) fn sample(&mut self, points: &mut Points) -> f64 {
        let last = self.last.take();
        let again = last.as_ref().and_then(|(process, ..)| living(*process));
        let Some((process, used)) = again.or_else(|| self.named().and_then(living)) else { return 0.0 };
        self.appeared |= !self.known;
        self.known = true;
        self.last = Some((process, points.at_s(), used));
        points.add_known(&MEMORY, Some(VIEWER), resident_bytes([process.id].into_iter()).map(|it| it as f64));
        let Some((_, then_s, before)) = last.filter(|(before, ..)| *before == process) else { return 0.0 };
        let rate = |before_s: f64, now_s: f64| (now_s - before_s).max(0.0) / (points.at_s() - then_s);
        let (cores, system_cores) = (rate(before.cpu_s, used.cpu_s), rate(before.system_s, used.system_s));
        points.add(&CPU, Some(VIEWER), cores);
        points.add(&CPU_SYSTEM, Some(VIEWER), system_cores);
        cores
    }

    fn named(&self) -> Option<ProcessIdentity> {
        serde_json::from_slice(&fs::read(&self.file).ok()?).ok()
    }
}

/// What a process has used, if it is still the same.
fn living(process: ProcessIdentity) -> Option<(ProcessIdentity, OwnUsage)> {
    let used = own_usage(process.id)?;
    (used.start == process.start).then_some((process, used))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names of what is seen at `at_s`, and the cores.
    fn sample(viewer: &mut Viewer, at_s: f64) -> (Vec<String>, f64) {
        let mut points = Points::at(at_s);
        let cores = viewer.sample(&mut points);
        assert!(points.found.iter().all(|one| one.tier.as_deref() == Some(VIEWER)), "{:?}", points.found);
        (points.found.into_iter().map(|one| one.name).collect(), cores)
    }

    #[test]
    fn a_viewer_may_come_later_and_is_watched_as_long_as_it_is_the_process_that_it_says() {
        let directory = tempfile::tempdir().expect("a directory");
        let file = directory.path().join("process.json");
        let mut viewer = Viewer::of(file.clone());
        assert_eq!((sample(&mut viewer, 0.0).0.len(), viewer.appeared()), (0, None), "there is no file");
        let id = std::process::id();
        let start = own_usage(id).expect("this process lives").start;
        let write = |text: String| fs::write(&file, text).expect("a file");
        for damaged in
            [format!("{{\"id\":{id},\"start\":"), format!("{{\"id\":{id},\"start\":{}}}", start + 1)]
        {
            write(damaged);
            assert_eq!((sample(&mut viewer, 1.0).0.len(), viewer.appeared()), (0, None));
        }
        write(format!("{{\"id\":{id},\"start\":{start}}}"));
        assert_eq!(sample(&mut viewer, 2.0), (vec!["memory.bytes".to_string()], 0.0));
        assert_eq!(viewer.appeared(), Some(("viewer".to_string(), "/proc".to_string())));
        let used_s = || own_usage(id).expect("this process lives").cpu_s;
        let before_s = used_s();
        while used_s() - before_s < 0.1 {
            std::hint::spin_loop();
        }
        let (names, cores) = sample(&mut viewer, 4.0);
        assert_eq!(names, ["memory.bytes", "cpu.cores", "cpu.system_cores"]);
        assert!(cores >= 0.05, "0.1 s in two: {cores}");
        assert_eq!(viewer.appeared(), None, "once");
    }

    #[test]
    fn a_viewer_that_ended_leaves_a_gap_and_its_number_is_no_other_process() {
        let directory = tempfile::tempdir().expect("a directory");
        let file = directory.path().join("process.json");
        let mut sleeping = std::process::Command::new("sleep").arg("600").spawn().expect("it can be started");
        let id = sleeping.id();
        let start = own_usage(id).expect("it lives").start;
        let write = |id, start| {
            let text = serde_json::to_vec(&ProcessIdentity { id, start }).expect("JSON");
            fs::write(&file, text).expect("a file");
        };
        write(id, start);
        let mut viewer = Viewer::of(file.clone());
        sample(&mut viewer, 0.0);
        let (names, cores) = sample(&mut viewer, 1.0);
        assert_eq!((names.len(), cores), (3, 0.0));
        sleeping.kill().expect("it can be ended");
        sleeping.wait().expect("it ends");
        assert_eq!(sample(&mut viewer, 2.0), (Vec::new(), 0.0));
        let own = std::process::id();
        write(own, own_usage(own).expect("this process lives").start);
        assert_eq!(
            sample(&mut viewer, 3.0).0,
            ["memory.bytes"],
            "another process: no rate from the one before"
        );
    }
}
