//! Rows by their names.

use model::record::interval::OperationKind;

/// Looks an owned `(kind, name)` up by a borrowed one: the hot path must not allocate a key.
pub(super) trait RowKey {
    fn parts(&self) -> (OperationKind, &[u8]);
}

impl RowKey for (OperationKind, Box<[u8]>) {
    fn parts(&self) -> (OperationKind, &[u8]) {
        (self.0, &self.1)
    }
}

impl RowKey for (OperationKind, &[u8]) {
    fn parts(&self) -> (OperationKind, &[u8]) {
        (self.0, self.1)
    }
}

impl std::hash::Hash for dyn RowKey + '_ {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.parts().hash(state);
    }
}

impl PartialEq for dyn RowKey + '_ {
    fn eq(&self, other: &dyn RowKey) -> bool {
        self.parts() == other.parts()
    }
}

impl Eq for dyn RowKey + '_ {}

impl<'a> std::borrow::Borrow<dyn RowKey + 'a> for (OperationKind, Box<[u8]>) {
    fn borrow(&self) -> &(dyn RowKey + 'a) {
        self
    }
}
