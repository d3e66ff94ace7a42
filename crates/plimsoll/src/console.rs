//! Output: results on stdout, everything else on stderr. On a terminal one line shows the progress; elsewhere lines
//! are appended, a few a minute. Whatever a text quotes, none of it steers the terminal: everything goes through
//! [`model::outside::harmless`] here.

use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use model::outside::harmless;
use model::progress::study::StudyProgress;
use model::progress::{Begin, SecondProgress, Told};
use model::{Problem, Problems, ProcessIdentity, Result};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;
use testbed::process::Identity;

use crate::progress_file::ProgressFile;
use runner::progress::Progress;

/// Elsewhere than on a terminal, progress is told this often at most.
const APPEND_EVERY: Duration = Duration::from_secs(10);

/// What a study knows is told again after this number of seconds of its runs, in seconds.
const STUDY_AGAIN_S: u32 = 30;

/// Where a verb's words go.
pub(crate) struct Console {
    quiet: bool,
    /// Steps are not told: each trial of a study has the same.
    muted: bool,
    bar: Option<ProgressBar>,
    started: Instant,
    last_line: Option<Instant>,
    lost: Option<std::io::Error>,
    /// `--progress-file`.
    file: Option<ProgressFile>,
    /// Where it is told what is being measured, once it is.
    measuring_path: Option<PathBuf>,
    measuring: Option<ProgressFile>,
    /// What was told last of a study, and the seconds of runs told since then.
    study: Option<(StudyProgress, u32)>,
}

impl Console {
    /// One whose verb measures nothing.
    pub(crate) fn silent() -> Console {
        Console::new(true, None, None)
    }

    /// What it tells goes to `file`, too, and, from when measuring begins, to a new file at `measuring_path`.
    pub(crate) fn new(quiet: bool, file: Option<ProgressFile>, measuring_path: Option<PathBuf>) -> Console {
        let terminal = std::io::stderr().is_terminal() && !quiet;
        Console {
            quiet,
            muted: false,
            bar: terminal.then(new_bar),
            started: Instant::now(),
            last_line: None,
            lost: None,
            file,
            measuring_path,
            measuring: None,
            study: None,
        }
    }

    /// The width of stdout in characters; 100 where it is no terminal.
    pub(crate) fn width(&self) -> usize {
        let size = rustix::termios::tcgetwinsize(std::io::stdout());
        size.map_or(100, |size| usize::from(size.ws_col).clamp(60, 160))
    }

    /// Whether results are shown in colour.
    pub(crate) fn colour(&self) -> bool {
        std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none()
    }

    /// The last thing that is told to who follows the progress file.
    pub(crate) fn end(&mut self, exit_code: u8) {
        self.tell(Told::End { exit_code });
    }

    fn tell(&mut self, told: Told) {
        let at_s = self.started.elapsed().as_secs_f64();
        for file in self.file.iter_mut().chain(&mut self.measuring) {
            file.write(at_s, &told);
        }
    }

    fn show(&mut self, text: &str, done_ratio: Option<f64>) {
        if self.quiet {
            return;
        }
        if self.muted && self.bar.is_none() {
            return;
        }
        if let Some(bar) = &self.bar {
            let share = done_ratio.map(|ratio| format!("{} ", gauge(ratio))).unwrap_or_default();
            bar.set_message(format!("{share}{}", harmless(text, &[])));
            bar.tick();
            return;
        }
        if self.last_line.is_none_or(|last| last.elapsed() >= APPEND_EVERY) {
            self.last_line = Some(Instant::now());
            self.line(text);
        }
    }

    fn line(&self, text: &str) {
        let elapsed = self.started.elapsed().as_secs();
        let stamped = format!("{:>3}:{:02}  {text}", elapsed / 60, elapsed % 60);
        match &self.bar {
            Some(bar) => bar.suspend(|| _ = write_line(&mut std::io::stderr(), &stamped, &[])),
            // Nobody reads what can't be told: no reason to lose a run.
            None => _ = write_line(&mut std::io::stderr(), &stamped, &[]),
        }
    }

    /// A result: always shown, on stdout.
    pub(crate) fn result(&mut self, text: &str) {
        self.print(text, &[]);
    }

    /// The same as JSON.
    pub(crate) fn json(&mut self, value: &impl Serialize) -> Result<()> {
        let text = serde_json::to_string_pretty(value).map_err(|error| Problem::bug(error.to_string()))?;
        self.result(&text);
        Ok(())
    }

    /// The same with the colours of `report`.
    pub(crate) fn painted(&mut self, text: &str) {
        self.print(text, &report::PAINT);
    }

    fn print(&mut self, text: &str, own: &[&str]) {
        self.clear();
        if let Err(error) = write_line(&mut std::io::stdout(), text.trim_end_matches('\n'), own) {
            self.lost.get_or_insert(error);
        }
    }

    /// Whether a result could not be written; a reader that has gone away (`| head`) has what it wants.
    pub(crate) fn check(&self) -> Result<()> {
        match &self.lost {
            Some(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
                let problem = Problem::environment(format!("failed to write the result to stdout: {error}"));
                Err(problem.why("what was measured is kept").remedy("plimsoll show last").into())
            }
            _ => Ok(()),
        }
    }

    /// What went wrong: always shown, on stderr.
    pub(crate) fn error(&mut self, text: &str) {
        self.clear();
        let _ = write_line(&mut std::io::stderr(), &format!("plimsoll: {text}"), &[]);
    }

