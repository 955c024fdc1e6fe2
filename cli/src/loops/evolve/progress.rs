//! Progress of an `evolve` run for people: each answer and each decision in a line, and at the end the result.

use skilltune_orchestrator::snapshot::Objects;
use skilltune_phases::loops::evolve::evaluation::Verdict;
use skilltune_phases::loops::evolve::{Answer, Decision, Evolve, Run, Step};

use crate::loops::evolve::{places, repeated, ui, words};
use crate::progress::lines::End;
use crate::progress::talk::{Narrated, Talk};
use crate::report::summary::Line;
use crate::text::figures::count;
use crate::text::plain::one_line;
use crate::text::width::cut;

impl Narrated for Evolve {
    type Shelf = Objects;

    fn shelf(objects: Objects) -> Objects {
        objects
    }

    fn tell_decision(talk: &mut Talk<Self>, run: &Run, decision: &Decision) {
        if !matches!(decision, Decision::Close) {
            talk.text(&cut(&words::decided(run, decision), LONGEST));
        }
    }

    fn tell_answer(talk: &mut Talk<Self>, run: &Run, step: &Step, answer: &Answer) {
        let line = format!("{}: {}", words::step(run, step), words::answered(answer));
        talk.say(&[cut(&line, talk.layout.width)]);
    }

    fn tell_end(talk: &mut Talk<Self>, run: &Run) {
        let end = end(run, &talk.shelf);
        talk.end(run, end);
    }
}

/// The most gaps that are shown at once; all are in the report.
const SHOWN: usize = 10;
const LONGEST: usize = 300;

/// Returns the result, where it is, and what to do next.
fn end(run: &Run, objects: &Objects) -> End {
    let mut lines = vec![Line::Text(places::sentence(run))];
    lines.extend(ui::facts(run).into_iter().map(|(name, text)| Line::Item(name, text)));
    match words::asked(run) {
        Some(step) => lines.extend(words::matter(run, &step, objects).into_iter().map(Line::Text)),
        None => lines.extend(unmet(run).into_iter().chain(repeated::lines(run).into_iter().map(Line::Text))),
    }
    let evaluations = run.state.rounds.len();
    let rounds = (evaluations > 0).then(|| count(evaluations, "evaluation"));
    End { lines, rounds, places: Vec::new(), next: places::next(run) }
}

/// Returns the criteria and constraints that the result does not meet.
fn unmet(run: &Run) -> Vec<Line> {
    let all = run.evaluation().into_iter().flat_map(|one| one.unmet().chain(one.broken()));
    let all: Vec<&Verdict> = all.collect();
    let line = |one: &&Verdict| Line::Item("not met", cut(&one_line(&one.missing()), LONGEST));
    let mut lines: Vec<Line> = all.iter().take(SHOWN).map(line).collect();
    lines.extend((all.len() > SHOWN).then(|| Line::Text(format!("  and {} more", all.len() - SHOWN))));
    lines
}
