//! The engine on sockets against the server's own time stamps, and a witness beside it: the plainest client there is,
//! so that what the machine adds to everybody's times is known.
//!
//! Disturbance only ever adds time. So a time of the engine below the server's is a lie in any run; one above it has to be
//! within what the machine added to the witness and the tolerance, in one of a few runs.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use engine::{Control, RunOptions, run};
use model::Distribution;
use model::record::interval::Times;
use testkit::origin::{Exchange, Origin, Reply};

use crate::seen::{Seen, expect_no_failure, quantile, thinking, users};

/// A calm machine needs one.
const TRIES: usize = 8;
/// The quantiles that are judged; the largest time of all is one sample of the machine.
const JUDGED: [f64; 6] = [0.5, 0.75, 0.9, 0.95, 0.99, 0.999];
/// The tolerance: 1 % of the time, or this, whichever is more.
const MIN_TOLERANCE_US: f64 = 50.0;

/// One quantile in one run; all in microseconds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Compared {
    q: f64,
    server_us: f64,
    /// The engine's time less the server's.
    over_us: f64,
    /// What the machine added to everybody's times, at the same quantile or in the mean, whichever is more: of the
    /// witness's time less the server's and the engine's own lag the greater one, or both ([`Begin`]).
    noise_us: f64,
}

/// When the times that are compared begin.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Begin {
    /// When the request is sent.
    Sent,
    /// When it was to be sent: the machine wakes the engine late, and then answers late.
    Intended,
}

impl Begin {
    fn noise(self, lag_us: f64, witness_us: f64) -> f64 {
        match self {
            Begin::Sent => lag_us.max(witness_us),
            Begin::Intended => lag_us + witness_us,
        }
    }
}

impl Compared {
    fn tolerance_us(&self) -> f64 {
        MIN_TOLERANCE_US.max(0.01 * self.server_us)
    }

    /// What the machine adds to the witness's times it adds to the engine's.
    fn holds(&self) -> bool {
        self.over_us <= self.noise_us + self.tolerance_us()
    }

    fn words(&self) -> String {
        let Compared { q, server_us, over_us, noise_us } = self;
        format!("p{}: server {server_us:.0} µs, engine {over_us:+.0} µs, machine {noise_us:.0} µs", q * 100.0)
    }
}

/// Runs users against a server that answers as `decide` says, until each quantile of their service times has been
/// seen to be true.
pub(crate) fn expect_true_on_sockets<D: FnMut() -> Reply + Send + 'static>(decide: impl Fn() -> D) {
    expect_true(|| {
        let mut decide = decide();
        let origin = Origin::start(move |_| decide()).expect("a loopback port");
        let think = Distribution::Uniform { min: 0.0, max: 0.1 };
        let options = thinking(users(40, 3.0, origin.address()), think);
        let run = witnessed(&origin, &options);
        let mut server_ns: Vec<u64> = run.of("/").iter().filter_map(Exchange::took).map(nanos).collect();
        server_ns.sort_unstable();
        run.compare(Begin::Sent, &run.seen.operation("Op").service, &server_ns)
    });
}

/// Runs something until each of its quantiles has been seen to be true.
pub(crate) fn expect_true(one_run: impl Fn() -> Vec<Compared>) {
    let mut runs: Vec<Vec<Compared>> = Vec::new();
    for _ in 0..TRIES {
        runs.push(one_run());
        if open_quantiles(&runs).is_empty() {
            return;
        }
    }
    let open = open_quantiles(&runs);
    let told: Vec<String> = runs.iter().flatten().map(Compared::words).collect();
    let names: Vec<String> = open.iter().map(|place| format!("p{}", 100.0 * JUDGED[*place])).collect();
    panic!("in none of {TRIES} runs was it the server's time: {}\n{}", names.join(" "), told.join("\n"));
}

/// Quantiles that were not within the tolerance in any run.
fn open_quantiles(runs: &[Vec<Compared>]) -> Vec<usize> {
    (0..JUDGED.len()).filter(|place| runs.iter().all(|run| !run[*place].holds())).collect()
}

