//! The nouns and units of Plimsoll (layer 0): what a kit, a service, a stack, a recipe, a plan, a run's record,
//! a verdict and a problem *are*.
//!
//! The principal types are [`Plan`], everything that a run needs, resolved and costed before anything starts,
//! [`RunRecord`], everything that a run said, and [`StudyRecord`], everything that many runs said together. Every other
//! room speaks in these words.
//!
//! Not here: files, clocks, sockets, processes, text for a terminal. A function in this room gives the same answer
//! for the same arguments, always.

pub mod calendar;
pub mod catalogue;
pub mod diagnosis;
pub mod document;
pub mod fault_file;
pub mod hit;
pub mod interval;
pub mod kit;
pub mod load;
pub mod memory_kill;
pub mod mix;
pub mod outside;
pub mod plan;
pub mod problem;
pub mod qos;
pub mod random;
pub mod recipe;
pub mod record;
pub mod rules;
pub mod server_job;
pub mod service;
pub mod setting;
pub mod signal;
pub mod stack;
pub mod study;
pub mod study_file;
pub mod think;
pub mod tier_setting;
pub mod units;

pub use catalogue::Catalogue;
pub use diagnosis::{Diagnosis, Doing, SignalSummary};
pub use fault_file::FaultFile;
pub use hit::HitRecord;
pub use interval::{ErrorKind, Interval, OperationInterval, OperationKind};
pub use kit::{Acknowledge, ConnectionPolicy, KitManifest, Resend};
pub use memory_kill::MemoryKill;
pub use mix::Mix;
pub use plan::Plan;
pub use problem::{Kind, Place, Problem, Problems, Result};
pub use qos::QosTarget;
pub use recipe::Recipe;
pub use record::{Check, RunRecord};
pub use rules::{Rule, RuleFile};
pub use server_job::{Asked, CounterJob, ServerJob, StatusJob, StatusPlace};
pub use service::ServiceManifest;
pub use setting::{Setting, Value};
pub use signal::{Signal, SignalRegistry, Subject};
pub use stack::StackManifest;
pub use study::{StudyRecord, Trial};
pub use study_file::StudyFile;
pub use study_file::resolve::SweepPlan;
pub use think::Distribution;
