//! The levels of a `[[factor]]`.

use super::{FactorRequest, Range, Scale};
use crate::catalogue::setting::{Value, Values};
use crate::problem::Problem;

/// What a level changes in a recipe.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Change {
    pub(super) stack: Option<String>,
    pub(super) topology: Option<String>,
    pub(super) size: Option<String>,
    pub(super) mix: Option<String>,
    pub(super) users: Option<u32>,
    pub(super) rate: Option<String>,
    pub(super) set: Values,
    pub(super) param: Values,
}

/// One level of a factor.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Level {
    /// As people read it.
    pub(super) label: String,
    pub(super) change: Change,
    /// Where it stands in the file.
    pub(super) path: Vec<String>,
}

/// A factor with its levels.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Column {
    pub(super) name: String,
    pub(super) levels: Vec<Level>,
}

/// The steps to a place in the file.
pub(super) fn path(steps: &[&str]) -> Vec<String> {
    steps.iter().map(|step| (*step).to_string()).collect()
}

/// A path as messages write it: `factor[1].values[0]`.
pub(super) fn key_of(path: &[String]) -> String {
    let mut key = String::new();
    for step in path {
        match step.parse::<usize>() {
            Ok(index) => key += &format!("[{index}]"),
            Err(_) if key.is_empty() => key.push_str(step),
            Err(_) => key += &format!(".{step}"),
        }
    }
    key
}

/// Each of `names` once, in their order.
pub(super) fn unique<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut unique = Vec::new();
    for name in names {
        if !unique.contains(&name) {
            unique.push(name);
        }
    }
    unique
}

/// The factor that `request`, the `index`th of the file, asks for. A mistake is a problem with its path.
pub(super) fn column(
    request: &FactorRequest,
    index: usize,
    problems: &mut Vec<(Vec<String>, Problem)>,
) -> Option<Column> {
    let at = index.to_string();
    let here = path(&["factor", &at]);
    let mut fault = |key: &str, what: &str, remedy: &str| {
        let place = if key.is_empty() { here.clone() } else { [here.clone(), path(&[key])].concat() };
        problems.push((place, Problem::recipe(what).remedy(remedy)));
    };
    let kinds = [request.knob.is_some(), request.param.is_some(), !request.set.is_empty()];
    if kinds.iter().filter(|given| **given).count() != 1 {
        let what = "a factor has exactly one of `knob`, `param` and `set`";
        fault("", what, "knob = \"web.MaxRequestWorkers\", values = [64, 128]");
        return None;
    }
    if !request.set.is_empty() {
        if !request.values.is_empty() || request.range.is_some() {
            fault(
                "set",
                "`set` gives the levels; `values` and `range` have no place beside it",
                "leave them out",
            );
        }
        let Some(name) = &request.name else {
            fault("set", "knobs that change together need a name for the factor", "name = \"processes\"");
            return None;
        };
        if !request.labels.is_empty() && request.labels.len() != request.set.len() {
            fault(
                "labels",
                "there must be as many labels as levels in `set`",
                "one label for each, in order",
            );
        }
        return Some(Column { name: name.clone(), levels: linked(request, &at) });
    }
    if request.name.is_some() || !request.labels.is_empty() {
        let what = "`name` and `labels` are for levels that `set` gives";
        fault("", what, "leave them out; [titles] has names for people");
    }
    let (values, list) = match (&request.range, request.values.is_empty()) {
        (Some(range), true) => match spread(range) {
            Ok(values) => (values, "range"),
            Err(what) => {
                fault("range", &what, "range = { from = 16, to = 256, steps = 5, scale = \"log\" }");
                return None;
            }
        },
        (None, false) => (request.values.clone(), "values"),
        _ => {
            fault("", "a factor has either `values` or a `range`", "values = [64, 128]");
            return None;
        }
    };
    let name = match (&request.knob, &request.param) {
        (Some(knob), _) => knob.clone(),
        (_, param) => format!("param.{}", param.as_deref().unwrap_or_default()),
    };
    let level = |(number, value): (usize, Value)| {
        let one = |name: &String| Values::from([(name.clone(), value.clone())]);
        let set = request.knob.as_ref().map(one).unwrap_or_default();
        let param = request.param.as_ref().map(one).unwrap_or_default();
        let number = number.to_string();
        let steps =
            if list == "values" { vec!["factor", &at, list, &number] } else { vec!["factor", &at, list] };
        let change = Change { set, param, ..Change::default() };
        Level { label: value.to_string(), change, path: path(&steps) }
    };
    Some(Column { name, levels: values.into_iter().enumerate().map(level).collect() })
}

