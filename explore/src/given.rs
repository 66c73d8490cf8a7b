//! A schedule whose choices are given.

use anyhow::{Result, ensure};

use crate::choice::{Choice, Choose, EventKind, Moment};

/// Makes the given choices, and after them the first that is possible.
#[derive(Debug)]
pub struct Given<'a> {
    choices: &'a [Choice],
    made: usize,
}

impl<'a> Given<'a> {
    /// Creates the schedule of these choices.
    pub fn new(choices: &'a [Choice]) -> Self {
        Self { choices, made: 0 }
    }
}

impl Choose for Given<'_> {
    fn may(&self, _event: EventKind, events: usize) -> bool {
        events < self.choices.iter().filter(|choice| choice.event().is_some()).count()
    }

    fn choose(&mut self, moment: &Moment) -> Result<Option<Choice>> {
        let given = self.choices.get(self.made).copied();
        self.made += 1;
        let Some(choice) = given else {
            return Ok(moment.possible.first().map(|possible| possible.choice));
        };
        ensure!(
            moment.possible.iter().any(|possible| possible.choice == choice),
            "{choice:?} is not possible after {} choices",
            self.made - 1
        );
        Ok(Some(choice))
    }
}
