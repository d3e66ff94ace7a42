//! Settings of the machine itself: changed for a lab, put back with it, by whoever ends it.

use std::fs;
use std::path::Path;

use model::Value;
use model::catalogue::machine_knob::MachineKnob;
use model::record::plan::MachineSetting;
use testbed::{Lab, LabOptions, MachineKnobFound, look_at_machine, sweep};
use testkit::ending::skip;

use crate::bench::{home, keeper, switch};
use crate::tiny::catalogue;

fn open(home: &Path, id: &str) -> Lab {
    let options = LabOptions { home, id, keeper: keeper(), switch: switch(), cgroups: true };
    Lab::open(&options).expect("a lab")
}

fn knob(name: &str) -> MachineKnob {
    let all = catalogue().machine_knobs().expect("the catalogue has them");
    all.into_iter().find(|knob| knob.name == name).unwrap_or_else(|| panic!("no {name}"))
}

fn setting(knob: &MachineKnob, value: &str) -> MachineSetting {
    MachineSetting {
        name: knob.name.clone(),
        value: knob.accept(&Value::Text(value.to_string())).expect("a value"),
        file: knob.file.clone(),
        form: knob.form,
        unless_found: knob.unless_found.clone(),
    }
}

/// The value in force, and one that differs from it; nothing where it can't be changed here, and the test is skipped.
fn changeable(knob: &MachineKnob) -> Option<(String, String)> {
    match look_at_machine(knob, Path::new("/")) {
        MachineKnobFound::Changeable(found) => {
            let other = if found == "61" { "62" } else { "61" };
            Some((found, other.to_string()))
        }
        other => skip(&format!("{}: {other:?}", knob.name)).then_some(Default::default()),
    }
}

fn now(knob: &MachineKnob) -> String {
    fs::read_to_string(&knob.file).expect("a setting").trim().to_string()
}

#[test]
fn a_setting_is_another_ones_while_the_lab_lives_and_is_back_when_it_ends() {
    let knob = knob("net.tcp_fin_timeout");
    let Some((found, other)) = changeable(&knob) else { return };
    let home = home();
    let lab = open(home.path(), "changed");
    let done = lab.set_machine(&[setting(&knob, &other)]).expect("it can be changed");
    assert_eq!((&done[0].found, &done[0].set), (&found, &other));
    assert_eq!(now(&knob), other);
    let again = lab.set_machine(&[setting(&knob, "63")]).expect("its own lab has it");
    assert_eq!(again[0].found, other);
    assert_eq!(now(&knob), "63");
    // Another one beside it in the same tool, as where two stacks take turns.
    let beside = open(home.path(), "beside");
    beside.set_machine(&[setting(&knob, "63")]).expect("it is that already");
    let refused = beside.set_machine(&[setting(&knob, &other)]).expect_err("it is one machine");
    assert!(refused.to_string().contains("another stack stands beside this one"), "{refused}");
    beside.close().expect("it closes");
    assert_eq!(now(&knob), "63", "it had changed nothing");
    lab.close().expect("it closes");
    assert_eq!(now(&knob), found);
    assert!(!Path::new("/run/plimsoll").join("proc.sys.net.ipv4.tcp_fin_timeout").exists());
}

#[test]
fn a_value_that_the_kernel_does_not_take_is_told_and_what_stood_there_stays() {
    let knob = knob("net.tcp_congestion_control");
    if !matches!(look_at_machine(&knob, Path::new("/")), MachineKnobFound::Changeable(_)) {
        skip("the setting can't be changed here");
        return;
    }
    let (home, found) = (home(), now(&knob));
    let lab = open(home.path(), "refused");
    let refused = lab.set_machine(&[setting(&knob, "carrier-pigeon")]).expect_err("there is none");
    let said = refused.to_string();
    assert!(said.contains("set.host.net.tcp_congestion_control"), "{said}");
    assert!(said.contains("doesn't take carrier-pigeon"), "{said}");
    lab.close().expect("it closes");
    assert_eq!(now(&knob), found);
}

/// The ledger of a lab that died, with a change of a file that stands for a setting.
fn dead_lab(home: &Path, boot: &str, file: &Path) {
    let instances = home.join("instances");
    fs::create_dir_all(&instances).expect("a directory");
    let opened = format!(r#"{{"entry":"opened","format":1,"marker":"dead.1","boot":"{boot}","uid":61000}}"#);
    let changed = format!(r#"{{"entry":"machine","path":"{}","found":"60"}}"#, file.display());
    fs::write(instances.join("dead.ledger"), format!("{opened}\n{changed}\n")).expect("a ledger");
}

#[test]
fn what_a_dead_lab_changed_is_put_back_by_the_next_start_but_not_after_another_boot() {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").expect("a boot");
    for (boot, left) in [(boot.trim(), "60"), ("00000000-0000-0000-0000-000000000000", "1")] {
        let home = home();
        let file = home.path().join("setting");
        fs::write(&file, "1").expect("a file");
        dead_lab(home.path(), boot, &file);
        let swept = sweep(home.path()).expect("it can be undone");
        assert_eq!(swept.labs, ["dead"]);
        assert_eq!(fs::read_to_string(&file).expect("a file").trim(), left, "boot {boot}");
    }
}
