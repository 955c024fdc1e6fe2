//! The runs of a project, of any loop: found by an alias or a prefix of their id, read from their journals.

pub mod commit;
pub mod failure;
pub mod ownership;
pub mod peer;
pub mod runtime_options;
pub mod scope;
pub mod session;
pub mod store_check;
pub mod under_guard;
pub mod versions;

use std::cmp::Reverse;
use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::Serialize;
use skilltune_orchestrator::disk::DiskError;
use skilltune_orchestrator::store::{
    self, FirstLine, Home, HomeError, Journal, JournalError, Label, Locks, RunFolder,
};
use skilltune_phases::base::id::{CallKey, Digest, TreeId};
use skilltune_phases::base::spelling::nearest;
use skilltune_phases::loops::tune::{self, Tune};
use skilltune_phases::runs::event::{Event, Record, Signal};
use skilltune_phases::runs::plan::{FORMAT, LoopKind, Plan, RunId};
use skilltune_phases::runs::run::{NotARun, Run};
use skilltune_phases::skills::candidate::Candidate;

use crate::report::ui::{Ui, with_loop};
use crate::terminal::complaint::{Complaint, ErrorKind, ours};
use crate::terminal::environment::Environment;

/// The runs of one project.
#[derive(Clone, Debug)]
pub struct Runs {
    pub home: Home,
    locks: Locks,
}

/// A run as recorded in its journal.
#[derive(Clone, Debug)]
pub struct Known<L: Ui> {
    pub run: Run<L>,
    pub records: Vec<Record<L>>,
    pub folder: RunFolder,
    /// The number of bytes in an unfinished last line.
    pub torn: usize,
}

/// The facts about a run that do not depend on its loop, including the stored objects that it still needs.
#[derive(Clone, Debug)]
pub struct Outline {
    pub status: RunStatus,
    pub calls: Vec<CallKey>,
    pub trees: Vec<TreeId>,
}

/// The state of a run, as seen from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunStatus {
    Running {
        pid: u32,
    },
    Held,
    /// Stopped or killed; it can be resumed.
    Open,
    Ended,
}

impl RunStatus {
    /// Returns true if `resume` continues the run.
    pub fn is_resumable(self) -> bool {
        match self {
            Self::Held | Self::Open => true,
            Self::Running { .. } | Self::Ended => false,
        }
    }

    /// Returns one word for the state, the same in every list of runs.
    pub fn word<L: Ui>(self, run: &Run<L>) -> &'static str {
        match self {
            Self::Running { .. } => "running",
            Self::Held => "waiting",
            Self::Open if run.paused.is_some() => "paused",
            Self::Open => "cut off",
            Self::Ended => "ended",
        }
    }
}

impl Runs {
    /// Returns the runs of the project that contains the current folder.
    pub fn here(env: &Environment) -> Result<Self, Complaint> {
        Self::of(&env.project_here(), env)
    }

    /// Returns the runs of a project. Fails if skilltune would not have created its state folder like this.
    pub fn of(project: &Path, env: &Environment) -> Result<Self, Complaint> {
        let home = Home::of(project);
        home.require_ours().map_err(strange)?;
        Ok(Self { home, locks: Locks::at(&env.state) })
    }

    /// Returns the ids of all runs, or of one loop's runs, newest first.
    pub fn ids(&self, only: Option<LoopKind>) -> Vec<RunId> {
        self.newest_first("", only).collect()
    }

