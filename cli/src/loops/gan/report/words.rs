//! The words for a run of `gan` and its parts.

use skilltune_phases::base::id::TreeId;
use skilltune_phases::loops::gan::contract::Contract;
use skilltune_phases::loops::gan::course::{Choice, Ending, Question, Round, Who};
use skilltune_phases::loops::gan::evaluation::Evaluation;
use skilltune_phases::loops::gan::rules::Rules;
use skilltune_phases::loops::gan::{
    Answer, Apply, ArtifactDir, Gan, HigherScore, Plan, Reading, Run, Step, Task,
};
use skilltune_phases::loops::{Loop as _, Offer};
use skilltune_phases::runs::proposal::Form;
use skilltune_phases::suites::checks::RunThem;

use crate::report::words;
use crate::text::{figures, plain};

/// Returns what is built, on one line.
pub fn subject(run: &Run) -> String {
    plain::one_line(&run.plan.task.name)
}

/// Returns what it is judged by, up to which score, and for how long.
pub fn aim(run: &Run) -> String {
    let (task, rules) = (&run.plan.task, &run.plan.task.rules);
    let how = [
        task.negotiated.then_some("a contract agreed on first"),
        rules.strict.then_some("strict"),
        rules.judge_twice.then_some("a pass judged twice"),
    ];
    let how: String = how.into_iter().flatten().flat_map(|how| [", ", how]).collect();
    format!(
        "profile {}{how}; passes from {}, {} at most",
        plain::one_line(&task.profile),
        rules.threshold.typed(),
        figures::count(rules.max_rounds as usize, "round")
    )
}

/// Returns the commands of its test scenarios as they would run, one per line.
pub fn commands(run: &Run) -> impl Iterator<Item = String> {
    run.commands().map(|argv| plain::one_line(&serde_json::json!(argv).to_string()))
}

/// Returns what machines will check: the browser, the test scenarios of the profile, and whether their commands run.
pub fn machines(task: &Task) -> Vec<String> {
    let browser = task.browser.as_ref().and_then(|browser| browser.argv.get(2));
    let browser = browser.map_or("none", |program| program);
    let mut lines = vec![plain::one_line(&format!("browser: {browser}"))];
    let scenarios = &task.asked.test_scenarios;
    if scenarios.is_empty() {
        return lines;
    }
    lines.push("test scenarios:".to_owned());
    lines.extend(scenarios.iter().map(|test| {
        let how = test.command().map_or("in the browser".to_owned(), |argv| argv.join(" "));
        format!("  {}", plain::one_line(&format!("{}: {} ({how})", test.id, test.description)))
    }));
    if scenarios.iter().any(|test| test.command().is_some()) {
        lines.push(match task.commands.run {
            RunThem::Always => "their commands run without a question".to_owned(),
            RunThem::Ask => {
                "you are asked before their commands run; --yes skips them, and the evaluator decides instead"
                    .to_owned()
            }
            RunThem::Never => "their commands are skipped, and the evaluator decides instead".to_owned(),
        });
    }
    lines
}

/// Returns what a person has to know before they believe a result.
pub fn notes(plan: &Plan) -> Vec<String> {
    let links = words::not_placed("the folder", &plan.task.links_outside);
    let own = plan.task.remarks.iter().map(|remark| plain::one_line(remark));
    words::remarks(&plan.roles).into_iter().chain(links).chain(own).collect()
}

/// Returns where a run is.
pub fn place(run: &Run) -> String {
    match run.state.sprints.last() {
        None => "the contract".to_owned(),
        Some(sprint) => format!("round {}", sprint.number),
    }
}

/// Returns what a step does, and to what.
pub fn step(run: &Run, step: &Step) -> String {
    match step {
        Step::Draft => "drafting the contract".to_owned(),
        Step::Propose { round } => format!("reading the contract as the builder, exchange {round}"),
        Step::Rule { round } => format!("ruling on the builder's proposals, exchange {round}"),
        Step::Build { sprint, .. } => format!("building, round {sprint}"),
        Step::Inspect { .. } => "reading the source".to_owned(),
        Step::Browse { .. } => "looking at the result in a browser".to_owned(),
        Step::Allow => "asking whether commands may run".to_owned(),
        Step::Try { scenario, .. } => format!("running the test scenario {scenario}"),
        Step::Judge { reading: Reading::First, .. } => format!("judging, {}", place(run)),
        Step::Judge { reading: Reading::Second, .. } => format!("judging again, {}", place(run)),
        Step::Ask { .. } => "asking how to continue".to_owned(),
        Step::Commit { form, .. } => format!("making a {} of the result", form.word()),
        Step::Promote { .. } => "writing the result to its folder".to_owned(),
    }
}

