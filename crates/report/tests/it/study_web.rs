//! A study's HTML file as text. `UPDATE_GOLDEN=1 cargo test -p report study` writes the golden files anew.

use std::path::Path;

use model::StudyRecord;
use model::record::study::{FindAnswer, Question};
use report::study_html as html;
use testkit::studies::{CompareEnding, FindEnding, SweepShape, compare, find, sweep};

use crate::{assert_golden, studies, with_few_samples};

fn page(record: &StudyRecord) -> String {
    html(record, Path::new("/srv/plimsoll/studies/one"), |run| Some(format!("trials/{run}/report.html")))
}

/// What a reader sees, without tags, style, code, drawings, what stands for them without code, and the groups' thin
/// spaces: a line for each row and paragraph, with `|` after each cell.
fn words(html: &str) -> String {
    let body = html.split("<body>").nth(1).expect("a body");
    let body = body.split("<script").next().expect("a page before its code");
    let mut words = String::new();
    let mut drawing = false;
    for piece in body.split('<') {
        let (tag, text) = piece.split_once('>').unwrap_or(("", ""));
        let name = tag.split([' ', '/']).next().unwrap_or_default();
        drawing = (drawing || matches!(name, "svg" | "noscript")) && !matches!(tag, "/svg" | "/noscript");
        match tag.trim_start_matches('/') {
            "td" | "th" if tag.starts_with('/') => words.push_str(" | "),
            "span" | "a" | "code" | "b" | "i" | "svg" | "br" => words.push(' '),
            _ if tag.starts_with('/') => words.push('\n'),
            _ => {}
        }
        if !drawing {
            words.push_str(text.trim());
        }
    }
    let lines = words.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
    let words: String =
        lines.filter(|line| !line.is_empty()).map(|line| line.replace('\u{202f}', " ") + "\n").collect();
    let entities =
        [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#x27;", "'"), ("&#x2f;", "/"), ("&amp;", "&")];
    entities.iter().fold(words, |text, (entity, letter)| text.replace(entity, letter))
}

#[test]
fn what_is_read_on_each_page_is_as_its_golden_file() {
    for (name, record) in studies() {
        assert_golden(&format!("study/{name}.html.txt"), &words(&page(&record)));
    }
}

/// What the page's charts are drawn from.
pub(crate) fn charts(html: &str) -> Vec<serde_json::Value> {
    let data = html.split("<script type=\"application/json\" id=\"data\">").nth(1).expect("data");
    let data = data.split("</script>").next().expect("its end");
    let data: serde_json::Value = serde_json::from_str(data).expect("it is JSON");
    data["charts"].as_array().expect("a list").clone()
}

#[test]
fn the_charts_of_each_kind_are_as_their_golden_file() {
    let kinds = [
        ("find", find(FindEnding::LoadLine)),
        ("compare", compare(CompareEnding::Faster)),
        ("sweep", sweep(SweepShape::Users)),
    ];
    for (name, record) in kinds {
        // A line a list, so that a change can be read.
        let charts = serde_json::to_string(&charts(&page(&record))).expect("it is JSON");
        let charts = charts.replace("\"lines\":", "\n\"lines\":").replace(",{", ",\n{");
        assert_golden(&format!("study/{name}.charts.json"), &(charts + "\n"));
    }
}

#[test]
fn without_code_each_point_of_each_chart_is_read_in_a_list() {
    for (name, record) in studies() {
        let page = page(&record);
        let lists: Vec<&str> =
            page.split("<noscript><ul").skip(1).filter_map(|rest| rest.split("</noscript>").next()).collect();
        let charts = charts(&page);
        assert_eq!(lists.len(), charts.len(), "{name}");
        for (list, chart) in lists.iter().zip(&charts) {
            let marks = chart["marks"].as_array().expect("a list");
            let limit = usize::from(!chart["limit"].is_null());
            assert_eq!(list.matches("<li>").count(), marks.len() + limit, "{name}: {}", chart["title"]);
        }
    }
}

#[test]
fn the_figures_on_the_page_are_those_of_the_record() {
    let record = find(FindEnding::LoadLine);
    let page = words(&page(&record));
    let Question::Find(asked) = &record.question else { panic!("it is a find") };
    let Some(FindAnswer::LoadLine(line)) = &asked.answer else { panic!("it has an answer") };
    for expected in [
        format!("{:.0} users", line.load),
        format!("{:.0} to {:.0} users", line.low, line.high),
        line.held_by.as_ref().map(ToString::to_string).expect("a target holds it"),
        format!("by averages the line would be at {:.0} users", line.by_average.expect("there is one")),
    ] {
        assert!(page.contains(&expected), "{expected} is missing:\n{page}");
    }
    let table =
        page.split("Trials\n").nth(1).and_then(|rest| rest.split("CPU by tier").next()).expect("the trials");
    for trial in &record.trials {
        let seen = trial.measured.as_ref().expect("every trial was measured");
        let p95 = seen.figure("p95", None).expect("there is one").value;
        let browse = seen.targets[0].observed.expect("there is one");
        for value in [p95, browse] {
            let shown = model::units::show_seconds(value);
            assert!(
                table.contains(&format!("{shown} |")),
                "trial {}: {shown} is missing:\n{table}",
                trial.number
            );
        }
    }
}

#[test]
fn a_trial_that_missed_nothing_with_too_few_samples_has_a_mark_of_its_own() {
    let page = page(&with_few_samples());
    let few = |page: &str| {
        let charts = charts(page);
        let marks = charts.iter().flat_map(|chart| chart["marks"].as_array().expect("a list"));
        marks.filter(|mark| mark["style"] == "few").count()
    };
    assert!(
        few(&page) >= 1 && page.contains("<i class=\"square few\""),
        "the trial's, and the key's: {page}"
    );
    let text = words(&page);
    assert!(text.contains("passed, few samples not valid"), "the legend: {text}");
    let row = text.lines().find(|line| line.starts_with("4 ramp |")).expect("a row of the fourth trial");
    assert!(row.ends_with("| passed, few samples |"), "{row}");
    let unfit: Vec<&str> = text.lines().filter(|line| line.starts_with("fails trial")).collect();
    assert_eq!(unfit.len(), 1, "that of number 10: {text}");
    let without = self::page(&find(FindEnding::LoadLine));
    assert!(few(&without) == 0 && !without.contains("square few"), "nothing is explained that isn't there");
}

#[test]
fn the_effects_on_the_page_are_those_of_the_record() {
    for ending in CompareEnding::ALL {
        let record = compare(ending);
        let page = words(&page(&record));
        let Question::Compare(asked) = &record.question else { panic!("it is a comparison") };
        for effect in &asked.effects {
            let ratio = format!("{:.3}", effect.ratio);
            assert!(page.contains(&format!("| {ratio} |")), "{ending:?}: {ratio} is missing:\n{page}");
        }
    }
}

#[test]
fn a_trial_leads_to_its_own_run_and_only_where_there_is_one() {
    let record = find(FindEnding::LoadLine);
    let linked = page(&record);
    for trial in &record.trials {
        assert!(
            linked.contains(&format!("<a href=\"trials&#x2f;{}&#x2f;report.html\">", trial.run)),
            "{}",
            trial.run
        );
    }
    let alone = html(&record, Path::new("/tmp"), |_| None);
    assert_eq!(alone.matches("<a href").count(), 1, "no link that leads nowhere");
    assert!(
        alone.contains("<a href=\"#holds\">") && alone.contains("id=\"holds\""),
        "only the one to the reasons"
    );
}

#[test]
fn a_missing_cell_is_marked_and_says_why() {
    let page = page(&sweep(SweepShape::LoadLines));
    assert_eq!(page.matches("class=\"none\" title=\"no load line\"").count(), 1);
    assert_eq!(page.matches("class=\"none\" title=\"not measured\"").count(), 1);
    let page = self::page(&sweep(SweepShape::TwoFactors));
    assert_eq!(page.matches("class=\"none\"").count(), 2 * 3, "three cells in two maps");
}

#[test]
fn what_a_study_names_is_text_and_nothing_else_and_no_code_runs() {
    let hostile = "</svg><script>window.hostile=1</script><b onclick=x>\"'\u{202e}";
    let mut record = find(FindEnding::LoadLine);
    record.sentence = hostile.into();
    record.setup.kit_title = hostile.into();
    for seen in record.trials.iter_mut().filter_map(|trial| trial.measured.as_mut()) {
        seen.targets.iter_mut().for_each(|outcome| outcome.target.operation = Some(hostile.to_string()));
        seen.tiers.iter_mut().for_each(|tier| tier.tier = format!("{hostile}{}", tier.tier));
        seen.figures
            .iter_mut()
            .for_each(|figure| figure.operation = figure.operation.as_ref().map(|_| hostile.into()));
    }
    let mut swept = sweep(SweepShape::Stacks);
    if let Question::Sweep(asked) = &mut swept.question {
        asked.factors[0].title = hostile.into();
        asked.factors[0].levels.iter_mut().for_each(|level| *level = format!("{hostile}{level}"));
    }
    let mut compared = compare(CompareEnding::Faster);
    if let Question::Compare(asked) = &mut compared.question {
        asked.effects.iter_mut().for_each(|effect| effect.operation = Some(hostile.into()));
    }
    for record in [record, swept, compared] {
        let page = page(&record);
        for part in ["<script>window.hostile", "<b onclick", "\u{202e}", "javascript:"] {
            assert!(!page.contains(part), "{part} reaches the page of {}", record.id);
        }
        assert_eq!(page.matches("<script").count(), 4, "the trap, the data, the library, our code");
        let policy =
            page.split("Content-Security-Policy\" content=\"").nth(1).and_then(|rest| rest.split('"').next());
        let policy = policy.expect("a policy");
        let scripts = policy.split("script-src").nth(1).and_then(|rest| rest.split(';').next());
        let scripts: Vec<&str> = scripts.expect("a policy for scripts").split_whitespace().collect();
        assert!(policy.starts_with("default-src 'none'") && scripts.len() == 3, "{policy}");
        assert!(scripts.iter().all(|one| one.starts_with("'sha256-")), "{policy}");
    }
}

#[test]
fn the_file_needs_nothing_else_and_is_small() {
    for (name, record) in studies() {
        let page = page(&record);
        for outside in [" src=\"", "<link", "@import", "url("] {
            assert!(!page.contains(outside), "{name}: {outside} asks for another file");
        }
        assert!(page.len() < 200_000, "{name}: {} bytes", page.len());
    }
}

#[test]
fn a_sweep_of_two_hundred_cells_stays_below_a_megabyte() {
    let mut record = sweep(SweepShape::TwoFactors);
    let Question::Sweep(asked) = &mut record.question else { panic!("it is a sweep") };
    asked.factors[0].levels = (1..=20).map(|level| level.to_string()).collect();
    asked.factors[1].levels = (1..=10).map(|level| level.to_string()).collect();
    asked.cells = (0..200)
        .map(|index| model::record::study::Cell {
            levels: vec![index / 10, index % 10],
            ..Default::default()
        })
        .collect();
    record.arms = record.arms.iter().cycle().take(200).cloned().collect();
    record.trials = record.trials.iter().cycle().take(600).cloned().collect();
    record.trials.iter_mut().enumerate().for_each(|(index, trial)| trial.arm = index % 200);
    let bytes = page(&record).len();
    assert!(bytes < 1_000_000, "{bytes} bytes");
}
