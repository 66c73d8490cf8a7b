//! One round: its sale, its load and its verdict.

use std::time::Instant;

use anyhow::{Error, Result};
use futures_util::{StreamExt, TryStreamExt, stream};
use loadtest::shop::response::ResponseKind;
use tokio::sync::oneshot;

use crate::description::{Answer, Fault};
use crate::fault::Answered;
use crate::judged::{ItemSold, Sold, Told};
use crate::round::{Load, Round, Seen, Window};
use crate::sale::Sale;
use crate::session::Session;
use crate::trial::Trial;
use crate::volley::{Raced, volley};

/// The buyers that are made ready at a time.
const AT_ONCE: usize = 8;

/// The most buyers that come one at a time.
pub const MOST_LATER: usize = 50;

impl Trial {
    /// Plays one round. `progress` is called with the buyers that are ready, and with their number. When `stop` ends first, the
    /// round does, too, and is `None`. The sale is closed in any case.
    ///
    /// # Errors
    /// When the sale cannot be opened or closed, or a buyer cannot be made ready, or stock or orders cannot be read.
    pub async fn play(
        &self,
        load: Load,
        progress: impl Fn(usize, usize),
        stop: impl Future<Output = ()>,
    ) -> Result<Option<Round>> {
        let sale = self.next_sale();
        self.closing(&sale, self.sell(load, &sale, progress), stop).await
    }

    async fn sell(&self, load: Load, sale: &Sale, progress: impl Fn(usize, usize)) -> Result<Round> {
        let before = self.open(sale).await?;
        let mut seen = Seen::default();
        let raced = match load {
            Load::OneByOne => Vec::new(),
            Load::InTurn(buyers) => {
                let mut told = Vec::new();
                for session in self.all_ready(sale, buyers, &progress).await? {
                    told.push(self.buy(&session, &mut seen.unclear).await);
                }
                told
            }
            Load::Race {
                buyers,
                clicks,
                has_fault,
            } => {
                let sessions = self.all_ready(sale, buyers, &progress).await?;
                let fault = self.description.fault.as_ref().filter(|_| has_fault);
                self.race(sale, sessions, clicks, fault, &mut seen).await?
            }
        };
        let healed = Instant::now();
        let mut reading = self.settled(sale).await?;
        let is_out = reading.iter().any(|item| item.left <= 0);
        let is_over = is_out && raced.iter().any(|told| told.kind == ResponseKind::SoldOut);
        let mut later = Vec::new();
        if !is_over {
            later = self.come_later(sale, &mut seen.unclear).await?;
            reading = self.settled(sale).await?;
        }
        let names = self.description.item.iter().map(|item| item.name.clone());
        let items = names.zip(reading).zip(&before).map(|((name, after), before)| ItemSold {
            name,
            left: after.left,
            orders: after.orders.since(&before.orders),
        });
        let sold = Sold {
            stock: self.description.sale.stock,
            is_race: matches!(load, Load::Race { .. }) && raced.len() > 1,
            raced,
            later,
            items: items.collect(),
            fault: seen.struck.as_ref().map(|struck| struck.seen(healed)),
        };
        Ok(Round::of(load, &sold, seen))
    }

