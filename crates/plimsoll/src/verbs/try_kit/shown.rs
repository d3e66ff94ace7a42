//! A user's steps as `try` prints them: a line or two each, and requests that were made together as one block.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use engine::trace::{Step, Trace};
use model::units;

/// Makes text of steps as they come.
pub(super) struct Shown {
    /// The beginning of every answer is shown.
    bodies: bool,
    /// Requests made together of which more may come.
    group: Vec<Trace>,
}

impl Shown {
    pub(super) fn new(bodies: bool) -> Shown {
        Shown { bodies, group: Vec::new() }
    }

    /// What can be printed now that this step has come.
    pub(super) fn step(&mut self, trace: &Trace) -> Vec<String> {
        if matches!(trace.step, Step::Request { beside: true, .. }) {
            self.group.push(trace.clone());
            return Vec::new();
        }
        let mut texts = self.end();
        texts.push(alone(trace, self.bodies));
        texts
    }

    /// What is left when no more steps come.
    pub(super) fn end(&mut self) -> Vec<String> {
        let group = std::mem::take(&mut self.group);
        if group.is_empty() { Vec::new() } else { vec![together(&group, self.bodies)] }
    }
}

fn alone(trace: &Trace, bodies: bool) -> String {
    let mut text = at(trace.at_ns);
    // Writing to a String can't fail.
    let _ = match &trace.step {
        Step::Session(name) => write!(text, "session {name} of user {}", trace.user),
        Step::Operation(name) => write!(text, "  {name}"),
        Step::Request { request, status, took_ns, bytes, sent_bytes, body, .. } => {
            let took = took(*took_ns);
            let sent = sent(*sent_bytes);
            let body = excerpt(body, bodies);
            write!(
                text,
                "    {request}{sent}\n             {status}, {}, {took}{body}",
                units::show_bytes(*bytes)
            )
        }
        Step::Think(nanos) => write!(text, "  thinks {}", took(*nanos)),
        Step::Forget => write!(text, "    becomes a new visitor: no connections, cookies, cache"),
        Step::Count(name, n) => write!(text, "    counts {name} + {n}"),
        Step::Error { message, answer } => {
            // Where all answers are shown this one is, too.
            let answer = answer.as_deref().filter(|_| !bodies).unwrap_or_default();
            write!(text, "    FAILED {message}{}", excerpt(answer, true))
        }
        Step::End(true) => write!(text, "session ends"),
        Step::End(false) => write!(text, "session ends, FAILED"),
    };
    text
}

/// Requests that were made together: how many with which status, and a line each.
fn together(group: &[Trace], bodies: bool) -> String {
    let (mut statuses, mut all_bytes) = (BTreeMap::<u16, usize>::new(), 0);
    let (mut first_ns, mut last_ns) = (u64::MAX, 0);
    let mut lines = String::new();
    for Trace { at_ns, step, .. } in group {
        let Step::Request { request, status, took_ns, bytes, sent_bytes, body, .. } = step else { continue };
        *statuses.entry(*status).or_default() += 1;
        all_bytes += bytes;
        first_ns = first_ns.min(at_ns.saturating_sub(*took_ns));
        last_ns = last_ns.max(*at_ns);
        let (size, took) = (units::show_bytes(*bytes), took(*took_ns));
        let _ = write!(
            lines,
            "\n             {status} {size:>9} {took:>8}  {request}{}{}",
            sent(*sent_bytes),
            excerpt(body, bodies)
        );
    }
    let counts: Vec<String> =
        statuses.iter().map(|(status, count)| format!("{count} with {status}")).collect();
    format!(
        "{}    {} requests together: {}; {} in {}{lines}",
        at(last_ns),
        group.len(),
        counts.join(", "),
        units::show_bytes(all_bytes),
        took(last_ns.saturating_sub(first_ns))
    )
}

fn at(nanos: u64) -> String {
    format!("{:>9.3} s  ", nanos as f64 / 1e9)
}

fn took(nanos: u64) -> String {
    units::show_seconds(nanos as f64 / 1e9)
}

/// The size of what was sent stands for it: an upload's bytes tell nobody anything.
fn sent(bytes: u64) -> String {
    if bytes == 0 { String::new() } else { format!(" ({} sent)", units::show_bytes(bytes)) }
}

fn excerpt(body: &str, bodies: bool) -> String {
    if !bodies || body.is_empty() {
        return String::new();
    }
    body.lines().fold(String::new(), |text, line| text + "\n               | " + line)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(at_ms: u64, name: &str, status: u16, sent_bytes: u64, beside: bool) -> Trace {
        let step = Step::Request {
            request: name.to_string(),
            status,
            took_ns: 2_000_000,
            bytes: 1_500,
            sent_bytes,
            beside,
            body: "first\nsecond".to_string(),
        };
        Trace { at_ns: at_ms * 1_000_000, user: 1, step }
    }

    #[test]
    fn requests_made_together_are_one_block_before_what_comes_next() {
        let mut shown = Shown::new(false);
        assert_eq!(shown.step(&request(10, "GET /", 200, 0, false)).len(), 1);
        assert!(shown.step(&request(12, "GET /a.js", 304, 0, true)).is_empty());
        assert!(shown.step(&request(13, "GET /b.png", 200, 0, true)).is_empty());
        assert!(shown.step(&request(15, "GET /c.png", 304, 0, true)).is_empty());
        let texts = shown.step(&Trace { at_ns: 15_000_000, user: 1, step: Step::End(true) });
        assert_eq!(texts.len(), 2, "{texts:?}");
        let lines: Vec<&str> = texts[0].lines().collect();
        assert_eq!(lines.len(), 4, "{texts:?}");
        assert!(lines[0].contains("3 requests together: 1 with 200, 2 with 304; "), "{}", lines[0]);
        assert!(lines[0].ends_with("in 5.00 ms"), "from the first's start to the last's end: {}", lines[0]);
        assert!(lines[1].contains("304") && lines[1].ends_with("GET /a.js"), "{}", lines[1]);
        assert!(shown.end().is_empty());
    }

    #[test]
    fn an_upload_is_shown_by_its_size() {
        let mut shown = Shown::new(false);
        let text = shown.step(&request(1, "POST /photos", 302, 671_520, false)).remove(0);
        assert!(text.contains("POST /photos (672 kB sent)") && !text.contains("first"), "{text}");
        let mut shown = Shown::new(true);
        let text = shown.step(&request(1, "GET /", 200, 0, false)).remove(0);
        assert!(text.contains("| first\n") && !text.contains("sent"), "{text}");
    }

    #[test]
    fn a_group_at_the_very_end_is_not_lost() {
        let mut shown = Shown::new(false);
        assert!(shown.step(&request(1, "GET /a", 200, 0, true)).is_empty());
        assert_eq!(shown.end().len(), 1);
    }

    #[test]
    fn what_failed_is_shown_with_the_answer_that_it_is_about() {
        let failed = |answer: Option<&str>| Trace {
            at_ns: 1_000_000,
            user: 1,
            step: Step::Error { message: "check: saved".to_string(), answer: answer.map(str::to_string) },
        };
        let mut shown = Shown::new(false);
        let text = shown.step(&failed(Some("status 200\n<p>locked</p>"))).remove(0);
        assert!(
            text.ends_with(
                "FAILED check: saved\n               | status 200\n               | <p>locked</p>"
            ),
            "{text}"
        );
        assert!(shown.step(&failed(None)).remove(0).ends_with("FAILED check: saved"));
        let text = Shown::new(true).step(&failed(Some("status 200"))).remove(0);
        assert!(text.ends_with("FAILED check: saved"), "it stands above already: {text}");
    }
}
