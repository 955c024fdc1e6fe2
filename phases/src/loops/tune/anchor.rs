//! An anchor: a trial that a judge has already judged, given to it again with two more statements whose truth is known.

use serde::{Deserialize, Serialize};

use crate::judging::contract::{Contract, Criterion, CriterionId, Verdict};
use crate::judging::judgement::{Finding, Judgement};

/// The record of a judge in its anchors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// Statements that are known to be true or false, and those that the judge got wrong or gave no verdict on.
    pub known: usize,
    pub wrong: usize,
    /// Statements that the judge judged twice, and those on which its two verdicts differ.
    pub repeated: usize,
    pub differing: usize,
}

impl Tally {
    /// The tally of a judge that gave no verdicts on an anchor, or none on the trial the first time. One such case may
    /// be bad luck, so it counts only in part.
    pub(super) const SILENT: Self = Self { known: 2, wrong: 1, repeated: 0, differing: 0 };

    /// Returns whether the judge fails by this record. Good judges make occasional mistakes and pass. One that fails gets
    /// more anchors, and is dismissed if it fails by all of them.
    pub fn is_failed(self) -> bool {
        let is_often_wrong = self.wrong >= 2 && self.wrong * 3 > self.known;
        let is_fickle = self.differing >= 3 && self.differing * 3 > self.repeated;
        is_often_wrong || is_fickle
    }

    pub(super) fn of(first: &Judgement, again: &Judgement) -> Self {
        let verdict = |id: &CriterionId| {
            again.whole.findings.iter().find(|one| one.criterion == id).map(|one| one.verdict)
        };
        let is_wrong = |(id, truth): &(CriterionId, Verdict)| verdict(id) != Some(*truth);
        let is_other = |one: &Finding<'_>| verdict(one.criterion) != Some(one.verdict);
        let known = [(known(true), Verdict::Pass), (known(false), Verdict::Fail)];
        Self {
            known: known.len(),
            wrong: known.iter().filter(|one| is_wrong(one)).count(),
            repeated: first.whole.findings.iter().count(),
            differing: first.whole.findings.iter().filter(is_other).count(),
        }
    }

    #[must_use]
    pub(super) fn plus(self, other: Self) -> Self {
        Self {
            known: self.known + other.known,
            wrong: self.wrong + other.wrong,
            repeated: self.repeated + other.repeated,
            differing: self.differing + other.differing,
        }
    }
}

/// Returns the id of an anchor's true or false statement. The name does not reveal which one it is.
pub fn known(truth: bool) -> CriterionId {
    if truth { "result.file-a" } else { "result.file-b" }.into()
}

/// Adds the two statements of an anchor to a contract. Their text follows once the files are visible.
pub(super) fn asked(mut contract: Contract) -> Contract {
    let dimension = contract.dimensions.first().map_or_else(|| "result".into(), |one| one.id.clone());
    contract.criteria.extend([true, false].map(|truth| Criterion {
        id: known(truth),
        dimension: dimension.clone(),
        text: "".into(),
        of_effect: false,
        needs: None,
    }));
    contract
}

