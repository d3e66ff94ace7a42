//! TOML text to a typed value, with every mistake at once: unknown key (and the nearest known one), wrong type,
//! missing key, value outside its range, each with its line.
//!
//! The schema is the one that `schemars` derives from the type, so that what is checked, what is documented as JSON
//! Schema and what is read can't drift apart.

mod line;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value as Json;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::problem::{Problem, Problems, Result};

pub use line::line;

/// Reads `text` as a `T`. `file` is the name that problems carry.
pub fn read<T: DeserializeOwned + JsonSchema>(file: &str, text: &str) -> Result<T> {
    let table = DeTable::parse(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        Problem::recipe(error.message().to_string()).file(file).line(line_of(text, at))
    })?;
    let schema = schemars::schema_for!(T).to_value();
    let mut check = Check { file, text, root: &schema, problems: Vec::new() };
    check.table(&schema, table.get_ref(), table.span().start, "");
    Problems::check(check.problems)?;
    toml::from_str(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        Problem::recipe(error.message().to_string()).file(file).line(line_of(text, at)).into()
    })
}

/// The known name nearest to a mistyped one, if any is near enough to be meant.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let lower = name.to_lowercase();
    known
        .into_iter()
        .map(|candidate| (strsim::osa_distance(&lower, &candidate.to_lowercase()), candidate))
        .filter(|(distance, candidate)| *distance <= 2.max(candidate.len() / 3))
        .min()
        .map(|(_, candidate)| candidate)
}

fn line_of(text: &str, offset: usize) -> u32 {
    text.as_bytes().iter().take(offset).filter(|byte| **byte == b'\n').count() as u32 + 1
}

struct Check<'a> {
    file: &'a str,
    text: &'a str,
    root: &'a Json,
    problems: Vec<Problem>,
}

impl<'a> Check<'a> {
    fn report(&mut self, offset: usize, key: &str, what: String) -> &mut Problem {
        let problem = Problem::recipe(what).file(self.file).line(line_of(self.text, offset)).key(key);
        self.problems.push(problem);
        self.problems.last_mut().expect("one was just pushed")
    }

