//! The way to a lock.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::oneshot::error::TryRecvError;
use tokio::sync::{oneshot, watch};
use tokio::time::{Instant, timeout_at};

use crate::around::{Act, Around, carry, in_words};
use crate::baton::Shared;
use crate::error::Error;
use crate::held::Hold;
use crate::scripts::{Place, Turn};

/// For how much longer each one in the queue waits before it looks whether the lease of a holder ended that nobody renews: the
/// first one looks soon after the end; if it does not, the next one does.
const EACH_LOOKS_LATER: Duration = Duration::from_millis(50);

/// A token that may stand in the queue. Dropped before its turn it leaves, wherever it was; dropped with it, the lock is passed on.
pub(crate) struct Ticket {
    shared: Arc<Shared>,
    name: String,
    token: String,
    turn: oneshot::Receiver<Hold>,
    listening: watch::Receiver<u64>,
}

/// Why a wait ended.
enum Woken {
    Turn(Hold),
    LookAgain,
    /// It was to have the lock after others of this process, whose lease has ended.
    TooLate,
}

impl Woken {
    fn in_words(&self) -> &'static str {
        match self {
            Self::Turn(_) => "its turn",
            Self::LookAgain => "not yet",
            Self::TooLate => "too late",
        }
    }
}

impl Ticket {
    /// A place at the desk, before anything is sent: a turn that comes before its answer finds it.
    pub(crate) fn new(shared: &Arc<Shared>, name: &str) -> Self {
        let token = shared.token();
        Self {
            turn: shared.desk().wait(&token),
            listening: shared.listening.subscribe(),
            shared: shared.clone(),
            name: name.to_owned(),
            token,
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
            let look_again = match self.is_waiting() {
                true => self.ask(is_again, around).await?,
                // Only others of this process are before it, which Redis knows.
                false => None,
            };
            let until = [look_again, deadline].into_iter().flatten().min();
            let name = self.name.clone();
            let woken = match self.turn.try_recv() {
                Ok(hold) => Woken::Turn(hold),
                Err(TryRecvError::Closed) => Woken::TooLate,
                Err(TryRecvError::Empty) => carry(around, Act::Wait, &name, self.woken(until), Woken::in_words).await,
            };
            is_again = match woken {
                Woken::Turn(hold) => return Ok(Some(hold)),
                Woken::LookAgain => true,
                Woken::TooLate => {
                    self = Self::new(&self.shared, &name);
                    false
                }
            };
            if deadline.is_some_and(|deadline| deadline <= Instant::now()) {
                return Ok(None);
            }
        }
    }

    fn is_waiting(&self) -> bool {
        self.shared.desk().is_waiting(&self.token)
    }

    /// When to look again; none when Redis gave the lock. Over another connection where this one was lost: what came through is
    /// not done twice.
    async fn ask(&mut self, is_again: bool, around: Option<&dyn Around>) -> Result<Option<Instant>, Error> {
        match self.ask_once(is_again, around).await {
            Err(error) if error.is_cut() => self.ask_once(true, around).await,
            answer => answer,
        }
    }

    async fn ask_once(&mut self, is_again: bool, around: Option<&dyn Around>) -> Result<Option<Instant>, Error> {
        self.listening.mark_unchanged();
        let sent = Instant::now();
        let (scripts, grace, batch) = (&self.shared.scripts, self.shared.grace(), self.shared.settings.batch);
        let call = scripts.acquire(&self.name, &self.token, grace, is_again, batch);
        let answer = self.shared.wire.run(&call);
        let words = |answer: &Result<Place, Error>| in_words(answer, Place::in_words);
        let place = carry(around, Act::Acquire, &self.name, answer, words).await?;
        match place {
            Place::Taken { fence } => self.own(&self.token, fence, sent),
            Place::Owner { owner, fence } => self.own(&owner, fence, sent),
            Place::Waiting { place, lease, now_us } => {
                self.shared.desk().wait_on(&self.token, sent, now_us);
                let place = u32::try_from(place).unwrap_or(u32::MAX).saturating_add(1);
                return Ok(Some(Instant::now() + lease + EACH_LOOKS_LATER.saturating_mul(place)));
            }
        }
        Ok(None)
    }

    /// Redis answered that the lock belongs to `owner`.
    fn own(&self, owner: &str, fence: u64, sent: Instant) {
        let turn = Turn {
            owner,
            fence,
            at_us: 0,
            name: &self.name,
        };
        self.shared.own(&turn, Some(sent));
    }

    async fn woken(&mut self, until: Option<Instant>) -> Woken {
        let turn_or_news = async {
            tokio::select! {
                biased;
                turn = &mut self.turn => turn.map_or(Woken::TooLate, Woken::Turn),
                _ = self.listening.changed() => Woken::LookAgain,
            }
        };
        match until {
            Some(until) => timeout_at(until, turn_or_news).await.unwrap_or(Woken::LookAgain),
            None => turn_or_news.await,
        }
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let was_waiting = self.shared.desk().leave(&self.token);
        if was_waiting {
            let (name, token) = (std::mem::take(&mut self.name), std::mem::take(&mut self.token));
            self.shared.release_unseen(name, token);
        }
    }
}
