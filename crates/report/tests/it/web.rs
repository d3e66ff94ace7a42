//! The HTML file as text.

use model::record::MetricResult;
use report::html;
use testkit::recorded::Specimen;

use crate::{Kept, page, proved, with_a_hostile_answer};

#[test]
fn every_kind_of_run_has_a_page() {
    for specimen in Specimen::ALL {
        let page = page(specimen);
        let html = html(page);
        assert!(html.contains(&format!("<p class=\"word\">{}</p>", page.headline.word)), "{specimen:?}");
    }
}

#[test]
fn the_verdict_comes_first_and_the_configuration_last() {
    let page = page(Specimen::Failed);
    let html = html(page);
    let order = [
        "class=\"verdict bad\"",
        "class=\"answer\"",
        "id=\"course\"",
        "id=\"percentiles\"",
        "id=\"targets\"",
        "id=\"operations\"",
        "id=\"requests\"",
        "id=\"holds\"",
        "id=\"tiers\"",
        "id=\"validity\"",
        "id=\"setup\"",
    ];
    let places: Vec<usize> =
        order.iter().map(|part| html.find(part).unwrap_or_else(|| panic!("no {part}"))).collect();
    assert!(places.is_sorted(), "{places:?}");
    let versions = page.record.setup.tiers.iter().map(|tier| tier.version.replace('/', "&#x2f;"));
    let parts = [
        "p99 &lt; 250 ms",
        "MaxRequestWorkers",
        "plimsoll run dvdstore --fault db-hot-row",
        "20\u{202f}000 rows",
    ];
    for part in parts.map(str::to_string).into_iter().chain(versions) {
        assert!(html.contains(&part), "{part} is missing");
    }
}

#[test]
fn all_of_a_kits_own_figures_stand_above_the_charts() {
    let mut page = Kept::specimen(Specimen::Passed).page();
    page.record.metrics.truncate(2);
    assert!(!html(&page).contains("<dl class=\"figures-more\">"), "two have room at the top");
    let like = page.record.metrics[0].clone();
    page.record.metrics = ["throughput", "requests", "p5", "median", "p95", "mean"]
        .map(|name| MetricResult { title: format!("Own {name}"), at_most: Some(9.0), ..like.clone() })
        .to_vec();
    let html = html(&page);
    let above = html.split("id=\"course\"").next().expect("the beginning");
    let (top, more) = above.split_once("<dl class=\"figures-more\">").expect("the others");
    let missing = |place: &str, names: &[&str]| {
        names.iter().any(|name| !place.contains(&format!("<dt>Own {name} (at most")))
    };
    assert!(!missing(top, &["throughput", "requests"]), "{top}");
    assert!(!missing(more, &["p5", "median", "p95", "mean"]), "{more}");
}

#[test]
fn what_a_server_sent_is_text_and_nothing_else() {
    let html = html(&Kept::of(with_a_hostile_answer()).page());
    assert!(html.contains("&lt;img src=x onerror"), "the hostile answer is shown as text");
    for hostile in ["<img", "<script>window", "\u{1b}", "\u{202e}"] {
        assert!(!html.contains(hostile), "{hostile:?} reaches the page");
    }
    assert_eq!(html.matches("<script").count(), 4, "ours and no other");
    assert_eq!(html.matches("</script>").count(), 4);
}

#[test]
fn names_from_a_hostile_kit_are_text_too() {
    let mut sample = Specimen::Passed.open();
    sample.names[1].name = "</script><script>window.hostile=1</script>".into();
    sample.record.operations[1].name = sample.names[1].name.clone();
    sample.record.setup.kit_title = "<b onclick=x>\"'".into();
    let html = html(&Kept::of(sample).page());
    assert!(!html.contains("<script>window.hostile") && !html.contains("<b onclick"));
    assert_eq!(html.matches("<script").count(), 4, "ours and no other");
}

