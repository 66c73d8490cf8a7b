//! The figures of a strategy on a route.

use std::collections::BTreeSet;

use serde::Serialize;

use super::cpu::CpuUs;
use super::measure::Measurement;
use crate::row::median;

/// The figures of one measurement, or the medians of several.
#[derive(Clone, Debug, Serialize)]
pub struct Figures {
    /// Sales per second.
    pub sales_per_s: f64,
    /// Sales per second, divided by those of the no-op on the same route, measured right before.
    pub ratio_to_noop: f64,
    /// Busy answers per second. A busy buyer asks again at once.
    pub busy_per_s: f64,
    /// Processor time of the shop and its servers per sale, in microseconds. None without a sale.
    pub cpu_us_per_sale: Option<CpuUs>,
    /// Processor time of the generator per sale, in microseconds. None without a sale.
    pub generator_us_per_sale: Option<f64>,
}

impl Figures {
    /// Computes the figures of a measurement and of its no-op.
    pub(super) fn of(measurement: &Measurement, noop: &Measurement) -> Self {
        let sold = measurement.sold as f64;
        let per_sale = |us: f64| (sold > 0.0).then(|| us / sold);
        let cpu_us_per_sale = measurement
            .cpu_us
            .iter()
            .map(|(name, us)| Some((*name, per_sale(*us)?)));
        Self {
            sales_per_s: measurement.sales_per_s(),
            ratio_to_noop: measurement.sales_per_s() / noop.sales_per_s(),
            busy_per_s: measurement.busy as f64 / measurement.seconds,
            cpu_us_per_sale: cpu_us_per_sale.collect(),
            generator_us_per_sale: per_sale(measurement.generator_us),
        }
    }

    /// Returns the median of each figure.
    pub(super) fn medians(runs: &[Self]) -> Self {
        let of = |figure: fn(&Self) -> f64| median(runs.iter().map(figure)).unwrap_or_default();
        let cpu = || runs.iter().filter_map(|run| run.cpu_us_per_sale.as_ref());
        let names: BTreeSet<&'static str> = cpu().flat_map(|us| us.keys().copied()).collect();
        let each = names.into_iter().map(|name| {
            let us = cpu().filter_map(|us| us.get(name).copied());
            Some((name, median(us)?))
        });
        Self {
            sales_per_s: of(|run| run.sales_per_s),
            ratio_to_noop: of(|run| run.ratio_to_noop),
            busy_per_s: of(|run| run.busy_per_s),
            cpu_us_per_sale: cpu().next().and_then(|_| each.collect()),
            generator_us_per_sale: median(runs.iter().filter_map(|run| run.generator_us_per_sale)),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that fails may panic")]
mod tests {
    use super::*;

    fn measurement(sold: u64, app_us: f64) -> Measurement {
        Measurement {
            sold,
            busy: 4,
            seconds: 2.0,
            generator_us: 600.0,
            cpu_us: CpuUs::from([("app", app_us), ("nginx", 0.0)]),
        }
    }

    #[test]
    fn figures_are_per_second_per_sale_and_relative_to_the_no_op() {
        let figures = Figures::of(&measurement(100, 900.0), &measurement(400, 0.0));
        assert_eq!(
            (figures.sales_per_s, figures.ratio_to_noop, figures.busy_per_s),
            (50.0, 0.25, 2.0)
        );
        assert_eq!(
            figures.cpu_us_per_sale.unwrap(),
            CpuUs::from([("app", 9.0), ("nginx", 0.0)])
        );
        assert_eq!(figures.generator_us_per_sale, Some(6.0));
    }

    #[test]
    fn a_run_without_a_sale_has_no_cost_and_does_not_hide_the_cost_of_the_others() {
        let noop = measurement(400, 0.0);
        let nothing = Figures::of(&measurement(0, 900.0), &noop);
        assert!(nothing.cpu_us_per_sale.is_none() && nothing.generator_us_per_sale.is_none());
        let some = [100.0, 300.0].map(|app_us| Figures::of(&measurement(100, app_us), &noop));
        let medians = Figures::medians(&[nothing.clone(), some[0].clone(), some[1].clone()]);
        assert_eq!(medians.sales_per_s, 50.0);
        assert_eq!(medians.cpu_us_per_sale.unwrap()["app"], 2.0);
        assert!(Figures::medians(&[nothing]).cpu_us_per_sale.is_none());
    }
}
