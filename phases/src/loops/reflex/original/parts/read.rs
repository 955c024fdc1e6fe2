//! What is essential in each part, and what stands for the rest where it is missing.

use super::super::fraction::Fraction;
use super::super::lenient::Fields;
use super::super::words::{Phase, Severity, Vocabulary as _, Word};
use super::{
    Check, Criteria, Critique, Evaluation, Fault, Gate, Gates, How, Issue, PreparedChecks, Rule, RuleResult,
    ShellLine, Stop, Task,
};
use crate::score::Score;

impl Task {
    pub(in super::super) fn read(fields: &mut Fields<'_>) -> Option<Self> {
        let prompt = fields.words("prompt")?;
        Some(Self { prompt, ideal_result: fields.words("ideal_result").unwrap_or_default() })
    }
}

impl Criteria {
    pub(in super::super) fn read(fields: &mut Fields<'_>) -> Option<Self> {
        let rules = fields.each("rules", Rule::read)?;
        Some(Self {
            name: fields.words("name").unwrap_or_default(),
            version: fields.count("version").unwrap_or(1),
            phase: fields.within("phase", |fields| Some(Gates::read(fields))).unwrap_or_else(Gates::usual),
            rules,
        })
    }
}

impl Gates {
    /// The original's own, for files that do not tell.
    fn usual() -> Self {
        let gate = |percent, levels: &[Phase]| Gate {
            threshold: Fraction(Score::new(percent).expect("it is a score")),
            active_levels: levels.to_vec(),
        };
        Self { a: gate(80.0, &[Phase::A]), b: gate(90.0, &[Phase::A, Phase::B]) }
    }

    fn read(fields: &mut Fields<'_>) -> Self {
        let usual = Self::usual();
        let mut gate = |key, usual: Gate| {
            let read = fields.within(key, |fields| {
                let threshold = fields.fraction("threshold")?;
                let active_levels = fields.all_known("active_levels");
                Some(Gate {
                    threshold,
                    active_levels: active_levels.unwrap_or_else(|| usual.active_levels.clone()),
                })
            });
            read.unwrap_or(usual)
        };
        Self { a: gate("A", usual.a), b: gate("B", usual.b) }
    }
}

impl Rule {
    fn read(fields: &mut Fields<'_>) -> Option<Self> {
        let (id, severity) = (fields.text("id")?, fields.known::<Severity>("severity")?);
        // The id begins with the level: `a.correctness.endpoints`.
        let phase = fields.known("phase").or_else(|| Phase::of(id.split('.').next()?))?;
        Some(Self {
            description: fields.words("description").unwrap_or_default(),
            weight: fields.count("weight").unwrap_or_else(|| severity.weight()),
            check: fields.words("check").unwrap_or_default(),
            id,
            severity,
            phase,
        })
    }
}

impl PreparedChecks {
    /// The answer of the phase as it is, or the list in it.
    pub(in super::super) fn read(fields: &mut Fields<'_>, key: &str) -> Option<Self> {
        let checks = if fields.is_list(key) {
            fields.each(key, Check::read)
        } else {
            fields.within(key, |fields| fields.each("checks", Check::read))
        };
        checks.map(|checks| Self { checks })
    }
}

impl Check {
    fn read(fields: &mut Fields<'_>) -> Option<Self> {
        let rule_id = fields.text("rule_id")?;
        let expected = fields.words("expected").unwrap_or_default();
        let how = match fields.text("type")?.as_str() {
            "executable" => How::Executable { command: ShellLine(fields.words("command")?), expected },
            "content" => How::Content { search: fields.words("search")?, expected },
            _ => return None,
        };
        Some(Self { rule_id, how })
    }
}

impl Evaluation {
    pub(in super::super) fn read(fields: &mut Fields<'_>) -> Option<Self> {
        let score = fields.fraction("score");
        let passed = fields.flag("passed")?;
        let mut faults =
            |key, usual| fields.each(key, |fields| Fault::read(fields, usual)).unwrap_or_default();
        Some(Self {
            score,
            passed,
            failed: faults("failed", Severity::Fail),
            warnings: faults("warnings", Severity::Warn),
            rule_results: fields.each("rule_results", RuleResult::read).unwrap_or_default(),
            artifact_hash: fields.text("artifact_hash"),
        })
    }
}

impl Fault {
    fn read(fields: &mut Fields<'_>, usual: Severity) -> Option<Self> {
        let id = fields.text("id")?;
        let severity = fields.known("severity").unwrap_or(usual);
        Some(Self { id, severity, message: fields.words("message").unwrap_or_default() })
    }
}

impl RuleResult {
    fn read(fields: &mut Fields<'_>) -> Option<Self> {
        let (id, verdict) = (fields.text("id")?, fields.word("verdict")?);
        Some(Self { id, verdict, details: fields.words("details").unwrap_or_default() })
    }
}

impl Critique {
    pub(in super::super) fn read(fields: &mut Fields<'_>) -> Option<Self> {
        Some(Self { issues: fields.each("issues", Issue::read)? })
    }
}

impl Issue {
    fn read(fields: &mut Fields<'_>) -> Option<Self> {
        let rule_id = fields.text("rule_id")?;
        let mut words = |key| fields.words(key).unwrap_or_default();
        Some(Self {
            rule_id,
            problem: words("problem"),
            fix_instruction: words("fix_instruction"),
            expected_effect: words("expected_effect"),
        })
    }
}

impl Stop {
    pub(in super::super) fn read(fields: &mut Fields<'_>) -> Option<Self> {
        let reason = fields.text("reason").filter(|reason| !reason.trim().is_empty());
        Some(Self { passed: fields.flag("passed")?, reason: reason.map(|reason| Word::of(&reason)) })
    }
}
