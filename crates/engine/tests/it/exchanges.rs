//! What lies between a session's call and the pages that it gets: redirects, proofs of who the user is, several
//! connections at once, the user's cache, and how long connections live. All on virtual time.

use engine::scenario::{ConnectionPolicy, Resend};
use model::Distribution;
use model::record::interval::{ErrorKind, OperationKind};

use crate::virtual_net::{MS, Reply, ok, status};
use crate::virtual_time::{Bench, Seen, bench};

fn with(code: u16, headers: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!("HTTP/1.1 {code} X\r\n{headers}\r\nContent-Length: {length}\r\n\r\n{body}").into_bytes()
}

fn once(script: &'static str) -> Bench {
    Bench { max_sessions: Some(1), ..bench(script) }
}

/// The first lines of the requests, in the order in which they came.
fn lines(seen: &Seen) -> Vec<String> {
    let log = seen.log.borrow();
    log.iter().map(|(_, text)| text.split(" HTTP/").next().unwrap_or_default().to_string()).collect()
}

fn assert_no_error(seen: &Seen) {
    assert!(seen.listener.evidence.is_empty(), "{:?}", seen.listener.evidence);
}

/// A server that asks for a digest until it gets one.
fn asking_for_a_digest(_at_ns: u64, text: &str) -> Reply {
    if text.contains("Authorization: Digest ") {
        return Reply::After(MS, ok(""));
    }
    let challenge = "WWW-Authenticate: Digest realm=\"r\", nonce=\"n1\", qop=\"auth\", algorithm=MD5";
    Reply::After(MS, with(401, challenge, ""))
}

#[test]
fn a_redirect_is_followed_within_its_operation_and_counted_apart() {
    let script = "function visit() operation 'Op' local p = get('/a') check(p:has('here'), 'the page') end";
    let seen = once(script).against(|_, text| match text.starts_with("GET /a ") {
        true => Reply::After(10 * MS, with(302, "Location: /b?c=d\r\nSet-Cookie: s=1; Path=/", "")),
        false => Reply::After(20 * MS, ok("here")),
    });
    assert_no_error(&seen);
    assert_eq!(lines(&seen), ["GET /a", "GET /b?c=d"]);
    assert!(
        seen.log.borrow()[1].1.contains("Cookie: s=1\r\n"),
        "the redirect's cookie goes with the next request"
    );
    let operation = &seen.whole.operations[seen.row(OperationKind::Operation, "Op")];
    assert!(
        operation.response.equivalent(operation.response.max(), 30_000),
        "{} µs",
        operation.response.max()
    );
    assert_eq!(seen.completed(OperationKind::Request, "/a"), 1);
    assert_eq!(seen.completed(OperationKind::Request, "/b"), 1);
    assert_eq!((seen.whole.wire.redirects, seen.totals.connects), (1, 1));
}

#[test]
fn a_form_s_redirect_becomes_a_get_and_a_temporary_one_repeats_the_form() {
    let script = "function visit() post('/see', { a = 1 }) post('/again', { b = 2 }) end";
    let seen = once(script).against(|_, text| {
        let answer = match text.split(' ').nth(1) {
            Some("/see") => with(303, "Location: /seen", ""),
            Some("/again") => with(307, "Location: /there", ""),
            _ => ok(""),
        };
        Reply::After(MS, answer)
    });
    assert_no_error(&seen);
    assert_eq!(lines(&seen), ["POST /see", "GET /seen", "POST /again", "POST /there"]);
    let log = seen.log.borrow();
    assert!(log[1].1.ends_with("\r\n\r\n") && !log[1].1.contains("Content-"), "{}", log[1].1);
    assert!(log[3].1.ends_with("\r\n\r\nb=2"), "{}", log[3].1);
}

#[test]
fn redirects_that_lead_in_a_circle_or_away_are_errors_of_that_request() {
    let circle = once("function visit() get('/a') end")
        .against(|_, _| Reply::After(MS, with(302, "Location: /a", "")));
    assert_eq!(circle.errors("visit", ErrorKind::Status), 1);
    assert_eq!(circle.whole.wire.redirects, 10);
    assert!(circle.listener.evidence[0].contains("more than 10 redirects"), "{:?}", circle.listener.evidence);
    let away = once("function visit() get('/a') end")
        .against(|_, _| Reply::After(MS, with(302, "Location: http://example.org/", "")));
    assert_eq!(away.errors("visit", ErrorKind::Status), 1);
    assert!(away.listener.evidence[0].contains("http://example.org/"), "{:?}", away.listener.evidence);
    assert_eq!(lines(&away).len(), 1, "nothing is sent elsewhere");
    let request = &away.whole.operations[away.row(OperationKind::Request, "/a")];
    assert_eq!((request.completed, request.failed()), (0, 1), "a refused redirect is no success");
}

