//! The request that `hit` repeats, from its flags. Everything that a server might read otherwise than meant is refused.

use engine::scenario::Repeat;
use model::{Problem, Problems, Result};
use url::Url;

use super::HitArgs;

/// The request and, when a header says so, the host that it is for.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) repeat: Repeat,
    pub(super) host: Option<String>,
}

impl HitArgs {
    /// The request.
    pub(super) fn repeat(&self) -> Result<Asked> {
        let mut problems = Vec::new();
        let body = self.body.as_deref().and_then(|body| read_body(body, &mut problems));
        let method = self.method.clone().unwrap_or(if body.is_some() { "POST" } else { "GET" }.to_string());
        if method.is_empty() || !method.bytes().all(is_token) {
            problems.push(Problem::recipe(format!("`{method}` is not a method")).key("--method"));
        }
        let (mut headers, mut host) = (String::new(), None);
        for header in &self.headers {
            match split(header) {
                Ok((name, value)) if name.eq_ignore_ascii_case("host") => host = Some(value.to_string()),
                Ok((name, value)) => headers.push_str(&format!("{name}: {value}\r\n")),
                Err(what) => problems.push(Problem::recipe(what).key("--header")),
            }
        }
        Problems::check(problems)?;
        let target = Url::parse(&self.url).map(|url| origin_form(&url)).unwrap_or_default();
        Ok(Asked { repeat: Repeat { name: "hit".to_string(), method, target, headers, body }, host })
    }
}

/// Path and query (RFC 9112 section 3.2.1).
fn origin_form(url: &Url) -> String {
    match url.query() {
        Some(query) => format!("{}?{query}", url.path()),
        None => url.path().to_string(),
    }
}

fn read_body(body: &str, problems: &mut Vec<Problem>) -> Option<Vec<u8>> {
    let Some(path) = body.strip_prefix('@') else { return Some(body.as_bytes().to_vec()) };
    match std::fs::read(path) {
        Ok(bytes) => Some(bytes),
        Err(error) => {
            problems.push(Problem::recipe(format!("failed to read the body: {error}")).file(path));
            None
        }
    }
}

fn split(header: &str) -> Result<(&str, &str), String> {
    let (name, value) = header
        .split_once(':')
        .map(|(name, value)| (name, value.trim()))
        .ok_or_else(|| format!("`{header}` is not of the form Name: value"))?;
    if name.is_empty() || !name.bytes().all(is_token) {
        return Err(format!("`{name}` is not a header's name"));
    }
    if value.bytes().any(|byte| byte < b' ' && byte != b'\t' || byte == 0x7f) {
        return Err(format!("the value of {name} holds a control character"));
    }
    if ["content-length", "transfer-encoding"].iter().any(|own| name.eq_ignore_ascii_case(own)) {
        return Err(format!("{name} follows from the body"));
    }
    Ok((name, value))
}

/// RFC 9110 section 5.6.2.
fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        hit: HitArgs,
    }

    fn parsed(words: &[&str]) -> Result<Asked> {
        let line = Line::try_parse_from([&["hit"], words].concat()).expect("clap takes it");
        line.hit.repeat()
    }

    #[test]
    fn a_url_is_asked_for_with_get_and_its_query() {
        let Asked { repeat, host } = parsed(&["http://127.0.0.1/a b?c=d#e"]).expect("it is right");
        assert_eq!((repeat.method.as_str(), repeat.target.as_str()), ("GET", "/a%20b?c=d"));
        assert_eq!((repeat.headers.as_str(), repeat.body, host), ("", None, None));
    }

    #[test]
    fn a_body_makes_it_a_post_and_headers_are_lines() {
        let words = ["http://[::1]/", "-b", "x=1", "-H", "A:b ", "-H", "host: shop.example"];
        let Asked { repeat, host } = parsed(&words).expect("it is right");
        assert_eq!((repeat.method.as_str(), repeat.headers.as_str()), ("POST", "A: b\r\n"));
        assert_eq!((repeat.body.as_deref(), host.as_deref()), (Some(&b"x=1"[..]), Some("shop.example")));
    }

    #[test]
    fn what_a_server_might_read_otherwise_is_refused_all_at_once() {
        let words =
            ["http://[::1]/", "-m", "GE T", "-H", "a b: c", "-H", "Content-Length: 5", "-b", "@/no/file"];
        let said = parsed(&words).expect_err("four mistakes").to_string();
        for part in ["`GE T`", "`a b`", "Content-Length follows", "failed to read the body"] {
            assert!(said.contains(part), "{part} is missing in:\n{said}");
        }
        let said =
            parsed(&["http://[::1]/", "-H", "A: b\r\nC: d"]).expect_err("a header in a header").to_string();
        assert!(said.contains("control character"), "{said}");
    }
}
