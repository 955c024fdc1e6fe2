//! `skilltune` without a command: lists the skills and the unfinished run, and suggests commands. It starts no program.

use std::path::Path;

use skilltune_orchestrator::agent::Real;
use skilltune_phases::runs::plan::RunId;
use skilltune_phases::skills::offline;

use crate::casting;
use crate::inputs::find;
use crate::loops;
use crate::report::ui::{Ui, with_loop};
use crate::runs::Runs;
use crate::terminal::complaint::Complaint;
use crate::terminal::environment::Environment;
use crate::terminal::exit::Exit;
use crate::terminal::printer::Printer;
use crate::text::plain::{one_line, shell_path};
use crate::text::width::{columns, shortened};

const WHAT: &str = "skilltune improves agent skills and proves that they got better.";
/// Older runs are not looked at: each costs reading its journal.
const LATEST: usize = 20;
/// The columns for the subject of a run.
const SUBJECT: usize = 40;

pub(super) fn run(env: &Environment, printer: Printer) -> Result<Exit, Complaint> {
    let mut welcome = Welcome::default();
    match Runs::here(env) {
        Ok(runs) => welcome.add_run(&runs),
        Err(complaint) => printer.complain(&complaint),
    }
    let agent = agent(env).unwrap_or_else(|complaint| {
        printer.complain(&complaint);
        None
    });
    welcome.add_skills(agent.as_deref(), env);
    if agent.as_deref() == Some(offline::NAME) {
        welcome.facts.push("No agent found on PATH.".to_owned());
        welcome.add("skilltune doctor", "see which agents there are");
    }
    welcome.add("skilltune help", "list all commands");
    printer.data(&welcome.lines().join("\n"))?;
    Ok(Exit::Reached)
}

/// Returns the agent that has to be named, if no agent plays the executor by itself.
fn agent(env: &Environment) -> Result<Option<String>, Complaint> {
    let mut settings = loops::settings(&env.project_here(), env)?;
    casting::fill(&mut settings, env);
    if settings.roles.executor.value.is_some() {
        return Ok(None);
    }
    let installed = Real::ALL.into_iter().map(Real::name).find(|name| casting::on_path(name, env).is_ok());
    let described = || settings.agents.keys().next().cloned();
    Ok(installed.map(str::to_owned).or_else(described).or_else(|| Some(offline::NAME.to_owned())))
}

/// What is here, and what to do about it.
#[derive(Debug, Default)]
struct Welcome {
    facts: Vec<String>,
    /// Each with its purpose.
    commands: Vec<(String, &'static str)>,
}

impl Welcome {
    /// Adds the newest run that can be resumed.
    fn add_run(&mut self, runs: &Runs) {
        let ids = runs.ids(None);
        let Some(id) = ids.iter().take(LATEST).find(|id| runs.is_resumable(id)) else { return };
        let Some(fact) = with_loop!(runs.kind(id), L => fact::<L>(runs, id)) else { return };
        self.facts.push(fact);
        let is_newest = runs.named(None, None).is_ok_and(|newest| newest == *id);
        let command =
            if is_newest { "skilltune resume".to_owned() } else { format!("skilltune resume {id}") };
        self.add(command, "continue the run");
    }

    fn add_skills(&mut self, agent: Option<&str>, env: &Environment) {
        let agent_flag = agent.map(|agent| format!(" --agent {}", shell_path(Path::new(agent))));
        let agent_flag = agent_flag.unwrap_or_default();
        if let Some(skill) = find::enclosing(env) {
            let name = skill.file_name().unwrap_or_default().to_string_lossy();
            self.facts.push(format!("This folder belongs to the skill {}.", one_line(&name)));
            self.add("skilltune lint", "check the skill for problems");
            self.add(format!("skilltune tune{agent_flag}"), "improve the skill");
            return;
        }
        let known = find::known(env);
        let Some(first) = known.first() else {
            self.facts.push("No skill found here.".to_owned());
            return self.add("skilltune demo", "tune example skills, without a model");
        };
        self.facts.push(format!("Skills found: {}.", find::few(&known)));
        self.add("skilltune lint", "check the skills for problems");
        let skill = shell_path(Path::new(first));
        self.add(format!("skilltune tune {skill}{agent_flag}"), "improve a skill");
    }

    fn add(&mut self, command: impl Into<String>, purpose: &'static str) {
        self.commands.push((command.into(), purpose));
    }

    fn lines(self) -> Vec<String> {
        let widest = self.commands.iter().map(|(command, _)| columns(command)).max().unwrap_or_default();
        let commands = self.commands.iter().map(|(command, purpose)| {
            format!("  {command}{}  {purpose}", " ".repeat(widest - columns(command)))
        });
        let blank = String::new;
        let next = "What to type next:".to_owned();
        let facts = self.facts.iter().cloned();
        [WHAT.to_owned(), blank()].into_iter().chain(facts).chain([blank(), next]).chain(commands).collect()
    }
}

/// Returns the sentence about an unfinished run.
fn fact<L: Ui>(runs: &Runs, id: &RunId) -> Option<String> {
    let run = runs.load::<L>(id).ok()?.run;
    let summary = L::summary(&run, None);
    let subject = shortened(&one_line(&summary.subject), SUBJECT);
    Some(format!("Run {id} is {}: {} {subject}.", runs.status(&run).word(&run), summary.kind))
}
