//! Whose token a call carries.

/// Whose token a call carries. The marketplace's interface does not show which kind each operation needs (docs/interface.md).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bearer {
    /// The customer's: everything under a store view.
    Customer,
    /// The administrator's, or the customer's where none is set.
    Admin,
}
