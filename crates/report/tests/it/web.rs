//! The HTML file as text.

use report::html;
use testkit::sample::{Ending, Shape};

use crate::{Kept, page};

#[test]
fn every_kind_of_run_has_a_page() {
    for ending in [Ending::Passed, Ending::Failed, Ending::Invalid, Ending::Interrupted, Ending::Unfinished] {
        let page = page(ending);
        let html = html(page);
        assert!(html.contains(&format!("<p class=\"word\">{}</p>", page.headline.word)), "{ending:?}");
    }
}

#[test]
fn the_verdict_comes_first_and_the_configuration_last() {
    let html = html(page(Ending::Failed));
    let order = [
        "class=\"verdict bad\"",
        "id=\"targets\"",
        "id=\"course\"",
        "id=\"percentiles\"",
        "id=\"operations\"",
        "id=\"requests\"",
        "id=\"tiers\"",
        "id=\"errors\"",
        "id=\"validity\"",
        "id=\"setup\"",
    ];
    let places: Vec<usize> =
        order.iter().map(|part| html.find(part).unwrap_or_else(|| panic!("no {part}"))).collect();
    assert!(places.is_sorted(), "{places:?}");
    for part in ["7 min", "Purchase p99 &lt; 400&nbsp;ms"] {
        assert!(!html.contains(part));
    }
    for part in [
        "p99 &lt; 250 ms",
        "MaxRequestWorkers",
        "mariadbd 10.11.14",
        "plimsoll run dvdstore --users 40",
        "20\u{202f}000 rows",
    ] {
        assert!(html.contains(part), "{part} is missing");
    }
}

#[test]
fn what_a_server_sent_is_text_and_nothing_else() {
    let html = html(page(Ending::Failed));
    assert!(html.contains("&lt;img src=x onerror"), "the hostile answer is shown as text");
    for hostile in ["<img", "<script>window", "\u{1b}", "\u{202e}"] {
        assert!(!html.contains(hostile), "{hostile:?} reaches the page");
    }
    assert_eq!(html.matches("<script").count(), 4, "ours and no other");
    assert_eq!(html.matches("</script>").count(), 4);
}

#[test]
fn names_from_a_hostile_kit_are_text_too() {
    let mut sample = testkit::sample::run(Shape::default());
    sample.names[1].name = "</script><script>window.hostile=1</script>".into();
    sample.record.operations[1].name = sample.names[1].name.clone();
    sample.record.setup.kit_title = "<b onclick=x>\"'".into();
    let html = html(&Kept::of(sample).page());
    assert!(!html.contains("<script>window.hostile") && !html.contains("<b onclick"));
    assert_eq!(html.matches("<script").count(), 4, "ours and no other");
}

#[test]
fn the_file_needs_nothing_else_and_its_policy_says_so() {
    let html = html(page(Ending::Passed));
    let policy = html.split("Content-Security-Policy\" content=\"").nth(1).expect("a policy");
    let policy = policy.split('"').next().expect("its end");
    assert!(policy.starts_with("default-src 'none'"), "{policy}");
    assert_eq!(policy.matches("'sha256-").count(), 3, "{policy}");
    assert!(
        !policy.contains("unsafe-inline'; script") || policy.contains("style-src 'unsafe-inline'"),
        "{policy}"
    );
    for outside in [" src=\"", "<link", "@import", "url(http"] {
        assert!(!html.contains(outside), "{outside} asks for another file");
    }
}

#[test]
fn ten_minutes_of_twenty_operations_stay_below_a_megabyte() {
    let mut page = Kept::new(Shape { operations: 20, steady_s: 30, ..Shape::ending(Ending::Failed) }).page();
    let timeline = &mut page.timeline;
    let long = |values: &mut Vec<Option<f64>>| *values = values.iter().copied().cycle().take(600).collect();
    timeline.at_s = (0..600).collect();
    long(&mut timeline.users);
    timeline.errors.iter_mut().chain(&mut timeline.cpu).for_each(|column| long(&mut column.values));
    for scope in &mut timeline.scopes {
        [&mut scope.per_s, &mut scope.p50_s, &mut scope.p95_s, &mut scope.p99_s].into_iter().for_each(long);
    }
    let html = html(&page);
    assert!(html.len() < 1_000_000, "{} bytes", html.len());
}

#[test]
fn where_the_time_of_requests_went_is_told_and_what_did_not_happen_is_not() {
    let passed = html(page(Ending::Passed));
    let requests = passed.split("id=\"requests\"").nth(1).and_then(|rest| rest.split("</section>").next());
    let requests = requests.expect("a section about requests");
    for part in ["connect", "first byte", "transfer"] {
        assert!(requests.contains(&format!("<th scope=\"row\">{part}</th>")), "{part}: {requests}");
    }
    assert!(!requests.contains("TLS") && !requests.contains("redirect"), "{requests}");
    let failed = html(page(Ending::Failed));
    assert!(failed.contains("<th scope=\"row\">TLS</th>") && failed.contains("redirects followed"));
    let mut record = Kept::ending(Ending::Passed);
    record.sample.record.phases = model::record::PhaseResults::default();
    assert!(!html(&Kept::of(record.sample).page()).contains("id=\"requests\""), "an old run has none");
}

#[test]
fn what_happened_meanwhile_is_told_and_marked_and_checks_have_words() {
    let invalid = html(page(Ending::Invalid));
    assert!(invalid.contains("<dt>at 51&#8239;s</dt><dd>db restarted</dd>"), "the tier's restart is told");
    assert!(
        invalid.contains("\"events\":[{\"kind\":\"tier\"") || invalid.contains("\"events\":[{\"second\":51")
    );
    assert!(
        invalid.contains("<span>Little's law</span>") || invalid.contains("<span>Little&#x27;s law</span>")
    );
    assert!(!invalid.contains("<span>generator_cpu</span>"), "people read words, not identifiers");
    assert!(!html(page(Ending::Passed)).contains("class=\"pairs events\""), "phases are shaded, not listed");
}