/// Returns the result of the run in a sentence.
pub fn outcome_text(run: &Run) -> String {
    let Some(end) = run.state.end.as_ref().filter(|_| run.closed_at.is_some()) else {
        return if run.held {
            match run.asks() {
                _ if run.has_to_ask_for_commands() => {
                    "The run waits for you: may it run the commands of its test scenarios?".to_owned()
                }
                Some(hold) => format!("The run waits for you. {}", question(run, hold)),
                None => "The run waits for you.".to_owned(),
            }
        } else {
            "The run has not ended; `skilltune resume` continues it.".to_owned()
        };
    };
    match end.ending {
        Ending::Reached => format!("Passed{}.", score(run)),
        Ending::Forced => format!("Not passed{}: {} treated the result as passed.", score(run), who(run)),
        Ending::Accepted => format!("Not passed{}: {} accepted the result as it is.", score(run), who(run)),
        Ending::Kept(hold) => {
            format!("Not passed{}: {}. The best round is kept.", score(run), why(run, hold))
        }
        Ending::Aborted => "Aborted: the run has no result.".to_owned(),
        Ending::Failed => {
            let note = end.note.as_ref().map_or(String::new(), |note| format!(": {}", plain::one_line(note)));
            format!("The run ended without a judgement{note}.")
        }
    }
}

/// Returns one word for a report's head.
pub fn label(run: &Run) -> &'static str {
    match run.state.end.as_ref().map(|end| end.ending) {
        None => "NOT ENDED",
        Some(Ending::Reached) => "PASSED",
        Some(Ending::Forced) => "FORCED",
        Some(Ending::Accepted) => "ACCEPTED AS IT IS",
        Some(Ending::Kept(Question::Exhausted)) => "MAX ROUNDS",
        Some(Ending::Kept(Question::Stagnation)) => "STALLED",
        Some(Ending::Kept(Question::Escalation)) => "STOPPED",
        Some(Ending::Aborted) => "ABORTED",
        Some(Ending::Failed) => "FAILED",
    }
}

fn score(run: &Run) -> String {
    let threshold = run.plan.task.rules.threshold.typed();
    run.best().map_or(String::new(), |best| {
        format!(" with {} ({threshold} needed)", best.evaluation().score.typed())
    })
}

/// Returns who answered last.
fn who(run: &Run) -> &'static str {
    by(run.state.course.answers.last().map_or(Who::Default, |answered| answered.by))
}

pub fn by(who: Who) -> &'static str {
    match who {
        Who::Person => "a person",
        Who::Default => "default",
    }
}

/// Returns the subject of a question.
pub fn hold(hold: Question) -> &'static str {
    match hold {
        Question::Escalation => "no pass so far",
        Question::Stagnation => "no gain",
        Question::Exhausted => "the last round",
    }
}

fn why(run: &Run, hold: Question) -> String {
    match hold {
        Question::Escalation => {
            format!("no pass in {}", figures::count(run.plan.task.rules.escalate_after as usize, "round"))
        }
        Question::Stagnation => {
            let Rules { gain, standstill, .. } = &run.plan.task.rules;
            let in_a_row = if *standstill == 1 { "" } else { " in a row" };
            let rounds = figures::count(*standstill as usize, "round");
            format!("{rounds}{in_a_row} gained less than {} points", gain.typed())
        }
        Question::Exhausted => {
            format!("{} built, and none passed", figures::count(run.state.sprints.len(), "round"))
        }
    }
}

pub fn question(run: &Run, hold: Question) -> String {
    let why = why(run, hold);
    let mut letters = why.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}. How should the run continue?", letters.as_str())
}

/// Returns the answers to a question. Without an answer, the first is used.
pub fn choices(hold: Question) -> Vec<&'static Offer> {
    let all = ["refocus", "end", "guide", "amend", "force", "accept", "abort"];
    let fits = |name: &&str| {
        !matches!((*name, hold), ("refocus", Question::Exhausted) | ("end", Question::Escalation))
    };
    let offer = |name| Gan::OFFERS.iter().find(|offer| offer.name == name);
    let mut choices: Vec<_> = all.into_iter().filter(fits).filter_map(offer).collect();
    if hold == Question::Stagnation {
        // The default comes first.
        choices.swap(0, 1);
    }
    choices
}

/// Returns the words that `--answer` accepts here.
pub fn options(hold: Question) -> Vec<&'static str> {
    choices(hold).into_iter().map(|offer| offer.name).collect()
}

pub fn choice(choice: &Choice) -> &'static str {
    match choice {
        Choice::Refocus { .. } => "refocus",
        Choice::Amend { .. } => "amend",
        Choice::Guide { .. } => "guide",
        Choice::Force => "force",
        Choice::Accept => "accept",
        Choice::Stop => "end",
        Choice::Abort => "abort",
    }
}

/// Returns the levels that dimensions must reach by the contract, after what else it has.
pub fn pass_conditions(contract: &Contract) -> Option<String> {
    let conditions = contract.pass_conditions.iter();
    let each = conditions.map(|(dimension, minimum)| format!("{dimension} {}", minimum.typed()));
    let each: Vec<_> = each.collect();
    (!each.is_empty()).then(|| plain::one_line(&format!("; at least {}", each.join(", "))))
}

/// Returns why the best round does not pass: a person has to know it before they answer.
pub fn standing(run: &Run) -> Vec<String> {
    let Some(best) = run.best() else { return Vec::new() };
    let blocks = run.blocks(best);
    let head = format!("the best round is round {}: {}", run.number_of(best), measured(best.evaluation()));
    std::iter::once(head)
        .chain(blocks.iter().map(|block| format!("  {block}")))
        .map(|line| plain::one_line(&line))
        .collect()
}