#[test]
fn a_session_may_look_at_the_redirect_itself() {
    let script = "function visit() \
        local a = get('/a', nil, { redirects = 0 }) check(a.status == 302, 'not followed') \
        local b = get('/a', nil, { expect = 302 }) check(b:header('location') == '/b', 'expected') end";
    let seen = once(script).against(|_, _| Reply::After(MS, with(302, "Location: /b", "")));
    assert_no_error(&seen);
    assert_eq!(lines(&seen), ["GET /a", "GET /a"]);
}

#[test]
fn digest_credentials_are_agreed_on_once_and_go_with_every_request_after() {
    let script = "function visit() auth('ann', 'secret', 'digest') get('/a') get('/b') get('/c') end";
    let seen = once(script).against(asking_for_a_digest);
    assert_no_error(&seen);
    assert_eq!(lines(&seen), ["GET /a", "GET /a", "GET /b", "GET /c"]);
    let counts: Vec<bool> =
        (1..=3).map(|nth| seen.log.borrow()[nth].1.contains(&format!("nc=0000000{nth}"))).collect();
    assert_eq!(counts, [true; 3], "each use of the nonce is counted: {:?}", seen.log.borrow());
    assert_eq!(seen.whole.wire.challenges, 1);
}

#[test]
fn a_wrong_password_is_an_error_and_not_a_loop() {
    let challenge = "WWW-Authenticate: Digest realm=\"r\", nonce=\"n1\", qop=\"auth\"";
    let script = "function visit() auth('ann', 'wrong', 'digest') get('/a') end";
    let seen = once(script).against(move |_, _| Reply::After(MS, with(401, challenge, "")));
    assert_eq!(seen.errors("visit", ErrorKind::Status), 1);
    assert_eq!(lines(&seen).len(), 2, "asked, tried, refused");
    let basic = once("function visit() auth('ann', 'secret', 'basic') get('/a') end")
        .against(|_, _| Reply::After(MS, ok("")));
    assert!(basic.log.borrow()[0].1.contains("Authorization: Basic YW5uOnNlY3JldA==\r\n"));
}

#[test]
fn a_page_s_objects_come_over_several_connections_in_their_own_order() {
    let script = "function visit() operation 'Page' get('/') \
        local pages = parallel({ '/1', '/2', '/3', '/4', '/5', '/6' }, { connections = 2 }) \
        local all = '' for _, page in ipairs(pages) do all = all .. page:text() end \
        check(all == '123456', 'in order: ' .. all) end";
    let seen = once(script).against(|_, text| {
        let name = text[5..].split(' ').next().unwrap_or_default().to_string();
        // The odd ones take longer, so that answers overtake each other.
        let odd = name.parse().is_ok_and(|number: u64| number % 2 == 1);
        Reply::After(if odd { 100 * MS } else { 50 * MS }, ok(&name))
    });
    assert_no_error(&seen);
    assert_eq!(seen.totals.connects, 2);
    let page = &seen.whole.operations[seen.row(OperationKind::Operation, "Page")];
    // The page itself 50 ms; then 1, 5 on one connection and 2, 3 on the other, 4 and 6 where there is room: 250 ms.
    assert!(page.response.equivalent(page.response.max(), 300_000), "{} µs", page.response.max());
}

#[test]
fn one_failed_object_fails_the_session_once_and_gives_up_the_others() {
    let script = "function visit() parallel({ '/1', '/2', '/3' }, { connections = 3 }) end";
    for (answer, kind) in [
        (Reply::After(10 * MS, status(404, "no")), ErrorKind::Status),
        (Reply::Close(10 * MS), ErrorKind::Protocol),
        (Reply::Never, ErrorKind::Timeout),
    ] {
        let bench = Bench { max_sessions: Some(2), timeout_s: 1.0, seconds: 60.0, ..bench(script) };
        let seen = bench.against(move |_, text| match text.starts_with("GET /2") {
            true => answer.clone(),
            false => Reply::After(if kind == ErrorKind::Timeout { 5 * MS } else { 50 * MS }, ok("")),
        });
        assert_eq!(seen.errors("visit", kind), 2, "{kind:?}: {:?}", seen.listener.evidence);
        assert_eq!(seen.whole.operations[seen.row(OperationKind::Operation, "visit")].failed(), 2);
        assert_eq!(lines(&seen).len(), 6, "{kind:?}: the second session asks for all three again");
    }
}

