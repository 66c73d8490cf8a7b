//! The three scripts of the lock, and the question for its holder. Each is one round trip.

use std::sync::Arc;
use std::time::Duration;

use redis::{Script, cmd};

use crate::domain::Error;
use crate::probe::{Data, Probe, Role, Step, StepValue};
use crate::stores::Redis;

pub(in crate::guards) const LOCK: Step = Step::command("lock", &["EVALSHA"]).writes(Data::LOCK).plays(Role::Lock);
pub(in crate::guards) const RENEW: Step = Step::command("renew", &["EVALSHA"])
    .writes(Data::LOCK)
    .plays(Role::Renew);
pub(in crate::guards) const IS_HELD: Step = Step::command("is-held", &["HEXISTS"])
    .reads(Data::LOCK)
    .plays(Role::Verify);
pub(in crate::guards) const RELEASE: Step = Step::command("release", &["EVALSHA"])
    .writes(Data::LOCK)
    .plays(Role::Release);

/// The three scripts, and the server that runs them.
pub(super) struct Protocol {
    redis: Arc<Redis>,
    lock: Script,
    renew: Script,
    release: Script,
    lease: Duration,
}

impl Protocol {
    pub(super) fn new(redis: Arc<Redis>, lease: Duration) -> Self {
        Self {
            redis,
            lock: Script::new(include_str!("lock.lua")),
            renew: Script::new(include_str!("renew.lua")),
            release: Script::new(include_str!("release.lua")),
            lease,
        }
    }

    /// The length of a lease.
    pub(super) fn lease(&self) -> Duration {
        self.lease
    }

    pub(super) async fn forget(&self, key: &str) -> Result<(), Error> {
        self.redis.forget(&[key.to_owned()]).await
    }

    fn lease_ms(&self) -> u64 {
        self.lease.as_millis() as u64
    }

    /// Takes the lock or enters it again: `None`. Otherwise returns how long the present lease still runs.
    pub(super) async fn lock(&self, key: &str, owner: &str, probe: &Probe) -> Result<Option<Duration>, Error> {
        let mut call = self.lock.key(key);
        call.arg(self.lease_ms()).arg(owner);
        let left_ms: Option<i64> = probe
            .step(&LOCK, &key, self.redis.run(&call), |left_ms| match left_ms {
                None => StepValue::Taken(true).into(),
                Some(ms) => StepValue::Taken(false).with(format_args!("lease {ms} ms")),
            })
            .await?;
        Ok(left_ms.map(|ms| Duration::from_millis(ms.max(1) as u64)))
    }

    /// Renews the lease. False when `owner` no longer holds the lock.
    pub(super) async fn renew(&self, key: &str, owner: &str, probe: &Probe) -> Result<bool, Error> {
        let mut call = self.renew.key(key);
        call.arg(self.lease_ms()).arg(owner);
        let words = |renewed: &bool| if *renewed { "renewed" } else { "lock gone" };
        probe.step(&RENEW, &key, self.redis.run(&call), words).await
    }

    /// Whether `owner` holds the lock.
    pub(super) async fn is_held(&self, key: &str, owner: &str, probe: &Probe) -> Result<bool, Error> {
        let mut hexists = cmd("HEXISTS");
        hexists.arg(key).arg(owner);
        let words = |held: &bool| if *held { "still held" } else { "lock gone" };
        probe.step(&IS_HELD, &key, self.redis.send(&hexists), words).await
    }

    /// Leaves the lock once, and returns how often it is still entered; `None` when `owner` does not hold it.
    pub(super) async fn release(
        &self,
        key: &str,
        channel: &str,
        owner: &str,
        probe: &Probe,
    ) -> Result<Option<u64>, Error> {
        let mut call = self.release.key(key);
        call.key(channel).arg(self.lease_ms()).arg(owner);
        probe
            .step(&RELEASE, &key, self.redis.run(&call), |entered| match entered {
                None => "lock gone".to_owned(),
                Some(0) => "released".to_owned(),
                Some(entered) => format!("still entered {entered} times"),
            })
            .await
    }
}

