//! The times in which a purchase held its lock or its permit.

use super::event::Role;
use super::purchase::TracedPurchase;

/// A time in which a purchase held its lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct HoldSpan {
    /// The end of the step that took the lock, in nanoseconds.
    pub(super) from_ns: u64,
    /// The begin of the step that released the lock, or the last known time of the purchase.
    pub(super) until_ns: u64,
    /// Whether the lock was released.
    pub(super) is_released: bool,
}

impl HoldSpan {
    /// Returns every such time of a purchase. The results of steps are free text and show no lock. A purchase that goes
    /// on to the stock has the lock, from the last step that asked for it.
    pub(super) fn all(purchase: &TracedPurchase) -> Vec<Self> {
        Self::all_by(Role::Lock, purchase)
    }

    /// The same for what the steps of role `asks` ask for: the lock, or a permit.
    pub(super) fn all_by(asks: Role, purchase: &TracedPurchase) -> Vec<Self> {
        let (mut holdings, mut asked, mut inside) = (Vec::new(), None, None);
        for step in &purchase.steps {
            match step.role {
                Some(role) if role == asks => asked = step.end.as_ref().map(|end| end.at_ns),
                Some(Role::Read | Role::Write | Role::Record | Role::Commit) => inside = inside.or(asked.take()),
                Some(Role::Release) => {
                    asked = None;
                    holdings.extend(inside.take().map(|from_ns| Self {
                        from_ns,
                        until_ns: step.began_ns,
                        is_released: true,
                    }));
                }
                Some(Role::Lock | Role::Permit | Role::Renew | Role::Verify | Role::Other) | None => {}
            }
        }
        holdings.extend(inside.map(|from_ns| Self {
            from_ns,
            until_ns: purchase.last_ns(),
            is_released: false,
        }));
        holdings
    }
}
