//! What a browser would send from a page, and what it would fetch for it, found by a scanner of tags. It builds no
//! tree, runs no script and knows nothing of `<base>`, `srcset` or styles; comments and the texts of scripts and styles
//! are passed over. One pass, whatever the input.

use memchr::{memchr, memmem};
use smallvec::SmallVec;

/// An HTML form as it stands in the page.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Form {
    /// As written; empty when the form is sent to its own page.
    pub(super) action: Vec<u8>,
    pub(super) posts: bool,
    /// What a browser would send if nobody changed anything, but no button: names and values in order.
    pub(super) fields: Vec<(Vec<u8>, Vec<u8>)>,
}

/// The form of that number, from 0.
pub(super) fn form(body: &[u8], index: usize) -> Option<Form> {
    let mut tags = Tags { body, at: 0 };
    let begin = (&mut tags).filter(|tag| tag.opens("form")).nth(index)?;
    let mut form = Form {
        action: begin.value("action").unwrap_or_default(),
        posts: begin.value("method").is_some_and(|method| method.eq_ignore_ascii_case(b"post")),
        fields: Vec::new(),
    };
    let mut select: Option<Select> = None;
    while let Some(tag) = tags.next() {
        if tag.is("form") {
            break;
        }
        if tag.is("select") || tag.is("textarea") || tag.opens("input") {
            form.fields.extend(select.take().into_iter().flat_map(Select::chosen));
        }
        if tag.opens("select") && !tag.has("disabled") {
            select = tag.name_value().map(|name| Select {
                name,
                multiple: tag.has("multiple"),
                ..Select::default()
            });
        } else if let (Some(select), true) = (&mut select, tag.opens("option")) {
            select.options.push((tag.value("value").unwrap_or_else(|| tags.text()), tag.has("selected")));
        } else if tag.opens("input") {
            form.fields.extend(input(&tag));
        } else if tag.opens("textarea") {
            let text = unescape(tags.until_closed(b"textarea"));
            let text = text.strip_prefix(b"\n").map_or(text.clone(), <[u8]>::to_vec);
            form.fields.extend(tag.name_value().filter(|_| !tag.has("disabled")).map(|name| (name, text)));
        }
    }
    form.fields.extend(select.into_iter().flat_map(Select::chosen));
    Some(form)
}

/// The references of what a browser fetches for the page by itself: images, scripts, style sheets and icons, as
/// written, in order.
pub(super) fn objects(body: &[u8]) -> Vec<Vec<u8>> {
    let found = Tags { body, at: 0 }.filter_map(|tag| {
        if tag.opens("img") || tag.opens("script") {
            return tag.value("src");
        }
        let kind = tag.value("rel").filter(|_| tag.opens("link"))?;
        let fetched =
            |word: &[u8]| word.eq_ignore_ascii_case(b"stylesheet") || word.eq_ignore_ascii_case(b"icon");
        kind.split(u8::is_ascii_whitespace).any(fetched).then(|| tag.value("href"))?
    });
    found.filter(|reference| !reference.is_empty()).collect()
}

/// What an `<input>` contributes.
fn input(tag: &Tag<'_>) -> Option<(Vec<u8>, Vec<u8>)> {
    let kind = tag.value("type").unwrap_or_default().to_ascii_lowercase();
    let ticked = match kind.as_slice() {
        b"submit" | b"button" | b"image" | b"reset" | b"file" => return None,
        b"checkbox" | b"radio" => tag.has("checked"),
        _ => true,
    };
    let unset: &[u8] = if matches!(kind.as_slice(), b"checkbox" | b"radio") { b"on" } else { b"" };
    let value = tag.value("value").unwrap_or(unset.to_vec());
    (ticked && !tag.has("disabled")).then(|| tag.name_value().map(|name| (name, value)))?
}

#[derive(Debug, Default)]
struct Select {
    name: Vec<u8>,
    multiple: bool,
    /// Value, and whether it is selected.
    options: Vec<(Vec<u8>, bool)>,
}

