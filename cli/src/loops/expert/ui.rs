//! The facts about `expert` that the program needs. The keys of its JSON are a public interface.

use std::path::PathBuf;

use serde_json::{Value, json};
use skilltune_orchestrator::snapshot::Objects;
use skilltune_phases::loops::expert::{Answer, Decision, Draft, Ended, Expert, Plan, Run, Step};
use skilltune_phases::runs::event::FailureKind;

use crate::report::advice::resume;
use crate::report::document::{Block, Report, Section, locations, paragraph, plain as own, words as theirs};
use crate::report::summary::{Data, Head, Next, Summary};
use crate::report::ui::Ui;
use crate::report::words;
use crate::terminal::exit::Exit;
use crate::text::figures;
use crate::text::plain::one_line;

impl Ui for Expert {
    const START: &'static str = "skilltune expert NAME TASK";

    fn targets(plan: &Plan) -> Vec<PathBuf> {
        // A run writes only its own folder.
        vec![PathBuf::from(&plan.folder)]
    }

    fn may_call(run: &Run) -> bool {
        run.closed_at.is_none()
    }

    fn exit(run: &Run) -> Exit {
        run.class().into()
    }

    fn step(run: &Run, step: &Step) -> String {
        let verb = if run.plan.task.drafts.is_some() { "draft" } else { "ask" };
        match step {
            Step::Inquire => "find what is open".to_owned(),
            Step::Reply => "ask what is open".to_owned(),
            Step::Ask => format!("{verb} {}", name(run)),
        }
    }

    fn answered(answer: &Answer) -> String {
        match answer {
            Answer::Inquired(questions) => figures::count(questions.len(), "question"),
            Answer::Replied(replies) => figures::count(replies.len(), "answer"),
            Answer::Answered(text) => figures::count(text.split_whitespace().count(), "word"),
        }
    }

    fn decided(_: &Run, decision: &Decision) -> String {
        match decision {
            Decision::Close => "run ended".to_owned(),
        }
    }

    fn place(run: &Run) -> String {
        match &run.plan.task.drafts {
            Some(_) => opening(run).concat(),
            None => format!("asking {}", name(run)),
        }
    }

    fn resumed_at(run: &Run) -> String {
        format!(": {}", Self::place(run))
    }

    fn summary(run: &Run, _: Option<&Objects>) -> Summary {
        let plan = &run.plan;
        let [before, about] = opening(run);
        let progress = match run.outcome() {
            Ended::Answered => "answered",
            Ended::Unanswered => "no answer",
            Ended::Paused => "not answered yet",
        };
        Summary {
            kind: plan.kind.word(),
            subject: match &plan.task.drafts {
                Some(draft) => format!("{} (draft)", draft.name),
                None => format!("{}: {}", name(run), plan.task.task),
            },
            head: Head::new(&before, about, head(run)),
            sentence: sentence(run),
            progress: progress.to_owned(),
            result: "-".to_owned(),
            facts: answer_file(run).map(|path| ("answer", path)).into_iter().collect(),
            cast: plan.roles.clone(),
            notes: notes(run),
            found: words::changes(run).collect(),
            next: next(run),
            data: Data { subject: subject(run), result: result(run), ..Data::default() },
        }
    }

    fn report(run: &Run, _: &Objects) -> Report {
        let task = &run.plan.task;
        let section = |title, text: &str| Section { title, blocks: vec![Block::Verbatim(text.to_owned())] };
        let mut sections = vec![section("Task", &task.task)];
        sections.extend(run.replies().map(|replies| section("Questions", &replies)));
        sections.extend(run.answer().map(|answer| section("Answer", answer)));
        sections.push(section("Persona", &task.expert.persona));
        let file = answer_file(run).map(|path| ("Answer", path));
        Report {
            title: [own("Expert: "), theirs(name(run))].into(),
            lead: vec![paragraph(sentence(run))],
            about: vec![("Expert", theirs(&aim(run)).into())],
            sections,
            unit: "round",
            tail: vec![locations(run, file.into_iter().collect())],
            ..Report::default()
        }
    }

    fn details(_: &Run, _: &Objects) -> [Value; 2] {
        [Value::Null, Value::Null]
    }
}

/// Returns the name of the expert that answers or is drafted. The one that drafts is our own affair.
fn name(run: &Run) -> &str {
    let task = &run.plan.task;
    task.drafts.as_ref().map_or(&task.expert.name, |draft| &draft.name)
}

/// Returns the words before what the run is about, and what it is about.
pub fn opening(run: &Run) -> [String; 2] {
    let name = name(run).to_owned();
    match &run.plan.task.drafts {
        Some(draft) => [format!("drafting the {} ", draft.what()), name],
        None => [format!("expert {name}: "), one_line(&run.plan.task.task)],
    }
}

