//! What moved the target that holds a load line.

use analysis::moved::{Effect, Moved};
use model::record::line_proof::{Intervention, InterventionAbout, LineProof, Move};
use model::record::study::By;

use model::units::number;

/// What follows from the interventions.
pub fn line_proof(moves: &[Move]) -> String {
    if moves.is_empty() {
        return "Nothing of this stack could be changed to see what holds the line.".to_string();
    }
    format!("{}.", conclusion(moves))
}

/// What the moves of a proof are about: ``At 191 users, `p95 < 2 s` against the stack as it is``.
pub fn moved_target(proof: &LineProof) -> String {
    let unit = if proof.by == By::Users { "users" } else { "arrivals/s" };
    format!("At {} {unit}, `{}` against the stack as it is", number(proof.load), proof.target)
}

/// `1.3 times (1.2 to 1.5) with 15 % less CPU time for db`.
pub fn target_move(one: &Move) -> String {
    let what = intervention(&one.intervention);
    let Some(margin) = one.margin else { return format!("not known with {what}: no trial could be paired") };
    let interval = one.interval.map_or(", too few pairs for an interval".to_string(), |(low, high)| {
        format!(" ({} to {})", number(low.exp()), number(high.exp()))
    });
    format!("{} times{interval} with {what}", number(margin.exp()))
}

/// What an intervention is: `twice the size of the pools that were full (web.MaxRequestWorkers=300)`.
pub fn intervention(one: &Intervention) -> String {
    let set: Vec<String> = one.set.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let set = set.join(", ");
    match &one.about {
        InterventionAbout::Pools => format!("twice the size of the pools that were full ({set})"),
        InterventionAbout::Cpu { tier } => format!("15 % less CPU time for {tier} ({set})"),
        InterventionAbout::Suspect { .. } => set,
    }
}

fn conclusion(moves: &[Move]) -> String {
    let of = |effect| moves.iter().find(move |one| effect_of(one) == effect);
    let of_cpu = moves.iter().find_map(|one| match &one.intervention.about {
        InterventionAbout::Cpu { tier } if effect_of(one) == Effect::Lowers => Some(tier),
        _ => None,
    });
    match (of(Effect::Raises), of_cpu) {
        (Some(helps), cpu) => {
            let what = match &helps.intervention.about {
                InterventionAbout::Pools => "the pools that were full".to_string(),
                InterventionAbout::Suspect { tier, resource } => format!("{tier}, {resource}"),
                InterventionAbout::Cpu { tier } => format!("the CPU time of {tier}"),
            };
            let line = helps.line_factor.map(|factor| {
                format!(": by this target alone it would be up to {} times as high", number(factor))
            });
            let beside = cpu
                .map(|tier| format!("; the CPU time of {tier} matters, too, but comes after that"))
                .unwrap_or_default();
            format!("What holds the line is {what}{}{beside}", line.unwrap_or_default())
        }
        (None, Some(tier)) => {
            format!(
                "The CPU time of {tier} holds the line: with less of it the line comes down, and nothing else that was tried moves it up"
            )
        }
        (None, None) => "What was tried doesn't tell what holds the line".to_string(),
    }
}

fn effect_of(one: &Move) -> Effect {
    let Move { margin, interval, line_factor, pairs, .. } = one;
    Moved { margin: *margin, interval: *interval, line_factor: *line_factor, pairs: *pairs }.effect()
}

#[cfg(test)]
mod tests {
    use model::Value;
    use model::catalogue::setting::Values;

    use super::*;

    fn change(about: InterventionAbout, knob: &str, margin: f64, line_factor: Option<f64>) -> Move {
        let set = Values::from([(knob.to_string(), Value::Int(300))]);
        let interval = Some((margin - 0.05, margin + 0.05));
        Move {
            intervention: Intervention { about, set },
            margin: Some(margin),
            interval,
            line_factor,
            pairs: 5,
        }
    }

    #[test]
    fn a_pool_that_moves_the_line_holds_it_though_the_cpu_matters_too() {
        let pools = change(InterventionAbout::Pools, "web.MaxRequestWorkers", -2.0, Some(1.5));
        let cpu = change(InterventionAbout::Cpu { tier: "db".into() }, "db.cgroup.cpu", 0.4, Some(0.9));
        assert_eq!(
            line_proof(&[pools.clone(), cpu]),
            "What holds the line is the pools that were full: by this target alone it would be up to 1.5 times as high; the CPU \
             time of db matters, too, but comes after that."
        );
        let with = "twice the size of the pools that were full (web.MaxRequestWorkers=300)";
        assert_eq!(target_move(&pools), format!("0.135 times (0.129 to 0.142) with {with}"));
    }

    #[test]
    fn where_only_less_cpu_time_moves_the_target_the_cpu_holds_the_line() {
        let pools = change(InterventionAbout::Pools, "web.MaxRequestWorkers", 0.01, Some(1.0));
        let cpu = change(InterventionAbout::Cpu { tier: "db".into() }, "db.cgroup.cpu", 0.4, Some(0.9));
        let said = line_proof(&[pools, cpu]);
        assert!(said.starts_with("The CPU time of db holds the line: with less of it"), "{said}");
    }

    #[test]
    fn what_tells_nothing_is_said_to_tell_nothing() {
        let about = InterventionAbout::Suspect { tier: "web".into(), resource: "keep-alive".into() };
        let vague = Move { interval: None, ..change(about, "web.KeepAlive", -0.3, None) };
        assert!(target_move(&vague).contains("too few pairs"), "{}", target_move(&vague));
        assert_eq!(line_proof(&[vague]), "What was tried doesn't tell what holds the line.");
        assert!(line_proof(&[]).starts_with("Nothing of this stack could be changed"));
    }
}
