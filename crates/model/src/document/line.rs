//! Where a key stands in a TOML text, for mistakes that only show once the text has been read.

use toml::de::{DeTable, DeValue};

/// The 1-based line of what `path` leads to, as far as it leads: names of keys, and numbers for elements of lists.
/// Nothing when not even the first step is there.
pub fn line(text: &str, path: &[&str]) -> Option<u32> {
    let table = DeTable::parse(text).ok()?;
    let mut found = None;
    let mut at = Inner::Table(table.get_ref());
    for step in path {
        let (next, offset) = match at {
            Inner::Table(table) => {
                let Some((key, value)) = table.iter().find(|(key, _)| key.get_ref() == step) else { break };
                (value.get_ref(), key.span().start)
            }
            Inner::Value(DeValue::Array(list)) => {
                let Some(item) = step.parse::<usize>().ok().and_then(|index| list.get(index)) else { break };
                (item.get_ref(), item.span().start)
            }
            Inner::Value(_) => break,
        };
        found = Some(super::line_of(text, offset));
        at = match next {
            DeValue::Table(table) => Inner::Table(table),
            value => Inner::Value(value),
        };
    }
    found
}

enum Inner<'a, 'text> {
    Table(&'a DeTable<'text>),
    Value(&'a DeValue<'text>),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_found_by_its_path_as_far_as_it_leads() {
        let text = "a = 1\n[set]\n\"web.x\" = 2\n[[factor]]\nknob = \"k\"\n[[factor]]\nvalues = [1,\n  2]\n";
        assert_eq!(line(text, &["a"]), Some(1));
        assert_eq!(line(text, &["set", "web.x"]), Some(3));
        assert_eq!(line(text, &["factor", "1", "values", "1"]), Some(8));
        assert_eq!(line(text, &["factor", "1", "gone"]), line(text, &["factor", "1"]));
        assert_eq!(line(text, &["gone"]), None);
    }
}
