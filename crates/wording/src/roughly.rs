//! Times that are guesses, for the lines below a study's progress and its plan.

/// Rounded as a guess is: `40 s`, `4 min`, `2.0 h`.
pub fn roughly(seconds: f64) -> String {
    match seconds {
        s if s < 90.0 => format!("{:.0} s", (s / 10.0).ceil() * 10.0),
        s if s < 5400.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_rounded_as_guesses_are() {
        assert_eq!([31.0, 100.0, 7_200.0].map(roughly), ["40 s", "2 min", "2.0 h"]);
    }
}
