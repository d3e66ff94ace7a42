//! Changes as people read them: in percent, and as a factor where that has too many digits.

use super::Change;
use crate::study::words;

/// From this ratio on a change is a factor.
const FACTOR: f64 = 10.0;

impl Change {
    /// `-26 %`, `×171`.
    pub(crate) fn shown(&self) -> String {
        let ratio = ratio(self.percent);
        if ratio < FACTOR { words::change(ratio) } else { factor(ratio) }
    }

    /// `[-28, -23]`, `[×157, ×185]`: its interval.
    pub(crate) fn ends(&self) -> Option<String> {
        let (low, high) = self.low_percent.zip(self.high_percent)?;
        let end = |percent: f64| match ratio(percent) {
            ratio if ratio < FACTOR => words::change(ratio).trim_end_matches(" %").to_string(),
            ratio => factor(ratio),
        };
        Some(format!("[{}, {}]", end(low), end(high)))
    }
}

fn ratio(percent: f64) -> f64 {
    1.0 + percent / 100.0
}

fn factor(ratio: f64) -> String {
    if ratio < 99.5 { format!("×{ratio:.1}") } else { format!("×{ratio:.0}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_in_percent_up_to_ten_times_as_much_and_a_factor_from_there_on() {
        let change = |percent: f64, low: f64, high: f64| Change {
            percent,
            low_percent: Some(low),
            high_percent: Some(high),
            judged: None,
        };
        let small = change(-25.6, -27.9, 3.04);
        assert_eq!((small.shown(), small.ends()), ("-26 %".into(), Some("[-28, +3.0]".into())));
        let large = change(16_981.0, 800.0, 18_437.0);
        assert_eq!((large.shown(), large.ends()), ("×171".into(), Some("[+800, ×185]".into())));
        assert_eq!(Change { low_percent: None, ..small }.ends(), None);
    }
}
