use super::*;
use proptest::prelude::*;

/// Sun, 06 Nov 1994 08:49:37 GMT.
const NOW: i64 = 784_111_777;

fn answer(text: &str) -> impl Iterator<Item = (&[u8], &[u8])> {
    text.lines()
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.as_bytes(), value.as_bytes()))
}

/// Takes note as browsers do.
fn note<'a>(
    cache: &mut Cache,
    target: &[u8],
    status: u16,
    headers: impl Iterator<Item = (&'a [u8], &'a [u8])>,
    now_s: i64,
) {
    cache.note(target, status, headers, now_s, true);
}

fn cache_after(status: u16, headers: &str) -> Cache {
    let mut cache = Cache::default();
    note(&mut cache, b"/a.css", status, answer(headers), NOW);
    cache
}

fn conditions(cache: &Cache) -> String {
    let mut out = Vec::new();
    cache.write_conditions(b"/a.css", &mut out);
    String::from_utf8(out).expect("the test's validators are text")
}

/// For how many seconds `/a.css` is fresh; nothing when it is not known.
fn fresh_s(mut cache: Cache) -> Option<i64> {
    let mut ages = [0, 1, 9, 10, 59, 60, 100, 3600, 864_000].into_iter();
    match cache.look(b"/a.css", NOW) {
        Found::Absent => None,
        _ => Some(ages.find(|age| cache.look(b"/a.css", NOW + age) == Found::Stale).unwrap_or(i64::MAX)),
    }
}

#[test]
fn an_answer_is_fresh_for_as_long_as_it_says() {
    let date = "Date: Sun, 06 Nov 1994 08:49:37 GMT";
    let table = [
        ("Cache-Control: max-age=60".to_string(), Some(60)),
        ("Cache-Control: public, Max-Age=\"60\", must-revalidate".to_string(), Some(60)),
        ("Cache-Control: max-age=60\nAge: 50".to_string(), Some(10)),
        ("Cache-Control: max-age=60\nDate: Sun, 06 Nov 1994 08:48:47 GMT".to_string(), Some(10)),
        ("Cache-Control: max-age=60\nDate: Sun, 06 Nov 1994 09:48:47 GMT".to_string(), Some(60)),
        ("Cache-Control: s-maxage=60, max-age=10".to_string(), Some(10)),
        (format!("{date}\nExpires: Sun, 06 Nov 1994 08:50:37 GMT"), Some(60)),
        ("Expires: Sun, 06 Nov 1994 08:50:37 GMT".to_string(), Some(60)),
        ("Expires: Sun, 06 Nov 1994 08:50:37 GMT\nCache-Control: max-age=10".to_string(), Some(10)),
        ("Cache-Control: max-age=10\nExpires: Sun, 06 Nov 1994 08:50:37 GMT".to_string(), Some(10)),
        // A tenth of 600 s.
        (format!("{date}\nLast-Modified: Sun, 06 Nov 1994 08:39:37 GMT"), Some(60)),
        ("Cache-Control: max-age=99999999999999".to_string(), Some(i64::MAX)),
        ("ETag: \"x\"".to_string(), Some(0)),
        ("ETag: \"x\"\nExpires: 0".to_string(), Some(0)),
        ("ETag: \"x\"\nCache-Control: max-age=soon".to_string(), Some(0)),
        ("ETag: \"x\"\nCache-Control: no-cache, max-age=60".to_string(), Some(0)),
        ("ETag: \"x\"\nCache-Control: max-age=60\nVary: Accept, Cookie".to_string(), Some(0)),
        ("Cache-Control: max-age=60\nVary: Accept-Encoding".to_string(), Some(60)),
        ("Last-Modified: Sun, 06 Nov 1994 09:49:37 GMT".to_string(), Some(0)),
    ];
    for (headers, expected) in table {
        assert_eq!(fresh_s(cache_after(200, &headers)), expected, "{headers}");
    }
}

#[test]
fn what_does_not_say_for_how_long_it_is_fresh_is_so_for_a_tenth_of_its_age_where_its_status_allows_it() {
    // It changed 600 s ago.
    let modified = "Last-Modified: Sun, 06 Nov 1994 08:39:37 GMT";
    for (status, more, expected) in [
        (200, "", Some(60)),
        (203, "", Some(60)),
        (404, "", Some(60)),
        (410, "", Some(60)),
        // Statuses that are not kept unless they say for how long (RFC 9110 section 15.1).
        (201, "", None),
        (403, "", None),
        // An age that it has already counts (RFC 9111 section 4.2.3).
        (200, "Age: 50", Some(10)),
        (200, "Age: 3600", Some(0)),
        // Whatever it says itself goes first, also that it is stale.
        (200, "Cache-Control: max-age=10", Some(10)),
        (200, "Cache-Control: no-cache", Some(0)),
        (200, "Expires: 0", Some(0)),
        (200, "Vary: Cookie", Some(0)),
        (200, "Cache-Control: must-revalidate", Some(60)),
    ] {
        let headers = format!("{modified}\n{more}");
        assert_eq!(fresh_s(cache_after(status, &headers)), expected, "{status} {more}");
    }
}

