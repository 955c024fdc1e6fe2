//! The reasons why a finished run fails a pipeline.

use crate::judging::score::Score;
use crate::loops::tune::aims::compare;
use crate::loops::tune::{Run, Verdict};

/// A reason why a run fails its pipeline.
#[derive(Clone, Debug, PartialEq)]
pub enum FailReason {
    ScoreUnder {
        score: Score,
        least: Score,
    },
    /// There are no fresh trials of the remaining version.
    Unconfirmed {
        least: Score,
    },
    /// The candidate is worse than the start.
    Lost,
    /// The candidate was refused for its losses on these scenarios, or it remains and lost much on them.
    Fell(Vec<usize>),
}

/// Returns the reasons why a finished run fails its pipeline. Empty if it passes or nothing is required.
pub(crate) fn reasons(run: &Run) -> Vec<FailReason> {
    let fail_on = run.plan.task.fail_on;
    let under = fail_on.score_under.and_then(|least| match run.confirmed_score() {
        None => Some(FailReason::Unconfirmed { least }),
        Some(score) => (score < least).then_some(FailReason::ScoreUnder { score, least }),
    });
    let regression = fail_on.regression.then(|| regression(run)).flatten();
    under.into_iter().chain(regression).collect()
}

fn regression(run: &Run) -> Option<FailReason> {
    let shipment = run.state.shipment.as_ref()?;
    let fell = compare::fallen(&shipment.pairs);
    match shipment.verdict {
        // Without a test, the two may be equal.
        Verdict::Lost => shipment.effect.map(|_| FailReason::Lost),
        Verdict::Regressed => Some(FailReason::Fell(shipment.fell.clone())),
        Verdict::Won => (!fell.is_empty()).then_some(FailReason::Fell(fell)),
        Verdict::Tied | Verdict::Indecisive | Verdict::Unused | Verdict::Unchallenged | Verdict::Unjudged => {
            None
        }
    }
}
