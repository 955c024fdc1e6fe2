//! The verdict of a final comparison in words, and how much it shows.

use skilltune_phases::judging::proof::Effect;
use skilltune_phases::judging::score::Score;
use skilltune_phases::loops::tune::compare::panel;
use skilltune_phases::loops::tune::results::ending::RunOutcome;
use skilltune_phases::loops::tune::{
    Aim, Apply, Basis, FailReason, Pair, Run, Shipment, UnpairedSamples, Verdict,
};
use skilltune_phases::runs::proposal::Proposal;

use crate::loops::tune::held_out_uses;
use crate::loops::tune::words::Class;
use crate::report::words::commit;
use crate::text::figures::{count, signed};
use crate::text::plain::one_line;

const ONE_SCENARIO: &str = "Weak evidence: one scenario. Other tasks may show a different result.";

const EARLY: &str = "The comparison stopped early, so the true difference is probably smaller.";

const ADJUSTED: &str = "The difference in the verdict is corrected for several looks at the results, so it is not the plain mean of these scenarios.";

const SEARCHED: &str =
    "Weaker evidence: compared on the scenarios of the search, which favour its best candidate.";

/// Returns the verdict in one line: what it is, by how much, and how sure that is.
pub fn verdict(run: &Run, shipment: &Shipment) -> String {
    let confidence = run.plan.task.rules.confidence;
    let sure = |effect: Effect| {
        let (lower, upper) = (signed(effect.lower), signed(effect.upper));
        format!("the difference is between {lower} and {upper} points at confidence {confidence}")
    };
    match (shipment.verdict, shipment.effect) {
        (Verdict::Won, Some(Effect { points, lower, .. })) => {
            format!("WIN, better by {points:.1} points, by at least {lower:.1} at confidence {confidence}")
        }
        (Verdict::Lost, Some(Effect { points, upper, .. })) => {
            let (points, upper) = (-points, -upper);
            format!("LOSS, worse by {points:.1} points, by at least {upper:.1} at confidence {confidence}")
        }
        (Verdict::Tied, Some(effect)) => format!("TIE, {}", sure(effect)),
        (Verdict::Indecisive, Some(effect)) => format!("INDECISIVE, {}", sure(effect)),
        (Verdict::Won, None) => "the candidate scored higher than the start".to_owned(),
        (Verdict::Lost | Verdict::Tied | Verdict::Indecisive, None) => {
            "the candidate did not score higher than the start".to_owned()
        }
        (Verdict::Regressed, _) => {
            format!("REFUSED, better on the whole but much worse on {}", named(run, &shipment.fell))
        }
        (Verdict::Unused, _) => "NOT USED, no trial of the candidate used the skill".to_owned(),
        (Verdict::Unchallenged, _) if run.state.candidates.len() == 1 => {
            "none, the search made no candidate".to_owned()
        }
        (Verdict::Unchallenged, _) => "none, no candidate did better than the start in the search".to_owned(),
        (Verdict::Unjudged, _) if panel::seated(run).next().is_none() => {
            "INDECISIVE, no judge is reliable".to_owned()
        }
        (Verdict::Unjudged, _) => "INDECISIVE, too few trials could be judged".to_owned(),
    }
}

fn named(run: &Run, scenarios: &[usize]) -> String {
    let names = scenarios.iter().filter_map(|nth| run.plan.task.scenarios.get(*nth));
    names.map(|scenario| scenario.id.as_str()).collect::<Vec<_>>().join(", ")
}

/// Rounds a difference to tenths, without -0.0.
pub fn tenths(points: f64) -> f64 {
    (points * 10.0).round() / 10.0 + 0.0
}

/// Returns the difference that the search had claimed.
pub fn claimed(run: &Run, shipment: &Shipment) -> Option<f64> {
    let claim = |id| run.search_score(id).map(Score::points);
    Some(claim(shipment.challenger?)? - claim(run.start())?)
}

/// Returns why the verdict's difference is not the mean of the pairs, or is larger than the true one.
pub fn adjusted(run: &Run, shipment: &Shipment) -> Option<&'static str> {
    let is_early = shipment.interim_analyses < run.planned_looks();
    match (shipment.effect, shipment.interim_analyses) {
        (Some(_), 1) if is_early && shipment.verdict == Verdict::Won => Some(EARLY),
        (None, _) | (Some(_), 0 | 1) => None,
        (Some(_), _) => Some(ADJUSTED),
    }
}

/// Returns how many false wins to expect by now, if the same scenarios have decided more than once.
pub fn held_out_reuse(run: &Run) -> Option<String> {
    let so_far = held_out_uses::so_far(run);
    let expected = f64::from(so_far) * run.plan.task.rules.confidence.alpha();
    let advice = if expected > 1.0 { " Replace the held-out scenarios with new ones." } else { "" };
    (so_far > 1).then(|| {
        format!(
            "These held-out scenarios have decided {so_far} times; expect about {expected:.1} false wins.{advice}"
        )
    })
}

