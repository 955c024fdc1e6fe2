//! What `reflex new` is asked to do, once nothing is left to be guessed: task, criteria, agents.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use skilltune_orchestrator::disk;
use skilltune_phases::loops::reflex::Reflex;
use skilltune_phases::loops::reflex::criteria::Template;
use skilltune_phases::loops::reflex::original::Alias;
use skilltune_phases::vocabulary::Vocabulary as _;

use crate::agents;
use crate::agents::{BuiltIn, Casting, system_confines};
use crate::loops::reflex::args::new::{NewArgs, TaskSource};
use crate::loops::reflex::flags::lay_reflex_flags;
use crate::loops::reflex::settings::ReflexSettings;
use crate::loops::reflex::{confirm, out};
use crate::settings::Settings;
use crate::terminal::complaint::Complaint;
use crate::terminal::environment::Environment;
use crate::terminal::questions::{Answers, Person};

/// A task longer than this is no task but a mistake, such as a binary file.
const LONGEST: u64 = 1 << 20;

#[derive(Debug)]
pub struct Request {
    pub project: PathBuf,
    pub evolution: String,
    pub prompt: String,
    pub ideal: String,
    pub template: Template,
    pub alias: Option<Alias>,
    pub out: Option<PathBuf>,
    pub settings: Settings,
    pub casting: Casting,
    /// Whether the system holds what it runs to its folders.
    pub confines: bool,
    pub seed: Option<u64>,
    pub epoch: u64,
}

impl Request {
    pub fn new(args: &NewArgs, around: &Environment) -> Result<Self, Complaint> {
        let person = Person::present(around).filter(|_| !args.run.yes);
        let prompt = task(args, around)?;
        let out = args.out.as_ref().map(|path| out::free(&around.cwd.join(path))).transpose()?;
        let project = around.project_here();
        let mut settings = crate::loops::settings(&project, around)?;
        lay_reflex_flags(&mut settings, args);
        agents::fill(&mut settings, around);
        let casting = casting(&settings, around)?;
        let template = match args.template.map(Template::from).or_else(|| Template::guess(&prompt)) {
            Some(template) => template,
            None => asked_template(person)?,
        };
        Ok(Self {
            evolution: settings.of::<ReflexSettings>().evolution.value.as_path().display().to_string(),
            confines: system_confines(&settings),
            seed: args.seed,
            epoch: args.run.epoch(),
            ideal: args.ideal.clone().unwrap_or_default(),
            project,
            prompt,
            template,
            alias: args.alias.clone(),
            out,
            settings,
            casting,
        })
    }
}

/// The task's words: those of the command line, of a file, or of standard input.
fn task(args: &NewArgs, around: &Environment) -> Result<String, Complaint> {
    let text = match args.source() {
        TaskSource::Words(words) => words.to_owned(),
        TaskSource::Stdin => input()?,
        TaskSource::File(path) => file(&around.cwd.join(path))?,
    };
    let text = text.trim();
    if text.is_empty() {
        return Err(Complaint::input("no task").hint(
            "describe the text to write: skilltune reflex new \"the API page of our orders service\"",
        ));
    }
    Ok(text.to_owned())
}

fn file(path: &Path) -> Result<String, Complaint> {
    let refused = |error: std::io::Error| {
        Complaint::input(format!("cannot read the task from {}", path.display())).caused_by(error)
    };
    read(disk::open(path).map_err(refused)?).map_err(refused)
}

fn input() -> Result<String, Complaint> {
    read(std::io::stdin().lock())
        .map_err(|error| Complaint::input("cannot read the task from stdin").caused_by(error))
}

fn read(from: impl std::io::Read) -> std::io::Result<String> {
    let mut text = String::new();
    from.take(LONGEST + 1).read_to_string(&mut text)?;
    if text.len() as u64 > LONGEST {
        return Err(std::io::Error::other("it is longer than 1 MiB"));
    }
    Ok(text)
}

/// The built-in agent knows skills and nothing else.
fn casting(settings: &Settings, around: &Environment) -> Result<Casting, Complaint> {
    let casting = agents::cast(Reflex::ROLES, settings, around, BuiltIn::KnowsNothing)?;
    if casting.values().any(|part| part.agent.is_built_in()) {
        return Err(Complaint::input("the built-in agent cannot write texts; it only checks skills")
            .hint("pass another agent; `skilltune doctor` lists installed agents"));
    }
    Ok(casting)
}

fn asked_template(person: Option<&dyn Answers>) -> Result<Template, Complaint> {
    let Some(person) = person else {
        let names: Vec<&str> = Template::ALL.iter().map(|template| template.as_str()).collect();
        return Err(Complaint::input("cannot guess the kind of text from the task")
            .hint(format!("pass --template {}", names.join("|"))));
    };
    confirm::template_of(person)
}
