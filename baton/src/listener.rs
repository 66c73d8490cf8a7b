//! Receives the handoffs to this process.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use redis::Msg;
use redis::aio::PubSub;
use tokio::time::error::Elapsed;
use tokio::time::{sleep, timeout};

use crate::error::Error;
use crate::hook::{Operation, in_words, observed};
use crate::scripts::{Handoff, channel};
use crate::shared::Shared;

/// Silence after which a PING checks the subscription: nobody closes a connection that died silently.
const QUIET: Duration = Duration::from_secs(1);

/// Pause before the next attempt to subscribe.
const AGAIN_AFTER: Duration = Duration::from_millis(100);

/// Subscribes to the channel of this process.
pub(crate) async fn subscribe(shared: &Shared) -> Result<PubSub, Error> {
    let channel = channel(&shared.process);
    let hook = shared.settings.hook.as_deref();
    let words = |answer: &Result<PubSub, Error>| in_words(answer, |_| "listening");
    observed(
        hook,
        Operation::Subscribe,
        &channel,
        shared.wire.subscribe(&channel),
        words,
    )
    .await
}

/// Receives handoffs, and subscribes again whenever a subscription ends.
pub(crate) async fn listen(shared: Arc<Shared>, mut subscription: PubSub) {
    loop {
        receive(&shared, subscription).await;
        subscription = loop {
            match subscribe(&shared).await {
                Ok(subscription) => break subscription,
                Err(_) => sleep(AGAIN_AFTER).await,
            }
        };
        // Handoffs of the meantime skipped a waiter of this process or went unheard: every waiter asks again.
        shared.subscriptions.send_modify(|count| *count += 1);
    }
}

async fn receive(shared: &Arc<Shared>, mut subscription: PubSub) {
    let channel = channel(&shared.process);
    let hook = shared.settings.hook.as_deref();
    loop {
        let mut messages = subscription.on_message();
        let message = timeout(QUIET, messages.next());
        let received = observed(hook, Operation::Receive, &channel, message, received_in_words).await;
        drop(messages);
        match received {
            Ok(Some(message)) => deliver(shared, &message),
            Ok(None) => return,
            Err(_) => {
                let words = |answer: &Result<(), Error>| in_words(answer, |()| "alive");
                let ping = shared.wire.ping(&mut subscription);
                if observed(hook, Operation::Ping, &channel, ping, words).await.is_err() {
                    return;
                }
            }
        }
    }
}

fn deliver(shared: &Arc<Shared>, message: &Msg) {
    let text = std::str::from_utf8(message.get_payload_bytes());
    if let Some(handoff) = text.ok().and_then(Handoff::parse) {
        shared.own(&handoff, None);
    }
}

fn received_in_words(received: &Result<Option<Msg>, Elapsed>) -> &'static str {
    match received {
        Ok(Some(_)) => "a handoff",
        Ok(None) => "connection lost",
        Err(_) => "nothing",
    }
}
