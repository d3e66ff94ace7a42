//! Numbers in texts of the kernel.

/// A number of a text of the kernel; absent where there is none.
pub(super) fn number(field: Option<&str>) -> Option<f64> {
    field?.trim().parse().ok()
}