impl Select {
    /// Browsers send the first option of a list from which only one can be chosen, and none was.
    fn chosen(mut self) -> impl Iterator<Item = (Vec<u8>, Vec<u8>)> {
        if !self.multiple
            && !self.options.iter().any(|(_, selected)| *selected)
            && let Some((_, selected)) = self.options.first_mut()
        {
            *selected = true;
        }
        let chosen = self.options.into_iter().filter(|(_, selected)| *selected);
        chosen.map(move |(value, _)| (self.name.clone(), value))
    }
}

/// A tag and its attributes.
#[derive(Debug)]
struct Tag<'a> {
    name: &'a [u8],
    closing: bool,
    attributes: SmallVec<[(&'a [u8], &'a [u8]); 8]>,
}

impl Tag<'_> {
    fn is(&self, name: &str) -> bool {
        self.name.eq_ignore_ascii_case(name.as_bytes())
    }

    fn opens(&self, name: &str) -> bool {
        !self.closing && self.is(name)
    }

    fn raw(&self, name: &str) -> Option<&[u8]> {
        let mut attributes = self.attributes.iter();
        attributes.find(|(known, _)| known.eq_ignore_ascii_case(name.as_bytes())).map(|(_, value)| *value)
    }

    fn has(&self, name: &str) -> bool {
        self.raw(name).is_some()
    }

    fn value(&self, name: &str) -> Option<Vec<u8>> {
        self.raw(name).map(unescape)
    }

    fn name_value(&self) -> Option<Vec<u8>> {
        self.value("name").filter(|name| !name.is_empty())
    }
}

/// The tags of a text, one after the other.
#[derive(Debug)]
struct Tags<'a> {
    body: &'a [u8],
    at: usize,
}

impl<'a> Iterator for Tags<'a> {
    type Item = Tag<'a>;

    fn next(&mut self) -> Option<Tag<'a>> {
        loop {
            self.at += memchr(b'<', &self.body[self.at..])? + 1;
            let rest = &self.body[self.at..];
            if let Some(comment) = rest.strip_prefix(b"!--") {
                self.at += memmem::find(comment, b"-->").map_or(rest.len(), |end| end + 6);
                continue;
            }
            let closing = rest.first() == Some(&b'/');
            self.at += usize::from(closing);
            let name = self.take_while(|byte| byte.is_ascii_alphanumeric());
            if name.is_empty() {
                continue;
            }
            let mut tag = Tag { name, closing, attributes: SmallVec::new() };
            while let Some(attribute) = self.attribute() {
                tag.attributes.push(attribute);
            }
            if tag.opens("script") || tag.opens("style") {
                self.until_closed(name);
            }
            return Some(tag);
        }
    }
}

impl<'a> Tags<'a> {
    fn take_while(&mut self, holds: impl Fn(&u8) -> bool) -> &'a [u8] {
        let rest = &self.body[self.at..];
        let end = rest.iter().position(|byte| !holds(byte)).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    fn peek(&self) -> Option<u8> {
        self.body.get(self.at).copied()
    }

    /// The next attribute of the tag; nothing, and past its end, when there is none.
    fn attribute(&mut self) -> Option<(&'a [u8], &'a [u8])> {
        self.take_while(|byte| byte.is_ascii_whitespace() || matches!(byte, b'/' | b'=' | b'"' | b'\''));
        let name = self.take_while(|byte| !byte.is_ascii_whitespace() && !matches!(byte, b'/' | b'=' | b'>'));
        if name.is_empty() {
            self.at = (self.at + 1).min(self.body.len());
            return None;
        }
        self.take_while(u8::is_ascii_whitespace);
        if self.peek() != Some(b'=') {
            return Some((name, b""));
        }
        self.at += 1;
        self.take_while(u8::is_ascii_whitespace);
        let value = match self.peek() {
            Some(quote @ (b'"' | b'\'')) => {
                self.at += 1;
                let value = self.take_while(|byte| *byte != quote);
                self.at = (self.at + 1).min(self.body.len());
                value
            }
            _ => self.take_while(|byte| !byte.is_ascii_whitespace() && *byte != b'>'),
        };
        Some((name, value))
    }

    /// The text up to the next tag, without the blanks around it.
    fn text(&mut self) -> Vec<u8> {
        unescape(self.take_while(|byte| *byte != b'<').trim_ascii())
    }

