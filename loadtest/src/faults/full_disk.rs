//! The disks of the stores of a strategy are full.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use stack::{Disk, ServerKind, ServiceKind, Stores};
use tokio::time::{sleep, timeout};

use super::restart;
use super::sql_database::{self, SqlConnection};
use crate::attack::AttackControl;
use crate::deployment::requirement::{Requirement, servers};
use crate::shop::catalogue::Strategy;
use crate::text::counted;

/// The longest wait for a write that fails, and the pause between two looks. On a busy machine purchases may come late.
const FAILED_WITHIN: Duration = Duration::from_secs(3);
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// The longest time to take what room there is.
const TAKEN_WITHIN: Duration = Duration::from_secs(2);

/// The pause before room is taken again.
const TAKE_EVERY: Duration = Duration::from_millis(50);

/// Adds orders in an open transaction until no page has room for another one. Long orders take the free pages: that has to be over
/// before delayed purchases go on. Short ones then take what is left where orders of the sold items come: in the index of items each
/// lies directly behind the orders of its item, before the short ones that came earlier. Pages of the table and of the index fill in
/// any order, so that many orders in a row have to be refused. Each order is a statement of its own: where many are undone at a time,
/// InnoDB finds no room for that, and tries again for five seconds before it ends itself.
const TAKE_ROOM_IN_MARIADB: &str = "begin not atomic
    declare refused, was_refused, added int default 0;
    declare longest varchar(64) character set utf8mb4 default repeat(_utf8mb4 0xf48fbfbf, 64);
    declare continue handler for sqlexception set refused = refused + 1;
    while refused < 5 and added < 20000 do
        set was_refused = refused;
        insert into orders (id, item, quantity, buyer, idempotency_key, instance)
            values (concat(md5(rand()), 'full'), longest, 1, longest, longest, longest);
        if refused = was_refused then set refused = 0, added = added + 1; end if;
    end while;
    set refused = 0, @place = ifnull(@place, 65535);
    while refused < 50 and @place > 0 do
        for sold in (select distinct item from orders where item not like '%!____' and item <> longest) do
            set was_refused = refused;
            insert into orders (id, item, quantity, buyer, instance)
                values (concat(md5(rand()), 'full'), concat(left(sold.item, 59), '!', lpad(hex(@place), 4, '0')), 1, '-', '-');
            if refused = was_refused then set refused = 0, @place = @place - 1; end if;
        end for;
    end while;
end";

/// The same. An order that an index refuses takes room in its table nevertheless, so that short ones are enough.
const TAKE_ROOM_IN_POSTGRES: &str = "do $$ declare added int := 0; refused int := 0; sold text; begin
    while refused < 50 and added < 100000 loop
        for sold in select distinct item from orders where item not like '%~' loop
            begin
                insert into orders (id, item, quantity, buyer, instance)
                    values (md5(random()::text) || 'full', left(sold, 63) || '~', 1, '-', '-');
                added := added + 1;
                refused := 0;
            exception when others then
                refused := refused + 1;
            end;
        end loop;
    end loop;
end $$";

/// Returns the stores of a strategy that need room on their disk for a purchase: Redis for each write, and a database for each order.
/// The nodes of a Redis Cluster and those for locks keep nothing on disk.
pub(crate) fn stores(strategy: &Strategy) -> Vec<ServiceKind> {
    let needs_room = |kind: &ServiceKind| match kind {
        ServiceKind::Redis => true,
        ServiceKind::Sql | ServiceKind::SecondSql | ServiceKind::Pg => strategy.store.orders == kind.name(),
        ServiceKind::RedisNodes | ServiceKind::Cluster | ServiceKind::ZooKeeper | ServiceKind::Etcd => false,
    };
    servers(strategy).into_iter().filter(needs_room).collect()
}

/// Returns what their disks need.
pub(crate) fn requirements(strategy: &Strategy) -> Vec<Requirement> {
    stores(strategy).into_iter().map(Requirement::Disk).collect()
}

/// Gives back to the disk of a PostgreSQL what the orders of earlier sales no longer use: to take that as well would take too long.
///
/// # Errors
///
/// When it does not answer.
pub(crate) async fn compact(control: &AttackControl<'_>) -> Result<()> {
    for kind in stores(&control.attack.sale.strategy) {
        if kind == ServiceKind::Pg {
            sql_database::execute(sql_database::url(control, kind)?, kind, &["vacuum full orders"]).await?;
        }
    }
    Ok(())
}

/// Disks without room.
pub(crate) struct FullDisks(Vec<FullDisk>);

struct FullDisk {
    kind: ServiceKind,
    disk: Disk,
    /// Whether the store has ended by itself, or does not answer.
    has_ended: bool,
    /// A transaction that has taken what room there was in a database. Its writes do not count as failed.
    taken: Option<SqlConnection>,
}

