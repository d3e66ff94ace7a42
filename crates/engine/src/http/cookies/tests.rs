use super::*;
use proptest::prelude::*;

/// Sun, 06 Nov 1994 08:49:37 GMT.
const NOW: i64 = 784_111_777;

fn request(path: &str) -> Request<'_> {
    Request { host: "shop.example:8080", tls: false, path: path.as_bytes(), now_s: NOW }
}

fn header_for(jar: &Jar, request: &Request<'_>) -> String {
    let mut out = Vec::new();
    jar.write_header(request, &mut out);
    let line = String::from_utf8(out).expect("the test's cookies are text");
    line.strip_prefix("Cookie: ").and_then(|line| line.strip_suffix("\r\n")).unwrap_or(&line).to_string()
}

fn header(jar: &Jar, path: &str) -> String {
    header_for(jar, &request(path))
}

fn jar(cookies: &[&str]) -> Jar {
    let mut jar = Jar::default();
    cookies.iter().for_each(|cookie| jar.store(cookie.as_bytes(), &request("/")));
    jar
}

#[test]
fn cookies_go_back_to_the_paths_they_belong_to() {
    let mut jar = jar(&["id=7; Path=/; HttpOnly"]);
    jar.store(b"cart=a=b", &request("/shop/login"));
    assert_eq!(header(&jar, "/shop/buy"), "cart=a=b; id=7");
    assert_eq!(header(&jar, "/shop"), "cart=a=b; id=7");
    assert_eq!(header(&jar, "/shopping"), "id=7");
}

#[test]
fn longer_paths_go_first_and_then_older_cookies() {
    let jar = jar(&["a=1", "b=1; Path=/x/y", "c=1; Path=/x", "d=1; Path=/x", "e=1", "c=2; Path=/x"]);
    assert_eq!(header(&jar, "/x/y/z"), "b=1; c=2; d=1; a=1; e=1");
}

#[test]
fn a_cookie_lasts_as_long_as_it_says() {
    let table = [
        ("", Some(i64::MAX)),
        ("Max-Age=60", Some(60)),
        ("Max-Age=60; Expires=Sun, 06 Nov 1994 08:50:47 GMT", Some(60)),
        ("Expires=Sun, 06 Nov 1994 08:50:47 GMT; Max-Age=60", Some(60)),
        ("expires=Thu, 01-Jan-1970 00:00:01 GMT; max-age=60", Some(60)),
        ("Expires=Sun, 06-Nov-94 08:50:37 GMT", Some(60)),
        ("Expires=Sun Nov  6 08:50:37 1994", Some(60)),
        ("Expires=Sun, 06 Nov 1994 08:49:37 GMT", None),
        ("Expires=Mon, 01 Jan 1601 00:00:00 GMT", None),
        ("Expires=soon", Some(i64::MAX)),
        ("Max-Age=", Some(i64::MAX)),
        ("Max-Age=soon", Some(i64::MAX)),
        ("Max-Age=+60", Some(i64::MAX)),
        ("Max-Age=6x", Some(i64::MAX)),
        ("Max-Age=-", Some(i64::MAX)),
        ("Max-Age=; Expires=Sun, 06 Nov 1994 08:50:37 GMT", Some(60)),
        ("Max-Age=10; Max-Age=60", Some(60)),
        ("Max-Age=0", None),
        ("Max-Age=-5", None),
        ("Max-Age=00", None),
        ("Max-Age=99999999999999999999", Some(i64::MAX)),
    ];
    for (attributes, expected) in table {
        let jar = jar(&["a=old", &format!("a=1; {attributes}")]);
        let at = |after_s| header_for(&jar, &Request { now_s: NOW + after_s, ..request("/") }) == "a=1";
        match expected {
            None => assert!(!at(0) && jar.cookies.is_empty(), "{attributes}"),
            Some(i64::MAX) => assert!(at(1_000_000_000), "{attributes}"),
            Some(last_s) => assert!(at(last_s - 1) && !at(last_s), "{attributes}"),
        }
    }
}

#[test]
fn a_new_value_replaces_the_old_and_an_expired_one_deletes() {
    let deletion = "id=deleted; expires=Thu, 01-Jan-1970 00:00:01 GMT; Max-Age=0; path=/";
    assert_eq!(header(&jar(&["id=7; Path=/", "id=8; Path=/"]), "/"), "id=8");
    assert_eq!(header(&jar(&["id=7; Path=/", deletion]), "/"), "");
    assert_eq!(header(&jar(&["id=7; Path=/x", deletion]), "/x"), "id=7", "another path's cookie stays");
}

#[test]
fn the_same_value_again_lasts_as_it_says_now_and_stays_where_it_was() {
    let mut jar = jar(&["a=1; Max-Age=60", "b=2"]);
    let later = Request { now_s: request("/").now_s + 50, ..request("/") };
    jar.store(b"a=1; Max-Age=60", &later);
    let after = |seconds| Request { now_s: request("/").now_s + seconds, ..request("/") };
    assert_eq!(header_for(&jar, &after(109)), "a=1; b=2");
    assert_eq!(header_for(&jar, &after(110)), "b=2");
    jar.store(b"b=2; Max-Age=1", &after(0));
    assert_eq!(header_for(&jar, &after(2)), "a=1");
}

