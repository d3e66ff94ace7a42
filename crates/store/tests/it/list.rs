//! The list, the index behind it, and how a run is named.

use std::fs;
use std::time::Duration;

use store::{Filter, Look, Notes, Order, Runs, Selected, Selection};
use testkit::recorded::Specimen;

use crate::{keep, short};

const IDS: [&str; 3] =
    ["20261121-034512-dvdstore-0001", "20261121-034512-dvdstore-0002", "20261122-080000-webshop-7f3a"];

fn three() -> (tempfile::TempDir, Runs) {
    let home = tempfile::tempdir().expect("a directory");
    for (id, ending) in IDS.iter().zip([Specimen::Passed, Specimen::Failed, Specimen::Invalid]) {
        keep(home.path(), short(ending), id);
    }
    let runs = Runs::open(home.path()).expect("the home is there");
    (home, runs)
}

#[test]
fn the_list_says_of_each_run_what_its_record_says() {
    let (_home, runs) = three();
    let list = runs.list().expect("a list");
    assert_eq!(list.iter().map(|one| one.id.as_str()).collect::<Vec<_>>(), IDS);
    assert_eq!(list.iter().map(|one| (one.valid, one.pass)).collect::<Vec<_>>()[0], (true, Some(true)));
    assert!(!list[2].valid && list[2].pass.is_none());
    assert!(list.iter().all(|one| one.bytes > 10_000 && one.operations_per_s.is_some_and(|rate| rate > 1.0)));
    assert_eq!(list[0].metric.as_ref().map(|metric| metric.title.as_str()), Some("Orders per minute"));
}

#[test]
fn the_index_is_rebuilt_when_it_is_missing_damaged_or_of_another_version() {
    let (home, runs) = three();
    let expected = runs.list().expect("a list");
    let path = home.path().join("index.sqlite");
    assert!(path.exists());
    let damage: [&dyn Fn(); 4] = [
        &|| fs::remove_file(&path).unwrap(),
        &|| {
            fs::write(&path, b"this is not a database, and it is longer than a header of SQLite's is, by far")
                .unwrap()
        },
        &|| fs::write(&path, &fs::read(&path).unwrap()[..5_000]).unwrap(),
        &|| {
            let index = rusqlite::Connection::open(&path).unwrap();
            index
                .execute_batch("UPDATE format SET version = 99; DROP TABLE run; CREATE TABLE run (x);")
                .unwrap();
        },
    ];
    for (number, damage) in damage.iter().enumerate() {
        damage();
        assert_eq!(runs.list().expect("a list"), expected, "after damage {number}");
        let index = rusqlite::Connection::open(&path).unwrap();
        let rows: i64 =
            index.query_row("SELECT count(*) FROM run", [], |row| row.get(0)).expect("a sound index");
        assert_eq!(rows, 3, "after damage {number} the index is made anew");
    }
}

#[test]
fn the_index_never_outlives_the_truth() {
    let (home, runs) = three();
    runs.list().expect("a list");
    fs::remove_dir_all(home.path().join("runs").join(IDS[0])).unwrap();
    let path = home.path().join("runs").join(IDS[1]).join("run.json");
    let text = fs::read_to_string(&path).unwrap().replace("\"users\": 70", "\"users\": 1234");
    fs::write(&path, text).unwrap();
    let list = runs.list().expect("a list");
    assert_eq!(list.len(), 2);
    assert_eq!(list[0].users, 1234);
}

#[test]
fn a_list_comes_from_the_index_when_nothing_changed() {
    let (home, runs) = three();
    let before = runs.list().expect("a list");
    let index = rusqlite::Connection::open(home.path().join("index.sqlite")).unwrap();
    index.execute("UPDATE summary SET text = replace(text, '\"users\":20', '\"users\":77')", []).unwrap();
    drop(index);
    assert_eq!(before[0].users, 20);
    assert_eq!(runs.list().expect("a list")[0].users, 77, "the cached row is believed: its stamp still fits");
}

fn page(runs: &Runs, look: Look, time: Duration) -> Selected {
    runs.select(&Selection::of(Filter::default()), look, time).expect("it can be read")
}

#[test]
fn a_list_that_may_take_no_time_gives_what_the_index_knows_and_says_how_much_is_missing() {
    let (_home, runs) = three();
    let some = page(&runs, Look::All, Duration::ZERO);
    assert_eq!(some.runs.len() + some.unread, 3);
    assert!(some.unread >= 2, "{}", some.unread);
    let all = runs.list().expect("it can be read");
    let now = page(&runs, Look::Changes, Duration::ZERO);
    assert_eq!((now.runs, now.unread), (all, 0), "now the index knows them");
}

