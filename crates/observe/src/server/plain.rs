//! Statuses that a server tells in a text of its own: nginx's and memcached's.

use std::io;
use std::time::Instant;

use super::exchange::{Asker, wrong};
use super::figures::Figures;

/// What memcached says to `stats` in its text protocol.
pub(super) fn memcached(asker: &mut Asker, deadline: Instant) -> io::Result<Figures> {
    let answer = asker.ask(b"stats\r\n", |answer| answer.ends_with(b"END\r\n"), deadline)?;
    stats(&String::from_utf8_lossy(&answer)).ok_or(wrong("the answer is not that of memcached"))
}

/// Lines `STAT name value` up to `END`; values that are no numbers are left out.
fn stats(text: &str) -> Option<Figures> {
    let lines = text.strip_suffix("END\r\n")?.lines();
    let figure = |line: &str| {
        let (name, value) = line.strip_prefix("STAT ")?.split_once(' ')?;
        Some((name.to_string(), value.trim().parse().ok()?))
    };
    let figures: Figures = lines.filter_map(figure).collect();
    (!figures.is_empty()).then_some(figures)
}

/// What nginx's `stub_status` says: `Active connections: 2`, then the names and, in the next line, the numbers of three
/// counts, then `Reading: 0 Writing: 1 Waiting: 1`.
pub(super) fn nginx(body: &[u8]) -> Option<Figures> {
    let text = std::str::from_utf8(body).ok()?;
    let mut figures = Figures::new();
    let mut words = text.split_whitespace();
    let mut counts = Vec::new();
    while let Some(word) = words.next() {
        let name = match word {
            "connections:" => "active",
            "Reading:" => "reading",
            "Writing:" => "writing",
            "Waiting:" => "waiting",
            word => {
                counts.extend(word.parse::<f64>().ok());
                continue;
            }
        };
        figures.insert(name.to_string(), words.next()?.parse().ok()?);
    }
    let [accepts, handled, requests] = counts[..] else { return None };
    let counted =
        [("accepts", accepts), ("handled", handled), ("requests", requests), ("dropped", accepts - handled)];
    figures.extend(counted.map(|(name, value)| (name.to_string(), value)));
    (figures.len() == 8).then_some(figures)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_figure_of_nginx_is_read_and_what_was_dropped_follows() {
        let text =
            b"Active connections: 291 \nserver accepts handled requests\n 16630948 16630940 31070465 \n\
                     Reading: 6 Writing: 179 Waiting: 106 \n";
        let figures = nginx(text).expect("its status");
        let wanted = [
            ("active", 291.0),
            ("accepts", 16_630_948.0),
            ("dropped", 8.0),
            ("handled", 16_630_940.0),
            ("reading", 6.0),
            ("requests", 31_070_465.0),
            ("waiting", 106.0),
            ("writing", 179.0),
        ];
        assert_eq!(figures, wanted.map(|(name, value)| (name.to_string(), value)).into());
        for other in [&b"<html>404</html>"[..], b"Active connections: 1\n", b""] {
            assert_eq!(nginx(other), None);
        }
    }

    #[test]
    fn a_cut_or_foreign_answer_is_not_memcacheds() {
        let figures = stats("STAT pid 7\r\nSTAT version 1.6.18\r\nSTAT get_hits 40\r\nEND\r\n");
        let wanted = [("get_hits", 40.0), ("pid", 7.0)];
        assert_eq!(figures, Some(wanted.map(|(name, value)| (name.to_string(), value)).into()));
        for other in ["STAT pid 7\r\nSTAT get_h", "ERROR\r\n", "END\r\n", ""] {
            assert_eq!(stats(other), None, "{other:?}");
        }
    }
}
