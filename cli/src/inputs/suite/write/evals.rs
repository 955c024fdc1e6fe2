//! Writes `evals.json` as skill-creator reads it.

use std::path::Path;

use serde_json::{Value, json};
use skilltune_orchestrator::snapshot::Brought;
use skilltune_phases::suites::checks::{Check, How};
use skilltune_phases::suites::demand::AS_EXPECTED;
use skilltune_phases::suites::scenario::Scenario;

use super::super::placed::place;
use super::{SuiteWriter, pretty};

pub(super) fn text(page: &mut SuiteWriter<'_>, out: &Path) -> String {
    // skill-creator's programs use numeric ids, and fail if numbers and texts are mixed.
    let number = |scenario: &Scenario| {
        let number = scenario.id.parse::<u32>().ok();
        number.filter(|number| scenario.id == number.to_string())
    };
    let numbers: Option<Vec<u32>> = page.scenarios().iter().map(number).collect();
    let mut evals = Vec::new();
    for (place, scenario) in page.scenarios().iter().enumerate() {
        let id = numbers
            .as_ref()
            .map_or_else(|| Value::from(scenario.id.as_str()), |numbers| numbers[place].into());
        evals.push(case(page, scenario, &id));
    }
    pretty(&json!({"skill_name": skill(page, out), "evals": evals}))
}

/// Returns the name of the folder that contains the `evals` folder.
fn skill(page: &SuiteWriter<'_>, out: &Path) -> String {
    let folder =
        if page.folder.ends_with("evals") { page.folder.parent() } else { Some(page.folder.as_path()) };
    let name = folder.and_then(Path::file_name).or(out.file_stem());
    name.unwrap_or_default().to_string_lossy().into_owned()
}

fn case(page: &mut SuiteWriter<'_>, scenario: &Scenario, id: &Value) -> Value {
    page.lose_fields(scenario, &["expected", "tags", "files"]);
    let skill = page.folder.parent().filter(|_| page.folder.ends_with("evals"));
    let below = skill.unwrap_or(&page.folder).to_owned();
    let brought = page.suite.starts.of(&scenario.id);
    let files = page.paths(scenario, brought.iter().map(|brought| &brought.from), &below);
    for Brought { from, at } in brought {
        let is_folder = page.suite.starts.base().join(from.as_path()).is_dir();
        let named = files.iter().find(|file| from.as_path().ends_with(file));
        let again = named.and_then(|file| place(&scenario.description, file, is_folder));
        if let Some(again) = again.filter(|again| again != at) {
            page.lose(scenario, &format!("{from} is placed at {again} instead of {at}"));
        }
    }
    let mut case = json!({
        "id": id,
        "prompt": scenario.description,
        "expected_output": scenario.expected.as_deref().unwrap_or_default(),
        "files": files,
    });
    if !scenario.tags.is_empty() {
        case["tags"] = scenario.tags.iter().map(|tag| Value::from(&**tag)).collect();
    }
    let mut texts = Vec::new();
    for demand in &scenario.demands {
        match &demand.how {
            // It follows from the expected output.
            How::Question { text }
                if **text == *AS_EXPECTED && scenario.demands.len() == 1 && scenario.expected.is_some() => {}
            How::Question { text } => {
                page.lose_terms(scenario, demand, &[]);
                texts.push(Value::from(&**text));
            }
            How::Check(Check::Skill { used }) if case.get("should_trigger").is_none() => {
                page.lose_terms(scenario, demand, &[]);
                case["should_trigger"] = (*used).into();
            }
            How::Check(_) => page.lose_demand(scenario, demand, "evals.json has expectations only"),
        }
    }
    if !texts.is_empty() {
        case["expectations"] = texts.into();
    }
    case
}
