//! Names of functions: of the kernel by its own list, of programs by the names that their files give to others.
//!
//! Debian's programs come without their internal names; what they offer to modules and libraries is left, which for PHP,
//! Apache, nginx, lighttpd and MariaDB is most of what matters. An address outside of any is told by its file alone.

use std::collections::HashMap;
use std::fs::{self, Metadata};
use std::ops::Range;
use std::rc::Rc;

use cpp_demangle::DemangleOptions;
use object::{Object, ObjectSegment, ObjectSymbol, SymbolKind};

use crate::process::thread_cpu_s;

/// Files whose functions are kept; those of a stack are some ten.
const MAX_FILES: usize = 256;
/// Processes whose memory's map is kept.
const MAX_PROCESSES: usize = 4_096;
/// A map of a process is read again this often at most: what an address isn't in may have been loaded since.
const MAX_READS: u32 = 3;

/// The kernel's functions in the order of their addresses.
#[derive(Debug, Default)]
pub(super) struct KernelFunctions {
    begins: Vec<(u64, String)>,
}

impl KernelFunctions {
    /// Those of this machine; none where it doesn't tell their addresses.
    pub(super) fn read() -> KernelFunctions {
        KernelFunctions::parsed(&fs::read_to_string("/proc/kallsyms").unwrap_or_default())
    }

    fn parsed(text: &str) -> KernelFunctions {
        let function = |line: &str| {
            let mut words = line.split_ascii_whitespace();
            let address = u64::from_str_radix(words.next()?, 16).ok().filter(|address| *address > 0)?;
            words.next().filter(|kind| matches!(*kind, "t" | "T" | "w" | "W"))?;
            let name = words.next()?;
            // `.isra.0`, `.constprop.0`: what the compiler made of it.
            Some((address, name.split('.').next().unwrap_or(name).to_string()))
        };
        let mut begins: Vec<(u64, String)> = text.lines().filter_map(function).collect();
        begins.sort_by_key(|(address, _)| *address);
        KernelFunctions { begins }
    }

    /// The functions of a stack, the outermost first, without the ways into the kernel and into its scheduler.
    pub(super) fn frames(&self, addresses: &[u64]) -> Vec<String> {
        // But for the innermost one they are where calls return to: that may be behind the function's end.
        let caller = |(place, address): (usize, &u64)| address.saturating_sub(u64::from(place > 0));
        let names = addresses.iter().enumerate().map(caller).filter_map(|address| self.name(address));
        let mut names: Vec<&str> = names.collect();
        names.reverse();
        let enters = |name: &&str| ENTRIES.iter().any(|entry| name.starts_with(entry));
        let first = names.iter().position(|name| !enters(name)).unwrap_or(names.len());
        let schedules = |name: &&str| SCHEDULER.contains(name);
        let last = names.iter().rposition(|name| !schedules(name)).map_or(first, |last| last + 1);
        names[first..last.max(first)].iter().map(|name| (*name).to_string()).collect()
    }

    fn name(&self, address: u64) -> Option<&str> {
        let after = self.begins.partition_point(|(begin, _)| *begin <= address);
        self.begins.get(after.checked_sub(1)?).map(|(_, name)| name.as_str())
    }
}

/// Beginnings of the names of functions that lead from a program into the kernel.
const ENTRIES: [&str; 6] =
    ["entry_", "do_syscall_64", "x64_sys_call", "ret_from_fork", "asm_", "secondary_startup"];
/// What puts a thread to sleep, whatever for.
const SCHEDULER: [&str; 10] = [
    "__schedule",
    "schedule",
    "schedule_timeout",
    "schedule_hrtimeout_range",
    "schedule_hrtimeout_range_clock",
    "schedule_hrtimeout",
    "schedule_preempt_disabled",
    "io_schedule",
    "io_schedule_timeout",
    "__cond_resched",
];

/// The programs of the processes that were seen on a CPU.
#[derive(Debug, Default)]
pub(super) struct Programs {
    processes: HashMap<u32, Memory>,
    files: HashMap<String, Rc<Functions>>,
    /// CPU seconds that reading files took since [`Programs::take_reading_s`].
    reading_s: f64,
}

