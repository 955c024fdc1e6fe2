//! The engine's part for `review`: looks up every quote, applies suggestions to a copy, and reads the ends of commands.

use skilltune_phases::base::id::TreeId;
use skilltune_phases::base::json;
use skilltune_phases::loops::review::finding::{Finding, Place, Side};
use skilltune_phases::loops::review::proof::{CommandEnd, Proposal, Verdict, Verification};
use skilltune_phases::loops::review::quote::{self, Claim};
use skilltune_phases::loops::review::task::Trees;
use skilltune_phases::loops::review::{
    AgentRequest, Answer, Call, MOST_FINDINGS, RawFinding, RawVerdict, Review, Run, markdown, sarif,
};
use skilltune_phases::loops::shared::diagnostics::diagnostics;
use skilltune_phases::runs::event::{Failure, FailureKind};
use skilltune_phases::suites::checks::quote_end;

use super::edited_copy::gate;
use super::{AgentOutput, CommandOutput, EngineError, Extent, LoopEngine, ReadError, Services};
use crate::checks::{end_of, exit_code};
use crate::disk::atomic::Durability;
use crate::git::link_text;
use crate::snapshot::{Change, Entry, Manifest, Node, ObjectError, Objects, RelPath, changes};
use crate::store::RunFolder;

/// A quote in a larger file is not looked up.
const LARGEST: u64 = 4 << 20;

impl LoopEngine for Review {
    fn read(
        services: &Services,
        request: &AgentRequest,
        output: &AgentOutput<'_>,
    ) -> Result<Answer, ReadError> {
        match request.call() {
            Call::Review { .. } => {
                let (raw, mut dropped) = request.raw_findings(output.answer)?;
                let sources = Sources::of(services, request)?;
                let mut findings = Vec::new();
                for one in raw {
                    match sources.finding(&one)? {
                        Ok(finding) => findings.push(finding),
                        Err(why) => dropped.push(one.dropped(why)),
                    }
                }
                Ok(Answer::Reviewed { findings, dropped })
            }
            Call::Verify { .. } => {
                let raw = request.raw_verdict(output.answer)?;
                Ok(Answer::Verified(Box::new(Sources::of(services, request)?.verification(raw)?)))
            }
            Call::Command { .. } => {
                Err(Failure::new(FailureKind::UsageError, "this step asks no agent").into())
            }
        }
    }

    /// Every quote of the answer is looked up again.
    fn examined(services: &Services, request: &AgentRequest, answer: Answer) -> Result<Answer, ReadError> {
        match answer {
            Answer::Reviewed { findings, dropped } => {
                if findings.len() > MOST_FINDINGS {
                    return Err(gate("a worker returned more findings than were asked for").into());
                }
                let sources = Sources::of(services, request)?;
                let findings = findings.into_iter().map(|one| sources.found_again(one));
                Ok(Answer::Reviewed { findings: findings.collect::<Result<_, _>>()?, dropped })
            }
            Answer::Verified(verification) => {
                let sources = Sources::of(services, request)?;
                Ok(Answer::Verified(Box::new(sources.verified_again(*verification)?)))
            }
            Answer::Ran(_) | Answer::Allowed(_) => Ok(answer),
        }
    }

    /// A quote is looked up in both versions.
    fn also_reads(request: &AgentRequest) -> Vec<TreeId> {
        request.task().trees.iter().flat_map(|trees| [trees.before, trees.after]).collect()
    }

    fn ran(_: &Services, request: &AgentRequest, ran: &CommandOutput<'_>) -> Result<Answer, ReadError> {
        let exit = exit_code(ran.how);
        let streams = [ran.stderr, ran.stdout];
        let ends = streams.iter().rev().map(|said| quote_end(said)).filter(|said| !said.is_empty());
        let details =
            std::iter::once(end_of(ran.how, ran.seconds)).chain(ends).collect::<Vec<_>>().join("; ");
        let announced = match request.call() {
            Call::Command { proposal: Some(proposal) } => {
                streams.iter().any(|said| proposal.is_announced(said))
            }
            Call::Command { proposal: None } | Call::Review { .. } | Call::Verify { .. } => false,
        };
        let is_changed = |path: &str| request.task().changed(path).is_some();
        let diagnostics = streams.iter().flat_map(|said| diagnostics(said, is_changed)).collect();
        Ok(Answer::Ran(Box::new(CommandEnd { exit, details: details.into(), announced, diagnostics })))
    }

