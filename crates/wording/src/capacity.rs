//! What is said of a population beside what a run showed.

use analysis::capacity::{CONFIDENCE_RATIO, Capacity, Conclusion, Population};
use model::record::RunRecord;
use model::units::{number, percent};

/// The population, what the run showed of it, and the answer.
pub fn whole(asked: &Population, found: &Capacity, record: &RunRecord) -> String {
    let setup = &record.setup;
    format!(
        "{}.\nRun {} ({} on {}, {}) showed {}: {}.",
        population(asked),
        record.id,
        setup.kit,
        setup.stack,
        setup.load_headline(),
        shown(found),
        answer(found)
    )
}

/// `10 000 users with 24 transactions a day each make 240 000 a day: 13.9/s at a peak of 5 times the mean`.
fn population(asked: &Population) -> String {
    format!(
        "{} users with {} transactions a day each make {} a day: {}/s at a peak of {} times the mean",
        number(asked.users),
        number(asked.per_user_per_day),
        number(asked.per_day()),
        number(asked.peak_per_s()),
        number(asked.peak_factor)
    )
}

/// `30.2/s [29.8, 30.6] (95 % interval)`: what the run showed.
fn shown(found: &Capacity) -> String {
    let value = number(found.shown_per_s);
    match found.interval_per_s {
        Some((low, high)) => {
            let sure = percent(CONFIDENCE_RATIO);
            format!("{value}/s [{}, {}] ({sure} interval)", number(low), number(high))
        }
        None => format!("{value}/s, without an interval: its steady state is too short for one"),
    }
}

/// Whether that is enough, with the margin, and how many users would be.
pub fn answer(found: &Capacity) -> String {
    match found.conclusion {
        Conclusion::Carries => format!("it carries them: the peak leaves {}", margin(found)),
        Conclusion::TooMany => format!(
            "they are too many: the peak needs {} times what it showed; {}; what more load would show is not known",
            number(found.needed_per_s / found.shown_per_s),
            enough(found)
        ),
        Conclusion::TargetsMissed => format!(
            "it can't be said to carry them: the peak leaves {}, but the run missed its targets; a run that meets them \
             says more",
            margin(found)
        ),
        Conclusion::Open if found.interval_per_s.is_none() => {
            "nothing is sure without an interval: repeat the run with a longer steady state".to_string()
        }
        Conclusion::Open => {
            format!("it can't be said: the peak lies within the interval; {}, or a longer run", enough(found))
        }
    }
}

/// `54 % of it [53 %, 55 %]`.
fn margin(found: &Capacity) -> String {
    let ends = found.margin_interval.map(|(low, high)| format!(" [{}, {}]", percent(low), percent(high)));
    format!("{} of it{}", percent(found.margin_ratio), ends.unwrap_or_default())
}

/// The number of users who are certainly carried: by the lower end of the interval.
fn enough(found: &Capacity) -> String {
    let most = found.users_interval.map_or(found.users, |(fewest, _)| fewest);
    format!("up to {} such users are within it", number(most.floor()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use analysis::capacity::capacity;
    use model::record::study::Figure;

    const TOWN: Population = Population { users: 10_000.0, per_user_per_day: 24.0, peak_factor: 5.0 };

    fn sentence(value: f64, log_se: Option<f64>, pass: Option<bool>) -> String {
        let figure =
            Figure { name: "throughput".to_string(), operation: None, value, log_se, degrees: Some(9.0) };
        let found = capacity(&TOWN, &figure, pass).expect("both are positive");
        format!("{}; {}", shown(&found), answer(&found))
    }

    #[test]
    fn a_population_is_told_with_its_day_and_its_peak() {
        let told = "10 000 users with 24 transactions a day each make 240 000 a day: 13.9/s at a peak of 5 times the mean";
        assert_eq!(population(&TOWN), told);
    }

    #[test]
    fn every_answer_says_how_far_it_is_from_the_other_one() {
        let carried = sentence(30.2, Some(0.005), Some(true));
        assert!(carried.starts_with("30.2/s [29.9, 30.5] (95 % interval); it carries them: "), "{carried}");
        assert!(carried.ends_with("the peak leaves 54 % of it [53 %, 55 %]"), "{carried}");
        let short = sentence(10.0, Some(0.005), Some(true));
        assert!(short.contains("they are too many: the peak needs 1.39 times what it showed"), "{short}");
        let end = "up to 7 119 such users are within it; what more load would show is not known";
        assert!(short.ends_with(end), "{short}");
        let missed = sentence(30.2, Some(0.005), Some(false));
        assert!(missed.contains("it can't be said to carry them") && missed.contains("missed"), "{missed}");
        let open = sentence(13.9, Some(0.005), None);
        assert!(open.contains("the peak lies within the interval"), "{open}");
        let bare = sentence(30.2, None, Some(true));
        assert!(bare.contains("without an interval") && bare.contains("longer steady state"), "{bare}");
    }
}