    /// The text up to where the element ends.
    fn until_closed(&mut self, name: &[u8]) -> &'a [u8] {
        let begin = self.at;
        loop {
            let Some(found) = memmem::find(&self.body[self.at..], b"</") else {
                self.at = self.body.len();
                return &self.body[begin..];
            };
            self.at += found;
            let after = &self.body[self.at + 2..];
            if after.len() >= name.len() && after[..name.len()].eq_ignore_ascii_case(name) {
                return &self.body[begin..self.at];
            }
            self.at += 2;
        }
    }
}

/// Undoes the references that templates make: the five of XML, and numbers.
pub(super) fn unescape(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = memchr(b'&', rest) {
        out.extend_from_slice(&rest[..at]);
        rest = &rest[at..];
        let end = rest.iter().take(10).position(|byte| *byte == b';');
        let known = end.and_then(|end| character(&rest[1..end]).map(|known| (known, end)));
        let Some((character, end)) = known else {
            out.push(b'&');
            rest = &rest[1..];
            continue;
        };
        out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
        rest = &rest[end + 1..];
    }
    out.extend_from_slice(rest);
    out
}

fn character(name: &[u8]) -> Option<char> {
    let name = std::str::from_utf8(name).ok()?;
    match name {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        _ => {
            let number = name.strip_prefix('#')?;
            let hexadecimal =
                number.strip_prefix(['x', 'X']).map(|digits| u32::from_str_radix(digits, 16).ok());
            char::from_u32(hexadecimal.unwrap_or_else(|| number.parse().ok())?)
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn fields(body: &str) -> Vec<(String, String)> {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("the test's page is text");
        let form = form(body.as_bytes(), 0).expect("a form");
        form.fields.into_iter().map(|(name, value)| (text(name), text(value))).collect()
    }

    #[test]
    fn a_form_is_what_a_browser_would_send() {
        let body = "<!-- <form action=no> --><script>'<form action=no>'</script>\
            <FORM METHOD=post action='/do?a=1&amp;b=2'><input type=hidden name=token value=\"a&quot;b&#39;\">\
            <input name=user><input type=checkbox name=yes checked><input type=checkbox name=no>\
            <input type=submit name=go value=Go><input name=off value=1 disabled>\
            <select name=pay><option value=v>Visa<option selected>Cash</select>\
            <select name=first><option>One</option><option>Two</option></select>\
            <textarea name=note>\n a > b </textarea></form><input name=outside>";
        let found = form(body.as_bytes(), 0).expect("a form");
        assert_eq!((found.action.as_slice(), found.posts), (&b"/do?a=1&b=2"[..], true));
        let expected = [
            ("token", "a\"b'"),
            ("user", ""),
            ("yes", "on"),
            ("pay", "Cash"),
            ("first", "One"),
            ("note", " a > b "),
        ];
        assert_eq!(fields(body), expected.map(|(name, value)| (name.to_string(), value.to_string())));
        assert_eq!(form(body.as_bytes(), 1), None);
    }

    #[test]
    fn objects_are_images_scripts_and_styles() {
        let body = b"<link rel='shortcut icon' href=/i.ico><link rel=next href=/n><LINK HREF=\"s.css\" REL=stylesheet>\
            <img src=a.png><img alt=none><script src=x.js><img src=no></script><!-- <img src=no> --><img src='a>b.png'/>";
        let found: Vec<_> =
            objects(body).into_iter().map(|path| String::from_utf8_lossy(&path).into_owned()).collect();
        assert_eq!(found, ["/i.ico", "s.css", "a.png", "x.js", "a>b.png"]);
    }

    proptest! {
        #[test]
        fn any_bytes_end(body in proptest::collection::vec(
            prop_oneof![Just(b'<'), Just(b'>'), Just(b'"'), Just(b'&'), Just(b';'), Just(b'/'), Just(b'='), any::<u8>()], 0..300))
        {
            objects(&body);
            let page = [b"<form><select name=a><option><textarea name=b>", &body[..]].concat();
            prop_assert!(form(&page, 0).is_some());
        }
    }
}
