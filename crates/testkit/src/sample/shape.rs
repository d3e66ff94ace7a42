//! What kind of run is made up, and how large.

/// What kind of run to make up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// Valid, every target met.
    Passed,
    /// Valid, with errors and a target missed whose average would have passed.
    Failed,
    /// The generator was too slow and a tier restarted.
    Invalid,
    /// The user ended it 20 s into the steady state.
    Interrupted,
    /// The tool died 20 s into the steady state: seconds, but a record without results.
    Unfinished,
}

/// The dimensions of a made-up run.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    /// How it ends.
    pub ending: Ending,
    /// How many operations its sessions have, 1 to 20.
    pub operations: usize,
    /// Emulated users.
    pub users: u32,
    /// Seconds.
    pub ramp_up_s: u32,
    /// Seconds.
    pub steady_s: u32,
    /// Seconds.
    pub ramp_down_s: u32,
}

impl Default for Shape {
    /// The DVD Store's four operations, 40 users, 90 s in all.
    fn default() -> Shape {
        let (ramp_up_s, steady_s, ramp_down_s) = (20, 60, 10);
        Shape { ending: Ending::Passed, operations: 4, users: 40, ramp_up_s, steady_s, ramp_down_s }
    }
}

impl Shape {
    /// The default with another ending.
    pub fn ending(ending: Ending) -> Shape {
        Shape { ending, ..Shape::default() }
    }

    /// Seconds that were measured: fewer than planned when the run was cut short.
    pub fn measured_s(&self) -> u32 {
        match self.ending {
            Ending::Interrupted | Ending::Unfinished => self.ramp_up_s + self.steady_s.min(20),
            _ => self.ramp_up_s + self.steady_s + self.ramp_down_s,
        }
    }
}
