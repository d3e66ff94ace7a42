//! Processes that take CPU time from a stack or from the generator on purpose: this program again, with a hidden verb, in a
//! group of its own that is no tier.

use model::catalogue::fault_file::Injection;
use model::{Plan, Result};
use testbed::{Lab, Launch, Running};

use crate::environment::Helpers;

/// Starts the stressors that the plan's fault asks for; they end with the lab.
pub(crate) fn start(plan: &Plan, lab: &Lab, helpers: &Helpers) -> Result<Vec<Running>> {
    let mut stressors = Vec::new();
    for injection in plan.injections() {
        let Injection::CpuHog { processes, on_generator } = injection else { continue };
        let cpus = if *on_generator { &plan.placement.generator } else { &plan.placement.stack };
        for _ in 0..*processes {
            stressors.push(lab.launch(&Launch {
                tier: "stressor".to_string(),
                program: helpers.program.clone(),
                args: vec![Helpers::STRESSOR.into()],
                env: Vec::new(),
                dir: lab.dir().to_path_buf(),
                input: None,
                output: lab.dir().join("stressor.log"),
                cpus: cpus.clone(),
            })?);
        }
    }
    Ok(stressors)
}

/// Computes until it is ended.
pub fn compute() -> ! {
    let mut sum: u64 = 0;
    loop {
        sum = std::hint::black_box(sum.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1));
    }
}
