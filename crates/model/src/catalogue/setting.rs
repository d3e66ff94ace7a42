//! A setting is a named value with a type, a range and a default: a service's knob or a kit's parameter.

use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::document::nearest;
use crate::problem::Problem;
use crate::units;

/// The value of a setting.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Value {
    /// `true` or `false`.
    Bool(bool),
    /// A whole number; sizes are whole numbers of bytes.
    Int(i64),
    /// A number.
    Float(f64),
    /// A word.
    Text(String),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Bool(value) => write!(f, "{value}"),
            Value::Int(value) => write!(f, "{value}"),
            Value::Float(value) => write!(f, "{value}"),
            Value::Text(value) => f.write_str(value),
        }
    }
}

/// What kind of value a setting takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Type {
    /// `true` or `false` (on, off, yes, no are read too).
    Bool,
    /// A whole number.
    Int,
    /// A number.
    Float,
    /// Bytes; `64k`, `128M`, `1G` are read too.
    Size,
    /// One of `values`.
    Choice,
    /// Any word.
    Text,
}

/// How a changed knob comes into force.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Apply {
    /// While the server runs, through its own interface.
    Online,
    /// By a graceful reload.
    Reload,
    /// By a restart of the tier.
    #[default]
    Restart,
}

/// The declaration of a knob or a parameter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Setting {
    /// The name as the server's own manual writes it: `MaxRequestWorkers`.
    pub name: String,
    /// bool, int, float, size, choice or text.
    #[serde(rename = "type")]
    pub kind: Type,
    /// The value when nothing is said.
    pub default: Value,
    /// The smallest value allowed.
    pub min: Option<f64>,
    /// The largest value allowed.
    pub max: Option<f64>,
    /// The words allowed, for a choice.
    #[serde(default)]
    pub values: Vec<String>,
    /// How a change comes into force.
    #[serde(default)]
    pub apply: Apply,
    /// What it does, in a sentence.
    pub help: String,
}

impl Setting {
    /// The name as a template or an expression writes it: `pm.max_children` is `pm_max_children`.
    pub fn variable(name: &str) -> String {
        name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
    }

    /// Reads `text` (from the command line) as a value of this setting.
    pub fn read(&self, text: &str) -> Result<Value, String> {
        let value = match self.kind {
            Type::Bool => match text.to_ascii_lowercase().as_str() {
                "true" | "on" | "yes" | "1" => Value::Bool(true),
                "false" | "off" | "no" | "0" => Value::Bool(false),
                _ => return Err(format!("`{text}` is not true or false")),
            },
            Type::Int => Value::Int(text.parse().map_err(|_| format!("`{text}` is not a whole number"))?),
            Type::Float => Value::Float(text.parse().map_err(|_| format!("`{text}` is not a number"))?),
            Type::Size => Value::Int(units::size_bytes(text)?.min(i64::MAX as u64) as i64),
            Type::Choice | Type::Text => Value::Text(text.to_string()),
        };
        self.accept(&value)
    }

    /// Checks type, range and choice; gives the value in this setting's own type (a size in bytes).
    pub fn accept(&self, value: &Value) -> Result<Value, String> {
        let value = match (self.kind, value) {
            (Type::Size, Value::Text(text)) => {
                Value::Int(units::size_bytes(text)?.min(i64::MAX as u64) as i64)
            }
            (Type::Float, Value::Int(number)) => Value::Float(*number as f64),
            _ => value.clone(),
        };
        let fits = match self.kind {
            Type::Bool => matches!(value, Value::Bool(_)),
            Type::Int | Type::Size => matches!(value, Value::Int(_)),
            Type::Float => matches!(value, Value::Float(_)),
            Type::Choice | Type::Text => matches!(value, Value::Text(_)),
        };
        if !fits {
            return Err(format!("`{value}` is not {}", self.kind_words()));
        }
        match &value {
            Value::Int(number) => self.in_range(*number as f64)?,
            Value::Float(number) => self.in_range(*number)?,
            Value::Text(word) if self.kind == Type::Choice && !self.values.contains(word) => {
                let near = nearest(word, self.values.iter().map(String::as_str));
                let hint = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
                return Err(format!("`{word}` is not one of: {}{hint}", self.values.join(", ")));
            }
            Value::Text(word) if word.chars().any(char::is_control) => {
                return Err("a control character can't stand in a configuration file".to_string());
            }
            _ => {}
        }
        Ok(value)
    }

