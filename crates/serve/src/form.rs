//! The fields of a form, and the words of a command that they stand for.
//!
//! A field is named as a problem's key names it: `users`, `steady`, `set.web.MaxRequestWorkers`, `param.n_searches`.

use model::Problem;

/// A measurement as a form has it.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Form {
    /// `run`, `explore`, `find`, `sweep`, `compare`.
    pub(crate) verb: String,
    /// Fields that are not empty, in their order.
    pub(crate) fields: Vec<(String, String)>,
}

/// Fields that are the words behind the verb, in this order.
const NAMES: [&str; 4] = ["kit", "study", "a", "b"];
/// Fields of several values, one in a line.
const LINES: [&str; 3] = ["qos", "kill", "cut"];
/// Fields that are on or off.
const SWITCHES: [&str; 2] = ["quick", "full"];
/// Fields that are flags with a value, whose name is the flag's with `_` for `-`.
const VALUES: [&str; 22] = [
    "stack",
    "topology",
    "guests",
    "size",
    "mix",
    "seed",
    "users",
    "max_users",
    "max_time",
    "rate",
    "ramp_up",
    "steady",
    "ramp_down",
    "by",
    "within",
    "confidence",
    "budget",
    "start",
    "repeats",
    "window",
    "gate",
    "fault",
];

impl Form {
    /// Of fields as a browser sends them: empty ones say nothing.
    pub(crate) fn of(verb: &str, fields: impl IntoIterator<Item = (String, String)>) -> Form {
        let trimmed = fields.into_iter().map(|(name, value)| (name, value.trim().to_string()));
        Form { verb: verb.to_string(), fields: trimmed.filter(|(_, value)| !value.is_empty()).collect() }
    }

    /// The value of a field; empty where it says nothing.
    pub(crate) fn value(&self, name: &str) -> &str {
        self.fields.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value)
    }

    /// Where the page is that shows it so.
    pub(crate) fn address(&self) -> String {
        let mut query = url::form_urlencoded::Serializer::new(String::new());
        format!("/new/{}?{}", self.verb, query.extend_pairs(&self.fields).finish())
    }

    /// The words behind `plimsoll`.
    pub(crate) fn command(&self) -> Vec<String> {
        let mut words = vec![self.verb.clone()];
        // A comparison's kit is a flag: its names are A and B.
        let compares = self.verb == "compare";
        let names = NAMES.iter().filter(|name| !compares || **name != "kit");
        words.extend(names.map(|name| self.value(name).to_string()).filter(|value| !value.is_empty()));
        for (name, value) in &self.fields {
            let flag = format!("--{}", name.replace('_', "-"));
            if VALUES.contains(&name.as_str()) || (compares && name == "kit") {
                words.extend([flag, value.clone()]);
            } else if LINES.contains(&name.as_str()) {
                let lines = value.lines().map(str::trim).filter(|line| !line.is_empty());
                words.extend(lines.flat_map(|line| [flag.clone(), line.to_string()]));
            } else if SWITCHES.contains(&name.as_str()) {
                words.push(flag);
            } else if let Some((kind, rest)) =
                name.split_once('.').filter(|(kind, _)| ["set", "param"].contains(kind))
            {
                words.extend([format!("--{kind}"), format!("{rest}={value}")]);
            }
        }
        words
    }

    /// The form of a measurement that was asked for by words; what no form has is left out.
    pub(crate) fn of_command(words: &[String]) -> Form {
        let mut form = Form { verb: words.first().cloned().unwrap_or_default(), ..Form::default() };
        let mut names: &[&str] = match form.verb.as_str() {
            "sweep" => &["study"],
            "compare" => &["a", "b"],
            _ => &["kit"],
        };
        let mut rest = words.iter().skip(1);
        while let Some(word) = rest.next() {
            let Some(flag) = word.strip_prefix("--") else {
                if let Some((name, more)) = names.split_first() {
                    form.fields.push((name.to_string(), word.clone()));
                    names = more;
                }
                continue;
            };
            let (name, joined) =
                flag.split_once('=').map_or((flag, None), |(name, value)| (name, Some(value)));
            let name = name.replace('-', "_");
            if SWITCHES.contains(&name.as_str()) {
                form.fields.push((name, "on".to_string()));
                continue;
            }
            let value = joined.map(str::to_string).or_else(|| rest.next().cloned()).unwrap_or_default();
            form.add(&name, value);
        }
        form
    }

    fn add(&mut self, name: &str, value: String) {
        match (name, value.split_once('=')) {
            ("set" | "param", Some((setting, value))) => {
                self.fields.push((format!("{name}.{setting}"), value.to_string()));
            }
            _ if LINES.contains(&name) => match self.fields.iter_mut().find(|(known, _)| known == name) {
                Some((_, lines)) => *lines += &format!("\n{value}"),
                None => self.fields.push((name.to_string(), value)),
            },
            _ if VALUES.contains(&name) || name == "kit" => self.fields.push((name.to_string(), value)),
            _ => {}
        }
    }
}

