//! What a study will do and how long that takes, before it begins.

use model::record::MachineSettingResult;
use model::record::study::{Arm, Compare, Form, Measurement, SweepOrder};
use model::{Plan, SweepPlan, units};

use crate::compare::figure;
use crate::roughly;

/// More cells than this are not listed one by one.
const LISTED: usize = 40;

/// What a sweep will do: its cells, factors, order, and the time, `usual_s` for a cell once.
pub fn sweep(plan: &SweepPlan, usual_s: f64) -> String {
    let sweep = &plan.sweep;
    let mut text = format!("{}: {}\n", sweep.name, sweep.title);
    if !sweep.source.is_empty() {
        text += &format!("Source: {}\n", sweep.source);
    }
    let sizes = sweep.factors.iter().find(|factor| factor.name == "size");
    let size = sizes.map_or(plan.first.size.label.clone(), |factor| factor.levels.join(", "));
    text += &format!("Kit: {} ({size})\n", plan.first.kit.title);
    if let Some(form) = sweep.form {
        text += &format!("Form: {}\n", self::form(form));
    }
    for factor in &sweep.factors {
        text += &format!("Factor {}: {}\n", factor.title, factor.levels.join(", "));
    }
    let cells = plan.arms.len();
    text += &format!("Cells: {cells}\n");
    for arm in plan.arms.iter().take(LISTED) {
        text += &format!("  {}\n", arm.label);
    }
    if cells > LISTED {
        text += &format!("  and {} more\n", cells - LISTED);
    }
    let each = match &sweep.measurement {
        Measurement::Window { window_s } => format!("a window of {window_s:.0} s"),
        Measurement::LoadLine(goal) => {
            format!("a search for the load line of at most {}", roughly(goal.budget_s))
        }
    };
    let order = match sweep.order {
        SweepOrder::Random => "each repeat in a random order of its own",
        SweepOrder::AsWritten => "in the order of the study",
    };
    let measurements = cells as f64 * f64::from(sweep.repeats);
    text += &format!(
        "Measured: {each} for each cell, {} ({order}; seed {})\n",
        if sweep.repeats == 1 { "once".to_string() } else { format!("{} times", sweep.repeats) },
        sweep.seed
    );
    let most = if matches!(sweep.measurement, Measurement::LoadLine(_)) { "At most" } else { "About" };
    text + &format!("{most} {} in all", roughly(measurements * usual_s))
}

/// What is compared, how, and how long it may take.
pub fn compare(compare: &Compare, arms: &[Arm]) -> String {
    let labels: Vec<&str> = arms.iter().map(|arm| arm.label.as_str()).collect();
    let figure = figure(&compare.by);
    let time = compare.max_s.map(|max_s| format!(", at most about {}", roughly(max_s))).unwrap_or_default();
    format!(
        "A: {}\nB: {}\nby the {figure} at {}; up to {} blocks of a trial of each{time} (sooner when it is clear)",
        labels.first().unwrap_or(&"?"),
        labels.get(1).unwrap_or(&"?"),
        compare.load,
        compare.most_blocks,
    )
}

/// Which form of a study is measured.
pub fn form(form: Form) -> &'static str {
    match form {
        Form::Short => "the short one; --full measures it as it was published",
        Form::Full => "the full one, as it was published",
    }
}

/// That tiers may use more CPU time together than there is; nothing where they may not, or not all have a limit.
pub fn too_much_cpu(plan: &Plan) -> Option<String> {
    let cores: Option<f64> = plan.tiers.iter().map(|tier| tier.cpu_limit_cores).sum();
    let (cores, cpus) = (cores?, plan.placement.stack.len());
    (cores > cpus as f64 + 1e-9).then(|| {
        format!(
            "the tiers may use {} cores together, and the stack has {cpus}: when all are busy none gets what its limit says",
            units::number(cores)
        )
    })
}

/// What was changed of the machine, and that it is for a while.
pub fn machine_changed(settings: &[MachineSettingResult]) -> String {
    let one = |setting: &MachineSettingResult| {
        let MachineSettingResult { name, found, set, .. } = setting;
        if found == set {
            format!("{name} is {set} anyway")
        } else {
            format!("{name} {set} instead of {found}")
        }
    };
    let all: Vec<String> = settings.iter().map(one).collect();
    format!("changed on this machine until the run ends: {}", all.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comparison_says_what_it_will_compare_and_how_long_that_may_take() {
        let asked = Compare {
            load: "20 users".to_string(),
            by: "p95".to_string(),
            max_s: Some(1000.0),
            ..Compare::default()
        };
        let arm = |label: &str| Arm {
            label: label.to_string(),
            recipe: model::Recipe::default(),
            levels: Default::default(),
            stored_run: None,
            catalogue: None,
        };
        assert_eq!(
            compare(&asked, &[arm("default"), arm("web.MaxRequestWorkers=64")]),
            "A: default\nB: web.MaxRequestWorkers=64\nby the p95 response time at 20 users; up to 20 blocks of a trial of each, \
             at most about 17 min (sooner when it is clear)"
        );
    }
}
