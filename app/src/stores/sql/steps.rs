//! The steps of a sale in one transaction, and the words for their results.

use crate::probe::{Data, Role, Step, StepResult, StepValue};

/// Waits for a free connection.
pub const CONNECT: Step = Step::local("connect");
/// Begins the transaction of counter and ledger.
pub const BEGIN: Step = Step::command("begin", &["begin"]).reads(Data::NONE);
/// Sets the isolation level of the transaction.
pub const ISOLATE: Step = Step::command("isolate", &["set"]).reads(Data::NONE);
/// Looks for the order that a purchase made before.
pub const FIND: Step = Step::command("find", &["select"]).reads(Data::ALL).plays(Role::Read);
/// Enters the order.
pub const RECORD: Step = Step::command("record", &["insert"])
    .writes(Data::ORDERS)
    .plays(Role::Record);
/// Ends the transaction and keeps its changes.
pub const COMMIT: Step = Step::command("commit", &["commit"]).plays(Role::Commit);
/// Ends the transaction and takes back its changes.
pub const ROLLBACK: Step = Step::command("rollback", &["rollback"]);
/// Reads counter and ledger.
pub const READ: Step = Step::command("read", &["select"]).reads(Data::ALL).plays(Role::Read);

/// Sets the counter, whatever its value is now.
pub const WRITE: Step = Step::command("write", &["update"])
    .writes(Data::STOCK)
    .plays(Role::Write);

/// Describes an update that sets the counter to `left`.
pub fn wrote(found: u64, left: i64) -> StepResult {
    match found {
        0 => "0 rows".into(),
        _ => StepValue::Wrote(left).into(),
    }
}

/// Describes the number of rows that a statement found.
pub fn rows(found: &u64) -> String {
    format!("{found} rows")
}

/// Describes a statement that takes a lock by writing its row.
pub fn taken(written: &u64) -> StepResult {
    StepValue::Taken(*written > 0).with(rows(written))
}
