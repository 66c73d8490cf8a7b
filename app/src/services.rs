//! The URLs of the stores and lock services that strategies need, by the name of the service.

use std::collections::BTreeMap;

/// URLs by service. The type has no `Debug`: a URL may hold a password.
#[derive(Clone, Default)]
pub struct Services(BTreeMap<String, Vec<String>>);

/// The most URLs of one service.
const MAX_URLS: usize = 16;

/// The error for a service without a URL.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "needs {service}: give the instances its URL in {} (in containers: COMPOSE_PROFILES={service} docker compose up)",
    variable(.service)
)]
pub struct Missing {
    /// The name of the service.
    pub service: String,
}

impl Services {
    /// Reads the URLs of the named services from the environment: each name has its [`variable`], with URLs separated
    /// by blanks.
    pub fn from_environment<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        let mut services = Self::default();
        for name in names {
            if let Ok(urls) = std::env::var(variable(name)) {
                services = services.with(name, urls.split_whitespace());
            }
        }
        services
    }

    /// Adds a service. Without a URL it counts as missing. URLs after the 16th are ignored.
    #[must_use]
    pub fn with<'a>(mut self, name: &str, urls: impl IntoIterator<Item = &'a str>) -> Self {
        let urls: Vec<_> = urls.into_iter().take(MAX_URLS).map(str::to_owned).collect();
        if !urls.is_empty() {
            self.0.insert(name.to_owned(), urls);
        }
        self
    }

    /// Returns all URLs of a service, at least one.
    ///
    /// # Errors
    /// [`Missing`] when there is none.
    pub fn urls(&self, name: &str) -> Result<&[String], Missing> {
        let urls = self.0.get(name).ok_or_else(|| Missing {
            service: name.to_owned(),
        })?;
        Ok(urls)
    }

    /// Returns the first URL of a service.
    ///
    /// # Errors
    /// [`Missing`] when there is none.
    pub fn url(&self, name: &str) -> Result<&str, Missing> {
        Ok(self.urls(name)?[0].as_str())
    }
}

/// Returns the environment variable of a service: `OVERSELL_REDIS_NODES_URL` for `redis-nodes`.
pub fn variable(service: &str) -> String {
    format!("OVERSELL_{}_URL", service.to_uppercase().replace('-', "_"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_for_a_missing_service_names_its_environment_variable() {
        let services = Services::default().with("sql", ["mysql://a"]).with("etcd", []);
        assert_eq!(services.url("sql").unwrap(), "mysql://a");
        let missing = services.url("etcd").unwrap_err().to_string();
        assert!(missing.starts_with("needs etcd: give the instances its URL in OVERSELL_ETCD_URL (in containers: "));
        assert_eq!(variable("redis-nodes"), "OVERSELL_REDIS_NODES_URL");
    }
}
