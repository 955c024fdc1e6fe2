//! Workers: programs that carry out one call elsewhere, and the frames in which we talk with them.
//!
//! ```text
//! coordinator                                   worker (`skilltune step --take -`)
//!   Workers -> Lease -> Link == stdin, stdout == Inbox, Sender
//! ```
//!
//! A worker is started by a command of the user: ssh, srun, kubectl. What it says is hostile input: each line, payload and
//! wait is bounded.

mod choice;
mod describe;
mod frame;
mod inbox;
mod link;
pub mod parts;

pub use choice::{Lease, Need, NoWorker, Refused, Worker, Workers};
pub use describe::{WorkerFacts, describe};
pub use frame::{Frame, Hello, LARGEST_REPLY, LONGEST_LIST, PROTOCOL, Part, Sender, framed, shown};
pub use inbox::{Inbox, Patience};
pub use link::{Launch, Link, Lost};

use std::time::Duration;

/// The interval at which both sides say that they are alive during a call.
pub const BEAT: Duration = Duration::from_secs(2);
/// A worker that hears nothing for this time ends its call: the machine that would stop its agents may be gone.
pub const WORKERS_PATIENCE: Duration = Duration::from_secs(8);
/// A worker that is silent for this time is lost. It may be busy storing what its agent left.
const COORDINATORS_PATIENCE: Duration = Duration::from_secs(30);
