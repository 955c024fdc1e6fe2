//! The settings of the original loop that are also settings of ours: a `design.yaml` with a part `gan_loop`.
//!
//! docs/gan.md says of each key of that file what reads it. A value of such a key that the original would refuse is an
//! error.

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::profile::NotAProfile;
use super::rules::FLOOR;
use super::task::Level;
use crate::base::answer::capped;
use crate::base::yaml;
use crate::judging::score::Score;

/// The settings that the file has. A key that is missing keeps our own setting.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Original {
    pub max_iterations: Option<u32>,
    pub threshold: Option<Score>,
    pub escalation_after: Option<u32>,
    pub gain: Option<Score>,
    pub strict: Option<bool>,
    pub negotiation_rounds: Option<usize>,
    /// Whether contracts are agreed on without being asked for.
    pub contract: Option<bool>,
    pub required_levels: Option<Vec<Level>>,
    pub optional_levels: Option<Vec<Level>>,
    /// The folder of the sprints, as written: it may lead anywhere.
    pub artifact_dir: Option<Box<str>>,
    /// What the evaluator remembers, if it is not `per_iteration`.
    pub memory: Option<Box<str>>,
    /// Keys that the original does not have.
    pub unknown: Vec<String>,
}

/// The part of the file that is about this loop.
const PART: &str = "gan_loop";

/// The keys that are read, below `design`.
const READ: [&str; 11] = [
    "gan_loop.max_iterations",
    "gan_loop.pass_threshold",
    "gan_loop.escalation_after",
    "gan_loop.improvement_threshold",
    "gan_loop.strict_mode",
    "gan_loop.sprint_contract.enabled",
    "gan_loop.sprint_contract.max_negotiation_rounds",
    "gan_loop.sprint_contract.required_harness_levels",
    "gan_loop.sprint_contract.optional_harness_levels",
    "gan_loop.sprint_contract.artifact_dir",
    "evaluator.memory_scope",
];

/// The keys of the original that mean nothing here.
const UNREAD: [&str; 24] = [
    "enabled",
    "version",
    "default_framework",
    "adaptation.enabled",
    "adaptation.confidence_threshold",
    "adaptation.min_projects_for_adaptation",
    "adaptation.iteration_limits",
    "brand_context.dir",
    "brand_context.interview_on_first_run",
    "claude_design.enabled",
    "claude_design.fallback_path",
    "claude_design.supported_bundle_versions",
    "figma.enabled",
    "evolution.archive_after_evolve",
    "evolution.auto_evolve_threshold",
    "evolution.cooldown_hours",
    "evolution.max_active_learnings",
    "evolution.max_evolution_rate_per_week",
    "evolution.require_approval",
    "evolution.graduation_criteria",
    // Only older versions of the original have these.
    "design_docs.dir",
    "design_docs.auto_load_on_design_command",
    "design_docs.priority",
    "design_docs.token_budget",
];

/// At which levels a contract is agreed on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContractLevels {
    required: Vec<Level>,
    optional: Vec<Level>,
}

/// When a contract is agreed on at a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Agreement {
    Always,
    IfAsked,
    Never,
}

impl Default for ContractLevels {
    fn default() -> Self {
        Self { required: vec![Level::Thorough], optional: vec![Level::Standard] }
    }
}

impl ContractLevels {
    pub fn at(&self, level: Level) -> Agreement {
        if self.required.contains(&level) {
            Agreement::Always
        } else if self.optional.contains(&level) {
            Agreement::IfAsked
        } else {
            Agreement::Never
        }
    }
}

