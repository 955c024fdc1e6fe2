//! The result of a run that compared two versions, in words and as a page.

use serde_json::{Value, json};
use skilltune_phases::base::id::TreeId;
use skilltune_phases::base::name::Name;
use skilltune_phases::base::role::Role;
use skilltune_phases::judging::score::Score;
use skilltune_phases::loops::Loop as _;
use skilltune_phases::loops::tune::{
    LeftOut, Pair, Regraded, Run, Shipment, Sides, Tune, UnpairedSamples, Verdict,
};

use crate::loops::tune::report::{troubles, without_skill};
use crate::loops::tune::words as phrases;
use crate::loops::tune::{price, verdicts};
use crate::report::document::{Block, Report, Row, Section, code, paragraph, plain, strong, table, words};
use crate::report::summary::{Data, Head, Line, Summary};
use crate::text::figures::{self, count};
use crate::text::plain::one_line;

/// Returns the summary of a comparison, from that of a search.
pub fn summary(run: &Run, two: &Sides, search: Summary) -> Summary {
    let scores = run.state.shipment.as_ref().map(|shipment| &shipment.scores[..]);
    let result = match scores {
        Some([(_, a), (_, b)]) => format!("{:>5} -> {}", figures::score(*a), figures::score(*b)),
        Some(_) | None => "-".to_owned(),
    };
    Summary {
        kind: if two.regraded.is_some() { "regrade" } else { "compare" },
        subject: format!("{} with {}", two.challenger, two.start),
        head: Head { lines: vec![Line::Text(headline(run, two))], ..search.head },
        result,
        facts: facts(run, two),
        data: Data { last: json!({ "compared": json(run, two) }), ..search.data },
        ..search
    }
}

/// Returns in one line what is compared with what, and how.
pub fn headline(run: &Run, two: &Sides) -> String {
    let rules = &run.plan.task.rules;
    let trials = count(rules.confirm as usize, "trial");
    if let Some(of) = &two.regraded {
        return regraded(run, two, of);
    }
    format!(
        "compare A = {} with B = {}: is B better? {trials} of each per scenario, confidence {}",
        one_line(&two.start),
        one_line(&two.challenger),
        rules.confidence
    )
}

/// Returns the same line for the trials of an older run.
fn regraded(run: &Run, two: &Sides, of: &Regraded) -> String {
    let most: u64 = Tune::most_calls(&run.plan).values().sum();
    let judge = match of.judged {
        0 => "no judge is needed".to_owned(),
        judged => format!("the judge evaluates {judged} of them in at most {}", counted(most, "call")),
    };
    format!(
        "regrade run {}: is B = {} better than A = {}? {}, confidence {}; nothing is executed again, and {judge}",
        of.run,
        one_line(&two.challenger),
        one_line(&two.start),
        counted(of.trials.into(), "stored trial"),
        run.plan.task.rules.confidence
    )
}

fn counted(number: u64, what: &str) -> String {
    count(usize::try_from(number).unwrap_or(usize::MAX), what)
}

/// Returns how many of its trials are settled.
pub fn progress(run: &Run) -> String {
    let measure = &run.state.measure;
    let trials = match run.plan.task.regraded() {
        Some(of) => of.trials as usize,
        None => 2 * run.plan.task.scenarios.len() * run.plan.task.rules.confirm as usize,
    };
    match &run.state.shipment {
        Some(shipment) => count(in_order(shipment).len(), "scenario"),
        None => format!("{} of {}", measure.settled(), count(trials, "trial")),
    }
}

fn facts(run: &Run, two: &Sides) -> Vec<(&'static str, String)> {
    let mut facts = vec![("A", two.start.to_string()), ("B", two.challenger.to_string())];
    facts.extend(two.regraded.as_ref().map(|of| ("trials", trials(run, of))));
    match &run.state.shipment {
        Some(shipment) => facts.push(("verdict", verdict(run, shipment))),
        None => facts.push(("tried", progress(run))),
    }
    facts
}

/// Returns where stored trials come from.
fn trials(run: &Run, of: &Regraded) -> String {
    let executor = run.plan.roles.of(&Role::EXECUTOR).shown();
    format!("{} of run {}, by {executor}", of.trials, of.run)
}

/// Returns the verdict about B.
fn verdict(run: &Run, shipment: &Shipment) -> String {
    match shipment.verdict {
        Verdict::Unused => "NOT USED, no trial of B used the skill".to_owned(),
        Verdict::Won if shipment.effect.is_none() => "B scored higher than A".to_owned(),
        Verdict::Lost if shipment.effect.is_none() => "B did not score higher than A".to_owned(),
        Verdict::Won
        | Verdict::Lost
        | Verdict::Tied
        | Verdict::Indecisive
        | Verdict::Regressed
        | Verdict::Unchallenged
        | Verdict::Unjudged => verdicts::verdict(run, shipment),
    }
}

/// Returns the verdict, its basis, and each scenario.
pub fn shown(run: &Run) -> Vec<String> {
    let Some(shipment) = &run.state.shipment else { return vec![format!("{} so far", progress(run))] };
    let mut lines = vec![format!("B: {}", verdict(run, shipment))];
    if let [(_, Some(a)), (_, Some(b))] = shipment.scores[..] {
        let basis = verdicts::basis(run, shipment).unwrap_or_default();
        lines.push(format!("A {a}, B {b}: {basis}"));
    }
    let row = |scores: &ScenarioScores| {
        let [name, a, b, difference] = row(run, scores)?;
        let name = one_line(&name);
        Some(match scores {
            (_, Some(_), None) => format!("A {a} {name}"),
            (_, None, _) => format!("B {b} {name}"),
            (_, Some(_), Some(_)) => format!("{difference} {name} ({a} -> {b})"),
        })
    };
    lines.extend(in_order(shipment).iter().filter_map(row));
    lines.extend(price::text(run));
    lines.extend(verdicts::adjusted(run, shipment).map(str::to_owned));
    lines.extend(verdicts::caution(run).into_iter().chain(verdicts::held_out_reuse(run)));
    lines
}

