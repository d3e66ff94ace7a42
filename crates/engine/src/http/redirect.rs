//! Where a redirect leads and what the next request is (RFC 9110 section 15.4, RFC 3986), without I/O. How many are
//! followed is the caller's business.

use std::fmt;

use url::Url;

/// The next request that a redirect asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Next {
    /// Where it goes.
    pub place: Place,
    /// What becomes of method and body.
    pub change: Change,
}

/// Where a redirect leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// To the same scheme, host and port.
    Here,
    /// To another one.
    Elsewhere,
}

/// What becomes of a redirected request's method and body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// Both stay.
    Same,
    /// It becomes a GET; body and `Content-*` headers are left out.
    ToGet,
}

/// A `Location` that is not a URL, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadLocation(String);

impl fmt::Display for BadLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the redirect's Location is not a URL: {}", self.0)
    }
}

/// A server by scheme, host and port: what relative locations are relative to.
#[derive(Debug, Clone)]
pub struct Origin {
    url: Url,
}

impl Origin {
    /// `host` is what the `Host` header says, with the port unless it is the scheme's own.
    pub fn new(tls: bool, host: &str) -> Result<Origin, BadLocation> {
        let scheme = if tls { "https" } else { "http" };
        let url =
            Url::parse(&format!("{scheme}://{host}/")).map_err(|error| BadLocation(error.to_string()))?;
        Ok(Origin { url })
    }

    /// What the answer to `method` and `target` (path with query) asks for next; nothing when it is no redirect.
    /// `out` is overwritten with the next request's target when that is [`Place::Here`], else with the whole URL.
    pub fn follow(
        &self,
        request: (&[u8], &[u8]),
        status: u16,
        location: Option<&[u8]>,
        out: &mut Vec<u8>,
    ) -> Result<Option<Next>, BadLocation> {
        let (method, target) = request;
        let (Some(change), Some(location)) = (change(status, method), location) else { return Ok(None) };
        out.clear();
        let place = match self.plain(location) {
            Some(plain) => {
                out.extend_from_slice(plain);
                Place::Here
            }
            None => self.resolve(target, location, out)?,
        };
        Ok(Some(Next { place, change }))
    }

    /// The target in a `Location` that needs no resolving, which is nearly every one: no allocation.
    fn plain<'a>(&self, location: &'a [u8]) -> Option<&'a [u8]> {
        let own = self.url.as_str().trim_end_matches('/').as_bytes();
        let target = location.strip_prefix(own).unwrap_or(location);
        let path = target.starts_with(b"/") && !target.starts_with(b"//");
        let stays = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_~!$&()*+,;=:@/?".contains(byte);
        // A dot may be part of a `..` and is taken where it stands between two letters; so `%2e` is left to the crate.
        let dots_stay = |(index, byte): (usize, &u8)| {
            let letter = |at: usize| target.get(at).is_some_and(u8::is_ascii_alphanumeric);
            stays(byte) || (*byte == b'.' && letter(index - 1) && letter(index + 1))
        };
        (path && target.iter().enumerate().all(dots_stay)).then_some(target)
    }

    /// Where a reference in the answer to `target` leads; `out` gets the target here, or the whole URL elsewhere.
    pub fn resolve(&self, target: &[u8], location: &[u8], out: &mut Vec<u8>) -> Result<Place, BadLocation> {
        let text = |bytes| std::str::from_utf8(bytes).map_err(|_| BadLocation("it is not UTF-8".to_string()));
        let (path, query) = match text(target)?.split_once('?') {
            Some((path, query)) => (path, Some(query)),
            None => (text(target)?, None),
        };
        let mut base = self.url.clone();
        base.set_path(path);
        base.set_query(query);
        let mut found = base
            .join(text(location)?)
            .map_err(|error| BadLocation(format!("{error} ({})", excerpt(location))))?;
        found.set_fragment(None);
        if found.origin() != self.url.origin() {
            out.extend_from_slice(found.as_str().as_bytes());
            return Ok(Place::Elsewhere);
        }
        out.extend_from_slice(found.path().as_bytes());
        if let Some(query) = found.query() {
            out.push(b'?');
            out.extend_from_slice(query.as_bytes());
        }
        Ok(Place::Here)
    }
}

/// RFC 9110 section 15.4, with POST becoming GET after 301 and 302 as browsers have always done (and the RFC allows).
fn change(status: u16, method: &[u8]) -> Option<Change> {
    match status {
        301 | 302 if method == b"POST" => Some(Change::ToGet),
        303 if method != b"GET" && method != b"HEAD" => Some(Change::ToGet),
        301 | 302 | 303 | 307 | 308 => Some(Change::Same),
        _ => None,
    }
}