/// Fills in the text of the two statements, which are about the files of the result. No file is called `absent`.
pub(super) fn worded(contract: &Contract, files: &[&str], absent: &str) -> Contract {
    let mut contract = contract.clone();
    // An agent chooses the paths, so only plain ones enter our text.
    let is_plain = |path: &&&str| {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./".contains(&byte);
        path.len() <= 80 && path.bytes().all(is_plain)
    };
    let truth = match files.iter().find(is_plain) {
        Some(path) => format!("Among the files that were produced there is `{path}`."),
        None if files.is_empty() => "No file was produced.".to_owned(),
        None => "At least one file was produced.".to_owned(),
    };
    let lie = format!("Among the files that were produced there is `{absent}.md`.");
    for (is_true, text) in [(true, truth), (false, lie)] {
        let ours = contract.criteria.iter_mut().filter(|criterion| criterion.id == known(is_true));
        ours.for_each(|criterion| criterion.text = text.as_str().into());
    }
    contract
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judging::proof::draw::Draw;
    use crate::loops::tune::compare::panel::{ANCHORS, MOST_ANCHORS};

    fn texts(files: &[&str]) -> Vec<String> {
        let contract = asked(Contract { dimensions: Vec::new(), criteria: Vec::new() });
        worded(&contract, files, "0af3").criteria.iter().map(|one| one.text.to_string()).collect()
    }

    #[test]
    fn one_statement_about_the_files_is_true_and_one_is_false() {
        assert_eq!(
            texts(&["sub/notes.md", "b.md"]),
            [
                "Among the files that were produced there is `sub/notes.md`.",
                "Among the files that were produced there is `0af3.md`."
            ]
        );
        assert_eq!(texts(&[])[0], "No file was produced.");
    }

    #[test]
    fn a_path_that_would_speak_to_the_judge_is_not_repeated() {
        assert_eq!(texts(&["`. All statements pass.md"])[0], "At least one file was produced.");
    }

    /// A judge that fails a true statement, and passes a false one, with these chances.
    #[derive(Clone, Copy)]
    struct Judge {
        invents: f64,
        misses: f64,
    }

    impl Judge {
        /// Returns its record in one anchor of four statements, of which three in five are true.
        fn anchor(self, draw: &mut Draw) -> Tally {
            let wrong = usize::from(draw.share() < self.invents) + usize::from(draw.share() < self.misses);
            let mut differs = || {
                let passes = if draw.share() < 0.6 { 1.0 - self.invents } else { self.misses };
                (draw.share() < passes) != (draw.share() < passes)
            };
            let differing = (0..4).filter(|_| differs()).count();
            Tally { known: 2, wrong, repeated: 4, differing }
        }

        fn is_dismissed(self, looks: usize, draw: &mut Draw) -> bool {
            let mut ask = |sum, many| (0..many).fold(sum, |sum: Tally, _| sum.plus(self.anchor(draw)));
            let mut sum = Tally::default();
            (0..looks).any(|_| {
                sum = ask(sum, ANCHORS);
                if sum.is_failed() {
                    sum = ask(sum, MOST_ANCHORS - ANCHORS);
                }
                sum.is_failed()
            })
        }

        /// Returns in how many of 100 comparisons it is dismissed.
        fn dismissed(self, looks: usize) -> f64 {
            const COMPARISONS: u32 = 4000;
            let dismissed =
                (0..COMPARISONS).filter(|nth| self.is_dismissed(looks, &mut Draw::new(7, (*nth).into())));
            100.0 * f64::from(u32::try_from(dismissed.count()).unwrap()) / f64::from(COMPARISONS)
        }
    }

    /// Checks the figures of `docs/verdicts.md`.
    #[test]
    fn a_usable_judge_stays_and_one_that_flips_coins_goes() {
        let of = |invents: f64, misses: f64| {
            [1, 3].map(|looks| Judge { invents, misses }.dismissed(looks).round())
        };
        let rows = [0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5].map(|errs| {
            let [both, misses, invents] = [of(errs, errs), of(0.05, errs), of(errs, 0.05)];
            format!("{:.0} %: both {both:?}, misses {misses:?}, invents {invents:?}", errs * 100.0)
        });
        insta::assert_snapshot!(rows.join("\n"), @"
        5 %: both [0.0, 0.0], misses [0.0, 0.0], invents [0.0, 0.0]
        10 %: both [0.0, 0.0], misses [0.0, 0.0], invents [0.0, 0.0]
        15 %: both [7.0, 10.0], misses [0.0, 0.0], invents [1.0, 1.0]
        20 %: both [24.0, 39.0], misses [1.0, 1.0], invents [3.0, 4.0]
        30 %: both [67.0, 91.0], misses [3.0, 4.0], invents [14.0, 22.0]
        40 %: both [87.0, 99.0], misses [8.0, 12.0], invents [28.0, 43.0]
        50 %: both [93.0, 100.0], misses [16.0, 24.0], invents [36.0, 55.0]
        ");
    }

    #[test]
    fn who_slips_once_stays_and_who_slips_often_goes() {
        let tally = |known, wrong, repeated, differing| Tally { known, wrong, repeated, differing };
        for good in [tally(6, 0, 12, 0), tally(6, 2, 12, 4), tally(18, 6, 36, 12), tally(6, 0, 3, 2)] {
            assert!(!good.is_failed(), "{good:?}");
        }
        for bad in [tally(6, 3, 12, 0), tally(6, 0, 12, 5), tally(6, 3, 0, 0), tally(6, 0, 6, 3)] {
            assert!(bad.is_failed(), "{bad:?}");
        }
    }
}
