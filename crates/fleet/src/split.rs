//! Which agent drives which users.

use engine::Slice;

/// The slices of agents with these weights (their generators' CPUs, say), in their order, of a load with that number of places.
/// There are as many lanes as all weights come to, or as there are places, where these are fewer. An agent for which no lane is
/// left has none.
pub fn slices(weights: &[u32], places: u32) -> Vec<Option<Slice>> {
    let sum: u64 = weights.iter().map(|weight| u64::from(*weight)).sum();
    let all = sum.min(places.into());
    let mut before = 0u64;
    let mut slice = |weight: &u32| {
        // What the weights up to here come to of the lanes: so no lane is lost or given twice by rounding.
        let first = before * all / sum.max(1);
        before += u64::from(*weight);
        let end = before * all / sum.max(1);
        // Neither is more than `places`.
        (end > first).then(|| Slice { first: first as u32, lanes: (end - first) as u32, all: all as u32 })
    };
    weights.iter().map(&mut slice).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_are_dealt_out_by_weight_and_in_the_order_of_the_agents() {
        let slice = |first, lanes, all| Some(Slice { first, lanes, all });
        assert_eq!(slices(&[2, 1, 1], 100), [slice(0, 2, 4), slice(2, 1, 4), slice(3, 1, 4)]);
        assert_eq!(slices(&[3, 0, 1], 100), [slice(0, 3, 4), None, slice(3, 1, 4)]);
        assert_eq!(slices(&[1], 1), [slice(0, 1, 1)]);
    }

    #[test]
    fn every_lane_is_one_agent_s_however_few_users_there_are() {
        for places in 0..40 {
            for weights in [&[4, 4, 4][..], &[1, 30, 2], &[7], &[0, 0], &[]] {
                let found = slices(weights, places);
                let all = weights.iter().sum::<u32>().min(places);
                let mut next = 0;
                for slice in found.iter().flatten() {
                    assert_eq!((slice.first, slice.all), (next, all), "{weights:?}, {places} places");
                    next += slice.lanes;
                }
                assert_eq!((next, found.len()), (all, weights.len()), "{weights:?}, {places} places");
            }
        }
    }
}
