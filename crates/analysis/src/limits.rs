//! The thresholds of the checks of the instrument: `docs/method/validity.md`.

/// Cores of the process that serves the laboratory's page.
pub const VIEWER_CORES: f64 = 0.05;
/// From this on it is worth a word, although it is allowed.
pub const VIEWER_NOTICED_CORES: f64 = 0.01;
/// Generator CPU as a share of its CPUs.
pub const GENERATOR_CPU_RATIO: f64 = 0.80;
/// CPU of the generator's busiest thread as a share of one CPU.
pub const GENERATOR_THREAD_RATIO: f64 = 0.90;
/// 99th percentile of the send lag in seconds.
pub const SEND_LAG_P99_S: f64 = 0.005;
/// Little's law, and the share of the asked users that must be there: 2 %.
pub const LITTLE_RATIO: f64 = 0.02;
/// Little's law: or three standard errors, when that is more.
pub const LITTLE_STANDARD_ERRORS: f64 = 3.0;
/// Little's law: what counts as exact when the edges are accounted for.
pub const LITTLE_EXACT_RATIO: f64 = 0.002;
/// Little's law: standard errors allowed to the edges when all else is exact.
pub const LITTLE_STANDARD_ERRORS_EXACT: f64 = 5.0;
/// Arrivals, draws and think times: as many standard errors as chance exceeds in one run of 10,000.
pub const NORMAL_QUANTILE: f64 = 3.891;
/// Chi-square: classes of which fewer are expected are put together.
pub const MIN_EXPECTED: f64 = 5.0;
/// Even arrivals: the share that may be missing at the window's ends.
pub const ARRIVALS_RATIO: f64 = 0.01;
/// Pauses: how far their mean may be from the one asked for, where the kit says nothing else.
pub const PAUSE_RATIO: f64 = 0.02;
/// Pauses: fewer than this after sessions of one name are not judged by themselves for having been kept.
pub const PAUSES_JUDGED: u64 = 30;
/// How likely chance may break a check of a run that is right, where that is set by itself.
pub const FALSE_ALARM: f64 = 1e-4;
/// The generator's ceiling: times the requests per second of the answer.
pub const CEILING_TIMES: f64 = 5.0;
/// Seconds of steady state that may be missing: its two ends need not be whole seconds.
pub const MISSING_S: f64 = 2.0;
/// The share by which the way to a host may take other than as long as asked for.
pub const LINK_RATIO: f64 = 0.05;
/// And the seconds, if those are more.
pub const LINK_S: f64 = 20e-6;
/// What a way that holds nothing takes at most, in seconds: it is a part of every way.
pub const CABLE_S: f64 = 200e-6;
/// The most that an agent may begin after the time that was set, the bound of its clock included; seconds.
pub const FLEET_START_S: f64 = 0.010;
/// The most that an agent's clock may move against the controller's; seconds.
pub const FLEET_CLOCK_S: f64 = 0.050;
