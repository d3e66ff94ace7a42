//! Seeds and orders drawn from a study's seed: the same seed gives the same ones, always.

use model::random::Random;

/// 0, 1, …, `count` − 1 in an order drawn at random (Fisher and Yates 1938, from the end as Durstenfeld 1964 does).
pub(crate) fn shuffled(seed: u64, count: usize) -> Vec<usize> {
    let mut list: Vec<usize> = (0..count).collect();
    for end in (1..count).rev() {
        let drawn = u128::from(Random::nth(seed, end as u64)) * (end as u128 + 1);
        list.swap(end, (drawn >> 64) as usize);
    }
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_order_of_three_is_about_as_likely() {
        let mut seen = std::collections::BTreeMap::new();
        for seed in 0..6000 {
            *seen.entry(shuffled(seed, 3)).or_insert(0) += 1;
        }
        assert_eq!(seen.len(), 6, "{seen:?}");
        assert!(seen.values().all(|count| (850..1150).contains(count)), "{seen:?}");
    }
}
