//! What lines and files wish for, and what comes of it.

use std::sync::mpsc::channel;

use engine::Second;
use model::catalogue::load;

use super::*;

/// What seconds lead to, each after `before` it: the numbers asked for, the notes, and the pace at the end.
fn seconds<'a>(
    wishes: &'a Wishes,
    interrupt: &'a Interrupt,
    before: &mut [&mut dyn FnMut()],
) -> (Vec<Option<u32>>, Vec<String>, ByHand<'a>) {
    let load = Load {
        users: 20,
        steady_s: 3_600.0,
        by_hand: Some(load::ByHand { max_users: 50 }),
        ..Load::default()
    };
    let mut pace = ByHand::of(&load, wishes, interrupt);
    let (mut asked, mut notes) = (Vec::new(), Vec::new());
    for (number, act) in before.iter_mut().enumerate() {
        act();
        let interval = model::Interval::empty(number as u32);
        let pacing = pace.second(&Second { interval: &interval, names: &[], evidence: &[] });
        assert!(!pacing.enough, "only whoever asked for the users ends it");
        asked.push(pacing.users);
        notes.extend(pacing.notes);
    }
    (asked, notes, pace)
}

#[test]
fn typed_numbers_and_steps_are_asked_for_and_others_are_told() {
    let (sender, typed) = channel();
    let (wishes, interrupt) = (Wishes { typed, file: None }, Interrupt::default());
    let lines = |text: &'static str| {
        let sender = sender.clone();
        move || text.split(',').for_each(|line| sender.send(line.to_string()).expect("it is heard"))
    };
    let (asked, notes, pace) = seconds(
        &wishes,
        &interrupt,
        &mut [
            &mut lines("30"),
            &mut lines("+"),
            &mut lines("-5,-"),
            &mut lines(" ,+1, "),
            &mut lines("51,0,many,-99"),
            &mut lines("26"),
        ],
    );
    assert_eq!(asked, [Some(30), Some(33), Some(25), Some(26), None, None]);
    let at_most = "51 users can't be asked for: at most 50 (--max-users)";
    let expected = [at_most, "0 users", "`many` is no number", "-73 users"];
    assert!(
        notes.len() == 4 && notes.iter().zip(expected).all(|(note, part)| note.starts_with(part)),
        "{notes:?}"
    );
    assert_eq!(pace.by_hand(), Some(UsersAsked { asked_users: 26, max_users: 50 }));
    let first = LoadChange { second: 1.0, from: 20, to: 30, by: AskedBy::Terminal };
    assert_eq!((pace.changes.len(), pace.changes[0]), (5, first), "{:?}", pace.changes);
    assert_eq!(interrupt.count(), 0);
}

#[test]
fn q_asks_for_the_end_as_ctrl_c_does() {
    let (sender, typed) = channel();
    let (wishes, interrupt) = (Wishes { typed, file: None }, Interrupt::default());
    seconds(&wishes, &interrupt, &mut [&mut || sender.send("q".to_string()).expect("it is heard")]);
    assert_eq!(interrupt.count(), 1);
}

#[test]
fn a_file_counts_once_each_time_that_another_takes_its_place() {
    let home = tempfile::tempdir().expect("a directory");
    let (path, new) = (home.path().join("users.json"), home.path().join("new"));
    let put = |text: &'static str| {
        let (path, new) = (path.clone(), new.clone());
        move || {
            fs::write(&new, text).expect("a file");
            fs::rename(&new, &path).expect("it takes its place");
        }
    };
    let (sender, typed) = channel();
    let (wishes, interrupt) = (Wishes { typed, file: Some(path.clone()) }, Interrupt::default());
    let (asked, notes, pace) = seconds(
        &wishes,
        &interrupt,
        &mut [
            &mut || {},
            &mut put("{\"users\": 5, \"by\": \"page\"}"),
            &mut || sender.send("7".to_string()).expect("it is heard"),
            &mut put("{\"users\": 5}"),
            &mut put("five"),
            &mut || fs::remove_file(&path).expect("it is there"),
        ],
    );
    assert_eq!(asked, [None, Some(5), Some(7), Some(5), None, None]);
    assert!(notes.len() == 1 && notes[0].contains("{\"users\": 20}"), "{notes:?}");
    let by: Vec<AskedBy> = pace.changes.iter().map(|change| change.by).collect();
    assert_eq!(by, [AskedBy::Page, AskedBy::Terminal, AskedBy::File]);
}
