//! `multipart/form-data` bodies (RFC 7578, escaped as the HTML standard has it): files are shared buffers, which are
//! sent from where they lie and never copied.

use std::sync::Arc;

/// A form's parts, in order.
#[derive(Debug, Default)]
pub struct Form {
    /// What was written since the last shared buffer.
    text: Vec<u8>,
    /// What comes before [`Form::text`]: for every file what stands before it, and the file.
    done: Vec<(Vec<u8>, Arc<[u8]>)>,
    boundary: Boundary,
}

/// A line that tells parts apart: 16 hexadecimal digits of a random number behind a word. It is not looked for in the
/// parts: 64 random bits are in a body of a gigabyte by chance with a probability below 10⁻¹⁰, which is also what
/// browsers rely on.
#[derive(Debug, Clone, Copy, Default)]
struct Boundary(u64);

/// A body in pieces, in the order in which they are sent.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Body {
    /// The first piece, which is the request's own.
    pub first: Vec<u8>,
    /// The other pieces: files, which requests share, and what stands between them.
    pub rest: Vec<Arc<[u8]>>,
}

impl Form {
    /// An empty form. `random` is 64 random bits, new for every request.
    pub fn new(random: u64) -> Form {
        Form { boundary: Boundary(random), ..Form::default() }
    }

    /// The body's content type with its boundary.
    pub fn content_type(&self) -> String {
        format!("multipart/form-data; boundary={}", self.boundary.text())
    }

    /// Adds a field. Line ends in its value are sent as CRLF.
    pub fn field(&mut self, name: &str, value: &[u8]) {
        self.open(name);
        self.text.extend_from_slice(b"\r\n\r\n");
        push_lines(value, &mut self.text);
        self.text.extend_from_slice(b"\r\n");
    }

    /// Adds a file by its name and type; `application/octet-stream` when the type is empty or no header's value.
    pub fn file(&mut self, name: &str, file_name: &str, content_type: &str, contents: Arc<[u8]>) {
        self.open(name);
        self.text.extend_from_slice(b"; filename=\"");
        escape(file_name.as_bytes(), &mut self.text);
        self.text.extend_from_slice(b"\"\r\nContent-Type: ");
        let fits = !content_type.is_empty() && !content_type.bytes().any(|byte| byte.is_ascii_control());
        let content_type = if fits { content_type } else { "application/octet-stream" };
        self.text.extend_from_slice(content_type.as_bytes());
        self.text.extend_from_slice(b"\r\n\r\n");
        self.done.push((std::mem::take(&mut self.text), contents));
        self.text.extend_from_slice(b"\r\n");
    }

    /// The whole body.
    pub fn finish(mut self) -> Body {
        self.text.extend_from_slice(b"--");
        self.text.extend_from_slice(self.boundary.text().as_bytes());
        self.text.extend_from_slice(b"--\r\n");
        let mut done = self.done.into_iter();
        let Some((first, file)) = done.next() else { return Body { first: self.text, rest: Vec::new() } };
        let mut rest = vec![file];
        for (before, file) in done {
            rest.extend([before.into(), file]);
        }
        rest.push(self.text.into());
        Body { first, rest }
    }

    /// The beginning of a part, up to where the header line of its disposition goes on.
    fn open(&mut self, name: &str) {
        self.text.extend_from_slice(b"--");
        self.text.extend_from_slice(self.boundary.text().as_bytes());
        self.text.extend_from_slice(b"\r\nContent-Disposition: form-data; name=\"");
        let mut normal = Vec::with_capacity(name.len());
        push_lines(name.as_bytes(), &mut normal);
        escape(&normal, &mut self.text);
        self.text.push(b'"');
    }
}

impl Body {
    /// Its length in bytes.
    pub fn bytes(&self) -> usize {
        self.first.len() + self.rest.iter().map(|piece| piece.len()).sum::<usize>()
    }
}

impl Boundary {
    fn text(self) -> String {
        format!("----PlimsollFormBoundary{:016x}", self.0)
    }
}