    /// Reads a run's journal only when its turn comes, because a project may have thousands of runs.
    fn newest_first(&self, prefix: &str, only: Option<LoopKind>) -> impl Iterator<Item = RunId> + '_ {
        let names = self.home.runs().names().unwrap_or_default().into_iter();
        let ids =
            names.filter_map(|name| name.to_str().filter(|name| name.starts_with(prefix))?.parse().ok());
        let mut ids: Vec<RunId> = ids.collect();
        // An id has the second of the start; the journal decides the order within one second. Each is read once: the
        // order must not change while it is sorted.
        let begun = |id: &RunId| Reverse(self.first_line(id).and_then(|line| line.at));
        ids.sort_by(|a, b| born(a).cmp(born(b)).reverse());
        for same in ids.chunk_by_mut(|a, b| born(a) == born(b)) {
            same.sort_by_cached_key(begun);
        }
        ids.into_iter()
            .filter(|id| self.home.run(id).history().is_file())
            .filter(move |id| only.is_none_or(|only| self.kind(id) == only))
    }

    /// Returns the loop of a run from its journal; any loop shows a run with an unreadable first line as damaged.
    pub fn kind(&self, id: &RunId) -> LoopKind {
        let label = self.first_line(id).and_then(|line| line.label);
        let known = |label: Label| LoopKind::ALL.iter().copied().find(|kind| kind.word() == label.kind);
        label.and_then(known).unwrap_or(LoopKind::Tune)
    }

    /// Finds a run: the newest with this alias, the one whose id has this prefix, or the newest if no name is given.
    pub fn named(&self, name: Option<&str>, only: Option<LoopKind>) -> Result<RunId, Complaint> {
        let id = match name {
            None => {
                let newest = || self.newest_first("", only);
                newest().find(|id| self.has_begun(id)).or_else(|| newest().next())
            }
            Some(name) => {
                let ids: Vec<RunId> = self.newest_first(name, only).collect();
                let is_named = |id: &&RunId| with_loop!(self.kind(id), L => L::is_named(id, name));
                match ids.iter().find(is_named) {
                    Some(id) => Some(id.clone()),
                    None => the_only(&ids, name)?.cloned(),
                }
            }
        };
        id.ok_or_else(|| self.unknown(name, only))
    }

    fn unknown(&self, name: Option<&str>, only: Option<LoopKind>) -> Complaint {
        if let (Some(name), Some(_)) = (name, only)
            && let Ok(id) = self.named(Some(name), None)
        {
            return Complaint::input(format!("run {id} belongs to {}", self.kind(&id).word()))
                .hint("use `skilltune status` or another run command without the name of a loop");
        }
        let ids = self.ids(only);
        if let (Some(name), false) = (name, ids.is_empty()) {
            let newest: Vec<&str> = ids.iter().take(NAMED).map(RunId::as_str).collect();
            let near = near(name, &ids).map(|near| format!("did you mean {near}?"));
            let near = near.unwrap_or_else(|| format!("newest runs: {}", newest.join(", ")));
            return Complaint::input(format!("no run matches {name:?}"))
                .hint(near)
                .hint("list runs with `skilltune list`; name a round or a candidate after its run");
        }
        let start = with_loop!(only.unwrap_or(LoopKind::Tune), L => L::START);
        let of = only.map(|only| format!(" of {}", only.word())).unwrap_or_default();
        let others = if only.is_none() { "; `skilltune help` lists the other loops" } else { "" };
        Complaint::input(format!("no runs{of} in {}", self.home.root().display()))
            .hint(format!("start one with `{start}`, or pass --project DIR{others}"))
    }

    /// Returns true if the first line is complete. A run killed before that is never picked as the latest run.
    fn has_begun(&self, id: &RunId) -> bool {
        self.first_line(id).is_none_or(|line| line.is_whole)
    }

    fn first_line(&self, id: &RunId) -> Option<FirstLine> {
        store::first_line(&self.home.run(id).history())
    }

    fn plan<L: Ui>(&self, id: &RunId) -> Option<Plan<L>> {
        store::plan(&self.home.run(id).history())
    }

    pub fn outline(&self, id: &RunId) -> Result<Outline, Complaint> {
        with_loop!(self.kind(id), L => self.load::<L>(id).map(|known| self.outline_of(&known)))
    }

    /// Returns true if `resume` continues the run.
    pub fn is_resumable(&self, id: &RunId) -> bool {
        self.outline(id).is_ok_and(|outline| outline.status.is_resumable())
    }

    fn outline_of<L: Ui>(&self, known: &Known<L>) -> Outline {
        let mut outline =
            Outline { status: self.status(&known.run), calls: Vec::new(), trees: L::run_trees(&known.run) };
        for record in &known.records {
            match &record.event {
                Event::Done(done) => {
                    outline.calls.extend(done.call);
                    outline.trees.extend(done.outcome.iter().flat_map(L::trees));
                }
                Event::Noted(Signal::Placing { from, to, .. } | Signal::Placed { from, to, .. }) => {
                    outline.trees.extend(from.iter().chain(to));
                }
                Event::Noted(_) | Event::Started(_) | Event::Decided(_) => {}
            }
        }
        outline
    }

    /// Returns the newest readable runs of a loop that are similar to the planned one.
    pub fn like<L: Ui>(&self, is_like: impl Fn(&Plan<L>) -> bool) -> Vec<Run<L>> {
        const NEWEST: usize = 20;
        // Runs of other skills may be between them; reading them all would take too long.
        const READ: usize = 500;
        let ids = self.newest_first("", Some(L::KIND)).take(READ);
        let ids = ids.filter(|id| self.plan(id).is_some_and(|plan| is_like(&plan)));
        ids.filter_map(|id| self.load(&id).ok()).map(|known| known.run).take(NEWEST).collect()
    }

    pub fn load<L: Ui>(&self, id: &RunId) -> Result<Known<L>, Complaint> {
        let folder = self.home.run(id);
        let history = store::read::<L>(&folder.history()).map_err(|error| damaged(&folder, &error))?;
        if let Some(Event::Started(plan)) = history.records.first().map(|record| &record.event)
            && plan.format > FORMAT
        {
            return Err(newer(&folder, plan.format));
        }
        let run = Run::replay(&history.records).map_err(|error| {
            let hint = match error {
                NotARun::Empty | NotARun::NoPlan => "nothing is lost: the run was killed before it started",
                NotARun::Unknown { .. } | NotARun::NoAgent(_) | NotARun::NoRole(_) => NOT_RESUMABLE,
            };
            Complaint::of(ErrorKind::Input, &error).caused_by(folder.history().path().display()).hint(hint)
        })?;
        Ok(Known { run, records: history.records, folder, torn: history.torn })
    }

    /// Returns the newest run on these folders that has not ended, if any.
    pub fn open<L: Ui>(&self, targets: &[PathBuf]) -> Option<Known<L>> {
        // Most runs have ended or are on other folders: the end and the first line of a journal say so.
        let may_be_open = |id: &RunId| {
            !store::has_closed::<L>(&self.home.run(id).history())
                && self.plan::<L>(id).is_some_and(|plan| L::targets(&plan) == targets)
        };
        let ids = self.ids(Some(L::KIND)).into_iter().filter(may_be_open);
        ids.filter_map(|id| self.load::<L>(&id).ok()).find(|known| known.run.closed_at.is_none())
    }

    /// Like `open`, but returns `None` if a process is working on the run.
    pub fn unfinished<L: Ui>(&self, targets: &[PathBuf]) -> Option<Known<L>> {
        let is_left = |known: &Known<L>| !matches!(self.status(&known.run), RunStatus::Running { .. });
        self.open(targets).filter(is_left)
    }

    pub fn status<L: Ui>(&self, run: &Run<L>) -> RunStatus {
        let targets = L::targets(&run.plan);
        let holder = targets.first().and_then(|target| self.locks.holder(target).ok().flatten());
        match holder.filter(|holder| holder.doing == run.plan.run.as_str()) {
            Some(holder) => RunStatus::Running { pid: holder.pid },
            None if run.closed_at.is_some() => RunStatus::Ended,
            None if run.held => RunStatus::Held,
            None => RunStatus::Open,
        }
    }
}

