//! What `/proc/TID/syscall` says (proc(5)): `running`, or the number of the system call that the thread is blocked in,
//! six arguments, the stack pointer and the program counter, in hexadecimal but for the number.

/// Where a thread is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// On a CPU, or ready to be.
    Running,
    /// Blocked, but not in a system call: a page is being read.
    Fault,
    /// Blocked in a system call.
    Call(Call),
}

/// A system call that a thread is blocked in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Call {
    /// Its number on this architecture.
    pub(crate) number: libc::c_long,
    /// Its arguments; those that it doesn't have are whatever the registers held.
    pub(crate) args: [u64; 6],
    /// The thread's stack pointer.
    pub(crate) stack: u64,
}

/// `None` for a text that this kernel should not have written.
pub(super) fn parse(text: &str) -> Option<Place> {
    let mut fields = text.split_ascii_whitespace();
    let first = fields.next()?;
    if first == "running" {
        return Some(Place::Running);
    }
    let number = first.parse().ok()?;
    if number < 0 {
        return Some(Place::Fault);
    }
    let mut hexadecimal = || u64::from_str_radix(fields.next()?.strip_prefix("0x")?, 16).ok();
    let mut args = [0; 6];
    for arg in &mut args {
        *arg = hexadecimal()?;
    }
    Some(Place::Call(Call { number, args, stack: hexadecimal()? }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_three_forms_of_the_text_are_told_apart() {
        assert_eq!(parse("running\n"), Some(Place::Running));
        assert_eq!(parse("-1 0x7ffc61680000 0x7f707ab1a26f\n"), Some(Place::Fault));
        let text = "7 0x7ffd4a237f10 0x1 0x5265c00 0x8 0xb 0x8000 0x7ffd4a237ef8 0x7f8ff56e3230\n";
        let args = [0x7ffd_4a23_7f10, 1, 0x0526_5c00, 8, 0xb, 0x8000];
        assert_eq!(parse(text), Some(Place::Call(Call { number: 7, args, stack: 0x7ffd_4a23_7ef8 })));
    }

    #[test]
    fn a_text_cut_short_is_nothing() {
        for text in ["", "7", "7 0x1 0x2", "seven 0x1 0x2 0x3 0x4 0x5 0x6 0x7 0x8", "7 1 2 3 4 5 6 7 8"] {
            assert_eq!(parse(text), None, "{text:?}");
        }
    }
}
