//! A program on a host that is asked one thing, and ends with its answer.

use std::io::Cursor;

use model::Result;

use super::call::{Call, Content};
use super::host::SshHost;
use super::script::{script, words};
use super::text::clean;

/// What the program says as an error is the end of what is shown.
const ASK: &str = r#"
command -v "$program" >/dev/null || fail "there is no program $program"
unset LC_ALL
ulimit -n "$(ulimit -H -n)" 2>/dev/null
"$program" "$@" || exit 3
"#;

impl SshHost {
    /// What `program` prints with `args` there, which gets `question` as its input; it has as many descriptors as it may have. What
    /// it prints is no longer than 256 KiB, and no text to be shown as it is. `is_wanted` is asked again and again, and ends the call.
    ///
    /// # Errors
    /// No connection, no such program there, one that fails or gives no answer in time; not wanted any more.
    pub fn ask(
        &self,
        program: &str,
        args: &[String],
        question: &[u8],
        is_wanted: &dyn Fn() -> bool,
    ) -> Result<String> {
        let operation = &format!("ask {}", clean(program.as_bytes(), 1).join(" "));
        let body = format!("set -- {}\n{ASK}", words(args)?);
        let script = script(&[("program", program)], &body)?;
        let mut progress = |_| true;
        let content = Content { reader: Box::new(Cursor::new(question.to_vec())), progress: &mut progress };
        let call = Call { operation, script, content: Some(content), timeout: self.answer_timeout };
        call.run_while(self, is_wanted)
    }
}