impl Original {
    /// Reads the settings; none if it is another kind of file.
    pub fn read(text: &str) -> Result<Option<Self>, NotAProfile> {
        let file = yaml::value(text)?;
        let design = file.get("design").filter(|design| design.get(PART).is_some());
        let whole = design.unwrap_or(&file);
        let Some(part) = whole.get(PART) else { return Ok(None) };
        for path in [PART, "gan_loop.sprint_contract", "evaluator"] {
            let at = path.split('.').try_fold(whole, |at, key| at.get(key));
            if at.is_some_and(|at| !at.is_object() && !at.is_null()) {
                return Err(wrong(path, "must be a mapping"));
            }
        }
        let memory = short_text(whole, "evaluator.memory_scope")?;
        let negotiation_rounds = count(whole, "gan_loop.sprint_contract.max_negotiation_rounds", 0, 20)?;
        Ok(Some(Self {
            max_iterations: count(whole, "gan_loop.max_iterations", 1, 100)?,
            threshold: threshold(whole, "gan_loop.pass_threshold")?,
            escalation_after: count(whole, "gan_loop.escalation_after", 1, 100)?,
            gain: fraction(whole, "gan_loop.improvement_threshold", 0.0)?,
            strict: setting(whole, "gan_loop.strict_mode")?,
            negotiation_rounds: negotiation_rounds.map(|rounds| rounds as usize),
            contract: setting(whole, "gan_loop.sprint_contract.enabled")?,
            required_levels: level_list(whole, "gan_loop.sprint_contract.required_harness_levels")?,
            optional_levels: level_list(whole, "gan_loop.sprint_contract.optional_harness_levels")?,
            artifact_dir: short_text(whole, "gan_loop.sprint_contract.artifact_dir")?,
            memory: memory.filter(|scope| &**scope != "per_iteration"),
            // A file without `design` may have parts that are not about the original.
            unknown: match design {
                Some(design) => unknown(design, ""),
                None => unknown(part, "gan_loop."),
            },
        }))
    }

    /// Returns at which levels a contract is agreed on. If the original switches contracts off, a person can still ask
    /// for one where the original would have one.
    pub fn levels(&self) -> ContractLevels {
        let usual = ContractLevels::default();
        let required = self.required_levels.clone().unwrap_or(usual.required);
        let optional = self.optional_levels.clone().unwrap_or(usual.optional);
        if self.contract == Some(false) {
            return ContractLevels { required: Vec::new(), optional: [required, optional].concat() };
        }
        ContractLevels { required, optional }
    }
}

/// Reads the value at a path. A missing or empty one is none.
fn setting<T: DeserializeOwned>(whole: &Value, path: &str) -> Result<Option<T>, NotAProfile> {
    match path.split('.').try_fold(whole, |at, key| at.get(key)) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => {
            let read = serde_json::from_value(value.clone());
            read.map(Some).map_err(|error| wrong(path, &error.to_string()))
        }
    }
}

/// Reads a text. The notes of a run show it, also of a file that is not trusted, so its length is limited.
fn short_text(whole: &Value, path: &str) -> Result<Option<Box<str>>, NotAProfile> {
    const LONGEST: usize = 1000;
    match setting::<Box<str>>(whole, path)? {
        Some(text) if text.len() > LONGEST => Err(wrong(path, &format!("must have at most {LONGEST} bytes"))),
        text => Ok(text),
    }
}

/// Reads levels: no more than there are.
fn level_list(whole: &Value, path: &str) -> Result<Option<Vec<Level>>, NotAProfile> {
    const MOST: usize = 3;
    match setting::<Vec<Level>>(whole, path)? {
        Some(levels) if levels.len() > MOST => Err(wrong(path, &format!("must have at most {MOST} levels"))),
        levels => Ok(levels),
    }
}

fn count(whole: &Value, path: &str, least: u32, most: u32) -> Result<Option<u32>, NotAProfile> {
    let count: Option<u32> = setting(whole, path)?;
    match count {
        Some(count) if !(least..=most).contains(&count) => {
            Err(wrong(path, &format!("must be from {least} to {most}")))
        }
        count => Ok(count),
    }
}

/// Reads the threshold. As in the original, 0 stands for the default, and less than the floor is refused.
fn threshold(whole: &Value, path: &str) -> Result<Option<Score>, NotAProfile> {
    let given: Option<f64> = setting(whole, path)?;
    if given.is_some_and(|given| given.abs() > 0.0) { fraction(whole, path, FLOOR / 100.0) } else { Ok(None) }
}

