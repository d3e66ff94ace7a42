//! Percent-encoding of query and form components (WHATWG URL, application/x-www-form-urlencoded).

/// Appends `text` as one form component: letters, digits and `*-._` stay, a space becomes `+`, the rest `%XX`.
pub fn form_component(text: &[u8], out: &mut Vec<u8>) {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    let mut rest = text;
    loop {
        let stay = rest.iter().position(|byte| !STAYS[usize::from(*byte)]).unwrap_or(rest.len());
        out.extend_from_slice(&rest[..stay]);
        match &rest[stay..] {
            [] => return,
            [b' ', ..] => out.push(b'+'),
            [other, ..] => out.extend([b'%', HEX[usize::from(other >> 4)], HEX[usize::from(other & 15)]]),
        }
        rest = &rest[stay + 1..];
    }
}

/// Whether a byte stands for itself.
const STAYS: [bool; 256] = {
    let mut stays = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        stays[byte] = (byte as u8).is_ascii_alphanumeric() || matches!(byte as u8, b'*' | b'-' | b'.' | b'_');
        byte += 1;
    }
    stays
};

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