#[test]
fn a_user_s_cache_spares_fresh_objects_and_asks_whether_stale_ones_have_changed() {
    let script = "function visit() for _ = 1, 3 do \
        local pages = parallel({ '/fresh', '/stale', '/never' }, { cache = true }) \
        count('not modified', pages[2].status == 304 and 1 or 0) end end";
    let seen = once(script).against(|_, text| {
        let headers = match text.split(' ').nth(1) {
            Some("/fresh") => "Cache-Control: max-age=1000",
            Some("/stale") => "Cache-Control: no-cache\r\nETag: \"v1\"",
            _ => "Cache-Control: no-store",
        };
        let known = text.contains("If-None-Match: \"v1\"");
        Reply::After(MS, with(if known { 304 } else { 200 }, headers, ""))
    });
    assert_no_error(&seen);
    let count = |line: &str| lines(&seen).iter().filter(|seen| *seen == line).count();
    assert_eq!((count("GET /fresh"), count("GET /stale"), count("GET /never")), (1, 3, 3));
    assert_eq!((seen.whole.wire.cache_hits, seen.whole.wire.not_modified), (2, 2));
    assert_eq!(seen.whole.counters["not modified"], 2);
}

#[test]
fn all_from_the_cache_for_ever_still_lets_the_run_end() {
    let script = "function visit() parallel({ '/a' }, { cache = true }) \
        while true do parallel({ '/a' }, { cache = true }) end end";
    let bench = Bench { seconds: 0.1, users: 1, stall: Some((5 * MS, 20_000 * MS)), ..once(script) };
    let seen = bench.against(|_, _| Reply::After(MS, with(200, "Cache-Control: max-age=1000", "")));
    assert_eq!(lines(&seen), ["GET /a"]);
}

#[test]
fn connections_live_as_long_as_the_scenario_says() {
    let script = "function visit() operation 'One' get('/a') get('/b') operation 'Two' get('/c') end";
    let connects = |policy: ConnectionPolicy| {
        let bench = Bench { max_sessions: Some(2), connections: policy, ..bench(script) };
        let seen = bench.against(|_, _| Reply::After(MS, ok("")));
        assert_no_error(&seen);
        let closing = seen.log.borrow().iter().filter(|(_, text)| text.contains("Connection: close")).count();
        (seen.totals.connects, closing)
    };
    assert_eq!(connects(ConnectionPolicy::Keep), (1, 0));
    assert_eq!(connects(ConnectionPolicy::PerSession), (2, 0));
    assert_eq!(connects(ConnectionPolicy::PerOperation), (4, 0));
    assert_eq!(connects(ConnectionPolicy::PerRequest), (6, 6));
}

#[test]
fn the_end_of_a_session_closes_all_its_connections_however_it_ends() {
    let per_session = |script, sessions| {
        let connections = ConnectionPolicy::PerSession;
        let bench = Bench { max_sessions: Some(sessions), connections, ..bench(script) };
        bench.against(|_, _| Reply::After(10 * MS, ok("")))
    };
    let seen = per_session("function visit() parallel({ '/1', '/2', '/3' }, { connections = 3 }) end", 2);
    assert_no_error(&seen);
    assert_eq!(seen.totals.connects, 6, "three for each of two sessions");
    let failed = per_session("function visit() get('/a') fail('on purpose') end", 3);
    assert_eq!(failed.totals.connects, 3, "failed ones too");
}

#[test]
fn a_page_tells_the_length_of_its_body_also_of_one_that_was_dropped_or_came_in_chunks() {
    let script = "function visit() \
        local kept, dropped = get('/a').bytes, get('/a', nil, { discard = true }).bytes \
        local chunked, dropped_chunks = get('/chunks').bytes, get('/chunks', nil, { discard = true }).bytes \
        local none = head('/a').bytes \
        check(kept == 5000 and dropped == 5000, kept .. ' and ' .. dropped) \
        check(chunked == 7 and dropped_chunks == 7, chunked .. ' and ' .. dropped_chunks) \
        check(none == 0, 'the answer to HEAD has no body, whatever it says') \
        local coded = get('/gzip') check(coded.bytes == 3 and coded.status == 200, 'as it came, coded') \
        local both = parallel({ '/a', { 'GET', '/chunks', { discard = true } } }) \
        check(both[1].bytes == 5000 and both[2].bytes == 7, 'beside each other') end";
    let seen = once(script).against(|_, text| {
        let chunks =
            b"HTTP/1.1 200 X\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nfour\r\n3\r\nabc\r\n0\r\n\r\n";
        let answer = match text.split(' ').nth(1) {
            Some("/chunks") => chunks.to_vec(),
            Some("/gzip") => with(200, "Content-Encoding: gzip", "abc"),
            _ if text.starts_with("HEAD") => b"HTTP/1.1 200 X\r\nContent-Length: 5000\r\n\r\n".to_vec(),
            _ => ok(&"x".repeat(5000)),
        };
        Reply::After(MS, answer)
    });
    assert_no_error(&seen);
}

