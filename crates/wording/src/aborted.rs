//! Servers that were ended because a thread waited where it was not to.

use model::record::calls::{Aborted, Core};
use model::units;

/// That it was, and for what.
pub fn aborted(aborted: &Aborted) -> String {
    let Aborted { tier, thread, call, object, at_s, waited_s, .. } = aborted;
    let on = if object.is_empty() { String::new() } else { format!(" on {object}") };
    format!(
        "{tier} was ended on purpose at {}: its thread {thread} had waited {} for the disk in {call}{on}",
        units::show_seconds(*at_s),
        units::show_seconds(*waited_s),
    )
}

/// That no server was ended for `wait`, a call and what it waits for; `were_followed` tells whether one would have been.
pub fn not_aborted(wait: &str, were_followed: bool) -> String {
    if were_followed {
        format!("no server was ended for {wait}: no thread waited so")
    } else {
        format!("no server was ended for {wait}: the kernel's programs that see it were not there")
    }
}

/// What became of its core; `directory` is the run's.
pub fn core(core: &Core, directory: &str) -> String {
    match core {
        Core::Kept(path) => {
            format!("its core is {directory}/{path}: `gdb PROGRAM CORE -ex bt` shows its stack")
        }
        Core::GivenTo(program) => {
            format!("this machine gives cores to {program}, which has it (/proc/sys/kernel/core_pattern)")
        }
        Core::Missing => "it left no core (core(5) names the reasons)".to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ended_server_is_told_with_its_wait_and_its_core() {
        let one = Aborted {
            tier: "web".to_string(),
            thread: "loop".to_string(),
            call: "openat".to_string(),
            object: "dir00001/class1_4".to_string(),
            at_s: 12.31,
            waited_s: 0.0041,
            process: 471,
            core: Core::Kept("cores/web-471".to_string()),
        };
        assert_eq!(
            aborted(&one),
            "web was ended on purpose at 12.3 s: its thread loop had waited 4.10 ms for the disk in openat on dir00001/class1_4"
        );
        assert!(
            core(&one.core, "/runs/x").contains("/runs/x/cores/web-471"),
            "{}",
            core(&one.core, "/runs/x")
        );
        assert!(core(&Core::GivenTo("/usr/lib/reporter".to_string()), "").contains("/usr/lib/reporter"));
    }
}
