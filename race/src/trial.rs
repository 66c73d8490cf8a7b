//! A trial of a shop: rounds, each with a sale of its own.

use std::collections::HashMap;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};

use anyhow::{Error, Result};
use futures_util::{StreamExt, TryStreamExt, stream};
use loadtest::shop::response::ResponseKind;
use loadtest::trust::Trust;
use tokio::time::sleep;
use url::Url;
use uuid::Uuid;

use crate::description::{Answer, Description, Values};
use crate::hidden::Hidden;
use crate::judged::{Orders, Sold, Told};
use crate::reading::Reading;
use crate::round::{Load, Round, Window};
use crate::sale::Sale;
use crate::session::Session;
use crate::volley::{Raced, volley};

/// The buyers that are made ready at a time.
const AT_ONCE: usize = 8;

/// The most buyers that come one at a time.
pub const MOST_LATER: usize = 50;

/// The pause between two readings. Two equal ones mean that the shop is at rest.
const READ_EVERY: Duration = Duration::from_millis(100);

/// The longest time for which stock and orders may change after the last answer.
const SETTLE_WITHIN: Duration = Duration::from_secs(5);

/// The most characters of an unclear answer that are shown.
const MAX_SHOWN: usize = 500;

/// A trial of one shop.
pub struct Trial {
    pub(crate) description: Description,
    pub(crate) base: Url,
    /// The certificates that are trusted.
    pub(crate) trust: Trust,
    hidden: Hidden,
    /// What the names of its buyers and items have in common.
    pub(crate) run: String,
    /// The number of the next round.
    pub(crate) rounds: AtomicU64,
}

impl Trial {
    /// Begins the trial of a described shop whose certificates are trusted so.
    ///
    /// # Errors
    /// None that is known.
    pub fn new(description: Description, trust: Trust) -> Result<Self> {
        let base = description.base()?;
        let hidden = Hidden::new(&description.secrets());
        let run = Uuid::new_v4().simple().to_string();
        Ok(Self {
            description,
            base,
            trust,
            hidden,
            run: run.chars().take(8).collect(),
            rounds: AtomicU64::new(1),
        })
    }

    /// Returns the base URL of the shop.
    pub fn base(&self) -> &Url {
        &self.base
    }

    /// Returns the URLs to which requests go: the base, and those of other ports or hosts.
    pub fn urls(&self) -> Vec<Url> {
        let mut urls = self.description.other_urls();
        urls.insert(0, self.base.clone());
        urls
    }

    /// Returns what the shop file does not let a verdict say.
    pub fn not_judged(&self) -> Option<&'static str> {
        match &self.description.orders {
            None => Some("no orders are read: lost, ghost and duplicate orders are not judged"),
            Some(orders) if orders.count.is_some() => Some(
                "no order is tied to a buyer: an order of another buyer than the one that was told sold is not seen",
            ),
            Some(_) => None,
        }
    }

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
        let mut unclear = None;
        let (mut raced, mut window) = (Vec::new(), None);
        if let Load::InTurn(buyers) = load {
            for session in self.all_ready(sale, buyers, &progress).await? {
                raced.push(self.buy(&session, &mut unclear).await);
            }
        }
        if let Load::Race { buyers, clicks } = load {
            let sessions = self.all_ready(sale, buyers, &progress).await?;
            let (refused, sessions): (Vec<_>, Vec<_>) = sessions.into_iter().partition(|session| session.is_refused);
            raced.extend(refused.iter().map(|session| self.refused(session, Instant::now())));
            let clicks_of = sessions.iter().flat_map(|session| std::iter::repeat_n(session, clicks));
            let requests = clicks_of.map(|session| session.fill(&self.description.race));
            let volley = volley(requests.collect::<Result<_>>()?, &self.trust).await?;
            window = Some(Window {
                us: u64::try_from(volley.window.as_micros()).unwrap_or(u64::MAX),
                is_http2: volley.is_http2,
            });
            for (session, answers) in sessions.iter().zip(volley.raced.chunks(clicks)) {
                let told = answers.iter().map(|raced| {
                    let Raced { sent, ended, answer } = raced;
                    self.told(session, answer.as_ref(), (*sent, *ended), &mut unclear)
                });
                raced.extend(once(told.collect()));
            }
        }
        let mut reading = self.settled(sale).await?;
        let is_over = raced.iter().any(|told| told.kind == ResponseKind::SoldOut) && reading.left <= 0;
        let mut later = Vec::new();
        if !is_over {
            later = self.come_later(sale, before.left, &mut unclear).await?;
            reading = self.settled(sale).await?;
        }
        let Reading { left, orders } = reading;
        let sold = Sold {
            stock: before.left,
            is_race: matches!(load, Load::Race { .. }) && raced.len() > 1,
            raced,
            later,
            left,
            orders: new_orders(&before.orders, orders),
        };
        let has_orders = self.description.orders.is_some();
        Ok(Round::of(load, &sold, window, unclear, has_orders))
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
    async fn come_later(&self, sale: &Sale, stock: i64, unclear: &mut Option<String>) -> Result<Vec<Told>> {
        let most = usize::try_from(stock).unwrap_or(MOST_LATER).saturating_add(1);
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

    /// Returns what stands in an order for the buyer with these values.
    pub(crate) fn tie(&self, values: &Values) -> String {
        let named = self
            .description
            .orders
            .as_ref()
            .and_then(|orders| orders.buyer.as_ref());
        named.map_or_else(|| values["buyer"].clone(), |named| named.filled(values))
    }

    /// Returns an answer in one line, without secrets.
    pub(crate) fn shown(&self, answer: &Answer) -> String {
        let body: String = answer.body.split_whitespace().collect::<Vec<_>>().join(" ");
        let location = answer
            .location
            .as_ref()
            .map_or_else(String::new, |to| format!(", to {to}"));
        let shown = self.hidden(&format!("status {}{location}: {body}", answer.status));
        let plain = shown.chars().filter(|letter| !letter.is_control());
        plain.take(MAX_SHOWN).collect()
    }

    /// Returns a text without the values that came from the environment.
    pub(crate) fn hidden(&self, text: &str) -> String {
        self.hidden.in_text(text)
    }

    /// Reads until two readings agree: the shop may still be at work.
    pub(crate) async fn settled(&self, sale: &Sale) -> Result<Reading> {
        let deadline = Instant::now() + SETTLE_WITHIN;
        let mut last = self.read(&sale.values).await?;
        loop {
            sleep(READ_EVERY).await;
            let now = self.read(&sale.values).await?;
            if now == last || Instant::now() >= deadline {
                return Ok(now);
            }
            last = now;
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

/// Returns the orders that were not there before.
pub(crate) fn new_orders(before: &Orders, after: Orders) -> Orders {
    match (before, after) {
        (Orders::Tied(before), Orders::Tied(mut after)) => {
            let mut old: HashMap<_, usize> = HashMap::new();
            for order in before {
                *old.entry(order).or_default() += 1;
            }
            after.retain(|order| match old.get_mut(order) {
                Some(times) if *times > 0 => {
                    *times -= 1;
                    false
                }
                _ => true,
            });
            Orders::Tied(after)
        }
        (Orders::Counted(before), Orders::Counted(after)) => Orders::Counted(after - before),
        (_, after) => after,
    }
}
