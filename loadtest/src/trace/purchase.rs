//! The events of all instances, in the order of the clock, put together to purchases and their steps.

use std::collections::HashMap;

use super::event::{Event, InstanceTrace, Role};

/// The actor that is a purchase itself; any other works beside it or for many of them.
const PURCHASE: &str = "purchase";

/// What all instances wrote down of one sale.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    /// Each delivery that an instance carried out, in the order in which they began.
    pub purchases: Vec<TracedPurchase>,
}

/// One delivery of a purchase, as an instance carried it out.
#[derive(Clone, Debug)]
pub struct TracedPurchase {
    /// Where.
    pub instance: String,
    /// Who buys.
    pub buyer: String,
    /// The id that its order has or would have.
    pub order: Option<String>,
    /// Whether the instance began another life after this one.
    pub is_life_over: bool,
    /// What it did, one after the other; at least one.
    pub steps: Vec<Step>,
}

/// One step of a purchase.
#[derive(Clone, Debug)]
pub struct Step {
    /// The shop's name for it.
    pub name: String,
    /// The role that it plays, if any.
    pub role: Option<Role>,
    /// When it began, in nanoseconds.
    pub began_ns: u64,
    /// How it ended; `None` where it never did.
    pub end: Option<End>,
}

/// The end of a step.
#[derive(Clone, Debug)]
pub struct End {
    /// When it was over, in nanoseconds.
    pub at_ns: u64,
    /// What came back, in a few words.
    pub said: String,
}

impl Trace {
    /// Puts the traces of all instances together; `None` when their clocks cannot be compared.
    pub fn of(instances: Vec<InstanceTrace>) -> Option<Self> {
        let clock = instances.first()?.clock.clone();
        let is_shared = instances.iter().all(|instance| instance.clock == clock);
        if !is_shared || clock.is_none() && instances.len() > 1 {
            return None;
        }
        let mut purchases: Vec<TracedPurchase> = instances.into_iter().flat_map(purchases).collect();
        purchases.sort_by_key(TracedPurchase::began_ns);
        Some(Self { purchases })
    }
}

/// What purchases did at one instance.
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
        if event.actor != PURCHASE {
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
            });
        }
        purchases[place].takes(event);
    }
    purchases.retain(|purchase| !purchase.steps.is_empty());
    purchases
}

impl TracedPurchase {
    fn takes(&mut self, event: Event) {
        match event.said {
            None => self.steps.push(Step {
                name: event.step,
                role: event.role,
                began_ns: event.at_ns,
                end: None,
            }),
            Some(said) => {
                // One actor takes one step at a time: an end without its begin belongs to nothing.
                let open = self.steps.last_mut();
                if let Some(step) = open.filter(|step| step.end.is_none() && step.name == event.step) {
                    step.end = Some(End {
                        at_ns: event.at_ns,
                        said,
                    });
                }
            }
        }
    }

    /// When its first step began, in nanoseconds.
    pub fn began_ns(&self) -> u64 {
        self.steps.first().map_or(0, |step| step.began_ns)
    }

    /// When the last that is known of it happened, in nanoseconds.
    pub fn last_ns(&self) -> u64 {
        self.steps.last().map_or(0, Step::last_ns)
    }

    /// The last step that plays `role`.
    pub fn last(&self, role: Role) -> Option<&Step> {
        self.steps.iter().rfind(|step| step.role == Some(role))
    }
}

impl Step {
    /// Its end, or its begin where it never ended, in nanoseconds.
    pub fn last_ns(&self) -> u64 {
        self.end.as_ref().map_or(self.began_ns, |end| end.at_ns)
    }

    /// What came back, in a few words; `None` where it never ended.
    pub fn said(&self) -> Option<&str> {
        self.end.as_ref().map(|end| end.said.as_str())
    }
}
