//! The demands of a scenario on a trial: machine checks and expectations for a judge, and the resulting score.

use serde::{Deserialize, Serialize};

use crate::base::name::Name;
use crate::judging::contract::Verdict;
use crate::judging::score::{Score, Scored};
use crate::suites::checks::{Check, How};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Demand {
    /// Unique within its scenario.
    pub id: Name,
    pub how: How,
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub weight: u32,
    /// Whether a trial that misses it scores 0, even if it meets everything else.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub must_pass: bool,
    /// The member of a chain that it is about, by default the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub member: Option<Name>,
}

/// The demand of a scenario that only describes a good result. Only the judge sees that description.
pub const AS_EXPECTED: &str = "The result is what the expected output describes.";

impl Demand {
    pub fn new(id: Name, how: How) -> Self {
        Self { id, how, weight: one(), must_pass: false, member: None }
    }
}

impl Demand {
    /// Returns the text without the weight. Demands with the same words are one statement.
    pub fn words(&self) -> String {
        match &self.how {
            How::Question { text } => text.to_string(),
            How::Check(check) => check.to_string(),
        }
    }

    /// Returns the text for people, with the weight unless it is 1.
    pub fn shown(&self) -> String {
        let what = self.words();
        match (self.weight, self.must_pass) {
            (1, false) => what,
            (1, true) => format!("{what} (must pass)"),
            (weight, false) => format!("{what} (weight {weight})"),
            (weight, true) => format!("{what} (weight {weight}, must pass)"),
        }
    }

    /// Returns the text for improvers. It leaves out what a check looks for, because a pattern or a value could be
    /// copied into a skill.
    pub fn improver_text(&self) -> String {
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

/// Returns the met share of the total weight. An unverified demand is not met. There is no score if all demands are
/// unverified, or one that must pass is.
pub fn scored<'a>(demands: impl Iterator<Item = (&'a Demand, Verdict)>) -> Scored {
    let (mut met, mut all, mut decided, mut missed, mut unclear) = (0, 0, 0, false, false);
    for (demand, verdict) in demands {
        let weight = u64::from(demand.weight);
        all += weight;
        decided += if verdict == Verdict::Unverified { 0 } else { weight };
        met += if verdict == Verdict::Pass { weight } else { 0 };
        missed |= demand.must_pass && verdict.is_met() == Some(false);
        unclear |= demand.must_pass && verdict == Verdict::Unverified;
    }
    let composite = match (missed, unclear || decided == 0) {
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

    /// Computes the score of demands, each with its weight, whether it must pass, and its verdict.
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