/// As many runs as a message names.
const NAMED: usize = 3;

/// Returns the newest run whose id starts almost like a misspelt name.
fn near<'a>(name: &str, ids: &'a [RunId]) -> Option<&'a RunId> {
    let starts = ids.iter().filter_map(|id| id.as_str().get(..name.len()));
    let near = nearest(name, starts).filter(|near| near.len() > 2)?;
    ids.iter().find(|id| id.as_str().starts_with(near))
}

/// The name of the winner, or of the best candidate so far.
pub const CHAMPION: &str = "champion";

impl<L: Ui> Known<L> {
    pub fn targets(&self) -> Vec<PathBuf> {
        L::targets(&self.run.plan)
    }

    /// Returns for each user command the trees that it replaced or was about to replace in the target, and the new
    /// trees.
    pub fn placings(&self) -> impl DoubleEndedIterator<Item = (&[TreeId], &[TreeId])> {
        self.records.iter().filter_map(|record| match &record.event {
            Event::Noted(Signal::Placing { from, to, .. } | Signal::Placed { from, to, .. }) => {
                Some((from.as_slice(), to.as_slice()))
            }
            Event::Noted(_) | Event::Done(_) | Event::Started(_) | Event::Decided(_) => None,
        })
    }

    /// Opens the journal for writing.
    pub fn open_journal(&self) -> Result<Journal, Complaint> {
        let opened = Journal::resume::<L>(&self.folder.history());
        opened.map(|(journal, _)| journal).map_err(|error| damaged(&self.folder, &error))
    }

