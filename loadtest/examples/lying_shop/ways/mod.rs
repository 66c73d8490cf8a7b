//! One file for each class of lies.

mod afterwards;
mod books;
mod classic;
mod honest;
mod no_test;
mod numbers;
mod too_early;
mod twice;
mod whose;
mod wire;

use anyhow::Result;

use crate::answer::Answer;
use crate::lies::{Class, entry};
use crate::visit::Visit;

/// Serves a purchase; `elsewhere` when it came to the place where a redirect leads.
pub async fn serve(visit: &Visit, elsewhere: bool) -> Result<Answer> {
    match entry(visit.lie()).class {
        Class::Honest => honest::sell(visit).await,
        Class::Classic => classic::sell(visit).await,
        Class::Afterwards => afterwards::sell(visit).await,
        Class::Whose => whose::sell(visit).await,
        Class::Twice => twice::sell(visit).await,
        Class::NoTest => no_test::sell(visit).await,
        Class::TooEarly => too_early::sell(visit).await,
        // What the fault does is in `fault`.
        Class::Faults if visit.shop.dead => Ok(Answer::fails()),
        Class::Faults => visit.plain().await,
        Class::Numbers => numbers::sell(visit).await,
        Class::Wire => wire::sell(visit, elsewhere).await,
        Class::Books => books::sell(visit).await,
    }
}
