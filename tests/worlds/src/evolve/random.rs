//! Worlds that are drawn from a seed.

use skilltune_phases::base::id::Digest;
use skilltune_phases::base::vocabulary::Vocabulary as _;
use skilltune_phases::loops::evolve::amendment::Amendment;
use skilltune_phases::loops::evolve::oracle::Proposal;
use skilltune_phases::loops::evolve::step::{Choice, Question};
use skilltune_phases::loops::evolve::{Evolve, Run, Step};
use skilltune_phases::runs::event::FailureKind;

use super::{
    Judged, Outcome, World, adding, broken, changing, constraining, described, drift, failing, green,
    neither, oracle, passed, red, task, weakening,
};
use crate::drive::failed;

impl World {
    /// Draws from a seed what the agents, the commands and the person do.
    pub fn random(seed: u64) -> Self {
        let draw = move |parts: &[&str]| roll(seed, parts);
        let mut world = Self::new();
        if draw(&["is advised"]) < 100 {
            world = world.advised();
        }
        world.fails = Box::new(move |work| draw(&["fails", work]) < 20);
        world.conflicts = Box::new(move |work, content| draw(&["conflicts", work, &content.name()]) < 25);
        world.ends = Box::new(move |stage, content| match draw(&["ends", stage.word(), &content.name()]) {
            0..25 => broken(),
            25..40 => failing(&["leaks"]),
            40..50 => failing(&["leaks", "hums"]),
            _ => passed(),
        });
        world.drifts = Box::new(move |batch| {
            let is_any = draw(&["drifts", &batch.to_string()]) < 60;
            if is_any { vec![drift("t1")] } else { Vec::new() }
        });
        world.judge = Box::new(move |_, content| {
            let is_met = |id: &String| draw(&["met", id, &content.name()]) < 150;
            let met = (1..20).map(|nth| format!("A{nth}")).filter(is_met).collect();
            let holds = draw(&["holds", &content.name()]) < 220;
            Judged { met: Some(met), holds, statements: Vec::new() }
        });
        world.amend = Box::new(move |round, _| match draw(&["amends", &round.to_string()]) {
            0..80 => Amendment::default(),
            80..120 => described("look again"),
            120..170 => adding("it is small"),
            170..220 => changing("A2", Some("it is fast enough")),
            _ => constraining("no threads", &["t1"]),
        });
        world.more = Box::new(|run, round| {
            let known = run.state.contract.as_ref().map_or(0, |contract| contract.criteria.len());
            vec![task(&format!("n{round}"), &[&format!("A{}", known + 1)], &["t1"])]
        });
        world.choose = Box::new(move |question, round| {
            let drawn = draw(&["chooses", &round.to_string()]);
            match question {
                Question::Amendment | Question::Weakened if drawn < 150 => Choice::Approve,
                Question::Amendment | Question::Weakened => Choice::Refuse,
                Question::Escalation if drawn < 100 => Choice::Guide { text: "turn it round".into() },
                Question::Escalation if drawn < 180 => Choice::Accept,
                Question::Escalation => Choice::End,
            }
        });
        if draw(&["weakens"]) < 60 {
            world.weakened = vec![weakening()];
        }
        world.draw_evidence(draw);
        world
    }

    /// Draws what oracles are and how they end.
    fn draw_evidence(&mut self, draw: impl Fn(&[&str]) -> u8 + Copy + 'static) {
        self.proposes =
            Box::new(move |criterion, go| match draw(&["proposes", criterion, &go.to_string()]) {
                0..25 => Proposal::Judge { why: "it is a matter of taste".into() },
                _ => oracle(criterion, go),
            });
        self.probe = Box::new(move |criterion, go, content| {
            let drawn = draw(&["probes", criterion, &go.to_string(), &content.name()]);
            let is_met = drawn < if content.name() == "base" { 40 } else { 150 };
            match drawn {
                _ if is_met => green(),
                0..210 => red(),
                210..230 => neither(0),
                _ => neither(2),
            }
        });
        self.check =
            Box::new(move |criterion, content| match draw(&["checks", criterion, &content.name()]) {
                0..150 => Some(true),
                150..240 => Some(false),
                _ => None,
            });
        self.settle = Box::new(move |criterion| match draw(&["settles", criterion]) {
            0..80 => Choice::Holds,
            80..160 => Choice::Fails,
            _ => Choice::Leave,
        });
        self.allows = draw(&["allows"]) < 200;
        self.is_blind = draw(&["is blind"]) < 128;
    }

    /// Answers, or fails as drawn from a seed.
    pub fn answer_or_fail(&self, seed: u64, run: &Run, step: &Step, attempt: u32) -> Outcome {
        let key = serde_json::to_string(step).expect("a step has a JSON text");
        let drawn = roll(seed, &["call", &key, &attempt.to_string()]);
        if Evolve::role(step).is_some() && drawn < 12 {
            let kinds = [FailureKind::TimedOut, FailureKind::OffSchema, FailureKind::Gate];
            return failed(kinds[usize::from(drawn) % 3]);
        }
        self.answer(run, step)
    }
}

fn roll(seed: u64, parts: &[&str]) -> u8 {
    let seed = seed.to_le_bytes();
    let parts = std::iter::once(seed.as_slice()).chain(parts.iter().map(|part| part.as_bytes()));
    Digest::of_parts(parts).as_bytes()[0]
}
