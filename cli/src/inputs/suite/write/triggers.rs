//! Writes a trigger set: queries, and whether an agent should use the skill for each.

use serde_json::{Value, json};
use skilltune_phases::suites::checks::Check;

use super::{SuiteWriter, pretty};

pub(super) fn text(page: &mut SuiteWriter<'_>) -> String {
    let mut queries = Vec::new();
    for scenario in page.scenarios() {
        let used = scenario.demands.iter().find_map(|demand| match demand.how.check()? {
            Check::Skill { used } => Some((demand, *used)),
            _ => None,
        });
        let Some((check, used)) = used else {
            page.lose(scenario, "left out: no check says whether the skill should be used");
            continue;
        };
        page.lose_fields(scenario, &["tags"]);
        page.lose_terms(scenario, check, &[]);
        for demand in scenario.demands.iter().filter(|demand| demand.id != check.id) {
            page.lose_demand(scenario, demand, "a trigger set checks only skill use");
        }
        let mut query = json!({
            "id": scenario.id.as_str(),
            "query": scenario.description,
            "should_trigger": used,
        });
        if !scenario.tags.is_empty() {
            query["tags"] = scenario.tags.iter().map(|tag| Value::from(&**tag)).collect();
        }
        queries.push(query);
    }
    pretty(&Value::Array(queries))
}
