//! Bad input is refused before anything starts, with the place and the nearest right word.

use crate::tool::{Home, catalogue, overlay};

fn refused(words: &str) -> crate::tool::Finished {
    Home::shared().plimsoll(words).run().expect(2)
}

#[test]
fn an_unknown_knob_names_the_nearest_one() {
    refused("run dvdstore --set apache.MaxRequestWorker=64").says("MaxRequestWorkers");
}

#[test]
fn a_value_out_of_range_names_the_range() {
    refused("run dvdstore --set web.MaxRequestWorkers=0").says("between 1 and 20000");
    refused("run dvdstore --param n_searches=0").says("between 1 and 100");
    refused("run events --set cache.memory-limit=1")
        .says("1 is out of range; it must be 1M or more (bytes, or with a unit: 64k, 64M, 1G)")
        .says("64M, the default");
}

#[test]
fn unknown_kits_stacks_tiers_and_targets_are_all_told() {
    refused("run dvdstor").says("`dvdstore`");
    refused("run dvdstore --stack lighttpd-fpm-mariadbb").says("`lighttpd-fpm-mariadb`");
    refused("run dvdstore --set apach.Timeout=5").says("`apache`");
    refused("run dvdstore --size huge").says("small");
    let target = Home::shared().plimsoll("run dvdstore").arg("--qos=Brows p95 < 2s").run().expect(2);
    target.says("no operation or session `Brows`").says("`Browse`");
    let all = refused("run dvdstore --qos p95 --steady 5parsecs --users 0 --param nsearches=3");
    for part in
        ["write it as `p95 < 2s`", "`parsecs` is not a unit of time", "at least one user", "`n_searches`"]
    {
        assert!(all.stderr.contains(part), "{part} is missing in:\n{}", all.stderr);
    }
}

#[test]
fn a_page_before_the_first_request_is_nothing_that_hit_can_ask_for() {
    refused("hit http://127.0.0.1:1/ --front-page /there").says("--front-page").says("try: leave it out");
}

#[test]
fn a_kit_with_mistakes_is_refused_with_file_line_and_what_was_expected() {
    let manifest = catalogue("kits/dvdstore/kit.toml");
    let wrong = manifest
        .replace("title = ", "titel = ")
        .replace("version = 1", "version = \"one\"")
        .replace("session = \"session.lua\"", "session = \"sesion.lua\"");
    let dir = overlay(&[("kits/dvdstore/kit.toml", &wrong)]);
    let told = Home::shared().plimsoll("run dvdstore --catalogue").arg(dir.path()).run().expect(2);
    let line =
        |text: &str| wrong.lines().position(|line| line.starts_with(text)).expect("the line is there") + 1;
    told.says(&format!("kits/dvdstore/kit.toml:{}: titel: unknown key", line("titel"))).says(&format!(
        "kits/dvdstore/kit.toml:{}: version: expected a whole number, found string",
        line("version")
    ));
    let missing = manifest.replace("session = \"session.lua\"", "session = \"sesion.lua\"");
    let dir = overlay(&[("kits/dvdstore/kit.toml", &missing)]);
    let told = Home::shared().plimsoll("run dvdstore --catalogue").arg(dir.path()).run().expect(2);
    told.says("sesion.lua").says("does not exist");
}

#[test]
fn a_stack_with_an_unknown_key_is_refused_by_check_as_the_user_names_it() {
    let text = catalogue("stacks/lighttpd-fpm-mariadb.toml").replace("title", "titel");
    let dir = overlay(&[("mine/lighttpd-fpm-mariadb.toml", &text)]);
    let file = dir.path().join("mine/lighttpd-fpm-mariadb.toml");
    let told = Home::shared().plimsoll("check").arg(&file).run().expect(2);
    told.says(&format!("{}:", file.display())).says("titel: unknown key").says("`title`");
}

#[test]
fn a_session_with_a_syntax_error_is_refused_with_its_line() {
    let text = catalogue("kits/dvdstore/session.lua") + "\nfunction broken( return end\n";
    let line = text.lines().count();
    let dir = overlay(&[("kits/dvdstore/session.lua", &text)]);
    let told = Home::shared().plimsoll("run dvdstore --catalogue").arg(dir.path()).run().expect(2);
    told.says(&format!("kits/dvdstore/session.lua:{line}"));
}

#[test]
fn a_missing_package_gives_the_exact_line_for_an_administrator() {
    let service = catalogue("services/mariadb/service.toml")
        .replace("binary = \"mariadbd\"", "binary = \"no-such-program\"")
        .replace("install = [\"mariadb-server-core\"", "install = [\"no-such-package\"");
    let dir = overlay(&[("services/mariadb/service.toml", &service)]);
    let told = Home::shared().plimsoll("run dvdstore --catalogue").arg(dir.path()).run().expect(2);
    told.says("apt-get install --no-install-recommends").says("no-such-package");
    Home::shared().expect_nothing_left();
}

#[test]
fn a_recipe_file_is_checked_with_all_its_mistakes() {
    let text = "format = 1\nkit = \"dvdstore\"\nuser = 5\nsteady = 60\n[set]\n\"web.KeepAliv\" = true\n";
    let dir = overlay(&[("shop.toml", text)]);
    let file = dir.path().join("shop.toml");
    let told = Home::shared().plimsoll("check").arg(&file).run().expect(2);
    told.says("shop.toml:3: user: unknown key")
        .says("`users`")
        .says("shop.toml:4: steady: expected a string");
    let text = "format = 1\nkit = \"dvdstore\"\nusers = 5\nsteady = \"60s\"\n";
    let dir = overlay(&[("shop.toml", text)]);
    Home::shared().plimsoll("check").arg(dir.path().join("shop.toml")).run().expect(0).says("5 users");
}