/// Returns a round in one line: its score, the passed share, and its dimensions.
pub fn measured(found: &Evaluation) -> String {
    let each = found.dimensions.iter().map(|one| {
        let capped = if one.capped_by.is_empty() { "" } else { " (capped)" };
        format!("{} {}{capped}", one.id, one.level.typed())
    });
    let each: Vec<_> = each.collect();
    let text = format!("score {}, {} % met; {}", found.score.typed(), found.share.typed(), each.join(", "));
    plain::one_line(&text)
}

/// Names the dimensions for which a judge gave no level of the rubric, or no reason for it. Such a claim is dropped.
pub fn uncited(found: &Evaluation) -> Option<String> {
    let missing = found.dimensions.iter().filter(|dimension| dimension.claimed.is_none());
    let missing: Vec<&str> = missing.map(|dimension| dimension.id.as_str()).collect();
    let text = format!("the evaluator cited no level with a reason for {}", missing.join(", "));
    (!missing.is_empty()).then(|| plain::one_line(&text))
}

/// Returns the result of a round.
pub fn verdict(run: &Run, round: &Round) -> &'static str {
    if run.blocks(round).is_empty() { "passed" } else { "not passed" }
}

/// Returns why a round does not pass, in brackets; nothing if it passes. Its report has all reasons.
pub fn why_not(run: &Run, round: &Round) -> String {
    const SHOWN: usize = 3;
    let blocks = run.blocks(round);
    if blocks.is_empty() {
        return String::new();
    }
    let mut reasons: Vec<String> = blocks.iter().take(SHOWN).map(ToString::to_string).collect();
    if blocks.len() > SHOWN {
        reasons.push(format!("and {} more", blocks.len() - SHOWN));
    }
    format!(" ({})", plain::one_line(&reasons.join("; ")))
}

/// Returns the highest score of a run that is above that of its best round, and why it did not count.
pub fn higher_score(run: &Run) -> Option<String> {
    let HigherScore { round, score, why } = run.higher_score()?;
    let why: Vec<String> = why.iter().map(ToString::to_string).collect();
    let (number, score) = (run.number_of(round), score.typed());
    let text = format!("highest score: round {number}, {score}; it did not count: {}", why.join("; "));
    Some(plain::one_line(&text))
}

/// Returns where the result is: in the user's folder, or among the run's files.
pub fn result(run: &Run) -> Option<String> {
    if let Some(into) = run.plan.task.into.as_ref().filter(|_| run.is_in_folder()) {
        return Some(into.clone());
    }
    let result = run.result()?;
    let round = run.state.course.rounds.iter().position(|round| round.artifact == result)?;
    Some(format!("{}/iterations/iteration-{}/artifact", run.plan.folder, round + 1))
}

/// Returns the folder in the project to which the run wrote its sprints too.
pub fn sprints(run: &Run) -> Option<String> {
    let ArtifactDir { project, below } = run.plan.task.artifact_dir.as_ref()?;
    (!run.state.sprints.is_empty()).then(|| format!("{project}/{below}/{}", run.plan.run))
}

/// Returns where an accepted result would go.
pub fn planned_result(task: &Task) -> String {
    let text = match (&task.into, task.apply) {
        (None, _) => "stays in the run's folder; pass --into DIR to have it written".to_owned(),
        (Some(_), Apply::Never) => "stays in the run's folder".to_owned(),
        (Some(into), Apply::Auto) => format!("is written to {into}"),
        (Some(into), Apply::Propose(form)) => {
            let form = match form {
                Form::Branch => "commit on a branch",
                Form::Patch => "patch in the run's folder",
                Form::PullRequest => "pull request",
            };
            format!("becomes a {form}; {into} is unchanged")
        }
    };
    plain::one_line(&format!("result: {text}"))
}

/// Returns what happened to the destination, if that has to be reported.
pub fn destination(run: &Run) -> Option<String> {
    let into = plain::one_line(run.plan.task.into.as_ref()?);
    // There may be no folder yet.
    let untouched = if run.plan.task.start == TreeId::EMPTY {
        format!("nothing was written to {into}")
    } else {
        format!("{into} is unchanged")
    };
    match run.handed_over() {
        Some(Answer::Promoted) if run.is_in_folder() => None,
        Some(Answer::Promoted) => Some(format!("{into} was restored to its state before the run")),
        Some(Answer::Conflict { .. }) => Some(format!(
            "{into} changed during the run, so skilltune did not write to it; copy the result yourself"
        )),
        Some(Answer::Committed(proposal)) => {
            let notes: String = proposal.notes.iter().flat_map(|note| ["; ", note]).collect();
            let commit = words::commit(proposal);
            Some(format!("{untouched}; the result is {commit}{}", plain::one_line(&notes)))
        }
        Some(Answer::NotCommitted { why }) => {
            Some(format!("{untouched}; no commit could be made: {}", plain::one_line(why)))
        }
        _ if run.closed_at.is_some() => Some(untouched),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
