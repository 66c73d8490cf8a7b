//! One purchase takes longer than any lease, while other buyers come.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use futures_util::future::try_join_all;
use tokio::sync::SetOnce;
use tokio::time::{sleep, timeout};

use crate::attack::{AttackControl, Delivery, ResponsePair, SendOptions};
use crate::sale::Load;
use crate::shop::catalogue::Strategy;
use crate::shop::response::{Response, ResponseKind};

/// The duration of that purchase: three leases of the shop that is started here.
pub(crate) const HELD_FOR: Duration = Duration::from_secs(3);

/// The business time of a purchase whose lock must not end by itself: below a lease.
pub(crate) const BELOW_A_LEASE: Duration = Duration::from_millis(800);

/// The time after which a purchase has its lock, if it needs one, and is at work.
pub(crate) const AT_WORK_AFTER: Duration = Duration::from_millis(300);

/// Buyers that retry meanwhile. Every second one passes the proxy by, because the proxy may send the others to an
/// instance that stands still.
const COMPETITORS: usize = 4;

/// The instance of the long purchase, and the instance of the buyers that pass the proxy by.
const INSTANCES: [usize; 2] = [0, 1];

/// The pause before a buyer that was told busy retries: some shops give up long before a lease ends.
const RETRY_AFTER: Duration = Duration::from_millis(300);

/// The places of the purchases that the injection sends, the long one first.
pub(crate) fn places(load: &Load) -> Vec<usize> {
    (0..load.buyers.min(COMPETITORS + 1)).collect()
}

/// Returns a load of four waves: two for the retries, and the usual two.
pub(crate) fn load(asked: Load, _: &Strategy) -> Load {
    let two_waves = asked.two_waves();
    Load {
        requests: two_waves.requests * 2,
        ..two_waves
    }
}

/// Sends one purchase. Releases the other buyers when `is_held` completes, and lets some of them retry until the
/// purchase has its response. Returns that response, or `None` if the purchase could not be sent.
pub(crate) async fn with_competitors(
    control: &AttackControl<'_>,
    options: SendOptions,
    is_held: impl Future,
) -> Result<Option<Response>> {
    with_competitors_at(control, INSTANCES, options, is_held).await
}

/// Does the same, and lets the competitor at the other instance ask on when it has bought: nobody else is answered for as
/// long, and only answers show that the instance of the purchase stands still.
pub(crate) async fn with_competitors_that_ask(
    control: &AttackControl<'_>,
    options: SendOptions,
    is_held: impl Future,
) -> Result<Option<Response>> {
    compete(control, INSTANCES, options, is_held, true).await
}

/// Does the same with the purchase at the first of these two instances, and the buyers that pass the proxy by at the
/// second one.
pub(crate) async fn with_competitors_at(
    control: &AttackControl<'_>,
    instances: [usize; 2],
    options: SendOptions,
    is_held: impl Future,
) -> Result<Option<Response>> {
    compete(control, instances, options, is_held, false).await
}

async fn compete(
    control: &AttackControl<'_>,
    instances: [usize; 2],
    options: SendOptions,
    is_held: impl Future,
    asks: bool,
) -> Result<Option<Response>> {
    let is_over = SetOnce::new();
    let [at, elsewhere] = instances.map(Delivery::At);
    let options = SendOptions {
        delivery: at,
        ..options
    };
    let holder = async {
        let pair = control.send(0, options).await;
        // This is the only place that sets it.
        let _ = is_over.set(());
        pair
    };
    let others = async {
        is_held.await;
        control.release_buyers();
        let others = places(&control.attack.sale.load).into_iter().skip(1);
        let deliveries = [elsewhere, Delivery::Once].into_iter().cycle();
        let others = (0..).zip(others.zip(deliveries)).map(async |(nth, (place, delivery))| {
            let last = retry_while_busy(control, place, delivery, &is_over).await?;
            if let Some(sold) = last.filter(|last| last.kind == ResponseKind::Sold)
                && asks
                && nth == 0
            {
                control.ask_until(&sold, instances[1], &is_over).await;
            }
            anyhow::Ok(())
        });
        try_join_all(others).await
    };
    let (pair, others) = tokio::join!(holder, others);
    others?;
    Ok(pair?.map(|pair| pair.response))
}

/// Sends one purchase with this business time, and lets `fault` strike when it is at work. Others buy after that. Returns
/// the result of the fault, or `None` if the purchase was no longer at work when the fault had struck.
pub(crate) async fn strike_at_work<T>(
    control: &AttackControl<'_>,
    work: Duration,
    fault: impl Future<Output = Result<T>>,
) -> Result<Option<T>> {
    let at_work = SendOptions {
        work: Some(work),
        ..SendOptions::default()
    };
    let mut struck = None;
    let strike = async {
        sleep(AT_WORK_AFTER).await;
        let result = fault.await;
        struck = Some((result, Instant::now()));
    };
    let response = with_competitors(control, at_work, strike).await?;
    let (result, at) = struck.context("the fault did not strike")?;
    let result = result?;
    let was_at_work = response.is_some_and(|response| response.ended > at);
    Ok(was_at_work.then_some(result))
}

/// Buys until the response is not busy, or until the long purchase has its response. Returns the last response.
async fn retry_while_busy(
    control: &AttackControl<'_>,
    place: usize,
    delivery: Delivery,
    is_over: &SetOnce<()>,
) -> Result<Option<Response>> {
    let options = SendOptions {
        delivery,
        ..SendOptions::default()
    };
    while let Some(ResponsePair { response, .. }) = control.send(place, options.clone()).await? {
        if response.kind != ResponseKind::Busy || timeout(RETRY_AFTER, is_over.wait()).await.is_ok() {
            return Ok(Some(response));
        }
    }
    Ok(None)
}
