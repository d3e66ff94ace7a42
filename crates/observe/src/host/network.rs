//! The network that Plimsoll runs in, from `/proc/net`: interfaces, listen queues, sockets and ports.

use model::{Signal, signals};

use super::number::number;
use crate::points::Points;
use crate::rates::Rates;
use crate::reread::Reread;

signals! {
    BYTES = Signal::of_machine("net.bytes", "bytes/s", "received over all interfaces");
    PACKETS = Signal::of_machine("net.packets", "packets/s", "received over all interfaces");
    DROPS = Signal::of_machine("net.drops", "packets/s", "received packets that were dropped");
    LISTEN_OVERFLOWS = Signal::of_machine(
        "tcp.listen_overflows", "1/s", "connections refused because a queue was full"
    );
    LISTEN_DROPS = Signal::of_machine(
        "tcp.listen_drops", "1/s", "connections dropped before they were accepted"
    );
    RETRANSMITS = Signal::of_machine("tcp.retransmits", "1/s", "segments sent again");
    TIME_WAIT = Signal::of_machine(
        "tcp.time_wait", "sockets", "closed connections that still hold their port"
    );
    PORTS_USED = Signal::of_machine("tcp.ports_used_ratio", "ratio", "ephemeral ports in use");
}

pub(super) const FILES: [&str; 4] =
    ["/proc/net/dev", "/proc/net/netstat", "/proc/net/snmp", "/proc/net/sockstat"];

/// Reads the network.
#[derive(Debug)]
pub(super) struct Network {
    files: [Option<Reread>; 4],
    rates: Rates,
}

impl Network {
    pub(super) fn open() -> Network {
        Network { files: FILES.map(Reread::open), rates: Rates::default() }
    }

    pub(super) fn sample(&mut self, points: &mut Points) {
        let [interfaces, extended, tcp, sockets] =
            self.files.each_mut().map(|file| file.as_mut().and_then(Reread::text));
        for (signal, count) in [&BYTES, &PACKETS, &DROPS].into_iter().zip(received(interfaces)) {
            self.rates.add(signal, count, points);
        }
        let extended = |name: &str| counter(extended?, "TcpExt", name);
        self.rates.add(&LISTEN_OVERFLOWS, extended("ListenOverflows"), points);
        self.rates.add(&LISTEN_DROPS, extended("ListenDrops"), points);
        self.rates.add(&RETRANSMITS, tcp.and_then(|text| counter(text, "Tcp", "RetransSegs")), points);
        let socket_count = |name: &str| tcp_sockets(sockets?, name);
        let (open, waiting) = (socket_count("inuse"), socket_count("tw"));
        points.add_known(&TIME_WAIT, None, waiting);
        let used = open.zip(waiting).map(|(open, waiting)| open + waiting);
        let ratio = used.zip(ephemeral_ports()).map(|(used, ports)| used / ports);
        points.add_known(&PORTS_USED, None, ratio);
    }
}

/// Bytes, packets and dropped packets that all interfaces together have received.
fn received(dev: Option<&str>) -> [Option<f64>; 3] {
    let Some(text) = dev else { return [None; 3] };
    let mut sums = [0.0; 3];
    for line in text.lines().skip(2) {
        let Some((_, rest)) = line.split_once(':') else { continue };
        let fields: Vec<f64> = rest.split_ascii_whitespace().map_while(|one| number(Some(one))).collect();
        for (sum, index) in sums.iter_mut().zip([0, 1, 3]) {
            *sum += fields.get(index).copied().unwrap_or(0.0);
        }
    }
    sums.map(Some)
}

/// Of a line of names and one of values, each with the same word before it, the value of `name`.
fn counter(text: &str, word: &str, name: &str) -> Option<f64> {
    let mut lines = text.lines().filter_map(|line| line.strip_prefix(word)?.strip_prefix(':'));
    let (names, values) = (lines.next()?, lines.next()?);
    let mut both = names.split_ascii_whitespace().zip(values.split_ascii_whitespace());
    number(Some(both.find(|(one, _)| *one == name)?.1))
}

/// `TCP: inuse 5 orphan 0 tw 12 …`
fn tcp_sockets(sockstat: &str, name: &str) -> Option<f64> {
    let line = sockstat.lines().find_map(|line| line.strip_prefix("TCP:"))?;
    let fields: Vec<&str> = line.split_ascii_whitespace().collect();
    number(Some(fields.chunks_exact(2).find(|pair| pair[0] == name)?[1]))
}

/// How many ports there are for connections that are opened; they may change while the machine runs.
fn ephemeral_ports() -> Option<f64> {
    let range = std::fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").ok()?;
    let mut range = range.split_ascii_whitespace();
    let (first, last) = (number(range.next())?, number(range.next())?);
    Some(last - first + 1.0).filter(|ports| *ports > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_file_gives_its_counts_by_name() {
        let dev = "Inter-|\n face |bytes\n  lo: 100 2 0 1 0 0 0 0 100 2\neth0: 50 1 0 0 0 0 0 0 9 9\n";
        assert_eq!(received(Some(dev)), [150.0, 3.0, 1.0].map(Some));
        let tcp = "TcpExt: SyncookiesSent ListenOverflows ListenDrops\nTcpExt: 1 7 8\nIpExt: A\nIpExt: 3\n";
        assert_eq!(counter(tcp, "TcpExt", "ListenOverflows"), Some(7.0));
        assert_eq!(counter(tcp, "TcpExt", "Listen"), None);
        let sockets = "sockets: used 5\nTCP: inuse 5 orphan 0 tw 12 alloc 9 mem 1\n";
        assert_eq!((tcp_sockets(sockets, "inuse"), tcp_sockets(sockets, "tw")), (Some(5.0), Some(12.0)));
    }
}
