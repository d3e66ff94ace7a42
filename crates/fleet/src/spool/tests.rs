use tempfile::TempDir;

use super::*;

fn message(number: u64) -> Vec<u8> {
    format!("second {number} ").into_bytes().repeat(20)
}

fn folder() -> (TempDir, PathBuf) {
    let dir = tempfile::tempdir().expect("a directory");
    let folder = dir.path().join("spool");
    (dir, folder)
}

fn open(folder: &Path) -> Spool {
    Spool::open(folder, 1 << 30).expect("it opens")
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> =
        fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
    found.sort();
    found
}

fn numbers(found: &[(u64, Vec<u8>)]) -> Vec<u64> {
    found.iter().map(|(number, _)| *number).collect()
}

fn twelve_messages_in_three_files() -> (TempDir, PathBuf, Spool) {
    let (dir, folder) = folder();
    let mut spool = open(&folder);
    let large = vec![7; 1 << 20];
    (0..12).for_each(|_| _ = spool.append(&large).expect("room"));
    assert_eq!(files(&folder).len(), 3, "{:?}", files(&folder));
    (dir, folder, spool)
}

#[test]
fn what_was_told_is_there_after_the_agent_has_died() {
    let (_dir, folder) = folder();
    let mut spool = open(&folder);
    for number in 0..50 {
        assert_eq!(spool.append(&message(number)).expect("room"), number);
    }
    // As by a kill: nothing is closed or said.
    std::mem::forget(spool);
    let mut again = open(&folder);
    let found = again.from(0, usize::MAX).expect("it is read");
    assert_eq!(numbers(&found), (0..50).collect::<Vec<_>>());
    assert!(found.iter().all(|(number, bytes)| *bytes == message(*number)));
    assert_eq!(again.append(&message(50)).expect("room"), 50, "numbers go on");
    assert_eq!(numbers(&again.from(48, usize::MAX).expect("it is read")), [48, 49, 50]);
}

#[test]
fn a_message_that_was_cut_off_is_left_out_wherever_the_cut_is() {
    let (_dir, folder) = folder();
    let mut spool = open(&folder);
    (0..3).for_each(|number| _ = spool.append(&message(number)).expect("room"));
    let whole = spool.bytes();
    drop(spool);
    let file = files(&folder).remove(0);
    let bytes = fs::read(&file).expect("a file");
    let two_thirds = whole / 3 * 2;
    for length in (two_thirds..whole).rev() {
        fs::write(&file, &bytes[..length as usize]).expect("it is cut");
        let mut spool = open(&folder);
        assert_eq!(spool.next(), 2, "cut to {length} of {whole} bytes");
        assert_eq!(spool.append(b"instead").expect("room"), 2);
        let found = spool.from(0, usize::MAX).expect("it is read");
        assert_eq!(found[2], (2, b"instead".to_vec()), "cut to {length} of {whole} bytes");
        assert_eq!(found[1].1, message(1));
    }
}

#[test]
fn damage_ends_what_is_believed_and_never_what_was_before_it() {
    let (_dir, folder) = folder();
    let mut spool = open(&folder);
    (0..3).for_each(|number| _ = spool.append(&message(number)).expect("room"));
    drop(spool);
    let file = files(&folder).remove(0);
    let right = fs::read(&file).expect("a file");
    for at in 0..right.len() {
        let mut damaged = right.clone();
        damaged[at] ^= 0x40;
        fs::write(&file, &damaged).expect("it is written");
        let spool = open(&folder);
        let before = at / (right.len() / 3);
        assert_eq!(spool.next(), before as u64, "byte {at}");
        assert!(
            spool
                .from(0, usize::MAX)
                .expect("it is read")
                .iter()
                .all(|(number, bytes)| *bytes == message(*number))
        );
    }
}

#[test]
fn what_is_kept_elsewhere_is_forgotten_in_whole_files() {
    let (_dir, folder, mut spool) = twelve_messages_in_three_files();
    spool.forget_before(3).expect("the disk works");
    assert_eq!(
        (spool.first(), files(&folder).len()),
        (0, 3),
        "the first file has one that nobody is known to keep"
    );
    spool.forget_before(9).expect("the disk works");
    assert_eq!((spool.first(), files(&folder).len()), (8, 1));
    spool.forget_before(12).expect("the disk works");
    assert_eq!(spool.append(b"next").expect("room"), 12, "numbers never come twice");
    drop(spool);
    assert_eq!(open(&folder).next(), 13);
    open(&folder).remove().expect("the disk works");
    assert!(!folder.exists());
}

#[test]
fn a_file_that_is_missing_ends_what_can_be_told_in_order() {
    let (_dir, folder, spool) = twelve_messages_in_three_files();
    drop(spool);
    fs::remove_file(&files(&folder)[1]).expect("it is removed");
    let spool = open(&folder);
    assert_eq!((spool.first(), spool.next()), (0, 4));
    assert_eq!(files(&folder).len(), 1);
}

#[test]
fn it_takes_no_more_than_it_may_and_as_much_as_is_asked_for() {
    let (_dir, folder) = folder();
    let mut spool = Spool::open(&folder, 1_000).expect("it opens");
    let first = spool.append(&[1; 600]).expect("room");
    let full = spool.append(&[2; 600]).expect_err("no room");
    assert!(matches!(full, SpoolError::Full { .. }), "{full}");
    assert_eq!(spool.next(), first + 1, "it is as it was");
    spool.append(&[3; 100]).expect("room for a small one");
    spool.append(&[4; 100]).expect("and another");
    assert_eq!(numbers(&spool.from(0, 10).expect("it is read")), [0], "one at least");
    assert_eq!(numbers(&spool.from(0, 750).expect("it is read")), [0, 1]);
    assert_eq!(numbers(&spool.from(1, 750).expect("it is read")), [1, 2]);
    assert!(spool.from(3, 750).expect("it is read").is_empty());
}
