//! Output: results on stdout, everything else on stderr. On a terminal one line shows the progress; elsewhere lines
//! are appended, a few a minute. Whatever a text quotes, none of it steers the terminal: everything goes through
//! [`model::outside::harmless`] here.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

use model::outside::harmless;
use model::{Problem, Problems, Result};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use runner::progress::Progress;

/// Elsewhere than on a terminal, progress is told this often at most.
const APPEND_EVERY: Duration = Duration::from_secs(10);

/// Where a verb's words go.
pub(crate) struct Console {
    quiet: bool,
    /// Steps are not told: each trial of a study has the same.
    muted: bool,
    bar: Option<ProgressBar>,
    started: Instant,
    last_line: Option<Instant>,
    lost: Option<std::io::Error>,
}

impl Console {
    pub(crate) fn new(quiet: bool) -> Console {
        let terminal = std::io::stderr().is_terminal() && !quiet;
        Console {
            quiet,
            muted: false,
            bar: terminal.then(new_bar),
            started: Instant::now(),
            last_line: None,
            lost: None,
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
    /// A step begins: shown until the next one, kept as a line where there is no terminal.
    fn step(&mut self, text: &str) {
        self.last_line = None;
        self.show(text, None);
    }

    fn advance(&mut self, text: &str, done_ratio: f64) {
        self.show(text, Some(done_ratio));
    }

    fn still(&mut self, text: &str) {
        self.show(text, None);
    }

    /// A step is done: stays on the screen.
    fn done(&mut self, text: &str) {
        if !self.quiet && !self.muted {
            self.line(&format!("✓ {text}"));
        }
    }

    fn note(&mut self, text: &str) {
        if !self.quiet {
            self.line(text);
        }
    }

    fn problem(&mut self, problems: &Problems) {
        self.error(&problems.to_string());
    }

    /// A line below the progress, on a terminal; empty for none.
    fn below(&mut self, text: &str) {
        if let Some(bar) = &self.bar {
            let below = if text.is_empty() { String::new() } else { format!("\n  {}", harmless(text, &[])) };
            bar.set_prefix(below);
        }
    }

    fn mute(&mut self, muted: bool) -> bool {
        std::mem::replace(&mut self.muted, muted)
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
