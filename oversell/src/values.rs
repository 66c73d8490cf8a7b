//! Parsers of option values. An error names the values that are allowed.

use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;

/// Parses a whole number in that range.
pub fn between<N>(range: RangeInclusive<N>) -> impl Fn(&str) -> Result<N, String> + Clone + Send + Sync + 'static
where
    N: FromStr + PartialOrd + Display + Clone + Send + Sync + 'static,
{
    move |text| {
        let number = text.parse().ok().filter(|number| range.contains(number));
        number.ok_or_else(|| format!("must be a whole number from {} to {}", range.start(), range.end()))
    }
}

/// Parses a business time that ends before the proxy gives up.
pub fn work_ms(text: &str) -> Result<u64, String> {
    between(0..=app::http::MAX_WORK_MS)(text)
        .map_err(|wrong| format!("{wrong}: a proxy gives up an instance that is silent for longer"))
}