/// Returns an arrow for better, worse, or unchanged.
pub fn arrow(pair: &Pair) -> &'static str {
    match pair.difference() {
        difference if difference > 0.0 => "↑",
        difference if difference < 0.0 => "↓",
        _ => "=",
    }
}

/// Returns the scores of both versions, and the scenarios that they are from.
pub fn compared(run: &Run, shipment: &Shipment, [start, challenger]: [Score; 2]) -> String {
    if let Some(samples) = &shipment.unpaired {
        let first = count(samples.start.len(), "scenario");
        let others = count(samples.challenger.len(), "other");
        let unseen = if samples.versions.is_empty() {
            "which the search has not seen"
        } else {
            "each tried before an edit for it"
        };
        return format!("{start} on {first} -> {challenger} on {others}, {unseen}");
    }
    let unseen = match run.basis() {
        Basis::HeldOut => " that the search has not seen",
        Basis::All | Basis::Searched | Basis::Few | Basis::Structure => "",
    };
    format!("{start} -> {challenger} on {}{unseen}", count(shipment.pairs.len(), "scenario"))
}

/// Returns what the verdict is based on.
pub fn basis(run: &Run, shipment: &Shipment) -> Option<String> {
    let scenarios = match run.basis() {
        Basis::HeldOut => "held-out scenario",
        Basis::All | Basis::Searched | Basis::Few | Basis::Structure => "scenario",
    };
    let trial = if run.plan.task.regraded().is_some() { "stored trial" } else { "fresh trial" };
    let trials = count(run.confirm() as usize, trial);
    if let Some(UnpairedSamples { start, challenger, versions }) = &shipment.unpaired {
        let (compared, others) = (count(challenger.len(), scenarios), count(start.len(), "other scenario"));
        let of_candidate = if versions.is_empty() {
            format!("{trials} of the candidate on each")
        } else {
            "on each the first trial of the version that was newest then (later ones weigh more)".to_owned()
        };
        return Some(format!("{compared}, {of_candidate}, against the start's first trials of {others}"));
    }
    (!shipment.pairs.is_empty())
        .then(|| format!("{}, {trials} of each version on each", count(shipment.pairs.len(), scenarios)))
}

/// Returns what happened to the target. Once the user has placed something, the run does not know whether the skill is
/// unchanged: what was placed is reported beside it.
pub fn outcome_text(run: &Run) -> String {
    let text = of_run(run);
    if run.placed.is_none() {
        return text;
    }
    text.replace(" The skill is unchanged.", "").replace("; the skill is unchanged.", ".")
}

fn of_run(run: &Run) -> String {
    match run.proposed() {
        Some(Ok(proposal)) => proposed(run, proposal),
        Some(Err(why)) => {
            let why = one_line(why);
            format!("{}, but no commit could be made: {why}. The skill is unchanged.", better(run))
        }
        None => of_target(run),
    }
}

/// Returns whether more than a higher score shows that the winner is better.
pub fn is_tested(run: &Run) -> bool {
    run.plan.is_structural() || run.state.shipment.as_ref().is_some_and(|shipment| shipment.effect.is_some())
}

/// Returns what a winner has shown.
fn better(run: &Run) -> &'static str {
    if is_tested(run) { "The champion beat the start" } else { "The champion scored higher than the start" }
}

fn proposed(run: &Run, proposal: &Proposal) -> String {
    let notes: Vec<String> =
        proposal.notes.iter().map(|note| format!(" Note: {}.", one_line(note))).collect();
    format!("{} and is {}.{} The skill is unchanged.", better(run), commit(proposal), notes.concat())
}

fn of_target(run: &Run) -> String {
    let better = better(run);
    let text = match run.outcome() {
        // The user has placed something since: the current content is reported beside it.
        RunOutcome::Improved if run.placed.is_some() => return format!("{better}, and the run applied it."),
        RunOutcome::Improved if is_tested(run) => return format!("{better} and was applied."),
        RunOutcome::Improved => return format!("{better} and was applied, as you said."),
        RunOutcome::Kept => return kept(run),
        RunOutcome::Proposed => return format!("{better} and is a commit; the skill is unchanged."),
        RunOutcome::Conflict => {
            "Someone edited the skill during the run, so the champion was not applied; it is kept in the store."
        }
        RunOutcome::Exercised if matches!(run.plan.task.aim, Aim::Calibrate { .. }) => {
            "The suite was calibrated; nothing was changed."
        }
        RunOutcome::Exercised => "The scenarios were tried without a skill.",
        RunOutcome::Compared if run.plan.task.regraded().is_some() => {
            "The stored trials were regraded; nothing was changed."
        }
        RunOutcome::Compared => "The two versions were compared; nothing was changed.",
        RunOutcome::Unjudged => "The result could not be judged; the skill is unchanged.",
        RunOutcome::Held => "The run waits for your answer; the skill is unchanged.",
        RunOutcome::Paused => "The run has not ended; `skilltune resume` continues it.",
        RunOutcome::Unchanged => unchanged(run),
    };
    text.to_owned()
}

