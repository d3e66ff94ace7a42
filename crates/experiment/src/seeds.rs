//! Seeds and orders drawn from a study's seed: the same seed gives the same ones, always.

/// A seed for the `number`th thing of its kind. (The finaliser of SplitMix64, Steele, Lea and Flood 2014: neighbours get
/// unrelated seeds.)
pub(crate) fn derived(seed: u64, number: u64) -> u64 {
    let mut z = seed.wrapping_add(number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// 0, 1, …, `count` − 1 in an order drawn at random (Fisher and Yates 1938, from the end as Durstenfeld 1964 does).
pub(crate) fn shuffled(seed: u64, count: usize) -> Vec<usize> {
    let mut list: Vec<usize> = (0..count).collect();
    for end in (1..count).rev() {
        let drawn = u128::from(derived(seed, end as u64)) * (end as u128 + 1);
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
