//! `skilltune trust`: records that a person has read a project's settings, a suite or rules, and allows what they
//! contain.

use std::path::{Path, PathBuf};

use serde_json::json;
use skilltune_phases::experts::Expert;
use skilltune_phases::suites::scenario::Tools;

use crate::args::runs::TrustArgs;
use crate::casting;
use crate::inputs::suite::{SHELL, Suite, command};
use crate::loops::expert::roster;
use crate::loops::gan::design_file;
use crate::loops::reflex::rules_file::RulesFile;
use crate::loops::tune::prompts::Pages;
use crate::nights::file::NightPlan;
use crate::nights::jobs::{self, Job};
use crate::report::outcome;
use crate::settings::Settings;
use crate::settings::origin::Origin;
use crate::settings::setting::Slot as _;
use crate::terminal::complaint::Complaint;
use crate::terminal::environment::{Environment, SETTINGS_FILE};
use crate::terminal::exit::Exit;
use crate::terminal::printer::Printer;
use crate::text::figures::count;
use crate::text::plain::one_line;
use crate::trust::TrustStore;
use crate::trust::file::TextFile;
use crate::trust::pinned::{Pinned, each_once};

pub fn run(args: &TrustArgs, env: &Environment, printer: Printer) -> Result<Exit, Complaint> {
    let Trusted { path, contents } = record(args, env)?;
    let lines: Vec<&str> = contents.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let path = path.display().to_string();
    let object = json!({ "outcome": "trusted", "path": path, "contents": lines });
    outcome::print(args.format, printer, &[format!("trusted: {path}{contents}")], &object)
}

/// What a person trusts from now on.
struct Trusted {
    path: PathBuf,
    /// Its commands and the like, each on a line of its own after a line end.
    contents: String,
}

const WHAT: &str = "pass a skilltune.toml, its folder, a suite, a file of rules, a file of jobs, an expert, or moai's design.yaml";

fn record(args: &TrustArgs, env: &Environment) -> Result<Trusted, Complaint> {
    let given = args.path.as_ref().map_or_else(|| env.project_here(), |path| env.cwd.join(path));
    let given: PathBuf = given.components().collect();
    let path = if given.is_dir() { given.join(SETTINGS_FILE) } else { given };
    if !path.exists() {
        return Err(Complaint::input(format!("{} does not exist", path.display())).hint(WHAT));
    }
    if let Some(file) = TextFile::read(&path)?.filter(NightPlan::is_one) {
        return record_jobs(file, env);
    }
    if let Some((file, expert)) = roster::to_trust(&path, env)? {
        return record_expert(&file, &expert, env);
    }
    if design_file::is_one(&path) {
        return record_design(&path, env);
    }
    if !path.ends_with(SETTINGS_FILE) {
        return if RulesFile::is_one(&path) { record_rules(&path, env) } else { record_suite(&path, env) };
    }
    let Some(file) = TextFile::read(&path)? else {
        return Err(Complaint::input(format!("{} does not exist", path.display())).hint(WHAT));
    };
    // Parsed first, so that nothing unreadable is ever trusted.
    let mut settings = crate::loops::default_settings();
    settings.apply_file(&file, &Origin::Project(file.path.clone()))?;
    let pages = Pages::read(&settings)?;
    for (name, entry) in &settings.agents {
        casting::described(name, entry, env)?;
    }
    let scripts = [casting::scripts(&settings, env), casting::command_scripts(&settings)];
    let scripts = each_once(scripts.into_iter())?;
    let prompts = pages.files().map(|(_, file)| Pinned::from(file));
    let files: Vec<Pinned> = prompts.chain(scripts.iter().cloned()).collect();
    TrustStore::new(env).record(&file, &files)?;
    let folder = file.path.parent().expect("a settings file is in a folder");
    let overs = crate::loops::settings(folder, env)?.overs().into_iter().map(|over| format!("\n  {over}"));
    let contents = [named(&settings, &pages), listed(&scripts), overs.collect()].concat();
    Ok(Trusted { path: file.path, contents })
}

fn record_expert(file: &TextFile, expert: &Expert, env: &Environment) -> Result<Trusted, Complaint> {
    TrustStore::new(env).record(file, &[])?;
    let lines = count(expert.persona.lines().count(), "line");
    let what = format!("expert {}: {} ({lines} of instructions)", expert.name, expert.description);
    Ok(Trusted { path: file.path.clone(), contents: format!("\n  {}", one_line(&what)) })
}

