//! What can happen next in a schedule.

use app::probe::Effect;
use serde::{Deserialize, Serialize};

/// What happens next: a step of a purchase or of a worker, an event, or the arrival of a late request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Choice {
    /// The purchase of this number takes its next step. After the purchases, numbered from 0, comes the second arrival of
    /// each.
    Step(usize),
    /// Every lease that a store keeps ends, as if its time were over: no renewal came.
    LeaseEnds,
    /// The work of a purchase lasts longer than a lease, and each renewal comes in time.
    SlowHolder,
    /// The process of this purchase stops for ever.
    Crash(usize),
    /// Redis comes back without its data.
    RedisEmpties,
    /// A replica of Redis takes over, without the last write.
    RedisFailsOver,
    /// The purchase of this number, from 0, arrives a second time, at the other instance.
    Repeat(usize),
    /// The purchase of this number takes its next step, and the reply to it is lost.
    LostReply(usize),
    /// The purchase of this number takes its next step, and the request is late: its connection is closed before the request
    /// arrives.
    LateRequest(usize),
    /// The oldest late request of the purchase of this number arrives.
    Arrival(usize),
    /// Time passes, and the background workers of the instance of this number, from 0, wake.
    WorkerWakes(usize),
    /// The session that holds the lock ends, while its process goes on.
    SessionEnds,
    /// A worker that is awake takes its next step, at the instance of this number.
    Work(usize),
}

/// A kind of event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EventKind {
    /// Every lease that a store keeps ends: no renewal came.
    LeaseEnds,
    /// The work of a purchase lasts longer than a lease, and each renewal comes in time.
    SlowHolder,
    /// The process of a purchase stops for ever.
    Crash,
    /// Redis comes back without its data, where stock and orders are elsewhere.
    RedisEmpties,
    /// A replica of Redis takes over, without the last write, where stock and orders are elsewhere.
    RedisFailsOver,
    /// A purchase arrives a second time, at the other instance.
    Repeat,
    /// A store or a lock service carries out a step, and the reply to it is lost.
    LostReply,
    /// A request reaches a store after its purchase has lost the connection.
    LateRequest,
    /// Time passes, the background workers of one instance wake, and their steps come between those of purchases.
    WorkerWakes,
    /// The session that holds the lock ends, while its process goes on.
    SessionEnds,
}

impl EventKind {
    /// All kinds.
    pub const ALL: [Self; 10] = [
        Self::LeaseEnds,
        Self::SlowHolder,
        Self::Crash,
        Self::RedisEmpties,
        Self::RedisFailsOver,
        Self::Repeat,
        Self::LostReply,
        Self::LateRequest,
        Self::WorkerWakes,
        Self::SessionEnds,
    ];

    /// Returns whether relays before the stores make it happen.
    pub fn is_of_relays(self) -> bool {
        matches!(self, Self::LostReply | Self::LateRequest)
    }

    /// Returns its name, as in the file of a schedule.
    pub fn name(self) -> &'static str {
        match self {
            Self::LeaseEnds => "lease-ends",
            Self::SlowHolder => "slow-holder",
            Self::Crash => "crash",
            Self::RedisEmpties => "redis-empties",
            Self::RedisFailsOver => "redis-fails-over",
            Self::Repeat => "repeat",
            Self::LostReply => "lost-reply",
            Self::LateRequest => "late-request",
            Self::WorkerWakes => "worker-wakes",
            Self::SessionEnds => "session-ends",
        }
    }
}

impl Choice {
    /// Returns the kind of the event, if it is one.
    pub fn event(self) -> Option<EventKind> {
        match self {
            Self::Step(_) | Self::Arrival(_) | Self::Work(_) => None,
            Self::LeaseEnds => Some(EventKind::LeaseEnds),
            Self::SlowHolder => Some(EventKind::SlowHolder),
            Self::Crash(_) => Some(EventKind::Crash),
            Self::RedisEmpties => Some(EventKind::RedisEmpties),
            Self::RedisFailsOver => Some(EventKind::RedisFailsOver),
            Self::Repeat(_) => Some(EventKind::Repeat),
            Self::LostReply(_) => Some(EventKind::LostReply),
            Self::LateRequest(_) => Some(EventKind::LateRequest),
            Self::WorkerWakes(_) => Some(EventKind::WorkerWakes),
            Self::SessionEnds => Some(EventKind::SessionEnds),
        }
    }

