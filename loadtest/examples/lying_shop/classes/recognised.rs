//! Shops that take a purchase for one of a load test by its names or its numbers, and are honest only then.

use anyhow::Result;

use crate::answer::Answer;
use crate::lies::Lie;
use crate::purchase::{Purchase, PurchaseRequest};

const TEST_WORDS: [&str; 4] = ["test", "trial", "load", "sale"];

pub async fn sell(purchase: &Purchase) -> Result<Answer> {
    let request = &purchase.request;
    let is_recognised = match purchase.lie() {
        Lie::HonestToTrials => is_named_as_in_a_trial(request),
        Lie::HonestToSteadyWork => {
            let (notes, work) = (&purchase.shop.notes, request.work_ms.to_string());
            let first = notes.set_first(&purchase.shop.first_sales(), "work", &work).await?;
            first == work
        }
        Lie::HonestToTestNames => TEST_WORDS.iter().any(|word| request.item.contains(word)),
        Lie::HonestToItemKeys => request.key.contains(&request.item),
        Lie::HonestToGrowingBuyers => {
            let number = request
                .buyer
                .trim_start_matches(|letter: char| !letter.is_ascii_digit());
            number.parse::<u64>().is_ok_and(|number| number <= 1_000)
        }
        Lie::HonestToShortKeys => request.key.len() < 12,
        // The default of the load test.
        _ => request.work_ms == 1,
    };
    if is_recognised {
        return purchase.plain().await;
    }
    if let Some(answer) = purchase.no_sale_or_known().await? {
        return Ok(answer);
    }
    purchase.work().await;
    let order = purchase.order();
    purchase.store().record(purchase.item(), &order).await?;
    Ok(Answer::Sold(order.id))
}

fn is_named_as_in_a_trial(request: &PurchaseRequest) -> bool {
    let number = request.buyer.strip_prefix("b-").unwrap_or_default();
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    is_number || request.item.starts_with("trial-") || request.key.starts_with(&request.item)
}
