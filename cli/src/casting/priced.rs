//! Checks before a run begins that a cost limit can count the calls of every agent that the run may call.

use std::collections::BTreeSet;

use skilltune_orchestrator::agent::{Agent, CostReport};
use skilltune_phases::base::ceiling::Ceilings;
use skilltune_phases::base::role::Role;
use skilltune_phases::loops::MostCalls;

use crate::casting::Casting;
use crate::settings::Settings;
use crate::settings::setting::Slot as _;
use crate::settings::values::UnpricedName;
use crate::terminal::complaint::Complaint;
use crate::text::figures;

/// A role whose calls a cost limit would not count.
struct Unpriced<'a> {
    role: &'a Role,
    agent: &'a Agent,
    reports_tokens: bool,
}

/// Returns the ceilings of a plan that makes at most this many calls.
pub fn ceilings(settings: &Settings, casting: &Casting, most: &MostCalls) -> Result<Ceilings, Complaint> {
    let ceilings = settings.ceilings(most);
    require(&ceilings, settings, casting, most)?;
    Ok(ceilings)
}

/// Fails if a cost limit would not count the calls of some role, unless the user allows that.
pub fn require(
    ceilings: &Ceilings,
    settings: &Settings,
    casting: &Casting,
    most: &MostCalls,
) -> Result<(), Complaint> {
    let is_allowed = ceilings.allow_unpriced.unwrap_or(settings.budget.unpriced.value == UnpricedName::Allow);
    let Some(usd) = ceilings.usd.filter(|_| !is_allowed) else { return Ok(()) };
    let is_called = |role: &Role| most.get(role).is_some_and(|calls| *calls > 0);
    let called = casting.iter().filter(|(role, _)| is_called(role));
    let unpriced: Vec<_> = called.filter_map(|(role, part)| unpriced(role, &part.agent, settings)).collect();
    if unpriced.is_empty() {
        return Ok(());
    }
    let what = format!(
        "cannot enforce the limit of {}: the cost of some calls would be unknown",
        figures::dollars(usd)
    );
    let causes = unpriced.iter().map(|one| one.describe(settings));
    let complaint = causes.fold(Complaint::input(what), Complaint::caused_by);
    let complaint = hints(&unpriced).into_iter().fold(complaint, Complaint::hint);
    Err(complaint.hint(ALLOW))
}

const ALLOW: &str = "or run without counting these calls: pass --unpriced allow, or set budget.unpriced = \"allow\" in your own skilltune.toml";

fn unpriced<'a>(role: &'a Role, agent: &'a Agent, settings: &Settings) -> Option<Unpriced<'a>> {
    let has_price = || agent.model.as_ref().is_some_and(|model| settings.prices().contains_key(model));
    let reports_tokens = match agent.cost_report() {
        CostReport::Free | CostReport::Dollars => return None,
        CostReport::Tokens if has_price() => return None,
        CostReport::Tokens => true,
        CostReport::Nothing => false,
    };
    Some(Unpriced { role, agent, reports_tokens })
}

impl Unpriced<'_> {
    fn describe(&self, settings: &Settings) -> String {
        let Agent { name, model, .. } = self.agent;
        let price = model.as_ref().and_then(|model| settings.prices.get(model)?.over());
        let why = match (model, price.as_ref().and_then(|over| over.asks.file())) {
            _ if !self.reports_tokens => "reports neither its cost nor its tokens".to_owned(),
            (Some(model), Some(file)) => {
                format!("reports only tokens, and the price of {model} in {} is not trusted", file.display())
            }
            (Some(model), None) => format!("reports only tokens, and {model} has no price"),
            (None, _) => "reports only tokens, and its price is unknown without a model".to_owned(),
        };
        let via = self.agent.via().map_or(String::new(), |via| format!(" via {}", via.name()));
        format!("{}: {name}{via} {why}", self.role)
    }
}

/// Returns hints for the agents that report tokens.
fn hints(unpriced: &[Unpriced<'_>]) -> Vec<String> {
    let countable = || unpriced.iter().filter(|one| one.reports_tokens).map(|one| one.agent);
    let models: BTreeSet<&str> = countable().map(|agent| agent.model.as_deref().unwrap_or(MODEL)).collect();
    let lines = models.iter().map(|model| {
        format!("\n    [prices.{}]\n    input = DOLLARS\n    output = DOLLARS\n", toml::Value::from(*model))
    });
    let lines: String = lines.collect();
    let prices = format!("add the price of a million tokens to your own skilltune.toml:\n{lines}");
    let unnamed: BTreeSet<&str> =
        countable().filter(|agent| agent.model.is_none()).map(|agent| agent.name.as_str()).collect();
    let named = unnamed.iter().map(|name| format!("name the model: use {name}:{MODEL} instead of {name}"));
    (!models.is_empty()).then_some(prices).into_iter().chain(named).collect()
}

/// A placeholder for a model name that the user must choose.
const MODEL: &str = "MODEL";