fn kept(run: &Run) -> String {
    let better = better(run);
    let scope = if run.basis() == Basis::Searched { " on the scenarios of the search" } else { "" };
    match run.plan.task.apply {
        Apply::Auto | Apply::Unattended if run.needs_a_person() => {
            format!(
                "{better}, but its edits are dangerous, so a person has to apply it. The skill is unchanged."
            )
        }
        Apply::Auto | Apply::Unattended => {
            format!("{better}{scope}; that is not enough to apply it without you. The skill is unchanged.")
        }
        Apply::Ask | Apply::Never | Apply::Propose(_) => {
            format!("{better} but was not applied, as you asked; the skill is unchanged.")
        }
    }
}

fn unchanged(run: &Run) -> &'static str {
    match run.state.shipment.as_ref().map(|shipment| shipment.verdict) {
        Some(Verdict::Lost) => "No candidate beat the start; the skill is unchanged.",
        Some(Verdict::Tied) => "The best candidate is no better than the start; the skill is unchanged.",
        Some(Verdict::Indecisive) => {
            "The comparison does not show whether the best candidate is better; the skill is unchanged."
        }
        Some(Verdict::Regressed) => {
            "The best candidate is better on the whole but much worse on some scenario; the skill is unchanged."
        }
        Some(Verdict::Unused) => {
            "No trial used the best candidate, so nothing shows that it is better; the skill is unchanged."
        }
        Some(Verdict::Unchallenged) if run.plan.is_structural() && run.class() == Class::Reached => {
            "No structural findings to fix; the skill is unchanged."
        }
        Some(Verdict::Won | Verdict::Unchallenged | Verdict::Unjudged) | None => {
            "No improvement found; the skill is unchanged."
        }
    }
}

/// Returns whether the run passes its pipeline, and if not, why; nothing without a pipeline or a judgement.
pub fn fail_on(run: &Run) -> Option<String> {
    let fail_on = run.plan.task.fail_on;
    let is_judged = matches!(run.class(), Class::Reached | Class::Short);
    if !fail_on.is_set() || !is_judged {
        return None;
    }
    let under = fail_on.score_under.map(|least| format!("--fail-under {}", least.typed()));
    let regression = fail_on.regression.then(|| "--fail-on-regression".to_owned());
    let reasons: Vec<String> =
        run.fail_reasons().iter().map(|reason| format!("Failed {}.", failed(run, reason))).collect();
    let asked: Vec<String> = under.into_iter().chain(regression).collect();
    Some(if reasons.is_empty() { format!("Passed {}.", asked.join(" and ")) } else { reasons.join(" ") })
}

/// Returns why a run has not reached its goal, if its score has.
pub fn unproved(run: &Run) -> Option<String> {
    let is_met = run.final_score().is_some_and(|score| score >= run.plan.task.rules.threshold);
    let is_counted = run.plan.task.fail_on.is_set() || run.plan.is_structural();
    let is_suite = run.plan.task.scenarios.len() > 1 && run.plan.task.searches();
    let is_short = run.class() == Class::Short && run.outcome() == RunOutcome::Unchanged;
    (is_met && !is_counted && is_suite && is_short).then(|| UNPROVED.to_owned())
}

const UNPROVED: &str = "Exit code 3: with several tasks the goal takes a WIN, and there was none. If the skill is good already, add harder tasks.";

fn failed(run: &Run, reason: &FailReason) -> String {
    match reason {
        FailReason::ScoreUnder { score, least } => {
            format!("--fail-under {}: the confirmed score is {score}", least.typed())
        }
        FailReason::Unconfirmed { least } => {
            format!("--fail-under {}: nothing was compared, so no score is confirmed", least.typed())
        }
        FailReason::Lost => "--fail-on-regression: the candidate is worse than the start".to_owned(),
        FailReason::Fell(scenarios) => {
            format!("--fail-on-regression: much worse on {}", named(run, scenarios))
        }
    }
}

/// Returns how weak the evidence is, if it is: of the final comparison, or without one of the scores.
pub fn caution(run: &Run) -> Option<String> {
    let shipment = run.state.shipment.as_ref()?;
    let is_scored = run.initial_score().is_some();
    let is_compared = match shipment.verdict {
        Verdict::Unchallenged | Verdict::Unjudged => false,
        Verdict::Won
        | Verdict::Lost
        | Verdict::Tied
        | Verdict::Indecisive
        | Verdict::Regressed
        | Verdict::Unused => true,
    };
    match (run.basis(), run.plan.task.scenarios.len()) {
        // More tasks would show the same structure.
        (Basis::Structure | Basis::HeldOut | Basis::All, _) => None,
        (Basis::Few, 1) => is_scored.then(|| ONE_SCENARIO.to_owned()),
        (Basis::Searched, _) => is_compared.then(|| SEARCHED.to_owned()),
        (Basis::Few, few) => is_compared
            .then(|| format!("Weak evidence: {}. The difference may be chance.", count(few, "scenario"))),
    }
}
