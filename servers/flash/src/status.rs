//! What the server counts, in memory that its processes share, and how it tells it.

use std::sync::atomic::{AtomicI64, Ordering::Relaxed};

macro_rules! counts {
    ($($name:ident),*) => {
        #[derive(Debug, Clone, Copy)]
        #[allow(non_camel_case_types)]
        pub enum Count { $($name),* }
        const NAMES: &[&str] = &[$(stringify!($name)),*];
    };
}

counts!(
    connections,
    accepted,
    requests,
    errors,
    names,
    name_hits,
    files,
    file_hits,
    file_bytes,
    jobs,
    waiting,
    names_asked,
    reads_asked,
    loop_opens,
    programs,
    helpers_replaced
);

/// The size of the file of memory.
pub const BYTES: u64 = (NAMES.len() * size_of::<AtomicI64>()) as u64;

/// The counters.
#[derive(Clone, Copy)]
pub struct Counts(&'static [AtomicI64]);

impl Counts {
    pub fn open(file: std::os::fd::BorrowedFd<'_>) -> std::io::Result<Counts> {
        crate::sys::counters(file, NAMES.len()).map(Counts)
    }

    pub fn add(&self, count: Count, number: i64) {
        self.0[count as usize].fetch_add(number, Relaxed);
    }

    /// As a JSON object.
    pub fn json(&self) -> String {
        let fields =
            NAMES.iter().zip(self.0).map(|(name, count)| format!("\"{name}\": {}", count.load(Relaxed)));
        format!("{{{}}}\n", fields.collect::<Vec<_>>().join(", "))
    }
}