    fn project(_: &Objects, folder: &RunFolder, run: &Run, _: Extent) -> Result<(), EngineError> {
        if run.closed_at.is_none() {
            return Ok(());
        }
        let pages = [("review.md", markdown::markdown(run)), ("review.sarif", sarif::sarif(run))];
        for (name, page) in pages {
            folder.place().join(name).replace(page.as_bytes(), Durability::Order)?;
        }
        Ok(())
    }

    fn state(run: &Run) -> String {
        json::page(&serde_json::json!({
            "run": run.plan.run,
            "subject": run.plan.task.subject,
            "outcome": run.outcome(),
            "counts": run.counts(),
            "updated_at": run.updated_at,
        }))
    }
}

/// The files on both sides of the change.
struct Sources<'a> {
    services: &'a Services,
    request: &'a AgentRequest,
    before: Manifest,
    after: Manifest,
}

impl<'a> Sources<'a> {
    fn of(services: &'a Services, request: &'a AgentRequest) -> Result<Self, EngineError> {
        let Trees { before, after, .. } = request.task().trees.ok_or(EngineError::Stuck)?;
        let (before, after) = (services.objects.manifest(before)?, services.objects.manifest(after)?);
        Ok(Self { services, request, before, after })
    }

    /// Looks up the quote of a finding. Returns why it does not count, if it does not.
    fn finding(&self, raw: &RawFinding) -> Result<Result<Finding, &'static str>, EngineError> {
        let place = match self.place(raw.claim())? {
            Ok(place) => place,
            Err(why) => return Ok(Err(why)),
        };
        let fixed = match &raw.replacement {
            Some(new) if raw.side != Side::Old => self.fixed(&raw.path, &raw.quote, new)?,
            Some(_) | None => None,
        };
        Ok(Ok(Finding {
            severity: raw.severity,
            title: raw.title.clone(),
            place: Some(place),
            what: raw.what.clone(),
            suggestion: raw.suggestion.clone(),
            fixed,
        }))
    }

    /// Looks up the quote that speaks against a finding. A refutation without one is no more than doubt.
    fn verification(&self, raw: RawVerdict) -> Result<Verification, EngineError> {
        let against = match raw.verdict {
            Verdict::Refuted => Some(self.place(raw.claim())?),
            Verdict::Confirmed | Verdict::Uncertain => None,
        };
        let (verdict, against, unfounded) = match against {
            None => (raw.verdict, None, None),
            Some(Ok(place)) => (Verdict::Refuted, Some(place), None),
            Some(Err(why)) => (Verdict::Uncertain, None, Some(why.into())),
        };
        Ok(Verification { verdict, why: raw.why, against, unfounded, proposal: raw.proposal })
    }

    /// Looks up the place of a worker's finding again, and compares its files with those that the change leaves.
    fn found_again(&self, finding: Finding) -> Result<Finding, ReadError> {
        let place =
            finding.place.as_ref().ok_or_else(|| gate("a worker returned a finding without a place"))?;
        let place = self.place_again(place.claim())?;
        if let Some(tree) = finding.fixed {
            let fixed = self.services.objects.manifest(tree)?;
            if place.side == Side::Old || !changes_at_most(&self.after, &fixed, &place.path) {
                let why = format!("a worker returned a suggestion that changes more than {}", place.path);
                return Err(gate(why).into());
            }
        }
        Ok(Finding { place: Some(place), ..finding })
    }

    /// Looks up what a worker says against a finding again, and examines the command that it proposes.
    fn verified_again(&self, verification: Verification) -> Result<Verification, ReadError> {
        let against = match (verification.verdict, &verification.against) {
            (Verdict::Refuted, Some(place)) => {
                Some(self.place_again(Claim { side: Side::New, ..place.claim() })?)
            }
            (Verdict::Refuted, None) => {
                return Err(gate("a worker returned a refutation without a quote").into());
            }
            (Verdict::Confirmed | Verdict::Uncertain, _) => None,
        };
        let proposal = verification.proposal.map(Proposal::again);
        Ok(Verification { against, proposal, ..verification })
    }

    fn place_again(&self, claim: Claim<'_>) -> Result<Place, ReadError> {
        let why = |why| gate(format!("a worker returned a place that is not there: {}: {why}", claim.path));
        Ok(self.place(claim)?.map_err(why)?)
    }

    /// Looks up a quote. Keys are hidden in the file as they are in the answer.
    fn place(&self, claim: Claim<'_>) -> Result<Result<Place, &'static str>, ObjectError> {
        let text = self.text(claim.side, claim.path)?;
        let text = text.as_deref().map(|text| self.services.keys.hide(text));
        Ok(quote::place(claim, text.as_deref(), self.request.task().changed(claim.path)))
    }

    /// Returns a text file of one side. A path that leads out of the files names none.
    fn text(&self, side: Side, path: &str) -> Result<Option<String>, ObjectError> {
        let manifest = match side {
            Side::Old => &self.before,
            Side::New | Side::Absent => &self.after,
        };
        let node = RelPath::parse(path.as_bytes()).ok().and_then(|path| manifest.get(&path));
        let blob = match node {
            Some(Node::File { blob, .. }) => *blob,
            Some(Node::Link { target }) => return Ok(Some(link_text(target))),
            Some(Node::Folder { .. }) | None => return Ok(None),
        };
        let Ok(bytes) = self.services.objects.read_at_most(blob, LARGEST)? else { return Ok(None) };
        Ok(String::from_utf8(bytes).ok().filter(|text| !text.contains('\0')))
    }

    /// Stores the files with a text in the place of a quote, if the quote is there once, word for word.
    fn fixed(&self, path: &str, quote: &str, new: &str) -> Result<Option<TreeId>, EngineError> {
        let text = self.text(Side::New, path)?.unwrap_or_default();
        if text.matches(quote).take(2).count() != 1 || new == quote {
            return Ok(None);
        }
        let fixed = text.replacen(quote, new, 1);
        let objects = &self.services.objects;
        let blob = objects.put(fixed.as_bytes())?;
        let entry = |entry: &Entry| match &entry.node {
            Node::File { mode, .. } if entry.path.as_bytes() == path.as_bytes() => {
                let node = Node::File { blob, size: fixed.len() as u64, mode: *mode };
                Entry { path: entry.path.clone(), node }
            }
            _ => entry.clone(),
        };
        let manifest = Manifest::new(self.after.entries().iter().map(entry).collect());
        Ok(Some(objects.put_manifest(&manifest.map_err(|_| EngineError::Stuck)?)?))
    }
}