/// Describes the expert and what it reads, or where its draft goes.
pub fn aim(run: &Run) -> String {
    let task = &run.plan.task;
    if let Some(Draft { file, .. }) = &task.drafts {
        let file = file.as_ref().map_or("is only printed".to_owned(), |file| format!("goes to {file}"));
        return one_line(&format!("the draft {file}"));
    }
    let reads = task.reads.as_ref().map_or("reads no files".to_owned(), |folder| format!("reads {folder}"));
    let reads = one_line(&reads);
    format!("{} expert {}; {reads}, writes and runs nothing", task.expert.origin.word(), task.expert.name)
}

/// Describes it, and names the agent that drafts a specification.
pub fn head(run: &Run) -> String {
    let basis = run.plan.task.drafts.as_ref().and_then(|draft| draft.specification.as_ref());
    let agent = run.plan.roles.values().next().filter(|_| basis.is_some());
    let by = agent.map_or_else(String::new, |agent| format!("; {} drafts it", agent.shown()));
    format!("{}{by}", aim(run))
}

/// Returns what a person should know before they believe the answer.
pub fn notes(run: &Run) -> Vec<String> {
    let remarks = words::remarks(&run.plan.roles);
    run.plan.task.remarks.iter().map(|remark| one_line(remark)).chain(remarks).collect()
}

pub fn sentence(run: &Run) -> String {
    let (name, failure) = (name(run), run.failure());
    let failed =
        failure.map_or(String::new(), |failure| format!(": the agent {}", words::failure(failure.kind)));
    if let Some(draft) = &run.plan.task.drafts {
        let what = draft.what();
        return match run.outcome() {
            Ended::Answered => format!("the agent drafted the {what} {name}."),
            // The lines of its answers say what is wrong with them.
            Ended::Unanswered => match failure.filter(|failure| failure.kind != FailureKind::OffSchema) {
                Some(failure) => one_line(&format!("no draft of {name}{failed}: {}", failure.why)),
                None => format!("no draft of {name}{failed}."),
            },
            Ended::Paused => format!("the {what} {name} is not drafted yet; `skilltune resume` continues."),
        };
    }
    match (run.outcome(), failure) {
        (Ended::Answered, _) => format!("{name} answered."),
        (Ended::Unanswered, Some(failure)) => {
            one_line(&format!("{name} gave no answer{failed}: {}", failure.why))
        }
        (Ended::Unanswered, None) => format!("{name} gave no answer."),
        (Ended::Paused, _) => format!("{name} has not answered yet; `skilltune resume` continues."),
    }
}

/// Returns the file to which a draft goes.
pub fn draft_file(run: &Run) -> Option<&str> {
    run.plan.task.drafts.as_ref()?.file.as_deref()
}

/// Returns the path of the answer.
pub fn answer_file(run: &Run) -> Option<String> {
    run.answer().map(|_| format!("{}/answer.md", run.plan.folder))
}

/// Returns the next commands to suggest.
pub fn next(run: &Run) -> Vec<Next> {
    match run.outcome() {
        Ended::Answered => Vec::new(),
        Ended::Unanswered => {
            let command = format!("skilltune history {}", run.plan.run);
            vec![Next { command, purpose: "see what happened" }]
        }
        Ended::Paused => vec![Next { command: resume(run), purpose: "continue" }],
    }
}

fn subject(run: &Run) -> Value {
    let task = &run.plan.task;
    json!({
        "expert": task.expert.name,
        "origin": task.expert.origin,
        "digest": task.expert.digest,
        "task": task.task,
        "folder": task.reads,
        "outcome": run.outcome(),
    })
}

fn result(run: &Run) -> Value {
    let mut result = json!({ "answer": run.answer(), "answer_file": answer_file(run) });
    if run.plan.task.drafts.is_some() {
        result["file"] = json!(draft_file(run));
    }
    result
}

#[cfg(test)]
mod tests {
    use skilltune_phases::runs::event::FailureKind;
    use skilltune_worlds::drive::failed;
    use skilltune_worlds::expert::{Drive, plan};

    use super::*;

    #[test]
    fn an_answer_is_a_goal_that_was_reached_and_none_is_a_failure() {
        let mut answered = Drive::start(plan());
        answered.finish_alone(|_, _| Ok(Answer::Answered("Yes.".into())));
        let mut mute = Drive::start(plan());
        mute.finish_alone(|_, _| failed(FailureKind::Empty));
        let runs = [&answered.run, &mute.run, &Drive::start(plan()).run];
        assert_eq!(runs.map(Expert::exit), [Exit::Reached, Exit::Unjudged, Exit::Ended]);
        assert_eq!(Expert::ended_as(&mute.run), "failed");
        assert!(sentence(&mute.run).contains("returned an empty answer"), "{}", sentence(&mute.run));
        let mut drafting = plan();
        drafting.task.drafts = Some(Draft { name: "dba".into(), file: None, specification: None });
        let mut mute = Drive::start(drafting);
        mute.finish_alone(|_, _| failed(FailureKind::Empty));
        let why = &mute.run.failure().unwrap().why;
        assert!(sentence(&mute.run).ends_with(&format!(": {why}")), "{}", sentence(&mute.run));
    }
}
