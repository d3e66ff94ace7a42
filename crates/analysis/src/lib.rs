//! The mathematics of a run (layer 1): recorded seconds in, results, checks of the instrument and the verdict out.
//!
//! The principal type is [`Steady`], the seconds of the steady state, merged; nothing else of a run counts. From it
//! follow [`operations`], [`phases`], [`untimed`], [`targets`], [`metrics`], [`tiers`] and [`generator`]; [`Little`] compares what was counted
//! with what was integrated; [`validity`] judges the instrument and [`verdict`] the run. The formulas, thresholds and
//! their sources are in `docs/method/validity.md`. [`measured`] says what a window of a study is worth, by the formulas of
//! `docs/method/intervals.md`.
//!
//! For studies there are beside it [`warm_up`], where a steady state begins; [`quantile`], [`bootstrap`] and [`unpaired`],
//! intervals; and [`paired`], comparisons that may be looked at after every block (`docs/method/comparing.md`); [`published`] puts
//! published figures beside those of a sweep (`docs/method/published.md`), [`sweep`] says what it found, and [`mixture`] how the response times
//! of a cell's repeats together are distributed. [`capacity`] asks whether what a run showed is
//! enough for a population. [`comparable`] says whether two runs may be held against each other, [`failures`] which failed more.
//!
//! Not here: files, clocks, anything printed, random sources but a seed that is passed in. The same recorded seconds give
//! the same answer, always.
//! [`signals`] has every series in figures that rules can weigh, [`ledger`] where the time of an operation went, and
//! [`diagnosis`] what holds the stack (`docs/method/diagnosis.md`).
//! What people read of it is made in the room `wording`; [`sentence`] still has the words of studies.

mod batch;
pub mod bootstrap;
pub mod calls;
pub mod capacity;
pub mod comparable;
pub mod declared;
mod demand;
pub mod diagnosis;
pub mod distribution;
pub mod elasticity;
mod expected;
pub mod failures;
mod finding;
mod generator;
pub mod ledger;
pub mod limits;
mod line;
mod little;
mod median;
mod metric;
pub mod mixture;
pub mod moved;
mod operation;
mod outage;
pub mod paired;
mod phase;
mod population;
pub mod published;
pub mod quantile;
pub mod score;
mod series;
pub mod signals;
mod stacks;
mod statements;
mod steady;
pub mod sweep;
mod target;
mod threads;
mod tier;
mod times;
mod trial;
pub mod unpaired;
mod validity;
mod verdict;
pub mod warm_up;

pub use batch::Batches;
pub use demand::AskedLoad;
pub use expected::{ExpectedSamples, enough_after_s, expected_samples};
pub use finding::{
    ArrivalsFault, CheckOutcome, Finding, LittleExcuse, LogAlarm, MixDraws, OneOf, OverloadedAgent,
    PauseFault, Samples, SendLag, SessionShare, SteadyEnd, TierEvent, TierFault,
};
pub use generator::{HostShares, generator, host_shares};
pub use line::{
    JudgedTrials, LONG_ENOUGH_S, Line, Stability, UnusableReason, Usability, by_overload, overloaded,
    trial_verdict,
};
pub use little::{Balance, BalanceOf, Little};
pub use median::median;
pub use metric::{Bound, Lack, bounds, metrics, of_users};
pub use operation::{operation_counts, operations};
pub use outage::{Kill, WorkOfSecond, outage};
pub use phase::{phases, untimed};
pub use population::populations;
pub use series::SeriesSeen;
pub use statements::statements;
pub use steady::Steady;
pub use target::targets;
pub use threads::threads;
pub use tier::{TierSource, tiers};
pub use times::{percentile_s, summary};
pub use trial::{
    Also, fewest_samples, measured, measured_in, nearest_limit, overload_fault, share_of_limit, tier_signals,
    worst_missed,
};
pub use validity::{ValidityInputs, ceiling_check, fill_in_agent, generator_checks, state_so_far, validity};
pub use verdict::{Judgement, verdict};
