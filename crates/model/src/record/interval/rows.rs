//! Seconds of several recorders as one: each numbers its rows as they come up, and names say which of them are the same.

use std::collections::HashMap;

use super::{Interval, OperationInterval, OperationName};

/// The rows of all recorders by name, numbered in the order in which they came up.
#[derive(Debug, Clone, Default)]
pub struct Rows {
    index: HashMap<OperationName, usize>,
    names: Vec<OperationName>,
}

impl Rows {
    /// The number of the row of that name, which is a new one if nobody had it yet.
    pub fn row(&mut self, name: OperationName) -> usize {
        if let Some(row) = self.index.get(&name) {
            return *row;
        }
        let row = self.names.len();
        self.index.insert(name.clone(), row);
        self.names.push(name);
        row
    }

    /// All names, by number.
    pub fn names(&self) -> &[OperationName] {
        &self.names
    }
}

impl Interval {
    /// Adds a recorder's second, or another of the same one's. `rows` gives the number here of each of the recorder's rows. The
    /// part keeps its rows and loses nothing but the numbers of its last sessions, which become those of here.
    pub fn merge_part(&mut self, part: &mut Interval, rows: &[usize]) {
        let operations = std::mem::take(&mut part.operations);
        for (operation, row) in operations.iter().zip(rows) {
            while self.operations.len() <= *row {
                self.operations.push(OperationInterval::empty());
            }
            self.operations[*row].merge(operation);
        }
        part.last_sessions.iter_mut().for_each(|session| session.operation = rows[session.operation]);
        self.merge(part);
        part.operations = operations;
    }
}
