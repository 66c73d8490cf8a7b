//! Whether a purchase that pauses would find anything new: without a step of another purchase it would try the same again.

use app::probe::{Step, WORK, WaitsFor};

use crate::arrivals::Arrivals;

/// What each purchase has not seen yet.
#[derive(Debug)]
pub struct News {
    /// For each arrival, whether something came from others since it last went on from a pause.
    is_there: Vec<bool>,
    retries: Vec<Retry>,
}

/// The steps of a purchase since its last pause, and those between that pause and the one before.
#[derive(Clone, Debug, Default)]
struct Retry {
    steps: Vec<&'static str>,
    before: Vec<&'static str>,
}

impl News {
    /// Begins a schedule, at which each purchase has arrived once.
    pub fn new(arrivals: Arrivals) -> Self {
        Self {
            is_there: vec![false; arrivals.count()],
            retries: vec![Retry::default(); arrivals.count()],
        }
    }

    /// Returns whether this next step of a purchase may lead further.
    pub fn is_useful(&self, purchase: usize, step: &Step) -> bool {
        !is_pause(step) || self.is_there[purchase]
    }

    /// Notes that a purchase takes this step.
    pub fn take(&mut self, purchase: usize, step: &Step) {
        // Two that retry in turn would be news to each other for ever.
        if !self.retries[purchase].is_futile(step) {
            self.tell_others(Some(purchase));
        }
        if is_pause(step) {
            self.is_there[purchase] = false;
        }
    }

    /// Notes that an event came: it is news to all.
    pub fn take_event(&mut self) {
        self.tell_others(None);
    }

    fn tell_others(&mut self, by: Option<usize>) {
        for (number, is_there) in self.is_there.iter_mut().enumerate() {
            *is_there |= Some(number) != by;
        }
    }
}

impl Retry {
    /// Takes a step. Returns whether the purchase does what it did before its last pause.
    fn is_futile(&mut self, step: &Step) -> bool {
        if is_pause(step) {
            self.before = std::mem::take(&mut self.steps);
            return true;
        }
        self.steps.push(step.name);
        !self.before.is_empty() && self.before.starts_with(&self.steps)
    }
}

/// Returns whether the step is the pause before another attempt.
pub fn is_pause(step: &Step) -> bool {
    step.waits_for == Some(WaitsFor::Time) && step.name != WORK.name
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRY: Step = Step::command("try", &["SET"]);
    const READ: Step = Step::command("read", &["GET"]);
    const PAUSE: Step = Step::sleep("pause");

    #[test]
    fn two_that_retry_in_turn_are_no_news_to_each_other() {
        let mut news = News::new(Arrivals {
            purchases: 3,
            instances: 2,
        });
        for purchase in [1, 2] {
            news.take(purchase, &TRY);
            news.take(purchase, &PAUSE);
        }
        assert!(
            news.is_useful(1, &PAUSE),
            "the first attempt of another purchase is news"
        );
        for purchase in [1, 2, 1] {
            news.take(purchase, &TRY);
            news.take(purchase, &PAUSE);
        }
        assert!(!news.is_useful(1, &PAUSE) && !news.is_useful(2, &PAUSE));
        news.take(0, &READ);
        assert!(news.is_useful(1, &PAUSE) && news.is_useful(2, &PAUSE));
    }
}
