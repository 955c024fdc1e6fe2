//! Why the end of a run is not what a pipeline asked for.

use super::{Run, Verdict, comparison};
use crate::score::Score;

/// Why a run fails its pipeline.
#[derive(Clone, Debug, PartialEq)]
pub enum FailReason {
    ScoreUnder {
        score: Score,
        least: Score,
    },
    /// No fresh trials say what the version that is left scores.
    Unconfirmed {
        least: Score,
    },
    /// The candidate is worse than the start.
    Lost,
    /// It was refused for what it lost on these scenarios, or it is left and lost much on them.
    Fell(Vec<usize>),
}

impl Run {
    /// Why a run that has come to its end fails its pipeline; nothing, if it passes or none asks.
    pub fn fail_reasons(&self) -> Vec<FailReason> {
        let fail_on = self.plan.task.fail_on;
        let under = fail_on.score_under.and_then(|least| match self.confirmed_score() {
            None => Some(FailReason::Unconfirmed { least }),
            Some(score) => (score < least).then_some(FailReason::ScoreUnder { score, least }),
        });
        let regression = fail_on.regression.then(|| self.regression()).flatten();
        under.into_iter().chain(regression).collect()
    }

    /// The score of the version that is left, on trials that no search has seen. The built-in judge gives the same score each
    /// time: its own is confirmed by that.
    pub fn confirmed_score(&self) -> Option<Score> {
        let shipment = self.state.shipment.as_ref()?;
        if !shipment.is_compared() && !self.plan.is_structural() {
            return None;
        }
        self.final_score()
    }

    fn regression(&self) -> Option<FailReason> {
        let shipment = self.state.shipment.as_ref()?;
        let fell = comparison::fallen(&shipment.pairs);
        match shipment.verdict {
            // Where nothing was tested, it may as well be equal.
            Verdict::Lost => shipment.effect.map(|_| FailReason::Lost),
            Verdict::Regressed => Some(FailReason::Fell(shipment.fell.clone())),
            Verdict::Won => (!fell.is_empty()).then_some(FailReason::Fell(fell)),
            Verdict::Tied
            | Verdict::Indecisive
            | Verdict::Unused
            | Verdict::Unchallenged
            | Verdict::Unjudged => None,
        }
    }
}
