//! The catalogue's kit `caldav`: its files are a store as Radicale keeps it, and each object is one that another parser
//! reads.

use std::collections::BTreeMap;
use std::fs;
use std::sync::atomic::AtomicBool;

use kit::Kit;
use kit::files::{self, MADE, MakeOptions};

use crate::ical::Object;
use crate::shop::{catalogue, setup};

#[test]
fn the_store_has_a_calendar_of_valid_objects_for_each_account() {
    let catalogue = catalogue();
    let kit = Kit::open(&catalogue, "caldav").expect("the kit is right");
    let small = setup(&kit, "quick", &[("events_median", "20"), ("events_most", "60")]);
    let list = files::list(&kit, &small, &catalogue).expect("the script is right").expect("a file set");
    let home = tempfile::tempdir().expect("a directory");
    let into = home.path().join("set");
    let (cancelled, on_progress) = (AtomicBool::new(false), &mut |_| ());
    files::make(MakeOptions { list: &list, into: &into, threads: 2, on_progress, cancelled: &cancelled })
        .unwrap_or_else(|problems| panic!("{problems}"));
    let read = |path: &str| fs::read_to_string(into.join(MADE).join(path)).expect("it was made");

    let names: Vec<String> = (1..=10).map(|n| format!("user{n:05}")).collect();
    let lines: String = names.iter().map(|name| format!("{name}:{name}\n")).collect();
    assert_eq!(read("htpasswd"), lines, "each has its name as the password");
    for name in &names {
        let props = read(&format!("collection-root/{name}/calendar/.Radicale.props"));
        for part in ["\"tag\": \"VCALENDAR\"", "\"D:displayname\": \"Calendar\"", "\"VEVENT,VTODO\""] {
            assert!(props.starts_with('{') && props.ends_with('}') && props.contains(part), "{props}");
        }
    }
    let mut objects: BTreeMap<String, usize> = BTreeMap::new();
    for (path, length) in list.files().filter(|(path, _)| path.ends_with(".ics")) {
        let parts: Vec<&str> = path.split('/').collect();
        let ["collection-root", name, "calendar", file] = parts[..] else { panic!("{path}") };
        let text = read(path);
        assert_eq!(text.len() as u64, length, "{path}");
        let object = Object::read(&text);
        assert_eq!(object.value("UID"), file.strip_suffix(".ics"), "{text}");
        assert!(["VEVENT", "VTODO"].contains(&object.kind.as_str()) && object.alarms <= 1, "{text}");
        *objects.entry(name.to_string()).or_default() += 1;
    }
    assert_eq!(objects.keys().cloned().collect::<Vec<_>>(), names);
    assert!(objects.values().all(|count| (1..=60).contains(count)), "{objects:?}");
    let mean = objects.values().sum::<usize>() as f64 / 10.0;
    assert!(
        (20.0..45.0).contains(&mean),
        "{mean} objects in a calendar: nearly twice the median, before the cut"
    );
}