/// Whether two versions differ at most in the content of this file.
fn changes_at_most(from: &Manifest, to: &Manifest, path: &str) -> bool {
    let is_edit = |was: &Node, now: &Node| matches!((was, now), (Node::File { mode: was, .. }, Node::File { mode: now, .. }) if was == now);
    changes(from, to).iter().all(|Change { path: at, .. }| {
        let nodes = from.get(at).zip(to.get(at));
        at.as_bytes() == path.as_bytes() && nodes.is_some_and(|(was, now)| is_edit(was, now))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_suggestion_changes_the_content_of_one_file_and_nothing_else() {
        let store = tempfile::tempdir().unwrap();
        let objects = Objects::at(store.path());
        let node = |text: &str, mode| {
            let blob = objects.put(text.as_bytes()).unwrap();
            Node::File { blob, size: text.len() as u64, mode }
        };
        let tree = |files: &[(&str, Node)]| {
            let file = |(path, node): &(&str, Node)| (RelPath::parse(path.as_bytes()).unwrap(), node.clone());
            Manifest::of_files(files.iter().map(file))
        };
        let (old, new) = (node("a / b", 0o644), node("a / b.max(1)", 0o644));
        let after = tree(&[("src/a", old.clone()), ("src/b", old.clone())]);
        let link = Node::Link { target: b"b".to_vec() };
        for (fixed, is_fix) in [
            (tree(&[("src/a", new.clone()), ("src/b", old.clone())]), true),
            (after.clone(), true),
            (tree(&[("src/a", old.clone()), ("src/b", new.clone())]), false),
            (tree(&[("src/a", new.clone()), ("src/b", new.clone())]), false),
            (tree(&[("src/a", new.clone())]), false),
            (tree(&[("src/a", new.clone()), ("src/b", old.clone()), ("src/c", old.clone())]), false),
            (tree(&[("src/a", node("a / b.max(1)", 0o755)), ("src/b", old.clone())]), false),
            (tree(&[("src/a", link), ("src/b", old)]), false),
        ] {
            assert_eq!(changes_at_most(&after, &fixed, "src/a"), is_fix, "{fixed:?}");
        }
    }
}