#[test]
fn without_heuristics_only_what_says_so_is_fresh() {
    let modified = "Last-Modified: Sun, 06 Nov 1994 08:39:37 GMT";
    let after = |headers: &str| {
        let mut cache = Cache::default();
        cache.note(b"/a.css", 200, answer(headers), NOW, false);
        cache
    };
    assert_eq!(fresh_s(after(modified)), Some(0));
    assert_eq!(conditions(&after(modified)), format!("If-Modified-Since: {}\r\n", &modified[15..]));
    assert_eq!(fresh_s(after(&format!("{modified}\nCache-Control: max-age=60"))), Some(60));
    let mut refreshed = after(modified);
    refreshed.note(b"/a.css", 304, answer(modified), NOW, false);
    assert_eq!(fresh_s(refreshed), Some(0), "nor does a 304 make it so");
}

#[test]
fn a_304_without_a_date_of_change_leaves_an_object_as_old_as_it_is() {
    let mut cache = cache_after(200, "Last-Modified: Sun, 06 Nov 1994 08:39:37 GMT");
    let later = NOW + 400;
    assert_eq!(cache.look(b"/a.css", later), Found::Stale);
    note(&mut cache, b"/a.css", 304, answer(""), later);
    // A tenth of 1,000 s now.
    assert_eq!(cache.look(b"/a.css", later + 99), Found::Fresh);
    assert_eq!(cache.look(b"/a.css", later + 100), Found::Stale);
    let mut said =
        cache_after(200, "Last-Modified: Sun, 06 Nov 1994 08:39:37 GMT\nCache-Control: max-age=20");
    note(&mut said, b"/a.css", 304, answer("Last-Modified: Sun, 06 Nov 1994 08:39:37 GMT"), later);
    assert_eq!(said.look(b"/a.css", later + 20), Found::Stale, "what the server said stays in force");
}

#[test]
fn what_must_not_or_need_not_be_kept_is_not() {
    for (status, headers) in [
        (200, "ETag: \"x\"\nCache-Control: no-store"),
        (200, "ETag: \"x\"\nVary: *"),
        (200, "Content-Type: text/css"),
        (200, "Cache-Control: max-age=0"),
        (206, "ETag: \"x\"\nCache-Control: max-age=60"),
        (302, "Cache-Control: max-age=60"),
        (403, "Last-Modified: Sun, 06 Nov 1994 08:39:37 GMT"),
        (500, "Cache-Control: max-age=60"),
    ] {
        assert_eq!(fresh_s(cache_after(status, headers)), None, "{status} {headers}");
    }
    assert_eq!(
        fresh_s(cache_after(403, "Cache-Control: max-age=60")),
        Some(60),
        "when it says so, also a refusal"
    );
}

#[test]
fn a_conditional_request_carries_the_validators_as_they_came() {
    let modified = "Sun, 06 Nov 1994 08:39:37 GMT";
    let cache = cache_after(200, &format!("ETag: W/\"1-a\"\nLast-Modified: {modified}"));
    assert_eq!(conditions(&cache), format!("If-None-Match: W/\"1-a\"\r\nIf-Modified-Since: {modified}\r\n"));
    assert_eq!(conditions(&cache_after(200, "ETag: \"x\"")), "If-None-Match: \"x\"\r\n");
    assert_eq!(conditions(&cache_after(200, "Cache-Control: max-age=60")), "");
    assert_eq!(conditions(&Cache::default()), "");
}

#[test]
fn a_304_refreshes_what_is_known() {
    let later = NOW + 100;
    let table = [
        // Nothing new is said: the lifetime that was begins again.
        ("", 60, "\"x\""),
        ("Cache-Control: max-age=10", 10, "\"x\""),
        ("ETag: \"y\"\nExpires: Sun, 06 Nov 1994 08:51:27 GMT", 10, "\"y\""),
        ("Cache-Control: no-cache", 0, "\"x\""),
        ("Age: 50", 10, "\"x\""),
    ];
    for (headers, fresh_s, tag) in table {
        let mut cache = cache_after(200, "ETag: \"x\"\nCache-Control: max-age=60");
        assert_eq!(cache.look(b"/a.css", later), Found::Stale);
        note(&mut cache, b"/a.css", 304, answer(headers), later);
        if fresh_s > 0 {
            assert_eq!(cache.look(b"/a.css", later + fresh_s - 1), Found::Fresh, "{headers}");
        }
        assert_eq!(cache.look(b"/a.css", later + fresh_s), Found::Stale, "{headers}");
        assert_eq!(conditions(&cache), format!("If-None-Match: {tag}\r\n"), "{headers}");
    }
    let mut cache = cache_after(200, "ETag: \"x\"");
    note(&mut cache, b"/a.css", 304, answer("Cache-Control: no-store"), later);
    assert_eq!(cache.look(b"/a.css", later), Found::Absent);
    note(&mut cache, b"/a.css", 304, answer("ETag: \"x\""), later);
    assert_eq!(cache.look(b"/a.css", later), Found::Absent, "a 304 to what is not known");
}