/// Where a process has its code.
#[derive(Debug, Default)]
struct Memory {
    reads: u32,
    code: Vec<Code>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Code {
    at: Range<u64>,
    offset: u64,
    /// Empty where it is of no file.
    path: String,
}

impl Programs {
    /// The file's name and the function at `address` of a process; code without a file was made while it ran.
    pub(super) fn frames(&mut self, process: u32, address: u64) -> Vec<String> {
        let Some(code) = self.code(process, address) else { return Vec::new() };
        if !code.path.starts_with('/') {
            let made = if code.path.is_empty() { "compiled while it ran" } else { code.path.as_str() };
            return vec![made.to_string()];
        }
        let file = code.path.rsplit('/').next().unwrap_or(&code.path).to_string();
        let functions = self.functions(process, &code.path);
        let function = functions.name(address - code.at.start + code.offset);
        std::iter::once(file).chain(function.map(readable)).collect()
    }

    fn code(&mut self, process: u32, address: u64) -> Option<Code> {
        if self.processes.len() >= MAX_PROCESSES {
            self.processes.clear();
        }
        let memory = self.processes.entry(process).or_default();
        let find = |memory: &Memory| memory.code.iter().find(|code| code.at.contains(&address)).cloned();
        if let Some(code) = find(memory) {
            return Some(code);
        }
        if memory.reads >= MAX_READS {
            return None;
        }
        memory.reads += 1;
        let text = fs::read_to_string(format!("/proc/{process}/maps")).unwrap_or_default();
        memory.code = text.lines().filter_map(code_of_line).collect();
        find(memory)
    }

    fn functions(&mut self, process: u32, path: &str) -> Rc<Functions> {
        if let Some(known) = self.files.get(path) {
            return Rc::clone(known);
        }
        if self.files.len() >= MAX_FILES {
            self.files.clear();
        }
        let before_s = thread_cpu_s();
        // As the process sees it, who may have a root of its own; nothing is known of one that has ended.
        let seen = format!("/proc/{process}/root{path}");
        let bytes = fs::metadata(&seen).ok().filter(Metadata::is_file).and_then(|_| fs::read(&seen).ok());
        let Some(bytes) = bytes else { return Rc::default() };
        let functions = Rc::new(Functions::of(&bytes));
        self.files.insert(path.to_string(), Rc::clone(&functions));
        self.reading_s += thread_cpu_s() - before_s;
        functions
    }

    /// CPU seconds that reading files took since the last call. Each is read once.
    pub(super) fn take_reading_s(&mut self) -> f64 {
        std::mem::take(&mut self.reading_s)
    }
}

/// The name of a function of C++ without its arguments; every other name as it is.
fn readable(name: &str) -> String {
    let options = DemangleOptions::new().no_params().no_return_type();
    let readable = cpp_demangle::Symbol::new(name).ok().and_then(|symbol| symbol.demangle(&options).ok());
    readable.unwrap_or_else(|| name.to_string())
}

/// `5583…000-5583…000 r-xp 00021000 fe:00 1234  /usr/sbin/nginx`.
fn code_of_line(line: &str) -> Option<Code> {
    let mut words = line.split_ascii_whitespace();
    let (from, to) = words.next()?.split_once('-')?;
    words.next().filter(|rights| rights.contains('x'))?;
    let hex = |text: &str| u64::from_str_radix(text, 16).ok();
    let offset = hex(words.next()?)?;
    let path = words.nth(2).unwrap_or_default();
    // Of memory that is shared without a name, or of a file that is gone: what there is under that name is another one.
    let path = if words.next() == Some("(deleted)") { "" } else { path };
    Some(Code { at: hex(from)?..hex(to)?, offset, path: path.to_string() })
}

/// The functions that a file names to others.
#[derive(Debug, Default)]
struct Functions {
    /// Where parts of the file lie in the program's memory: of the file, and there.
    parts: Vec<(Range<u64>, u64)>,
    /// Each with its place in the program's memory, in their order.
    functions: Vec<(Range<u64>, String)>,
}

impl Functions {
    /// None where it is no program.
    fn of(bytes: &[u8]) -> Functions {
        let Ok(file) = object::File::parse(bytes) else { return Functions::default() };
        let part = |part: object::Segment<'_, '_>| {
            let (offset, size) = part.file_range();
            (offset..offset + size, part.address())
        };
        let named = |symbol: object::Symbol<'_, '_>| {
            let is = symbol.kind() == SymbolKind::Text && symbol.is_definition() && symbol.size() > 0;
            let name = symbol.name().ok().filter(|_| is)?;
            Some((symbol.address()..symbol.address() + symbol.size(), name.to_string()))
        };
        let mut functions: Vec<(Range<u64>, String)> =
            file.dynamic_symbols().chain(file.symbols()).filter_map(named).collect();
        functions.sort_by_key(|(at, _)| at.start);
        functions.dedup_by_key(|(at, _)| at.start);
        Functions { parts: file.segments().map(part).collect(), functions }
    }

