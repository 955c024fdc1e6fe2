//! The settings of the original loop that are also numbers of ours: a `design.yaml` with a part `gan_loop`.

use serde::Deserialize;

use super::profile::NotAProfile;
use crate::base::yaml;
use crate::judging::score::Score;

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Original {
    pub max_iterations: Option<u32>,
    pass_threshold: Option<f64>,
    pub escalation_after: Option<u32>,
    improvement_threshold: Option<f64>,
    pub strict_mode: Option<bool>,
    sprint_contract: Talks,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
struct Talks {
    max_negotiation_rounds: Option<usize>,
}

impl Original {
    /// Reads the settings; none if it is another kind of file.
    pub fn read(text: &str) -> Result<Option<Self>, NotAProfile> {
        let file = yaml::value(text)?;
        let found = file.get("gan_loop").or_else(|| file.get("design")?.get("gan_loop"));
        Ok(found.cloned().map(serde_json::from_value).transpose()?)
    }

    pub fn threshold(&self) -> Option<Score> {
        self.pass_threshold.and_then(points)
    }

    pub fn gain(&self) -> Option<Score> {
        self.improvement_threshold.and_then(points)
    }

    pub fn negotiation_rounds(&self) -> Option<usize> {
        self.sprint_contract.max_negotiation_rounds
    }
}

/// Converts a fraction to points. An invalid fraction is ignored.
fn points(fraction: f64) -> Option<Score> {
    Score::new(fraction * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_originals_numbers_are_read_wherever_the_part_stands() {
        let part = "gan_loop:\n  max_iterations: 4\n  pass_threshold: 0.8\n  escalation_after: 2\n  improvement_threshold: 0.1\n  strict_mode: true\n  sprint_contract:\n    enabled: true\n    max_negotiation_rounds: 1\n";
        let below = format!(
            "design:\n{}",
            part.lines().map(|line| format!("  {line}\n")).collect::<Vec<_>>().concat()
        );
        for text in [part, &below] {
            let read = Original::read(text).unwrap().unwrap();
            assert_eq!(
                (read.max_iterations, read.escalation_after, read.strict_mode),
                (Some(4), Some(2), Some(true))
            );
            assert_eq!((read.threshold(), read.gain()), (Score::new(80.0), Score::new(10.0)));
            assert_eq!(read.negotiation_rounds(), Some(1));
        }
    }

    #[test]
    fn a_profile_is_none_and_a_number_out_of_range_says_nothing() {
        assert_eq!(Original::read("name: mine\n").unwrap(), None);
        let read = Original::read("gan_loop:\n  pass_threshold: 7\n").unwrap().unwrap();
        assert_eq!(read.threshold(), None);
        assert!(Original::read("gan_loop:\n  max_iterations: many\n").is_err());
    }
}
