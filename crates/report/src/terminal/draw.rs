//! Bars and sparklines of block characters.

/// A bar of `share` (0 to 1) of `width` characters, to an eighth of one.
pub(super) fn bar(share: f64, width: usize) -> String {
    const PARTS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let share = if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 };
    let eighths = (share * width as f64 * 8.0).round() as usize;
    format!("{}{}", "█".repeat(eighths / 8), PARTS[eighths % 8])
}

/// Values as blocks of eight heights between 0 and the largest, at most `width` of them: neighbours are averaged. A
/// blank is a gap.
pub(super) fn sparkline(values: &[Option<f64>], width: usize) -> String {
    const HEIGHTS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let values = fit(values, width);
    let top = values.iter().flatten().copied().fold(0.0, f64::max);
    let height = |value: &Option<f64>| match value {
        Some(value) if top > 0.0 => HEIGHTS[((value / top * 8.0).ceil() as usize).clamp(1, 8) - 1],
        Some(_) => HEIGHTS[0],
        None => ' ',
    };
    values.iter().map(height).collect()
}

/// At most `width` values, each the mean of its neighbours.
fn fit(values: &[Option<f64>], width: usize) -> Vec<Option<f64>> {
    let cells = width.min(values.len());
    let mean = |cell: usize| {
        let part = &values[cell * values.len() / cells..(cell + 1) * values.len() / cells];
        let known: Vec<f64> = part.iter().flatten().copied().collect();
        (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64)
    };
    (0..cells).map(mean).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_as_long_as_its_share() {
        assert_eq!(bar(0.5, 4), "██");
        assert_eq!(bar(0.53, 4), "██▏");
        assert_eq!(
            (bar(-1.0, 4).as_str(), bar(2.0, 4).as_str(), bar(f64::NAN, 4).as_str()),
            ("", "████", "")
        );
    }

    #[test]
    fn a_sparkline_begins_at_zero_and_shows_gaps() {
        assert_eq!(sparkline(&[Some(0.0), Some(4.0), None, Some(8.0)], 10), "▁▄ █");
        assert_eq!(sparkline(&[Some(2.0), Some(2.0), Some(8.0), Some(8.0)], 2), "▂█");
        assert_eq!(sparkline(&[], 10), "");
        assert_eq!(sparkline(&[Some(0.0)], 10), "▁");
    }
}
