//! What is said of a run and of a study: the plan that it follows, its record, checks, targets and diagnosis.

pub mod calls;
mod cell;
mod check;
pub mod diagnosis;
mod file_set;
mod fleet;
pub mod guest;
pub mod hit;
pub mod instrument;
pub mod interval;
pub mod line_proof;
mod link;
mod load_change;
mod machine_setting;
pub mod memory_kill;
mod outage;
mod parts;
pub mod plan;
mod run;
pub mod stacks;
pub mod statements;
pub mod study;
pub(crate) mod target;
pub mod threads;

pub use check::{CHECKS, Check, CheckClass, DeclaredCheck, METRIC_CHECK, Overload, checks_table};
pub use file_set::{FileSetResult, PageCacheResult};
pub use fleet::{AgentResult, AgentSecond, FleetResult, ObserverResult};
pub use guest::{Cloned, GuestResult};
pub use link::LinkResult;
pub use load_change::{AskedBy, LoadChange, UsersWish};
pub use machine_setting::MachineSettingResult;
pub use outage::Outage;
pub use parts::{PhaseResult, PhaseResults, UntimedResult};
pub use run::{
    Carrier, ConsistencyResult, CounterSetup, DatasetResult, Event, Evidence, GeneratorResult, MetricResult,
    NetworkSetup, OperationResult, Outcome, PopulationResult, RUN_FORMAT, RunRecord, Series, Setup, Step,
    TargetSetup, TierResult, TierSetup, TimeSummary, ValidityCheck, Verdict,
};
pub use target::{Margin, TargetOutcome};
