//! Servers that a stack builds from sources: each says what it is, and keeps what the compiler can't check in one file.

use crate::source::code;
use crate::{Complaint, House};

/// Checks every folder of `servers/`.
pub fn check(house: &House) -> Vec<Complaint> {
    let mut found = Vec::new();
    for name in house.folders("servers") {
        let folder = format!("servers/{name}/");
        if !house.has(&format!("{folder}README.md")) {
            let what = "the folder needs a README.md: what the server is, and what not".to_string();
            found.push(Complaint { rule: "servers", path: folder.clone(), line: 0, what });
        }
        let unchecked = house.matching(&folder, ".rs").filter_map(|(path, text)| {
            let line = code(text).iter().position(|line| is_unsafe(line))?;
            Some((path, line + 1))
        });
        for (path, line) in unchecked.skip(1) {
            let what = "`unsafe` stands in one file of a server, and another one has it already".to_string();
            found.push(Complaint { rule: "servers", path: path.to_string(), line, what });
        }
    }
    found
}

fn is_unsafe(line: &str) -> bool {
    line.split(|letter: char| !(letter.is_alphanumeric() || letter == '_')).any(|word| word == "unsafe")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_has_a_page_and_one_file_that_is_unsafe_at_most() {
        let right = [
            ("servers/README.md", "# Servers"),
            ("servers/flash/README.md", "# flash"),
            (
                "servers/flash/src/main.rs",
                "// nothing unsafe\n#![deny(unsafe_op_in_unsafe_fn)]\nfn main() {}",
            ),
            ("servers/flash/src/sys.rs", "fn f() {\n    unsafe { g() }\n}"),
            ("servers/other/README.md", "# other"),
            ("servers/other/src/sys.rs", "unsafe fn g() {}"),
        ];
        assert_eq!(check(&House::of(right)), []);
        let second = ("servers/flash/src/two.rs", "fn f() {\n    unsafe { g() }\n}");
        let found = check(&House::of(right.into_iter().chain([second])));
        assert!(found.len() == 1 && (found[0].path.as_str(), found[0].line) == (second.0, 2), "{found:?}");
        let found = check(&House::of([("servers/haboob/Haboob.java", "")]));
        assert!(found.len() == 1 && found[0].what.contains("README.md"), "{found:?}");
    }
}