    /// Records what the user has done.
    pub fn note(&mut self, journal: &mut Journal, placed: Signal) -> Result<(), Complaint> {
        let record = journal.append(session::now(), Event::Noted(placed)).map_err(ours)?;
        journal.barrier().map_err(ours)?;
        self.run.apply(&record);
        self.records.push(record);
        Ok(())
    }
}

impl Known<Tune> {
    /// Finds the candidate whose id has this prefix; `start`, `best`, `head` and `champion` are names too.
    pub fn candidate(&self, name: &str) -> Result<&Candidate, Complaint> {
        self.pick(name, &self.run.state.candidates)
    }

    /// Finds a candidate, or a version of the user's own that one of their commands replaced.
    pub fn version(&self, name: &str) -> Result<Candidate, Complaint> {
        let mut versions = self.run.state.candidates.clone();
        for (from, _) in self.placings() {
            let displaced = Candidate::original(from.to_vec());
            if versions.iter().all(|known| known.id != displaced.id) {
                versions.push(displaced);
            }
        }
        self.pick(name, &versions).cloned()
    }

    fn pick<'a>(&self, name: &str, among: &'a [Candidate]) -> Result<&'a Candidate, Complaint> {
        let run = &self.run;
        let named = match name {
            "start" => Some(run.start()),
            "best" => run.best().map(|(id, _)| id),
            "head" => Some(run.head()),
            CHAMPION => Some(champion(run)),
            _ => None,
        };
        if let Some(candidate) = named.and_then(|id| among.iter().find(|candidate| candidate.id == id)) {
            return Ok(candidate);
        }
        let hits: Vec<_> =
            among.iter().filter(|candidate| candidate.id.to_string().starts_with(name)).collect();
        match hits.as_slice() {
            [one] => Ok(one),
            [] => Err(Complaint::input(format!("run {} has no candidate {name:?}", run.plan.run))
                .hint(format!("it has {}", names(among)))),
            _ => Err(Complaint::input(format!("{name:?} matches several candidates"))
                .hint(format!("use a longer prefix: {}", names(among)))),
        }
    }
}

fn names(candidates: &[Candidate]) -> String {
    let names: Vec<_> = candidates.iter().map(|candidate| candidate.id.short()).collect();
    format!("{}, or start, best, head, champion", names.join(", "))
}

/// Returns the winner, or the best candidate so far.
fn champion(run: &tune::Run) -> skilltune_phases::base::id::CandidateId {
    let best = || run.best().map_or(run.start(), |(best, _)| best);
    run.state.shipment.as_ref().map_or_else(best, |shipment| shipment.champion)
}

/// Returns the only one of the ids with this prefix, if there is one.
fn the_only<'a>(ids: &'a [RunId], prefix: &str) -> Result<Option<&'a RunId>, Complaint> {
    match ids {
        [] => Ok(None),
        [one] => Ok(Some(one)),
        several => {
            let names: Vec<_> = several.iter().map(RunId::as_str).collect();
            Err(Complaint::input(format!("{prefix:?} matches {} runs", several.len()))
                .hint(format!("use a longer prefix: {}", names.join(", "))))
        }
    }
}

