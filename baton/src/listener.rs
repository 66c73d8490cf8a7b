//! Hears what Redis says without being asked: whose turn it is.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use redis::Msg;
use redis::aio::PubSub;
use tokio::time::error::Elapsed;
use tokio::time::{sleep, timeout};

use crate::around::{Act, carry, in_words};
use crate::baton::Shared;
use crate::error::Error;
use crate::scripts::{Turn, channel};

/// Silence after which the subscription is asked whether it still lives: one that went dead without a word hears no turn.
const QUIET: Duration = Duration::from_secs(1);

/// Pause before a lost subscription is tried again.
const AGAIN_AFTER: Duration = Duration::from_millis(100);

/// Listens for the turns of this process.
pub(crate) async fn subscribe(shared: &Shared) -> Result<PubSub, Error> {
    let channel = channel(&shared.process);
    let around = shared.settings.around.as_deref();
    let words = |answer: &Result<PubSub, Error>| in_words(answer, |_| "listening");
    carry(around, Act::Subscribe, &channel, shared.wire.listen(&channel), words).await
}

/// Hears turns, over one subscription after the other.
pub(crate) async fn listen(shared: Arc<Shared>, mut subscription: PubSub) {
    loop {
        receive(&shared, subscription).await;
        subscription = loop {
            match subscribe(&shared).await {
                Ok(subscription) => break subscription,
                Err(_) => sleep(AGAIN_AFTER).await,
            }
        };
        // Whoever was given a turn meanwhile was skipped, or does not know of it: let everybody look for themselves.
        shared.listening.send_modify(|times| *times += 1);
    }
}

/// Until the subscription has ended.
async fn receive(shared: &Arc<Shared>, mut subscription: PubSub) {
    let channel = channel(&shared.process);
    let around = shared.settings.around.as_deref();
    loop {
        let mut messages = subscription.on_message();
        let message = timeout(QUIET, messages.next());
        let heard = carry(around, Act::Receive, &channel, message, heard_in_words).await;
        drop(messages);
        match heard {
            Ok(Some(message)) => deliver(shared, &message),
            Ok(None) => return,
            Err(_) => {
                let words = |answer: &Result<(), Error>| in_words(answer, |()| "alive");
                let answer = carry(around, Act::Ping, &channel, shared.wire.ping(&mut subscription), words).await;
                if answer.is_err() {
                    return;
                }
            }
        }
    }
}

fn deliver(shared: &Arc<Shared>, message: &Msg) {
    let Ok(message) = std::str::from_utf8(message.get_payload_bytes()) else {
        return;
    };
    let Some(turn) = Turn::parse(message) else {
        return;
    };
    shared.own(&turn, None);
}

fn heard_in_words(heard: &Result<Option<Msg>, Elapsed>) -> &'static str {
    match heard {
        Ok(Some(_)) => "a turn",
        Ok(None) => "connection lost",
        Err(_) => "nothing",
    }
}
