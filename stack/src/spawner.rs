//! The one thread that starts every child.
//!
//! The kernel sends the parent-death signal when the *thread* that made the child ends, not the process. A child started
//! from a worker thread would be killed as soon as that thread is done, so this one lives as long as the process.

use std::io;
use std::process::{Child, Command};
use std::sync::OnceLock;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use crate::child_setup;

struct Request {
    command: Command,
    answer: Sender<io::Result<Child>>,
}

/// Starts the command as a child that cannot outlive this process.
///
/// # Errors
///
/// Those of [`Command::spawn`].
pub(crate) fn spawn(mut command: Command) -> io::Result<Child> {
    static SPAWNER: OnceLock<Sender<Request>> = OnceLock::new();
    child_setup::prepare(&mut command);
    let (answer, reply) = channel();
    let spawner = SPAWNER.get_or_init(|| {
        let (requests, received) = channel();
        thread::spawn(move || serve(received));
        requests
    });
    let gone = || io::Error::other("the thread that starts child processes has died");
    spawner.send(Request { command, answer }).map_err(|_| gone())?;
    reply.recv().map_err(|_| gone())?
}

fn serve(requests: Receiver<Request>) {
    child_setup::block_signals();
    for mut request in requests {
        // Sending fails only if the asking thread died; the child then ends with the parent.
        let _ = request.answer.send(request.command.spawn());
    }
}