    /// Releases the raced requests of these buyers at one moment, and does the fault meanwhile.
    async fn race(
        &self,
        sale: &Sale,
        sessions: Vec<Session>,
        clicks: usize,
        fault: Option<&Fault>,
        seen: &mut Seen,
    ) -> Result<Vec<Told>> {
        let (refused, sessions): (Vec<_>, Vec<_>) = sessions.into_iter().partition(|session| session.is_refused);
        let mut all: Vec<_> = refused
            .iter()
            .map(|session| self.refused(session, Instant::now()))
            .collect();
        let clicks_of = sessions.iter().flat_map(|session| std::iter::repeat_n(session, clicks));
        let requests = clicks_of.map(|session| session.fill(&self.description.race));
        let requests = requests.collect::<Result<_>>()?;
        let (tell, released) = oneshot::channel();
        let strike = async {
            match fault {
                Some(fault) => self.strike(fault, sale, released).await,
                None => Ok(None),
            }
        };
        let (volley, done) = tokio::join!(volley(requests, &self.trust, tell), strike);
        let (volley, done) = (volley?, done?);
        self.restore(sale).await?;
        seen.window = Some(Window {
            us: u64::try_from(volley.window.as_micros()).unwrap_or(u64::MAX),
            is_http2: volley.is_http2,
        });
        let mut answered = None::<Answered>;
        for (session, answers) in sessions.iter().zip(volley.raced.chunks(clicks)) {
            let told = answers.iter().map(|raced| {
                let Raced { sent, ended, answer } = raced;
                let told = self.told(session, answer.as_ref(), (*sent, *ended), &mut seen.unclear);
                Answered::add(&mut answered, *ended, told.kind);
                told
            });
            all.extend(once(told.collect()));
        }
        let struck = fault.zip(done).zip(answered);
        seen.struck = struck.map(|((fault, done), answered)| done.struck(fault.in_words(&sale.values), answered));
        Ok(all)
    }

    /// Makes so many buyers ready.
    async fn all_ready(&self, sale: &Sale, buyers: usize, progress: &impl Fn(usize, usize)) -> Result<Vec<Session>> {
        let ready = stream::iter(0..buyers).map(|_| self.ready(sale)).buffered(AT_ONCE);
        let counted = ready.enumerate().map(|(at, session)| {
            progress(at + 1, buyers);
            session
        });
        counted.try_collect().await
    }

    /// Lets a buyer who is ready send the raced request alone.
    async fn buy(&self, session: &Session, unclear: &mut Option<String>) -> Told {
        let sent = Instant::now();
        if session.is_refused {
            return self.refused(session, sent);
        }
        let answer = session.send(&self.description.race).await;
        let answer = answer.as_ref().map(|(answer, _)| answer);
        self.told(session, answer, (sent, Instant::now()), unclear)
    }

    /// Returns what a buyer knows who was told sold out before the raced request.
    fn refused(&self, session: &Session, at: Instant) -> Told {
        Told {
            buyer: self.tie(&session.values),
            kind: ResponseKind::SoldOut,
            sent: at,
            ended: at,
        }
    }

    /// Lets buyers come one at a time until one is told sold out.
    async fn come_later(&self, sale: &Sale, unclear: &mut Option<String>) -> Result<Vec<Told>> {
        let most = usize::try_from(self.description.sale.stock)
            .unwrap_or(MOST_LATER)
            .saturating_add(1);
        let mut later = Vec::new();
        for _ in 0..most.min(MOST_LATER) {
            let session = self.ready(sale).await?;
            let told = self.buy(&session, unclear).await;
            let is_over = told.kind == ResponseKind::SoldOut;
            later.push(told);
            if is_over {
                break;
            }
        }
        Ok(later)
    }

    fn told(
        &self,
        session: &Session,
        answer: Result<&Answer, &Error>,
        (sent, ended): (Instant, Instant),
        unclear: &mut Option<String>,
    ) -> Told {
        let known = |answer| self.description.answers.kind(answer);
        let kind = answer.map_or(ResponseKind::Unknown, known);
        if kind == ResponseKind::Unknown && unclear.is_none() {
            let shown = answer.map_or_else(|error| self.hidden(&format!("{error:#}")), |answer| self.shown(answer));
            *unclear = Some(shown);
        }
        Told {
            buyer: self.tie(&session.values),
            kind,
            sent,
            ended,
        }
    }
}

/// Returns what a buyer knows after several clicks: any of them may have bought, and then the others say nothing.
fn once(mut told: Vec<Told>) -> Option<Told> {
    let sold = told.iter().position(|told| told.kind == ResponseKind::Sold);
    let unknown = || told.iter().position(|told| told.kind == ResponseKind::Unknown);
    let place = sold.or_else(unknown).unwrap_or_default();
    (place < told.len()).then(|| told.swap_remove(place))
}
