//! The side of a worker.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use reqwest::{Client, StatusCode};
use tokio::time::sleep;

use super::answers::ToldShare;
use super::share::Share;
use crate::attack::{Attack, Crowd};
use crate::facts::{LedgerReader, Urls};
use crate::http;
use crate::market::Market;
use crate::shop::{Address, ShopClient};

/// How long the run may take to be there at the beginning.
const THERE_WITHIN: Duration = Duration::from_secs(120);

/// After which it is asked again.
const AGAIN_AFTER: Duration = Duration::from_millis(500);

/// How long an answer to a question may take, which the run leaves open for a while.
const PATIENCE: Duration = Duration::from_secs(60);

/// The longest share that is read, in bytes.
const MAX_SHARE: usize = 1024 * 1024;

/// Takes shares of the run that listens at the base URL `run`, with this token, until that is over.
///
/// # Errors
/// When nobody listens there, the token is wrong, or a share cannot be played.
pub async fn work(run: &str, token: &str) -> Result<()> {
    let client = http::keeping_connections(PATIENCE)?;
    let since = Instant::now();
    let (mut crowd, mut has_come) = (None, false);
    loop {
        let asked = client.post(format!("{run}/shares")).bearer_auth(token).send().await;
        let answer = match asked {
            Ok(answer) => answer,
            Err(_) if !has_come && since.elapsed() < THERE_WITHIN => {
                sleep(AGAIN_AFTER).await;
                continue;
            }
            Err(error) => return Err(error).with_context(|| format!("no run is listening for workers at {run}")),
        };
        has_come = true;
        match answer.status() {
            StatusCode::OK => {
                let share = http::body(answer, MAX_SHARE).await.context("the share breaks off")?;
                let share: Share = serde_json::from_slice(&share).context("the share cannot be read")?;
                play(&client, run, token, share, &mut crowd).await?;
            }
            StatusCode::NO_CONTENT => {}
            StatusCode::GONE => break,
            StatusCode::UNAUTHORIZED => bail!("the run at {run} does not know this token"),
            status => bail!("{run}/shares answers {status}"),
        }
    }
    match crowd {
        Some(crowd) => crowd.dismiss().await,
        None => Ok(()),
    }
}

async fn play(client: &Client, run: &str, token: &str, share: Share, crowd: &mut Option<Crowd>) -> Result<()> {
    let begun = Instant::now();
    let id = share.id;
    let attack = attack(share).await?;
    if crowd.as_ref().is_none_or(|crowd| !crowd.suits(&attack))
        && let Some(other) = crowd.replace(Crowd::gather(&attack.sale.client.at.host, attack.sale.load.buyers)?)
    {
        other.dismiss().await?;
    }
    let crowd = crowd.as_mut().context("nobody is there to buy")?;
    let attacked = crowd.attack(attack, None).await?;
    let told = ToldShare::of(attacked.told, begun);
    let url = format!("{run}/shares/{id}");
    let taken = client.post(&url).bearer_auth(token).json(&told).send().await?;
    ensure!(taken.status().is_success(), "{url} answers {}", taken.status());
    Ok(())
}

async fn attack(share: Share) -> Result<Attack> {
    let client = ShopClient::new(Address {
        host: share.host.clone(),
        // Whoever only sends load opens no doors.
        admin: String::new(),
        admin_token: String::new(),
    })?;
    let known = client.strategies().await?;
    let strategy = known.into_iter().find(|strategy| strategy.name == share.strategy);
    let strategy = strategy.with_context(|| format!("{} knows no {}", share.host, share.strategy))?;
    // It looks into no store either.
    let reader = Arc::new(LedgerReader::connect(&Urls::new()).await?);
    let market = Market::new(client, &reader, &strategy, share.items, share.load).from(share.first);
    Ok(Attack {
        publics: vec![share.host],
        sale: market,
        one_at_a_time: false,
        deed: None,
    })
}
