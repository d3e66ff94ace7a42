//! What the functions of a kit's scripts begin and call, and how often.

use std::collections::{BTreeMap, BTreeSet};

use model::catalogue::occurrence::Occurrence;

use super::tokens::{Token, tokens};

/// What a function does that matters here, with how often it does so each time that it is called.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Function {
    pub(super) items: Vec<(Item, Occurrence)>,
    /// There are several of that name.
    pub(super) is_ambiguous: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Item {
    Operation(String),
    /// One whose name is worked out.
    AnyOperation,
    /// Of a function by its name, whatever table it is in.
    Call(String),
}

/// The functions with a name of all these texts.
pub(super) fn functions(texts: &[&str]) -> BTreeMap<String, Function> {
    let all: Vec<Vec<Token>> = texts.iter().map(|text| tokens(text)).collect();
    let names: BTreeSet<String> = all.iter().flat_map(|tokens| definitions(tokens)).collect();
    let mut functions = BTreeMap::<String, Function>::new();
    for tokens in &all {
        for (name, function) in (Reader { tokens, at: 0, names: &names, blocks: Vec::new() }).read() {
            let is_new = !functions.contains_key(&name);
            let place = functions.entry(name).or_default();
            *place = if is_new { function } else { Function { is_ambiguous: true, ..function } };
        }
    }
    functions
}

/// The names that follow `function`.
fn definitions(tokens: &[Token]) -> Vec<String> {
    (0..tokens.len())
        .filter(|at| tokens[*at].is_word("function"))
        .filter_map(|at| named(tokens, at))
        .collect()
}

/// The last part of the name of the function that is defined there; absent where it has none.
fn named(tokens: &[Token], at: usize) -> Option<String> {
    let mut name = None;
    for token in &tokens[at + 1..] {
        match token {
            Token::Word(word) => name = Some(word.clone()),
            Token::Sign('.' | ':') => {}
            _ => break,
        }
    }
    name
}

/// What begins a block that `end` or `until` closes.
enum Block {
    /// A function with a name.
    Named(String, Function),
    /// What is in it comes so often each time that what is around it does.
    Inner(Occurrence),
}

struct Reader<'a> {
    tokens: &'a [Token],
    at: usize,
    names: &'a BTreeSet<String>,
    blocks: Vec<Block>,
}

impl Reader<'_> {
    fn read(mut self) -> Vec<(String, Function)> {
        let mut done = Vec::new();
        while let Some(token) = self.tokens.get(self.at) {
            if let Token::Word(word) = token {
                let word = word.clone();
                self.word(&word, &mut done);
            }
            self.at += 1;
        }
        done
    }

    fn word(&mut self, word: &str, done: &mut Vec<(String, Function)>) {
        match word {
            "function" => match named(self.tokens, self.at) {
                Some(name) => {
                    self.skip_to('(');
                    self.blocks.push(Block::Named(name, Function::default()));
                }
                // Whoever has it may call it as often as it likes.
                None => self.blocks.push(Block::Inner(Occurrence::Unknown)),
            },
            "if" => {
                let times = self.condition();
                self.blocks.push(Block::Inner(times));
            }
            "elseif" | "else" => {
                if let Some(Block::Inner(times)) = self.blocks.last_mut() {
                    *times = Occurrence::AtMost(1.0);
                }
            }
            "for" => {
                let times = self.rounds();
                self.blocks.push(Block::Inner(times));
            }
            "while" => {
                self.skip_to_word("do");
                self.blocks.push(Block::Inner(Occurrence::Unknown));
            }
            "repeat" => self.blocks.push(Block::Inner(Occurrence::Unknown)),
            "do" => self.blocks.push(Block::Inner(Occurrence::Times(1.0))),
            "end" | "until" => {
                if let Some(Block::Named(name, function)) = self.blocks.pop() {
                    done.push((name, function));
                }
            }
            "operation" => {
                let item = match self.argument() {
                    Some(Token::Text(name)) => Item::Operation(name.clone()),
                    _ => Item::AnyOperation,
                };
                self.add(item, Occurrence::Times(1.0));
            }
            name if self.names.contains(name) => {
                let called =
                    matches!(self.tokens.get(self.at + 1), Some(Token::Sign('(' | '{') | Token::Text(_)));
                // One that is handed on may be called as often as whoever has it likes.
                let times = if called { Occurrence::Times(1.0) } else { Occurrence::Unknown };
                self.add(Item::Call(name.to_string()), times);
            }
            _ => {}
        }
    }

    fn add(&mut self, item: Item, mut times: Occurrence) {
        for block in self.blocks.iter_mut().rev() {
            match block {
                Block::Inner(each) => times = times.for_each(*each),
                Block::Named(_, function) => return function.items.push((item, times)),
            }
        }
    }

    /// What stands after a call's name, behind a parenthesis or not.
    fn argument(&self) -> Option<&Token> {
        let at = self.at + 1 + usize::from(self.tokens.get(self.at + 1) == Some(&Token::Sign('(')));
        self.tokens.get(at)
    }

    /// Passes over what stands before the sign, and over the sign.
    fn skip_to(&mut self, sign: char) {
        while self.tokens.get(self.at + 1).is_some_and(|token| *token != Token::Sign(sign)) {
            self.at += 1;
        }
        self.at += 1;
    }

    fn skip_to_word(&mut self, word: &str) -> Vec<Token> {
        let from = self.at + 1;
        while self.tokens.get(self.at + 1).is_some_and(|token| !token.is_word(word)) {
            self.at += 1;
        }
        self.at += 1;
        self.tokens[from.min(self.tokens.len())..self.at.min(self.tokens.len())].to_vec()
    }

    /// How often the body of an `if` comes: with a known probability where that is all the condition, else once at most.
    fn condition(&self) -> Occurrence {
        let [name, open, probability, close, then] =
            [1, 2, 3, 4, 5].map(|next| self.tokens.get(self.at + next));
        let is_chance = name.is_some_and(|name| name.is_word("chance"))
            && (open, close) == (Some(&Token::Sign('(')), Some(&Token::Sign(')')))
            && then.is_some_and(|then| then.is_word("then"));
        match probability.and_then(Token::number).filter(|_| is_chance) {
            Some(probability) => Occurrence::Times(probability.clamp(0.0, 1.0)),
            None => Occurrence::AtMost(1.0),
        }
    }

    /// How often a loop goes round: `for _ = 1, 5 do`, `for _ = 1, random(1, 5) do`; unknown of any other.
    fn rounds(&mut self) -> Occurrence {
        let head = self.skip_to_word("do");
        let number = |at: usize| head.get(at).and_then(Token::number);
        let sign = |at: usize, sign: char| head.get(at) == Some(&Token::Sign(sign));
        let from = number(2).filter(|_| sign(1, '=') && sign(3, ','));
        let Some(from) = from else { return Occurrence::Unknown };
        let drawn = head.get(4).is_some_and(|word| word.is_word("random"));
        let to = match (head.len(), drawn) {
            (5, false) => number(4),
            (10, true) if sign(5, '(') && sign(7, ',') && sign(9, ')') => {
                number(6).zip(number(8)).map(|(low, high)| (low + high) / 2.0)
            }
            _ => None,
        };
        // A number of rounds that is drawn may begin below the first one, which is none.
        to.map_or(Occurrence::Unknown, |to| Occurrence::Times((to - from + 1.0).max(0.0)))
    }
}
