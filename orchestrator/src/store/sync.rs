//! Group commit: a thread that syncs one file soon after it was written, with many writes per sync.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::disk::{DiskError, OnDisk};

/// The maximum delay until a line is on the disk: what a power cut may lose, and how many lines may share a sync.
const LATENESS: Duration = Duration::from_millis(25);

#[derive(Debug)]
pub(super) struct Syncer {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    dirty: bool,
    closing: bool,
    failed: Option<DiskError>,
}

impl Syncer {
    pub(super) fn start(file: File, path: &Path) -> Self {
        let shared = Arc::new(Shared::default());
        let (theirs, path) = (Arc::clone(&shared), path.to_owned());
        let thread = std::thread::spawn(move || work(&theirs, &file, &path));
        Self { shared, thread: Some(thread) }
    }

    pub(super) fn wake(&self) {
        let mut state = self.shared.lock();
        if !state.dirty {
            state.dirty = true;
            self.shared.changed.notify_one();
        }
    }

    /// Reports a failed sync at the next write: the disk may have lost data.
    pub(super) fn check(&self) -> Result<(), DiskError> {
        self.shared.lock().failed.take().map_or(Ok(()), Err)
    }
}

impl Drop for Syncer {
    fn drop(&mut self) {
        self.shared.lock().closing = true;
        self.shared.changed.notify_one();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn work(shared: &Shared, file: &File, path: &PathBuf) {
    let mut state = shared.lock();
    loop {
        while !state.dirty && !state.closing {
            state = shared.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if !state.dirty {
            return;
        }
        // Waiting gathers further lines; closing ends it early.
        let gathered = shared.changed.wait_timeout_while(state, LATENESS, |state| !state.closing);
        state = gathered.unwrap_or_else(PoisonError::into_inner).0;
        state.dirty = false;
        drop(state);
        let synced = file.sync_data().on_disk("sync", path);
        state = shared.lock();
        if let Err(error) = synced {
            state.failed = Some(error);
        }
    }
}
