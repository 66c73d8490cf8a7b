//! One load test at a time is at a shop.

use loadtest::deployment::TrialLock;
use loadtest::facts::Urls;

use crate::runner::TrialRunner;

#[test]
fn a_second_load_test_is_refused_until_the_first_one_is_gone() {
    let runner = TrialRunner::open();
    let at = |store, url: &str| Urls::from([(store, url.to_owned())]);
    let take = |urls: &Urls| runner.runtime.block_on(TrialLock::take(urls));
    let urls = at("sql", runner.stores.sql_url());
    let first = take(&urls).unwrap();
    let refused = take(&urls).err().map(|error| error.to_string());
    let why = "another load test is at this shop: begin when it is over";
    assert_eq!(refused.as_deref(), Some(why));
    // A process that is killed closes its connection as well, and does no more than that.
    drop(first);
    take(&urls).unwrap();
    take(&at("redis", runner.stores.redis_url())).unwrap();
}
