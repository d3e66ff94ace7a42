//! What goes over the cable between a tier's own host and the others, from the cards of its network (`/proc/PID/net/dev`).

use model::catalogue::tier_setting::OwnHost;
use model::{Signal, signals};

use crate::points::Points;
use crate::rates::Rates;

signals! {
    SENT = Signal::of_tier("cable.sent_bytes", "bytes/s", "sent over the cable to its own host, by it");
    RECEIVED = Signal::of_tier("cable.received_bytes", "bytes/s", "received over the cable to its own host, by it");
    USED = Signal::of_tier(
        "cable.used_ratio", "ratio", "share of what the cable to its own host carries (its rate), in the fuller direction"
    );
}

/// Reads the cards of the network that a tier's first process is in.
#[derive(Debug)]
pub(super) struct Cable {
    file: String,
    rate_bytes_per_s: Option<f64>,
    rates: Rates,
}

impl Cable {
    /// Of a tier on a host of its own; `main` is one of its processes.
    pub(super) fn of(host: &OwnHost, main: u32) -> Cable {
        Cable {
            file: format!("/proc/{main}/net/dev"),
            rate_bytes_per_s: host.rate_mbit.map(|rate| f64::from(rate) * 1e6 / 8.0),
            rates: Rates::default(),
        }
    }

    pub(super) fn sample(&mut self, tier: &str, points: &mut Points) {
        let (received, sent) = std::fs::read_to_string(&self.file).ok().as_deref().map(carried).unzip();
        let mut add = |signal: &Signal, count| {
            let growth = self.rates.growth(&signal.name, points.at_s(), count);
            points.add_known(signal, Some(tier), growth);
            growth
        };
        let fuller = add(&RECEIVED, received).zip(add(&SENT, sent)).map(|(one, other)| one.max(other));
        let used = fuller.zip(self.rate_bytes_per_s).map(|(bytes, rate)| bytes / rate);
        points.add_known(&USED, Some(tier), used);
    }
}

/// Bytes that all cards but the loopback have received and sent.
fn carried(dev: &str) -> (f64, f64) {
    let card = |line: &str| -> Option<(f64, f64)> {
        let (name, rest) = line.split_once(':')?;
        let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
        let number = |at: usize| fields.get(at)?.parse::<f64>().ok();
        (name.trim() != "lo").then_some((number(0)?, number(8)?))
    };
    dev.lines().filter_map(card).fold((0.0, 0.0), |(received, sent), one| (received + one.0, sent + one.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_those_of_all_cards_but_the_loopback() {
        let dev = "Inter-|   Receive  |  Transmit\n face |bytes packets|bytes\n    lo: 900 1 0 0 0 0 0 0 900 1 0 0 0 0 0 0\n\
                   plim0: 100 2 0 0 0 0 0 0 7000 3 0 0 0 0 0 0\n";
        assert_eq!(carried(dev), (100.0, 7000.0));
        assert_eq!(carried(""), (0.0, 0.0));
    }

    #[test]
    fn a_cable_is_as_full_as_its_fuller_direction() {
        let dir = tempfile::tempdir().expect("a directory");
        let file = dir.path().join("dev").display().to_string();
        let write = |received: u64, sent: u64| {
            let text = format!(" eth: {received} 0 0 0 0 0 0 0 {sent} 0 0 0 0 0 0 0\n");
            std::fs::write(&file, text).expect("a file");
        };
        let host = OwnHost { rate_mbit: Some(8), ..OwnHost::default() };
        let mut cable = Cable { file: file.clone(), ..Cable::of(&host, 1) };
        write(0, 0);
        cable.sample("web", &mut Points::at(0.0));
        write(100_000, 1_800_000);
        let mut points = Points::at(2.0);
        cable.sample("web", &mut points);
        let value = |name: &str| points.found.iter().find(|one| one.name == name).map(|one| one.points[0].1);
        assert_eq!(value("cable.sent_bytes"), Some(900_000.0));
        assert_eq!(value("cable.received_bytes"), Some(50_000.0));
        assert_eq!(value("cable.used_ratio"), Some(0.9), "of 1 MB a second");
    }
}
