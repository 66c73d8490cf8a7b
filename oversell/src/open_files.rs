//! The limit of open files. Every buyer is a connection here, two in the proxy and one in an instance.

use nix::errno::Errno;
use nix::sys::resource::{Resource, getrlimit, setrlimit};

/// Raises the limit of open files of this process and its children to the highest that the system allows. Many systems
/// start with 1,024, which is too few for a flash sale.
///
/// # Errors
/// When the system refuses. The old limit stays.
pub fn raise_limit() -> Result<(), Errno> {
    let (_, most) = getrlimit(Resource::RLIMIT_NOFILE)?;
    setrlimit(Resource::RLIMIT_NOFILE, most, most)
}
