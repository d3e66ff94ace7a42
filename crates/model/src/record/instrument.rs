//! What is watched beside the stack's tiers, by the names under which it stands among them.

/// The process that drives the load.
pub const GENERATOR: &str = "generator";

/// What watches.
pub const OBSERVERS: &str = "observers";

/// The process that serves the laboratory's page.
pub const VIEWER: &str = "viewer";

/// A fleet's agents on this machine.
pub const AGENTS: &str = "agents";

/// The bus between them and their controller.
pub const BUS: &str = "bus";

/// All of them: rows of no tier of the stack.
pub const INSTRUMENT: [&str; 5] = [GENERATOR, OBSERVERS, VIEWER, AGENTS, BUS];