/// A run beside which the witness stood.
pub(crate) struct Witnessed {
    pub(crate) seen: Seen,
    exchanges: Vec<Exchange>,
    /// What the witness's times were over the server's, sorted; in nanoseconds.
    over_ns: Vec<u64>,
}

/// Runs users, whose operation is `Op`, and the witness.
pub(crate) fn witnessed(origin: &Origin, options: &RunOptions) -> Witnessed {
    let witness = Witness::start(origin.address());
    let mut seen = Seen::default();
    let totals = run(options, &Control::default(), &mut seen).expect("the run works");
    let told_ns = witness.end();
    expect_no_failure(&totals);
    let exchanges = origin.ledger().exchanges.clone();
    let server = exchanges.iter().filter(|exchange| &*exchange.path == "/witness");
    let over =
        server.filter_map(Exchange::took).zip(told_ns).map(|(took, told)| told.saturating_sub(nanos(took)));
    let mut over_ns: Vec<u64> = over.collect();
    over_ns.sort_unstable();
    Witnessed { seen, exchanges, over_ns }
}

impl Witnessed {
    /// Requests for this path in the order of their arrival.
    pub(crate) fn of(&self, path: &str) -> Vec<Exchange> {
        self.exchanges.iter().filter(|exchange| &*exchange.path == path).cloned().collect()
    }

    /// The engine's times against the server's, which are sorted.
    pub(crate) fn compare(&self, begin: Begin, times: &Times, server_ns: &[u64]) -> Vec<Compared> {
        assert_eq!(times.len(), server_ns.len() as u64, "engine and server count alike");
        let lag = self.seen.lag();
        let witness_mean_us = self.over_ns.iter().sum::<u64>() as f64 / self.over_ns.len() as f64 / 1e3;
        let mean_us = begin.noise(lag.mean(), witness_mean_us);
        let compare = |q: &f64| {
            let server_us = quantile(server_ns, *q) as f64 / 1e3;
            let over_us = times.value_at_quantile(*q) as f64 - server_us;
            let witness_us = quantile(&self.over_ns, *q) as f64 / 1e3;
            let at_q_us = begin.noise(lag.value_at_quantile(*q) as f64, witness_us);
            let compared = Compared { q: *q, server_us, over_us, noise_us: mean_us.max(at_q_us) };
            assert!(over_us >= -1.0, "less than the server itself took: {compared:?}");
            compared
        };
        JUDGED.iter().map(compare).collect()
    }
}

fn nanos(time: Duration) -> u64 {
    time.as_nanos() as u64
}

/// A plain blocking client that asks for `/witness` now and then.
struct Witness {
    stop: Arc<AtomicBool>,
    thread: std::thread::JoinHandle<Vec<u64>>,
}

impl Witness {
    fn start(address: SocketAddr) -> Witness {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            let own = rustix::thread::gettid();
            let _ = rustix::process::setpriority_process(Some(own), -20);
            // Where the generator is, and before others like it: what it meets there, the generator meets too.
            let mut place = rustix::thread::CpuSet::new();
            place.set(0);
            let _ = rustix::thread::sched_setaffinity(None, &place);
            let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
            let mut stream = TcpStream::connect(address).expect("the server listens");
            stream.set_nodelay(true).expect("small requests go out at once");
            let (mut took_ns, mut buffer) = (Vec::new(), [0; 512]);
            while !stopped.load(Ordering::Relaxed) {
                let before = Instant::now();
                stream.write_all(b"GET /witness HTTP/1.1\r\n\r\n").expect("the server reads");
                assert!(stream.read(&mut buffer).is_ok_and(|length| length > 0), "the server answers");
                took_ns.push(before.elapsed().as_nanos() as u64);
                std::thread::sleep(Duration::from_millis(5));
            }
            took_ns
        });
        Witness { stop, thread }
    }

    fn end(self) -> Vec<u64> {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().expect("the witness saw it through")
    }
}
