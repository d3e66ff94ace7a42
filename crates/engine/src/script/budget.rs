//! What a script may spend before it lets go: instructions of Lua, and what it has functions of C do. A script that loops for
//! ever ends with an error, whatever it loops over.

use std::cell::Cell;
use std::rc::Rc;

use mlua::debug::Debug;
use mlua::{Error, HookTriggers, Lua, VmState};

use super::cpu_budget::{self, CpuBudget};

/// Instructions that are counted at once.
const MILLION: u32 = 1_000_000;

/// How much a script may spend until it is given the same again.
#[derive(Debug, Clone, Copy)]
pub struct Allowance {
    /// Millions of instructions of Lua; a hundred take about a second.
    pub million_instructions: u32,
    /// About as many seconds in functions of C.
    pub seconds: u32,
    /// What it did not do meanwhile: `without a request`.
    pub without: &'static str,
}

/// What is left of an allowance.
#[derive(Debug, Clone)]
pub struct Budget {
    millions: Rc<Cell<u32>>,
    cpu_budget: Rc<CpuBudget>,
}

impl Budget {
    /// Watches over all that `lua` will run. Libraries have to be in place, and the script must not be able to catch the
    /// error: without `pcall`, `xpcall` and coroutines of its own.
    pub fn install(lua: &Lua, allowance: Allowance) -> mlua::Result<Budget> {
        let (millions, cpu_budget) =
            (Rc::new(Cell::new(0)), Rc::new(CpuBudget::of_seconds(allowance.seconds)));
        let counter = Rc::clone(&millions);
        let Allowance { million_instructions: max, without, .. } = allowance;
        lua.set_global_hook(HookTriggers::new().every_nth_instruction(MILLION), move |_, debug| {
            counter.set(counter.get() + 1);
            if counter.get() < max {
                return Ok(VmState::Continue);
            }
            let line = line(debug);
            Err(Error::runtime(format!(
                "{line}ran {max} million instructions {without}: a loop without end?"
            )))
        })?;
        cpu_budget::install(lua, &cpu_budget)?;
        Ok(Budget { millions, cpu_budget })
    }

    /// The whole allowance again.
    pub fn renew(&self) {
        self.millions.set(0);
        self.cpu_budget.renew();
    }
}

/// What runs, as Lua's own errors begin: `session.lua:12: `; empty where it has no lines.
fn line(debug: &Debug) -> String {
    let file = debug.source().source;
    match (file, debug.current_line()) {
        (Some(file), Some(line)) => format!("{}:{line}: ", file.trim_start_matches('@')),
        _ => String::new(),
    }
}
