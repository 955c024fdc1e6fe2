//! What a review has found: each finding with its grade, in the order in which people read them.

use std::cmp::Reverse;

use serde::Serialize;

use super::finding::{Dropped, Finding, Place, Severity, Side};
use super::machine::{StepEnd, reviews};
use super::proof::{CommandEnd, Proposal, Verdict, Verification};
use super::task::{Machine, Task};
use super::{Answer, Files, Run, Step};
use crate::base::ending::Class;
use crate::loops::shared::diagnostics::Diagnostic;
use crate::runs::event::Failure;
use crate::runs::run::StepState;

/// The check that finds changes of files that decide about reviews.
pub const DECIDING: &str = "review";

/// How certain a finding is; the most certain sorts first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Grade {
    /// A command fails with the change and passes without it.
    Proved,
    /// A machine found it.
    Machine,
    Confirmed,
    Uncertain,
    /// The second agent gave no usable answer.
    NotVerified,
    Refuted,
}

/// A finding and everything that is known about it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Entry<'a> {
    pub finding: Finding,
    pub fingerprint: String,
    pub grade: Grade,
    /// The reviewers or the machine.
    pub by: Vec<Box<str>>,
    /// The same fault as others report it.
    pub also: &'a [Finding],
    /// Whether the change does not touch its place.
    pub is_older: bool,
    /// Why a person has suppressed it.
    pub suppressed: Option<&'a str>,
    pub verification: Option<&'a Verification>,
    pub proof: Option<Proved<'a>>,
}

/// The commands that were run to show a finding.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Proved<'a> {
    pub proposal: &'a Proposal,
    pub after: Option<&'a CommandEnd>,
    pub before: Option<&'a CommandEnd>,
    pub fixed: Option<&'a CommandEnd>,
}

/// The run's outcome for scripts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    /// No certain finding is as bad as `--fail-on`.
    Clean,
    /// There is such a finding.
    Found,
    /// A reviewer failed, or too many findings were not verified.
    Incomplete,
    /// The run has not ended and can be resumed.
    Paused,
}

/// The number of findings of each grade. Those that a person has suppressed, and those that are older, count apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    pub proved: usize,
    pub machine: usize,
    pub confirmed: usize,
    pub uncertain: usize,
    pub not_verified: usize,
    pub refuted: usize,
    pub older: usize,
    pub suppressed: usize,
    /// Those whose quote is not in the files.
    pub dropped: usize,
}

/// The findings of a run in the groups in which people read them, each in the order of `entries`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Groups<'a> {
    /// Those that count against the change.
    pub shown: Vec<Entry<'a>>,
    /// Those that the change does not touch.
    pub older: Vec<Entry<'a>>,
    pub refuted: Vec<Entry<'a>>,
    pub suppressed: Vec<Entry<'a>>,
}

impl Grade {
    pub fn word(self) -> &'static str {
        match self {
            Self::Proved => "proved",
            Self::Machine => "machine",
            Self::Confirmed => "confirmed",
            Self::Uncertain => "uncertain",
            Self::NotVerified => "not verified",
            Self::Refuted => "refuted",
        }
    }

    /// Whether a run may fail because of it.
    pub fn is_certain(self) -> bool {
        match self {
            Self::Proved | Self::Machine | Self::Confirmed => true,
            Self::Uncertain | Self::NotVerified | Self::Refuted => false,
        }
    }
}

impl Proved<'_> {
    /// Whether the command fails with the change, in the announced words.
    fn fails(&self) -> bool {
        self.after.is_some_and(|end| end.failed() && end.announced)
    }

    /// Whether it also passes without the change: then the change brings the fault, whatever lines it touches.
    fn shows_change(&self) -> bool {
        self.fails() && self.before.is_some_and(CommandEnd::passed)
    }

    /// Whether the command fails with the change, and passes without it or with the suggestion.
    fn holds(&self) -> bool {
        self.fails()
            && (self.before.is_some_and(CommandEnd::passed) || self.fixed.is_some_and(CommandEnd::passed))
    }
}

