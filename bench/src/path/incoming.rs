//! Reads answers as they arrive: only the status and the length of each, so that reading costs next to nothing.

use anyhow::{Context, Result, ensure};

/// The longest answer, in bytes. Answers of a shop have a few hundred.
const MAX_ANSWER: usize = 64 * 1024;

const END_OF_HEAD: &[u8] = b"\r\n\r\n";
const VERSION: &[u8] = b"HTTP/1.1 ";
const LENGTH: &[u8] = b"content-length:";

/// The part of an answer that has arrived so far.
#[derive(Default)]
pub struct Incoming {
    /// The buffer for the next bytes.
    pub bytes: Vec<u8>,
}

impl Incoming {
    /// Takes a complete answer out of the buffer and returns its status. None while it is incomplete.
    ///
    /// # Errors
    /// When the bytes are not one HTTP/1.1 answer with a length, or are too many.
    pub fn take(&mut self) -> Result<Option<u16>> {
        ensure!(
            self.bytes.len() <= MAX_ANSWER,
            "an answer is longer than {MAX_ANSWER} bytes"
        );
        let end = self
            .bytes
            .windows(END_OF_HEAD.len())
            .position(|bytes| bytes == END_OF_HEAD);
        let Some(end) = end else { return Ok(None) };
        let head = &self.bytes[..end];
        let status = status(head)
            .with_context(|| format!("not an HTTP/1.1 answer: {}", self.bytes[..end.min(80)].escape_ascii()))?;
        let length = length(head).context("an answer has no Content-Length")?;
        let whole = end + END_OF_HEAD.len() + length.min(MAX_ANSWER);
        if self.bytes.len() < whole {
            return Ok(None);
        }
        ensure!(self.bytes.len() == whole, "more bytes than one answer arrived");
        self.bytes.clear();
        Ok(Some(status))
    }
}

fn status(head: &[u8]) -> Option<u16> {
    number(head.strip_prefix(VERSION)?.get(..3)?)
}

fn length(head: &[u8]) -> Option<usize> {
    let mut lines = head.split(|byte| *byte == b'\n');
    let value = lines.find_map(|line| {
        let (name, value) = line.split_at_checked(LENGTH.len())?;
        name.eq_ignore_ascii_case(LENGTH).then_some(value)
    });
    number(value?.trim_ascii())
}

fn number<T: std::str::FromStr>(digits: &[u8]) -> Option<T> {
    std::str::from_utf8(digits).ok()?.parse().ok()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that fails may panic")]
mod tests {
    use super::*;

    const SOLD: &[u8] = b"HTTP/1.1 201 Created\r\nServer: x\r\nContent-Length: 7\r\nX-Instance: a\r\n\r\n{\"a\":1}";
    const BUSY: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\ncontent-length:0\r\n\r\n";

    #[test]
    fn an_answer_is_read_wherever_it_is_split() {
        for split in 0..SOLD.len() {
            let mut incoming = Incoming::default();
            for answer in [SOLD, BUSY, SOLD] {
                let (first, rest) = answer.split_at(split.min(answer.len() - 1));
                incoming.bytes.extend(first);
                assert_eq!(incoming.take().unwrap(), None, "{split}");
                incoming.bytes.extend(rest);
                let expected = if answer == BUSY { 503 } else { 201 };
                assert_eq!(incoming.take().unwrap(), Some(expected), "{split}");
            }
        }
    }

    #[test]
    fn bytes_that_are_not_one_answer_are_refused() {
        let endless = [&SOLD[..20], &vec![b'a'; MAX_ANSWER]].concat();
        for wrong in [
            b"HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n".as_slice(),
            b"HTTP/1.1 2x1 OK\r\nContent-Length: 0\r\n\r\n",
            b"HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\n",
            b"HTTP/1.1 201 Created\r\nContent-Length: many\r\n\r\n",
            &[SOLD, SOLD].concat(),
            &endless,
        ] {
            let mut incoming = Incoming { bytes: wrong.to_vec() };
            assert!(incoming.take().is_err(), "{}", wrong[..40].escape_ascii());
        }
    }
}
