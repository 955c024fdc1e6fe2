//! Places where a test can end the program: one before and one after every durable change.
//!
//! With the feature `crash-points`, the n-th point reached aborts the process. In this crate's own tests a point runs a
//! closure instead (`rehearsal`), so that simulating a crash or a user's edit needs no process.

#[cfg(feature = "crash-points")]
pub use armed::{arm, reached};

/// Marks a place where a test can end the program. The name and the caller's line identify the point.
#[inline]
#[track_caller]
pub fn point(name: &'static str) {
    #[cfg(feature = "crash-points")]
    armed::reach(name);
    #[cfg(test)]
    rehearsal::reached();
    let _ = name;
}

/// Makes one durable change, with a point before it and, if it succeeds, one after it.
#[inline]
#[track_caller]
pub(crate) fn around<T, E>(
    [before, after]: [&'static str; 2],
    change: impl FnOnce() -> Result<T, E>,
) -> Result<T, E> {
    point(before);
    let changed = change()?;
    point(after);
    Ok(changed)
}

#[cfg(feature = "crash-points")]
mod armed {
    use std::panic::Location;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::{Mutex, PoisonError};

    static REACHED: Mutex<Vec<String>> = Mutex::new(Vec::new());
    static FATAL: AtomicUsize = AtomicUsize::new(usize::MAX);

    /// Aborts the process at its `at`-th point, counted from 1.
    pub fn arm(at: usize) {
        FATAL.store(at, Ordering::SeqCst);
    }

    /// Returns the names of all points reached so far, in order.
    pub fn reached() -> Vec<String> {
        REACHED.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    #[track_caller]
    pub(super) fn reach(name: &str) {
        let mut reached = REACHED.lock().unwrap_or_else(PoisonError::into_inner);
        reached.push(format!("{name}, {}", Location::caller()));
        if reached.len() == FATAL.load(Ordering::SeqCst) {
            std::process::abort();
        }
    }
}

/// What the tests of this crate run at a point, on their own thread.
#[cfg(test)]
pub(crate) mod rehearsal {
    use std::cell::RefCell;
    use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

    type Interruption = Box<dyn FnOnce()>;

    thread_local! {
        static PLANNED: RefCell<Option<(u64, Interruption)>> = const { RefCell::new(None) };
    }

    struct Crash;

    pub(super) fn reached() {
        let due = PLANNED.with_borrow_mut(|planned| match planned {
            Some((left, _)) if *left > 1 => {
                *left -= 1;
                None
            }
            _ => planned.take(),
        });
        if let Some((_, interruption)) = due {
            interruption();
        }
    }

    /// Runs `work` and calls `interruption` at its `at`-th point. Returns false if `work` ended before that point.
    pub(crate) fn interrupted<T>(
        at: u64,
        interruption: impl FnOnce() + 'static,
        work: impl FnOnce() -> T,
    ) -> (T, bool) {
        PLANNED.set(Some((at, Box::new(interruption))));
        let result = work();
        (result, PLANNED.take().is_none())
    }

    /// Runs `work` up to its `at`-th point and drops it there. Returns its result if it ended before.
    pub(crate) fn crashed<T>(at: u64, work: impl FnOnce() -> T) -> Option<T> {
        let crash = || resume_unwind(Box::new(Crash));
        let ended = catch_unwind(AssertUnwindSafe(|| interrupted(at, crash, work).0));
        match ended {
            Ok(result) => Some(result),
            Err(payload) if payload.is::<Crash>() => None,
            Err(payload) => resume_unwind(payload),
        }
    }
}
