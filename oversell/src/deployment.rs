//! From options to a shop: our own, started here, or one that runs elsewhere.

use std::collections::HashMap;

use anyhow::{Context, Result};
use loadtest::deployment::{Deployment, Local};
use loadtest::facts::Urls;
use loadtest::shop::Address;
use stack::{Parts, ShopOptions, Stores};
use uuid::Uuid;

use crate::options::{ForeignOptions, StackOptions};

/// Starts the stores of a shop of our own. Blocks while they start, and longer when they have to be fetched first.
///
/// # Errors
/// When a part cannot be found, fetched or started.
pub fn local(stack: &StackOptions) -> Result<Local> {
    let stores = Stores::start(&Parts {
        redis_url: stack.redis.clone(),
        sql_url: stack.sql.clone(),
        fetch: !stack.no_fetch,
    })?;
    let admin_token = Uuid::new_v4().simple().to_string();
    let options = ShopOptions {
        program: std::env::current_exe().context("this program cannot find its own file")?,
        args: vec!["serve".to_owned(), "--lab".to_owned()],
        env: vec![
            ("OVERSELL_ADMIN_TOKEN".to_owned(), admin_token.clone()),
            ("OVERSELL_LOG".to_owned(), "warn".to_owned()),
        ],
        instances: 1,
        fetch: !stack.no_fetch,
        port: None,
    };
    Ok(Local {
        stores,
        options,
        admin_token,
        running: HashMap::new(),
    })
}

/// The shop of `--host`, if one is given. Its instances are counted by who answers at its admin URLs.
///
/// # Errors
/// When nobody does, or the HTTP client cannot be built.
pub async fn foreign(foreign: &ForeignOptions, stack: &StackOptions) -> Result<Option<Deployment>> {
    let base = |url: &String| url.trim_end_matches('/').to_owned();
    let admins: Vec<String> = foreign.admin.iter().map(base).collect();
    // Whoever gives --host has to give the others, too; the command line sees to that.
    let (Some(host), Some(admin), Some(admin_token), Some(redis), Some(sql)) = (
        foreign.host.as_ref().map(base),
        admins.first().cloned(),
        foreign.admin_token.clone(),
        stack.redis.clone(),
        stack.sql.clone(),
    ) else {
        return Ok(None);
    };
    let at = Address {
        host,
        admin,
        admin_token,
    };
    let urls = Urls { redis, sql };
    Ok(Some(Deployment::foreign(at, admins, urls).await?))
}
