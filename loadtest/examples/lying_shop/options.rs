//! The command line and the environment.

use axum::http::HeaderValue;

use crate::lies::{self, Lie};

pub struct Options {
    pub lie: Lie,
    pub instance: String,
    pub listen: String,
    pub admin_listen: String,
    pub claims: Vec<String>,
    pub redis_url: String,
    pub sql_url: String,
    pub admin_token: String,
}

const CLAIMS: &str = "crowd,second-instance,crashed-holder";

impl Options {
    /// Parses the options; `None` for `--list`. A mistake ends the program with status 64.
    pub fn from_command_line() -> Option<Self> {
        let words: Vec<String> = std::env::args().skip(1).collect();
        if words.iter().any(|word| word == "--list") {
            return None;
        }
        let given = |flag: &str| {
            let at = words.iter().position(|word| word == flag)?;
            words.get(at + 1).cloned()
        };
        let needed = |flag: &str| given(flag).unwrap_or_else(|| usage(&format!("{flag} is missing")));
        let (name, instance) = (needed("--lie"), needed("--instance"));
        if HeaderValue::from_str(&instance).is_err() {
            usage("--instance does not fit into a header");
        }
        let claims = given("--claims").unwrap_or_else(|| CLAIMS.to_owned());
        Some(Self {
            lie: lies::find(&name).unwrap_or_else(|| usage(&format!("no lie is called {name}"))),
            instance,
            listen: needed("--listen"),
            admin_listen: needed("--admin-listen"),
            claims: claims
                .split(',')
                .filter(|claim| !claim.is_empty())
                .map(str::to_owned)
                .collect(),
            redis_url: variable("OVERSELL_REDIS_URL"),
            sql_url: variable("OVERSELL_SQL_URL"),
            admin_token: variable("OVERSELL_ADMIN_TOKEN"),
        })
    }
}

fn variable(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| usage(&format!("{name} is not set")))
}

fn usage(what: &str) -> ! {
    eprintln!("{what}; --list prints the names");
    std::process::exit(64)
}