/// HTML standard, "multipart/form-data encoding algorithm": quotes and line ends of names, and nothing else.
fn escape(text: &[u8], out: &mut Vec<u8>) {
    for byte in text {
        match byte {
            b'"' => out.extend_from_slice(b"%22"),
            b'\r' => out.extend_from_slice(b"%0D"),
            b'\n' => out.extend_from_slice(b"%0A"),
            other => out.push(*other),
        }
    }
}

/// Writes CR, LF and CRLF alike as CRLF.
fn push_lines(text: &[u8], out: &mut Vec<u8>) {
    let mut after_cr = false;
    for byte in text {
        match byte {
            b'\n' if after_cr => {}
            b'\r' | b'\n' => out.extend_from_slice(b"\r\n"),
            other => out.push(*other),
        }
        after_cr = *byte == b'\r';
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = "------PlimsollFormBoundary0123456789abcdef";

    fn form() -> Form {
        Form::new(0x0123_4567_89AB_CDEF)
    }

    fn text(body: &Body) -> String {
        let pieces = std::iter::once(&body.first[..]).chain(body.rest.iter().map(|piece| &piece[..]));
        String::from_utf8(pieces.flatten().copied().collect()).expect("the test's form is text")
    }

    #[test]
    fn fields_and_files_stand_between_boundaries() {
        let mut form = form();
        form.field("title", b"a\nb\r\nc\rd");
        form.file("photo", "a.jpg", "image/jpeg", Arc::from(&b"JPEG"[..]));
        form.file("empty", "", "", Arc::from(&b""[..]));
        form.field("last", b"");
        assert_eq!(form.content_type(), format!("multipart/form-data; boundary={}", &LINE[2..]));
        let body = form.finish();
        let expected = format!(
            "{LINE}\r\nContent-Disposition: form-data; name=\"title\"\r\n\r\na\r\nb\r\nc\r\nd\r\n\
             {LINE}\r\nContent-Disposition: form-data; name=\"photo\"; filename=\"a.jpg\"\r\n\
             Content-Type: image/jpeg\r\n\r\nJPEG\r\n\
             {LINE}\r\nContent-Disposition: form-data; name=\"empty\"; filename=\"\"\r\n\
             Content-Type: application/octet-stream\r\n\r\n\r\n\
             {LINE}\r\nContent-Disposition: form-data; name=\"last\"\r\n\r\n\r\n{LINE}--\r\n"
        );
        assert_eq!(text(&body), expected);
        assert_eq!(body.bytes(), expected.len());
    }

    #[test]
    fn a_form_without_files_is_one_piece() {
        let mut form = form();
        form.field("a", b"1");
        let body = form.finish();
        assert!(body.rest.is_empty());
        assert_eq!(text(&super::tests::form().finish()), format!("{LINE}--\r\n"), "an empty form");
    }

    #[test]
    fn files_are_shared_and_not_copied() {
        let file: Arc<[u8]> = Arc::from(vec![b'x'; 1_000_000]);
        let bodies = [(); 2].map(|()| {
            let mut form = form();
            form.file("f", "f", "", Arc::clone(&file));
            form.finish()
        });
        for body in &bodies {
            assert!(body.rest.iter().any(|piece| Arc::ptr_eq(piece, &file)));
            assert!(body.bytes() > 1_000_000);
        }
    }

    #[test]
    fn names_are_escaped_as_browsers_do() {
        let mut form = form();
        form.field("a\"b\nc\r\nd%22", b"");
        form.file("f", "ä \"x\"\\\r\n.txt", "text/plain\r\nX-Evil: 1", Arc::from(&b""[..]));
        let text = text(&form.finish());
        assert!(text.contains("; name=\"a%22b%0D%0Ac%0D%0Ad%22\"\r\n"), "{text}");
        assert!(text.contains("; filename=\"ä %22x%22\\%0D%0A.txt\"\r\n"), "{text}");
        assert!(!text.contains("X-Evil"), "{text}");
    }
}
