//! One file for each class of lies.

mod afterwards;
pub mod apart;
mod classic;
mod elsewhere;
pub mod faults;
pub mod first_sale;
mod honest;
pub mod identity;
mod ledgers;
pub mod no_test;
mod numbers;
mod recognised;
pub mod segments;
mod shut;
mod too_early;
mod twice;
pub mod unseen;
mod whose;
mod wire;

use anyhow::Result;

use crate::answer::Answer;
use crate::lies::{Class, entry};
use crate::purchase::Purchase;

/// Serves a purchase. `elsewhere` is true when it arrived at the target of a redirect.
pub async fn serve(purchase: &Purchase, elsewhere: bool) -> Result<Answer> {
    match entry(purchase.lie()).class {
        Class::Honest => honest::sell(purchase).await,
        Class::Classic => classic::sell(purchase).await,
        Class::Afterwards => afterwards::sell(purchase).await,
        Class::Whose => whose::sell(purchase).await,
        Class::Twice => twice::sell(purchase).await,
        Class::Recognised => recognised::sell(purchase).await,
        Class::NoTest => no_test::sell(purchase).await,
        Class::TooEarly => too_early::sell(purchase).await,
        Class::Faults => faults::sell(purchase).await,
        Class::Identity => identity::sell(purchase).await,
        Class::Unseen => unseen::sell(purchase).await,
        Class::Shut => shut::sell(purchase).await,
        Class::FirstSale => first_sale::sell(purchase).await,
        Class::Apart => apart::sell(purchase).await,
        Class::Segments => segments::sell(purchase).await,
        Class::Numbers => numbers::sell(purchase).await,
        Class::Wire => wire::sell(purchase, elsewhere).await,
        Class::Closing => purchase.plain().await,
        Class::Ledgers => ledgers::sell(purchase).await,
    }
}
