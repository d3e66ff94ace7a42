//! Open files of the whole machine, from `/proc/sys/fs/file-nr`.

use model::{Signal, signals};

use super::number::number;
use crate::points::Points;
use crate::reread::Reread;

signals! {
    USED = Signal::of_machine("descriptors.used_ratio", "ratio", "open files, of the machine's limit");
}

pub(super) const FILE: &str = "/proc/sys/fs/file-nr";

/// Reads how many files are open.
#[derive(Debug)]
pub(super) struct Descriptors(Reread);

impl Descriptors {
    pub(super) fn open() -> Option<Descriptors> {
        Reread::open(FILE).map(Descriptors)
    }

    pub(super) fn sample(&mut self, points: &mut Points) {
        points.add_known(&USED, None, self.0.text().and_then(used_ratio));
    }
}

/// `OPEN UNUSED LIMIT`
fn used_ratio(text: &str) -> Option<f64> {
    let mut fields = text.split_ascii_whitespace();
    let (open, limit) = (number(fields.next())?, number(fields.nth(1))?);
    (limit > 0.0).then(|| open / limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_and_the_third_number_are_the_share() {
        assert_eq!(used_ratio("1024\t0\t4096\n"), Some(0.25));
        assert_eq!(used_ratio("1024\t0\t0\n"), None);
        assert_eq!(used_ratio("1024\n"), None);
    }
}
