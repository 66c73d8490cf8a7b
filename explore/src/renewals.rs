//! The renewals of locks: each stands before its next step until time passes slowly enough for it.

use app::probe::Step;
use tokio::sync::oneshot;

/// A renewal that is due, or on its way.
struct Place {
    purchase: usize,
    step: Step,
    /// There until the renewal may go on.
    go: Option<oneshot::Sender<()>>,
}

impl Place {
    /// Returns whether its task has ended: then nothing waits for the sender.
    fn is_gone(&self) -> bool {
        self.go.as_ref().is_some_and(oneshot::Sender::is_closed)
    }
}

/// The places of all renewals. The time of an instance wakes them.
#[derive(Default)]
pub struct Renewals(Vec<Place>);

impl Renewals {
    /// Lets the renewal of a purchase's lock stand before a step until the receiver is told to go on.
    pub fn stand(&mut self, purchase: usize, step: Step) -> oneshot::Receiver<()> {
        let (go, gone) = oneshot::channel();
        self.0.push(Place {
            purchase,
            step,
            go: Some(go),
        });
        gone
    }

    /// Notes that the renewal of a purchase's lock took its step.
    pub fn leave(&mut self, purchase: usize) {
        self.0.retain(|place| place.go.is_some() || place.purchase != purchase);
    }

    /// Lets the renewal of the first purchase go on. Returns the purchase and the step; `None` where no renewal stands before
    /// one.
    pub fn allow(&mut self) -> Option<(usize, Step)> {
        self.0.retain(|place| !place.is_gone());
        let standing = self.0.iter_mut().filter(|place| place.go.is_some());
        let next = standing.min_by_key(|place| place.purchase)?;
        next.go.take()?.send(()).ok()?;
        Some((next.purchase, next.step))
    }

    /// Returns the steps at which renewals are.
    pub fn under_way(&self) -> impl Iterator<Item = Step> {
        let at = self.0.iter().filter(|place| place.go.is_none());
        at.map(|place| place.step)
    }
}
