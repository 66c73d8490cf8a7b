//! The items of a round, each with its own sale.

mod item;
mod load;
pub(crate) mod sale_set;

pub(crate) use item::MOST_BUYERS;
pub use item::Sale;
pub use load::{Load, MAX_BUYERS, MAX_ITEMS, MAX_REQUESTS};
pub use sale_set::SaleSet;
