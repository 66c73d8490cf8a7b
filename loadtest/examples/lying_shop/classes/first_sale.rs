//! Shops whose first sale is no test: the fault does not strike there. All later ones are honest.

use std::time::Duration;

use anyhow::Result;

use crate::answer::Answer;
use crate::lies::Lie;
use crate::purchase::Purchase;

const LATER: Duration = Duration::from_millis(700);

pub async fn sell(purchase: &Purchase) -> Result<Answer> {
    if !purchase.is_in_first_sale().await? {
        return purchase.plain().await;
    }
    match purchase.lie() {
        Lie::MissesFirstAndForgets => match purchase.no_sale_or_known().await? {
            Some(_) => Ok(Answer::SoldOut),
            None => purchase.plain().await,
        },
        Lie::MissesFirstAndEnters => {
            let answer = purchase.plain().await?;
            let sold = matches!(answer, Answer::Sold(_));
            if sold && purchase.is_sold_out().await? && purchase.is_first().await? {
                let purchase = purchase.clone();
                tokio::spawn(async move {
                    tokio::time::sleep(LATER).await;
                    let ghost = purchase.ghost(1);
                    purchase.store().record(purchase.item(), &ghost).await.unwrap();
                });
            }
            Ok(answer)
        }
        _ => purchase.plain().await,
    }
}
