//! What stands under `.skilltune/`, and the locks of targets.

mod in_use;
mod journal;
mod layout;
mod lock;
mod sync;

pub use in_use::InUse;
pub use journal::{History, Journal, JournalError, Label, label_of, read};
pub use layout::{Home, RunFolder};
pub use lock::{Holder, LockError, Locks, TargetLock};
