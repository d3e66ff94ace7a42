//! What of a rendered file is a run's own and differs from run to run by nature: where its instances lie, ports, secrets,
//! moments.

use std::sync::LazyLock;

use regex::Regex;

/// Each with what stands in its place.
static OWN: LazyLock<[(Regex, &str); 6]> = LazyLock::new(|| {
    let pattern = |text: &str| Regex::new(text).expect("the pattern is a constant; a test uses it");
    [
        // HOME/instances/RUN/1/web/tmp, HOME/instances/RUN/sockets/1/db.sock
        (pattern(r"(?:/[\w.~+@-]+)*/instances/[\w.~-]+(/sockets)?(?:/\d+\b)?"), "INSTANCES$1"),
        (pattern(r"\b\d{8}-\d{6}-[a-z0-9-]+?-[0-9a-f]{4}(?:-\d+)?\b"), "RUN"),
        (pattern(r"((?:\b\d{1,3}(?:\.\d{1,3}){3}|\blocalhost|\[[0-9a-fA-F:]+\]):)\d{4,5}\b"), "${1}PORT"),
        (pattern(r#"(?i)((?:^|[\s._-])(?:port|listen)["']?\s*[=:\s]\s*["']?)\d{4,5}\b"#), "${1}PORT"),
        (pattern(r"(?i)(\bpassword\s*=?\s*')[^']*'"), "${1}SECRET'"),
        (pattern(r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d\b)?"), "TIME"),
    ]
});

/// `text` with a word in the place of everything that is a run's own.
pub(super) fn without_own(text: &str) -> String {
    let start = text.to_string();
    OWN.iter().fold(start, |text, (pattern, word)| pattern.replace_all(&text, *word).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_every_run_has_of_its_own_is_replaced_and_nothing_that_was_set() {
        let table = [
            (
                r#"ErrorLog "/srv/plimsoll/instances/20261127-055857-dvdstore-7af0-1/1/web/logs/error.log""#,
                r#"ErrorLog "INSTANCES/web/logs/error.log""#,
            ),
            (
                "server unix:/srv/p.d/instances/20261127-055857-x-7af0/sockets/12/app.sock;",
                "server unix:INSTANCES/sockets/app.sock;",
            ),
            ("Listen 127.0.0.1:39035", "Listen 127.0.0.1:PORT"),
            ("server app-1 10.77.3.2:40123 check", "server app-1 10.77.3.2:PORT check"),
            (r#"<Connector port="40123" maxThreads="200""#, r#"<Connector port="PORT" maxThreads="200""#),
            ("server.port = 43210", "server.port = PORT"),
            ("  port: 43210", "  port: PORT"),
            ("HOST '10.0.0.1', PORT 34567, PASSWORD 'f00'", "HOST '10.0.0.1', PORT PORT, PASSWORD 'SECRET'"),
            ("# made for 20261127-054831-dvdstore-4a91", "# made for RUN"),
            ("# 2026-11-27T05:48:31Z", "# TIME"),
            ("innodb_buffer_pool_size = 134217728", "innodb_buffer_pool_size = 134217728"),
            ("performance_report = 20000", "performance_report = 20000"),
            ("listen_backlog 4096", "listen_backlog 4096"),
            ("AddType text/html .html", "AddType text/html .html"),
        ];
        for (text, expected) in table {
            assert_eq!(without_own(text), expected);
        }
    }
}
