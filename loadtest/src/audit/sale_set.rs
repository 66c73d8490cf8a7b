//! Verdict on several items that were sold at once.

use super::{Finding, Judgement, MOST_EVIDENCE, Verdict};

/// Returns the worst verdict, with the findings of all items. If one item had enough competition, a lack of competition
/// for other items does not make the round inconclusive.
pub fn judge_sale_set(mut items: Vec<Judgement>) -> Judgement {
    if items.len() == 1 {
        return items.remove(0);
    }
    let has = |verdict| items.iter().any(|item| item.verdict == verdict);
    let some_hold = has(Verdict::Holds);
    let is_inconclusive =
        |item: &&Judgement| item.verdict == Verdict::Inconclusive && !(some_hold && item.lacks_competition);
    let verdict = if has(Verdict::Violated) {
        Verdict::Violated
    } else if items.iter().any(|item| is_inconclusive(&item)) || !some_hold {
        // A round without items shows nothing.
        Verdict::Inconclusive
    } else {
        Verdict::Holds
    };
    let evidence = items.iter_mut().flat_map(|item| std::mem::take(&mut item.evidence));
    let evidence = evidence.take(MOST_EVIDENCE).collect();
    let sum = |units: fn(&Judgement) -> i64| items.iter().map(units).fold(0, i64::saturating_add);
    let mut together = Judgement {
        verdict,
        findings: Default::default(),
        evidence,
        inconclusive: None,
        is_chance: false,
        lacks_competition: false,
        recorded: sum(|item| item.recorded),
        explained: sum(|item| item.explained),
        stock_left: items
            .iter()
            .try_fold(0_i64, |sum, item| Some(sum.saturating_add(item.stock_left?))),
    };
    for finding in Finding::ALL {
        let sizes: Vec<i64> = items.iter().map(|item| item.findings.of(finding)).collect();
        together.findings.add(finding, total(&sizes));
    }
    if verdict == Verdict::Inconclusive {
        let inconclusive: Vec<&Judgement> = items.iter().filter(is_inconclusive).collect();
        // A reason in the shop comes before a reason of chance.
        let first = inconclusive
            .iter()
            .find(|item| !item.is_chance)
            .or(inconclusive.first());
        let why = first
            .and_then(|item| item.inconclusive.as_deref())
            .unwrap_or("nothing was for sale");
        together.inconclusive = Some(format!("{} of {} items: {why}", inconclusive.len(), items.len()));
        together.is_chance = !inconclusive.is_empty() && inconclusive.iter().all(|item| item.is_chance);
    }
    together
}

/// Returns the sum, or the sum of the absolute values where signs differ: a unit too many in one item does not make up
/// for one too few in another.
fn total(sizes: &[i64]) -> i64 {
    let is_mixed = sizes.iter().any(|size| *size < 0) && sizes.iter().any(|size| *size > 0);
    let sizes = sizes
        .iter()
        .map(|size| if is_mixed { size.saturating_abs() } else { *size });
    sizes.fold(0, i64::saturating_add)
}