#[test]
fn the_file_needs_nothing_else_and_its_policy_says_so() {
    let html = html(page(Specimen::Passed));
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
fn ten_minutes_of_fourteen_operations_and_a_hundred_and_fifty_series_stay_below_a_megabyte() {
    let recorded = Specimen::ManyOperations.open();
    assert!(recorded.series.len() >= 150, "{} series", recorded.series.len());
    let mut page = Kept::of(recorded).page();
    // Ten minutes of seconds take long to keep; their values are those that were recorded, again and again.
    let timeline = &mut page.timeline;
    let long = |values: &mut Vec<Option<f64>>| *values = values.iter().copied().cycle().take(600).collect();
    timeline.at_s = (0..600).collect();
    long(&mut timeline.users);
    long(&mut timeline.lag_p99_s);
    timeline.errors.iter_mut().chain(&mut timeline.cpu).for_each(|column| long(&mut column.values));
    for scope in &mut timeline.scopes {
        [&mut scope.per_s, &mut scope.p50_s, &mut scope.p95_s, &mut scope.p99_s].into_iter().for_each(long);
    }
    (page.inside.step_s, page.inside.at_s) = (2, (0..600).step_by(2).collect());
    let tiers = page.inside.tiers.iter_mut().flat_map(|tier| tier.first.iter_mut().chain(&mut tier.more));
    tiers.for_each(|figure| figure.values = figure.values.iter().copied().cycle().take(300).collect());
    let html = html(&page);
    assert!(html.len() < 1_000_000, "{} bytes", html.len());
}

#[test]
fn small_charts_have_at_most_three_hundred_points_however_long_the_run() {
    let page = Kept::of(Specimen::ByRate.open().with_steady_s(700)).page();
    assert_eq!((page.inside.step_s, page.inside.at_s.len()), (5, 142));
    let figure = &page.inside.tiers[0].first[0];
    assert_eq!(figure.values.len(), 142);
    let signal = figure.signal.as_ref().expect("it has one");
    let steady: Vec<f64> = figure.values[2..141].iter().flatten().copied().collect();
    let mean = steady.iter().sum::<f64>() / steady.len() as f64;
    assert!((mean / signal.mean - 1.0).abs() < 0.01, "{mean} drawn, {} recorded", signal.mean);
}

#[test]
fn what_holds_the_stack_is_told_first_and_then_with_its_reasons() {
    let page = page(Specimen::Failed);
    let html = html(page);
    let answer = "Db holds the stack: transactions wait for each other&#x27;s rows";
    let injected = "Injected on purpose: Every purchase changes the same row first";
    let verdict = html.split("id=\"course\"").next().expect("the beginning");
    assert!(verdict.contains(answer) && verdict.contains(injected), "{verdict}");
    let holds = html.split("id=\"holds\"").nth(1).and_then(|rest| rest.split("id=\"tiers\"").next());
    let holds = holds.expect("a section");
    for part in [
        answer,
        "db: waiting for a lock",
        "style=\"width: 62.0%\"",
        "98 % sure",
        "strongly for",
        "db.transaction_isolation: READ-COMMITTED instead of REPEATABLE-READ",
        "plimsoll run dvdstore --fault db-hot-row --set db.transaction_isolation=READ-COMMITTED",
        "Hardly likely: web, backlog",
    ] {
        assert!(holds.contains(part), "{part} is missing in {holds}");
    }
    let diagnosis = page.record.diagnosis.as_ref().expect("it has one");
    for evidence in &diagnosis.suspects[0].evidence {
        assert!(holds.contains(&evidence.sentence), "{} is missing in {holds}", evidence.sentence);
    }
    assert!(!self::html(self::page(Specimen::Unfinished)).contains("id=\"holds\""), "nobody has judged it");
}

#[test]
fn errors_come_behind_the_tiers_and_what_made_a_run_invalid_before_its_course() {
    let html = html(page(Specimen::Killed));
    let order =
        ["class=\"verdict doubtful\"", "id=\"validity\"", "id=\"course\"", "id=\"tiers\"", "id=\"errors\""];
    let places = order.map(|part| html.find(part).unwrap_or_else(|| panic!("no {part}")));
    assert!(places.is_sorted(), "{places:?}");
}

#[test]
fn a_proof_what_could_not_be_seen_and_what_speaks_against_a_suspect_stand_beside_the_reasons() {
    let recorded = proved();
    let proof =
        recorded.record.diagnosis.as_ref().and_then(|found| found.proof.as_ref()).expect("there is one");
    let sentence = proof.sentence.clone();
    let html = html_of(recorded);
    let holds = html.split("id=\"holds\"").nth(1).and_then(|rest| rest.split("id=\"tiers\"").next());
    let holds = holds.expect("a section");
    for part in [
        "strongly against",
        "0.61 to 1.03",
        "15 % of its CPU time",
        "innodb_status_output_locks is off",
        &sentence,
    ] {
        assert!(holds.contains(part), "{part} is missing in {holds}");
    }
    assert!(html.contains("this kernel has no memory.pressure"), "what could not be seen is repeated");
}

fn html_of(sample: testkit::recorded::Recorded) -> String {
    html(&Kept::of(sample).page())
}

#[test]
fn what_the_diagnosis_cites_comes_first_and_the_rest_is_folded() {
    let page = page(Specimen::Failed);
    let html = html(page);
    let tiers =
        html.split("id=\"tiers\"").nth(1).and_then(|rest| rest.split("id=\"errors\"").next()).expect("it");
    let place = |part: &str| tiers.find(part).unwrap_or_else(|| panic!("no {part}"));
    let order = [
        "<h4>sql.row_lock_time <span class=\"cited\">",
        "<h4>sql.queries</h4>",
        "more figures of db</summary>",
        "<h4>sql.tmp_tables</h4>",
        "<h4>listen.queue <span class=\"cited\">",
        "<h4>workers.busy</h4>",
        "more figures of web</summary>",
        "<h4>stack.busy_ratio</h4>",
    ];
    let places = order.map(place);
    assert!(places.is_sorted(), "{places:?}");
    assert!(tiers.contains("of 150 workers"), "{tiers}");
    let db = page.record.setup.tiers.iter().find(|tier| tier.tier == "db").expect("it has one");
    let means = &db.counters["sql.row_lock_time"].help;
    assert!(tiers.contains(means), "what a figure means, {means}: {tiers}");
    assert!(tiers.contains("The same throughout:") && !tiers.contains("<h4>threads.disk"), "{tiers}");
}

#[test]
fn a_hostile_diagnosis_is_text_too() {
    let mut sample = proved();
    let hostile = "</script><script>window.hostile=1</script>\u{202e}";
    let diagnosis = sample.record.diagnosis.as_mut().expect("it has one");
    diagnosis.sentence = hostile.into();
    diagnosis.suspects.iter_mut().for_each(|suspect| suspect.title = hostile.into());
    diagnosis.suspects[0].evidence[0].sentence = hostile.into();
    diagnosis.suspects[0].tries[0].knob = Some(hostile.into());
    diagnosis.proof.as_mut().expect("it has one").sentence = hostile.into();
    sample.record.unseen = vec![hostile.into()];
    sample.record.injected.as_mut().expect("it has one").title = hostile.into();
    let made = sample.series.iter_mut().find(|one| one.name == "sql.queries").expect("it is there");
    (made.name, made.unit) = (hostile.into(), hostile.into());
    let html = html_of(sample);
    assert!(!html.contains("<script>window.hostile") && !html.contains('\u{202e}'));
    assert_eq!(html.matches("<script").count(), 4, "ours and no other");
}

#[test]
fn where_the_time_of_requests_went_is_told_and_what_did_not_happen_is_not() {
    let passed = html(page(Specimen::Passed));
    let requests = passed.split("id=\"requests\"").nth(1).and_then(|rest| rest.split("</section>").next());
    let requests = requests.expect("a section about requests");
    for part in ["connect", "first byte", "transfer"] {
        assert!(requests.contains(&format!("<th scope=\"row\">{part}</th>")), "{part}: {requests}");
    }
    assert!(!requests.contains("TLS") && !requests.contains("redirect"), "{requests}");
    let mut secure = Specimen::Passed.open();
    secure.record.phases.tls = secure.record.phases.connect.clone();
    secure.record.wire.redirects = 3;
    let secure = html_of(secure);
    assert!(secure.contains("<th scope=\"row\">TLS</th>") && secure.contains("redirects followed"));
    let mut record = Kept::specimen(Specimen::Passed);
    record.recorded.record.phases = model::record::PhaseResults::default();
    assert!(!html(&Kept::of(record.recorded).page()).contains("id=\"requests\""), "an old run has none");
}

#[test]
fn what_happened_meanwhile_is_told_and_marked_and_checks_have_words() {
    let killed = html(page(Specimen::Killed));
    let event = Specimen::Killed.open().events.pop().expect("the database ended");
    let row = format!("<dt>at {}&#8239;s</dt><dd>{}</dd>", event.second, event.text);
    assert!(killed.contains(&row), "the database's end is shown: {row}");
    assert!(
        killed.contains("\"events\":[{\"kind\":\"tier\"") || killed.contains("\"events\":[{\"second\":18")
    );
    assert!(
        killed.contains("<span>Little's law</span>") || killed.contains("<span>Little&#x27;s law</span>")
    );
    assert!(!killed.contains("<span>generator_cpu</span>"), "people read words, not identifiers");
    assert!(
        !html(page(Specimen::Passed)).contains("class=\"pairs events\""),
        "phases are shaded, not listed"
    );
}