/// The field that a problem is of, where its key is one's: `--ramp-up` and `ramp_up` are the same.
pub(crate) fn field_of(problem: &Problem) -> Option<String> {
    let key = problem.place.key.as_deref()?;
    let name = key.trim_start_matches("--");
    // Keys of settings have names that servers gave them, with hyphens.
    let is_setting = name.starts_with("set.") || name.starts_with("param.");
    Some(if is_setting { name.to_string() } else { name.replace('-', "_") })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_string).collect()
    }

    fn form(verb: &str, fields: &[(&str, &str)]) -> Form {
        Form::of(verb, fields.iter().map(|(name, value)| (name.to_string(), value.to_string())))
    }

    #[test]
    fn a_form_is_a_command_and_comes_back_from_it() {
        for (form, command) in [
            (
                form(
                    "run",
                    &[("kit", "dvdstore"), ("users", "50"), ("set.web.pm-x", "64"), ("ramp_up", "5s")],
                ),
                "run dvdstore --users 50 --set web.pm-x=64 --ramp-up 5s",
            ),
            (
                form(
                    "explore",
                    &[("kit", "static"), ("users", "5"), ("max_users", "50"), ("max_time", "10min")],
                ),
                "explore static --users 5 --max-users 50 --max-time 10min",
            ),
            (form("find", &[("kit", "tpcw"), ("quick", "on")]), "find tpcw --quick"),
            (form("sweep", &[("study", "table3"), ("full", "on")]), "sweep table3 --full"),
            (
                form("compare", &[("a", "default"), ("b", "web.x=1"), ("kit", "tpcw")]),
                "compare default web.x=1 --kit tpcw",
            ),
        ] {
            assert_eq!(form.command(), words(command));
            assert_eq!(Form::of_command(&words(command)), form, "{command}");
        }
    }

    #[test]
    fn empty_fields_say_nothing_and_lines_are_a_flag_each() {
        let form = form("run", &[("kit", " static "), ("users", "  "), ("qos", "p95 < 2s\n\nerrors < 1%")]);
        let expected = ["run", "static", "--qos", "p95 < 2s", "--qos", "errors < 1%"];
        assert_eq!(form.command(), expected);
        assert_eq!(Form::of_command(&form.command()).value("qos"), "p95 < 2s\nerrors < 1%");
    }

    #[test]
    fn a_problem_lands_at_its_field() {
        let field = |key: &str| field_of(&Problem::recipe("wrong").key(key));
        assert_eq!(field("--ramp-up").as_deref(), Some("ramp_up"));
        assert_eq!(field("set.web.server.max-worker").as_deref(), Some("set.web.server.max-worker"));
        assert_eq!(field_of(&Problem::recipe("wrong")), None);
    }
}