/// Returns the part of an id with the start time of the run: its last two words.
fn born(id: &RunId) -> &str {
    let id = id.as_str();
    let (day, time) = (id.rsplit('-').nth(1), id.rsplit('-').next());
    let length = day.zip(time).map_or(0, |(day, time)| day.len() + 1 + time.len());
    &id[id.len() - length..]
}

/// Reports a state folder that someone else prepared; skilltune does not touch it.
pub fn strange(error: HomeError) -> Complaint {
    match error {
        HomeError::Strange { .. } => Complaint::of(ErrorKind::Input, &error).hint(LEFT_ALONE),
        HomeError::Disk(error) if is_closed(error.kind()) => Complaint::of(ErrorKind::Input, &error)
            .hint("make the folder writable, or pass --project DIR to store runs in another folder")
            .hint("`skilltune doctor` shows which folders are used"),
        HomeError::Disk(error) => unusable(error),
    }
}

/// Returns true if the user may not write there.
fn is_closed(kind: io::ErrorKind) -> bool {
    matches!(kind, io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem)
}

/// Reports a disk error. A symlink, a FIFO, a folder or a huge file instead of a skilltune file belongs to someone else
/// and is not touched.
pub fn unusable(error: DiskError) -> Complaint {
    match error.kind() {
        io::ErrorKind::Other
        | io::ErrorKind::FileTooLarge
        | io::ErrorKind::IsADirectory
        | io::ErrorKind::NotADirectory => Complaint::of(ErrorKind::Input, &error).hint(LEFT_ALONE),
        _ => ours(error),
    }
}

const LEFT_ALONE: &str = "skilltune did not touch it; delete it if it came with a repository";

/// Refuses a run of a newer program, even if this version could read its lines.
fn newer(folder: &RunFolder, format: u32) -> Complaint {
    Complaint::input(format!("{} was written by a newer skilltune", folder.root().display()))
        .caused_by(format!("it has format {format}; this version reads up to {FORMAT}"))
        .hint("update skilltune")
}

const NOT_RESUMABLE: &str = "this run cannot be resumed; start a new run, which reuses the cached answers";

fn damaged(folder: &RunFolder, error: &JournalError) -> Complaint {
    if let Some(FirstLine { label: Some(Label { format, .. }), .. }) = store::first_line(&folder.history())
        && format > FORMAT
    {
        return newer(folder, format);
    }
    let complaint = Complaint::of(ErrorKind::Input, error);
    match error {
        JournalError::Disk(_) | JournalError::Missing { .. } => complaint,
        JournalError::TooLarge { .. } | JournalError::LongLine { .. } => {
            complaint.hint("start a new run; it reuses the cached answers")
        }
        JournalError::Damaged { .. } | JournalError::Newer { .. } | JournalError::NoPlan { .. } => {
            complaint.hint(NOT_RESUMABLE)
        }
    }
}

/// Returns the same seed for the same inputs, so that the next run finds their cached answers.
pub fn seed(inputs: &impl Serialize) -> u64 {
    Digest::of(&serde_json::to_vec(inputs).expect("what is asked for has a JSON text")).number()
}

/// Creates an id: four characters that rarely collide, then the start time.
pub fn new_run_id(seed: u64, now: Timestamp) -> RunId {
    let parts: [&[u8]; 3] =
        [&seed.to_le_bytes(), &now.as_nanosecond().to_le_bytes(), &std::process::id().to_le_bytes()];
    let name = &Digest::of_parts(parts).hex()[..4];
    let id = format!("{name}-{}", now.strftime("%Y%m%d-%H%M%S"));
    id.parse().expect("digits and a time are plain")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_tells_when_its_run_began_whatever_stands_before() {
        for (id, start) in [
            ("da29-20261121-163111", "20261121-163111"),
            ("write-the-api-page-20261121-163112", "20261121-163112"),
            ("20261121-163111", "20261121-163111"),
            ("odd", ""),
        ] {
            assert_eq!(born(&id.parse().unwrap()), start, "{id}");
        }
    }
}
