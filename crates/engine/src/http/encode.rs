//! Percent-encoding of query and form components (WHATWG URL, application/x-www-form-urlencoded).

/// Appends `text` as one form component: letters, digits and `*-._` stay, a space becomes `+`, the rest `%XX`.
pub fn form_component(text: &[u8], out: &mut Vec<u8>) {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    for byte in text {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'*' | b'-' | b'.' | b'_' => out.push(*byte),
            b' ' => out.push(b'+'),
            other => out.extend([b'%', HEX[usize::from(other >> 4)], HEX[usize::from(other & 15)]]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_component_can_hold_every_byte() {
        let mut out = Vec::new();
        form_component("item[]=ä & b".as_bytes(), &mut out);
        assert_eq!(out, b"item%5B%5D%3D%C3%A4+%26+b");
    }
}