    /// Takes the progress line away.
    pub(crate) fn clear(&mut self) {
        if let Some(bar) = &self.bar {
            bar.set_message("");
            bar.set_prefix("");
            bar.finish_and_clear();
            self.bar = Some(new_bar());
        }
    }
}

impl Progress for Console {
    fn begin(&mut self) {
        let begin = begin_of_this_process();
        self.tell(Told::Begin(begin.clone()));
        let Some(path) = &self.measuring_path else { return };
        match ProgressFile::replace(path, self.started.elapsed().as_secs_f64(), &begin) {
            Ok(file) => self.measuring = Some(file),
            Err(error) => self.note(&format!(
                "note: nobody can follow what is measured: {} can't be made ({error})",
                path.display()
            )),
        }
    }

    /// A step begins: shown until the next one, kept as a line where there is no terminal.
    fn step(&mut self, text: &str) {
        self.tell(Told::Step { text: text.to_string() });
        self.last_line = None;
        self.show(text, None);
    }

    fn advance(&mut self, text: &str, done_ratio: f64) {
        self.tell(Told::Advance { text: text.to_string(), done_ratio: Some(done_ratio) });
        self.show(text, Some(done_ratio));
    }

    fn still(&mut self, text: &str) {
        self.tell(Told::Advance { text: text.to_string(), done_ratio: None });
        self.show(text, None);
    }

    /// A step is done: stays on the screen.
    fn done(&mut self, text: &str) {
        self.tell(Told::Done { text: text.to_string() });
        if !self.quiet && !self.muted {
            self.line(&format!("✓ {text}"));
        }
    }

    fn note(&mut self, text: &str) {
        self.tell(Told::Note { text: text.to_string() });
        if !self.quiet {
            self.line(text);
        }
    }

    fn problem(&mut self, problems: &Problems) {
        self.tell(Told::Problem { text: problems.to_string() });
        self.error(&problems.to_string());
    }

    /// A line below the progress, on a terminal; empty for none.
    fn below(&mut self, text: &str) {
        self.tell(Told::Below { text: text.to_string() });
        if let Some(bar) = &self.bar {
            let below = if text.is_empty() { String::new() } else { format!("\n  {}", harmless(text, &[])) };
            bar.set_prefix(below);
        }
    }

    fn study(&mut self, study: &StudyProgress) {
        self.tell(Told::Study(Box::new(study.clone())));
        self.study = Some((study.clone(), 0));
    }

    fn second(&mut self, second: &SecondProgress) {
        self.tell(Told::Second(Box::new(second.clone())));
        let Some((study, since_s)) = &mut self.study else { return };
        *since_s += 1;
        if *since_s >= STUDY_AGAIN_S {
            let study = study.clone();
            self.study(&study);
        }
    }

    fn mute(&mut self, muted: bool) -> bool {
        std::mem::replace(&mut self.muted, muted)
    }
}

fn begin_of_this_process() -> Begin {
    let process = Identity::of(std::process::id());
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Begin {
        command: std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect(),
        process: process.map(|one| ProcessIdentity { id: one.pid, start: one.start_ticks }),
        started: store::utc(now.as_secs()),
    }
}

fn new_bar() -> ProgressBar {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(10));
    if let Ok(style) = ProgressStyle::with_template("{spinner} {wide_msg}{prefix}") {
        bar.set_style(style);
    }
    bar
}

fn gauge(ratio: f64) -> String {
    const WIDTH: usize = 10;
    let full = (ratio.clamp(0.0, 1.0) * WIDTH as f64).round() as usize;
    format!("[{}{}] {:>3.0}%", "━".repeat(full), "·".repeat(WIDTH - full), ratio.clamp(0.0, 1.0) * 100.0)
}

fn write_line(out: &mut dyn Write, text: &str, own: &[&str]) -> std::io::Result<()> {
    writeln!(out, "{}", harmless(text, own))?;
    out.flush()
}

#[cfg(test)]
mod tests {
    use model::progress::ProgressLine;
    use model::progress::study::{Known, SweepProgress};

    use super::*;

    #[test]
    fn what_a_study_knows_is_told_again_while_its_runs_go_on() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("progress.jsonl");
        let file = ProgressFile::create(&path).expect("a file");
        let mut console = Console::new(true, Some(file), None);
        let known = SweepProgress {
            title: String::new(),
            factors: Vec::new(),
            lines_by: None,
            repeats: 1,
            done: 0,
            all: 0,
            cells: Vec::new(),
        };
        console.second(&SecondProgress::default());
        console.study(&StudyProgress {
            study: "one".to_string(),
            text: String::new(),
            over: false,
            under_way: Vec::new(),
            left_s: 0.0,
            known: Known::Sweep(known),
        });
        (0..2 * STUDY_AGAIN_S).for_each(|_| console.second(&SecondProgress::default()));
        let text = std::fs::read_to_string(&path).expect("it was written");
        let lines = text.lines().map(|line| serde_json::from_str::<ProgressLine>(line).expect(line));
        let studies: Vec<usize> = lines
            .enumerate()
            .filter(|(_, line)| matches!(line.told, Told::Study(_)))
            .map(|(at, _)| at)
            .collect();
        assert_eq!(studies, [1, 32, 63]);
    }
}