    fn resolve(&self, schema: &'a Json) -> &'a Json {
        match schema.get("$ref").and_then(Json::as_str) {
            Some(path) => self.root.pointer(path.trim_start_matches('#')).unwrap_or(schema),
            None => schema,
        }
    }

    fn table(&mut self, schema: &'a Json, table: &DeTable<'_>, offset: usize, at: &str) {
        let properties = schema.get("properties").and_then(Json::as_object);
        for (name, value) in table.iter() {
            let key = join(at, name.get_ref());
            if let Some(inner) = properties.and_then(|known| known.get(name.get_ref().as_ref())) {
                self.value(inner, value, &key);
            } else {
                match schema.get("additionalProperties") {
                    Some(Json::Bool(false)) => {
                        let known: Vec<&str> = properties
                            .into_iter()
                            .flat_map(|known| known.keys())
                            .map(String::as_str)
                            .collect();
                        let near = nearest(name.get_ref(), known.iter().copied()).map(str::to_string);
                        let list = known.join(", ");
                        let problem = self.report(name.span().start, &key, "unknown key".to_string());
                        problem.remedy =
                            Some(near.map_or(format!("one of: {list}"), |near| format!("`{near}`")));
                    }
                    Some(inner @ Json::Object(_)) => self.value(inner, value, &key),
                    _ => {}
                }
            }
        }
        for name in schema.get("required").and_then(Json::as_array).into_iter().flatten() {
            let name = name.as_str().unwrap_or_default();
            if !table.contains_key(name) {
                let note = properties
                    .and_then(|known| known.get(name))
                    .and_then(|property| property.get("description"))
                    .and_then(Json::as_str)
                    .map(|text| text.replace('\n', " "));
                let problem = self.report(offset, &join(at, name), "required key is missing".to_string());
                problem.remedy = Some(match note {
                    Some(note) => format!("add `{name} = …`: {note}"),
                    None => format!("add `{name} = …`"),
                });
            }
        }
    }

    fn value(&mut self, schema: &'a Json, value: &Spanned<DeValue<'_>>, key: &str) {
        let schema = self.resolve(schema);
        for word in ["anyOf", "oneOf"] {
            if let Some(choices) = schema.get(word).and_then(Json::as_array) {
                return self.choice(choices, value, key);
            }
        }
        let offset = value.span().start;
        if !type_fits(schema, value.get_ref()) {
            let (wanted, found) = (describe_type(schema), value.get_ref().type_str());
            self.report(offset, key, format!("expected {wanted}, found {found}"));
            return;
        }
        match value.get_ref() {
            DeValue::Table(table) => self.table(schema, table, offset, key),
            DeValue::Array(array) => {
                if let Some(items) = schema.get("items") {
                    for (index, item) in array.iter().enumerate() {
                        self.value(items, item, &format!("{key}[{index}]"));
                    }
                }
            }
            DeValue::String(text) => self.one_of(schema, text, offset, key),
            DeValue::Integer(number) => {
                self.range(schema, number.as_str().replace('_', "").parse().ok(), offset, key)
            }
            DeValue::Float(number) => {
                self.range(schema, number.as_str().replace('_', "").parse().ok(), offset, key)
            }
            _ => {}
        }
    }

    /// Takes the first choice without a problem; else reports those of the first choice of the right type.
    fn choice(&mut self, choices: &'a [Json], value: &Spanned<DeValue<'_>>, key: &str) {
        let mut best: Option<Vec<Problem>> = None;
        let mut consts = Vec::new();
        for schema in choices.iter().map(|choice| self.resolve(choice)) {
            consts.extend(schema.get("const").and_then(Json::as_str));
            let mut attempt =
                Check { file: self.file, text: self.text, root: self.root, problems: Vec::new() };
            attempt.value(schema, value, key);
            if attempt.problems.is_empty() {
                return;
            }
            let fits = type_fits(schema, value.get_ref());
            let fewer = best.as_ref().is_none_or(|best| attempt.problems.len() < best.len());
            if fits && fewer {
                best = Some(attempt.problems);
            }
        }
        if let (DeValue::String(text), false) = (value.get_ref(), consts.is_empty()) {
            return self.not_among(&consts, text, value.span().start, key);
        }
        match best {
            Some(problems) => self.problems.extend(problems),
            None => {
                let wanted: Vec<String> =
                    choices.iter().map(|choice| describe_type(self.resolve(choice))).collect();
                let found = value.get_ref().type_str();
                self.report(
                    value.span().start,
                    key,
                    format!("expected {}, found {found}", wanted.join(" or ")),
                );
            }
        }
    }

    fn one_of(&mut self, schema: &Json, text: &str, offset: usize, key: &str) {
        let listed =
            schema.get("enum").and_then(Json::as_array).into_iter().flatten().filter_map(Json::as_str);
        let known: Vec<&str> = listed.chain(schema.get("const").and_then(Json::as_str)).collect();
        if !known.is_empty() && !known.contains(&text) {
            self.not_among(&known, text, offset, key);
        }
    }

    fn not_among(&mut self, known: &[&str], text: &str, offset: usize, key: &str) {
        let near = nearest(text, known.iter().copied()).map(|near| format!("`{near}`"));
        let list = known.join(", ");
        let problem = self.report(offset, key, format!("`{text}` is not one of: {list}"));
        problem.remedy = near;
    }

    fn range(&mut self, schema: &Json, number: Option<f64>, offset: usize, key: &str) {
        let Some(number) = number else { return };
        // TOML has `nan` and `inf`, and reads 1e999 as one: neither lies outside of any range.
        if !number.is_finite() {
            self.report(offset, key, format!("{number} is no number that can be worked with"));
            return;
        }
        let low = schema.get("minimum").and_then(Json::as_f64);
        let high = schema.get("maximum").and_then(Json::as_f64);
        if low.is_some_and(|low| number < low) || high.is_some_and(|high| number > high) {
            let range = match (low, high) {
                (Some(low), Some(high)) => format!("between {low} and {high}"),
                (Some(low), None) => format!("{low} or more"),
                (_, high) => format!("{} or less", high.unwrap_or(f64::INFINITY)),
            };
            self.report(offset, key, format!("{number} is out of range; it must be {range}"));
        }
    }
}

fn join(at: &str, name: &str) -> String {
    if at.is_empty() { name.to_string() } else { format!("{at}.{name}") }
}

fn type_names(schema: &Json) -> Vec<&str> {
    match schema.get("type") {
        Some(Json::String(name)) => vec![name],
        Some(Json::Array(names)) => names.iter().filter_map(Json::as_str).collect(),
        _ if schema.get("const").is_some_and(Json::is_string) => vec!["string"],
        _ => Vec::new(),
    }
}

fn type_fits(schema: &Json, value: &DeValue<'_>) -> bool {
    let names = type_names(schema);
    names.is_empty()
        || names.iter().any(|name| match value {
            DeValue::String(_) => *name == "string",
            DeValue::Integer(_) => matches!(*name, "integer" | "number"),
            DeValue::Float(_) => *name == "number",
            DeValue::Boolean(_) => *name == "boolean",
            DeValue::Array(_) => *name == "array",
            DeValue::Table(_) => *name == "object",
            DeValue::Datetime(_) => false,
        })
}

fn describe_type(schema: &Json) -> String {
    let names: Vec<&str> = type_names(schema)
        .into_iter()
        .filter(|name| *name != "null")
        .map(|name| match name {
            "object" => "a table",
            "array" => "a list",
            "integer" => "a whole number",
            "number" => "a number",
            "boolean" => "true or false",
            _ => "a string",
        })
        .collect();
    if names.is_empty() { "another type".to_string() } else { names.join(" or ") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;
    use std::collections::BTreeMap;

    #[derive(Debug, Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    struct Sample {
        /// The name of the thing.
        #[allow(dead_code)]
        name: String,
        #[schemars(range(min = 1, max = 10))]
        #[allow(dead_code)]
        level: Option<u32>,
        #[serde(default)]
        #[allow(dead_code)]
        inner: BTreeMap<String, Inner>,
        #[serde(default)]
        #[allow(dead_code)]
        colour: Colour,
    }

    #[derive(Debug, Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    struct Inner {
        #[allow(dead_code)]
        weight: f64,
    }