    /// The function at this place of the file.
    fn name(&self, offset: u64) -> Option<&str> {
        let (part, address) = self.parts.iter().find(|(part, _)| part.contains(&offset))?;
        let at = offset - part.start + address;
        let after = self.functions.partition_point(|(function, _)| function.start <= at);
        let (function, name) = self.functions.get(after.checked_sub(1)?)?;
        function.contains(&at).then_some(name.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stack_of_the_kernel_is_told_from_outside_in_without_its_entry_and_its_scheduler() {
        let text = "\
ffffffff81000000 T _text
ffffffff81000100 t do_syscall_64
ffffffff81000200 T __x64_sys_futex
ffffffff81000300 t futex_wait.isra.0
ffffffff81000400 T schedule
ffffffff81000500 t __schedule
ffffffff81000600 d data
ffffffffc0000000 t in_module\t[ext4]
";
        let functions = KernelFunctions::parsed(text);
        let at = |low: u64| 0xffff_ffff_8100_0000 + low;
        let stack = [at(0x510), at(0x410), at(0x310), at(0x210), at(0x110)];
        assert_eq!(functions.frames(&stack), ["__x64_sys_futex", "futex_wait"]);
        // A call at a function's very end returns to where the next one begins.
        assert_eq!(functions.frames(&[at(0x310), at(0x300)]), ["__x64_sys_futex", "futex_wait"]);
        assert_eq!(functions.frames(&[at(0x510), at(0x410)]), [] as [&str; 0], "nothing but the scheduler");
        assert_eq!(functions.frames(&[0xffff_ffff_c000_0010]), ["in_module"]);
        let hidden = KernelFunctions::parsed("0000000000000000 T _text\n");
        assert!(hidden.frames(&stack).is_empty(), "whoever may not see addresses sees zeros");
    }

    #[test]
    fn the_place_of_this_very_function_is_found_in_its_file() {
        let address = the_place_of_this_very_function_is_found_in_its_file as fn() as usize as u64;
        let frames = Programs::default().frames(std::process::id(), address);
        let [file, function] = frames.as_slice() else { panic!("a file and a function: {frames:?}") };
        assert!(file.starts_with("observe"), "{file}");
        assert!(function.contains("the_place_of_this_very_function"), "{function}");
    }

    #[test]
    fn names_of_cpp_are_readable_and_others_are_left_alone() {
        assert_eq!(readable("_ZN4JOIN10exec_innerEv"), "JOIN::exec_inner");
        assert_eq!(readable("execute_ex"), "execute_ex");
    }

    #[test]
    fn a_line_of_a_map_is_code_only_if_it_may_be_run() {
        let code = code_of_line("7f00-8f00 r-xp 00021000 fe:00 1234    /usr/sbin/nginx").expect("it is code");
        assert_eq!((code.at, code.offset, code.path.as_str()), (0x7f00..0x8f00, 0x21000, "/usr/sbin/nginx"));
        assert_eq!(code_of_line("7f00-8f00 rw-p 00021000 fe:00 1234    /usr/sbin/nginx"), None);
        assert_eq!(
            code_of_line("7f00-8f00 r-xp 00000000 00:00 0").map(|code| code.path),
            Some(String::new())
        );
        let shared = "7f00-8f00 r-xs 00000000 00:01 7    /dev/zero (deleted)";
        assert_eq!(code_of_line(shared).map(|code| code.path), Some(String::new()), "it would never end");
        assert_eq!(code_of_line("rubbish"), None);
    }
}
