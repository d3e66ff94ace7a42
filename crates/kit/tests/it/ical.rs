//! Calendar objects as another parser reads them.

use icalendar::parser::{Component, read_calendar, unfold};

/// One object: an event or a task.
#[derive(Debug)]
pub(crate) struct Object {
    pub(crate) kind: String,
    properties: Vec<(String, String)>,
    pub(crate) alarms: usize,
}

impl Object {
    /// Reads a text of one object; what no program would take fails.
    #[track_caller]
    pub(crate) fn read(text: &str) -> Object {
        let body = text.strip_suffix("\r\n").unwrap_or_else(|| panic!("it ends with a line end: {text:?}"));
        for line in body.split("\r\n") {
            assert!(
                line.len() <= 75 && !line.contains(['\r', '\n']) && !line.is_empty(),
                "{line:?} in {text}"
            );
        }
        let unfolded = unfold(text);
        let calendar = read_calendar(&unfolded).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let of_calendar = |name: &str| calendar.properties.iter().filter(|one| one.name == name).count();
        assert_eq!((of_calendar("VERSION"), of_calendar("PRODID")), (1, 1), "{text}");
        let [component] = calendar.components.as_slice() else { panic!("one component, not: {text}") };
        let object = Object {
            kind: component.name.as_str().to_string(),
            properties: properties(component),
            alarms: component.components.len(),
        };
        for needed in ["UID", "DTSTAMP", "SUMMARY", "SEQUENCE"] {
            assert_eq!(object.count(needed), 1, "{needed} in {text}");
        }
        assert!(component.components.iter().all(|inner| inner.name == "VALARM"), "{text}");
        object
    }

    fn count(&self, name: &str) -> usize {
        self.properties.iter().filter(|(known, _)| known == name).count()
    }

    /// The value of a property that it has once at most.
    pub(crate) fn value(&self, name: &str) -> Option<&str> {
        assert!(self.count(name) <= 1, "{name} more than once in {self:?}");
        let found = self.properties.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }
}

fn properties(component: &Component<'_>) -> Vec<(String, String)> {
    let text = |property: &icalendar::parser::Property<'_>| {
        (property.name.as_str().to_string(), property.val.as_str().to_string())
    };
    component.properties.iter().map(text).collect()
}
