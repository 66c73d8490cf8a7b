//! The sale of a round: how it is opened and closed, and how its buyers are made ready.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, ensure};
use tokio::time::timeout;

use crate::description::{Change, Template, Values};
use crate::ledger;
use crate::reading::Reading;
use crate::session::Session;
use crate::trial::Trial;

/// The longest time to close a sale whose round failed or was stopped.
pub const CLOSE_WITHIN: Duration = Duration::from_secs(10);

/// The sale of one round.
pub struct Sale {
    /// The values that every buyer has.
    pub(crate) values: Values,
    run: String,
    buyers: AtomicUsize,
    /// Whether the fault has begun, and nothing was made good again.
    pub(crate) is_struck: AtomicBool,
}

impl Sale {
    /// Returns the values of another buyer, with those of its turn.
    fn next_buyer(&self, turns: &BTreeMap<String, Vec<Template>>) -> Values {
        let number = self.buyers.fetch_add(1, Ordering::Relaxed);
        let mut values = self.values.clone();
        for (name, all) in turns {
            let turn = all.get((number - 1) % all.len());
            values.extend(turn.map(|value| (name.clone(), value.filled(&self.values))));
        }
        values.insert("buyer".to_owned(), format!("{}-{number}", self.run));
        values.insert("number".to_owned(), number.to_string());
        values
    }
}

impl Trial {
    /// Returns another sale, which is not open yet.
    pub(crate) fn next_sale(&self) -> Sale {
        let round = self.rounds.fetch_add(1, Ordering::Relaxed);
        let run = format!("{}-{round}", self.run);
        let stock = self.description.sale.stock;
        let values = [("item", format!("item-{run}")), ("stock", stock.to_string())];
        Sale {
            values: values.map(|(name, value)| (name.to_owned(), value)).into(),
            run: format!("buyer-{run}"),
            buyers: AtomicUsize::new(1),
            is_struck: AtomicBool::new(false),
        }
    }

    /// Opens a sale. Returns what is read of each item then.
    pub(crate) async fn open(&self, sale: &Sale) -> Result<Vec<Reading>> {
        let stock = self.description.sale.stock;
        self.ready_for(&sale.values).await?;
        self.change(&self.description.sale.open, &sale.values)
            .await
            .context("the sale could not be opened")?;
        let before = self.read(&sale.values).await?;
        for (item, Reading { left, .. }) in self.description.item.iter().zip(&before) {
            let part = item.part("stock");
            ensure!(
                *left == stock,
                "{part} says {left} after the sale was opened, and sale.stock is {stock}"
            );
        }
        Ok(before)
    }

    /// Does work that opens a sale, and closes the sale, also when the work fails or is stopped: it may have opened a part of the
    /// sale by then. Returns `None` for work that was stopped.
    pub(crate) async fn closing<T>(
        &self,
        sale: &Sale,
        work: impl Future<Output = Result<T>>,
        stop: impl Future<Output = ()>,
    ) -> Result<Option<T>> {
        let done = tokio::select! {
            biased;
            () = stop => Ok(None),
            done = work => done.map(Some),
        };
        let close = async {
            // What closes the sale may need the shop.
            let restored = self.restore(sale).await;
            let closed = self.change(&self.description.sale.close, &sale.values).await;
            closed.context("the sale could not be closed").and(restored)
        };
        let closed = if matches!(done, Ok(Some(_))) {
            close.await
        } else {
            let in_time = timeout(CLOSE_WITHIN, close).await;
            let late = || anyhow!("the sale could not be closed within {} s", CLOSE_WITHIN.as_secs());
            in_time.unwrap_or_else(|_| Err(late()))
        };
        match (done, closed) {
            (Err(error), Err(closed)) => Err(anyhow!("{error:#}; {closed:#}")),
            (done, closed) => closed.and(done),
        }
    }

    /// Makes a buyer ready: everything but the raced request.
    pub(crate) async fn ready(&self, sale: &Sale) -> Result<Session> {
        let mut session = self.arrive(sale)?;
        for step in &self.description.buyer {
            if session.take(step).await.context("a buyer could not be made ready")? {
                session.is_refused = true;
                break;
            }
        }
        Ok(session)
    }

    /// Returns the session of another buyer, who has sent nothing yet.
    pub(crate) fn arrive(&self, sale: &Sale) -> Result<Session> {
        Session::new(&self.base, &self.trust, sale.next_buyer(&self.description.turns))
    }

    async fn change(&self, changes: &[Change], values: &Values) -> Result<()> {
        for change in changes {
            match change {
                Change::Request(step) => {
                    let mut session = Session::new(&self.base, &self.trust, values.clone())?;
                    session.take(step).await?;
                }
                Change::Statement(statement) => {
                    let text = statement.write.filled(values);
                    let written = ledger::write(&self.store(statement.store.as_ref()), &text).await;
                    written.with_context(|| format!("`{}`", statement.write.hidden(values)))?;
                }
            }
        }
        Ok(())
    }
}