    /// Returns the one that moves, if one does.
    pub fn mover(self) -> Option<Mover> {
        match self {
            Self::Arrival(purchase) => Some(Mover::Late(purchase)),
            Self::Work(instance) => Some(Mover::Workers(instance)),
            _ => self.step().map(Mover::Purchase),
        }
    }

    /// Returns the purchase that it is about, if it is about one alone.
    pub fn purchase(self) -> Option<usize> {
        match self {
            Self::Crash(purchase) | Self::Repeat(purchase) | Self::Arrival(purchase) => Some(purchase),
            _ => self.step(),
        }
    }

    /// Returns the purchase that takes a step, if one does.
    pub fn step(self) -> Option<usize> {
        match self {
            Self::Step(purchase) | Self::LostReply(purchase) | Self::LateRequest(purchase) => Some(purchase),
            Self::LeaseEnds
            | Self::SlowHolder
            | Self::Crash(_)
            | Self::RedisEmpties
            | Self::RedisFailsOver
            | Self::Repeat(_)
            | Self::Arrival(_)
            | Self::WorkerWakes(_)
            | Self::SessionEnds
            | Self::Work(_) => None,
        }
    }
}

/// One that moves at a choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mover {
    /// The purchase of this number.
    Purchase(usize),
    /// The late requests of the purchase of this number.
    Late(usize),
    /// The workers of the instance of this number.
    Workers(usize),
}

/// One of the choices at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Possible {
    /// The choice.
    pub choice: Choice,
    /// The data that it reads and writes: everything for an event, and for a step that another actor makes possible.
    pub effect: Effect,
}

impl Possible {
    /// Returns whether this and `other` end alike and leave the same behind in either order.
    pub fn commutes_with(&self, other: &Self) -> bool {
        match (self.choice, other.choice) {
            (Choice::Step(one), Choice::Step(another)) => one != another && self.effect.commutes_with(other.effect),
            _ => false,
        }
    }
}

/// A moment at which something happens next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moment {
    /// The choices, of which there is at least one: first the purchase that took the step before, where it can go on; then
    /// workers and late requests, and events last.
    pub possible: Vec<Possible>,
    /// The one that moved before, where it could go on.
    pub going_on: Option<Mover>,
}

impl Moment {
    /// Returns whether that choice interrupts one that could go on. The arrival of a late request interrupts nobody.
    pub fn preempts(&self, choice: Choice) -> bool {
        match (choice.mover(), self.going_on) {
            (Some(Mover::Late(_)), _) => false,
            (Some(mover), Some(going_on)) => mover != going_on,
            _ => false,
        }
    }
}

/// The preemptions and the events among choices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cost {
    /// How often a purchase or a worker was interrupted that could have gone on.
    pub preemptions: usize,
    /// The events.
    pub events: usize,
}

impl Cost {
    /// Returns the cost together with that of one more choice.
    #[must_use]
    pub fn with(self, moment: &Moment, choice: Choice) -> Self {
        Self {
            preemptions: self.preemptions + usize::from(moment.preempts(choice)),
            events: self.events + usize::from(choice.event().is_some()),
        }
    }

    /// Returns whether both are within these bounds.
    pub fn is_within(self, bounds: Self) -> bool {
        self.preemptions <= bounds.preemptions && self.events <= bounds.events
    }
}

/// What the stores hold of a sale. A change that is not committed is not among it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InStores {
    /// The counter; `None` when it could not be read.
    pub stock_left: Option<i64>,
    /// The orders.
    pub orders: usize,
    /// Whether a lock has a lease that has not ended.
    pub has_lease: bool,
}

/// Decides what happens next in a schedule.
pub trait Choose: Send {
    /// Returns whether an event of that kind may come after so many events.
    fn may(&self, event: EventKind, events: usize) -> bool;

    /// Returns whether it is to be shown what the stores hold before each choice.
    fn wants_stores(&self) -> bool {
        false
    }

    /// Shows what the stores hold now.
    fn show_stores(&mut self, _stores: &InStores) {}

    /// Returns what happens next; `None` ends the schedule here, without a verdict.
    ///
    /// # Errors
    /// When a choice that has to be made is not possible.
    fn choose(&mut self, moment: &Moment) -> anyhow::Result<Option<Choice>>;
}