    #[derive(Debug, Default, Deserialize, JsonSchema)]
    #[serde(rename_all = "lowercase")]
    enum Colour {
        #[default]
        Red,
        Green,
    }

    fn messages(text: &str) -> Vec<String> {
        let problems = read::<Sample>("s.toml", text).expect_err("the text is wrong");
        problems.iter().map(|problem| problem.to_string().replace('\n', " ")).collect()
    }

    #[test]
    fn all_mistakes_are_reported_at_once_with_their_lines() {
        let text = "nam = \"x\"\nlevel = 11\ncolour = \"gren\"\n[inner.a]\nweight = \"heavy\"\nheight = 2\n";
        let messages = messages(text);
        let expected = [
            "s.toml:1: nam: unknown key   try: `name`",
            "s.toml:2: level: 11 is out of range; it must be between 1 and 10",
            "s.toml:3: colour: `gren` is not one of: red, green   try: `green`",
            "s.toml:5: inner.a.weight: expected a number, found string",
            "s.toml:6: inner.a.height: unknown key   try: `weight`",
            "s.toml:1: name: required key is missing   try: add `name = …`: The name of the thing.",
        ];
        for sentence in expected {
            assert!(messages.iter().any(|m| m == sentence), "missing: {sentence}\ngot: {messages:#?}");
        }
        assert_eq!(messages.len(), expected.len(), "{messages:#?}");
    }

    #[test]
    fn broken_toml_is_reported_with_its_line() {
        let problems = read::<Sample>("s.toml", "name = \"x\"\nlevel = = 2\n").expect_err("not TOML");
        assert!(problems.to_string().starts_with("s.toml:2: "), "{problems}");
    }

    #[test]
    fn a_right_document_is_read() {
        let sample: Sample =
            read("s.toml", "name = \"x\"\nlevel = 3\n[inner.a]\nweight = 2\n").expect("it is right");
        assert_eq!(sample.level, Some(3));
        assert_eq!(sample.inner["a"].weight, 2.0);
    }

    #[test]
    fn a_number_that_is_none_or_has_no_end_is_refused_with_its_line() {
        for number in ["nan", "-nan", "inf", "+inf", "-inf"] {
            let text = format!("name = \"x\"\n[inner.a]\nweight = {number}\n");
            let messages = messages(&text);
            assert_eq!(messages.len(), 1, "{number}: {messages:#?}");
            assert!(messages[0].starts_with("s.toml:3: inner.a.weight: "), "{number}: {messages:#?}");
        }
    }

    #[test]
    fn the_nearest_name_is_offered_only_when_it_is_near() {
        assert_eq!(
            nearest("MaxRequestWorker", ["KeepAlive", "MaxRequestWorkers"]),
            Some("MaxRequestWorkers")
        );
        assert_eq!(nearest("zzz", ["KeepAlive", "MaxRequestWorkers"]), None);
    }
}
