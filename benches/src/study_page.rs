//! Pages of docs/results, one for each study (`make results`): the tables are made from the study's record, the rest by people.

use std::fs;
use std::path::{Path, PathBuf};

use model::StudyRecord;
use model::record::study::Question;
use report::study::{Document, Made, document};

use crate::results::read_study;
use crate::{Failure, marks};

/// A line for who opens the file.
const WHOSE: &str =
    "<!-- by `make results`, which writes anew what stands between these marks and nothing else -->";

/// What people write, on a page that has nothing of them yet.
const BY_PEOPLE: &str = "## What agrees, what doesn't, and why\n\nNot written yet.\n";

/// A sweep, and its page.
#[derive(Debug, clap::Args)]
pub(crate) struct StudyPage {
    /// Its `study.json`
    study: PathBuf,
    /// The commit that it was made with
    #[arg(long)]
    commit: Option<String>,
    /// The page; it is begun where it is not there
    #[arg(long)]
    into: PathBuf,
}

/// Writes what was measured into the page.
pub(crate) fn write(asked: &StudyPage) -> Result<(), Failure> {
    let record = read_study(&asked.study)?;
    let file = study_file(&record, &asked.into);
    let made = Made { commit: asked.commit.as_deref(), file: file.as_deref() };
    let document = document(&record, made).ok_or_else(|| {
        let verb = record.question.verb();
        format!("{}: only sweeps have a page, and it is a {verb}", asked.study.display())
    })?;
    let measured = format!("{WHOSE}\n\n{}", document.text);
    if asked.into.exists() {
        marks::fill(&asked.into, &measured)?;
    } else {
        marks::write(&asked.into, &new_page(&document, &measured))?;
    }
    println!("written: {}", asked.into.display());
    Ok(())
}

/// The study's file as seen from the page, where the catalogue has it.
fn study_file(record: &StudyRecord, page: &Path) -> Option<String> {
    let Question::Sweep(sweep) = &record.question else { return None };
    let link = format!("../../catalogue/studies/{}.toml", sweep.name);
    let folder = page.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::exists(folder.join(&link)).unwrap_or(false).then_some(link)
}

fn new_page(document: &Document, measured: &str) -> String {
    format!("# {}\n\n{}\n{measured}{}\n\n{BY_PEOPLE}", document.title, marks::BEGIN, marks::END)
}

#[cfg(test)]
mod tests {
    use super::*;
    use testkit::studies::{CompareEnding, SweepShape, compare, sweep};

    /// A folder like docs/results with a catalogue beside, and a study's record in it.
    struct Folder(tempfile::TempDir);

    impl Folder {
        fn with(record: &StudyRecord) -> Folder {
            let folder = Folder(tempfile::tempdir().expect("a folder"));
            for inner in ["docs/results", "catalogue/studies"] {
                fs::create_dir_all(folder.0.path().join(inner)).expect("a folder in it");
            }
            fs::write(folder.0.path().join("catalogue/studies/sample-published.toml"), "").expect("a file");
            folder.keep(record);
            folder
        }

        fn keep(&self, record: &StudyRecord) {
            let text = serde_json::to_vec(record).expect("a record is JSON");
            fs::write(self.0.path().join("study.json"), text).expect("the record is written");
        }

        fn page(&self) -> PathBuf {
            self.0.path().join("docs/results/sample-published.md")
        }

        fn write(&self, commit: &str) -> Result<String, String> {
            let (study, into) = (self.0.path().join("study.json"), self.page());
            let written = write(&StudyPage { study, commit: Some(commit.into()), into });
            written.map_err(|failure| failure.to_string())?;
            Ok(fs::read_to_string(self.page()).expect("the page is there"))
        }
    }

    #[test]
    fn a_page_that_is_not_there_is_begun_and_says_that_nobody_has_written_yet() {
        let page = Folder::with(&sweep(SweepShape::Published)).write("0123456789ab").expect("it is written");
        assert!(
            page.starts_with(
                "# Sun 2008, table 3, with the DVD Store (Sun 2008)\n\n<!-- measured: begin -->\n"
            )
        );
        assert!(page.ends_with(
            "<!-- measured: end -->\n\n## What agrees, what doesn't, and why\n\nNot written yet.\n"
        ));
        // The script reads the commit and the day there.
        let made = page.lines().find(|line| line.starts_with("`plimsoll sweep "));
        assert!(made.is_some_and(|line| line.contains(" of 0123456789ab, on 2026-11-21: ")), "{page}");
        assert!(page.contains("](../../catalogue/studies/sample-published.toml)"), "{page}");
    }

    #[test]
    fn what_people_wrote_stays_when_the_study_is_measured_again() {
        let folder = Folder::with(&sweep(SweepShape::Published));
        let first = folder.write("aaaa").expect("it is written");
        let by_hand = first.replace("# Sun", "# Mine: Sun").replace("Not written yet.", "Nothing agrees.");
        fs::write(folder.page(), &by_hand).expect("somebody writes");
        folder.keep(&sweep(SweepShape::Users));
        let second = folder.write("bbbb").expect("it is written");
        assert!(second.starts_with("# Mine: Sun") && second.ends_with("Nothing agrees.\n"), "{second}");
        assert!(second.contains(" of bbbb, on ") && !second.contains("aaaa"), "{second}");
        assert!(!second.contains("New Flash"), "nothing of the earlier study is left: {second}");
        folder.keep(&sweep(SweepShape::Published));
        assert_eq!(folder.write("aaaa"), Ok(by_hand));
    }

    #[test]
    fn a_page_by_hand_is_refused_and_stays_as_it_is() {
        let folder = Folder::with(&sweep(SweepShape::Published));
        fs::write(folder.page(), "# By hand\n").expect("somebody writes");
        let refused = folder.write("aaaa").expect_err("it has no marks");
        assert!(refused.contains("sample-published.md: it is written by hand"), "{refused}");
        assert_eq!(fs::read_to_string(folder.page()).expect("it is there"), "# By hand\n");
    }

    #[test]
    fn a_comparison_has_no_page() {
        let folder = Folder::with(&compare(CompareEnding::Faster));
        let refused = folder.write("aaaa").expect_err("it is no sweep");
        assert!(refused.ends_with("only sweeps have a page, and it is a compare"), "{refused}");
        assert!(!folder.page().exists());
    }
}