fn record_jobs(file: TextFile, env: &Environment) -> Result<Trusted, Complaint> {
    let plan = NightPlan::of(file)?;
    let jobs = jobs::all(&plan)?;
    let scripts = plan.scripts(env)?;
    TrustStore::new(env).record(&plan.file, &scripts)?;
    let job =
        |job: &Job| format!("\n  job {}: tunes {}, apply = {:?}", job.name, one_line(&job.skills), job.apply);
    let commands = plan.content.commands().into_iter().filter(|(_, command)| !command.is_empty());
    let command = |(name, words): (&str, &Vec<String>)| format!("\n  {name}: {}", quoted(words));
    let commands: String = commands.map(command).collect();
    let jobs: String = jobs.iter().map(job).collect();
    Ok(Trusted { path: plan.file.path, contents: [jobs, commands, listed(&scripts)].concat() })
}

/// Trusts the settings of the original loop, which decide how long a run goes on and when it passes.
fn record_design(path: &Path, env: &Environment) -> Result<Trusted, Complaint> {
    let (file, contents) = design_file::to_trust(path)?;
    TrustStore::new(env).record(&file, &[])?;
    Ok(Trusted { path: file.path, contents })
}

fn record_suite(path: &Path, env: &Environment) -> Result<Trusted, Complaint> {
    let suite = Suite::read(path).map_err(|complaint| complaint.hint(WHAT))?;
    let files = suite.scripts(env)?;
    if let Some(file) = &suite.file {
        TrustStore::new(env).record(file, &files)?;
    }
    let contents = of_suite(&suite) + &listed(&files);
    Ok(Trusted { path: suite.path, contents })
}

fn record_rules(path: &Path, env: &Environment) -> Result<Trusted, Complaint> {
    let rules = RulesFile::read(path)?;
    let files = rules.scripts(env)?;
    TrustStore::new(env).record(&rules.file, &files)?;
    let mut commands: Vec<_> = rules.commands().map(|argv| format!("\n  rule: {}", quoted(argv))).collect();
    if commands.is_empty() {
        commands.push(NO_COMMANDS.to_owned());
    }
    Ok(Trusted { path: rules.file.path, contents: commands.concat() + &listed(&files) })
}

const NO_COMMANDS: &str = "\n  no commands";

/// Lists the files that commands name. Each is trusted in its current version.
fn listed(files: &[Pinned]) -> String {
    let lines = files.iter().map(|file| format!("\n  with {}", file.path.display()));
    lines.collect::<Vec<_>>().concat()
}

fn of_suite(suite: &Suite) -> String {
    let lines = suite.scenarios.iter().flat_map(|scenario| {
        let setup =
            scenario.setup.as_ref().map(|argv| format!("\n  set-up of {}: {}", scenario.id, quoted(argv)));
        let checks = scenario.demands.iter().filter_map(|demand| {
            let argv = command(&demand.how)?;
            Some(format!("\n  check {} of {}: {}", demand.id, scenario.id, quoted(argv)))
        });
        let command = scenario.command.as_ref().map(|argv| quoted(argv));
        let shell = (scenario.tools == Some(Tools::Shell)).then(|| SHELL.to_owned());
        let run =
            command.into_iter().chain(shell).map(|what| format!("\n  scenario {}: {what}", scenario.id));
        setup.into_iter().chain(run).chain(checks)
    });
    let mut lines: Vec<String> = lines.collect();
    if lines.is_empty() {
        lines.push(NO_COMMANDS.to_owned());
    }
    lines.concat()
}

fn quoted(command: &[String]) -> String {
    command.iter().map(|word| format!("{word:?}")).collect::<Vec<_>>().join(" ")
}

fn named(settings: &Settings, pages: &Pages) -> String {
    let agents = settings
        .agents
        .iter()
        .map(|(name, agent)| format!("\n  agent {name}: {}", quoted(&agent.settings.command)));
    let agents: String = agents.collect();
    let agents = if agents.is_empty() { "\n  no agents".to_owned() } else { agents };
    let others = settings.named_commands().chain(settings.commands.named());
    let others = others.map(|command| format!("\n  {}: {}", command.key, quoted(command.words)));
    let others: String = others.collect();
    let prompts = pages.files().map(|(page, file)| format!("\n  prompt {page}: {}", file.path.display()));
    let prices = settings
        .prices
        .iter()
        .map(|(model, price)| format!("\n  price of {}: {}", one_line(model), price.json()));
    let said: String = prompts.chain(prices).collect();
    [agents, others, said].concat()
}

#[cfg(test)]
mod tests;
