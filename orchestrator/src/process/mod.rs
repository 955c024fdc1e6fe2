//! Child programs, run one at a time under a guardian, so that none of their processes is left, whatever happens.
//!
//! ```text
//!   main program                      guardian (our own binary, started again)       the child
//!   GuardianPool > Slot > Guardian ---socket--- guardian_main > Live ------------- its process group,
//!        |   Call, Cancel ------------------------>  |  pumps stdout and stderr      and all that
//!        |   <------------------------------ Ended   |  into files, keeps time       descends from it
//! ```
//!
//! A guardian has its own session, so neither the terminal's Ctrl-C nor a hang-up reaches it, and an agent has no
//! terminal for prompts. When the socket closes, however we died, it ends everything and itself.
//!
//! If the kernel allows a namespace (`namespace`), the guardian is its first process: nothing in it outlives the
//! guardian, and nothing in it can reach the guardian or us. The process that was started only waits for it; if either
//! is killed, the kernel ends everything.
//!
//! Otherwise the guardian is the subreaper of its children: their leftovers become its children and are killed
//! (`family`). There a program can kill its guardian: the main program, also a subreaper, then sweeps the leftovers. If
//! both are killed, `sweep_marked` finds the rest by a variable in their environment, and a process without it escapes.
//!
//! If a guardian does not finish a call, the call has failed, and the guardian is replaced.
//!
//! A call may be confined: then our own program is started once more between guardian and child, gives up its rights,
//! and becomes the child. In a namespace it may also hide folders from the child first (`hide`).
//!
//! Requires Linux 5.4 or newer. On macOS there is no namespace, no subreaper and no `/proc`: only the child's process
//! group is killed there, a program that leaves its group survives, and `sweep_marked` finds nothing.
//!
//! This module must not interpret an exit: a failing program is an outcome, not an error.

#![expect(
    clippy::disallowed_methods,
    reason = "the files of a call are in a folder that was made for it, and those of /proc are the kernel's"
)]

mod call;
mod cancel;
mod confine;
mod ended;
mod error;
mod family;
mod guardian;
mod hide;
mod live;
mod marked;
mod namespace;
mod orphans;
mod os_text;
mod output;
mod parent;
mod pool;
mod serve;
mod start;
mod wire;

pub use call::Call;
pub use cancel::{Cancel, CancelToken, Canceller};
pub use confine::{CONFINED, Confinement, can_confine, confined_main};
pub use ended::{Ended, How};
pub use error::ProcessError;
pub use guardian::{Containment, Guardian};
pub use hide::{HIDDEN, Hidden, hidden_main};
pub use marked::{await_marked, sweep_marked};
pub use orphans::{become_driver, end_descendants};
pub use pool::{GuardianPool, Slot};
pub use serve::guardian_main;
pub(crate) use start::ends_by;
pub(crate) use wire::json_line;
