//! The facts about `review` that the program needs. The keys of its JSON are a public interface
//! (docs/schemas/review.schema.json).

use std::path::PathBuf;

use serde_json::{Value, json};
use skilltune_orchestrator::snapshot::Objects;
use skilltune_phases::loops::review::finding::Dropped;
use skilltune_phases::loops::review::task::Machine;
use skilltune_phases::loops::review::{
    Answer, Decision, Ended, Entry, Files, Groups, Plan, Review, Run, Step,
};

use crate::report::advice::resume;
use crate::report::document::{
    Block, Item, Report, Section, Text, list, locations, paragraph, plain as own, words as theirs,
};
use crate::report::summary::{Data, Head, Next, Summary};
use crate::report::ui::Ui;
use crate::report::words;
use crate::terminal::exit::Exit;
use crate::text::figures::count;
use crate::text::plain::one_line;
use crate::text::width::cut;

impl Ui for Review {
    const START: &'static str = "skilltune review";

    fn command_seconds(plan: &Plan) -> u64 {
        plan.task.command_seconds
    }

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
        let task = &run.plan.task;
        match *step {
            Step::Scan { machine, on } => {
                let name = task.machines.get(machine).map_or("command", |one| &*one.name);
                format!("{} {}", one_line(name), with(on))
            }
            Step::Review { part, reviewer } => {
                let short = task.reviewers.get(reviewer).map_or("reviewer", |one| &*one.short);
                let parts = task.parts.len();
                let part = if parts > 1 { format!(", part {} of {parts}", part + 1) } else { String::new() };
                format!("review by {}{part}", one_line(short))
            }
            Step::Verify { finding } => format!("verify {}", title(run, finding)),
            Step::Allow => "ask whether the proposed commands may run".to_owned(),
            Step::Prove { finding, on } => format!("prove {} {}", title(run, finding), with(on)),
        }
    }

    fn answered(answer: &Answer) -> String {
        match answer {
            Answer::Ran(end) => match end.exit {
                Some(0) => "passed".to_owned(),
                Some(code) => format!("failed with exit code {code}"),
                None => "did not run".to_owned(),
            },
            Answer::Reviewed { findings, dropped } if dropped.is_empty() => count(findings.len(), "finding"),
            Answer::Reviewed { findings, dropped } => {
                format!("{}, {} dropped", count(findings.len(), "finding"), dropped.len())
            }
            Answer::Verified(answer) => format!("{}: {}", answer.verdict.word(), one_line(&answer.why)),
            Answer::Allowed(true) => "they may".to_owned(),
            Answer::Allowed(false) => "they may not".to_owned(),
        }
    }

    fn decided(_: &Run, decision: &Decision) -> String {
        match decision {
            Decision::Merge { groups } if groups.is_empty() => "nothing to verify".to_owned(),
            Decision::Merge { groups } => format!("{} to verify", count(groups.len(), "different finding")),
            Decision::Close => "run ended".to_owned(),
        }
    }

    fn place(_: &Run) -> String {
        "review".to_owned()
    }

    fn resumed_at(run: &Run) -> String {
        format!(": review of {}", one_line(&run.plan.task.subject))
    }

    fn summary(run: &Run, _: Option<&Objects>) -> Summary {
        let (plan, task) = (&run.plan, &run.plan.task);
        let ended = match run.outcome() {
            Ended::Clean => "passed",
            Ended::Found => "failed",
            Ended::Incomplete => "incomplete",
            Ended::Paused => "-",
        };
        Summary {
            kind: plan.kind.word(),
            subject: task.subject.to_string(),
            head: Head::new("review: ", one_line(&task.subject), aim(run)),
            sentence: run.verdict(),
            progress: count(run.groups().shown.len(), "finding"),
            result: ended.to_owned(),
            facts: counted(run).map(|counts| ("findings", counts)).into_iter().chain(files(run)).collect(),
            cast: plan.roles.clone(),
            notes: notes(run),
            found: words::changes(run).chain(run.warning().map(str::to_owned)).collect(),
            next: next(run),
            data: Data { subject: subject(run), result: result(run), ..Data::default() },
        }
    }

    fn report(run: &Run, _: &Objects) -> Report {
        let Groups { shown, older, refuted, suppressed } = run.groups();
        let looked_at = run.looked_at().into_iter().map(|(name, text)| format!("{name}: {text}"));
        let looked_at: Vec<String> = looked_at.collect();
        let sections = [
            listed("Machines", &run.machine_lines()),
            named("Findings", &shown),
            named("Findings from Before the Change", &older),
            named("Refuted Findings", &refuted),
            named("Suppressed Findings", &suppressed),
            listed("Dropped Findings", &dropped(run)),
            listed("Reviews That Failed", &run.failures()),
            listed("Scope", &looked_at),
            listed("Files Left Out", &left_out(run)),
        ];
        Report {
            title: [own("Review: "), theirs(&run.plan.task.subject)].into(),
            warning: run.warning().map(|text| Section { title: "Warning", blocks: vec![paragraph(text)] }),
            lead: vec![paragraph(run.verdict())],
            sections: sections.into_iter().flatten().collect(),
            unit: "round",
            tail: vec![locations(run, files(run))],
            ..Report::default()
        }
    }

    fn details(_: &Run, _: &Objects) -> [Value; 2] {
        [Value::Null, Value::Null]
    }
}

