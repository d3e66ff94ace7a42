//! What the JMX proxy of Tomcat's manager says about beans (`/manager/jmxproxy/?qry=PATTERN`), as figures.
//!
//! The answer is a text: how many beans the pattern found, then for each an empty line, its name (`Name: DOMAIN:KEY=VALUE,…`)
//! and a line for each attribute (`currentThreadsBusy: 3`). What does not fit in a line goes on in lines that begin with
//! a space or a tab. A figure is called by the bean's type and the attribute: `ThreadPool.connectionCount`; an item of an
//! attribute that has several by that, too: `Memory.HeapMemoryUsage.used`. Several beans of a type add up, as the pools of
//! a connector for HTTP and of one for AJP do. Of a type `Pool (shop)` only `Pool` counts: what stands behind it is a name.

use super::figures::Figures;

/// What the answer begins with.
const FOUND: &str = "OK - Number of results: ";
/// What a bean begins with. A bean may also have an attribute of that name: only the first line tells the bean.
const NAME: &str = "Name: ";

/// The figures of every bean of an answer; nothing where it is another text, or lacks a bean that it announces: a sum without
/// it would be another figure. No bean at all is an answer too.
pub(super) fn beans(text: &str) -> Option<Figures> {
    let (first, rest) = text.split_once('\n')?;
    let announced: usize = first.trim_end().strip_prefix(FOUND)?.parse().ok()?;
    let mut figures = Figures::new();
    let (mut found, mut bean, mut between) = (0, None, true);
    for line in rest.lines() {
        if line.is_empty() {
            between = true;
        } else if between {
            bean = Bean::of(line.strip_prefix(NAME)?);
            found += 1;
            between = false;
        } else if let Some(bean) = &bean {
            bean.read(line, &mut figures);
        }
    }
    (found == announced).then_some(figures)
}

/// What a bean's figures are called by.
struct Bean<'a> {
    kind: &'a str,
    /// What it does, where it is a collector of the JVM's garbage.
    roles: &'static [&'static str],
}

impl<'a> Bean<'a> {
    /// By its name; nothing where that has no type.
    fn of(name: &'a str) -> Option<Bean<'a>> {
        let kind = property(name, "type")?;
        let kind = kind.split_once(" (").map_or(kind, |(kind, _)| kind);
        let roles = match property(name, "name") {
            Some(collector) if kind == "GarbageCollector" => roles(collector),
            _ => &[],
        };
        Some(Bean { kind, roles })
    }

    fn read(&self, line: &str, figures: &mut Figures) {
        if line.starts_with([' ', '\t']) {
            return;
        }
        let Some((attribute, value)) = line.split_once(": ") else { return };
        match items(value) {
            Some(items) => {
                for (item, value) in pairs(items) {
                    self.add(&format!("{attribute}.{item}"), value, figures);
                }
            }
            None => self.add(attribute, value, figures),
        }
    }

    fn add(&self, attribute: &str, value: &str, figures: &mut Figures) {
        let Some(value) = number(value) else { return };
        let mut add = |name: String| *figures.entry(name).or_default() += value;
        add(format!("{}.{attribute}", self.kind));
        self.roles.iter().for_each(|role| add(format!("{}.{role}.{attribute}", self.kind)));
    }
}

/// What a collector does, by the names that OpenJDK gives them: `young` and `full` ones hold every thread of the program
/// while they collect (`stopped`), and so do the pauses of those that else collect beside it (`concurrent`).
fn roles(collector: &str) -> &'static [&'static str] {
    match collector {
        "G1 Young Generation" | "PS Scavenge" | "Copy" => &["young", "stopped"],
        "G1 Old Generation" | "PS MarkSweep" | "MarkSweepCompact" => &["full", "stopped"],
        name if name.ends_with("Pauses") => &["stopped"],
        name if name.ends_with("Cycles") || name.ends_with("Concurrent GC") => &["concurrent"],
        _ => &[],
    }
}

fn number(text: &str) -> Option<f64> {
    match text.trim() {
        "true" => Some(1.0),
        "false" => Some(0.0),
        text => text.parse().ok().filter(|number: &f64| number.is_finite()),
    }
}

/// The value of a key in `DOMAIN:KEY=VALUE,…`. A quoted value may hold commas.
fn property<'a>(name: &'a str, key: &str) -> Option<&'a str> {
    let mut rest = name.split_once(':')?.1;
    loop {
        let (found, after) = rest.split_once('=')?;
        let (value, behind) = after.split_at(end_of_value(after)?);
        if found == key {
            return Some(value.trim_matches('"'));
        }
        rest = behind.strip_prefix(',')?;
    }
}

fn end_of_value(text: &str) -> Option<usize> {
    let Some(quoted) = text.strip_prefix('"') else {
        return Some(text.find(',').unwrap_or(text.len()));
    };
    let mut escaped = false;
    for (at, c) in quoted.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            // Behind both quotes.
            '"' => return Some(at + 2),
            _ => {}
        }
    }
    None
}

/// The items of a value that has several: `{committed=1, used=2}` as Tomcat writes it, or as the JVM does, with the type
/// before: `…CompositeDataSupport(compositeType=…,contents={committed=1, used=2})`.
pub(super) fn items(value: &str) -> Option<&str> {
    let value = value.trim_end();
    if let Some(inner) = value.strip_prefix('{') {
        return inner.strip_suffix('}');
    }
    let (begin, inner) = value.split_once(",contents={")?;
    begin.starts_with("javax.management.openmbean.CompositeDataSupport(").then(|| inner.strip_suffix("})"))?
}

/// `a=1, b={c=2, d=3}` as (a, 1) and (b, {c=2, d=3}).
pub(super) fn pairs(items: &str) -> impl Iterator<Item = (&str, &str)> {
    parts(items).filter_map(|part| part.split_once('='))
}

/// What stands between commas that no bracket is open at.
pub(super) fn parts(list: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0_i32;
    let parts = list.split(move |c: char| {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            _ => {}
        }
        c == ',' && depth == 0
    });
    parts.map(str::trim)
}

#[cfg(test)]
mod tests;
