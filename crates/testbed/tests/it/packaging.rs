//! Packages: what is missing, the line for an administrator, and unpacking where the network allows.

use model::catalogue::setting::Apply;
use testbed::packages::{self, How};
use testbed::{Needed, program};
use testkit::ending::skip;

use crate::bench::home;
use crate::tiny::catalogue;

#[test]
fn nothing_that_would_start_a_daemon_is_ever_installed() {
    let catalogue = catalogue();
    for name in catalogue.services() {
        let service = catalogue.service(name).expect("a service");
        let daemons = [
            "apache2",
            "lighttpd",
            "mariadb-server",
            "php8.2-fpm",
            "nginx",
            "nginx-light",
            "memcached",
            "nats-server",
            "h2o",
            "tomcat10",
        ];
        let modules = service.modules.iter().map(|module| &module.packages);
        let mut all = [&service.packages].into_iter().chain(modules).flat_map(|packages| &packages.install);
        let installed = all.find(|package| daemons.contains(&package.as_str()));
        assert_eq!(installed, None, "{name} installs a package that starts the system's own service");
        assert!(!packages::apt_line(&[Needed::whole(&service)], &[]).contains("php8.2-fpm"));
    }
}

#[test]
fn every_service_of_the_catalogue_passes_its_check() {
    let catalogue = catalogue();
    for name in catalogue.services() {
        let service = catalogue.service(name).unwrap_or_else(|problems| panic!("{problems}"));
        let checked = testbed::check_service(&catalogue, &format!("services/{name}"), &service);
        checked.unwrap_or_else(|problems| panic!("{name}: {problems}"));
    }
}

/// Apache: "changing ServerLimit … not allowed during restart", and the same of ThreadLimit, which these set.
#[test]
fn what_a_reload_of_apache_does_not_take_is_applied_by_a_restart() {
    let apache = catalogue().service("apache").expect("a service");
    for name in ["mpm", "ServerLimit", "StartServers", "ThreadsPerChild"] {
        let knob = apache.knobs.iter().find(|knob| knob.name == name).expect("a knob");
        assert_eq!(knob.apply, Apply::Restart, "{name}");
    }
}

#[test]
fn a_missing_program_names_its_packages_once_with_the_reason() {
    let catalogue = catalogue();
    let mut service = catalogue.service("lighttpd").expect("a service");
    service.program.binary = "no-such-lighttpd".into();
    service.modules.clear();
    service.packages.install = vec!["no-such-library".into(), "dpkg".into()];
    let home = home();
    let missing = packages::missing(&[Needed::whole(&service), Needed::whole(&service)], &[], home.path());
    let found: Vec<(&str, How)> = missing.iter().map(|one| (one.package.as_str(), one.how)).collect();
    assert_eq!(
        found,
        [("no-such-library", How::Install), ("lighttpd", How::Unpack)],
        "dpkg itself is installed"
    );
    assert!(missing.iter().all(|one| one.why == "the web server"));
    assert_eq!(
        packages::apt_line(&[Needed::whole(&service), Needed::whole(&service)], &[]),
        "apt-get install --no-install-recommends dpkg no-such-library"
    );
}

#[test]
fn libraries_of_an_unpacked_program_are_there_when_it_links_whatever_their_packages_are_called() {
    let catalogue = catalogue();
    let mut service = catalogue.service("lighttpd").expect("a service");
    service.modules.clear();
    service.program.files.clear();
    service.packages.install = vec!["libno-such-name1".into(), "no-such-tool".into()];
    let home = home();
    let folder = home.path().join("programs/lighttpd/usr/bin");
    std::fs::create_dir_all(&folder).expect("a directory");
    std::fs::copy("/bin/true", folder.join("links")).expect("a program");
    std::fs::write(folder.join("script"), "#!/bin/sh\n").expect("a file");
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(folder.join("script"), executable).expect("it is ours");
    let mut missing = |binary: &str| {
        service.program.binary = binary.into();
        let missing = packages::missing(&[Needed::whole(&service)], &[], home.path());
        missing.into_iter().map(|one| one.package).collect::<Vec<_>>()
    };
    assert_eq!(missing("links"), ["no-such-tool"], "what is no library is asked for by its name");
    assert_eq!(missing("script"), ["libno-such-name1", "no-such-tool"], "the loader can't tell");
    let modules = home.path().join("programs/lighttpd/usr/lib/lighttpd");
    std::fs::create_dir_all(&modules).expect("a directory");
    std::fs::copy("/bin/true", modules.join("mod_links.so")).expect("a module");
    assert_eq!(missing("links"), ["no-such-tool"], "so do its modules");
    std::fs::write(modules.join("mod_other.so"), "what the loader can't load").expect("a file");
    assert_eq!(missing("links"), ["libno-such-name1", "no-such-tool"], "one of its modules does not link");
}

#[test]
fn an_unpacked_package_is_found_before_the_systems_own() {
    let home = home();
    let root = home.path().join("programs/tool");
    std::fs::create_dir_all(root.join("usr/bin")).expect("a directory");
    std::fs::copy("/bin/true", root.join("usr/bin/sh")).expect("a program");
    let found = program::find("sh", home.path()).expect("a program");
    assert_eq!((found.path, found.root), (root.join("usr/bin/sh"), root));
    assert!(program::has_file("/usr/bin/sh", home.path()));
    assert!(!program::has_file("/usr/lib/no-such-file", home.path()));
}

#[test]
fn a_package_is_unpacked_whole_or_not_at_all() {
    if !std::path::Path::new("/usr/bin/apt-get").exists() {
        skip("this machine has no apt-get");
        return;
    }
    let home = home();
    let package = "apt".to_string();
    let missing = packages::Missing { package, why: "a test".into(), how: How::Unpack };
    let mut said = Vec::new();
    // `apt` is known to every list; its archive can be fetched or, without a network, can't. Either is whole.
    let result = packages::install(&[missing], home.path(), &mut |line| said.push(line.to_string()));
    let unpacked = home.path().join("programs/apt");
    match result {
        Ok(()) => assert!(unpacked.join("usr/bin/apt-get").exists()),
        Err(problems) => assert!(problems.to_string().contains("try:") && !unpacked.exists(), "{problems}"),
    }
    assert!(said.iter().any(|line| line.contains("apt is needed: a test")), "{said:?}");
    let left = std::fs::read_dir(home.path().join("programs")).expect("a directory").flatten();
    assert!(left.into_iter().all(|entry| entry.file_name() == "apt"), "no half of it stays");
}