impl FullDisk {
    /// Takes what room there is in a database that still answers.
    async fn take_room(&mut self) {
        let Some(connection) = self.taken.as_mut().filter(|_| !self.has_ended) else {
            return;
        };
        // MariaDB ends itself where a rollback finds no room: "Out of disk space in rollback". Where it waits for room, it looks again
        // after a minute.
        let took = timeout(TAKEN_WITHIN, connection.execute(take_room_in(self.kind))).await;
        self.has_ended = !matches!(took, Ok(Ok(())));
    }
}

impl FullDisks {
    /// Fills the disks of the strategy under attack.
    ///
    /// # Errors
    ///
    /// When a store does not answer.
    pub(crate) async fn fill(control: &AttackControl<'_>) -> Result<FullDisks> {
        let mut disks = Vec::new();
        // Redis comes last: it is full at once, and purchases that it refuses would not meet a full database.
        for kind in stores(&control.attack.sale.strategy).into_iter().rev() {
            let disk = restart::on_stores(control, move |stores| disk(stores, kind)).await?;
            // Before the disk is full: on a busy machine connecting may take long.
            let mut taken = match kind {
                ServiceKind::Redis => None,
                _ => {
                    let mut connection = SqlConnection::open(sql_database::url(control, kind)?, kind).await?;
                    connection.execute("begin").await?;
                    Some(connection)
                }
            };
            match &mut taken {
                Some(connection) => disk.fill_without_counting(connection.thread().await?)?,
                None => disk.fill()?,
            }
            let mut full = FullDisk {
                kind,
                disk,
                has_ended: false,
                taken,
            };
            full.take_room().await;
            disks.push(full);
        }
        Ok(FullDisks(disks))
    }

    /// Keeps them full for that long: a database frees room by itself, when it removes rows that were deleted before.
    pub(crate) async fn keep_full(&mut self, time: Duration) {
        let begun = Instant::now();
        while begun.elapsed() < time {
            for full in &mut self.0 {
                full.take_room().await;
            }
            sleep(TAKE_EVERY).await;
        }
    }

    /// Returns the names of the stores, separated by commas.
    pub(crate) fn names(&self) -> String {
        let names: Vec<String> = self.0.iter().map(|full| full.kind.to_string()).collect();
        names.join(", ")
    }

    /// Makes room as soon as a write of each store has failed, or after a while, and starts those that have ended. Returns whether
    /// any write failed. Every store takes writes then.
    ///
    /// # Errors
    ///
    /// When a store does not answer.
    pub(crate) async fn make_room(self, control: &AttackControl<'_>) -> Result<bool> {
        let mut has_struck = false;
        for FullDisk {
            kind,
            disk,
            has_ended,
            taken,
        } in self.0
        {
            let (failed, has_ended) = restart::on_stores(control, move |stores| {
                let failed = failed(&disk)?;
                disk.make_room()?;
                let process = restart::process(stores, kind)?;
                let has_ended = has_ended || process.has_exited();
                // Its engine starts one that runs elsewhere.
                if has_ended && !process.is_elsewhere() {
                    process.restart()?;
                }
                process.wait_ready(restart::READY_WITHIN)?;
                if kind == ServiceKind::Redis {
                    stores.wait_until_redis_writes()?;
                }
                Ok((failed, has_ended))
            })
            .await?;
            if let Some(mut connection) = taken {
                // A connection that has ended took nothing. The rest of a rollback goes on by itself.
                let _ = timeout(TAKEN_WITHIN, connection.execute("rollback")).await;
            }
            has_struck |= failed > 0;
            if failed > 0 {
                let writes = counted(failed as usize, ["write", "writes"]);
                let end = if has_ended {
                    "; it ended by itself or did not answer, and was started again"
                } else {
                    ""
                };
                control.prove(
                    kind.name(),
                    format!("{writes} failed for lack of room on its disk{end}"),
                );
            }
        }
        Ok(has_struck)
    }
}

fn take_room_in(kind: ServiceKind) -> &'static str {
    match kind.program() {
        ServerKind::Postgres => TAKE_ROOM_IN_POSTGRES,
        _ => TAKE_ROOM_IN_MARIADB,
    }
}

fn disk(stores: &Stores, kind: ServiceKind) -> Result<Disk> {
    let disk = restart::process(stores, kind)?.disk();
    disk.cloned()
        .with_context(|| format!("the disk of {kind} cannot be full"))
}

/// Waits until a write has failed, and returns how many have.
fn failed(disk: &Disk) -> Result<u64> {
    let begun = Instant::now();
    loop {
        let failed = disk.failed()?;
        if failed > 0 || begun.elapsed() >= FAILED_WITHIN {
            return Ok(failed);
        }
        thread::sleep(LOOK_EVERY);
    }
}
