//! Prometheus metrics. Labels are bounded by the catalogue and the kinds of outcome, never by what buyers send.

use std::time::Duration;

use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::{Registry, Unit};

use crate::sale::{Error, Outcome};
use crate::shop::Shop;

type Labels = [(&'static str, String); 2];

pub(super) struct Metrics {
    registry: Registry,
    purchases: Family<Labels, Counter>,
    seconds: Family<Labels, Histogram>,
    in_progress: Gauge,
}

impl Default for Metrics {
    fn default() -> Self {
        let mut registry = Registry::with_prefix("oversell");
        let purchases = Family::<Labels, Counter>::default();
        // 0.2 ms to 6.5 s
        let seconds =
            Family::<Labels, Histogram>::new_with_constructor(|| Histogram::new(exponential_buckets(0.0002, 2.0, 16)));
        let in_progress = Gauge::default();
        registry.register(
            "purchases",
            "Purchases answered, by what came of them",
            purchases.clone(),
        );
        registry.register_with_unit(
            "purchase",
            "Time from request to answer",
            Unit::Seconds,
            seconds.clone(),
        );
        registry.register(
            "purchases_in_progress",
            "Purchases being carried out",
            in_progress.clone(),
        );
        Self {
            registry,
            purchases,
            seconds,
            in_progress,
        }
    }
}

impl Metrics {
    pub(super) fn purchase(&self, strategy: &str, outcome: &Result<Outcome, Error>, took: Duration) {
        let outcome = match outcome {
            Ok(Outcome::Sold { .. }) => "sold",
            Ok(Outcome::Repeated(_)) => "repeated",
            Ok(Outcome::SoldOut) => "sold_out",
            Ok(Outcome::Busy) => "busy",
            Ok(Outcome::UnknownItem) => "unknown_item",
            Err(_) => "failed",
        };
        let labels = [("strategy", strategy.to_owned()), ("outcome", outcome.to_owned())];
        self.seconds.get_or_create(&labels).observe(took.as_secs_f64());
        self.purchases.get_or_create(&labels).inc();
    }

    pub(super) fn encode(&self, shop: &Shop) -> String {
        self.in_progress.set(shop.in_progress() as i64);
        let mut text = String::new();
        // Writing to a String cannot fail.
        let _ = encode(&mut text, &self.registry);
        text
    }
}