fn named(title: &'static str, entries: &[Entry<'_>]) -> Option<Section> {
    let blocks = vec![Block::List(entries.iter().map(item).collect())];
    (!entries.is_empty()).then_some(Section { title, blocks })
}

fn listed(title: &'static str, lines: &[String]) -> Option<Section> {
    let blocks = vec![list(lines.iter().map(|line| Text::from(theirs(line))))];
    (!lines.is_empty()).then_some(Section { title, blocks })
}

fn with(on: Files) -> &'static str {
    match on {
        Files::Before => "without the change",
        Files::After => "with the change",
        Files::Fixed => "with the suggestion",
    }
}

fn title(run: &Run, finding: usize) -> String {
    /// A longer title is cut.
    const MOST: usize = 60;
    let merged = run.state.merged.as_ref().and_then(|merged| merged.get(finding));
    let title = merged.map_or("", |merged| &*merged.finding.title);
    format!("finding {} ({})", finding + 1, cut(&one_line(title), MOST))
}

/// Describes who reviews how much.
pub fn aim(run: &Run) -> String {
    let task = &run.plan.task;
    let shorts: Vec<&str> = task.reviewers.iter().map(|one| &*one.short).collect();
    let (files, parts) = (count(run.reviewed_files().len(), "file"), count(task.parts.len(), "part"));
    one_line(&format!("{files} in {parts}, by {}; agents read copies and run nothing", shorts.join(", ")))
}

/// Returns what a person should know before they believe the result.
pub fn notes(run: &Run) -> Vec<String> {
    let remarks = words::remarks(&run.plan.roles);
    run.plan.task.remarks.iter().map(|remark| one_line(remark)).chain(remarks).collect()
}

/// Returns the number of findings of each grade that has any.
pub fn counted(run: &Run) -> Option<String> {
    let counts = run.counts();
    let all = [
        (counts.proved, "proved"),
        (counts.machine, "by machines"),
        (counts.confirmed, "confirmed"),
        (counts.uncertain, "uncertain"),
        (counts.not_verified, "not verified"),
        (counts.refuted, "refuted"),
        (counts.older, "older"),
        (counts.suppressed, "suppressed"),
        (counts.dropped, "dropped"),
    ];
    let some = all.iter().filter(|(number, _)| *number > 0);
    let some: Vec<String> = some.map(|(number, grade)| format!("{number} {grade}")).collect();
    (!some.is_empty()).then(|| some.join(", "))
}

/// Returns the paths of the results, once they are complete.
pub fn files(run: &Run) -> Vec<(&'static str, String)> {
    let path = |name: &str| format!("{}/{name}", run.plan.folder);
    let both = [("Comment", path("review.md")), ("SARIF", path("review.sarif"))];
    both.into_iter().filter(|_| run.closed_at.is_some()).collect()
}

/// Returns the next commands to suggest.
pub fn next(run: &Run) -> Vec<Next> {
    let id = &run.plan.run;
    let command = |command: String, purpose| Next { command, purpose };
    match run.outcome() {
        Ended::Paused if run.held => vec![
            command(format!("skilltune resume {id} --answer run"), "run them"),
            command(format!("skilltune resume {id} --answer skip"), "leave these findings unproved"),
        ],
        Ended::Paused => vec![command(resume(run), "continue")],
        Ended::Incomplete => vec![command(format!("skilltune history {id}"), "see what happened")],
        Ended::Clean | Ended::Found => Vec::new(),
    }
}

