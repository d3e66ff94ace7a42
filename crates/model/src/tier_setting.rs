//! What can be set for any tier, whatever its service: `--set web.cgroup.memory=1G`, `--set cache.instances=4`.

use crate::setting::{Apply, Setting, Type, Value, Values};

/// How many processes of the server program a tier has.
pub const INSTANCES: &str = "instances";
/// What a tier's processes may take together, the page cache that they filled included.
pub const MEMORY: &str = "cgroup.memory";

/// How many cores' time a tier's processes may use together.
pub const CPU: &str = "cgroup.cpu";

/// The settings of a tier whose service allows `most_instances`.
pub fn all(most_instances: u32) -> Vec<Setting> {
    let setting = |name: &str, kind, default, min, max, help: &str| Setting {
        name: name.to_string(),
        kind,
        default,
        min: Some(min),
        max,
        values: Vec::new(),
        apply: Apply::Restart,
        help: help.to_string(),
    };
    let instances = "processes of the server program, each with ports and sockets of its own";
    let memory = "memory of the tier's processes together, page cache included; 0 is no limit";
    let cpu = "cores whose time the tier's processes may use together: 0.5 is half of one; 0 is no limit";
    vec![
        setting(INSTANCES, Type::Int, Value::Int(1), 1.0, Some(f64::from(most_instances)), instances),
        setting(MEMORY, Type::Size, Value::Int(0), 0.0, None, memory),
        setting(CPU, Type::Float, Value::Float(0.0), 0.0, None, cpu),
    ]
}

/// What the settings of a tier ask for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Asked {
    pub(crate) instances: u32,
    pub(crate) memory_limit_bytes: Option<u64>,
    pub(crate) cpu_limit_cores: Option<f64>,
}

/// From values that [`all`] accepted.
pub(crate) fn read(values: &Values) -> Asked {
    let whole = |name: &str| match values.get(name) {
        Some(Value::Int(value)) => u64::try_from(*value).unwrap_or(0),
        _ => 0,
    };
    let cpu_limit_cores = match values.get(CPU) {
        Some(Value::Float(cores)) if *cores > 0.0 => Some(*cores),
        _ => None,
    };
    Asked {
        instances: u32::try_from(whole(INSTANCES)).unwrap_or(1).max(1),
        memory_limit_bytes: Some(whole(MEMORY)).filter(|bytes| *bytes > 0),
        cpu_limit_cores,
    }
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
        let none = Asked { instances: 1, memory_limit_bytes: None, cpu_limit_cores: None };
        assert_eq!(resolved(Values::new()), (none, 0));
        let given = [
            (INSTANCES.to_string(), Value::Int(4)),
            (MEMORY.to_string(), Value::Text("1G".to_string())),
            (CPU.to_string(), Value::Text("0.5".to_string())),
        ];
        let some = Asked { instances: 4, memory_limit_bytes: Some(1 << 30), cpu_limit_cores: Some(0.5) };
        assert_eq!(resolved(given.into()), (some, 0));
        let given = [(INSTANCES.to_string(), Value::Int(5))];
        assert_eq!(resolved(given.into()).1, 1, "more than the service allows");
    }
}
