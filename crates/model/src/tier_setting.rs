//! What can be set for any tier, whatever its service: `--set web.cgroup.memory=1G`, `--set cache.instances=4`.

use crate::setting::{Apply, Setting, Type, Value, Values};

/// How many processes of the server program a tier has.
pub const INSTANCES: &str = "instances";
/// What a tier's processes may take together, the page cache that they filled included.
pub const MEMORY: &str = "cgroup.memory";

/// The settings of a tier whose service allows `most_instances`.
pub fn all(most_instances: u32) -> Vec<Setting> {
    let setting = |name: &str, kind, default, min, max, help: &str| Setting {
        name: name.to_string(),
        kind,
        default: Value::Int(default),
        min: Some(min),
        max,
        values: Vec::new(),
        apply: Apply::Restart,
        help: help.to_string(),
    };
    let instances = "processes of the server program, each with ports and sockets of its own";
    let memory = "memory of the tier's processes together, page cache included; 0 is no limit";
    vec![
        setting(INSTANCES, Type::Int, 1, 1.0, Some(f64::from(most_instances)), instances),
        setting(MEMORY, Type::Size, 0, 0.0, None, memory),
    ]
}

/// Instances and the limit of memory in bytes, from values that [`all`] accepted.
pub(crate) fn read(values: &Values) -> (u32, Option<u64>) {
    let whole = |name: &str| match values.get(name) {
        Some(Value::Int(value)) => u64::try_from(*value).unwrap_or(0),
        _ => 0,
    };
    let instances = u32::try_from(whole(INSTANCES)).unwrap_or(1).max(1);
    (instances, Some(whole(MEMORY)).filter(|bytes| *bytes > 0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::setting;

    #[test]
    fn a_tier_has_one_instance_and_no_limit_unless_it_is_said() {
        let resolved = |given: Values| {
            let mut problems = Vec::new();
            let values = setting::resolve(&all(4), &given, "set.cache.", &mut problems);
            (read(&values), problems.len())
        };
        assert_eq!(resolved(Values::new()), ((1, None), 0));
        let given =
            [(INSTANCES.to_string(), Value::Int(4)), (MEMORY.to_string(), Value::Text("1G".to_string()))];
        assert_eq!(resolved(given.into()), ((4, Some(1 << 30)), 0));
        let given = [(INSTANCES.to_string(), Value::Int(5))];
        assert_eq!(resolved(given.into()).1, 1, "more than the service allows");
    }
}
