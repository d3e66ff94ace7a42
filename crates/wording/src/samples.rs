//! How many samples there are or can be, and which length would give enough.

use analysis::{ExpectedSamples, Samples};
use model::units::number;

use crate::asking::Asking;

/// Seconds of steady state to ask for where there are just enough after `enough_after_s`: a tenth more, in steps of five.
pub fn length_s(enough_after_s: f64) -> f64 {
    (enough_after_s * 1.1 / 5.0).ceil() * 5.0
}

/// What the check of samples says.
pub(crate) fn checked(samples: &Samples, asking: Asking) -> String {
    let (target, samples, needed, enough_after_s) = match samples {
        Samples::NoTarget => return "no target asks for samples".to_string(),
        Samples::Enough { fewest } => {
            return format!("every target has the samples it needs (the fewest: {})", number(*fewest as f64));
        }
        Samples::Lacking { target, samples, needed, enough_after_s } => {
            (target, *samples, *needed, *enough_after_s)
        }
    };
    let Some(enough_after_s) = enough_after_s else {
        let what = target.operation.as_deref().unwrap_or("an operation");
        return format!("`{target}` can't be judged: {what} never completed in the steady state");
    };
    format!(
        "`{target}` needs {} samples and has {}; about {:.0} s of steady state would give them ({})",
        number(needed as f64),
        number(samples as f64),
        length_s(enough_after_s),
        asking.longer()
    )
}

/// Before users come: the target that will lack most samples and what to do about it, an estimate; nothing where none will.
pub fn expected(all: &[ExpectedSamples], asking: Asking) -> Option<String> {
    let short = || all.iter().filter(|one| one.is_short());
    let worst = rarest(all)?;
    let ExpectedSamples { target, needed, expected, enough_after_s, at_least } = worst;
    let aside: Vec<String> = aside(all).iter().map(|name| format!("--qos 'without {name}'")).collect();
    let others = match short().count() - 1 {
        0 => String::new(),
        1 => ", and one more target lacks some".to_string(),
        more => format!(", and {more} more targets lack some"),
    };
    let set_aside = match aside.is_empty() {
        true => String::new(),
        false => format!(", or {} leaves it unjudged", aside.join(" ")),
    };
    let few = format!(
        "`{target}` needs {} samples, and by the mix and the pauses there will be about {} at most{others}",
        number(*needed as f64),
        number(expected.floor())
    );
    Some(match enough_after_s {
        None => format!(
            "estimate: {few}, however long the run: no user gets there in the steady state{set_aside}"
        ),
        Some(after_s) => {
            let length_s = length_s(*after_s);
            let about = if *at_least { "at least " } else { "about " };
            format!(
                "estimate: {few}: it needs {about}{length_s:.0} s ({} {length_s:.0}s){set_aside}",
                asking.longer()
            )
        }
    })
}

/// That targets of these operations are left out, because they can't have their samples in `steady_s` seconds.
pub fn left_out(operations: &[String], steady_s: f64) -> String {
    format!(
        "not judged: {}, of which there can't be samples enough in {steady_s:.0} s (an estimate by the mix and the pauses; without \
         --quick they are)",
        operations.join(", ")
    )
}

/// The operations whose targets will lack samples, each once.
pub fn aside(all: &[ExpectedSamples]) -> Vec<String> {
    let mut names: Vec<String> =
        all.iter().filter(|one| one.is_short()).filter_map(|one| one.target.operation.clone()).collect();
    names.sort();
    names.dedup();
    names
}

/// The one that needs the longest.
fn rarest(all: &[ExpectedSamples]) -> Option<&ExpectedSamples> {
    let after_s = |one: &&ExpectedSamples| one.enough_after_s.unwrap_or(f64::INFINITY);
    all.iter().filter(|one| one.is_short()).max_by(|one, other| after_s(one).total_cmp(&after_s(other)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expectation(target: &str, expected: f64, enough_after_s: Option<f64>) -> ExpectedSamples {
        let target: model::QosTarget = target.parse().expect("a target");
        let needed = target.samples_needed();
        ExpectedSamples { target, needed, expected, enough_after_s, at_least: false }
    }

    #[test]
    fn what_will_lack_samples_is_told_with_the_length_and_the_flag_that_leaves_it_out() {
        let enough = expectation("Read p95 < 1s", 900.0, Some(6.0));
        assert_eq!(expected(std::slice::from_ref(&enough), Asking::Run), None);
        let save = expectation("Save p95 < 1s", 34.7, Some(172.0));
        assert_eq!(
            expected(&[enough.clone(), save.clone()], Asking::Run).as_deref(),
            Some(
                "estimate: `Save p95 < 1.00 s` needs 100 samples, and by the mix and the pauses there will be about 34 at most: \
                 it needs about 190 s (--steady 190s), or --qos 'without Save' leaves it unjudged"
            )
        );
        let login = expectation("Login mean < 1s", 0.0, None);
        let all = [enough, save, login];
        let text = expected(&all, Asking::Trial).expect("two are short");
        assert!(
            text.contains("`Login mean < 1.00 s`") && text.contains("and one more target lacks some"),
            "{text}"
        );
        assert!(text.ends_with("--qos 'without Login' --qos 'without Save' leaves it unjudged"), "{text}");
        assert_eq!(aside(&all), ["Login", "Save"]);
    }

    #[test]
    fn after_the_fact_the_same_length_is_named() {
        let target = "Save p95 < 1s".parse().expect("a target");
        let lacking = Samples::Lacking { target, samples: 34, needed: 100, enough_after_s: Some(172.0) };
        assert!(
            checked(&lacking, Asking::Run).contains("about 190 s of steady state"),
            "{}",
            checked(&lacking, Asking::Run)
        );
    }
}
