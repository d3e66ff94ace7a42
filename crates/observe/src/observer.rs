//! The observer's whole life: the body of the tool's hidden verb.
//!
//! One thread waits for the next line of its input and, meanwhile, for the next look at the threads. It ends when its
//! input ends, which it does at the latest when the tool does.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use model::{Problem, Result};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::job::{Answer, Job};
use crate::watch::Watch;

/// Reads a job and then one question a line from `input`; every answer is a line of `output`.
///
/// # Errors
/// An input that is no job; an output that nobody reads.
pub fn run(input: impl AsFd, mut output: impl Write) -> Result<()> {
    let mut lines = Lines::new(input.as_fd())?;
    let wrong = |what: String| Problem::bug(format!("the observer is started by the tool only: {what}"));
    let Some(first) = lines.next(None)? else { return Ok(()) };
    let job: Job = serde_json::from_str(&first).map_err(|error| wrong(error.to_string()))?;
    let (mut observer, first) = Observer::begin(&job);
    send(&mut output, &first)?;
    // Counts have the time at which they are read: on a busy machine that is later than the question. A run that takes turns
    // has a time of its own.
    let takes_turns = !job.beside.is_empty();
    let mut base: Option<(Instant, f64)> = None;
    loop {
        let timeout = observer.next_look();
        let Some(line) = lines.next(timeout)? else { return Ok(()) };
        if line.is_empty() {
            observer.look();
            continue;
        }
        let at_s = line.strip_prefix("sample ").and_then(|at_s| at_s.parse().ok());
        let asked_s = at_s.ok_or_else(|| wrong(format!("`{line}` is no question")))?;
        let (began, named_s) = *base.get_or_insert_with(|| (Instant::now(), asked_s));
        let at_s = if takes_turns { asked_s } else { named_s + began.elapsed().as_secs_f64() };
        send(&mut output, &observer.sample(at_s))?;
    }
}

/// A watch whose readings are answers, for whoever asks it in its own process.
#[derive(Debug)]
pub struct Observer {
    watch: Watch,
}

impl Observer {
    /// Watches what `job` says; also the first answer: where figures come from, and what can't be seen.
    pub fn begin(job: &Job) -> (Observer, Answer) {
        let mut watch = Watch::new(job);
        let unseen = watch.unseen().into_iter().chain(watch.uncounted()).collect();
        let first = Answer { sources: watch.sources(), unseen, ..Answer::default() };
        (Observer { watch }, first)
    }

    /// Reads everything at `at_s` seconds of the run.
    pub fn sample(&mut self, at_s: f64) -> Answer {
        let watch = &mut self.watch;
        let mut series = watch.sample(at_s);
        let (calls, figures) = watch.calls(at_s).unzip();
        series.extend(figures.unwrap_or_default());
        let aborted = watch.aborted(at_s);
        let unseen = watch.uncounted().into_iter().collect();
        let (statements, statement_facts) = watch.statements();
        let (threads, sources) = (watch.threads(), watch.appeared());
        let beside = Answer { calls, aborted, statements, statement_facts, threads, ..Answer::default() };
        Answer { series, sources, unseen, ..beside }
    }

    /// How long until the next look between two samples; for ever when there is nothing to look at.
    fn next_look(&self) -> Option<Duration> {
        self.watch.next_look()
    }

    /// A look between two samples, and what else is due.
    fn look(&mut self) {
        self.watch.look();
    }
}

fn send(output: &mut impl Write, answer: &Answer) -> Result<()> {
    let mut line = serde_json::to_vec(answer).map_err(|error| Problem::bug(error.to_string()))?;
    line.push(b'\n');
    let written = output.write_all(&line).and_then(|()| output.flush());
    written.map_err(|error| Problem::environment(format!("failed to answer the tool: {error}")).into())
}

/// Lines of a pipe, with a limit to the waiting.
struct Lines {
    input: File,
    read: Vec<u8>,
}

impl Lines {
    fn new(input: BorrowedFd<'_>) -> Result<Lines> {
        let own = input.try_clone_to_owned().map_err(failed)?;
        Ok(Lines { input: File::from(own), read: Vec::new() })
    }

