//! The runs of a project: found by a beginning of their id, read from their journals.

use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde_json::Value;
use skilltune_orchestrator::store::{self, Home, JournalError, Locks, RunFolder};
use skilltune_phases::candidate::Candidate;
use skilltune_phases::ending::Class;
use skilltune_phases::event::Record;
use skilltune_phases::plan::{FORMAT, RunId};
use skilltune_phases::run::Run;

use crate::complaint::{Complaint, Kind};
use crate::exit::Exit;
use crate::folders::Surroundings;

/// The runs of one project.
#[derive(Clone, Debug)]
pub struct Runs {
    pub home: Home,
    locks: Locks,
}

/// A run as its journal tells it.
#[derive(Clone, Debug)]
pub struct Known {
    pub run: Run,
    pub records: Vec<Record>,
    pub folder: RunFolder,
    /// Bytes of a last line that was never finished.
    pub torn: usize,
}

/// Where a run stands, as seen from outside of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    Running {
        pid: u32,
    },
    Held,
    /// Stopped, or killed: it can be taken up again.
    Open,
    Ended,
}

impl Runs {
    /// The runs of the project that the current folder belongs to.
    pub fn here(around: &Surroundings) -> Self {
        Self::of(&around.project_here(), around)
    }

    pub fn of(project: &Path, around: &Surroundings) -> Self {
        Self { home: Home::of(project), locks: Locks::at(&around.state) }
    }

    /// All ids, the newest first.
    pub fn ids(&self) -> Vec<RunId> {
        let folders = std::fs::read_dir(self.home.runs()).into_iter().flatten().flatten();
        // Reading anything but a file may never come to an end.
        let has_history = |folder: &std::fs::DirEntry| folder.path().join("history.jsonl").is_file();
        let names = folders.filter(has_history).filter_map(|folder| folder.file_name().into_string().ok());
        let mut ids: Vec<_> = names.map(RunId).collect();
        // Ids tell the second; within one, the journal knows which came first.
        ids.sort_by(|a, b| born(b).cmp(born(a)).then_with(|| self.begun(b).cmp(&self.begun(a))));
        ids
    }

    /// The run whose id begins so, or the newest.
    pub fn find(&self, prefix: Option<&str>) -> Result<Known, Complaint> {
        let ids = self.ids();
        let Some(prefix) = prefix else {
            let newest = ids.iter().find(|id| self.has_begun(id)).or(ids.first());
            return self.load(newest.ok_or_else(|| self.none())?);
        };
        let hits: Vec<_> = ids.iter().filter(|id| id.0.starts_with(prefix)).collect();
        match hits.as_slice() {
            [one] => self.load(one),
            [] if ids.is_empty() => Err(self.none()),
            [] => Err(Complaint::input(format!("no run's id begins with {prefix:?}"))
                .hint("`skilltune list` shows the runs of this project; a round or a candidate is named after its run")),
            several => Err(Complaint::input(format!("{prefix:?} begins the ids of {} runs", several.len()))
                .hint(format!(
                    "write more of it: {}",
                    several.iter().map(|id| id.0.as_str()).collect::<Vec<_>>().join(", ")
                ))),
        }
    }

    /// Whether the first line was ever finished: a run that was killed before that is nobody's newest.
    fn has_begun(&self, id: &RunId) -> bool {
        self.first_line(id).is_none_or(|line| line.ends_with(b"\n"))
    }

    /// When the first line was written, as far as it can be read.
    fn begun(&self, id: &RunId) -> Option<Timestamp> {
        let first: Value = serde_json::from_slice(&self.first_line(id)?).ok()?;
        first.get("at")?.as_str()?.parse().ok()
    }

    fn first_line(&self, id: &RunId) -> Option<Vec<u8>> {
        let mut line = Vec::new();
        let journal = File::open(self.home.run(id).history()).ok()?;
        BufReader::new(journal).read_until(b'\n', &mut line).ok()?;
        Some(line)
    }

    pub fn load(&self, id: &RunId) -> Result<Known, Complaint> {
        let folder = self.home.run(id);
        let history = store::read(&folder.history()).map_err(|error| damaged(&folder, &error))?;
        let run = Run::replay(&history.records)
            .map_err(|error| Complaint::of(Kind::Input, &error).caused_by(folder.history().display()))
            .map_err(|complaint| {
                complaint.hint("nothing is lost with it: a run begins with the first line of its journal")
            })?;
        Ok(Known { run, records: history.records, folder, torn: history.torn })
    }

