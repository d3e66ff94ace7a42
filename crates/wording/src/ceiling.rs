//! What is said of the generator's own ceiling beside the load at a study's answer.

use model::study::Ceiling;
use model::units::{number, significant};

/// Whether the ceiling is at least `wanted` times the rate of requests at the answer.
pub fn against_answer(ceiling: &Ceiling, requests_per_s: f64, times: f64, wanted: f64) -> String {
    let distance = format!(
        "the generator's ceiling, {} requests/s, is {} times the {} requests/s at the answer",
        number(ceiling.requests_per_s),
        significant(times),
        number(requests_per_s)
    );
    if times >= wanted {
        return distance;
    }
    format!(
        "{distance}, not {wanted} times: the answer may be the generator's own; give it more CPUs, or the stack fewer"
    )
}
