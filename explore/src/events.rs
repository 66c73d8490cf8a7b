//! The events of a schedule: which are possible, and how each is made to happen.

use anyhow::Result;
use app::domain::Name;
use app::probe::{Step, WORK};

use crate::arrivals::Arrivals;
use crate::choice::{Choice, EventKind, Possible};
use crate::course::with_any_effect;
use crate::play::Player;
use crate::purchases::Purchases;

impl Player {
    /// Returns the events of these kinds that are possible now, after the choices before. A purchase may arrive a second time
    /// right after its first step.
    pub(super) async fn events(
        &mut self,
        kinds: &[EventKind],
        useful: &[(usize, Step)],
        before: &[Choice],
    ) -> Result<Vec<Possible>> {
        let mut events = Vec::new();
        let (ends, is_slow) = (
            kinds.contains(&EventKind::LeaseEnds),
            kinds.contains(&EventKind::SlowHolder),
        );
        let has_leases = (ends || is_slow) && self.leases.are_there().await?;
        if ends && (self.kind.has_workers || has_leases) {
            events.push(Choice::LeaseEnds);
        }
        // Strategies with workers have no lease that is renewed.
        let is_at_work = useful.iter().any(|(_, step)| step.name == WORK.name);
        if is_slow && is_at_work && has_leases && !self.kind.has_workers {
            events.push(Choice::SlowHolder);
        }
        let holds_no_sale = !self.kind.store.contains("redis");
        if kinds.contains(&EventKind::RedisEmpties) && holds_no_sale && self.leases.has_redis_data().await? {
            events.push(Choice::RedisEmpties);
        }
        if kinds.contains(&EventKind::RedisFailsOver)
            && holds_no_sale
            && self.replica.lags(self.leases.lock_store()?).await?
        {
            events.push(Choice::RedisFailsOver);
        }
        if kinds.contains(&EventKind::Crash) {
            events.extend(useful.iter().map(|(number, _)| Choice::Crash(*number)));
        }
        if kinds.contains(&EventKind::LostReply) {
            let sent = useful.iter().filter(|(_, step)| !step.sends.is_empty());
            events.extend(sent.map(|(number, _)| Choice::LostReply(*number)));
        }
        if kinds.contains(&EventKind::LateRequest) {
            let sent = useful.iter().filter(|(_, step)| !step.sends.is_empty());
            events.extend(sent.map(|(number, _)| Choice::LateRequest(*number)));
        }
        // The second arrival takes its first step at any later moment: here it only has to be there.
        let Arrivals { purchases, instances } = self.turns.arrivals();
        if kinds.contains(&EventKind::Repeat)
            && instances > 1
            && let Some((Choice::Step(purchase), earlier)) = before.split_last()
            && *purchase < purchases
            && !earlier.contains(&Choice::Step(*purchase))
        {
            events.push(Choice::Repeat(*purchase));
        }
        Ok(events.into_iter().map(with_any_effect).collect())
    }

    /// Lets a purchase or a worker take its next step, or an event happen.
    ///
    /// # Errors
    /// When a store fails.
    pub(super) async fn carry_out(&mut self, chosen: Choice, item: &Name, purchases: &mut Purchases) -> Result<()> {
        match chosen {
            Choice::Step(purchase) => self.turns.allow(purchase),
            Choice::LostReply(purchase) => self.lose_reply(purchase).await?,
            Choice::LateRequest(purchase) => self.send_late(purchase).await?,
            Choice::Arrival(purchase) => self.let_arrive(purchase).await?,
            Choice::LeaseEnds => {
                self.let_time_pass().await?;
            }
            Choice::SessionEnds => self.sessions.end(item.as_str()).await?,
            Choice::WorkerWakes(_) => self.leases.end()?,
            Choice::Work(instance) => {
                self.turns.allow_worker(Some(instance));
            }
            Choice::SlowHolder => self.let_renewals_come().await?,
            Choice::RedisEmpties => self.leases.empty_redis().await?,
            Choice::RedisFailsOver => self.replica.take_over(self.leases.lock_store()?).await?,
            Choice::Crash(purchase) => purchases.kill(purchase, &self.turns).await?,
            Choice::Repeat(purchase) => {
                let number = self.turns.arrivals().again(purchase);
                purchases.send(number, item, &self.instances, &self.turns)?;
            }
        }
        Ok(())
    }
}
