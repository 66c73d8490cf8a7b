//! The token of the workers. No shop knows it: a shop could otherwise take a share of its own load, send nothing, and report
//! responses that its ledger bears out.

use crate::exit::Usage;
use crate::options::RunOptions;
use crate::token;

/// Returns the token that the options give. The messages do not repeat it.
///
/// # Errors
/// When it is too short to be a secret, has characters that no header takes, or is the admin token.
pub fn given(options: &RunOptions) -> Result<Option<String>, Usage> {
    let Some(token) = &options.workers_token else {
        return Ok(None);
    };
    token::check("--workers-token", token)?;
    if options.remote.operator.admin_token.as_ref() == Some(token) {
        let wrong = "--workers-token is the admin token: the shop knows that, and could report responses as a worker";
        return Err(Usage(wrong.to_owned()));
    }
    Ok(Some(token.clone()))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that fails may panic")]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::options::{Command, Options};

    fn options(arguments: &str) -> RunOptions {
        let words = ["oversell", "run"].into_iter().chain(arguments.split_whitespace());
        let Command::Run(options) = Options::try_parse_from(words).unwrap().command() else {
            panic!("{arguments}");
        };
        *options
    }

    #[test]
    fn a_token_that_is_no_secret_or_that_the_shop_knows_is_refused_and_not_shown() {
        let long = "x".repeat(257);
        for (token, why) in [
            ("hunter2", "16 to 256"),
            (long.as_str(), "16 to 256"),
            ("0123456789abcdef/", "letters, digits"),
            ("the-token-of-the-shop", "is the admin token"),
        ] {
            let options = options(&format!(
                "--admin-token the-token-of-the-shop --host http://x --admin http://x --workers-token {token}"
            ));
            let refused = given(&options).unwrap_err().to_string();
            assert!(refused.contains(why) && !refused.contains(token), "{token}: {refused}");
        }
    }

    #[test]
    fn a_drawn_token_is_one_that_may_be_given() {
        let token = token::drawn();
        let given = given(&options(&format!("--workers-token {token}"))).unwrap();
        assert_eq!(given, Some(token));
        assert_ne!(token::drawn(), token::drawn());
    }
}
