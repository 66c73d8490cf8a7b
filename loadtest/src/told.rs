//! The first ledger: what buyers were told.

use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, Instant};

use crate::answer::{Answer, Word};
use crate::latency::Latency;

/// Everything buyers were told in one round. Its size is bounded by the plan's number of requests.
#[derive(Clone, Debug, Default)]
pub struct Told {
    /// The attack's, one per purchase, in no order.
    pub attack: Vec<Answer>,
    /// Given after the attack to buyers who came one at a time, in the order of their coming. Who was told busy came
    /// again with the same key.
    pub follow_up: Vec<Answer>,
    /// Given to purchases that were sent once more, unchanged: during the attack, after it, and at the end of the run.
    pub repeats: Vec<Answer>,
    /// Given to purchases that were sent once more with another quantity or buyer, which has to be refused.
    pub altered: Vec<Answer>,
    /// By how much the times of two answers may be apart that different workers heard: none knows the others' clocks.
    pub apart: Duration,
}

/// One purchase with all that it was answered.
#[derive(Clone, Debug)]
pub struct Purchase<'a> {
    /// Its idempotency key.
    pub key: &'a str,
    /// Who made it.
    pub buyer: &'a str,
    /// When its first delivery was sent.
    pub sent: Instant,
    /// What came of it: sold if any delivery was, else unknown if any was, and so on.
    pub word: Word,
    /// When it was first told sold out.
    pub refused: Option<Instant>,
    /// Whether a delivery got no answer though its buyer waited for one.
    pub unanswered: bool,
}

impl Told {
    /// Every answer to an unchanged purchase.
    pub fn answers(&self) -> impl Iterator<Item = &Answer> + Clone {
        self.attack.iter().chain(&self.follow_up).chain(&self.repeats)
    }

    /// The purchases, each once however often it was sent, in no order.
    pub fn purchases(&self) -> Vec<Purchase<'_>> {
        let mut purchases: HashMap<&str, Purchase<'_>> = HashMap::new();
        for answer in self.answers() {
            let refused = (answer.word == Word::SoldOut).then_some(answer.ended);
            let purchase = purchases.entry(&answer.key).or_insert(Purchase {
                key: &answer.key,
                buyer: &answer.buyer,
                sent: answer.sent,
                word: answer.word,
                refused,
                unanswered: false,
            });
            purchase.unanswered |= answer.word == Word::Unknown && !answer.hung_up;
            purchase.sent = purchase.sent.min(answer.sent);
            purchase.word = std::cmp::max_by_key(purchase.word, answer.word, |word| weight(*word));
            purchase.refused = [purchase.refused, refused].into_iter().flatten().min();
        }
        purchases.into_values().collect()
    }

    /// How many purchases ended with `word`.
    pub fn count(&self, word: Word) -> usize {
        self.purchases().iter().filter(|purchase| purchase.word == word).count()
    }

    /// Whether a purchase of the attack whose answer `counts` was in flight at the same time as another one.
    pub fn met(&self, counts: impl Fn(Word) -> bool) -> bool {
        let mut spans: Vec<_> = self.attack.iter().collect();
        spans.sort_by_key(|answer| answer.sent);
        // Of those sent before: the one that ends last, and the one that counts and ends last.
        let (mut last, mut last_that_counts): (Option<Instant>, Option<Instant>) = (None, None);
        for answer in spans {
            let does_count = counts(answer.word);
            let reaches = |end: Option<Instant>| end.is_some_and(|end| end > answer.sent);
            if reaches(last_that_counts) || does_count && reaches(last) {
                return true;
            }
            last = last.max(Some(answer.ended));
            if does_count {
                last_that_counts = last_that_counts.max(Some(answer.ended));
            }
        }
        false
    }
}

/// From the first intended start to the last sale.
pub fn selling_time<'a>(answers: impl Iterator<Item = &'a Answer> + Clone) -> Option<Duration> {
    let first = answers.clone().map(|answer| answer.intended).min()?;
    let sales = answers.filter(|answer| answer.word == Word::Sold);
    let last = sales.map(|answer| answer.ended).max()?;
    Some(last.duration_since(first))
}

/// Latency of each word that was said: they are never pooled.
pub fn latency_us<'a>(answers: impl Iterator<Item = &'a Answer> + Clone) -> BTreeMap<Word, Latency> {
    let of = |word| {
        let answers = answers.clone().filter(move |answer| answer.word == word);
        Latency::of(answers.map(Answer::latency))
    };
    let all = Word::ALL.into_iter().map(|word| (word, of(word)));
    all.filter(|(_, latency)| latency.n > 0).collect()
}

/// Which of two answers to one purchase says more about what came of it.
fn weight(word: Word) -> u8 {
    match word {
        Word::Busy => 0,
        Word::SoldOut => 1,
        Word::Rejected => 2,
        Word::Unknown => 3,
        Word::Sold => 4,
    }
}