#[cfg(test)]
mod tests {
    use redis::AsyncCommands;
    use redis::aio::MultiplexedConnection;
    use stack::Parts;

    use super::*;
    use crate::domain::Name;
    use crate::probe::Observers;
    use crate::services::Services;
    use crate::stores::Stores;

    const LEASE: Duration = Duration::from_secs(60);
    const KEY: &str = "lock:{sku}";
    const CHANNEL: &str = "released:{sku}";

    async fn protocol() -> (Protocol, stack::Stores) {
        let parts = Parts {
            redis_url: None,
            sql_url: None,
            fetch: true,
        };
        let servers = stack::Stores::start(&parts).unwrap();
        let instance = Name::parse("app-1").unwrap();
        let services = Services::default().with("redis", [servers.redis_url()]);
        let stores = Stores::connect(&services, &instance, LEASE).await.unwrap();
        (Protocol::new(stores.get().unwrap(), LEASE), servers)
    }

    fn probe() -> Probe {
        Probe::of_worker("test", Observers::new(Vec::new()))
    }

    async fn behind_its_back(servers: &stack::Stores) -> MultiplexedConnection {
        let client = redis::Client::open(servers.redis_url()).unwrap();
        client.get_multiplexed_async_connection().await.unwrap()
    }

    #[tokio::test]
    async fn an_owner_who_enters_twice_has_to_leave_twice() {
        let (protocol, servers) = protocol().await;
        assert_eq!(protocol.lock(KEY, "a", &probe()).await.unwrap(), None);
        assert_eq!(protocol.lock(KEY, "a", &probe()).await.unwrap(), None);
        let mut redis = behind_its_back(&servers).await;
        let entered: u64 = redis.hget(KEY, "a").await.unwrap();
        assert_eq!(entered, 2);
        assert_eq!(protocol.release(KEY, CHANNEL, "a", &probe()).await.unwrap(), Some(1));
        assert!(
            protocol.lock(KEY, "b", &probe()).await.unwrap().is_some(),
            "still held by the first"
        );
        assert_eq!(protocol.release(KEY, CHANNEL, "a", &probe()).await.unwrap(), Some(0));
        assert_eq!(protocol.lock(KEY, "b", &probe()).await.unwrap(), None);
    }

    #[tokio::test]
    async fn nobody_but_the_owner_can_prolong_or_release() {
        let (protocol, _servers) = protocol().await;
        assert!(
            !protocol.renew(KEY, "a", &probe()).await.unwrap(),
            "there is nothing to prolong"
        );
        assert_eq!(protocol.release(KEY, CHANNEL, "a", &probe()).await.unwrap(), None);
        assert_eq!(protocol.lock(KEY, "a", &probe()).await.unwrap(), None);
        assert!(!protocol.renew(KEY, "b", &probe()).await.unwrap());
        assert_eq!(protocol.release(KEY, CHANNEL, "b", &probe()).await.unwrap(), None);
        assert!(protocol.renew(KEY, "a", &probe()).await.unwrap());
    }

    #[tokio::test]
    async fn every_movement_gives_the_lock_a_whole_lease_again() {
        let (protocol, servers) = protocol().await;
        let mut redis = behind_its_back(&servers).await;
        protocol.lock(KEY, "a", &probe()).await.unwrap();
        for movement in ["renew", "lock", "release"] {
            let _: bool = redis.pexpire(KEY, 1_000).await.unwrap();
            match movement {
                "renew" => assert!(protocol.renew(KEY, "a", &probe()).await.unwrap()),
                "lock" => assert_eq!(protocol.lock(KEY, "a", &probe()).await.unwrap(), None),
                _ => assert_eq!(protocol.release(KEY, CHANNEL, "a", &probe()).await.unwrap(), Some(1)),
            }
            let left_ms: i64 = redis.pttl(KEY).await.unwrap();
            assert!(left_ms > 1_000, "{movement} left {left_ms} ms");
        }
    }
}