    /// The next line without its end; empty when none came within `timeout`, `None` at the end.
    fn next(&mut self, timeout: Option<Duration>) -> Result<Option<String>> {
        let deadline = timeout.map(|timeout| Instant::now() + timeout);
        loop {
            if let Some(end) = self.read.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.read.drain(..=end).collect();
                return Ok(Some(String::from_utf8_lossy(&line[..end]).into_owned()));
            }
            let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            if !readable(&self.input, left)? {
                return Ok(Some(String::new()));
            }
            let mut part = [0; 4096];
            match io::Read::read(&mut self.input, &mut part) {
                Ok(0) => return Ok(None),
                Ok(length) => self.read.extend_from_slice(&part[..length]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(failed(error).into()),
            }
        }
    }
}

fn readable(input: &File, timeout: Option<Duration>) -> Result<bool> {
    let limit = timeout.and_then(|timeout| Timespec::try_from(timeout).ok());
    match poll(&mut [PollFd::new(input, PollFlags::IN)], limit.as_ref()) {
        Ok(ready) => Ok(ready > 0),
        Err(rustix::io::Errno::INTR) => Ok(false),
        Err(error) => Err(failed(error.into()).into()),
    }
}

fn failed(error: io::Error) -> Problem {
    Problem::environment(format!("failed to read from the tool: {error}"))
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader};
    use std::thread;

    use super::*;
    use model::record::instrument::OBSERVERS;

    /// What the observer says when the tool says `input` and ends.
    fn answers(input: &str) -> (Result<()>, Vec<Answer>) {
        let (reader, mut writer) = io::pipe().expect("a pipe");
        writer.write_all(input.as_bytes()).expect("a pipe holds so much");
        drop(writer);
        let mut output = Vec::new();
        let ended = run(&reader, &mut output);
        let text = String::from_utf8(output).expect("JSON is UTF-8");
        (ended, text.lines().map(|line| serde_json::from_str(line).expect("an answer")).collect())
    }

    #[test]
    fn every_question_has_an_answer_with_the_time_of_its_reading_and_the_end_of_the_questions_is_the_end() {
        let (questions, mut ask) = io::pipe().expect("a pipe");
        let (hear, answers) = io::pipe().expect("a pipe");
        let observer = thread::spawn(move || run(&questions, answers));
        let mut hear = BufReader::new(hear);
        let mut say = |line: &str| {
            ask.write_all(format!("{line}\n").as_bytes()).expect("the observer listens");
            let mut answer = String::new();
            hear.read_line(&mut answer).expect("the observer answers");
            serde_json::from_str::<Answer>(&answer).expect("an answer")
        };
        let first = say(&serde_json::to_string(&Job::default()).expect("a job has a text"));
        assert_eq!(first.sources.last().map(|(tier, _)| tier.as_str()), Some(OBSERVERS), "{first:?}");
        // Only the first question says what time it is: the others come as after a stall, with times long past or
        // far ahead. A rate needs a millisecond, so it is asked until one came.
        let began = Instant::now();
        let mut series = say("sample 0").series;
        while !series.iter().any(|one| one.name == "cpu.cores") && began.elapsed().as_secs() < 60 {
            series.extend(say("sample 1000").series);
        }
        let read = 0.0..=began.elapsed().as_secs_f64();
        assert!(series.iter().any(|one| one.name == "cpu.cores"), "no rate in a minute: {series:?}");
        assert!(series.iter().all(|one| read.contains(&one.points[0].0)), "read within {read:?}: {series:?}");
        drop(ask);
        observer.join().expect("no panic").expect("it ends well");
    }

    #[test]
    fn what_is_no_job_or_no_question_is_refused() {
        assert!(answers("nonsense\n").0.is_err());
        let job = serde_json::to_string(&Job::default()).expect("a job has a text");
        assert!(answers(&format!("{job}\nhow are you\n")).0.is_err());
        assert!(answers("").0.is_ok(), "the tool died before it said anything");
    }

    #[test]
    fn a_line_that_comes_in_parts_is_one_line_and_waiting_has_an_end() {
        let (reader, mut writer) = io::pipe().expect("a pipe");
        let mut lines = Lines::new(reader.as_fd()).expect("a copy of it");
        writer.write_all(b"sam").expect("a pipe holds so much");
        assert_eq!(lines.next(Some(Duration::ZERO)).expect("it can be read").as_deref(), Some(""));
        writer.write_all(b"ple 1\nsample 2\n").expect("a pipe holds so much");
        assert_eq!(lines.next(None).expect("it can be read").as_deref(), Some("sample 1"));
        assert_eq!(lines.next(None).expect("it can be read").as_deref(), Some("sample 2"));
        drop(writer);
        assert_eq!(lines.next(None).expect("it can be read"), None);
    }
}