#[test]
fn who_looks_at_changes_alone_sees_what_plimsoll_changed_and_what_is_shown_as_it_is() {
    let (home, runs) = three();
    runs.list().expect("a list");
    let look = || page(&runs, Look::Changes, Duration::ZERO);
    let notes = Notes { note: "before the upgrade".to_string(), ..Notes::default() };
    notes.write(runs.find(IDS[0]).expect("it is there").directory()).expect("there is room");
    let record = home.path().join("runs").join(IDS[1]).join("run.json");
    let text = fs::read_to_string(&record).unwrap().replace("\"users\": 70", "\"users\": 1234");
    fs::write(&record, text).unwrap();
    keep(home.path(), short(Specimen::Passed), "20261123-000000-dvdstore-0003");
    runs.remove(IDS[2]).expect("it can be removed");
    let now = look();
    assert_eq!(now.unread, 1, "there was no time for the new one: {now:?}");
    let now = page(&runs, Look::Changes, Duration::MAX);
    assert_eq!((now.number, now.unread), (3, 0));
    assert_eq!(now.runs[0].notes, notes);
    assert_eq!(now.runs[1].users, 1234, "what somebody changed by hand is seen, since it is shown");
    assert_eq!(now.runs, runs.list().expect("a list"), "as who looks at everything");
}

#[test]
fn a_page_has_its_rows_in_their_order_and_says_how_many_there_are() {
    let (_home, runs) = three();
    let select = |order: &str, skip, rows| {
        let order = Order::read(order).expect(order);
        let selection = Selection { order, skip, rows, ..Selection::of(Filter::default()) };
        let selected = runs.select(&selection, Look::All, Duration::MAX).expect("a list");
        assert_eq!((selected.number, selected.all), (3, 3));
        selected.runs.iter().map(|run| run.users).collect::<Vec<_>>()
    };
    let list = runs.list().expect("a list");
    let mut users: Vec<u32> = list.iter().map(|run| run.users).collect();
    assert_eq!(select("started", 0, None), users);
    users.sort_unstable();
    assert_eq!(select("users", 0, None), users);
    users.reverse();
    assert_eq!(select("-users", 1, Some(1)), users[1..2]);
    assert!(["kit", "nothing", "words", "-"].iter().all(|word| Order::read(word).is_none()));
}

#[test]
fn a_locked_index_does_not_stop_the_list() {
    let (home, runs) = three();
    let expected = runs.list().expect("a list");
    let index = rusqlite::Connection::open(home.path().join("index.sqlite")).unwrap();
    index.execute_batch("BEGIN EXCLUSIVE").unwrap();
    assert_eq!(runs.list().expect("a list"), expected);
}

#[test]
fn a_run_is_found_by_id_by_the_beginning_of_its_id_and_as_the_last() {
    let (_home, runs) = three();
    for (name, id) in [(IDS[0], IDS[0]), ("20261122", IDS[2]), ("last", IDS[2])] {
        assert_eq!(runs.find(name).expect(name).record().id, id);
    }
}

#[test]
fn a_name_that_is_not_a_runs_is_refused_with_the_nearest_one() {
    let (_home, runs) = three();
    let message = |name: &str| runs.find(name).err().expect("no such run").to_string();
    assert!(message("20261121-034512-dvdstore-0003").contains("try: `20261121-034512-dvdstore-000"));
    assert!(message("20261121").contains("begins the names of 2 runs"));
    assert!(message("xyz").contains("`last`, which is 20261122-080000-webshop-7f3a"));
    assert!(message("../../etc").contains("there is no run"));
    let empty = tempfile::tempdir().expect("a directory");
    let message = Runs::open(empty.path()).unwrap().find("last").err().expect("no run").to_string();
    assert!(message.contains("there are no runs"), "{message}");
}

#[test]
fn a_removed_run_is_gone_and_one_under_way_is_kept() {
    let (home, runs) = three();
    assert!(runs.remove("20261122").expect("it can be removed") > 10_000);
    assert_eq!(runs.list().expect("a list").len(), 2);
    assert!(runs.remove("last").is_err(), "`last` is another run every day");
    assert_eq!(runs.list().expect("a list").len(), 2);
    let writer = short(Specimen::Unfinished).begin(&runs);
    let id = writer.directory().file_name().unwrap().to_string_lossy().into_owned();
    let problem = runs.remove(&id).expect_err("it is under way").to_string();
    assert!(problem.contains("under way"), "{problem}");
    drop(writer);
    runs.remove(&id).expect("its writer has ended");
    let left: Vec<_> = fs::read_dir(home.path().join("runs")).unwrap().collect();
    assert_eq!(left.len(), 2, "nothing half-removed is left: {left:?}");
}

#[test]
fn the_same_id_can_not_be_taken_twice() {
    let (_home, runs) = three();
    let mut record = short(Specimen::Passed).skeleton();
    record.id = IDS[0].into();
    assert!(runs.create(&record).is_err());
    record.id = "../outside".into();
    assert!(runs.create(&record).is_err());
}

#[test]
fn many_writers_and_readers_at_once_do_not_disturb_each_other() {
    let home = tempfile::tempdir().expect("a directory");
    std::thread::scope(|scope| {
        for number in 0..4 {
            let home = home.path();
            scope.spawn(move || {
                for turn in 0..3 {
                    keep(home, short(Specimen::Passed), &format!("20261121-034512-dvdstore-{number}{turn}"));
                    let list = Runs::open(home).unwrap().list().expect("a list");
                    assert!(list.iter().any(|one| one.id.ends_with(&format!("{number}{turn}"))));
                }
            });
        }
    });
    let list = Runs::open(home.path()).unwrap().list().expect("a list");
    assert_eq!(list.len(), 12);
    assert!(list.iter().all(|one| one.valid && !one.under_way), "{list:?}");
}