    fn in_range(&self, number: f64) -> Result<(), String> {
        let low = self.min.unwrap_or(f64::NEG_INFINITY);
        let high = self.max.unwrap_or(f64::INFINITY);
        if (low..=high).contains(&number) {
            return Ok(());
        }
        let word = |number: f64| match self.kind {
            Type::Size if number >= 0.0 => units::write_size(number as u64),
            _ => number.to_string(),
        };
        let range = match (self.min, self.max) {
            (Some(low), Some(high)) => format!("between {} and {}", word(low), word(high)),
            (Some(low), None) => format!("{} or more", word(low)),
            _ => format!("{} or less", word(high)),
        };
        let unit = match self.kind {
            Type::Size => " (bytes, or with a unit: 64k, 64M, 1G)",
            _ => "",
        };
        Err(format!("{} is out of range; it must be {range}{unit}", word(number)))
    }

    fn kind_words(&self) -> &'static str {
        match self.kind {
            Type::Bool => "true or false",
            Type::Int => "a whole number",
            Type::Float => "a number",
            Type::Size => "a size",
            Type::Choice | Type::Text => "a word",
        }
    }
}

/// Settings by name, each with the value in force.
pub type Values = BTreeMap<String, Value>;

/// Settings as somebody gave them, before they were checked: what is not among them has its default.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GivenSettings {
    /// The kit's parameters.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub param: Values,
    /// Knobs by `tier.knob` or `service.knob`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub set: Values,
}

/// The defaults of `settings`, overridden by `given`; every unknown name and bad value becomes a problem whose key is
/// `prefix` and the name.
pub fn resolve(settings: &[Setting], given: &Values, prefix: &str, problems: &mut Vec<Problem>) -> Values {
    let mut values: Values =
        settings.iter().map(|setting| (setting.name.clone(), setting.default.clone())).collect();
    for (name, value) in given {
        let key = format!("{prefix}{name}");
        let Some(setting) = settings.iter().find(|setting| setting.name == *name) else {
            problems.push(unknown(settings, name).key(key));
            continue;
        };
        let accepted = match value {
            Value::Text(text) => setting.read(text),
            other => setting.accept(other),
        };
        match accepted {
            Ok(value) => _ = values.insert(name.clone(), value),
            Err(what) => problems.push(
                Problem::recipe(what)
                    .key(key)
                    .remedy(format!("{}, the default ({})", setting.default, setting.help)),
            ),
        }
    }
    for setting in settings {
        if let Ok(value) = setting.accept(&values[&setting.name]) {
            values.insert(setting.name.clone(), value);
        }
    }
    values
}

fn unknown(settings: &[Setting], name: &str) -> Problem {
    let names = || settings.iter().map(|setting| setting.name.as_str());
    let problem = Problem::recipe(format!("unknown setting `{name}`"));
    match nearest(name, names()) {
        Some(near) => problem.remedy(format!("`{near}`")),
        None => problem.remedy(format!("one of: {}", names().collect::<Vec<_>>().join(", "))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn workers() -> Setting {
        Setting {
            name: "MaxRequestWorkers".into(),
            kind: Type::Int,
            default: Value::Int(150),
            min: Some(1.0),
            max: Some(20000.0),
            values: Vec::new(),
            apply: Apply::Restart,
            help: "requests served at once".into(),
        }
    }

    #[test]
    fn a_value_out_of_range_is_refused_with_the_range() {
        assert_eq!(workers().read("0"), Err("0 is out of range; it must be between 1 and 20000".to_string()));
        assert_eq!(workers().read("64"), Ok(Value::Int(64)));
    }

    #[test]
    fn a_size_out_of_range_is_told_in_the_units_that_are_read() {
        let memory = Setting {
            kind: Type::Size,
            default: Value::Text("64M".into()),
            min: Some(1_048_576.0),
            max: None,
            ..workers()
        };
        let said = "it must be 1M or more (bytes, or with a unit: 64k, 64M, 1G)";
        assert_eq!(memory.read("1"), Err(format!("1 is out of range; {said}")));
        assert_eq!(memory.read("512k"), Err(format!("512k is out of range; {said}")));
        assert_eq!(memory.read("64M"), Ok(Value::Int(64 << 20)));
    }

    #[test]
    fn an_unknown_setting_names_the_nearest_one() {
        let mut problems = Vec::new();
        let given = Values::from([("MaxRequestWorker".to_string(), Value::Text("64".into()))]);
        resolve(&[workers()], &given, "web.", &mut problems);
        assert_eq!(
            problems[0].to_string(),
            "web.MaxRequestWorker: unknown setting `MaxRequestWorker`\n  try: `MaxRequestWorkers`"
        );
    }

    #[test]
    fn given_values_win_over_defaults() {
        let given = Values::from([("MaxRequestWorkers".to_string(), Value::Text("64".into()))]);
        let values = resolve(&[workers()], &given, "web.", &mut Vec::new());
        assert_eq!(values["MaxRequestWorkers"], Value::Int(64));
    }

    #[test]
    fn a_line_break_never_reaches_a_configuration_file() {
        let text = Setting { kind: Type::Text, default: Value::Text(String::new()), ..workers() };
        assert!(text.read("a\nUser root").is_err());
    }
}
