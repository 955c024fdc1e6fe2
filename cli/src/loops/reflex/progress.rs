//! Progress of a `reflex` run for people: a summary of each evaluation, the artifact before level B and at the end, and
//! the result.

pub mod lines;
pub mod shelf;

use skilltune_orchestrator::snapshot::Objects;
use skilltune_phases::loops::reflex::original::short;
use skilltune_phases::loops::reflex::{Artifact, Confirmed, Decision, Reflex, Run, Terms};

use crate::loops::reflex::report::{advice, words};
use crate::progress::layout::Layout;
use crate::progress::lines::End;
use crate::progress::talk::{Narrated, Talk};
use crate::report::summary::Line;
use crate::text::{figures, plain};

pub use crate::loops::reflex::progress::shelf::Shelf;

impl Narrated for Reflex {
    type Shelf = Shelf;

    fn shelf(objects: Objects) -> Shelf {
        Shelf::of(objects)
    }

    fn tell_decision(talk: &mut Talk<Self>, run: &Run, decision: &Decision) {
        match decision {
            Decision::Evaluated(_) => evaluation(talk, run),
            Decision::Drop { hash, best } => {
                let (hash, best) = (short(hash), short(best));
                let message = format!("dropped {hash}: worse than {best}; continuing from {best}");
                talk.text(&plain::one_line(&message));
            }
            Decision::Switch(level) => {
                talk.text(&format!("level A passed; level {level} starts with the same artifact"));
                if let Some(artifact) = &run.state.artifact {
                    page(talk, artifact, &format!("before level {level}"));
                }
            }
            Decision::Agreed(terms) => agreed(talk, run, terms),
            Decision::Refined(_) if run.state.anew => {
                talk.text("the refinement changed nothing; the next iteration plans and writes from scratch");
            }
            Decision::Criticised(issues) => talk.say(&lines::fixes(issues, talk.layout.width)),
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

    /// Prints the whole artifact first, but not again for a run that had ended before.
    fn tell_end(talk: &mut Talk<Self>, run: &Run) {
        let ends_now = run.closed_at.is_some() && talk.has_followed();
        if let Some(artifact) = run.result().filter(|_| ends_now) {
            page(talk, artifact, "at the end");
        }
        let on_disk = (talk.shelf.on_disk)(run);
        talk.end(run, end(run, on_disk.as_deref()));
    }
}

/// Returns the result, where it is, and what to do next.
fn end(run: &Run, on_disk: Option<&str>) -> End {
    let dropped = run.state.judged.iter().filter(|judged| judged.dropped).count();
    let iterations = figures::count(run.state.iteration as usize, "iteration");
    let items = [
        ("artifact", Some(words::artifact(run, on_disk))),
        ("score", words::score(run, on_disk)),
        ("distance", words::distance(run, on_disk)),
    ];
    let mut lines = vec![Line::Text(words::outcome_text(run))];
    lines.extend(items.into_iter().filter_map(|(name, text)| Some(Line::Item(name, text?))));
    let file = run.result().map(|_| Line::Copy("file:".to_owned(), words::artifact_path(run)));
    let use_of_it = advice::use_of_it(run).map(|text| Line::Text(text.to_owned()));
    let places = file.into_iter().chain(use_of_it).collect();
    let rounds = Some(format!("{iterations}, {dropped} dropped"));
    End { lines, rounds, places, next: advice::next(run) }
}

/// Prints rules that no person has seen.
fn agreed(talk: &mut Talk<Reflex>, run: &Run, terms: &Terms) {
    let new: Vec<_> = run.proposals().iter().map(|rule| rule.id.as_str()).collect();
    if terms.confirmed == Confirmed::Declared && !new.is_empty() {
        let message = format!("rules proposed for this task: {}", new.join(", "));
        talk.text(&plain::one_line(&message));
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
        return talk.text(&plain::one_line(&message));
    };
    let mut lines = vec![data.dim(&lines::rule(&format!("artifact {}, {when}", artifact.name()), width))];
    lines.extend(plain::pictured(&text).lines().map(str::to_owned));
    lines.push(data.dim(&lines::rule(&format!("end of {}", artifact.name()), width)));
    lines.push(String::new());
    talk.data(&lines);
}

#[cfg(test)]
mod tests;
