//! What is kept of an answer with which a session found fault.

use model::Distribution;

use crate::virtual_net::{MS, Reply, ok};
use crate::virtual_time::{Bench, bench};

#[test]
fn evidence_of_a_failed_check_quotes_the_answer_that_the_script_looked_at() {
    let script = "function visit() operation 'Op' \
                  local pages = parallel({ '/a', '/b', '/c' }, { connections = 1 }) \
                  check(pages[2]:has('saved'), 'saved') \
                  local page = get('/d') check(1 == 2, 'never') end";
    let seen = Bench { think: Some(Distribution::Fixed { value: 1.0 }), ..bench(script) }
        .against(|_, text| Reply::After(MS, ok(text.split(' ').nth(1).unwrap_or_default())));
    let quoted = |message: &str| {
        let found = seen.totals.evidence.iter().find(|evidence| evidence.message.ends_with(message));
        let evidence = found.unwrap_or_else(|| panic!("{message}: {:?}", seen.totals.evidence));
        (evidence.request.clone().unwrap_or_default(), evidence.answer.clone().unwrap_or_default())
    };
    assert_eq!(quoted(": saved"), ("GET /b".to_string(), "status 200\n/b".to_string()));
    assert_eq!(quoted(": never"), ("GET /d".to_string(), "status 200\n/d".to_string()), "the last that came");
}
