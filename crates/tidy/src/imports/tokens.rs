//! What one file says of its modules: names that they define and import, and paths in their code.

use std::collections::BTreeSet;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// Words before the name of an item.
const ITEMS: [&str; 8] = ["fn", "struct", "enum", "trait", "type", "const", "static", "union"];

/// What a module holds.
#[derive(Debug, Default)]
pub(super) struct Contents {
    /// Names of its items.
    pub(super) defines: BTreeSet<String>,
    /// Its `use` declarations, those in its functions too.
    pub(super) uses: Vec<Use>,
    /// Paths of two names or more in its code.
    pub(super) paths: Vec<Vec<String>>,
}

/// One name of a `use` declaration.
#[derive(Debug)]
pub(super) struct Use {
    /// As it is written, its groups spelled out.
    pub(super) path: Vec<String>,
    /// The name that it has from there on; none for `as _` and a glob.
    pub(super) alias: Option<String>,
    /// `path::*`.
    pub(super) glob: bool,
}

/// The modules of a file by their paths in it: the file itself, by the empty path, and those that stand in it in braces.
/// What is under `#[cfg(test)]` is left out, and so is a file that is not Rust.
pub(super) fn modules(text: &str) -> Vec<(Vec<String>, Contents)> {
    let stream: TokenStream = text.parse().unwrap_or_default();
    let mut reader = Reader { finished: Vec::new(), path: Vec::new(), current: Contents::default() };
    reader.read(stream, true);
    reader.finished.push((Vec::new(), reader.current));
    reader.finished
}

struct Reader {
    finished: Vec<(Vec<String>, Contents)>,
    path: Vec<String>,
    current: Contents,
}

impl Reader {
    /// Reads the tokens of a module, or of a part of it where no item begins.
    fn read(&mut self, stream: TokenStream, items: bool) {
        let tokens: Vec<TokenTree> = stream.into_iter().collect();
        let mut at = 0;
        while at < tokens.len() {
            at = self.step(&tokens, at, items);
        }
    }

    /// Reads what begins at a token, and gives the place after it.
    fn step(&mut self, tokens: &[TokenTree], at: usize, items: bool) -> usize {
        if let Some(attribute) =
            is_punct(tokens.get(at), '#').then(|| group(tokens.get(at + 1), Delimiter::Bracket))
        {
            return match attribute {
                Some(attribute) if is_for_tests(&attribute) => after_item(tokens, at + 2),
                _ => at + 1,
            };
        }
        let word = word(tokens.get(at));
        match word.as_deref() {
            // The path in `pub(in crate::x)` is no import.
            Some("pub") if group(tokens.get(at + 1), Delimiter::Parenthesis).is_some() => at + 2,
            Some("use") => {
                let end =
                    (at..tokens.len()).find(|at| is_punct(tokens.get(*at), ';')).unwrap_or(tokens.len());
                self.current.uses.extend(names(&[], &tokens[at + 1..end]));
                end + 1
            }
            Some("mod") => {
                let (Some(name), Some(body)) =
                    (self::word(tokens.get(at + 1)), group(tokens.get(at + 2), Delimiter::Brace))
                else {
                    return at + 1;
                };
                self.module(name, body);
                at + 3
            }
            Some(word) => {
                if items && ITEMS.contains(&word) {
                    self.current.defines.extend(self::word(tokens.get(at + 1)));
                }
                let (path, after) = path(tokens, at);
                let goes_on =
                    at > 0 && (is_punct(tokens.get(at - 1), ':') || is_punct(tokens.get(at - 1), '.'));
                let goes_on = goes_on && !begins_after_one_colon(tokens, at);
                if path.len() > 1 && !goes_on {
                    self.current.paths.push(path);
                }
                after
            }
            None => {
                if let Some(TokenTree::Group(group)) = tokens.get(at) {
                    self.read(group.stream(), false);
                }
                at + 1
            }
        }
    }

