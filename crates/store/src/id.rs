//! Names of runs, and the one way in which the lab writes a moment.

use model::calendar::date_of_day;
use model::{Problem, Result};

/// The id of a run that starts `unix_s` seconds after 1970-01-01 UTC: `20261121-034512-dvdstore-7f3a`. Ids sort by
/// time; `entropy` keeps two runs of the same second apart.
pub fn new_id(unix_s: u64, kit: &str, entropy: u64) -> String {
    let Moment { year, month, day, hour, minute, second } = moment(unix_s);
    let kit: String =
        kit.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' }).collect();
    let suffix = entropy % 0x1_0000;
    format!("{year:04}{month:02}{day:02}-{hour:02}{minute:02}{second:02}-{kit}-{suffix:04x}")
}

/// RFC 3339, UTC, whole seconds: `2026-11-21T03:45:12Z`.
pub fn utc(unix_s: u64) -> String {
    let Moment { year, month, day, hour, minute, second } = moment(unix_s);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// Refuses an id that can't be the name of a run's directory: empty, hidden, or with anything but letters, digits,
/// `-`, `_` and `.`.
pub(crate) fn check(id: &str) -> Result<()> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if id.is_empty() || id.len() > 128 || id.starts_with('.') || !id.chars().all(allowed) {
        let what = format!("`{}` can't be the id of a run", id.escape_debug());
        return Err(Problem::recipe(what).remedy("letters, digits, `-`, `_` and `.`").into());
    }
    Ok(())
}

struct Moment {
    year: i64,
    month: i64,
    day: i64,
    hour: u64,
    minute: u64,
    second: u64,
}

/// The moment `unix_s` seconds after 1970-01-01 UTC.
fn moment(unix_s: u64) -> Moment {
    let (year, month, day) = date_of_day((unix_s / 86_400) as i64);
    let (hour, minute, second) = (unix_s / 3_600 % 24, unix_s / 60 % 60, unix_s % 60);
    Moment { year, month, day, hour, minute, second }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_agree_with_gnu_date() {
        let known = [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (951_868_799, "2000-02-29T23:59:59Z"),
            (1_709_164_800, "2024-02-29T00:00:00Z"),
            (1_795_232_712, "2026-11-21T03:45:12Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ];
        for (unix_s, text) in known {
            assert_eq!(utc(unix_s), text);
        }
    }

    #[test]
    fn ids_say_when_and_what_and_sort_by_time() {
        let first = new_id(1_795_232_712, "dvdstore", 0x1_7f3a);
        assert_eq!(first, "20261121-034512-dvdstore-7f3a");
        assert!(first < new_id(1_795_232_713, "a", 0));
        assert!(check(&new_id(0, "../etc Ünï", 7)).is_ok(), "any kit name gives an id that is a file name");
    }

    #[test]
    fn an_id_can_not_leave_the_directory_of_runs() {
        for id in ["", ".", "..", "../x", "a/b", ".hidden", "a\u{1b}[2J"] {
            assert!(check(id).is_err(), "{id:?} must be refused");
        }
    }
}