#[test]
fn a_domain_that_does_not_cover_the_host_is_refused() {
    for (host, domain, taken) in [
        ("shop.example", "shop.example", true),
        ("shop.example:8080", ".Shop.EXAMPLE", true),
        ("shop.example", "example", true),
        ("shop.example", "", true),
        ("shop.example", "op.example", false),
        ("shop.example", "www.shop.example", false),
        ("shop.example", "other.example", false),
        ("127.0.0.1:80", "127.0.0.1", true),
        ("127.0.0.1:80", "0.0.1", false),
        ("[::1]:80", "::1", true),
        ("[::1]", "1", false),
    ] {
        let mut jar = Jar::default();
        let request = Request { host, ..request("/") };
        jar.store(format!("a=1; Domain={domain}").as_bytes(), &request);
        assert_eq!(header_for(&jar, &request) == "a=1", taken, "{domain} from {host}");
    }
}

#[test]
fn secure_cookies_come_and_go_over_tls_only() {
    let tls = Request { tls: true, ..request("/") };
    let mut jar = Jar::default();
    jar.store(b"a=1; Secure", &request("/"));
    assert_eq!(header_for(&jar, &tls), "");
    jar.store(b"a=1; Secure", &tls);
    assert_eq!((header_for(&jar, &tls), header(&jar, "/")), ("a=1".to_string(), String::new()));
}

#[test]
fn a_prefix_is_a_promise() {
    let table = [
        ("__Host-a=1; Secure; Path=/", true),
        ("__Host-a=1; Secure", false),
        ("__Host-a=1; Path=/", false),
        ("__host-a=1; Secure; Path=/; Domain=shop.example", false),
        ("__Host-a=1; Secure; Path=/x", false),
        ("__Secure-a=1; Secure", true),
        ("__secure-a=1", false),
    ];
    for (cookie, taken) in table {
        let mut jar = Jar::default();
        jar.store(cookie.as_bytes(), &Request { tls: true, ..request("/") });
        assert_eq!(!jar.cookies.is_empty(), taken, "{cookie}");
    }
}

#[test]
fn rubbish_is_ignored() {
    for rubbish in ["", "=", ";;;", "novalue", "=x; Path=/", "a=b\r\nX: y", "a\0=b"] {
        assert_eq!(jar(&[rubbish]), Jar::default(), "{rubbish:?}");
    }
    assert_eq!(header(&jar(&["a=1; Path=relative"]), "/"), "a=1");
    assert_eq!(jar(&[&format!("a={}", "x".repeat(5000))]), Jar::default());
    assert_eq!(jar(&[&format!("a=1; Path=/{}", "x".repeat(5000))]), Jar::default());
}

#[test]
fn the_jar_is_bounded_and_the_oldest_goes_first() {
    let many: Vec<String> = (0..1000).map(|number| format!("c{number}=1")).collect();
    let full = jar(&many.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(full.cookies.len(), MAX_COOKIES);
    assert!(header(&full, "/").ends_with("; c999=1"), "the newest stays");
    assert!(size_of::<Cookie>() <= 32, "{} bytes", size_of::<Cookie>());
    let large: Vec<String> = (0..20).map(|number| format!("c{number}={}", "x".repeat(4000))).collect();
    let full = jar(&large.iter().map(String::as_str).collect::<Vec<_>>());
    assert!(full.cookies.iter().map(|cookie| cookie.text.len()).sum::<usize>() <= MAX_JAR_BYTES);
    let mut short_lived = jar(&many[..MAX_COOKIES].iter().map(String::as_str).collect::<Vec<_>>());
    short_lived.store(b"c5=1; Max-Age=1", &request("/"));
    short_lived.store(b"new=1", &Request { now_s: NOW + 1, ..request("/") });
    let left = header(&short_lived, "/");
    assert!(
        left.starts_with("c0=1;") && !left.contains("c5=1"),
        "the expired one goes before the oldest: {left}"
    );
}

proptest! {
    // Texts by such patterns take long to draw.
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn no_header_makes_a_panic_or_a_jar_without_bound(
        headers in proptest::collection::vec("[a-c]?=?[ -~\t]{0,20}(; ?(Max-Age|Path|Domain|Expires|Secure)=?[ -~]{0,12}){0,3}", 0..80),
        now_s in any::<i64>(),
    ) {
        let mut jar = Jar::default();
        let request = Request { now_s, ..request("/a/b") };
        headers.iter().for_each(|header| jar.store(header.as_bytes(), &request));
        prop_assert!(jar.cookies.len() <= MAX_COOKIES);
        prop_assert!(header_for(&jar, &request).lines().count() <= 1);
    }
}