#[test]
fn a_fault_file_is_checked_as_a_fault_and_not_as_a_recipe() {
    let right = catalogue("faults/db-cpu.toml");
    let check = |text: &str| {
        let dir = overlay(&[("mine/db-cpu.toml", text)]);
        let file = dir.path().join("mine/db-cpu.toml");
        let told = Home::shared().plimsoll("check").arg(&file).run();
        (told, dir)
    };
    check(&right).0.expect(0).says("ok: fault db-cpu: A query that computes").says("names db cpu");
    let table = [
        (right.replace("title = ", "titel = "), "db-cpu.toml:3: titel: unknown key"),
        (right.replace("tier = \"db\"", "tier = \"dbb\""), "has no tier `dbb`"),
        (right.replace("resource = \"cpu\"", "resource = \"cpuu\""), "no rule names a resource `cpuu` of db"),
        (right.replace("$found = $customer === null", "$nothing"), "occurs 0 times"),
        (right.replace("\"app.pm.max_children\" = 80", "\"app.pm.max_children\" = 0"), "out of range"),
    ];
    for (text, expected) in table {
        assert!(text != right, "the file has changed: {expected}");
        let (told, dir) = check(&text);
        told.expect(2).says(expected).says(&dir.path().join("mine/db-cpu.toml").display().to_string());
    }
    Home::shared().plimsoll("check db-cpus").run().expect(2).says("`db-cpu`");
}

#[test]
fn files_of_rules_and_of_targets_are_checked_as_what_they_are() {
    let rules =
        catalogue("rules/web.toml").replacen("signal = \"workers.busy\"", "signal = \"worker.busy\"", 1);
    let targets = catalogue("qos/specweb-banking.toml").replace("p95 < 2s", "p95 < 2 parsecs");
    let dir = overlay(&[("mine/web.toml", &rules), ("mine/specweb-banking.toml", &targets)]);
    let check = |file: &str| Home::shared().plimsoll("check").arg(dir.path().join("mine").join(file)).run();
    let at = rules.lines().position(|line| line.contains("\"worker.busy\"")).expect("it was put there") + 1;
    let expected =
        format!("web.toml:{at}: rule web-workers: evidence.signal: nobody declares a signal `worker.busy`");
    check("web.toml").expect(2).says(&expected).says("`workers.busy`");
    check("specweb-banking.toml").expect(2).says("`parsecs` is not a unit of time");
}

#[test]
fn every_fault_of_the_catalogue_passes_check() {
    let list = Home::shared().plimsoll("faults --list").run().expect(0);
    let names: Vec<&str> = list.stdout.lines().filter_map(|line| line.split_whitespace().next()).collect();
    let faults: Vec<&&str> = names.iter().filter(|name| name.contains('-')).collect();
    assert!(faults.len() >= 25, "{names:?}");
    for name in faults {
        Home::shared().plimsoll(&format!("check {name}")).run().expect(0).says(&format!("ok: fault {name}"));
    }
}

#[test]
fn everything_in_the_catalogue_passes_check() {
    let list = Home::shared().plimsoll("list").run().expect(0);
    let names: Vec<&str> =
        list.stdout.lines().filter_map(|line| line.strip_prefix("  ")?.split_whitespace().next()).collect();
    assert!(names.len() >= 8, "{names:?}");
    for name in names {
        Home::shared().plimsoll(&format!("check {name}")).run().expect(0);
    }
}

#[test]
fn everything_of_a_name_is_listed_and_a_name_that_is_none_is_told_the_nearest_one() {
    let list = |name: &str| Home::shared().plimsoll(&format!("list {name}")).run();
    // Both a kit and the targets that it is measured with.
    let both = list("tpcw").expect(0);
    let both = both.says("Default stack: tomcat-mariadb").says("--stack: apache-tomcat-mariadb");
    let both = both.says("browsers=10,items=1000").says("browsing, ordering").says("image_connections");
    both.says("asked for with --qos tpcw").says("AdminConfirm p90 < 20s");
    list("radicale").expect(0).says("Tiers, in the order").says("server.max_connections");
    list("mariadb").expect(0).says("skip_networking").says("net.host").says("cgroup.cpu");
    let tomcat = list("tomcat").expect(0).says("cgroup.memory");
    assert!(!tomcat.stdout.contains("net.host"), "it is only reached from this host:\n{}", tomcat.stdout);
    list("tpwc").expect(2).says("`tpwc` is no kit, stack, service").says("try: `tpcw`");
}

#[test]
fn a_path_that_is_not_unicode_is_a_path_all_the_same() {
    use std::os::unix::ffi::OsStrExt;
    let dir = overlay(&[]);
    let path = dir.path().join(std::ffi::OsStr::from_bytes(b"cata\xfflogue"));
    std::fs::create_dir(&path).expect("a folder");
    Home::shared().plimsoll("list --catalogue").arg(&path).run().expect(0);
}

#[test]
fn what_lies_beside_a_catalogue_s_folders_is_nobody_s_concern() {
    let dir = tempfile::tempdir().expect("a directory");
    let unpacked = dir.path().join("unpacked");
    std::fs::create_dir(&unpacked).expect("a folder");
    std::os::unix::fs::symlink("/no/such/place", unpacked.join("broken")).expect("a link");
    let told = Home::shared().plimsoll("list --catalogue").arg(dir.path()).run().expect(2);
    told.says("has no folder of a catalogue").says("DIR/kits/NAME");
    std::fs::create_dir_all(dir.path().join("qos")).expect("a folder");
    std::fs::write(dir.path().join("qos/none.txt"), "nothing").expect("a file");
    Home::shared().plimsoll("list --catalogue").arg(dir.path()).run().expect(0);
}
