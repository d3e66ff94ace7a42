//! What is watched beside the stack's tiers, by the names under which it stands among them.

/// The process that drives the load.
pub const GENERATOR: &str = "generator";

/// What watches.
pub const OBSERVERS: &str = "observers";

/// The process that serves the laboratory's page.
pub const VIEWER: &str = "viewer";

/// All of them: rows of no tier of the stack.
pub const INSTRUMENT: [&str; 3] = [GENERATOR, OBSERVERS, VIEWER];
