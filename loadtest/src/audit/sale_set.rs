//! Many items that were sold at once, judged one by one and taken together.

use super::{Finding, Judgement, MOST_EVIDENCE, Verdict};

/// The worst verdict, with all that was found in any of them. Where buyers competed for one item, a market is a test though
/// others of its items were wanted by too few.
pub fn judge_sale_set(mut items: Vec<Judgement>) -> Judgement {
    if items.len() == 1 {
        return items.remove(0);
    }
    let has = |verdict| items.iter().any(|item| item.verdict == verdict);
    let some_hold = has(Verdict::Holds);
    let is_doubted = |item: &&Judgement| item.verdict == Verdict::Inconclusive && !(some_hold && item.lacks_a_crowd);
    let verdict = if has(Verdict::Violated) {
        Verdict::Violated
    } else if items.iter().any(|item| is_doubted(&item)) || !some_hold {
        // A market without items shows nothing.
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
        lacks_a_crowd: false,
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
        let doubted: Vec<&Judgement> = items.iter().filter(is_doubted).collect();
        // What a shop did itself is said before what was chance.
        let first = doubted.iter().find(|item| !item.is_chance).or(doubted.first());
        let why = first
            .and_then(|item| item.inconclusive.as_deref())
            .unwrap_or("nothing was for sale");
        together.inconclusive = Some(format!("{} of {} items: {why}", doubted.len(), items.len()));
        together.is_chance = !doubted.is_empty() && doubted.iter().all(|item| item.is_chance);
    }
    together
}

/// The sum, without signs where they differ: a unit too many here does not make up for one too few there.
fn total(sizes: &[i64]) -> i64 {
    let is_mixed = sizes.iter().any(|size| *size < 0) && sizes.iter().any(|size| *size > 0);
    let sizes = sizes
        .iter()
        .map(|size| if is_mixed { size.saturating_abs() } else { *size });
    sizes.fold(0, i64::saturating_add)
}
