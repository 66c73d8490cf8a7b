//! Room for a crowd: every buyer is a connection, here, twice in the proxy and once in an instance.

use nix::errno::Errno;
use nix::sys::resource::{Resource, getrlimit, setrlimit};

/// Raises the number of files this process and its children may have open to what the system allows at most. Many
/// systems start with 1,024, which is for a shell, not for a flash sale.
///
/// # Errors
/// When the system refuses; the old limit stays, which is enough for a small crowd.
pub fn raise_limit() -> Result<(), Errno> {
    let (_, most) = getrlimit(Resource::RLIMIT_NOFILE)?;
    setrlimit(Resource::RLIMIT_NOFILE, most, most)
}
