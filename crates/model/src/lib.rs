//! The nouns and units of Plimsoll (layer 0): what a kit, a service, a stack, a recipe, a plan, a run's record,
//! a verdict and a problem *are*.
//!
//! The principal types are [`Plan`], everything that a run needs, resolved and costed before anything starts,
//! [`RunRecord`], everything that a run said, and [`StudyRecord`], everything that many runs said together. Every other
//! room speaks in these words. Two halves: [`catalogue`], what can be asked for, and [`record`], what came of it, written
//! in the catalogue's words. Only a study file, which resolves into plans, points the other way.
//!
//! Not here: files, clocks, sockets, processes, text for a terminal. A function in this room gives the same answer
//! for the same arguments, always.

pub mod calendar;
pub mod catalogue;
pub mod checked;
pub mod document;
pub mod outside;
pub mod problem;
pub mod process;
pub mod progress;
pub mod random;
pub mod record;
pub mod signal;
pub mod units;

pub use catalogue::Catalogue;
pub use catalogue::fault_file::FaultFile;
pub use catalogue::kit::{Acknowledge, ConnectionPolicy, KitManifest, Resend};
pub use catalogue::link_file::LinkFile;
pub use catalogue::mix::Mix;
pub use catalogue::qos::QosTarget;
pub use catalogue::recipe::Recipe;
pub use catalogue::rules::{Rule, RuleFile};
pub use catalogue::server_job::{Asked, CounterJob, ServerJob, StatusJob, StatusPlace};
pub use catalogue::service::ServiceManifest;
pub use catalogue::setting::{Setting, Value};
pub use catalogue::stack::StackManifest;
pub use catalogue::study_file::StudyFile;
pub use catalogue::study_file::resolve::SweepPlan;
pub use catalogue::think::Distribution;
pub use catalogue::topology_file::TopologyFile;
pub use checked::Checked;
pub use problem::{Kind, Place, Problem, Problems, Result};
pub use process::ProcessIdentity;
pub use record::diagnosis::{Diagnosis, Doing, SignalSummary};
pub use record::hit::HitRecord;
pub use record::interval::{ErrorKind, Interval, OperationInterval, OperationKind};
pub use record::memory_kill::MemoryKill;
pub use record::plan::Plan;
pub use record::study::{StudyRecord, Trial};
pub use record::{Check, RunRecord};
pub use signal::{Signal, SignalRegistry, Subject};