    /// The newest run on these folders that has not ended and that nobody works on, if any.
    pub fn unfinished(&self, targets: &[PathBuf]) -> Option<Known> {
        let known = self.ids().into_iter().filter_map(|id| self.load(&id).ok());
        let mut left = known.filter(|known| known.run.closed.is_none() && known.targets() == targets);
        left.next().filter(|known| !matches!(self.standing(&known.run), Standing::Running { .. }))
    }

    pub fn standing(&self, run: &Run) -> Standing {
        let holder = run
            .plan
            .target
            .members
            .first()
            .and_then(|member| self.locks.holder(Path::new(&member.path)).ok().flatten());
        match holder.filter(|holder| holder.doing == run.plan.run.0) {
            Some(holder) => Standing::Running { pid: holder.pid },
            None if run.closed.is_some() => Standing::Ended,
            None if run.held => Standing::Held,
            None => Standing::Open,
        }
    }

    fn none(&self) -> Complaint {
        Complaint::input(format!("there are no runs in {}", self.home.root().display()))
            .hint("start one with `skilltune tune SKILL`, or name another project with --project DIR")
    }
}

/// The word for what won, or is ahead so far.
pub const CHAMPION: &str = "champion";

impl Known {
    pub fn targets(&self) -> Vec<PathBuf> {
        self.run.plan.target.members.iter().map(|member| PathBuf::from(&member.path)).collect()
    }

    /// The candidate whose id begins so; the words `start`, `best`, `head` and `champion` name one too.
    pub fn candidate(&self, name: &str) -> Result<&Candidate, Complaint> {
        let run = &self.run;
        let named = match name {
            "start" => Some(run.start()),
            "best" => run.best().map(|(id, _)| id),
            "head" => Some(run.head()),
            CHAMPION => Some(champion(run)),
            _ => None,
        };
        if let Some(candidate) = named.and_then(|id| run.candidate(id)) {
            return Ok(candidate);
        }
        let hits: Vec<_> =
            run.candidates.iter().filter(|candidate| candidate.id.to_string().starts_with(name)).collect();
        match hits.as_slice() {
            [one] => Ok(one),
            [] => Err(Complaint::input(format!("run {} has no candidate {name:?}", run.plan.run))
                .hint(format!("it has {}", self.candidate_names()))),
            _ => Err(Complaint::input(format!("{name:?} begins the ids of several candidates"))
                .hint(format!("write more of it: {}", self.candidate_names()))),
        }
    }

    fn candidate_names(&self) -> String {
        let names: Vec<_> = self.run.candidates.iter().map(|candidate| candidate.id.short()).collect();
        format!("{} (and the words start, best, head, champion)", names.join(", "))
    }
}

/// What won, or is ahead so far.
fn champion(run: &Run) -> skilltune_phases::id::CandidateId {
    let best = || run.best().map_or(run.start(), |(best, _)| best);
    run.shipment.as_ref().map_or_else(best, |shipment| shipment.champion)
}

/// How a run that is over, or was left, ends the program.
pub fn exit_of(run: &Run) -> Exit {
    match run.class() {
        Class::Reached => Exit::Reached,
        Class::Short | Class::Open => Exit::Ended,
        Class::Unjudged => Exit::Unjudged,
    }
}

/// The part of an id that tells when the run began.
fn born(id: &RunId) -> &str {
    id.0.split_once('-').map_or("", |(_, born)| born)
}

fn damaged(folder: &RunFolder, error: &JournalError) -> Complaint {
    if let Ok(Some(format)) = store::format_of(&folder.history())
        && format > FORMAT
    {
        return Complaint::input(format!("{} was written by a newer skilltune", folder.root().display()))
            .caused_by(format!("it has format {format}; this program reads up to {FORMAT}"))
            .hint("use the newer program for this run");
    }
    let complaint = Complaint::of(Kind::Input, error);
    match error {
        JournalError::Disk(_) => complaint,
        JournalError::Damaged { .. } | JournalError::Newer { .. } | JournalError::NoPlan { .. } => complaint.hint(
            "the run cannot be taken up; its answers are in the cache, so a new run on the same skill makes none of them again",
        ),
    }
}
