//! The HTML file in a real browser. Without Chromium the test is skipped.

use std::path::Path;
use std::process::Command;

use report::html;
use testkit::browser::chromium;
use testkit::recorded::Specimen;

use crate::{Kept, page, studies};

/// The document after its code has run.
fn open(chromium: &Path, file: &Path) -> String {
    let profile = tempfile::tempdir().expect("a directory");
    let output = Command::new(chromium)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"])
        .args(["--disable-background-networking", "--disable-component-update", "--disable-sync"])
        .args([
            "--disable-dev-shm-usage",
            "--enable-logging=stderr",
            "--virtual-time-budget=5000",
            "--dump-dom",
        ])
        .arg(format!("--user-data-dir={}", profile.path().display()))
        .arg(format!("file://{}", file.display()))
        .output()
        .expect("Chromium starts");
    let log = String::from_utf8_lossy(&output.stderr);
    let console: Vec<&str> = log.lines().filter(|line| line.contains(":CONSOLE")).collect();
    assert!(console.is_empty(), "the console is not clean: {console:#?}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn the_page_draws_its_charts_without_a_word_on_the_console() {
    let Some(chromium) = chromium() else { return };
    let directory = tempfile::tempdir().expect("a directory");
    let runs = [
        (Specimen::Killed.open(), "lag throughput response users percentiles cpu errors"),
        (Specimen::ManyOperations.open(), "throughput response users percentiles cpu lag"),
        (Specimen::Unfinished.open(), "throughput response users percentiles cpu"),
        (Specimen::Passed.open().first(1), "nothing to draw"),
    ];
    for (recorded, charts) in runs {
        let file = directory.path().join("report.html");
        let id = recorded.record.id.clone();
        std::fs::write(&file, html(&Kept::of(recorded).page())).unwrap();
        let document = open(&chromium, &file);
        let root = document.get(..document.find("<head").unwrap_or(0)).unwrap_or_default();
        assert!(!root.contains("data-errors"), "{id}: {root}");
        assert!(root.contains(&format!("data-ready=\"{charts}\"")), "{id}: {root}");
        let charts = charts.split(' ').filter(|_| charts != "nothing to draw").count();
        let drawn = document.matches("<canvas").count();
        assert!(root.contains(&format!("data-drawn=\"{drawn}\"")), "{drawn} canvases: {root}");
        let folded = document.matches("<details class=\"folded\"").count();
        assert!(drawn >= charts && (drawn > charts) == (folded > 0), "{drawn} drawn, {charts} of them large");
    }
}

#[test]
fn a_page_whose_code_fails_is_noticed() {
    let Some(chromium) = chromium() else { return };
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("report.html");
    let page = html(page(Specimen::Passed));
    let broken = page.replace("\"at_s\":", "\"at\":");
    assert_ne!(page, broken);
    std::fs::write(&file, broken).unwrap();
    let noticed = std::panic::catch_unwind(|| open(&chromium, &file))
        .map_or(true, |document| document.contains("data-errors"));
    assert!(noticed, "neither the console nor the page says that its code failed");
}

/// Notes where each text of a chart is drawn, and tells the page around it how far a page is wider than its window, how
/// many charts have no text at all, and which texts lie outside of their picture or on top of each other.
const RULER: &str = "<script>(function(){var drawn=new Map(),p=CanvasRenderingContext2D.prototype,\
    fill=p.fillText,clear=p.clearRect;\
    p.clearRect=function(){drawn.set(this.canvas,[]);return clear.apply(this,arguments)};\
    p.fillText=function(t,x,y){var m=this.measureText(t),at=this.getTransform();x+=at.e;y+=at.f;\
    if(t)drawn.get(this.canvas).push([t,x-m.actualBoundingBoxLeft,x+m.actualBoundingBoxRight,\
    y-m.actualBoundingBoxAscent,y+m.actualBoundingBoxDescent]);return fill.apply(this,arguments)};\
    addEventListener('load',function(){setTimeout(function(){var d=document.documentElement,out=[],on=[],empty=0;\
    document.querySelectorAll('[data-chart]').forEach(function(f){var c=f.querySelector('canvas'),t=c&&drawn.get(c);\
    if(!t||t.length<3){empty++;return}\
    t.forEach(function(a,i){if(a[1]<-1||a[2]>c.width+1||a[3]<-1||a[4]>c.height+1)out.push(a[0]);\
    t.slice(i+1).forEach(function(q){if(Math.min(a[2],q[2])-Math.max(a[1],q[1])>1&&\
    Math.min(a[4],q[4])-Math.max(a[3],q[3])>4)on.push(a[0]+' on '+q[0])})})});\
    var wide=d.scrollWidth-d.clientWidth;parent.postMessage([innerWidth,wide?'wider by '+wide:'',\
    empty?'not drawn: '+empty:'',out.length?'outside: '+out.join(', '):'',\
    on.length?'overlap: '+on.join(', '):''].join(';'),'*')},0)})})()</script>";

/// Collects what the pages in its frames tell.
const COLLECTOR: &str = "<!doctype html><script>var told=0,faults=[];addEventListener('message',function(e){told++;\
    if(!/^[0-9]+;;;;$/.test(e.data))faults.push(e.data);\
    document.documentElement.dataset.told=told;document.documentElement.dataset.faults=faults.join(' / ')})</script>";

#[test]
fn every_study_fits_a_phone_a_tablet_and_a_screen_and_no_label_covers_another() {
    let Some(chromium) = chromium() else { return };
    let directory = tempfile::tempdir().expect("a directory");
    let mut frames = COLLECTOR.to_string();
    let widths = [360, 400, 768, 1200];
    for (name, record) in studies() {
        let page = report::study_html(&record, Path::new("/srv/plimsoll/studies/one"), |_| None);
        // The page's own policy lets only its own scripts run, so the copy that is measured has none.
        let policy = page.split("<meta http-equiv=").nth(1).and_then(|rest| rest.split('>').next());
        let policy = format!("<meta http-equiv={}>", policy.expect("a policy"));
        std::fs::write(directory.path().join(format!("{name}.html")), page.replacen(&policy, RULER, 1))
            .unwrap();
        for width in widths {
            frames.push_str(&format!(
                "<iframe width={width} height=900 style=\"border:0\" src=\"{name}.html\"></iframe>"
            ));
        }
    }
    let file = directory.path().join("frames.html");
    std::fs::write(&file, frames).unwrap();
    let document = open(&chromium, &file);
    let root = document.get(..document.find("<head").unwrap_or(0)).unwrap_or_default();
    let told = format!("data-told=\"{}\"", studies().len() * widths.len());
    assert!(root.contains(&told) && root.contains("data-faults=\"\""), "{root}");
}

#[test]
fn a_study_opens_without_a_word_on_the_console() {
    let Some(chromium) = chromium() else { return };
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("report.html");
    for (name, record) in studies() {
        if ["find-load-line", "compare-gate-failed", "sweep-two-factors", "sweep-published"]
            .contains(&name.as_str())
        {
            let page = report::study_html(&record, directory.path(), |_| None);
            std::fs::write(&file, &page).unwrap();
            let document = open(&chromium, &file);
            assert!(document.contains("</footer>"), "{name} is whole");
            let root = document.get(..document.find("<head").unwrap_or(0)).unwrap_or_default();
            let charts = page.matches("<figure data-chart=\"points\"").count();
            let drawn = format!("data-drawn=\"{charts}\"");
            assert!(root.contains(&drawn) && !root.contains("data-errors"), "{name}: {root}");
        }
    }
}
