//! The sale of a round: how it is opened and closed, and how its buyers are made ready.

use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::{Context, Result, ensure};

use crate::description::{Change, Values};
use crate::ledger;
use crate::reading::Reading;
use crate::session::Session;
use crate::trial::Trial;

/// A sale that is open.
pub struct OpenSale {
    /// The values that every buyer has.
    pub(crate) values: Values,
    run: String,
    buyers: AtomicU64,
    /// What was read when it was opened.
    pub before: Reading,
}

impl OpenSale {
    /// Returns the values of another buyer.
    fn next_buyer(&self) -> Values {
        let number = self.buyers.fetch_add(1, Ordering::Relaxed);
        let mut values = self.values.clone();
        values.insert("buyer".to_owned(), format!("{}-{number}", self.run));
        values.insert("number".to_owned(), number.to_string());
        values
    }
}

impl Trial {
    /// Opens a sale.
    pub(crate) async fn open(&self) -> Result<OpenSale> {
        let round = self.rounds.fetch_add(1, Ordering::Relaxed);
        let run = format!("{}-{round}", self.run);
        let stock = self.description.sale.stock;
        let values = [("item", format!("item-{run}")), ("stock", stock.to_string())];
        let values: Values = values.map(|(name, value)| (name.to_owned(), value)).into();
        self.change(&self.description.sale.open, &values)
            .await
            .context("the sale could not be opened")?;
        let before = self.read(&values).await?;
        ensure!(
            before.left == stock,
            "[stock] says {} after the sale was opened, and sale.stock is {stock}",
            before.left
        );
        Ok(OpenSale {
            values,
            run: format!("buyer-{run}"),
            buyers: AtomicU64::new(1),
            before,
        })
    }

    pub(crate) async fn close(&self, sale: &OpenSale) -> Result<()> {
        self.change(&self.description.sale.close, &sale.values).await
    }

    /// Makes a buyer ready: everything but the raced request.
    pub(crate) async fn ready(&self, sale: &OpenSale) -> Result<Session> {
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
    pub(crate) fn arrive(&self, sale: &OpenSale) -> Result<Session> {
        Session::new(&self.base, &self.trust, sale.next_buyer())
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
