//! The content of `.skilltune/`, and the locks of targets.

mod answers;
mod checksum;
mod journal;
mod layout;
mod lock;
mod sweep;
mod sync;

pub use answers::AnswerCache;
pub use journal::{FirstLine, History, Journal, JournalError, Label, first_line, has_closed, plan, read};
pub use layout::{Home, HomeError, RunFolder};
pub use lock::{Holder, LockError, Locks, TargetLock};
pub use sweep::Needed;