fn linked(request: &FactorRequest, at: &str) -> Vec<Level> {
    let levels = request.set.iter().enumerate().map(|(number, set)| {
        let values: Vec<String> = set.values().map(Value::to_string).collect();
        Level {
            label: request.labels.get(number).cloned().unwrap_or_else(|| values.join(" / ")),
            change: Change { set: set.clone(), ..Change::default() },
            path: path(&["factor", at, "set", &number.to_string()]),
        }
    });
    levels.collect()
}

/// The levels of a range.
fn spread(range: &Range) -> Result<Vec<Value>, String> {
    let number = |value: &Value| match value {
        Value::Int(number) => Ok(*number as f64),
        Value::Float(number) if number.is_finite() => Ok(*number),
        other => Err(format!("`{other}` is not a number")),
    };
    let (from, to) = (number(&range.from)?, number(&range.to)?);
    if range.scale == Scale::Log && (from <= 0.0 || to <= 0.0) {
        return Err("equal ratios need numbers above 0".to_string());
    }
    let whole = matches!((&range.from, &range.to), (Value::Int(_), Value::Int(_)));
    let last = f64::from(range.steps.max(2) - 1);
    let mut levels: Vec<Value> = Vec::new();
    for step in 0..range.steps {
        let share = f64::from(step) / last;
        let level = match range.scale {
            Scale::Linear => from + (to - from) * share,
            Scale::Log => (from.ln() + (to.ln() - from.ln()) * share).exp(),
        };
        // Three digits more than a knob is ever set to: no 0.30000000000000004.
        let level = if whole { Value::Int(level.round() as i64) } else { Value::Float(rounded(level)) };
        if levels.last() != Some(&level) {
            levels.push(level);
        }
    }
    Ok(levels)
}

/// Six significant digits.
fn rounded(value: f64) -> f64 {
    format!("{value:.5e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(from: Value, to: Value, steps: u32, scale: Scale) -> Range {
        Range { from, to, steps, scale }
    }

    #[test]
    fn a_range_of_whole_numbers_has_whole_levels_each_once() {
        let levels = spread(&range(Value::Int(1), Value::Int(3), 5, Scale::Linear));
        assert_eq!(levels, Ok(vec![Value::Int(1), Value::Int(2), Value::Int(3)]));
        let levels = spread(&range(Value::Int(16), Value::Int(256), 5, Scale::Log));
        assert_eq!(levels, Ok([16, 32, 64, 128, 256].map(Value::Int).to_vec()));
    }

    #[test]
    fn a_range_of_numbers_has_no_false_digits() {
        let levels = spread(&range(Value::Float(0.1), Value::Float(0.3), 3, Scale::Linear));
        assert_eq!(levels, Ok([0.1, 0.2, 0.3].map(Value::Float).to_vec()));
    }

    #[test]
    fn equal_ratios_from_nothing_are_refused() {
        assert!(spread(&range(Value::Int(0), Value::Int(9), 3, Scale::Log)).is_err());
        assert!(spread(&range(Value::Text("a".into()), Value::Int(9), 3, Scale::Linear)).is_err());
    }

    #[test]
    fn a_place_is_written_as_messages_write_it() {
        assert_eq!(key_of(&path(&["factor", "1", "values", "0"])), "factor[1].values[0]");
    }
}
