//! `suite add --from SUITE`: adds a scenario of another suite, such as the inbox of nights.

use std::path::Path;

use skilltune_orchestrator::snapshot::Objects;
use skilltune_orchestrator::store::Home;
use skilltune_phases::suites::scenario::Scenario;

use super::New;
use crate::args::suite::SuiteAddArgs;
use crate::inputs::suite::{SUITE_FILE, Suite};
use crate::runs::strange;
use crate::terminal::complaint::Complaint;
use crate::terminal::environment::Environment;
use crate::terminal::exit::Exit;
use crate::terminal::printer::Printer;
use crate::terminal::questions::Person;
use crate::text::figures::count;
use crate::text::plain::one_line;

pub(super) fn run(
    path: &Path,
    args: &SuiteAddArgs,
    env: &Environment,
    printer: Printer,
) -> Result<Exit, Complaint> {
    let suite = Suite::read(&env.cwd.join(path))?;
    let chosen = choose(&suite, args.from.get(1).map(String::as_str), env)?;
    let project = env.project_here();
    let home = Home::of(&project);
    home.create().map_err(strange)?;
    let objects = Objects::at(home.objects());
    let scenario = suite.starts.scenarios(std::slice::from_ref(chosen), &objects)?.remove(0);
    let origin = format!("From {}: `{}`.", suite.path.display(), scenario.id);
    let to = args.to.as_ref().map_or_else(|| project.join(SUITE_FILE), |to| env.cwd.join(to));
    let note =
        format!("it stays in {} until you delete it there", one_line(&suite.path.display().to_string()));
    super::add(New { scenario, origin, note: Some(note) }, &to, &objects, (args.format, printer))
}

/// Returns the named scenario. Without a name it asks at a terminal.
fn choose<'a>(suite: &'a Suite, name: Option<&str>, env: &Environment) -> Result<&'a Scenario, Complaint> {
    let all: Vec<&Scenario> = suite.drafts.iter().chain(&suite.scenarios).collect();
    let path = one_line(&suite.path.display().to_string());
    if all.is_empty() {
        return Err(Complaint::input(format!("{path} has no scenarios")));
    }
    let lines: Vec<String> = all.iter().map(|one| line(one)).collect();
    let Some(name) = name else {
        let Some(person) = Person::present(env) else {
            return Err(super::listing("scenarios", &lines, "no scenario given".to_owned())
                .hint(format!("`skilltune suite add --from {path} ID` adds one of them")));
        };
        let options: Vec<&str> = lines.iter().map(String::as_str).collect();
        return Ok(all[person.pick("Which scenario should be added?", &options, 0)?]);
    };
    let named = all.into_iter().find(|one| one.id == *name);
    named.ok_or_else(|| super::listing("scenarios", &lines, format!("{path} has no scenario {name:?}")))
}

fn line(scenario: &Scenario) -> String {
    let task: String = one_line(&scenario.description).chars().take(60).collect();
    format!("{}  {}  {task}", one_line(&scenario.id), count(scenario.demands.len(), "demand"))
}
