//! The command line of this program, as a result may show it.

use loadtest::facts::STORES;

/// Returns the command line without tokens and without URLs that may hold passwords.
pub fn shown() -> String {
    let is_secret = |name: &str| {
        let name = name.strip_prefix("--");
        name.is_some_and(|name| {
            ["admin-token", "faults-token", "page-token", "workers-token"].contains(&name) || STORES.contains(&name)
        })
    };
    let mut words = vec!["oversell".to_owned()];
    let mut hide = false;
    for word in std::env::args().skip(1) {
        let (name, value) = word
            .split_once('=')
            .map_or((word.as_str(), None), |(name, value)| (name, Some(value)));
        let is_hidden = is_secret(name);
        words.push(match (hide, is_hidden, value) {
            (true, ..) => "...".to_owned(),
            (_, true, Some(_)) => format!("{name}=..."),
            _ => word.clone(),
        });
        hide = !hide && is_hidden && value.is_none();
    }
    words.join(" ")
}
