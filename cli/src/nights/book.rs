//! The journal of all nights of a file, and the files beside it: in `.skilltune/nights/NAME`.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;

use jiff::Timestamp;
use rustix::fs::FlockOperation;
use skilltune_orchestrator::disk::atomic::Durability;
use skilltune_orchestrator::disk::{Lock, SafePath};
use skilltune_orchestrator::store::Home;
use skilltune_phases::base::json;
use skilltune_phases::nights::night::{Entry, Event, History, kept};

use crate::nights::file::NightPlan;
use crate::runs::{strange, unusable};
use crate::terminal::complaint::{Complaint, ours};

/// More than a hundred jobs in all kept nights need.
const LARGEST: u64 = 256 << 20;

/// Two years of nights. If there are more, the older half is removed.
const MOST_NIGHTS: usize = 800;

/// The folder, read only.
#[derive(Clone, Debug)]
pub struct Shelf {
    root: SafePath,
}

/// The journal, locked by this process.
#[derive(Debug)]
pub struct Book {
    pub shelf: Shelf,
    pub history: History,
    file: File,
    _lock: Lock,
}

impl Shelf {
    pub fn of(plan: &NightPlan) -> Self {
        let home = Home::of(&plan.folder);
        Self { root: home.nights().join(plan.name.as_str()) }
    }

    /// Returns the shelves of all files of jobs of a project.
    pub fn all(home: &Home) -> Vec<Self> {
        let nights = home.nights();
        let names = nights.names().unwrap_or_default();
        names.iter().map(|name| Self { root: nights.join(name) }).collect()
    }

    /// Returns the shelf of a shard, in any folder.
    pub fn at(folder: &Path) -> Self {
        Self { root: SafePath::below(folder, "") }
    }

    pub fn place(&self, name: &str) -> SafePath {
        self.root.join(name)
    }

    pub fn read(&self) -> Result<History, Complaint> {
        Ok(History::of(&self.entries()?.0))
    }

    /// Returns whether another program has the journal open for writing.
    pub fn is_locked(&self) -> bool {
        let lock = self.place("lock");
        lock.exists() && matches!(lock.lock(FlockOperation::NonBlockingLockShared), Ok(None))
    }

    /// Returns all complete lines and their size in bytes. Ignores a partial last line of a killed program.
    pub fn entries(&self) -> Result<(Vec<Entry>, u64), Complaint> {
        self.entries_within(LARGEST)
    }

    /// Like `entries`, with a limit on the journal's size.
    pub fn entries_within(&self, most: u64) -> Result<(Vec<Entry>, u64), Complaint> {
        let path = self.place("history.jsonl");
        let bytes = path.read(most).map_err(unusable)?.unwrap_or_default();
        let (mut entries, mut whole) = (Vec::new(), 0);
        for line in bytes.split_inclusive(|byte| *byte == b'\n').filter(|line| line.ends_with(b"\n")) {
            let entry = serde_json::from_slice(line).map_err(|error| {
                let number = entries.len() + 1;
                Complaint::input(format!("line {number} of {} is damaged", path.path().display()))
                    .caused_by(error)
                    .hint("move the file away to start a new one; runs and skills stay unchanged")
            })?;
            entries.push(entry);
            whole += line.len() as u64;
        }
        Ok((entries, whole))
    }
}

impl Book {
    /// Opens the journal for writing, or returns none if another program has it open; with `waits`, waits for that
    /// program.
    pub fn open(plan: &NightPlan, waits: bool) -> Result<Option<Self>, Complaint> {
        let home = Home::of(&plan.folder);
        home.create().map_err(strange)?;
        let shelf = Shelf::of(plan);
        shelf.root.make().map_err(unusable)?;
        let how =
            if waits { FlockOperation::LockExclusive } else { FlockOperation::NonBlockingLockExclusive };
        let Some(lock) = shelf.place("lock").lock(how).map_err(unusable)? else { return Ok(None) };
        let path = shelf.place("history.jsonl");
        if !path.exists() {
            path.create(b"").map_err(unusable)?;
        }
        let (mut entries, mut whole) = shelf.entries()?;
        if entries.iter().filter(|entry| matches!(entry.event, Event::Began { .. })).count() > MOST_NIGHTS {
            entries = kept(&entries, MOST_NIGHTS / 2);
            let text: Vec<u8> = entries.iter().flat_map(line).collect();
            whole = text.len() as u64;
            path.replace(&text, Durability::Barrier).map_err(unusable)?;
        }
        let file = path.open_append().map_err(unusable)?;
        file.set_len(whole).map_err(ours)?;
        Ok(Some(Self { shelf, history: History::of(&entries), file, _lock: lock }))
    }

    /// Writes a line and syncs it to disk before anything depends on it.
    pub fn write(&mut self, at: Timestamp, event: Event) -> Result<(), Complaint> {
        let entry = Entry { at, event };
        let line = line(&entry);
        let length = self.file.metadata().map_err(ours)?.len();
        let written = self.file.write_all(&line).and_then(|()| self.file.sync_data());
        if let Err(error) = written {
            // Removes a partly written line.
            let _ = self.file.set_len(length);
            return Err(Complaint::ours("cannot write the journal of nights").caused_by(error));
        }
        self.history.apply(&entry);
        Ok(())
    }

    /// Adds all these lines or none of them.
    pub fn extend(&mut self, entries: &[Entry]) -> Result<(), Complaint> {
        let path = self.shelf.place("history.jsonl");
        let mut bytes = path.read(LARGEST).map_err(unusable)?.unwrap_or_default();
        for entry in entries {
            bytes.extend(line(entry));
        }
        if bytes.len() as u64 > LARGEST {
            return Err(Complaint::input("the journal of nights would become too large"));
        }
        path.replace(&bytes, Durability::Barrier).map_err(unusable)?;
        self.file = path.open_append().map_err(unusable)?;
        for entry in entries {
            self.history.apply(entry);
        }
        Ok(())
    }

    /// Replaces a page in one step, because people and scripts read it.
    pub fn put(&self, name: &str, text: &str) -> Result<(), Complaint> {
        let place = self.shelf.place(name);
        place.replace(text.as_bytes(), Durability::Order).map_err(unusable)
    }
}

fn line(entry: &Entry) -> Vec<u8> {
    (json::line(entry) + "\n").into_bytes()
}
