//! Prometheus metrics. Labels are bounded by the catalogue and the kinds of outcome, never by what buyers send.

use std::sync::OnceLock;
use std::time::Duration;

use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};

use crate::domain::{Error, Outcome};
use crate::instance::Shop;
use crate::probe::{Counts, seconds};
use crate::strategies::Listed;

type Labels = [(&'static str, String); 2];

/// The values of the label `outcome`.
const OUTCOMES: [&str; 6] = ["sold", "repeated", "sold_out", "busy", "unknown_item", "failed"];

pub(super) struct Metrics {
    registry: Registry,
    purchases: Family<Labels, Counter>,
    seconds: Family<Labels, Histogram>,
    in_progress: Gauge,
    /// The metrics of each strategy and outcome, created at the first one: a lookup by labels costs more than the count
    /// itself.
    kept: Vec<[OnceLock<Kept>; OUTCOMES.len()]>,
}

/// The metrics of one outcome of one strategy.
struct Kept {
    purchases: Counter,
    seconds: Histogram,
}

impl Metrics {
    /// Creates the metrics of this many strategies, and of these counts.
    pub(super) fn of(strategies: usize, counts: &Counts) -> Self {
        let mut registry = Registry::with_prefix("oversell");
        let purchases = Family::<Labels, Counter>::default();
        let seconds = Family::<Labels, Histogram>::new_with_constructor(seconds);
        let in_progress = Gauge::default();
        registry.register("purchases", "Answered purchases, by outcome", purchases.clone());
        registry.register_with_unit(
            "purchase",
            "Time from request to response",
            Unit::Seconds,
            seconds.clone(),
        );
        registry.register("purchases_in_progress", "Purchases in progress", in_progress.clone());
        counts.register(&mut registry);
        Self {
            registry,
            purchases,
            seconds,
            in_progress,
            kept: (0..strategies).map(|_| Default::default()).collect(),
        }
    }

    pub(super) fn purchase(&self, strategy: &Listed, outcome: &Result<Outcome, Error>, took: Duration) {
        // The index in OUTCOMES.
        let outcome = match outcome {
            Ok(Outcome::Sold { .. }) => 0,
            Ok(Outcome::Repeated(_)) => 1,
            Ok(Outcome::SoldOut) => 2,
            Ok(Outcome::Busy) => 3,
            Ok(Outcome::UnknownItem) => 4,
            Err(_) => 5,
        };
        let kept = self.kept[strategy.number][outcome].get_or_init(|| {
            let strategy = strategy.entry.name.clone();
            let labels = [("strategy", strategy), ("outcome", OUTCOMES[outcome].to_owned())];
            Kept {
                purchases: self.purchases.get_or_create_owned(&labels),
                seconds: self.seconds.get_or_create_owned(&labels),
            }
        });
        kept.seconds.observe(took.as_secs_f64());
        kept.purchases.inc();
    }

    pub(super) fn encode(&self, shop: &Shop) -> String {
        self.in_progress.set(shop.in_progress() as i64);
        let mut text = String::new();
        // Writing to a String cannot fail.
        let _ = encode(&mut text, &self.registry);
        text
    }
}