/// A scenario, and the scores of A and B on it. One is missing if each was tried on scenarios of its own.
type ScenarioScores = (usize, Option<Score>, Option<Score>);

/// Returns the scenarios in the order of the suite, not of the trials.
fn in_order(shipment: &Shipment) -> Vec<ScenarioScores> {
    let pairs = shipment.pairs.iter().map(|pair| (pair.scenario, Some(pair.start), Some(pair.challenger)));
    let unpaired = shipment.unpaired.iter().flat_map(|UnpairedSamples { start, challenger, .. }| {
        let start = start.iter().map(|(scenario, score)| (*scenario, Some(*score), None));
        start.chain(challenger.iter().map(|(scenario, score)| (*scenario, None, Some(*score))))
    });
    let mut scores: Vec<ScenarioScores> = pairs.chain(unpaired).collect();
    scores.sort_by_key(|(scenario, ..)| *scenario);
    scores
}

fn row(run: &Run, &(scenario, a, b): &ScenarioScores) -> Option<[String; 4]> {
    let name = run.plan.task.scenarios.get(scenario)?.id.to_string();
    let pair = a.zip(b).map(|(start, challenger)| Pair { scenario, start, challenger });
    let difference = pair.map_or("-".to_owned(), |pair| {
        format!("{} {}", verdicts::arrow(&pair), figures::signed(pair.difference()))
    });
    Some([name, figures::score(a), figures::score(b), difference])
}

/// Returns a note that a question was skipped, if one of the versions is not a skill.
fn unasked(run: &Run, two: &Sides) -> Option<&'static str> {
    let is_without = two.is_without_skill() || run.plan.task.target.members[0].start == TreeId::EMPTY;
    is_without.then_some("One side has no skill, so skill use was not checked on either side.")
}

fn json(run: &Run, two: &Sides) -> Value {
    let shipment = run.state.shipment.as_ref();
    json!({
        "a": two.start,
        "b": two.challenger,
        "verdict": shipment.map(|shipment| shipment.verdict),
        "effect": shipment.and_then(|shipment| shipment.effect),
        // The source of its trials, if an older run made them.
        "regraded": two.regraded.as_ref().map(from),
        "confidence": run.plan.task.rules.confidence,
        "trials": run.plan.task.rules.confirm,
        "a_score": shipment.and_then(|shipment| shipment.scores.first()?.1),
        "b_score": shipment.and_then(|shipment| shipment.scores.get(1)?.1),
        "scenarios": shipment.map(|shipment| scenarios(run, shipment)),
    })
}

fn from(of: &Regraded) -> Value {
    let left_out = |(scenario, why): &(Name, LeftOut)| json!({ "scenario": scenario, "why": why });
    let left_out: Value = of.left_out.iter().map(left_out).collect();
    json!({ "run": of.run, "trials": of.trials, "left_out": left_out })
}

fn scenarios(run: &Run, shipment: &Shipment) -> Value {
    let one = |(scenario, a, b): &ScenarioScores| {
        let scenario = &run.plan.task.scenarios.get(*scenario)?.id;
        Some(json!({ "scenario": scenario, "a": a, "b": b }))
    };
    in_order(shipment).iter().filter_map(one).collect()
}

/// Returns the report of a comparison.
pub fn report(run: &Run, two: &Sides) -> Report {
    let title = if two.regraded.is_some() { "Regrade: " } else { "Comparison: " };
    let mut lead = Vec::new();
    if let Some(shipment) = &run.state.shipment {
        lead.push(paragraph([strong("B"), plain(": "), words(&verdict(run, shipment)), plain(".")]));
        lead.extend(price::text(run).map(paragraph));
    }
    let mut about: Vec<Row> =
        vec![("A", code(&two.start).into()), ("B", code(&two.challenger).into()), without_skill::suite(run)];
    about.extend(two.regraded.as_ref().map(|of| ("Trials", words(&trials(run, of)).into())));
    about.extend(unasked(run, two).map(|note| ("Note", words(note).into())));
    Report {
        title: [plain(title), words(&phrases::target(run))].into(),
        lead,
        about,
        more: vec![("Confidence", run.plan.task.rules.confidence.to_string().into())],
        sections: vec![Section { title: "Scenarios", blocks: each(run) }],
        unit: "round",
        ..Report::default()
    }
}

fn each(run: &Run) -> Vec<Block> {
    let Some(shipment) = &run.state.shipment else { return vec![paragraph("No verdict yet.")] };
    let mut blocks = Vec::new();
    blocks.extend(verdicts::basis(run, shipment).map(|basis| paragraph(format!("Based on {basis}."))));
    let scores = in_order(shipment);
    let rows = scores
        .iter()
        .filter_map(|scores| row(run, scores))
        .map(|[name, a, b, difference]| vec![words(&name).into(), a.into(), b.into(), difference.into()]);
    blocks.push(table(&["Scenario", "A", "B", "Difference"], rows));
    blocks.extend(verdicts::adjusted(run, shipment).map(paragraph));
    blocks.extend(verdicts::caution(run).into_iter().chain(verdicts::held_out_reuse(run)).map(paragraph));
    let failed = troubles::measuring(run, run.round_number()).into_iter().chain(troubles::finishing(run));
    blocks.extend(troubles::blocks(run, &failed.collect::<Vec<_>>()));
    blocks
}
