//! The probes on real processes: CPU burnt in a child must be found again.

mod live;
