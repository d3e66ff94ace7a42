//! The bookstore's three matrices, entry by entry: the specification's thresholds, and the counts that the kit
//! makes of them. Shares of interactions alone would let two small entries change places.

use std::collections::BTreeMap;

use kit::Kit;

use crate::shop::catalogue;

/// The states in the order of the specification's rows, and of its columns.
const STATES: [&str; 14] = [
    "AdminConfirm",
    "AdminRequest",
    "BestSellers",
    "BuyConfirm",
    "BuyRequest",
    "CustomerRegistration",
    "Home",
    "NewProducts",
    "OrderDisplay",
    "OrderInquiry",
    "ProductDetail",
    "SearchRequest",
    "SearchResults",
    "ShoppingCart",
];

/// Of a number drawn from 1 to 9,999 the next state is the first one whose threshold is not below it; 0 stands for
/// none.
type Thresholds = [[u32; 14]; 14];

const BROWSING: Thresholds = [
    [0, 0, 0, 0, 0, 0, 9877, 0, 0, 0, 0, 9999, 0, 0],
    [8999, 0, 0, 0, 0, 0, 9999, 0, 0, 0, 0, 0, 0, 0],
    [0, 0, 0, 0, 0, 0, 4607, 0, 0, 0, 5259, 9942, 0, 9999],
    [0, 0, 0, 0, 0, 0, 342, 0, 0, 0, 0, 9999, 0, 0],
    [0, 0, 0, 9199, 0, 0, 9595, 0, 0, 0, 0, 0, 0, 9999],
    [0, 0, 0, 0, 9145, 0, 9619, 0, 0, 0, 0, 9999, 0, 0],
    [0, 0, 3792, 0, 0, 0, 0, 7585, 0, 7688, 0, 9559, 0, 9999],
    [0, 0, 0, 0, 0, 0, 299, 0, 0, 0, 9867, 9941, 0, 9999],
    [0, 0, 0, 0, 0, 0, 802, 0, 0, 0, 0, 9999, 0, 0],
    [0, 0, 0, 0, 0, 0, 523, 0, 8856, 0, 0, 9999, 0, 0],
    [0, 47, 0, 0, 0, 0, 8346, 0, 0, 0, 9749, 9890, 0, 9999],
    [0, 0, 0, 0, 0, 0, 788, 0, 0, 0, 0, 0, 9955, 9999],
    [0, 0, 0, 0, 0, 0, 3674, 0, 0, 0, 9868, 9942, 0, 9999],
    [0, 0, 0, 0, 0, 4099, 8883, 0, 0, 0, 0, 0, 0, 9999],
];

/// With 9,552 from Shopping Cart to Home, where the well-known Java kit has 9,992 by a slip.
const SHOPPING: Thresholds = [
    [0, 0, 0, 0, 0, 0, 9952, 0, 0, 0, 0, 9999, 0, 0],
    [8999, 0, 0, 0, 0, 0, 9999, 0, 0, 0, 0, 0, 0, 0],
    [0, 0, 0, 0, 0, 0, 167, 0, 0, 0, 472, 9927, 0, 9999],
    [0, 0, 0, 0, 0, 0, 84, 0, 0, 0, 0, 9999, 0, 0],
    [0, 0, 0, 4614, 0, 0, 6546, 0, 0, 0, 0, 0, 0, 9999],
    [0, 0, 0, 0, 8666, 0, 8760, 0, 0, 0, 0, 9999, 0, 0],
    [0, 0, 3124, 0, 0, 0, 0, 6249, 0, 6718, 0, 7026, 0, 9999],
    [0, 0, 0, 0, 0, 0, 156, 0, 0, 0, 9735, 9784, 0, 9999],
    [0, 0, 0, 0, 0, 0, 69, 0, 0, 0, 0, 9999, 0, 0],
    [0, 0, 0, 0, 0, 0, 72, 0, 8872, 0, 0, 9999, 0, 0],
    [0, 58, 0, 0, 0, 0, 832, 0, 0, 0, 1288, 8603, 0, 9999],
    [0, 0, 0, 0, 0, 0, 635, 0, 0, 0, 0, 0, 9135, 9999],
    [0, 0, 0, 0, 0, 0, 2657, 0, 0, 0, 9294, 9304, 0, 9999],
    [0, 0, 0, 0, 0, 2585, 9552, 0, 0, 0, 0, 0, 0, 9999],
];

const ORDERING: Thresholds = [
    [0, 0, 0, 0, 0, 0, 8348, 0, 0, 0, 0, 9999, 0, 0],
    [8999, 0, 0, 0, 0, 0, 9999, 0, 0, 0, 0, 0, 0, 0],
    [0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 333, 9998, 0, 9999],
    [0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 9999, 0, 0],
    [0, 0, 0, 7999, 0, 0, 9453, 0, 0, 0, 0, 0, 0, 9999],
    [0, 0, 0, 0, 9899, 0, 9901, 0, 0, 0, 0, 9999, 0, 0],
    [0, 0, 499, 0, 0, 0, 0, 999, 0, 1269, 0, 1295, 0, 9999],
    [0, 0, 0, 0, 0, 0, 504, 0, 0, 0, 9942, 9976, 0, 9999],
    [0, 0, 0, 0, 0, 0, 9939, 0, 0, 0, 0, 9999, 0, 0],
    [0, 0, 0, 0, 0, 0, 1168, 0, 9968, 0, 0, 9999, 0, 0],
    [0, 99, 0, 0, 0, 0, 3750, 0, 0, 0, 5621, 6341, 0, 9999],
    [0, 0, 0, 0, 0, 0, 815, 0, 0, 0, 0, 0, 9815, 9999],
    [0, 0, 0, 0, 0, 0, 486, 0, 0, 0, 7817, 9998, 0, 9999],
    [0, 0, 0, 0, 0, 9499, 9918, 0, 0, 0, 0, 0, 0, 9999],
];

/// How many of the 9,999 numbers lead from a state to each other one.
fn counts(row: &[u32; 14]) -> BTreeMap<String, f64> {
    let mut below = 0;
    let mut counts = BTreeMap::new();
    for (state, threshold) in STATES.iter().zip(row).filter(|(_, threshold)| **threshold > 0) {
        counts.insert(state.to_string(), f64::from(threshold - below));
        below = *threshold;
    }
    counts
}

#[test]
fn each_entry_of_the_three_matrices_is_the_specification_s() {
    let kit = Kit::open(&catalogue(), "tpcw").expect("the kit is right");
    let all = kit.manifest.all_sessions();
    let mixes = [("mixes.browsing.", BROWSING), ("", SHOPPING), ("mixes.ordering.", ORDERING)];
    for (prefix, thresholds) in mixes {
        let (_, sessions, _) = all.iter().find(|(key, _, _)| key == prefix).expect("the mix is there");
        let matrix = sessions.matrix.as_ref().expect("each mix is a matrix");
        for (state, row) in STATES.iter().zip(&thresholds) {
            assert_eq!(matrix.rows[*state], counts(row), "{prefix} {state}");
        }
    }
}
