use super::Occurrence::{AtMost, Times, Unknown};
use super::*;

fn session(text: &str) -> SessionOperations {
    of_texts(&[text], [&"visit".to_string()]).remove("visit").expect("the session")
}

fn occurrences_in(text: &str) -> Vec<(String, Occurrence)> {
    let session = session(text);
    assert!(!session.has_others, "{session:?}");
    session.operations.into_iter().collect()
}

#[test]
fn an_operation_comes_as_often_as_its_script_shows() {
    let body = |body: &str| occurrences_in(&format!("function visit(user)\n{body}\nend"));
    let one = |times: Occurrence| vec![("A".to_string(), times)];
    for (text, expected) in [
        ("operation \"A\" get('/')", Times(1.0)),
        ("operation('A')", Times(1.0)),
        ("operation 'A' operation 'A'", Times(2.0)),
        ("do operation 'A' end", Times(1.0)),
        ("for _ = 1, 3 do operation 'A' end", Times(3.0)),
        ("for _ = 1, random(1, 5) do operation 'A' end", Times(3.0)),
        ("for n = 1, 2 do for m = 1, 2 do operation 'A' end end", Times(4.0)),
        ("if chance(0.25) then operation 'A' end", Times(0.25)),
        ("for _ = 1, 4 do if chance(0.5) then operation 'A' end end", Times(2.0)),
        ("if user.is_new then operation 'A' end", AtMost(1.0)),
        ("if chance(0.1) then get('/') else operation 'A' end", AtMost(1.0)),
        ("if user.a then operation 'A' end operation 'A'", AtMost(2.0)),
        ("for _, item in ipairs(user.items) do operation 'A' end", Unknown),
        ("while chance(0.5) do operation 'A' end", Unknown),
        ("repeat operation 'A' until chance(0.5)", Unknown),
        ("local later = function() operation 'A' end later()", Unknown),
        ("-- operation 'B'\noperation 'A' --[[ operation 'B' ]] get [[operation 'B']]", Times(1.0)),
        ("operation 'A' get('/end', { note = \"if while \\\" end\" })", Times(1.0)),
    ] {
        assert_eq!(body(text), one(expected), "{text}");
    }
}

#[test]
fn functions_that_a_session_calls_are_followed() {
    let text = "
        local function browse(user) operation 'Browse' get('/') end
        function M.save(user) operation 'Save' browse(user) end
        function visit(user)
          if chance(0.5) then M.save(user) end
          for _ = 1, 2 do browse(user) end
        end";
    let expected = [("Browse".to_string(), Times(2.5)), ("Save".to_string(), Times(0.5))];
    assert_eq!(occurrences_in(text), expected);
    let handed_on = "
        local function browse(user) operation 'Browse' end
        function visit(user) twice(browse) end";
    assert_eq!(occurrences_in(handed_on), [("Browse".to_string(), Unknown)]);
}

#[test]
fn a_function_is_followed_once_however_many_ways_lead_to_it() {
    // Followed each time that it is called, the last of these would be followed 2^63 times.
    let doubles = |n: u32| format!("function f{n}(user) f{}(user) f{}(user) end\n", n + 1, n + 1);
    let text = (1..64).map(doubles).collect::<String>()
        + "function f64(user) operation 'A' end function visit(user) f1(user) end";
    assert_eq!(occurrences_in(&text), [("A".to_string(), Times(2f64.powi(63)))]);
}

#[test]
fn a_function_that_comes_back_to_itself_may_do_anything() {
    let text = "
        local function again(user) operation 'A' if user.more then again(user) end visit(user) end
        function visit(user) again(user) operation 'B' end";
    let session = session(text);
    assert!(session.has_others, "{session:?}");
    assert_eq!(session.operations.keys().collect::<Vec<_>>(), ["A", "B"]);
}

#[test]
fn a_field_that_is_called_as_a_function_of_another_file_makes_nothing_unknown() {
    let words = "
        local words = {}
        function words.article(n) return words.source(n) end
        function words.source(n) return n % size.feeds end
        return words";
    // As its table is called: the size's `feeds` would lead here, and from here back to the words.
    let data = "local function feeds(first, last) for n = first, last do row(words.source(n)) end end";
    let session = "
        local words = require 'words'
        function visit(user)
          operation 'Read'
          local article = words.article(user.number)
        end";
    let found =
        of_texts(&[session, words, data], [&"visit".to_string()]).remove("visit").expect("the session");
    assert_eq!(found.operations, BTreeMap::from([("Read".to_string(), Times(1.0))]));
    assert!(!found.has_others, "{found:?}");
}

#[test]
fn a_session_without_an_operation_is_one_itself() {
    assert_eq!(occurrences_in("function visit(user) get('/') end"), [("visit".to_string(), Times(1.0))]);
}

#[test]
fn what_can_t_be_known_is_not_made_up() {
    assert!(session("function visit(user) operation(user.page) get('/') end").has_others);
    assert!(session("function visit(user) visit(user) end").has_others, "it never ends");
    assert!(session("function visit(user) operation 'A' visit(user) end").has_others, "nor does this one");
    assert!(session("visit = make_session('a')").has_others, "there is no function of that name");
    let twice =
        "local function a() operation 'A' end local function a() operation 'B' end function visit() a() end";
    assert!(session(twice).has_others, "one of two");
}

#[test]
fn texts_that_are_no_lua_make_no_panic() {
    for text in [
        "function",
        "function visit(",
        "end end until",
        "if",
        "for _ = 1",
        "\"",
        "[[",
        "--[==[ x",
        "operation",
    ] {
        let _ = session(text);
        let _ = session(&format!("function visit(user) {text}"));
    }
}
