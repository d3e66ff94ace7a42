//! The way by which Tomcat is observed: whoever is answered there can also change and call beans, so it is at a path that
//! is drawn for each start, told to nobody, and nowhere that users come.

use std::fs;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use model::catalogue::server_job::StatusPlace;
use testbed::Tier;

use crate::bench::get;

/// Where everybody looks for it.
const GUESSED: [&str; 10] = [
    "/manager/jmxproxy/?qry=*:*",
    "/manager/jmxproxy?qry=*:*",
    "/manager/status",
    "/manager/status/all?XML=true",
    "/manager/html",
    "/manager/text/list",
    "/host-manager/html",
    "/jmxproxy/?qry=*:*",
    "//jmxproxy/?qry=*:*",
    "/observe/jmxproxy/?qry=*:*",
];

fn status(address: SocketAddr, path: &str) -> u16 {
    let answer = get(address, path);
    let code = answer.split(' ').nth(1).and_then(|code| code.parse().ok());
    code.unwrap_or_else(|| panic!("{path}: no status in {answer}"))
}

/// Of a Tomcat whose users come to one of `doors`.
pub(crate) fn only_who_knows_the_path_is_told(tier: &Tier, doors: &[SocketAddr]) {
    let asked = &tier.job.statuses.iter().find(|one| one.name == "memory").expect("a status").asked[0];
    let StatusPlace::Port(port) = asked.at else { panic!("{:?} is no port", asked.at) };
    assert_eq!(port, tier.ports["observe"]);
    let (observe, path) = (SocketAddr::from((Ipv4Addr::LOCALHOST, port)), asked.path.as_str());
    let told = get(observe, path);
    assert!(told.starts_with("HTTP/1.1 200") && told.contains("HeapMemoryUsage"), "{path}: {told}");

    let secret = path.split('/').nth(1).expect("a path");
    assert!(secret.len() == 32 && secret.bytes().all(|byte| byte.is_ascii_hexdigit()), "128 bits: {secret}");
    let last = if secret.ends_with('0') { '1' } else { '0' };
    let nearly = path.replacen(secret, &format!("{}{last}", &secret[..31]), 1);
    for guess in GUESSED.into_iter().chain(["/", "/index.html", nearly.as_str()]) {
        let found = status(observe, guess);
        assert!([401, 403, 404].contains(&found), "{guess} for observers: {found}");
    }
    for door in doors {
        for guess in GUESSED.into_iter().chain([path]) {
            assert_eq!(status(*door, guess), 404, "{guess} for users of {door}");
        }
    }
    nobody_is_told(tier, secret);
}

/// Everybody on a machine may read command lines; whoever may read a kept run reads its configuration.
fn nobody_is_told(tier: &Tier, secret: &str) {
    let words = fs::read(format!("/proc/{}/cmdline", tier.pid)).expect("it runs");
    assert!(!String::from_utf8_lossy(&words).contains(secret), "{}", tier.name);
    let has = |path: &PathBuf| fs::read_to_string(path).is_ok_and(|text| text.contains(secret));
    assert!(tier.files.iter().any(has), "what was rendered has it, or this tests nothing");
    for path in &tier.files {
        assert!(!tier.kept_text(path).contains(secret), "{}", path.display());
    }
}
