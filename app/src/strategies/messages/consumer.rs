//! The consumer of messages: it enters each order in MariaDB once, however often its message comes.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use tokio::sync::Notify;

use super::stream::{Ask, Message, Stream};
use super::waiters::Waiters;
use crate::domain::Error;
use crate::probe::Probe;
use crate::reconciler::{End, Reconciled};
use crate::stores::Sql;

/// The consumer of one instance.
pub(super) struct Consumer {
    pub(super) stream: Stream,
    pub(super) sql: Sql,
    pub(super) waiters: Waiters,
    /// Notified when a purchase has left a message.
    pub(super) bell: Notify,
    pub(super) reconciled: Reconciled,
    pub(super) lease: Duration,
    /// How long it sleeps without a notification.
    pub(super) pause: Duration,
}

/// Runs until it is dropped.
pub(super) async fn consume(consumer: Arc<Consumer>, probe: Probe) {
    loop {
        if let Err(error) = consumer.run(&probe).await {
            tracing::warn!(%error, "messages stay in the stream for now");
        }
        // The waiters now look for their orders themselves.
        consumer.waiters.not_here(&consumer.waiters.sent());
        probe.time().sleep(consumer.pause).await;
    }
}

impl Consumer {
    async fn run(&self, probe: &Probe) -> Result<(), Error> {
        self.stream.join(probe).await?;
        let time = probe.time();
        let mut looks_back_at = time.now();
        loop {
            let is_rung = tokio::select! {
                biased;
                () = self.bell.notified() => true,
                () = time.sleep_until(looks_back_at) => false,
            };
            if time.now() >= looks_back_at {
                looks_back_at = time.now() + self.pause;
                // Received and not acknowledged: by this instance before a restart or error, and by one that is gone.
                self.enter(self.stream.receive(Ask::Own, probe).await?, true, probe)
                    .await?;
                self.enter(self.stream.claim(self.lease, probe).await?, true, probe)
                    .await?;
            }
            let sent = self.waiters.sent();
            // A message without a notification is one that its own instance has not received.
            let messages = self.stream.receive(Ask::New, probe).await?;
            self.enter(messages, !is_rung, probe).await?;
            self.waiters.not_here(&sent);
        }
    }

    /// Enters all of these orders at once: one that has to wait must not hold up the others.
    async fn enter(&self, messages: Vec<Message>, were_left: bool, probe: &Probe) -> Result<(), Error> {
        let entered = messages.iter().map(|message| self.enter_one(message, were_left, probe));
        join_all(entered).await.into_iter().collect()
    }

    async fn enter_one(&self, message: &Message, was_left: bool, probe: &Probe) -> Result<(), Error> {
        let purchase = &message.purchase;
        let probe = &probe.about(&purchase.item);
        let mut sql = self.sql.connected(probe).await?;
        // If the ledger has the order, the message has come before.
        self.sql.record(purchase, probe, &mut sql).await?;
        let is_waited_for = self.waiters.recorded(purchase.order);
        let took_ms = self.stream.ack(message, probe).await?;
        if let Some(took_ms) = took_ms.filter(|_| was_left && !is_waited_for) {
            self.reconciled
                .count(&purchase.item, End::Finished, took_ms, probe.counts());
        }
        Ok(())
    }
}
