//! Bodies that never end, arrive in pieces, or grow when they are unpacked.

use std::convert::Infallible;
use std::io::Write;
use std::sync::LazyLock;
use std::time::Duration;

use axum::body::{Body, Bytes};
use flate2::Compression;
use flate2::write::GzEncoder;
use futures_util::stream::{self, StreamExt};

const PIECE: usize = 64 * 1024;

/// The pause between two pieces: long enough that a proxy which stores the body does not fill its disk within a minute.
const BETWEEN_PIECES: Duration = Duration::from_millis(4);

/// Sends `head`, and then `filling` without end.
pub fn endless(head: String, filling: &str) -> Body {
    let piece = Bytes::from(filling.repeat(PIECE / filling.len()));
    let rest = stream::repeat(piece).then(|piece| async move {
        tokio::time::sleep(BETWEEN_PIECES).await;
        piece
    });
    body(stream::iter([Bytes::from(head)]).chain(rest))
}

/// Sends `head` and then blanks without end, one byte at a time.
pub fn slow(head: &str) -> Body {
    let head = Bytes::copy_from_slice(head.as_bytes());
    let bytes = stream::iter(head.into_iter().chain(std::iter::repeat(b' ')));
    body(bytes.then(|byte| async move {
        tokio::time::sleep(Duration::from_millis(200)).await;
        Bytes::copy_from_slice(&[byte])
    }))
}

/// Sends `text` in three pieces.
pub fn in_pieces(text: &str) -> Body {
    let pieces: Vec<Bytes> = text
        .as_bytes()
        .chunks(text.len().div_ceil(3))
        .map(Bytes::copy_from_slice)
        .collect();
    body(stream::iter(pieces).then(|piece| async move {
        tokio::time::sleep(Duration::from_millis(30)).await;
        piece
    }))
}

fn body(pieces: impl stream::Stream<Item = Bytes> + Send + 'static) -> Body {
    Body::from_stream(pieces.map(Ok::<_, Infallible>))
}

pub fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

/// 4 MB of blanks, packed. Several of them in a row are one valid gzip file.
static NOTHING: LazyLock<Vec<u8>> = LazyLock::new(|| gzip(&vec![b' '; 4 << 20]));

/// Packs `head`, 256 MB of blanks, and `tail`.
pub fn bomb(head: &str, tail: &str) -> Vec<u8> {
    let mut packed = gzip(head.as_bytes());
    for _ in 0..64 {
        packed.extend_from_slice(&NOTHING);
    }
    packed.extend(gzip(tail.as_bytes()));
    packed
}