fn excerpt(location: &[u8]) -> String {
    String::from_utf8_lossy(&location[..location.len().min(200)]).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn origin() -> Origin {
        Origin::new(false, "shop.example:8080").expect("a host")
    }

    fn follow(location: &str) -> Result<(Place, String), BadLocation> {
        let mut out = b"left over".to_vec();
        let request = (&b"GET"[..], &b"/a/b/c?d=e"[..]);
        let next = origin().follow(request, 302, Some(location.as_bytes()), &mut out)?;
        Ok((next.expect("302 is a redirect").place, String::from_utf8(out).expect("URLs are text")))
    }

    #[test]
    fn a_location_is_resolved_against_the_request() {
        for (location, target) in [
            ("/x?y=z", "/x?y=z"),
            ("/login.php", "/login.php"),
            ("http://shop.example:8080/x", "/x"),
            ("HTTP://SHOP.example:8080/x#part", "/x"),
            ("http://shop.example:8080", "/"),
            ("//shop.example:8080/x", "/x"),
            ("x", "/a/b/x"),
            ("../x?", "/a/x?"),
            ("/a/./b/../../../c", "/c"),
            ("/a/%2e%2e/c", "/c"),
            ("?q=1", "/a/b/c?q=1"),
            ("", "/a/b/c?d=e"),
            ("#top", "/a/b/c?d=e"),
            ("/ein wort/ä?ö=ü'", "/ein%20wort/%C3%A4?%C3%B6=%C3%BC%27"),
        ] {
            assert_eq!(follow(location), Ok((Place::Here, target.to_string())), "{location}");
        }
    }

    #[test]
    fn another_host_port_or_scheme_is_elsewhere() {
        for location in [
            "http://other.example:8080/x",
            "http://shop.example/x",
            "http://shop.example:80801/x",
            "https://shop.example:8080/x",
            "//other.example/x",
            "http://shop.example:8080.evil/x",
            "http://shop.example:8080@evil/x",
            "mailto:a@b.example",
            "\\\\other.example/x",
        ] {
            match follow(location) {
                Ok((place, url)) => {
                    assert_eq!(place, Place::Elsewhere, "{location}");
                    assert!(url.contains(':') && !url.starts_with('/'), "the whole URL is told: {url}");
                }
                Err(bad) => assert!(bad.to_string().contains(location), "{bad}"),
            }
        }
    }

    #[test]
    fn a_bad_location_is_an_error_that_quotes_it() {
        for location in ["http://", "http://[::1/", "http://a:99999/", "http://a b/"] {
            let error = follow(location).expect_err(location).to_string();
            assert!(
                error.starts_with("the redirect's Location is not a URL: ") && error.contains(location),
                "{error}"
            );
        }
        let error = origin().follow((b"GET", b"/"), 302, Some(b"/\xFF"), &mut Vec::new());
        assert_eq!(error, Err(BadLocation("it is not UTF-8".to_string())));
    }

    #[test]
    fn the_method_changes_as_in_browsers() {
        use Change::{Same, ToGet};
        let table: [(u16, [Option<Change>; 4]); 8] = [
            // GET, HEAD, POST, PUT
            (301, [Some(Same), Some(Same), Some(ToGet), Some(Same)]),
            (302, [Some(Same), Some(Same), Some(ToGet), Some(Same)]),
            (303, [Some(Same), Some(Same), Some(ToGet), Some(ToGet)]),
            (307, [Some(Same); 4]),
            (308, [Some(Same); 4]),
            (300, [None; 4]),
            (304, [None; 4]),
            (200, [None; 4]),
        ];
        for (status, expected) in table {
            for (method, expected) in [&b"GET"[..], b"HEAD", b"POST", b"PUT"].into_iter().zip(expected) {
                let next = origin().follow((method, b"/"), status, Some(b"/x"), &mut Vec::new());
                assert_eq!(
                    next.map(|next| next.map(|next| next.change)),
                    Ok(expected),
                    "{status} to a {method:?}"
                );
            }
        }
        assert_eq!(
            origin().follow((b"GET", b"/"), 302, None, &mut Vec::new()),
            Ok(None),
            "without a Location"
        );
    }

    proptest! {
        #[test]
        fn the_short_way_gives_what_resolving_gives(
            location in "(http://shop\\.example(:8080)?)?/{0,2}([a-z0-9./?%2e&='~:@#!-]{0,12}|(/?\\.{0,3}){0,5})"
        ) {
            let mut long = Vec::new();
            let resolved = origin().resolve(b"/a/b", location.as_bytes(), &mut long);
            if let Some(short) = origin().plain(location.as_bytes()) {
                prop_assert_eq!(resolved, Ok(Place::Here), "{}", location);
                prop_assert_eq!(String::from_utf8_lossy(short), String::from_utf8_lossy(&long), "{}", location);
            }
        }

        #[test]
        fn no_location_makes_a_panic_or_a_target_that_is_not_one(
            location in proptest::collection::vec(any::<u8>(), 0..60)
        ) {
            let mut out = Vec::new();
            let next = origin().follow((b"GET", b"/a/b?c"), 302, Some(&location), &mut out);
            if let Ok(Some(Next { place: Place::Here, .. })) = next {
                prop_assert!(out.starts_with(b"/") && out.iter().all(u8::is_ascii_graphic), "{:?}", out);
            }
        }
    }
}
