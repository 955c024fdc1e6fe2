//! Progress of a `reflex` run for people: a summary of each evaluation, the artifact before level B and at the end, and
//! the result.

pub mod lines;
pub mod shelf;

use skilltune_orchestrator::snapshot::Objects;
use skilltune_phases::loops::reflex::original::short;
use skilltune_phases::loops::reflex::{Artifact, Confirmed, Decision, Done, Reflex, Run, Terms};

use crate::progress::layout::Layout;
use crate::progress::talk::{Narrated, Talk};
use crate::text::plain;
use crate::text::width::wrapped;

pub use crate::loops::reflex::progress::shelf::Shelf;

impl Narrated for Reflex {
    type Shelf = Shelf;

    fn shelf(objects: Objects) -> Shelf {
        Shelf::of(objects)
    }

    /// Reports an agent's failure at once, unless it stops the run: then the pause reports it.
    fn tell_answer(talk: &mut Talk<Self>, run: &Run, done: &Done) {
        let lines = lines::failed(run, &done.step, &done.outcome, talk.layout.width);
        talk.say(&lines);
    }

    fn tell_decision(talk: &mut Talk<Self>, run: &Run, decision: &Decision) {
        let width = talk.layout.width;
        match decision {
            Decision::Evaluated(_) => evaluation(talk, run),
            Decision::Drop { hash, best } => {
                let (hash, best) = (short(hash), short(best));
                let message = format!("dropped {hash}: worse than {best}; continuing from {best}");
                talk.say(&wrapped(&plain::one_line(&message), width, "  "));
            }
            Decision::Switch(level) => {
                let message = format!("level A passed; level {level} starts with the same artifact");
                talk.say(&wrapped(&message, width, "  "));
                if let Some(artifact) = &run.state.artifact {
                    page(talk, artifact, &format!("before level {level}"));
                }
            }
            Decision::Agreed(terms) => agreed(talk, run, terms),
            Decision::Refined(_) if run.state.anew => {
                talk.say(&wrapped(
                    "the refinement changed nothing; the next iteration plans and writes from scratch",
                    width,
                    "  ",
                ));
            }
            Decision::Criticised(issues) => talk.say(&lines::fixes(issues, width)),
            Decision::Enter(_)
            | Decision::Planned(_)
            | Decision::Produced { .. }
            | Decision::Prepared(_)
            | Decision::Refined(_)
            | Decision::Advance(_)
            | Decision::Stop(_)
            | Decision::Close => {}
        }
    }

    fn tell_end(talk: &mut Talk<Self>, run: &Run) {
        let whole = run.result().filter(|_| run.closed_at.is_some());
        if let Some(artifact) = whole {
            page(talk, artifact, "at the end");
        }
        let Layout { data, .. } = talk.layout;
        let mut lines = lines::story(run, (talk.shelf.on_disk)(run).as_deref(), talk.layout);
        if let Some(first) = lines.first_mut() {
            *first = data.bold(first);
        }
        talk.data(&lines);
    }
}

/// Prints rules that no person has seen.
fn agreed(talk: &mut Talk<Reflex>, run: &Run, terms: &Terms) {
    let new: Vec<_> = run.proposals().iter().map(|rule| rule.id.as_str()).collect();
    if terms.confirmed == Confirmed::Declared && !new.is_empty() {
        let message = format!("rules proposed for this task: {}", new.join(", "));
        talk.say(&wrapped(&plain::one_line(&message), talk.layout.width, "  "));
    }
}

fn evaluation(talk: &mut Talk<Reflex>, run: &Run) {
    let Some(judged) = run.state.judged.last() else { return };
    let mut lines = lines::evaluated(run, judged, talk.layout.width);
    let style = talk.layout.talk;
    if let Some(first) = lines.first_mut() {
        *first = match (judged.evaluation.score, judged.evaluation.passed) {
            (None, _) => style.yellow(first),
            (Some(_), true) => style.green(first),
            (Some(_), false) => style.red(first),
        };
    }
    talk.say(&lines);
}

/// Prints the whole artifact between two lines that say what it is. An unreadable store costs this output, not the run.
fn page(talk: &mut Talk<Reflex>, artifact: &Artifact, when: &str) {
    let Layout { width, data, .. } = talk.layout;
    let text = (talk.shelf.text)(artifact);
    let Some(text) = text else {
        let message = format!("cannot read artifact {} from the store", artifact.name());
        return talk.say(&wrapped(&plain::one_line(&message), width, "  "));
    };
    let mut lines = vec![data.dim(&lines::rule(&format!("artifact {}, {when}", artifact.name()), width))];
    lines.extend(plain::pictured(&text).lines().map(str::to_owned));
    lines.push(data.dim(&lines::rule(&format!("end of {}", artifact.name()), width)));
    lines.push(String::new());
    talk.data(&lines);
}

#[cfg(test)]
mod tests;
