//! The shop that `oversell up` left up, and the file in its private folder by which other commands find it.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use loadtest::facts::Urls;

use crate::exit::Usage;

/// The name of the file. A shell can read it with `.`: each line exports one variable.
const NAME: &str = "shop.env";

const HOST: &str = "OVERSELL_URL";
const ADMINS: &str = "OVERSELL_ADMIN_URL";
const TOKEN: &str = "OVERSELL_ADMIN_TOKEN";
const STORES: [(&str, &str); 2] = [("redis", "OVERSELL_REDIS_URL"), ("sql", "OVERSELL_SQL_URL")];

/// A shop that is up. It has no `Debug`: it holds the admin token, and a URL may hold a password.
pub struct RunningShop {
    /// Base URL of the public listener.
    pub host: String,
    /// Base URLs of the admin listeners.
    pub admins: Vec<String>,
    /// Their bearer token.
    pub admin_token: String,
    /// Its stores.
    pub urls: Urls,
}

impl RunningShop {
    /// Writes the file into the private folder of the run, readable for this user alone.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn keep(&self, folder: &Path) -> Result<PathBuf> {
        let path = folder.join(NAME);
        let admins = self.admins.join(" ");
        let stores = STORES
            .iter()
            .filter_map(|(store, variable)| Some((*variable, self.urls.get(store)?.as_str())));
        let shop = [
            (HOST, self.host.as_str()),
            (ADMINS, admins.as_str()),
            (TOKEN, self.admin_token.as_str()),
        ];
        let mut text = String::new();
        for (variable, value) in shop.into_iter().chain(stores) {
            text += &format!("export {variable}={}\n", shlex::try_quote(value)?);
        }
        let mut options = OpenOptions::new();
        let file = options.write(true).create_new(true).mode(0o600).open(&path);
        file.and_then(|mut file| file.write_all(text.as_bytes()))
            .with_context(|| format!("cannot write {}", path.display()))?;
        Ok(path)
    }

    /// Finds the shop that the environment names, else the one shop of this user that is up.
    ///
    /// # Errors
    /// When no shop is up, or several are.
    pub fn find() -> Result<Self, Usage> {
        if let Some(named) = Self::from(|variable| std::env::var(variable).ok()) {
            return Ok(named);
        }
        let files = stack::owned().into_iter().map(|folder| folder.join(NAME));
        let mut shops: Vec<_> = files.filter_map(|file| Some((Self::read(&file)?, file))).collect();
        match (shops.pop(), shops.is_empty()) {
            (Some((shop, _)), true) => Ok(shop),
            (None, _) => Err(Usage("no shop is up: start one with `oversell up`".to_owned())),
            (Some((_, last)), false) => {
                let files = shops.iter().map(|(_, file)| file).chain([&last]);
                let files: Vec<_> = files.map(|file| format!("`. {}`", file.display())).collect();
                Err(Usage(format!(
                    "several shops are up: choose one with {}",
                    files.join(" or ")
                )))
            }
        }
    }

    fn read(file: &Path) -> Option<Self> {
        let text = fs::read_to_string(file).ok()?;
        let value = |variable: &str| {
            let exported = format!("export {variable}=");
            let quoted = text.lines().find_map(|line| line.strip_prefix(&exported))?;
            shlex::split(quoted)?.pop()
        };
        Self::from(value)
    }

    fn from(value: impl Fn(&str) -> Option<String>) -> Option<Self> {
        let urls = STORES
            .into_iter()
            .filter_map(|(store, variable)| Some((store, value(variable)?)));
        Some(Self {
            host: value(HOST)?,
            admins: value(ADMINS)?.split(' ').map(str::to_owned).collect(),
            admin_token: value(TOKEN)?,
            urls: urls.collect(),
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that fails may panic")]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn the_file_is_for_its_user_alone_and_brings_back_the_shop() {
        let folder = tempfile::tempdir().unwrap();
        let shop = RunningShop {
            host: "http://127.0.0.1:8080".to_owned(),
            admins: vec!["http://127.0.0.1:1".to_owned(), "http://127.0.0.1:2".to_owned()],
            admin_token: "it's a token".to_owned(),
            urls: Urls::from([("sql", "mysql://root@localhost/x?socket=/tmp/a&b".to_owned())]),
        };
        let file = shop.keep(folder.path()).unwrap();
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        let again = RunningShop::read(&file).unwrap();
        assert_eq!((again.host, again.admins), (shop.host, shop.admins));
        assert_eq!((again.admin_token, again.urls), (shop.admin_token, shop.urls));
    }
}