/// Returns the proposed commands, one a line.
pub fn commands(run: &Run) -> Vec<String> {
    run.proposals().map(|(_, proposal)| one_line(&json!(proposal.argv).to_string())).collect()
}

pub fn left_out(run: &Run) -> Vec<String> {
    run.plan.task.left_out.iter().map(|one| format!("{} ({})", one.path, one.why)).collect()
}

fn dropped(run: &Run) -> Vec<String> {
    let line = |(by, one): (&str, &Dropped)| format!("{} ({}), by {by}: {}", one.title, one.place, one.why);
    run.dropped().into_iter().map(line).collect()
}

/// Returns severity, grade and title of a finding.
pub fn headline(entry: &Entry<'_>) -> String {
    one_line(&format!("{}: {}", entry.rank(), entry.finding.title))
}

/// Returns everything about a finding besides its headline.
pub fn facts(entry: &Entry<'_>) -> Vec<(&'static str, String)> {
    let finding = &entry.finding;
    let side = entry.side().map_or_else(String::new, |side| format!(" ({side})"));
    let proof = entry.proof.map(|proof| format!("{}: {}", proof.command(), proof.result()));
    let facts = [
        ("place", entry.at().map(|at| at + &side)),
        ("quote", entry.quote().map(str::to_owned)),
        ("seen by", Some(entry.reporters())),
        ("fails", Some(finding.what.to_string())),
        ("fix", Some(finding.suggestion.to_string()).filter(|text| !text.is_empty())),
        ("verdict", entry.opinion()),
        ("against", entry.against().map(|place| format!("{}: {}", place.at(), place.quote))),
        ("proof", proof),
        ("reason", entry.suppressed.map(str::to_owned)),
        ("id", Some(entry.fingerprint.clone())),
    ];
    facts.into_iter().filter_map(|(name, text)| Some((name, text?))).collect()
}

fn item(entry: &Entry<'_>) -> Item {
    let fact = |(name, text): (&str, String)| Text::from([own(format!("{name}: ")), theirs(&text)]);
    Item { text: theirs(&headline(entry)).into(), below: facts(entry).into_iter().map(fact).collect() }
}

fn subject(run: &Run) -> Value {
    let task = &run.plan.task;
    let reviewers = task
        .reviewers
        .iter()
        .map(|one| json!({ "name": one.short, "expert": one.expert.name, "origin": one.expert.origin }));
    json!({
        "change": task.subject,
        "folder": task.root,
        "is_skill": task.is_skill,
        "files": run.reviewed_files(),
        "left_out": task.left_out,
        "reviewers": reviewers.collect::<Vec<_>>(),
        "rules": task.rules,
        "outcome": run.outcome(),
    })
}

fn result(run: &Run) -> Value {
    let machines = run.plan.task.machines.iter().enumerate().map(|(at, one)| machine(run, at, one));
    let dropped = run.dropped().into_iter().map(|(by, one)| {
        json!({ "by": by, "title": one.title, "place": one.place, "quote": one.quote, "why": one.why })
    });
    let failed = run.failed_reviews().into_iter().map(
        |(by, part, failure)| json!({ "by": by, "part": part + 1, "kind": failure.kind, "why": failure.why }),
    );
    let files = files(run);
    json!({
        "counts": run.counts(),
        "findings": run.entries(),
        "dropped": dropped.collect::<Vec<_>>(),
        "machines": machines.collect::<Vec<_>>(),
        "failed_reviews": failed.collect::<Vec<_>>(),
        "refuted_all": run.refuted_all(),
        "comment": files.first().map(|(_, path)| path),
        "sarif": files.last().map(|(_, path)| path),
    })
}

fn machine(run: &Run, machine: usize, Machine { name, argv, severity, skipped }: &Machine) -> Value {
    let end = |on| run.ended(&Step::Scan { machine, on });
    json!({
        "name": name, "argv": argv, "severity": severity, "skipped": skipped,
        "after": end(Files::After), "before": end(Files::Before),
    })
}
