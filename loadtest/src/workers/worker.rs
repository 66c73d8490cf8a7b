//! The worker's side.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail, ensure};
use reqwest::{Client, StatusCode};
use tokio::time::sleep;

use super::assignment::Assignment;
use super::responses::AssignmentResponses;
use crate::attack::{Attack, Crowd};
use crate::facts::{LedgerReader, Urls};
use crate::http;
use crate::sale::sale_set::SaleSet;
use crate::shop::{Address, ShopClient};
use crate::text::why_unreadable;
use crate::trust::Trust;

/// The longest wait for the run at the beginning.
const THERE_WITHIN: Duration = Duration::from_secs(120);

/// The pause before it is asked again.
const RETRY_AFTER: Duration = Duration::from_millis(500);

/// The longest wait for an assignment, which the run delays until every worker has asked.
const PATIENCE: Duration = Duration::from_secs(60);

/// The longest assignment that is read, in bytes.
const MAX_ASSIGNMENT: usize = 1024 * 1024;

/// Takes assignments of the run at the base URL `run`, with this token, until that run is over.
///
/// # Errors
/// When no run listens there, the token is wrong, or an assignment cannot be played.
pub async fn work(run: &str, token: &str) -> Result<()> {
    let client = http::keeping_connections(PATIENCE, &Trust::System)?;
    let since = Instant::now();
    let (mut crowd, mut has_come) = (None, false);
    loop {
        let asked = client.post(format!("{run}/shares")).bearer_auth(token).send().await;
        let response = match asked {
            Ok(response) => response,
            Err(_) if !has_come && since.elapsed() < THERE_WITHIN => {
                sleep(RETRY_AFTER).await;
                continue;
            }
            Err(error) => return Err(error).with_context(|| format!("no run is listening for workers at {run}")),
        };
        has_come = true;
        match response.status() {
            StatusCode::OK => {
                let assignment = http::body(response, MAX_ASSIGNMENT)
                    .await
                    .context("the assignment is incomplete")?;
                let assignment: Assignment = serde_json::from_slice(&assignment)
                    .map_err(|error| anyhow!("the assignment cannot be read: {}", why_unreadable(&error)))?;
                play(&client, run, token, assignment, &mut crowd).await?;
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

async fn play(
    client: &Client,
    run: &str,
    token: &str,
    assignment: Assignment,
    crowd: &mut Option<Crowd>,
) -> Result<()> {
    let begun = Instant::now();
    let id = assignment.id;
    let attack = attack(assignment).await?;
    if crowd.as_ref().is_none_or(|crowd| !crowd.suits(&attack))
        && let Some(other) = crowd.replace(Crowd::gather(&attack.sale.client.at, attack.sale.load.buyers)?)
    {
        other.dismiss().await?;
    }
    let crowd = crowd.as_mut().context("there is no crowd")?;
    let attacked = crowd.attack(attack, None).await?;
    let responses = AssignmentResponses::of(attacked.responses, begun);
    let url = format!("{run}/shares/{id}");
    let taken = client.post(&url).bearer_auth(token).json(&responses).send().await?;
    ensure!(taken.status().is_success(), "{url} answers {}", taken.status());
    Ok(())
}

async fn attack(assignment: Assignment) -> Result<Attack> {
    let client = ShopClient::new(Address {
        host: assignment.host.clone(),
        // A worker sends load only and has no access to the admin listener.
        admin: String::new(),
        admin_token: String::new(),
        trust: assignment.trust,
    })?;
    let known = client.strategies().await?;
    let strategy = known.into_iter().find(|strategy| strategy.name == assignment.strategy);
    let strategy = strategy.with_context(|| format!("{} knows no {}", assignment.host, assignment.strategy))?;
    // A worker reads no store either.
    let reader = Arc::new(LedgerReader::connect(&Urls::new()).await?);
    let Assignment { items, names, load, .. } = assignment;
    let sale_set = SaleSet::new(client, &reader, &strategy, items, names, load).from(assignment.first);
    Ok(Attack {
        publics: vec![assignment.host],
        sale: sale_set,
        one_at_a_time: false,
        injection: None,
        phase: None,
    })
}
