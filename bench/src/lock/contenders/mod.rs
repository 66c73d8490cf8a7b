//! The measured locks. One file each; [`all`] is the one list.

mod app_guards;
mod baton;
mod no_lock;
mod redis_py;
mod rslock;

use super::contender::Contender;
use crate::setting::Setting;

/// Returns every contender, in the order of the tables.
pub fn all() -> Vec<Box<dyn Contender>> {
    vec![
        Box::new(no_lock::NoLock),
        Box::new(app_guards::AppGuard::TOKEN),
        Box::new(app_guards::AppGuard::SPIN),
        Box::new(app_guards::AppGuard::WATCHDOG),
        Box::new(rslock::RsLock),
        Box::<redis_py::RedisPy>::default(),
        Box::new(baton::BatonLock::in_batches_of(1)),
        Box::new(baton::BatonLock::in_batches_of(8)),
        Box::new(baton::BatonLock::in_batches_of(64)),
    ]
}

/// Returns the contenders that are available here, and reports why the others are not.
pub async fn available(setting: &Setting, contenders: Vec<Box<dyn Contender>>) -> Vec<Box<dyn Contender>> {
    let mut available = Vec::new();
    for contender in contenders {
        match contender.prepare(setting.local.options.fetch).await {
            Ok(()) => available.push(contender),
            Err(why) => (setting.report)(&format!("without {}: {why:#}", contender.name())),
        }
    }
    available
}
