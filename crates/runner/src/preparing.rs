//! The kit's `[prepare]`: a command or a request that a stack which stands is given before its users.

use std::io::{self, ErrorKind};
use std::time::{Duration, Instant};

use engine::Target;
use model::catalogue::kit::{Prepare, PrepareRequest};
use model::record::Step;
use model::{Kind, Plan, Problem, Problems, Result};
use testbed::Stack;

use crate::environment::Environment;
use crate::exchange::exchange;

/// Characters of a wrong answer that are shown.
const SHOWN_CHARS: usize = 400;
/// Between two words of how long it has been going on; seconds.
const TOLD_EVERY_S: f64 = 0.2;

/// Does what the plan's kit wants done, if anything; how long it took is a step.
///
/// # Errors
/// What the kit's command or the web tier says of it; that it took too long; the user's wish to stop.
pub(crate) fn carry_out(
    plan: &Plan,
    stack: &Stack,
    steps: &mut Vec<Step>,
    env: &mut Environment<'_>,
) -> Result<()> {
    let Some(prepare) = &plan.kit.prepare else { return Ok(()) };
    let started = Instant::now();
    let title = format!("prepare {}", prepare.title());
    env.progress.step(&title);
    let mut waiting = Waiting { title: &title, within_s: prepare.within_s, told_s: 0.0, env };
    let done = match &prepare.request {
        Some(request) => ask(request, prepare, stack, &mut waiting),
        None => {
            let within = Duration::from_secs_f64(prepare.within_s);
            stack.run_preparation(&title, within, &mut |elapsed| waiting.tell(elapsed.as_secs_f64()))
        }
    };
    let took_s = started.elapsed().as_secs_f64();
    let remedy = match took_s >= prepare.within_s {
        true => "within_s of [prepare] says how long it may take",
        false => "what it said, and the tiers' logs (PHP's errors are in php.log)",
    };
    let manifest = format!("kits/{}/kit.toml", plan.kit.name);
    done.map_err(|problems| explained(problems, &manifest, remedy))?;
    steps.push(Step { name: title, took_s });
    Ok(())
}

/// What a preparation that failed says beside its reason.
fn explained(problems: Problems, manifest: &str, remedy: &str) -> Problems {
    problems.with_first(|first| {
        if first.kind != Kind::Interrupted {
            first.place.file = Some(manifest.to_string());
            first.why = Some("users would find an application that is not ready for them".to_string());
            first.remedy = Some(remedy.to_string());
        }
    })
}

/// Tells whoever watches how long it has been going on.
struct Waiting<'a, 'e> {
    title: &'a str,
    within_s: f64,
    /// When it was told last; seconds.
    told_s: f64,
    env: &'a mut Environment<'e>,
}

impl Waiting<'_, '_> {
    /// Whether the user has given up.
    fn tell(&mut self, elapsed_s: f64) -> bool {
        if elapsed_s - self.told_s >= TOLD_EVERY_S {
            self.told_s = elapsed_s;
            let text = format!("{}: {elapsed_s:.0} s of {} s at most", self.title, self.within_s);
            self.env.progress.advance(&text, (elapsed_s / self.within_s).min(1.0));
        }
        self.env.interrupt.count() > 0
    }
}

fn ask(
    request: &PrepareRequest,
    prepare: &Prepare,
    stack: &Stack,
    waiting: &mut Waiting<'_, '_>,
) -> Result<()> {
    let address = stack.web_address().ok_or_else(|| Problem::bug("a stack without a web tier is asked"))?;
    let (target, started) = (Target::from(address), Instant::now());
    let failed = |what: String| Problem::environment(what).tier("web").key("prepare.request");
    let url = format!("http://{address}{}", request.path);
    let mut interrupted = false;
    let answer = exchange(&target, bytes(request, &target.host).as_bytes(), prepare.within_s, &mut || {
        interrupted = waiting.tell(started.elapsed().as_secs_f64());
        if interrupted { Err(io::Error::from(ErrorKind::Interrupted)) } else { Ok(()) }
    })?;
    if interrupted {
        waiting.env.interrupt.check()?;
    }
    let answer = answer.map_err(|error| failed(format!("failed to {} {url}: {error}", deed(request))))?;
    let answer = String::from_utf8_lossy(&answer);
    let status = answer.strip_prefix("HTTP/1.").and_then(|rest| rest.split_whitespace().nth(1));
    if status.and_then(|status| status.parse().ok()) == Some(request.expect) {
        return Ok(());
    }
    let shown: String = answer.chars().take(SHOWN_CHARS).collect();
    Err(failed(format!("{url} was not answered with status {} but with:\n{shown}", request.expect)).into())
}

/// What is done, for people.
fn deed(request: &PrepareRequest) -> &'static str {
    if request.form.is_empty() { "fetch" } else { "post to" }
}

/// The request as it is sent.
fn bytes(request: &PrepareRequest, host: &str) -> String {
    let PrepareRequest { path, form, .. } = request;
    let head = format!("{path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n");
    if form.is_empty() {
        return format!("GET {head}\r\n");
    }
    let fields: Vec<String> =
        form.iter().map(|(name, value)| format!("{}={}", encoded(name), encoded(value))).collect();
    let body = fields.join("&");
    let kind = "Content-Type: application/x-www-form-urlencoded";
    format!("POST {head}{kind}\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}

/// As a form's field has it (the URL standard's application/x-www-form-urlencoded).
fn encoded(text: &str) -> String {
    let one = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'*' | b'-' | b'.' | b'_' => char::from(byte).to_string(),
        b' ' => "+".to_string(),
        byte => format!("%{byte:02X}"),
    };
    text.bytes().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_is_posted_and_anything_else_fetched() {
        let mut request =
            PrepareRequest { path: "/i.php?a=b".to_string(), form: Default::default(), expect: 200 };
        assert_eq!(bytes(&request, "h"), "GET /i.php?a=b HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
        request.form = [("title", "Käse & Co"), ("b c", "1")]
            .map(|(name, value)| (name.to_string(), value.to_string()))
            .into();
        let sent = bytes(&request, "h");
        assert!(sent.starts_with("POST /i.php?a=b HTTP/1.1\r\nHost: h\r\n"), "{sent}");
        assert!(sent.contains("\r\nContent-Length: 28\r\n"), "{sent}");
        assert!(sent.ends_with("\r\n\r\nb+c=1&title=K%C3%A4se+%26+Co"), "{sent}");
    }
}