impl Entry<'_> {
    /// Whether it counts against the change.
    pub fn counts(&self) -> bool {
        !self.is_older && self.suppressed.is_none()
    }

    pub fn severity(&self) -> Severity {
        self.finding.severity
    }
}

impl Run {
    /// Returns all findings, the most certain first, and of equally certain ones the worst.
    pub fn entries(&self) -> Vec<Entry<'_>> {
        let own = self.plan.task.found.iter().map(|own| {
            let entry = self.by_machine(&own.by, own.finding.clone(), false);
            // The next change of such a file is another one.
            let suppressed = entry.suppressed.filter(|_| *own.by != *DECIDING);
            Entry { suppressed, ..entry }
        });
        let scanned = self.plan.task.running().flat_map(|(at, machine)| self.scanned(at, machine));
        let merged = (0..self.state.merged.as_ref().map_or(0, Vec::len)).filter_map(|at| self.reported(at));
        let mut all: Vec<Entry<'_>> = own.chain(scanned).chain(merged).collect();
        all.sort_by_key(|entry| (entry.grade, Reverse(entry.severity())));
        all
    }

    fn by_machine(&self, by: &str, finding: Finding, is_older: bool) -> Entry<'_> {
        let fingerprint = finding.fingerprint();
        let suppressed = self.suppression(&fingerprint);
        let by = vec![by.into()];
        let (also, verification, proof) = (&[][..], None, None);
        let grade = Grade::Machine;
        Entry { finding, fingerprint, grade, by, also, is_older, suppressed, verification, proof }
    }

    /// Returns the findings of a command that failed with the change.
    fn scanned(&self, at: usize, machine: &Machine) -> Vec<Entry<'_>> {
        let end = |on| self.ended(&Step::Scan { machine: at, on });
        let Some(after) = end(Files::After).filter(|end| end.failed()) else { return Vec::new() };
        let before = end(Files::Before);
        let found = machine.findings(after, &self.plan.task);
        let is_older = |finding: &Finding| {
            let Some(before) = before.filter(|end| end.failed()) else { return false };
            // Without places, nothing tells the old fault from a new one.
            finding.place.is_none() || before.diagnostics.iter().any(|one| *one.message == *finding.title)
        };
        found
            .into_iter()
            .map(|finding| {
                let is_older = is_older(&finding);
                self.by_machine(&machine.name, finding, is_older)
            })
            .collect()
    }

    /// Returns how the command of a step ended, once it has.
    pub fn ended(&self, step: &Step) -> Option<&CommandEnd> {
        match self.end_of(step) {
            StepEnd::Ended(end) => Some(end),
            StepEnd::Open | StepEnd::Failed => None,
        }
    }

    fn reported(&self, at: usize) -> Option<Entry<'_>> {
        let merged = self.state.merged.as_ref()?.get(at)?;
        let finding = merged.finding.clone();
        let verification = match self.state_of(&Step::Verify { finding: at }) {
            StepState::Answered(Answer::Verified(answer)) => Some(&**answer),
            StepState::Answered(_) | StepState::GivenUp(_) | StepState::Open => None,
        };
        let end = |on| self.ended(&Step::Prove { finding: at, on });
        let proof = verification.and_then(|answer| answer.proposal.as_ref()).map(|proposal| Proved {
            proposal,
            after: end(Files::After),
            before: end(Files::Before),
            fixed: end(Files::Fixed),
        });
        let grade = match verification.map(|answer| answer.verdict) {
            _ if proof.as_ref().is_some_and(Proved::holds) => Grade::Proved,
            None => Grade::NotVerified,
            Some(Verdict::Confirmed) => Grade::Confirmed,
            Some(Verdict::Uncertain) => Grade::Uncertain,
            Some(Verdict::Refuted) => Grade::Refuted,
        };
        let fingerprint = finding.fingerprint();
        let is_elsewhere = |one: &Finding| one.place.as_ref().is_some_and(|place| !place.is_changed);
        let is_older = std::iter::once(&finding).chain(&merged.also).all(is_elsewhere);
        Some(Entry {
            suppressed: self.suppression(&fingerprint),
            is_older: is_older && !proof.as_ref().is_some_and(Proved::shows_change),
            finding,
            fingerprint,
            grade,
            by: merged.by.clone(),
            also: &merged.also,
            verification,
            proof,
        })
    }

    /// Returns why a person has suppressed a finding, if one has.
    fn suppression(&self, fingerprint: &str) -> Option<&str> {
        let mut all = self.plan.task.suppressed.iter();
        all.find(|one| *one.fingerprint == *fingerprint).map(|one| &*one.reason)
    }

    /// Returns the findings that do not count, with the short name of their reviewer.
    pub fn dropped(&self) -> Vec<(&str, &Dropped)> {
        let of = |step: Step| match (step, self.state_of(&step)) {
            (Step::Review { reviewer, .. }, StepState::Answered(Answer::Reviewed { dropped, .. })) => {
                let by = self.plan.task.reviewers.get(reviewer).map_or("", |one| &*one.short);
                dropped.iter().map(|one| (by, one)).collect()
            }
            _ => Vec::new(),
        };
        reviews(self).flat_map(of).collect()
    }

    /// Returns the reviews that failed: the reviewer, the part, and why.
    pub fn failed_reviews(&self) -> Vec<(&str, usize, &Failure)> {
        let of = |step: Step| match (step, self.state_of(&step)) {
            (Step::Review { part, reviewer }, StepState::GivenUp(failure)) => {
                Some((&*self.plan.task.reviewers.get(reviewer)?.short, part, failure))
            }
            _ => None,
        };
        reviews(self).filter_map(of).collect()
    }

    pub fn counts(&self) -> Counts {
        let mut counts = Counts { dropped: self.dropped().len(), ..Counts::default() };
        for entry in self.entries() {
            let count = match entry.grade {
                _ if entry.suppressed.is_some() => &mut counts.suppressed,
                _ if entry.is_older => &mut counts.older,
                Grade::Proved => &mut counts.proved,
                Grade::Machine => &mut counts.machine,
                Grade::Confirmed => &mut counts.confirmed,
                Grade::Uncertain => &mut counts.uncertain,
                Grade::NotVerified => &mut counts.not_verified,
                Grade::Refuted => &mut counts.refuted,
            };
            *count += 1;
        }
        counts
    }

    /// Whether the second agent refuted all of several findings: then it is more likely wrong than all reviewers.
    pub fn refuted_all(&self) -> bool {
        const SEVERAL: usize = 4;
        let Counts { proved, confirmed, uncertain, refuted, .. } = self.counts();
        refuted >= SEVERAL && proved + confirmed + uncertain == 0
    }

    pub fn class(&self) -> Class {
        match self.outcome() {
            Ended::Clean => Class::Reached,
            Ended::Found => Class::Short,
            Ended::Incomplete => Class::Unjudged,
            Ended::Paused => Class::Open,
        }
    }

    pub fn outcome(&self) -> Ended {
        if self.closed_at.is_none() {
            Ended::Paused
        } else if self.entries().iter().any(|entry| self.fails(entry)) {
            Ended::Found
        } else if !self.failed_reviews().is_empty()
            || !self.failed_machines().is_empty()
            || self.is_unverified()
        {
            Ended::Incomplete
        } else {
            Ended::Clean
        }
    }

    /// Returns the names of the machines that should have looked at the change and could not run.
    pub fn failed_machines(&self) -> Vec<&str> {
        let did_run = |at| match self.end_of(&Step::Scan { machine: at, on: Files::After }) {
            StepEnd::Ended(end) => end.exit.is_some(),
            StepEnd::Open => true,
            StepEnd::Failed => false,
        };
        let failed = self.plan.task.running().filter(|(at, _)| !did_run(*at));
        failed.map(|(_, machine)| &*machine.name).collect()
    }

    /// Whether the run fails because of a finding.
    pub fn fails(&self, entry: &Entry<'_>) -> bool {
        entry.counts() && entry.grade.is_certain() && entry.severity() >= self.plan.task.rules.fail_on
    }

    /// Whether more findings were not verified than the rules allow.
    pub fn is_unverified(&self) -> bool {
        let (missing, all) = self.unverified();
        missing * 100 > all * self.plan.task.rules.unverified as usize
    }

    /// Returns the number of findings that were not verified, and of all that had to be.
    pub fn unverified(&self) -> (usize, usize) {
        let all = self.state.merged.as_ref().map_or(0, Vec::len);
        let reported = (0..all).filter_map(|at| self.reported(at)).filter(|entry| entry.suppressed.is_none());
        let grades: Vec<Grade> = reported.map(|entry| entry.grade).collect();
        (grades.iter().filter(|grade| **grade == Grade::NotVerified).count(), grades.len())
    }

    /// Returns all findings in the groups in which people read them.
    pub fn groups(&self) -> Groups<'_> {
        let mut groups = Groups::default();
        for entry in self.entries() {
            let group = match entry.grade {
                _ if entry.suppressed.is_some() => &mut groups.suppressed,
                _ if entry.is_older => &mut groups.older,
                Grade::Refuted => &mut groups.refuted,
                Grade::Proved | Grade::Machine | Grade::Confirmed | Grade::Uncertain | Grade::NotVerified => {
                    &mut groups.shown
                }
            };
            group.push(entry);
        }
        groups
    }

    /// Says of each machine what came of it. The lines stay the same as long as the results do.
    pub fn machine_lines(&self) -> Vec<String> {
        let line = |(at, machine): (usize, &Machine)| {
            let end = |on| self.end_of(&Step::Scan { machine: at, on });
            let said = match (&machine.skipped, end(Files::After)) {
                (Some(why), _) => format!("SKIPPED: {why}"),
                (None, StepEnd::Open) => "not run yet".to_owned(),
                (None, StepEnd::Failed) => "did not run".to_owned(),
                (None, StepEnd::Ended(end_after)) if end_after.passed() => "passed".to_owned(),
                (None, StepEnd::Ended(end_after)) if end_after.failed() => match end(Files::Before) {
                    StepEnd::Ended(before) if before.failed() => {
                        "fails, and failed before the change: it says nothing about it".to_owned()
                    }
                    StepEnd::Ended(_) | StepEnd::Failed | StepEnd::Open => "fails".to_owned(),
                },
                (None, StepEnd::Ended(end_after)) => format!("did not run: {}", end_after.details),
            };
            format!("{}: {said}", machine.name)
        };
        self.plan.task.machines.iter().enumerate().map(line).collect()
    }
}

impl Machine {
    /// Returns what a failed command found: the places that it names in changed files, or else its end.
    fn findings(&self, end: &CommandEnd, task: &Task) -> Vec<Finding> {
        let finding = |title: &str, place| Finding {
            severity: self.severity,
            title: title.into(),
            place,
            what: format!("`{}`: {}", self.argv.join(" "), end.details).into(),
            suggestion: "".into(),
            fixed: None,
        };
        let placed: Vec<Finding> = end
            .diagnostics
            .iter()
            .filter(|one| task.changed(&one.path).is_some())
            .map(|one| finding(&one.message, Some(one.place())))
            .collect();
        if placed.is_empty() { vec![finding(&format!("{} fails", self.name), None)] } else { placed }
    }
}

impl Diagnostic {
    fn place(&self) -> Place {
        Place {
            path: self.path.clone(),
            side: Side::New,
            lines: (self.line, self.line),
            quote: self.message.clone(),
            code: "".into(),
            is_changed: true,
        }
    }
}