#[test]
fn chunks_that_are_dropped_unread_leave_their_ends_to_be_read() {
    let script = "function visit() \
        for _ = 1, 3 do local page = get('/', nil, { discard = true }) check(page.bytes == 20000, page.bytes) end end";
    let seen = once(script).against(|_, _| {
        let mut answer = b"HTTP/1.1 200 X\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec();
        for _ in 0..2 {
            answer.extend(format!("{:x}\r\n{}\r\n", 10_000, "x".repeat(10_000)).bytes());
        }
        answer.extend(b"0\r\n\r\n");
        Reply::After(MS, answer)
    });
    assert_no_error(&seen);
    assert_eq!(seen.totals.connects, 1, "each answer ends where it ends, so that the connection goes on");
}

#[test]
fn a_user_that_is_forgotten_is_a_new_visitor_to_the_server() {
    let script = "function visit(user) auth('ann', 'secret') user.kept = 1 \
        get('/a') parallel({ '/a' }, { cache = true }) forget() \
        parallel({ '/b' }, { cache = true }) get('/c') check(user.kept == 1, 'its own table stays') end";
    let seen = once(script).against(|_, text| {
        let cached = "Cache-Control: max-age=1000\r\nETag: \"v1\"\r\nSet-Cookie: s=1; Path=/";
        let headers = if text.starts_with("GET /b") { "Set-Cookie: s=2; Path=/" } else { cached };
        Reply::After(MS, with(200, headers, ""))
    });
    assert_no_error(&seen);
    assert_eq!(lines(&seen), ["GET /a", "GET /a", "GET /b", "GET /c"]);
    assert_eq!(seen.totals.connects, 2, "one before and one after");
    let log = seen.log.borrow();
    let has = |at: usize, line: &str| log[at].1.contains(line);
    assert!(has(1, "Cookie: s=1\r\n") && has(1, "Authorization: Basic"), "{}", log[1].1);
    assert!(!has(2, "Cookie:") && !has(2, "Authorization:"), "{}", log[2].1);
    assert!(has(3, "Cookie: s=2\r\n"), "cookies are kept again: {}", log[3].1);
}

#[test]
fn what_a_forgotten_user_s_cache_knew_is_asked_for_again() {
    let script = "function visit() for _ = 1, 2 do \
        parallel({ '/a' }, { cache = true }) parallel({ '/a' }, { cache = true }) forget() end end";
    let seen = once(script).against(|_, _| Reply::After(MS, with(200, "Cache-Control: max-age=1000", "")));
    assert_no_error(&seen);
    assert_eq!((lines(&seen).len(), seen.whole.wire.cache_hits), (2, 2));
}

#[test]
fn several_statuses_may_be_right() {
    let script = "function visit() \
        local since = { headers = { ['If-Modified-Since'] = 'Sat, 01 Jan 2000 00:00:00 GMT' }, expect = { 200, 304 } } \
        check(get('/kept', nil, since).status == 304, 'not modified') \
        check(get('/new', nil, since).status == 200, 'modified') get('/gone', nil, since) end";
    let seen = once(script).against(|_, text| {
        let code = match text.split(' ').nth(1) {
            Some("/kept") => 304,
            Some("/new") => 200,
            _ => 204,
        };
        Reply::After(MS, status(code, ""))
    });
    assert_eq!(lines(&seen).len(), 3);
    assert_eq!(seen.errors("visit", ErrorKind::Status), 1, "{:?}", seen.listener.evidence);
    let said = &seen.listener.evidence[0];
    assert!(said.contains("status 204, expected 200 or 304"), "{said}");
    for wrong in ["{}", "{ 200, 700 }", "'ok'", "{ 200, 201, 202, 203, 204 }"] {
        let script = format!("function visit() get('/a', nil, {{ expect = {wrong} }}) end");
        let seen = once(script.leak()).against(|_, _| Reply::After(MS, ok("")));
        assert_eq!(seen.errors("visit", ErrorKind::Script), 1, "{wrong}: {:?}", seen.listener.evidence);
    }
}