/// Reads a part of 1 as points.
fn fraction(whole: &Value, path: &str, least: f64) -> Result<Option<Score>, NotAProfile> {
    let Some(given) = setting::<f64>(whole, path)? else { return Ok(None) };
    let points = Score::new(given * 100.0).filter(|_| given >= least);
    points.map(Some).ok_or_else(|| wrong(path, &format!("must be from {least:.2} to 1.00")))
}

fn wrong(key: &str, why: &str) -> NotAProfile {
    NotAProfile::Setting { key: key.into(), why: capped(why, 200).into() }
}

/// Returns the paths of the keys that the original does not have.
fn unknown(part: &Value, above: &str) -> Vec<String> {
    let known = || READ.iter().chain(&UNREAD);
    let keys = part.as_object().into_iter().flatten();
    keys.flat_map(|(key, value)| {
        let path = format!("{above}{key}");
        let below = format!("{path}.");
        if known().any(|known| *known == path) {
            Vec::new()
        } else if known().any(|known| known.starts_with(&below)) {
            unknown(value, &below)
        } else {
            vec![capped(&path, 80)]
        }
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: &str = "\
gan_loop:
  max_iterations: 4
  pass_threshold: 0.8
  escalation_after: 2
  improvement_threshold: 0.1
  strict_mode: true
  sprint_contract:
    enabled: true
    artifact_dir: .moai/sprints
    max_negotiation_rounds: 1
    required_harness_levels: [standard, thorough]
    optional_harness_levels: [minimal]
";

    fn read(text: &str) -> Original {
        Original::read(text).unwrap().unwrap()
    }

    /// Returns the part below `design`.
    fn below_design(text: &str) -> String {
        ["design:"].into_iter().chain(text.lines()).collect::<Vec<_>>().join("\n  ")
    }

    #[test]
    fn the_originals_settings_are_read_wherever_the_part_stands() {
        for text in [ALL, &below_design(ALL)] {
            let expected = Original {
                max_iterations: Some(4),
                threshold: Score::new(80.0),
                escalation_after: Some(2),
                gain: Score::new(10.0),
                strict: Some(true),
                negotiation_rounds: Some(1),
                contract: Some(true),
                required_levels: Some(vec![Level::Standard, Level::Thorough]),
                optional_levels: Some(vec![Level::Minimal]),
                artifact_dir: Some(".moai/sprints".into()),
                memory: None,
                unknown: Vec::new(),
            };
            assert_eq!(read(text), expected);
        }
        assert_eq!(read("gan_loop:\n"), Original::default());
        assert_eq!(Original::read("name: mine\n").unwrap(), None);
    }

    #[test]
    fn a_value_that_the_original_refuses_is_named() {
        let refused = |line: &str| {
            let text = format!("design:\n  gan_loop:\n    {line}\n");
            Original::read(&text).unwrap_err().to_string()
        };
        let lines = [
            "pass_threshold: 0.59",
            "pass_threshold: 7",
            "pass_threshold: high",
            "improvement_threshold: -0.1",
            "max_iterations: 0",
            "max_iterations: many",
            "escalation_after: 101",
            "strict_mode: 'on'",
            "sprint_contract: {max_negotiation_rounds: 21}",
            "sprint_contract: {required_harness_levels: [extreme]}",
            "sprint_contract: {artifact_dir: 7}",
            "sprint_contract: false",
        ];
        insta::assert_snapshot!(lines.map(refused).join("\n"), @r#"
        gan_loop.pass_threshold: must be from 0.60 to 1.00
        gan_loop.pass_threshold: must be from 0.60 to 1.00
        gan_loop.pass_threshold: invalid type: string "high", expected f64
        gan_loop.improvement_threshold: must be from 0.00 to 1.00
        gan_loop.max_iterations: must be from 1 to 100
        gan_loop.max_iterations: invalid type: string "many", expected u32
        gan_loop.escalation_after: must be from 1 to 100
        gan_loop.strict_mode: invalid type: string "on", expected a boolean
        gan_loop.sprint_contract.max_negotiation_rounds: must be from 0 to 20
        gan_loop.sprint_contract.required_harness_levels: unknown variant `extreme`, expected one of `minimal`, `standard`, `thorough`
        gan_loop.sprint_contract.artifact_dir: invalid type: integer `7`, expected a string
        gan_loop.sprint_contract: must be a mapping
        "#);
        let long = format!("sprint_contract: {{artifact_dir: {}}}", "a/".repeat(501));
        let why = "gan_loop.sprint_contract.artifact_dir: must have at most 1000 bytes";
        assert_eq!(refused(&long), why, "notes show it");
        let many = format!("sprint_contract: {{optional_harness_levels: [{}]}}", ["minimal"; 4].join(", "));
        let why = "gan_loop.sprint_contract.optional_harness_levels: must have at most 3 levels";
        assert_eq!(refused(&many), why);
        assert!(Original::read("gan_loop: [1]\n").is_err());
        let why = |evaluator: &str| {
            let text = format!("design: {{gan_loop: {{}}, evaluator: {evaluator}}}\n");
            Original::read(&text).unwrap_err().to_string()
        };
        assert_eq!(why("cumulative"), "evaluator: must be a mapping");
        assert!(why("{memory_scope: [1]}").starts_with("evaluator.memory_scope: invalid type: sequence"));
        assert_eq!(read("gan_loop:\n  pass_threshold: 0\n").threshold, None, "as if it were not there");
        assert_eq!(read("gan_loop:\n  pass_threshold: 0.6\n").threshold, Score::new(60.0));
    }

    #[test]
    fn keys_that_the_original_does_not_have_are_named_and_others_are_not() {
        let original = read(
            "design:\n  enabled: true\n  figma: {enabled: false}\n  evaluator: {memory_scope: per_project}\n  \
             evolution: {graduation_criteria: {minimum_confidence: 0.8}}\n  gan_lop: 1\n  gan_loop:\n    \
             max_iteration: 4\n    sprint_contract: {enable: true}\n",
        );
        let expected = ["gan_lop", "gan_loop.max_iteration", "gan_loop.sprint_contract.enable"];
        assert_eq!(original.unknown, expected);
        assert_eq!(original.memory.as_deref(), Some("per_project"));
        assert_eq!(read("name: x\ngan_loop:\n  strict: true\n").unknown, ["gan_loop.strict"]);
        let unread = read("design: {gan_loop: {}, evaluator: ~, adaptation: 7, figma: [1]}\n");
        assert_eq!(unread, Original::default(), "no value of theirs is read");
    }

    #[test]
    fn the_levels_say_where_a_contract_is_agreed_on() {
        use Agreement::{Always, IfAsked, Never};
        let levels = [Level::Minimal, Level::Standard, Level::Thorough];
        let at = |contract: &str| {
            let original = read(&format!("gan_loop:\n  sprint_contract: {{{contract}}}\n"));
            levels.map(|level| original.levels().at(level))
        };
        assert_eq!(levels.map(|level| ContractLevels::default().at(level)), [Never, IfAsked, Always]);
        assert_eq!(at(""), [Never, IfAsked, Always]);
        assert_eq!(at("required_harness_levels: [minimal, standard]"), [Always, Always, Never]);
        let thorough_only = "required_harness_levels: [], optional_harness_levels: [thorough]";
        assert_eq!(at(thorough_only), [Never, Never, IfAsked]);
        assert_eq!(at("enabled: false"), [Never, IfAsked, IfAsked], "a person can still ask");
    }

    #[test]
    fn the_page_about_gan_says_what_reads_each_key() {
        let page = include_str!("../../../../docs/gan.md");
        let rows = page.lines().filter(|line| line.starts_with("| `"));
        let cells: Vec<&str> = rows.filter_map(|row| row.split('|').nth(1)).collect();
        let is_said = |key: &str| cells.iter().any(|cell| cell.contains(&format!("`{key}`")));
        let missing: Vec<_> = READ.into_iter().chain(UNREAD).filter(|key| !is_said(key)).collect();
        assert_eq!(missing, [""; 0]);
    }
}
