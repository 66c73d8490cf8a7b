//! The way to a lock.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{oneshot, watch};
use tokio::time::{Instant, timeout_at};

use crate::around::{Act, Around, carry, in_words};
use crate::baton::Shared;
use crate::desk::Had;
use crate::error::Error;
use crate::held::Hold;
use crate::scripts::Place;

/// For how much longer each one in the queue waits before it looks whether the lease of a holder ended that nobody renews: the
/// first one looks soon after the end; if it does not, the next one does.
const EACH_LOOKS_LATER: Duration = Duration::from_millis(50);

/// A token that may stand in the queue. Dropped before its turn it leaves, wherever it was.
pub(crate) struct Ticket {
    shared: Arc<Shared>,
    name: String,
    token: String,
    turn: oneshot::Receiver<Had>,
    listening: watch::Receiver<u64>,
    is_settled: bool,
}

/// Why a wait ended.
enum Woken {
    Turn(Had),
    LookAgain,
}

impl Woken {
    fn in_words(&self) -> &'static str {
        match self {
            Self::Turn(_) => "its turn",
            Self::LookAgain => "not yet",
        }
    }
}

impl Ticket {
    /// A place at the desk, before anything is sent: a turn that comes before its answer finds it.
    pub(crate) fn new(shared: &Arc<Shared>, name: &str) -> Self {
        let token = shared.token();
        Self {
            turn: shared.desk().wait(name, &token),
            listening: shared.listening.subscribe(),
            shared: shared.clone(),
            name: name.to_owned(),
            token,
            is_settled: false,
        }
    }

    /// Waits for the lock. None when it has not come at the deadline; but once it is asked for it.
    pub(crate) async fn wait(
        mut self,
        deadline: Option<Instant>,
        around: Option<&dyn Around>,
    ) -> Result<Option<Hold>, Error> {
        let mut is_again = false;
        loop {
            let look_again = match self.ask(is_again, around).await? {
                Ok(had) => return Ok(Some(self.settle(had))),
                Err(look_again) => look_again,
            };
            is_again = true;
            let until = deadline.map_or(look_again, |deadline| deadline.min(look_again));
            let name = self.name.clone();
            if let Woken::Turn(had) = carry(around, Act::Wait, &name, self.woken(until), Woken::in_words).await {
                return Ok(Some(self.settle(had)));
            }
            if deadline.is_some_and(|deadline| deadline <= Instant::now()) {
                return Ok(None);
            }
        }
    }

    /// The lock, or when to look again. Over another connection where this one was lost: what came through is not done twice.
    async fn ask(&mut self, is_again: bool, around: Option<&dyn Around>) -> Result<Result<Had, Instant>, Error> {
        match self.ask_once(is_again, around).await {
            Err(error) if error.is_cut() => self.ask_once(true, around).await,
            answer => answer,
        }
    }

    async fn ask_once(&mut self, is_again: bool, around: Option<&dyn Around>) -> Result<Result<Had, Instant>, Error> {
        self.listening.mark_unchanged();
        let sent = Instant::now();
        let call = self
            .shared
            .scripts
            .acquire(&self.name, &self.token, self.shared.grace(), is_again);
        let answer = self.shared.wire.run(&call);
        let words = |answer: &Result<Place, Error>| in_words(answer, Place::in_words);
        let place = carry(around, Act::Acquire, &self.name, answer, words).await?;
        let mut desk = self.shared.desk();
        Ok(match place {
            Place::Owner { fence } => Ok(desk.have(&self.name, &self.token, fence, sent)),
            Place::Waiting { place, lease, now_us } => {
                desk.wait_on(&self.token, sent, now_us);
                let place = u32::try_from(place).unwrap_or(u32::MAX).saturating_add(1);
                Err(Instant::now() + lease + EACH_LOOKS_LATER.saturating_mul(place))
            }
        })
    }

    async fn woken(&mut self, until: Instant) -> Woken {
        let turn_or_news = async {
            tokio::select! {
                biased;
                Ok(had) = &mut self.turn => Woken::Turn(had),
                _ = self.listening.changed() => Woken::LookAgain,
            }
        };
        timeout_at(until, turn_or_news).await.unwrap_or(Woken::LookAgain)
    }

    fn settle(&mut self, had: Had) -> Hold {
        self.is_settled = true;
        Hold::new(self.shared.clone(), had)
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        if !self.is_settled {
            let (name, token) = (std::mem::take(&mut self.name), std::mem::take(&mut self.token));
            self.shared.release_unseen(name, token);
        }
    }
}
