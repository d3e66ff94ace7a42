//! What a declaration of sessions means, and every mistake in one.

use super::*;

fn sessions(text: &str) -> Sessions {
    toml::from_str(text).expect("right TOML")
}

fn problem_of(text: &str) -> String {
    sessions(text).resolve().expect_err("it holds mistakes").to_string()
}

/// Olio's matrix, percent (Sun 2008): HomePage, Login, TagSearch, EventDetail, PersonDetail, AddPerson, AddEvent.
const OLIO: &str = "[matrix]
    first = 'home'
    total = 100
    rows.home = { login = 11, search = 52, event = 36, add_person = 1 }
    rows.login = { search = 60, event = 20, add_event = 20 }
    rows.search = { home = 21, login = 6, search = 41, event = 31, add_person = 1 }
    rows.event = { home = 72, login = 21, person = 6, add_person = 1 }
    rows.person = { home = 52, login = 6, event = 31, person = 11 }
    rows.add_person = { person = 100 }
    rows.add_event = { event = 100 }";

#[test]
fn weights_become_probabilities_in_the_order_of_the_names() {
    let mix = sessions("mix = { write = 1, read = 3 }").resolve().expect("right weights");
    assert_eq!(mix.names, ["read", "write"]);
    assert_eq!(mix.order, Order::Weights(vec![0.75, 0.25]));
    assert_eq!((mix.cells(), mix.shares()), (2, vec![0.75, 0.25]));
}

#[test]
fn a_sequence_may_name_a_session_twice() {
    let mix = sessions("sequence = ['read', 'write', 'read', 'read']").resolve().expect("a right sequence");
    assert_eq!(mix.order, Order::Sequence(vec![0, 1, 0, 0]));
    assert_eq!(mix.shares(), [0.75, 0.25]);
}

#[test]
fn the_shares_of_a_matrix_are_its_stationary_distribution() {
    let mix = sessions(OLIO).resolve().expect("a right matrix");
    let shares = mix.shares();
    assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-9);
    for (name, percent) in
        [("home", 26.15), ("login", 10.22), ("search", 33.45), ("event", 24.68), ("person", 2.61)]
    {
        let at = mix.names.iter().position(|found| found == name).expect("a session of the matrix");
        assert!((100.0 * shares[at] - percent).abs() < 0.006, "{name}: {} %", 100.0 * shares[at]);
    }
    let Order::Matrix { first, rows } = &mix.order else { panic!("{:?}", mix.order) };
    assert_eq!(mix.names[*first], "home");
    for (next, share) in shares.iter().enumerate() {
        let inflow: f64 = shares.iter().zip(rows).map(|(from, row)| from * row[next]).sum();
        assert!((inflow - share).abs() < 1e-9, "{}: {inflow} comes, {share} leaves", mix.names[next]);
    }
    let periodic = sessions("[matrix]\nfirst = 'a'\nrows.a = { b = 1 }\nrows.b = { a = 1 }").resolve();
    let shares = periodic.expect("a right matrix").shares();
    assert!(shares.iter().all(|share| (share - 0.5).abs() < 1e-6), "{shares:?}");
}

#[test]
fn a_row_may_be_off_by_what_rounding_leaves() {
    let thirds = "[matrix]\nfirst = 'a'\nrows.a = { a = 0.333, b = 0.333, c = 0.333 }
        rows.b = { a = 1 }\nrows.c = { a = 1 }";
    let mix = sessions(thirds).resolve().expect("0.999 is 1 rounded");
    let Order::Matrix { rows, .. } = mix.order else { panic!("a matrix") };
    assert!((rows[0][0] - 1.0 / 3.0).abs() < 1e-12, "the row is scaled to sum to 1: {:?}", rows[0]);
}

#[test]
fn all_mistakes_of_a_matrix_are_told_at_once() {
    let told = problem_of(
        "[matrix]\nfirst = 'hom'\nrows.home = { home = 0.5, search = 0.6 }
        rows.search = { home = 1.5, detal = -0.5 }\nrows.detail = { home = 1 }",
    );
    for part in [
        "matrix.first: `hom` has no row",
        "matrix.rows.search: `detal` has no row",
        "`detail`",
        "matrix.rows.home: the row sums to 1.1, not to 1",
        "matrix.rows.search: `detal` can't be next with -0.5",
        "matrix.rows.detail: no user ever comes to `detail`",
    ] {
        assert!(told.contains(part), "{part} is missing in:\n{told}");
    }
}

#[test]
fn one_way_of_choosing_is_declared() {
    assert!(problem_of("").contains("no session is named"));
    assert!(problem_of("mix = { a = 1 }\nsequence = ['a']").contains("mix and sequence exclude each other"));
    assert!(problem_of("mix = { a = 0 }").contains("no session of the mix has a weight greater than 0"));
    assert!(problem_of("mix = { a = -1, b = 2 }").contains("mix.a: a weight is 0 or more, not -1"));
}
