//! Tokens that are given on the command line or drawn.

use std::ops::RangeInclusive;

use uuid::Uuid;

use crate::exit::Usage;

/// The fewest and the most characters of a token.
const LENGTH: RangeInclusive<usize> = 16..=256;

/// Checks the token that this option gave. The message does not repeat it.
///
/// # Errors
/// When it is too short to be a secret, or has characters that no header takes.
pub fn check(option: &str, token: &str) -> Result<(), Usage> {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
    if LENGTH.contains(&token.len()) && token.bytes().all(is_allowed) {
        return Ok(());
    }
    let (fewest, most) = LENGTH.into_inner();
    Err(Usage(format!(
        "{option} must be {fewest} to {most} letters, digits and - . _"
    )))
}

/// Draws a token.
pub fn drawn() -> String {
    Uuid::new_v4().simple().to_string()
}
