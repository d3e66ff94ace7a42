//! `catalogue/host/knobs.toml`: settings of the machine itself, beside those of services: `--set host.vm.swappiness=1`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::catalogue::setting::{Apply, Setting, Type, Value};
use crate::problem::Problem;

/// What the keys of settings of the machine begin with, and of which kits and stacks have none.
pub const MACHINE: &str = "host";

/// The file.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MachineKnobFile {
    /// The version of this format: 1.
    #[schemars(range(min = 1, max = 1))]
    pub format: u32,
    /// The settings.
    #[serde(rename = "knob")]
    pub knobs: Vec<MachineKnob>,
}

/// A setting of the machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MachineKnob {
    /// The name after `host.`.
    pub name: String,
    /// int, choice or text.
    #[serde(rename = "type")]
    pub kind: Type,
    /// The smallest value allowed.
    pub min: Option<f64>,
    /// The largest value allowed.
    pub max: Option<f64>,
    /// The words allowed, for a choice.
    #[serde(default)]
    pub values: Vec<String>,
    /// The text is this many whole numbers with blanks between.
    pub numbers: Option<u32>,
    /// The kernel's file that has it, below /proc/sys or /sys. `{disk}` stands for the disk that `$PLIMSOLL_HOME` is on, `{cable}` for each
    /// card of this host that leads to a tier's own host.
    pub file: String,
    /// How the file shows its value.
    #[serde(default)]
    pub form: FileForm,
    /// Where this is found another setting is in force instead, which could not be put back: then it is not changed.
    pub unless_found: Option<String>,
    /// What it does, in a sentence.
    pub help: String,
}

/// How a file of the kernel shows the value in force.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FileForm {
    /// Its text is the value.
    #[default]
    Plain,
    /// All words that it knows, the one in force in brackets: `always [madvise] never`.
    Marked,
}

impl MachineKnob {
    /// Reads a value that was asked for; as it is written into the file.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn accept(&self, value: &Value) -> Result<String, String> {
        let value = match (self.kind, value) {
            // A number, as a recipe may write it, and tabs, as the kernel does.
            (Type::Text, value) => {
                let text = value.to_string();
                Value::Text(text.split_whitespace().collect::<Vec<_>>().join(" "))
            }
            (_, Value::Text(text)) => self.setting().read(text)?,
            (_, value) => value.clone(),
        };
        let text = self.setting().accept(&value)?.to_string();
        let words: Vec<&str> = text.split_whitespace().collect();
        match self.numbers {
            _ if words.is_empty() => Err("it has no value".to_string()),
            Some(count) if words.len() != count as usize || words.iter().any(|word| !is_number(word)) => {
                Err(format!("`{text}` is not {count} whole numbers with blanks between"))
            }
            None if words.len() > 1 => Err(format!("`{text}` is more than one word")),
            _ => Ok(words.join(" ")),
        }
    }

    /// As a setting, for lists; its default is what the machine has.
    pub fn setting(&self) -> Setting {
        Setting {
            name: self.name.clone(),
            kind: self.kind,
            default: Value::Text(String::new()),
            min: self.min,
            max: self.max,
            values: self.values.clone(),
            apply: Apply::Online,
            help: self.help.clone(),
        }
    }

    /// Whether each cable to a tier's own host has one of its own.
    pub fn is_of_cables(&self) -> bool {
        self.file.contains(CABLE)
    }

    /// What is wrong with it.
    pub fn mistakes(&self) -> Vec<Problem> {
        let mut found = Vec::new();
        let mut wrong = |key: &str, what: &str| {
            found.push(Problem::recipe(format!("`{}`: {what}", self.name)).key(format!("knob.{key}")));
        };
        let below = ["/proc/sys/", "/sys/"].iter().any(|root| self.file.starts_with(root));
        if !below || self.file.split('/').any(|part| part == "..") {
            wrong("file", "a setting of the machine is a file below /proc/sys or /sys");
        }
        if !matches!(self.kind, Type::Int | Type::Choice | Type::Text) {
            wrong("type", "a setting of the machine is an int, a choice or a text");
        }
        if self.kind == Type::Int && (self.min.is_none() || self.max.is_none()) {
            wrong("min", "a number has a least and a most value: the whole machine has it");
        }
        if (self.kind == Type::Choice) == self.values.is_empty() {
            wrong("values", "a choice has values, and nothing else does");
        }
        if self.numbers.is_some() && self.kind != Type::Text {
            wrong("numbers", "only a text can be several numbers");
        }
        found
    }
}

/// In a file's path: each card that leads to a tier's own host.
pub const CABLE: &str = "{cable}";
/// In a file's path: the disk that `$PLIMSOLL_HOME` is on.
pub const DISK: &str = "{disk}";

fn is_number(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn knob(text: &str) -> MachineKnob {
        let text =
            format!("format = 1\n[[knob]]\nname = \"x\"\nhelp = \"X.\"\nfile = \"/proc/sys/x\"\n{text}");
        let file: MachineKnobFile = crate::document::read("knobs.toml", &text).expect("a file of settings");
        let [knob] = &file.knobs[..] else { panic!("one: {file:?}") };
        knob.clone()
    }

    #[test]
    fn a_value_is_written_as_the_kernel_reads_it() {
        let number = knob("type = \"int\"\nmin = 0\nmax = 200");
        assert_eq!(number.accept(&Value::Int(10)), Ok("10".to_string()));
        assert_eq!(number.accept(&Value::Text("10".into())), Ok("10".to_string()));
        assert!(number.accept(&Value::Int(201)).is_err());
        assert!(number.accept(&Value::Text("ten".into())).is_err());
        let three = knob("type = \"text\"\nnumbers = 3");
        assert_eq!(
            three.accept(&Value::Text("4096\t  8192 16384".into())),
            Ok("4096 8192 16384".to_string())
        );
        assert!(three.accept(&Value::Text("4096 8192".into())).is_err());
        let word = knob("type = \"text\"");
        assert_eq!(word.accept(&Value::Int(3)), Ok("3".to_string()), "a mask of digits");
        assert!(word.accept(&Value::Text("a\nb".into())).is_err(), "one line, one word");
        assert!(word.accept(&Value::Text(" ".into())).is_err());
    }

    #[test]
    fn what_is_no_file_of_settings_is_told() {
        let mut knob = knob("type = \"int\"\nmin = 0\nmax = 1");
        assert!(knob.mistakes().is_empty(), "{:?}", knob.mistakes());
        knob.file = "/etc/passwd".into();
        assert_eq!(knob.mistakes().len(), 1);
        knob.file = "/sys/../etc/passwd".into();
        assert_eq!(knob.mistakes().len(), 1);
        knob.max = None;
        assert_eq!(knob.mistakes().len(), 2, "the whole machine has it: there are bounds");
    }
}
