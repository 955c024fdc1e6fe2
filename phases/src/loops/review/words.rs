//! Sentences that all outputs of a review share. They hold words of agents and files unchanged: each output makes them
//! harmless.

use super::Run;
use super::finding::{Place, Severity, Side};
use super::proof::{CommandEnd, Verdict};
use super::view::{Ended, Entry, Grade, Proved};
use crate::base::json::is_hidden;
use crate::loops::shared::command_line::shell_line;
use crate::runs::plan::Cast;

/// More files are only counted.
const MOST_FILES: usize = 30;

impl Run {
    /// Returns the result in a sentence.
    pub fn verdict(&self) -> String {
        let entries = self.entries();
        let worst = self.plan.task.rules.fail_on;
        let or_worse = if worst == Severity::Critical { "" } else { " or worse" };
        match self.outcome() {
            Ended::Paused => "The review has not ended yet.".to_owned(),
            Ended::Found => {
                let failing = entries.iter().filter(|entry| self.fails(entry)).count();
                format!(
                    "Failed: {} of severity {}{or_worse}.",
                    count(failing, "certain finding"),
                    worst.word()
                )
            }
            Ended::Incomplete => format!("Incomplete: {}.", self.gaps().join("; ")),
            Ended::Clean if self.plan.task.changed.is_empty() => "Passed: nothing changed.".to_owned(),
            Ended::Clean if entries.is_empty() => "Passed: nothing was found.".to_owned(),
            Ended::Clean => format!("Passed: no certain finding of severity {}{or_worse}.", worst.word()),
        }
    }

    fn gaps(&self) -> Vec<String> {
        let failed = self.failed_reviews().len();
        let reviews = self.plan.task.parts.len() * self.plan.task.reviewers.len();
        let (missing, all) = self.unverified();
        let failed = (failed > 0).then(|| format!("{failed} of {} failed", count(reviews, "review")));
        let missing =
            self.is_unverified().then(|| format!("{missing} of {} not verified", count(all, "finding")));
        let machines = self.failed_machines().join(", ");
        let machines = (!machines.is_empty()).then(|| format!("{machines} could not run"));
        failed.into_iter().chain(machines).chain(missing).collect()
    }

    /// Returns what a person should know before they believe the verifications.
    pub fn warning(&self) -> Option<&'static str> {
        let is_odd = self.refuted_all();
        is_odd.then_some("the second agent refuted every finding that it was given, so read them yourself")
    }

    /// Returns the changed files that reviewers got.
    pub fn reviewed_files(&self) -> Vec<&str> {
        let task = &self.plan.task;
        let is_left_out = |path: &str| task.left_out.iter().any(|one| *one.path == *path);
        task.changed.iter().map(|one| &*one.path).filter(|path| !is_left_out(path)).collect()
    }

    /// Says what was looked at and by whom, each with its name.
    pub fn looked_at(&self) -> Vec<(&'static str, String)> {
        let task = &self.plan.task;
        let files = self.reviewed_files();
        let named = files.iter().take(MOST_FILES).copied().collect::<Vec<_>>().join(", ");
        let more = files.len().saturating_sub(MOST_FILES);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let machines = task.running().map(|(_, machine)| &*machine.name).collect::<Vec<_>>().join(", ");
        let reviewer = task
            .reviewers
            .iter()
            .map(|one| format!("{} ({} expert {})", one.short, one.expert.origin.word(), one.expert.name));
        let agents = self.plan.roles.map(Cast::shown);
        let agents = agents.iter().map(|(role, agent)| format!("{role} {agent}"));
        let files =
            if files.is_empty() { "none".to_owned() } else { format!("{} ({named}{more})", files.len()) };
        vec![
            ("change", task.subject.to_string()),
            ("files", files),
            ("machines", if machines.is_empty() { "none".to_owned() } else { machines }),
            ("reviewers", reviewer.collect::<Vec<_>>().join(", ")),
            ("agents", agents.collect::<Vec<_>>().join(", ")),
        ]
    }

    /// Says which reviews failed, and why.
    pub fn failures(&self) -> Vec<String> {
        let parts = self.plan.task.parts.len();
        let failures = self.failed_reviews().into_iter();
        failures
            .map(|(short, part, failure)| {
                let part =
                    if parts > 1 { format!(" on part {} of {parts}", part + 1) } else { String::new() };
                format!("{short} failed{part}: {}", failure.why)
            })
            .collect()
    }
}

impl Entry<'_> {
    /// Returns its severity and grade.
    pub fn rank(&self) -> String {
        format!("{}, {}", self.severity().word(), self.grade.word())
    }

    pub fn at(&self) -> Option<String> {
        self.finding.place.as_ref().map(Place::at)
    }

    /// Says what its place is, where that is not the file as it is now.
    pub fn side(&self) -> Option<&'static str> {
        match self.finding.place.as_ref()?.side {
            Side::New => None,
            Side::Old => Some("in removed lines"),
            Side::Absent => Some("something is missing here"),
        }
    }

    /// Returns the quote that shows it; none if a machine named the place.
    pub fn quote(&self) -> Option<&str> {
        self.finding.place.as_ref().map(|place| &*place.quote).filter(|quote| !quote.is_empty())
    }

    /// Returns the quote that speaks against it.
    pub fn against(&self) -> Option<&Place> {
        self.verification?.against.as_ref()
    }

    pub fn reporters(&self) -> String {
        self.by.join(", ")
    }

    /// Returns the second agent's verdict; none for a finding of a machine.
    pub fn opinion(&self) -> Option<String> {
        if self.grade == Grade::Machine {
            return None;
        }
        let Some(answer) = self.verification else { return Some("no usable answer".to_owned()) };
        let unfounded = answer
            .unfounded
            .as_ref()
            .map_or_else(String::new, |why| format!(" (its refutation does not count: {why})"));
        Some(format!("{}: {}{unfounded}", answer.verdict.word(), answer.why))
    }
}

impl Verdict {
    pub fn word(self) -> &'static str {
        match self {
            Self::Confirmed => "confirmed",
            Self::Refuted => "refuted",
            Self::Uncertain => "uncertain",
        }
    }
}

impl Proved<'_> {
    pub fn command(&self) -> String {
        shell_line(&self.proposal.argv)
    }

    /// Says how its runs ended.
    pub fn result(&self) -> String {
        if let Some(why) = &self.proposal.refused {
            return format!("not run: {why}");
        }
        let Some(after) = self.after else { return "not run".to_owned() };
        let words = match (after.failed(), after.announced) {
            (true, true) => ", in the announced words",
            (true, false) => ", without the announced words",
            (false, _) => "",
        };
        let ends = [(self.before, "without it"), (self.fixed, "with the suggestion")];
        let ends = ends.into_iter().filter_map(|(end, with)| Some(format!("; {}", ended(end?, with))));
        format!("{}{words}{}", ended(after, "with the change"), ends.collect::<String>())
    }
}

fn ended(end: &CommandEnd, with: &str) -> String {
    match end.exit {
        Some(0) => format!("passes {with}"),
        Some(code) => format!("fails {with} (exit code {code})"),
        None => format!("does not end {with}"),
    }
}

/// Shows a number of things: `1 finding`, `2 findings`.
pub(super) fn count(number: usize, thing: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {thing}{plural}")
}

/// Returns the text without the characters that could drive a terminal or reverse a line.
pub(super) fn plain(text: &str) -> String {
    text.chars().filter(|c| !is_hidden(*c)).collect()
}
