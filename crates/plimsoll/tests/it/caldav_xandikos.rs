//! The kit `caldav` against Xandikos (Debian's package of that name), a server that nobody here wrote and that the test
//! starts by itself: one account, whose program is followed and measured, and whose calendar is checked over HTTP.

use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;
use testkit::ending::skip;

use crate::caldav_promises;
use crate::dav::{Dav, NEW, event, name};
use crate::record::{metric, nothing_is_lost};
use crate::tool::{Home, judged, wait_for};
use crate::tried::{in_turn, legible, statuses};

/// What a program of today does; the first one finds the calendar.
const OF_TODAY: [&str; 11] =
    ["Poll", "Poll", "Create", "Poll", "Update", "Update", "Poll", "Delete", "Week", "Get", "Restart"];
/// Without lost tokens: Xandikos 0.2.8 answers one that it does not know with status 500, and a failure is what that is.
const HURRIED: &str = "--param conflicts=1 --param lost_tokens=0 --param unauthenticated=0";
const OBJECTS: u32 = 25;

/// The server, until it is dropped.
struct Xandikos {
    child: Child,
    address: String,
    _dir: TempDir,
}

impl Xandikos {
    /// With one account, that of the kit's first user, and some objects in its calendar.
    fn open() -> Option<Xandikos> {
        if Command::new("xandikos").arg("--version").output().is_err() {
            skip("there is no xandikos: Debian's package of that name");
            return None;
        }
        let dir = TempDir::new().expect("a directory");
        let free = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
        let address = free.expect("a loopback port");
        let user = name(1);
        let mut command = Command::new("xandikos");
        command.arg("--directory").arg(dir.path()).args(["--listen-address", "127.0.0.1", "--port"]);
        command.arg(address.port().to_string()).args(["--defaults", "--current-user-principal"]);
        let child = command.arg(format!("/{user}/")).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let child = child.expect("it can be started");
        let server = Xandikos { child, address: address.to_string(), _dir: dir };
        wait_for("xandikos", || TcpStream::connect(address).ok());
        server.fill(&user);
        Some(server)
    }

    fn fill(&self, user: &str) {
        let mut owner = Dav::of(&self.address, 1);
        for number in 0..OBJECTS {
            let uid = format!("00000000-0001-4000-8000-{number:012}");
            let day = 1 + number % 27;
            let (start, end) = (format!("200610{day:02}T100000Z"), format!("200610{day:02}T110000Z"));
            let path = format!("/{user}/calendars/calendar/{uid}.ics");
            let page = owner.put(&path, NEW, &event(&uid, &start, &end, "Standing"));
            assert_eq!(page.status, 201, "{}", page.head);
        }
    }
}

impl Drop for Xandikos {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_program_of_today_can_be_followed_on_xandikos() {
    let Some(server) = Xandikos::open() else { return };
    let kit = in_turn("caldav", &OF_TODAY, |text| text);
    let words = format!(
        "try caldav --target http://{} --size quick {HURRIED} --param think_time=0.001 --mix turn --sessions {} --bodies",
        server.address,
        OF_TODAY.len()
    );
    let told = Home::shared().plimsoll(&words).arg("--catalogue").arg(kit.path()).run();
    let operations =
        ["Discover", "SetUp", "FirstSync", "Multiget", "Poll", "Sync", "Create", "Update", "Week", "Get"];
    let shown = legible(told, &OF_TODAY, &operations);
    assert!(statuses(&shown, "PUT /user00001/").contains(&"412"), "an old tag is refused:\n{shown}");
}

#[test]
fn programs_of_today_are_told_by_xandikos_what_was_confirmed_and_nothing_else() {
    let Some(server) = Xandikos::open() else { return };
    let words = format!(
        "run caldav --target http://{} --size quick --users 1 {HURRIED} --param think_time=0.05 --ramp-up 3s \
         --steady 20s --ramp-down 0s --json",
        server.address
    );
    let tool = || Home::shared().plimsoll(&words).arg("--qos=p50 < 10s").arg("--qos=errors < 1%");
    let record = judged(tool).expect(0).json();
    assert_eq!(record["verdict"]["valid"], true, "{:#}", record["validity"]);
    assert_eq!(metric(&record, "broken_promises"), 0.0);
    assert!(metric(&record, "changes") > 0.0);
    nothing_is_lost(&record, caldav_promises::STATEMENTS);
}
