//! The median of a few values.

/// The middle one of the values, or the mean of the two in the middle; absent without values.
pub fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let upper = values.get(values.len() / 2)?;
    let lower = values.get((values.len() - 1) / 2)?;
    Some((lower + upper) / 2.0)
}

#[cfg(test)]
mod tests {
    use super::median;

    #[test]
    fn the_median_of_an_even_number_is_between_the_two_in_the_middle() {
        let of = |values: &[f64]| median(values.to_vec());
        assert_eq!((of(&[3.0, 1.0, 2.0]), of(&[4.0, 1.0, 2.0, 3.0])), (Some(2.0), Some(2.5)));
        assert_eq!((of(&[7.0]), of(&[])), (Some(7.0), None));
    }
}
