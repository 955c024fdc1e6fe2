//! Places where a test may end the program: one before and one after every durable change.
//!
//! With the feature `crash-points` the n-th point reached aborts the process. In this crate's own tests a point runs a
//! closure instead (`rehearsal`), so that neither a crash nor a person's edit costs a process.

#[cfg(feature = "crash-points")]
pub use armed::{arm, count};

/// Marks one durable step; the name is for people who read a list of them.
#[inline]
pub fn point(name: &'static str) {
    #[cfg(feature = "crash-points")]
    armed::reached();
    #[cfg(test)]
    rehearsal::reached();
    let _ = name;
}

#[cfg(feature = "crash-points")]
mod armed {
    use std::sync::atomic::{AtomicU64, Ordering};

    static REACHED: AtomicU64 = AtomicU64::new(0);
    static FATAL: AtomicU64 = AtomicU64::new(u64::MAX);

    /// Makes the `at`-th point from the start of the process its last; the first is 1.
    pub fn arm(at: u64) {
        FATAL.store(at, Ordering::SeqCst);
    }

    /// How many points have been reached so far.
    pub fn count() -> u64 {
        REACHED.load(Ordering::SeqCst)
    }

    pub(super) fn reached() {
        if REACHED.fetch_add(1, Ordering::SeqCst) + 1 == FATAL.load(Ordering::SeqCst) {
            std::process::abort();
        }
    }
}

/// What the tests of this crate do at a point, on their own thread.
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

    /// Runs `work` with `interruption` in the midst of it; false when `work` ended before its `at`-th point.
    pub(crate) fn interrupted<T>(
        at: u64,
        interruption: impl FnOnce() + 'static,
        work: impl FnOnce() -> T,
    ) -> (T, bool) {
        PLANNED.set(Some((at, Box::new(interruption))));
        let result = work();
        (result, PLANNED.take().is_none())
    }

    /// Runs `work` up to its `at`-th point and drops it there; its result when it ended before.
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