#[test]
fn the_phases_of_a_request_add_up() {
    let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody".to_vec();
    let seen = once("function visit() get('/a') end").against(move |_, _| {
        Reply::Pieces(vec![(30 * MS, answer[..20].to_vec()), (50 * MS, answer[20..].to_vec())])
    });
    assert_no_error(&seen);
    let phases = &seen.whole.phases;
    assert!(phases.first_byte.equivalent(phases.first_byte.max(), 30_000), "{} µs", phases.first_byte.max());
    assert!(phases.transfer.equivalent(phases.transfer.max(), 20_000), "{} µs", phases.transfer.max());
    assert_eq!((phases.connect.len(), phases.tls.len()), (1, 0));
}

#[test]
fn several_requests_that_are_asked_for_credentials_at_once_agree_on_them_together() {
    let script = "function visit() auth('ann', 'secret', 'digest') \
        parallel({ '/a', '/b', '/c' }, { connections = 3 }) end";
    let seen = once(script).against(asking_for_a_digest);
    assert_no_error(&seen);
    assert_eq!(lines(&seen).len(), 6, "each is asked once: {:?}", lines(&seen));
}

#[test]
fn a_server_whose_nonces_are_always_too_old_is_an_error_and_not_a_loop() {
    let challenge = "WWW-Authenticate: Digest realm=\"r\", nonce=\"n1\", qop=\"auth\", stale=true";
    let script = "function visit() auth('ann', 'secret', 'digest') get('/a') end";
    let seen = once(script).against(move |_, _| Reply::After(MS, with(401, challenge, "")));
    assert_eq!(seen.errors("visit", ErrorKind::Status), 1);
    assert_eq!(lines(&seen).len(), 3, "asked, tried, tried once more");
}

#[test]
fn requests_given_up_with_a_failed_one_are_accounted_for() {
    let script = "function visit() parallel({ '/1', '/2', '/3' }, { connections = 3 }) end";
    let seen = once(script).against(|_, text| match text.starts_with("GET /2") {
        true => Reply::After(10 * MS, status(404, "no")),
        false => Reply::After(50 * MS, ok("")),
    });
    let totals = &seen.totals;
    let counted = |row: usize| totals.completed[row] + totals.failed[row] + totals.unanswered[row];
    let all: Vec<u64> =
        ["/1", "/2", "/3"].iter().map(|name| counted(seen.row(OperationKind::Request, name))).collect();
    assert_eq!(all, [1, 1, 1], "completed, failed and of unknown outcome are all that the server saw");
}

#[test]
fn a_session_knows_how_many_users_there_are() {
    let script = "function visit(user) \
        check(users == 3 and user.number >= 1 and user.number <= users, users .. ' users') get('/a') end";
    let seen =
        Bench { users: 3, max_sessions: Some(1), ..bench(script) }.against(|_, _| Reply::After(MS, ok("")));
    assert!(seen.listener.evidence.is_empty(), "{:?}", seen.listener.evidence);
    assert_eq!(seen.log.borrow().len(), 3);
}

#[test]
fn a_post_is_sent_once_more_only_where_the_kit_says_so() {
    let posted = |resend: Resend| {
        let mut requests = 0;
        let seen = Bench {
            think: Some(Distribution::Fixed { value: 1.0 }),
            resend,
            ..bench("function visit() operation 'Op' post('/a', { b = 1 }) end")
        }
        .against(move |_, _| {
            requests += 1;
            if requests == 2 { Reply::Close(MS) } else { Reply::After(MS, ok("")) }
        });
        let said: Vec<&str> = seen.totals.evidence.iter().map(|evidence| evidence.message.as_str()).collect();
        let hinted =
            |message: &&str| message.contains("closed before an answer came") && message.contains("resend");
        assert_eq!(
            said.iter().filter(|said| hinted(said)).count(),
            usize::from(resend == Resend::Safe),
            "{said:?}"
        );
        let row = seen.row(OperationKind::Operation, "Op");
        let sent: Vec<bool> = seen.log.borrow().iter().map(|(_, text)| text.ends_with("b=1")).collect();
        assert!(sent.iter().all(|whole| *whole), "each time with its body");
        (
            seen.completed(OperationKind::Operation, "Op"),
            seen.errors("Op", ErrorKind::Protocol),
            seen.totals.unanswered[row],
        )
    };
    assert_eq!(posted(Resend::Safe), (9, 1, 1), "whether it was done nobody knows");
    assert_eq!(posted(Resend::All), (10, 0, 1), "the first try's outcome stays unknown");
}