    fn module(&mut self, name: String, body: TokenStream) {
        let outer = std::mem::take(&mut self.current);
        self.path.push(name);
        self.read(body, true);
        let inner = std::mem::replace(&mut self.current, outer);
        self.finished.push((self.path.clone(), inner));
        self.path.pop();
    }
}

/// The names joined by `::` that begin at a token, and the place after them.
fn path(tokens: &[TokenTree], at: usize) -> (Vec<String>, usize) {
    let mut path: Vec<String> = word(tokens.get(at)).into_iter().collect();
    let mut at = at + 1;
    while let Some(next) = word(tokens.get(at + 2)).filter(|_| is_double_colon(tokens, at)) {
        path.push(next);
        at += 3;
    }
    (path, at)
}

/// `name: a::b`, where the colon is not the second of two.
fn begins_after_one_colon(tokens: &[TokenTree], at: usize) -> bool {
    is_punct(tokens.get(at - 1), ':') && !(at > 1 && is_double_colon(tokens, at - 2))
}

/// The names that a `use` declaration brings in, after `before`.
fn names(before: &[String], tokens: &[TokenTree]) -> Vec<Use> {
    if is_double_colon(tokens, 0) {
        // Of another crate.
        return Vec::new();
    }
    let mut path = before.to_vec();
    let mut at = 0;
    loop {
        if let Some(inner) = group(tokens.get(at), Delimiter::Brace) {
            let inner: Vec<TokenTree> = inner.into_iter().collect();
            let parts = inner.split(|token| is_punct(Some(token), ','));
            return parts.filter(|part| !part.is_empty()).flat_map(|part| names(&path, part)).collect();
        }
        if is_punct(tokens.get(at), '*') {
            return vec![Use { path, alias: None, glob: true }];
        }
        let Some(name) = word(tokens.get(at)) else { return Vec::new() };
        let is_last = !is_double_colon(tokens, at + 1);
        // `{self, …}` means what stands before the braces.
        if !(is_last && name == "self") {
            path.push(name);
        }
        if is_last {
            let renamed = word(tokens.get(at + 1)).is_some_and(|word| word == "as");
            let alias = if renamed { word(tokens.get(at + 2)) } else { path.last().cloned() };
            return vec![Use { path, alias: alias.filter(|alias| alias != "_"), glob: false }];
        }
        at += 3;
    }
}

/// `cfg(test)`, alone or with further conditions.
fn is_for_tests(attribute: &TokenStream) -> bool {
    let mut tokens = attribute.clone().into_iter();
    let is_cfg = word(tokens.next().as_ref()).is_some_and(|word| word == "cfg");
    let conditions = group(tokens.next().as_ref(), Delimiter::Parenthesis);
    is_cfg && conditions.is_some_and(demands_tests)
}

fn demands_tests(conditions: TokenStream) -> bool {
    let tokens: Vec<TokenTree> = conditions.into_iter().collect();
    match word(tokens.first()).as_deref() {
        Some("test") => true,
        Some("all") => group(tokens.get(1), Delimiter::Parenthesis).is_some_and(demands_tests),
        _ => false,
    }
}

/// The place after the item that begins at a token: after its braces, or its semicolon.
fn after_item(tokens: &[TokenTree], at: usize) -> usize {
    let ends =
        |token: &TokenTree| is_punct(Some(token), ';') || group(Some(token), Delimiter::Brace).is_some();
    tokens[at..].iter().position(ends).map_or(tokens.len(), |length| at + length + 1)
}

fn word(token: Option<&TokenTree>) -> Option<String> {
    match token {
        Some(TokenTree::Ident(word)) => Some(word.to_string()),
        _ => None,
    }
}

fn is_punct(token: Option<&TokenTree>, sign: char) -> bool {
    matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == sign)
}

fn is_double_colon(tokens: &[TokenTree], at: usize) -> bool {
    is_punct(tokens.get(at), ':') && is_punct(tokens.get(at + 1), ':')
}

fn group(token: Option<&TokenTree>, delimiter: Delimiter) -> Option<TokenStream> {
    match token {
        Some(TokenTree::Group(group)) if group.delimiter() == delimiter => Some(group.stream()),
        _ => None,
    }
}
