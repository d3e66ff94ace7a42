//! A trial's run, once it was driven: which of its seconds count, what they say, and what broke.

use model::Result;
use model::catalogue::rules::Rule;
use model::record::plan::Load;
use model::record::study::{Fault, Measured};
use model::record::{Check, Outcome, RunRecord};
use store::{Run, RunWriter};

use crate::judge::{Case, judge, little, series_seen};
use crate::measure::Recording;
use crate::pace::early;
use crate::trial::arm::Task;
use crate::trial::settle::{Ending, Settling};
use crate::trial::verdict;
use crate::window::window;

/// A trial that was driven, kept and judged.
pub(super) struct Driven {
    pub(super) outcome: Outcome,
    pub(super) warm_up_s: Option<f64>,
    pub(super) window_s: f64,
    pub(super) measured: Option<Measured>,
    pub(super) faults: Vec<Fault>,
    /// Where it took turns: answers that were under way when a turn ended, as a share of all requests and operations.
    pub(super) interrupted_ratio: Option<f64>,
    /// The stack can't be used for another trial.
    pub(super) spoilt: bool,
}

impl Driven {
    /// A load that this machine has no room for: the run says so and nothing else.
    pub(super) fn refused(mut record: RunRecord, writer: RunWriter) -> Result<Driven> {
        record.outcome = Outcome::Aborted;
        record.verdict.sentence = wording::invalid(&record.validity);
        writer.finish(&record)?;
        let faults = verdict::faults(&record, false);
        let outcome = Outcome::Completed;
        Ok(Driven {
            outcome,
            warm_up_s: None,
            window_s: 0.0,
            measured: None,
            faults,
            interrupted_ratio: None,
            spoilt: false,
        })
    }

    /// Judges what was recorded by the seconds that count, and keeps it.
    pub(super) fn judge(
        task: &Task,
        recording: &Recording,
        pace: &Settling,
        rules: &[Rule],
        (mut record, writer): (RunRecord, RunWriter),
    ) -> Result<Driven> {
        let (from, to) = pace.window();
        let ending = pace.ending();
        let mut early = early(f64::from(task.ramp_up_s));
        let run = Run::open(writer.directory())?;
        let (steady, batches) = window(&run, (from, to), &mut early)?;
        let series = series_seen(&run, &steady, &early)?;
        let wanted_s = if ending == Some(Ending::Hopeless) { to - from } else { task.window_s };
        let (ramp_up_s, steady_s) = (f64::from(from), f64::from(wanted_s));
        let load = Load { ramp_up_s, steady_s, ..task.plan.load.clone() };
        let unsettled_after_s = (ending == Some(Ending::Unsettled)).then(|| f64::from(to - task.ramp_up_s));
        let case = Case {
            plan: &task.plan,
            load: &load,
            recording,
            run: &run,
            series: &series,
            steady: &steady,
            early: &early,
            rules,
            unsettled_after_s,
            asking: wording::Asking::Trial,
        };
        judge(&case, &mut record)?;
        // What was given up early is short because it was hopeless.
        let settled = matches!(ending, Some(Ending::Settled(_)));
        let only_under_way = settled && little(&load, &steady).lacks_only_what_is_under_way();
        // Judged by the window that was wanted; shown with the one that counts, which may be longer.
        let counted = Load { steady_s: f64::from(to - from), ..load };
        record.setup.ramp_up_s = counted.ramp_up_s;
        record.setup.steady_s = counted.steady_s;
        record.setup.load = Some(counted);
        writer.finish(&record)?;
        let names = &recording.totals.names;
        let foreign_cores = record.generator.foreign_cores;
        let also = analysis::Also {
            percentiles: &task.percentiles,
            metrics: &task.plan.kit.metrics,
            response_times: task.response_times,
        };
        let signals = analysis::tier_signals(&task.signals, &record.signals);
        let measured = analysis::measured_in(&batches, names, &task.plan.qos, &record.tiers, &also)
            .map(|found| Measured { signals, foreign_cores, only_under_way, ..found });
        let faults = verdict::faults(&record, ending == Some(Ending::Unsettled));
        let broken = |fault: &Fault| matches!(fault.check, Check::Tiers | Check::Consistency);
        let spoilt = ending == Some(Ending::Hopeless) || faults.iter().any(broken);
        let warm_up_s = match ending {
            Some(Ending::Settled(warm_up_s)) => Some(f64::from(warm_up_s)),
            Some(Ending::Hopeless) => Some(f64::from(from - task.ramp_up_s)),
            Some(Ending::Unsettled) | None => None,
        };
        let outcome = record.outcome;
        Ok(Driven {
            outcome,
            warm_up_s,
            window_s: steady.length_s(),
            measured,
            faults,
            interrupted_ratio: None,
            spoilt,
        })
    }
}
