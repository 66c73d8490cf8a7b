//! The first ledger: what buyers were told.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use reqwest::header::RETRY_AFTER;
use reqwest::{Response, StatusCode};
use serde::{Deserialize, Serialize};

/// The header in which an instance names itself; the body of a sale may do it instead.
const INSTANCE: &str = "x-instance";

/// What a buyer was told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Word {
    /// 201: the units are yours.
    Sold,
    /// 409: fewer are left than you asked for.
    SoldOut,
    /// 503 with Retry-After: not now; nothing was sold to you.
    Busy,
    /// Any other 4xx: this is no purchase.
    Rejected,
    /// Everything else, silence included: nobody can say whether a sale took place.
    Unknown,
}

impl Word {
    /// All words, in the order of a report.
    pub const ALL: [Self; 5] = [Self::Sold, Self::SoldOut, Self::Busy, Self::Rejected, Self::Unknown];
}

/// One answer to one purchase.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The purchase's idempotency key.
    pub key: String,
    /// What was said.
    pub word: Word,
    /// The order id that came with a sale.
    pub order: Option<String>,
    /// Which instance answered, as far as it says so.
    pub instance: Option<String>,
    /// When the purchase was meant to be sent.
    pub intended: Instant,
    /// When it was sent.
    pub sent: Instant,
    /// When the last byte of the answer had come.
    pub ended: Instant,
}

impl Answer {
    /// From the intended start to the last byte.
    pub fn latency(&self) -> Duration {
        self.ended.duration_since(self.intended)
    }

    /// How far the generator lagged behind its own schedule.
    pub fn lateness(&self) -> Duration {
        self.sent.duration_since(self.intended)
    }
}

#[derive(Deserialize)]
struct Sold {
    order: Option<String>,
    instance: Option<String>,
}

/// What a response says. Reads it to its last byte.
pub async fn hear(response: reqwest::Result<Response>) -> (Word, Option<String>, Option<String>) {
    let Ok(response) = response else {
        return (Word::Unknown, None, None);
    };
    let (status, headers) = (response.status(), response.headers());
    let may_retry = headers.contains_key(RETRY_AFTER);
    let named = headers
        .get(INSTANCE)
        .and_then(|name| name.to_str().ok())
        .map(str::to_owned);
    let Ok(body) = response.bytes().await else {
        return (Word::Unknown, None, None);
    };
    let word = match status {
        StatusCode::CREATED => Word::Sold,
        StatusCode::CONFLICT => Word::SoldOut,
        StatusCode::SERVICE_UNAVAILABLE if may_retry => Word::Busy,
        status if status.is_client_error() => Word::Rejected,
        _ => Word::Unknown,
    };
    let sold = serde_json::from_slice(&body).ok().filter(|_| word == Word::Sold);
    let Sold { order, instance } = sold.unwrap_or(Sold {
        order: None,
        instance: None,
    });
    (word, order, named.or(instance))
}

/// Everything buyers were told in one round. Its size is the plan's number of requests.
#[derive(Clone, Debug, Default)]
pub struct Told {
    /// The attack's, one per purchase, in no order.
    pub answers: Vec<Answer>,
    /// Given after the attack to one more buyer, alone, when stock was left.
    pub last_buyer: Option<Answer>,
    /// What came of clicking twice, in a sale of its own after the attack.
    pub second_click: Option<SecondClick>,
}

/// A purchase and the same purchase again, with one idempotency key, while there were units for both.
#[derive(Clone, Debug)]
pub struct SecondClick {
    /// The answer to the first click: sold.
    pub first: Answer,
    /// The answer to the second.
    pub second: Answer,
    /// Units that the ledger then holds under the key.
    pub recorded: i64,
}

impl Told {
    /// Every answer to a purchase of its own: the attack's and the last buyer's.
    pub fn purchases(&self) -> impl Iterator<Item = &Answer> + Clone {
        self.answers.iter().chain(&self.last_buyer)
    }

    /// How many purchases were answered with `word`.
    pub fn count(&self, word: Word) -> usize {
        self.purchases().filter(|answer| answer.word == word).count()
    }

    /// The most purchases of the attack that were in flight at one moment.
    pub fn peak(&self) -> usize {
        let starts = self.answers.iter().map(|answer| (answer.sent, 1));
        let ends = self.answers.iter().map(|answer| (answer.ended, -1));
        let mut events: Vec<(Instant, isize)> = starts.chain(ends).collect();
        events.sort();
        let mut now = 0;
        let peak = events.into_iter().map(|(_, change)| {
            now += change;
            now
        });
        peak.max().unwrap_or(0).unsigned_abs()
    }

    /// From the first intended start to the last sale.
    pub fn selling_time(&self) -> Option<Duration> {
        let first = self.answers.iter().map(|answer| answer.intended).min()?;
        let sales = self.answers.iter().filter(|answer| answer.word == Word::Sold);
        let last = sales.map(|answer| answer.ended).max()?;
        Some(last.duration_since(first))
    }

    /// Latency of each word that was said: they are never pooled.
    pub fn latency_us(&self) -> BTreeMap<Word, Latency> {
        let of = |word| {
            let answers = self.answers.iter().filter(move |answer| answer.word == word);
            Latency::of(answers.map(Answer::latency))
        };
        let all = Word::ALL.into_iter().map(|word| (word, of(word)));
        all.filter(|(_, latency)| latency.n > 0).collect()
    }
}

/// The distribution of a latency, in microseconds.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub struct Latency {
    /// Answers counted.
    pub n: u64,
    /// Median.
    pub p50: u64,
    /// 95th percentile.
    pub p95: u64,
    /// 99th percentile.
    pub p99: u64,
    /// 99.9th percentile.
    pub p99_9: u64,
    /// The longest.
    pub max: u64,
}

impl Latency {
    fn of(latencies: impl Iterator<Item = Duration>) -> Self {
        // 1 us to 60 s in three significant digits: a fixed size whatever comes.
        let mut histogram = Histogram::<u64>::new_with_bounds(1, 60_000_000, 3).expect("the bounds are in order");
        latencies.for_each(|latency| histogram.saturating_record(latency.as_micros() as u64));
        Self {
            n: histogram.len(),
            p50: histogram.value_at_quantile(0.5),
            p95: histogram.value_at_quantile(0.95),
            p99: histogram.value_at_quantile(0.99),
            p99_9: histogram.value_at_quantile(0.999),
            max: histogram.max(),
        }
    }
}
