//! Room for a crowd: every buyer is a connection, here, twice in the proxy and once in an instance.

/// Raises the number of files this process and its children may have open to what the system allows at most. Many
/// systems start with 1,024, which is for a shell, not for a flash sale.
pub fn raise_limit() {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: both calls get a pointer to a live rlimit. Where one fails, the old limit stays, which is no error yet.
    unsafe {
        if libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) == 0 {
            limit.rlim_cur = limit.rlim_max;
            libc::setrlimit(libc::RLIMIT_NOFILE, &limit);
        }
    }
}