#[test]
fn a_new_answer_replaces_and_a_failing_server_does_not() {
    let mut cache = cache_after(200, "ETag: \"x\"");
    note(&mut cache, b"/a.css", 503, answer("ETag: \"z\""), NOW);
    assert_eq!(conditions(&cache), "If-None-Match: \"x\"\r\n");
    note(&mut cache, b"/a.css", 200, answer("ETag: \"y\""), NOW);
    assert_eq!((conditions(&cache), cache.entries.len()), ("If-None-Match: \"y\"\r\n".to_string(), 1));
    cache.forget(b"/a.css");
    assert_eq!(cache.look(b"/a.css", NOW), Found::Absent);
}

fn object(number: usize) -> Vec<u8> {
    format!("/{number}").into_bytes()
}

/// A cache with as many objects as it has room for, from number 0 on.
fn full() -> Cache {
    let mut cache = Cache::default();
    (0..MAX_ENTRIES).for_each(|number| note(&mut cache, &object(number), 200, answer("ETag: \"x\""), NOW));
    cache
}

#[test]
fn the_object_that_was_not_wanted_for_longest_goes_when_there_are_too_many() {
    let mut cache = full();
    note(&mut cache, &object(0), 304, answer(""), NOW);
    assert_eq!(cache.look(&object(1), NOW), Found::Stale, "looked at, which is a use");
    note(&mut cache, &object(2), 200, answer("ETag: \"y\""), NOW);
    for more in 0..2 {
        note(&mut cache, &object(MAX_ENTRIES + more), 200, answer("ETag: \"x\""), NOW);
        assert_eq!(cache.entries.len(), MAX_ENTRIES);
    }
    let mut known = |number| cache.look(&object(number), NOW) != Found::Absent;
    assert!((0..3).all(&mut known), "refreshed, looked at, replaced: each is younger than the others");
    assert!(!known(3) && !known(4), "the two that were not wanted for longest make room");
    assert!((5..MAX_ENTRIES + 2).all(known));
}

#[test]
fn what_every_page_shows_stays_however_much_else_is_seen() {
    let mut cache = full();
    for number in 1..10 * MAX_ENTRIES {
        assert_eq!(cache.look(&object(0), NOW), Found::Stale, "after {number} others");
        note(&mut cache, &object(number), 200, answer("ETag: \"x\""), NOW);
    }
}

#[test]
fn forgetting_one_object_leaves_the_order_of_the_others() {
    let mut cache = full();
    cache.forget(&object(7));
    assert_eq!(cache.entries.len(), MAX_ENTRIES - 1);
    (0..2).for_each(|more| note(&mut cache, &object(1000 + more), 200, answer("ETag: \"x\""), NOW));
    let mut known = |number| cache.look(&object(number), NOW) != Found::Absent;
    assert!(!known(7) && !known(0), "one was forgotten, and the oldest made room for the second new one");
    assert!((1..7).chain(8..MAX_ENTRIES).all(known), "all others are there");
}

#[test]
fn an_entry_is_small_and_a_tag_without_end_is_not_kept() {
    assert!(size_of::<Entry>() <= 56, "{} bytes", size_of::<Entry>());
    let cache = cache_after(200, &format!("ETag: \"{}\"\nCache-Control: max-age=60", "x".repeat(10_000)));
    assert_eq!((conditions(&cache), fresh_s(cache)), (String::new(), Some(60)));
}

proptest! {
    #[test]
    fn no_headers_make_a_panic_or_a_line_too_many(
        headers in proptest::collection::vec((
            "Age|ETag|Date|Vary|Expires|Last-Modified|Cache-Control",
            "[ -~]{0,30}|(max-age=[0-9]{0,30}|no-cache|,| ){0,4}|[0-9]{1,2} Nov [0-9]{4} 08:49:37",
        ), 0..6),
        status in 100u16..600,
        now_s in any::<i64>(),
    ) {
        let mut cache = Cache::default();
        let pairs = || headers.iter().map(|(name, value)| (name.as_bytes(), value.as_bytes()));
        note(&mut cache, b"/a.css", status, pairs(), now_s);
        note(&mut cache, b"/a.css", 304, pairs(), now_s);
        cache.look(b"/a.css", now_s);
        prop_assert!(conditions(&cache).matches("\r\n").count() <= 2);
    }
}
