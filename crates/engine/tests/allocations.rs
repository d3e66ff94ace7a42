//! After the start the engine does not allocate for a request beyond what Lua itself does: counted, not believed.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::time::Instant;

use engine::clock::MonotonicClock;
use engine::null_server::NullServer;
use engine::transport::epoll::EpollTransport;
use engine::{Audience, Program, RunOptions, Scenario, Second, Source, run_on};
use model::Result;
use model::record::plan::Load;

thread_local! {
    static COUNT: Cell<u64> = const { Cell::new(0) };
}

/// Counts allocations of each thread by itself: the null server's are not the engine's.
struct Counting;

// SAFETY: every call is passed on to the system's allocator unchanged; counting touches a const-initialised
// thread-local without a destructor, which never allocates.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.with(|count| count.set(count.get() + 1));
        // SAFETY: the caller keeps the contract of `alloc`, which is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `dealloc`, which is the same.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        COUNT.with(|count| count.set(count.get() + 1));
        // SAFETY: the caller keeps the contract of `realloc`, which is the same.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

struct Nobody;

impl Audience for Nobody {
    fn second(&mut self, _second: &Second<'_>) -> Result<()> {
        Ok(())
    }
}

/// Allocations of the generator's thread in a session of that number of requests.
fn allocations(request: &str, requests: u32) -> u64 {
    let server = NullServer::start(None).expect("a loopback port");
    let text = format!("function visit() operation 'Op' for i = 1, {requests} do {request} end end");
    let source = Source::of("session.lua", &text, "visit");
    let scenario = Scenario::of(Program::Script(source));
    let options = RunOptions {
        max_sessions: Some(1),
        drain_s: 60.0,
        ..RunOptions::of(scenario, Load::default(), server.address())
    };
    let clock = MonotonicClock::default();
    clock.start_at(Instant::now());
    let transport = EpollTransport::new(&server.address().into(), clock.clone()).expect("an epoll");
    let before = COUNT.with(Cell::get);
    let totals = run_on(&options, clock, transport, &mut Nobody).expect("the run works");
    assert!(totals.failed.iter().all(|failed| *failed == 0), "{:?}", totals.evidence);
    COUNT.with(Cell::get) - before
}

/// Allocations that one more request costs: the difference of a long and a short session, so that what the start
/// needs falls out.
fn per_request(request: &str) -> f64 {
    let (few, many) = (2_000, 12_000);
    let (short, long) = (allocations(request, few), allocations(request, many));
    (long as f64 - short as f64) / f64::from(many - few)
}

#[test]
fn a_request_allocates_nothing_but_what_lua_does() {
    let plain = per_request("get('/')");
    assert!(plain < 0.01, "{plain} allocations a request");
    // Lua allocates the table, the room for its names, and the text that is cut out when it has not seen it before.
    let rich = per_request("local p = get('/', { a = i, b = 2 }) check(p:has('null')) p:between('n', '!')");
    assert!(rich < 3.01, "{rich} allocations a request with parameters and a look at the page");
    let form = per_request("post('/', { a = i, b = 'x' })");
    assert!(form < 2.01, "{form} allocations a request with a form");
}
