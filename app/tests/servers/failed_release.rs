//! A named lock that could not be released.

use app::probe::Observers;
use app::stores::Sql;
use app::stores::sql::{WRITE, query};

use crate::harness::{LONG, PATIENT, fresh, name, services, stores, world};
use crate::locks::probe;

/// PostgreSQL refuses every statement of a transaction that has failed, the release as well.
#[tokio::test]
async fn a_lock_whose_release_is_refused_ends_with_its_connection() {
    let stores = stores();
    let world = world(&services(&stores), "app", PATIENT, Observers::new(Vec::new())).await;
    let Ok(sql) = world.sql("pg") else { return };
    let (item, probe) = (name(&fresh("item")), probe());
    let mut holder = sql.connected(&probe).await.unwrap();
    let begun = probe.step(&WRITE, &item, holder.begin(), |()| "begun").await;
    begun.unwrap();
    assert!(Sql::get_lock(&item, LONG, &probe, &mut holder).await.unwrap());
    let wrong = holder.execute(query("select 1 / 0"));
    probe.step(&WRITE, &item, wrong, |_| "done").await.unwrap_err();
    Sql::release_lock(&item, &probe, &mut holder).await.unwrap_err();
    let rolled_back = probe.step(&WRITE, &item, holder.rollback(), |()| "rolled back").await;
    rolled_back.unwrap();
    drop(holder);
    let mut next = sql.connected(&probe).await.unwrap();
    assert_eq!(next.origin().word(), "new");
    assert!(Sql::get_lock(&item, LONG, &probe, &mut next).await.unwrap());
}
