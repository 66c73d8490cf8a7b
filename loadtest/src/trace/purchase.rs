//! The purchases of a trace and their steps, put together from the events of all instances.

use std::collections::HashMap;
use std::time::Duration;

use super::event::{Event, InstanceTrace, Role};
use super::incident::PlacedIncident;
use super::value::StepValue;
use super::work::{WorkStep, work};

/// The actor that is a purchase itself. Any other actor works beside a purchase, or for many of them.
const PURCHASE: &str = "purchase";

/// The actor that renews the lease of a purchase's lock.
const RENEWAL: &str = "renewal";

/// The trace of one sale at all instances.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    /// Every delivery of a purchase that an instance carried out, in the order of their begin.
    pub purchases: Vec<TracedPurchase>,
    /// The renewals that a task makes for all locks of its instance, with the name of the instance.
    pub shared_renewals: Vec<(String, Step)>,
    /// The other steps that background workers took for this sale.
    pub work: Vec<WorkStep>,
    /// The incidents that could be placed on the clock of the steps.
    pub incidents: Vec<PlacedIncident>,
    /// The lease of every lock that is not renewed, where the shop says so.
    pub lease: Option<Duration>,
}

/// One delivery of a purchase, as an instance carried it out.
#[derive(Clone, Debug)]
pub struct TracedPurchase {
    /// The instance.
    pub instance: String,
    /// The buyer.
    pub buyer: String,
    /// The id that its order has or would have.
    pub order: Option<String>,
    /// Whether the instance restarted after this purchase.
    pub is_life_over: bool,
    /// The steps of the purchase, one after the other; at least one.
    pub steps: Vec<Step>,
    /// The steps that renewed the lease of its lock meanwhile.
    pub renewals: Vec<Step>,
}

/// One step of a purchase.
#[derive(Clone, Debug)]
pub struct Step {
    /// The shop's name for it.
    pub name: String,
    /// The role that it plays, if any.
    pub role: Option<Role>,
    /// The object of the step; empty where it is not known.
    pub key: String,
    /// The begin, in nanoseconds.
    pub began_ns: u64,
    /// The end; `None` where the step never ended.
    pub end: Option<End>,
}

/// The end of a step.
#[derive(Clone, Debug)]
pub struct End {
    /// The time, in nanoseconds.
    pub at_ns: u64,
    /// The result, in a few words.
    pub said: String,
    /// The value in the result, if there is one.
    pub value: Option<StepValue>,
}

impl Trace {
    /// Merges the traces of all instances. Returns `None` when their clocks cannot be compared.
    pub fn of(instances: Vec<InstanceTrace>) -> Option<Self> {
        let clock = instances.first()?.clock.clone();
        let is_shared = instances.iter().all(|instance| instance.clock == clock);
        if !is_shared || clock.is_none() && instances.len() > 1 {
            return None;
        }
        let shared_renewals = instances.iter().flat_map(shared_renewals).collect();
        let work = instances.iter().flat_map(work).collect();
        let mut purchases: Vec<TracedPurchase> = instances.into_iter().flat_map(purchases).collect();
        purchases.sort_by_key(TracedPurchase::began_ns);
        Some(Self {
            purchases,
            shared_renewals,
            work,
            ..Self::default()
        })
    }
}

/// Returns the renewals at one instance that are no purchase's own.
fn shared_renewals(instance: &InstanceTrace) -> Vec<(String, Step)> {
    let is_shared = |event: &&Event| event.role == Some(Role::Renew) && event.buyer.is_none();
    let mut steps = Vec::new();
    for event in instance.events.iter().filter(is_shared) {
        add(&mut steps, event.clone());
    }
    steps
        .into_iter()
        .map(|step| (instance.instance.clone(), step))
        .collect()
}

/// Returns the purchases of one instance.
fn purchases(instance: InstanceTrace) -> Vec<TracedPurchase> {
    let mut events = instance.events;
    events.sort_by_key(|event| event.at_ns);
    let last_life = events.last().map(|event| event.life.clone());
    let mut purchases: Vec<TracedPurchase> = Vec::new();
    let mut places: HashMap<(String, u64), usize> = HashMap::new();
    for event in events {
        let (Some(number), Some(buyer)) = (event.number, event.buyer.clone()) else {
            continue;
        };
        let is_renewal = event.actor == RENEWAL;
        if event.actor != PURCHASE && !is_renewal {
            continue;
        }
        let place = *places.entry((event.life.clone(), number)).or_insert(purchases.len());
        if place == purchases.len() {
            purchases.push(TracedPurchase {
                instance: instance.instance.clone(),
                buyer,
                order: event.order.clone(),
                is_life_over: Some(&event.life) != last_life.as_ref(),
                steps: Vec::new(),
                renewals: Vec::new(),
            });
        }
        let purchase = &mut purchases[place];
        add(
            if is_renewal {
                &mut purchase.renewals
            } else {
                &mut purchase.steps
            },
            event,
        );
    }
    purchases.retain(|purchase| !purchase.steps.is_empty());
    purchases
}

/// Adds the begin or the end of a step to the steps of its actor.
fn add(steps: &mut Vec<Step>, event: Event) {
    match event.said {
        None => steps.push(Step::begun(event)),
        Some(_) => {
            // An actor takes one step at a time. An end without a begin belongs to no step.
            let open = steps.last_mut();
            if let Some(step) = open.filter(|step| step.end.is_none() && step.name == event.step) {
                step.end = End::of(event);
            }
        }
    }
}

impl TracedPurchase {
    /// Returns the begin of the first step, in nanoseconds.
    pub fn began_ns(&self) -> u64 {
        self.steps.first().map_or(0, |step| step.began_ns)
    }

    /// Returns the last known time of the purchase, in nanoseconds.
    pub fn last_ns(&self) -> u64 {
        self.steps.last().map_or(0, Step::last_ns)
    }

    /// Returns the last step that plays `role`.
    pub fn last(&self, role: Role) -> Option<&Step> {
        self.steps.iter().rfind(|step| step.role == Some(role))
    }
}

impl End {
    /// Returns the end that this event tells; `None` for a begin.
    pub(super) fn of(event: Event) -> Option<Self> {
        Some(Self {
            at_ns: event.at_ns,
            said: event.said?,
            value: event.value,
        })
    }
}

impl Step {
    /// Returns the step that begins with this event.
    pub(super) fn begun(event: Event) -> Self {
        Self {
            name: event.step,
            role: event.role,
            key: event.key,
            began_ns: event.at_ns,
            end: None,
        }
    }

    /// Returns the end of the step, or its begin where it never ended, in nanoseconds.
    pub fn last_ns(&self) -> u64 {
        self.end.as_ref().map_or(self.began_ns, |end| end.at_ns)
    }

    /// Returns the result of the step; `None` where it never ended.
    pub fn said(&self) -> Option<&str> {
        self.end.as_ref().map(|end| end.said.as_str())
    }
}
