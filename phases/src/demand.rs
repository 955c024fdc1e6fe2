//! What a scenario demands of a trial: checks by machine and expectations for a judge, and the score that follows from them.

use serde::{Deserialize, Serialize};

use crate::checks::{Check, How};
use crate::contract::Verdict;
use crate::name::Name;
use crate::score::{Score, Scored};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Demand {
    /// Unique within its scenario.
    pub id: Name,
    pub how: How,
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub weight: u32,
    /// A trial that misses it scores 0, whatever else it meets.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub must_pass: bool,
    /// The member of a chain whose work it is about; the last one, if none is named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub member: Option<Name>,
}

/// What is asked where a good result is described and nothing else. The description itself is told to the judge alone.
pub const AS_EXPECTED: &str = "The result is what the expected output describes.";

impl Demand {
    pub fn new(id: Name, how: How) -> Self {
        Self { id, how, weight: one(), must_pass: false, member: None }
    }
}

impl Demand {
    /// As people are told it, with what it counts where that is not one.
    pub fn shown(&self) -> String {
        let what = match &self.how {
            How::Question { text } => text.to_string(),
            How::Check(check) => check.to_string(),
        };
        match (self.weight, self.must_pass) {
            (1, false) => what,
            (1, true) => format!("{what} (must pass)"),
            (weight, false) => format!("{what} (weight {weight})"),
            (weight, true) => format!("{what} (weight {weight}, must pass)"),
        }
    }

    /// As whoever improves the skill is told it. A pattern or a value to be met could be copied into a skill, so what a
    /// check looks for is not in it.
    pub fn told(&self) -> String {
        let what = match &self.how {
            How::Question { text } => return text.to_string(),
            How::Check(check) => match check {
                Check::Command { .. } => "a program that tries what was left",
                Check::Pattern { .. } => "a pattern in what was written",
                Check::File { .. } => "which files there are",
                Check::Schema { .. } => "the form of a JSON file",
                Check::Json { .. } => "a value in a JSON file",
                Check::Touches { .. } => "which files were made, changed or removed",
                Check::Skill { .. } => "whether the skill was used",
                Check::Tool { .. } => "how often a tool was called",
                Check::ToolOrder { .. } => "in which order tools were called",
                Check::AtMost { .. } => "how much the work took",
            },
        };
        format!("a check by machine: {what}")
    }
}

fn one() -> u32 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde asks for it")]
fn is_one(weight: &u32) -> bool {
    *weight == one()
}

/// The share of the weight of what is demanded that is met. A demand that nobody could tell of is not met; where none
/// could be told, or one that must be met could not, there is no score.
pub fn scored<'a>(demands: impl Iterator<Item = (&'a Demand, Verdict)>) -> Scored {
    let (mut met, mut all, mut told, mut missed, mut unclear) = (0, 0, 0, false, false);
    for (demand, verdict) in demands {
        let weight = u64::from(demand.weight);
        all += weight;
        told += if verdict == Verdict::Unverified { 0 } else { weight };
        met += if verdict == Verdict::Pass { weight } else { 0 };
        missed |= demand.must_pass && verdict.is_met() == Some(false);
        unclear |= demand.must_pass && verdict == Verdict::Unverified;
    }
    let composite = match (missed, unclear || told == 0) {
        (true, _) => Some(Score::ZERO),
        (false, true) => None,
        #[expect(clippy::cast_precision_loss, reason = "weights are small; beyond 2^53 a score is still one")]
        (false, false) => Score::new(100.0 * met as f64 / all as f64),
    };
    Scored { composite, dimensions: Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Demands by weight, whether each must be met, and what became of it.
    fn points(demands: &[(u32, bool, Verdict)]) -> Option<f64> {
        let demand = |&(weight, must_pass, _): &(u32, bool, Verdict)| {
            let how = How::Question { text: "It is so.".into() };
            Demand { weight, must_pass, ..Demand::new("a".parse().unwrap(), how) }
        };
        let made: Vec<_> = demands.iter().map(demand).collect();
        scored(made.iter().zip(demands.iter().map(|demand| demand.2))).composite.map(Score::points)
    }

    #[test]
    fn the_score_is_the_share_of_the_weight_that_is_met() {
        use Verdict::{Fail, Partial, Pass, Unverified};
        assert_eq!(points(&[(1, false, Pass), (3, false, Fail)]), Some(25.0));
        assert_eq!(points(&[(1, false, Pass), (1, false, Partial)]), Some(50.0), "half met is not met");
        assert_eq!(points(&[(1, false, Pass), (1, false, Unverified)]), Some(50.0), "unknown is not met");
    }

    #[test]
    fn what_must_be_met_is_bought_back_by_nothing() {
        use Verdict::{Fail, Pass, Unverified};
        assert_eq!(points(&[(9, false, Pass), (1, true, Fail)]), Some(0.0));
        assert_eq!(points(&[(9, false, Pass), (1, true, Unverified)]), None, "nobody can say");
        assert_eq!(points(&[(1, true, Fail), (1, true, Unverified)]), Some(0.0), "it is missed already");
    }

    #[test]
    fn people_are_told_what_a_demand_counts() {
        let shown = |weight, must_pass| {
            let how = How::Question { text: "It is so.".into() };
            Demand { weight, must_pass, ..Demand::new("a".parse().unwrap(), how) }.shown()
        };
        assert_eq!([shown(1, false), shown(1, true)], ["It is so.", "It is so. (must pass)"]);
        assert_eq!(
            [shown(3, false), shown(3, true)],
            ["It is so. (weight 3)", "It is so. (weight 3, must pass)"]
        );
    }

    #[test]
    fn where_nothing_could_be_told_there_is_no_score() {
        assert_eq!(points(&[(1, false, Verdict::Unverified)]), None);
        assert_eq!(points(&[]), None);
    }
}
