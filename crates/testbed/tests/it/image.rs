//! Files in a file system of their own, mounted in a lab.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Command;

use testbed::{Lab, LabOptions};
use testkit::ending::skip;

use crate::bench::{keeper, switch};

/// Reads that the disk of `path` has done.
fn reads(path: &Path) -> u64 {
    let device = fs::metadata(path).expect("it is there").dev();
    let (major, minor) = (rustix::fs::major(device), rustix::fs::minor(device));
    let text = fs::read_to_string(format!("/sys/dev/block/{major}:{minor}/stat")).expect("it is a disk");
    text.split_ascii_whitespace().next().and_then(|figure| figure.parse().ok()).expect("a number")
}

#[test]
fn names_are_read_from_the_disk_again_whenever_an_image_is_mounted_anew_and_it_goes_with_its_lab() {
    if let Err(why) = testbed::check_images() {
        skip(&why.to_string());
        return;
    }
    let home = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
    let files = home.path().join("set");
    for folder in ["one", "two"] {
        fs::create_dir_all(files.join(folder)).expect("it is writable");
        fs::write(files.join(folder).join("page"), folder).expect("it is writable");
    }
    let image = home.path().join("set.ext4");
    testbed::make_image(&files, (2, 6), &image).unwrap_or_else(|problems| panic!("{problems}"));
    let options =
        LabOptions { home: home.path(), id: "image", keeper: keeper(), switch: switch(), cgroups: false };
    let lab = Lab::open(&options).unwrap_or_else(|problems| panic!("{problems}"));
    let mounted = lab.mount(&image).unwrap_or_else(|problems| panic!("{problems}"));
    let at = mounted.at().to_path_buf();
    for _ in 0..2 {
        mounted.anew().unwrap_or_else(|problems| panic!("{problems}"));
        let before = reads(&at);
        let about = fs::metadata(at.join("two/page")).expect("it has the set's files");
        let by_name = reads(&at);
        assert!(by_name > before, "a name that nobody has looked up is read from the disk");
        assert_eq!(fs::metadata(at.join("two/page")).expect("it is there").ino(), about.ino());
        assert_eq!(reads(&at), by_name, "and then no more");
        assert_eq!(fs::read_to_string(at.join("two/page")).expect("it can be read"), "two");
    }
    let written = fs::write(at.join("other"), "").expect_err("it is for reading only");
    assert_eq!(written.raw_os_error(), Some(libc::EROFS), "{written}");
    lab.close().unwrap_or_else(|problems| panic!("{problems}"));
    assert!(!at.exists(), "the lab's directory is gone");
    let left =
        Command::new("/sbin/losetup").arg("--associated").arg(&image).output().expect("util-linux is there");
    assert_eq!(String::from_utf8_lossy(&left.stdout), "", "a loop device is left");
}
