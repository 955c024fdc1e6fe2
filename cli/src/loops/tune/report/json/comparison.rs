//! The final comparison as data: the verdict, its basis, and every pair. Its keys are in `docs/verdicts.md`.

use serde_json::{Value, json};
use skilltune_phases::base::ending::Class;
use skilltune_phases::base::id::CandidateId;
use skilltune_phases::judging::score::Score;
use skilltune_phases::loops::tune::compare::panel::{self, Juror};
use skilltune_phases::loops::tune::results::proposing;
use skilltune_phases::loops::tune::{Basis, FailOn, Pair, Run, Shipment, UnpairedSamples};

use crate::loops::tune::{judges, price, verdicts};

/// Returns the verdict in one word, if there is one.
pub fn word(run: &Run) -> Option<&'static str> {
    let shipment = run.state.shipment.as_ref()?;
    Some(proposing::word(run, shipment))
}

pub fn comparison(run: &Run) -> Option<Value> {
    let shipment = run.state.shipment.as_ref()?;
    let mut comparison = json!({
        "verdict": word(run),
        "words": verdicts::verdict(run, shipment),
        // By how many points the candidate is better, and the bounds of that; null if nothing was tested.
        "effect": shipment.effect,
        "confidence": run.plan.task.rules.confidence,
        "basis": basis(run.basis()),
        "caution": verdicts::caution(run),
        "start": version(run, shipment, Some(run.start())),
        "candidate": version(run, shipment, shipment.challenger),
        "left": if shipment.champion == run.start() { "start" } else { "candidate" },
        // The difference that the search had claimed; it decides nothing.
        "claimed": verdicts::claimed(run, shipment),
        "trials_each": run.confirm(),
        "looks": { "made": shipment.interim_analyses, "planned": run.planned_looks() },
        "pairs": shipment.pairs.iter().map(|pair| self::pair(run, pair)).collect::<Vec<_>>(),
        // Set if only the candidate was tried on fresh trials; null if both were, as pairs.
        "apart": shipment.unpaired.as_ref().map(|samples| self::unpaired(run, samples)),
        // The tested judges with their results, and Krippendorff's alpha over what several of them judged.
        "judges": panel::jurors(run).into_iter().map(|juror| self::juror(run, juror)).collect::<Vec<_>>(),
        "agreement": panel::agreement(run),
        "close": run.state.panel.close.iter().map(|&nth| scenario(run, nth)).collect::<Vec<_>>(),
        "fell": shipment.fell.iter().map(|&nth| scenario(run, nth)).collect::<Vec<_>>(),
    });
    // Only if the test found no answer.
    if let Some(price) = price::json(run) {
        comparison["price"] = price;
    }
    Some(comparison)
}

/// Returns what a pipeline asks of the run, and whether it passes; unknown before the end or without a judgement.
pub fn fail_on(run: &Run) -> Option<Value> {
    let fail_on = Some(run.plan.task.fail_on).filter(FailOn::is_set)?;
    let passed = match run.class() {
        Class::Reached => Some(true),
        Class::Short => Some(false),
        Class::Unjudged | Class::Open => None,
    };
    Some(json!({
        "fail_under": fail_on.score_under,
        "fail_on_regression": fail_on.regression,
        "confirmed_score": run.confirmed_score(),
        "passed": passed,
        "words": verdicts::fail_on(run),
    }))
}

fn basis(basis: Basis) -> &'static str {
    match basis {
        Basis::HeldOut => "held_out",
        Basis::All => "all",
        Basis::Searched => "searched",
        Basis::Few => "too_few",
        Basis::Structure => "structure",
    }
}

/// Returns a compared version, with its mean over the pairs and what the search had claimed.
fn version(run: &Run, shipment: &Shipment, id: Option<CandidateId>) -> Option<Value> {
    let id = id?;
    let scored = shipment.scores.iter().find(|(known, _)| *known == id);
    let score = scored.and_then(|(_, score)| *score).filter(|_| shipment.is_compared());
    Some(json!({ "id": id, "score": score, "claimed": run.search_score(id) }))
}

fn juror(run: &Run, Juror { seat, tally, is_dismissed }: Juror) -> Value {
    json!({
        "role": seat.role(),
        "agent": judges::agent(run, seat),
        "statements_known": tally.known,
        "wrong": tally.wrong,
        "statements_repeated": tally.repeated,
        "changed": tally.differing,
        "counted": !is_dismissed,
    })
}

fn pair(run: &Run, pair: &Pair) -> Value {
    json!({
        "scenario": scenario(run, pair.scenario),
        "start": pair.start,
        "candidate": pair.challenger,
        "difference": verdicts::tenths(pair.difference()),
        "arrow": verdicts::arrow(pair),
    })
}

fn unpaired(run: &Run, UnpairedSamples { start, challenger, versions }: &UnpairedSamples) -> Value {
    let scored = |(nth, score): &(usize, Score)| json!({ "scenario": scenario(run, *nth), "score": score });
    let listed = |scores: &[(usize, Score)]| scores.iter().map(scored).collect::<Vec<_>>();
    let mut candidate = listed(challenger);
    // Set if each was tried with the version that was newest then.
    for (scored, version) in candidate.iter_mut().zip(versions) {
        scored["version"] = json!(version);
    }
    json!({ "start": listed(start), "candidate": candidate })
}

fn scenario(run: &Run, nth: usize) -> Option<&str> {
    run.plan.task.scenarios.get(nth).map(|scenario| scenario.id.as_str())
}
