//! Receives the handoffs of one server to this process.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use redis::aio::PubSub;
use redis::{Client, Value};
use tokio::time::error::Elapsed;
use tokio::time::{sleep, timeout};

use crate::error::Error;
use crate::hook::{Operation, in_words, observed};
use crate::scripts::{Handoff, channel};
use crate::shared::Shared;
use crate::wire::in_time;

/// Silence after which a PING checks the subscription: nobody closes a connection that died silently.
pub(crate) const QUIET: Duration = Duration::from_secs(1);

/// Pause before the next attempt to subscribe.
const AGAIN_AFTER: Duration = Duration::from_millis(100);

/// Opens a separate connection, and subscribes to the channel of this process.
pub(crate) async fn subscribe(client: &Client, shared: &Shared) -> Result<PubSub, Error> {
    let channel = channel(&shared.process);
    let hook = shared.settings.hook.as_deref();
    let words = |answer: &Result<PubSub, Error>| in_words(answer, |_| "listening");
    let subscribing = async {
        let mut subscriber = client.get_async_pubsub().await?;
        subscriber.subscribe(&channel).await?;
        Ok(subscriber)
    };
    let subscribed = async { Ok(in_time(shared.settings.answer_within, subscribing).await?) };
    observed(hook, Operation::Subscribe, &channel, subscribed, words).await
}

/// Receives handoffs, and subscribes again whenever a subscription ends.
pub(crate) async fn listen(client: Client, shared: Arc<Shared>, mut subscription: PubSub) {
    loop {
        receive(&shared, subscription).await;
        subscription = loop {
            match subscribe(&client, &shared).await {
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
            Ok(Some(message)) => deliver(shared, message.get_payload_bytes()),
            Ok(None) => return,
            Err(_) => {
                let words = |answer: &Result<(), Error>| in_words(answer, |()| "alive");
                let within = shared.settings.answer_within;
                let ping = async { Ok(in_time(within, subscription.ping::<Value>()).await.map(drop)?) };
                if observed(hook, Operation::Ping, &channel, ping, words).await.is_err() {
                    return;
                }
            }
        }
    }
}

/// Takes over the lock of a message.
pub(crate) fn deliver(shared: &Arc<Shared>, message: &[u8]) {
    if let Some(handoff) = std::str::from_utf8(message).ok().and_then(Handoff::parse) {
        shared.own(&handoff, None);
    }
}

/// Describes what came within [`QUIET`].
pub(crate) fn received_in_words<T>(received: &Result<Option<T>, Elapsed>) -> &'static str {
    match received {
        Ok(Some(_)) => "a handoff",
        Ok(None) => "connection lost",
        Err(_) => "nothing",
    }
}
