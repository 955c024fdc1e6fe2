//! The request to `expert`, with nothing left to guess: the expert, the task, the folder, the agent.

use std::path::PathBuf;

use skilltune_phases::experts::Tier;
use skilltune_phases::loops::expert::{Expert, Origin, Persona};

use crate::args::overrides::apply_shared_flags;
use crate::casting::{self, BuiltIn, Casting};
use crate::loops::expert::args::AskArgs;
use crate::loops::expert::roster::{Entry, Roster};
use crate::loops::expert::settings::ExpertSettings;
use crate::loops::expert::{choose, folder, listed};
use crate::loops::start::Common;
use crate::settings::Settings;
use crate::terminal::complaint::Complaint;
use crate::terminal::environment::Environment;
use crate::terminal::printer::Printer;
use crate::terminal::questions::Person;
use crate::trust::file::TextFile;

#[derive(Debug)]
pub struct Invocation {
    pub common: Common,
    pub persona: Persona,
    pub task: String,
    pub folder: Option<PathBuf>,
    pub remarks: Vec<String>,
    /// The project's file, which a person has to trust, and the words for what it is.
    pub foreign: Option<(TextFile, String)>,
    pub seed: Option<u64>,
}

impl AsRef<Common> for Invocation {
    fn as_ref(&self) -> &Common {
        &self.common
    }
}

impl Invocation {
    pub fn new(args: &AskArgs, name: &str, env: &Environment, printer: Printer) -> Result<Self, Complaint> {
        let person = Person::present(env).filter(|_| !args.run.yes);
        let project = env.project_here();
        let mut settings = crate::loops::settings(&project, env)?;
        let roster = Roster::read(&project, &settings, env);
        for line in listed::skipped(&roster) {
            printer.talk(&line);
        }
        let entry = choose::expert(roster, name, person, printer)?;
        let task = choose::task(args, &entry, person, printer)?;
        let folder = folder::chosen(args, env)?;
        apply_shared_flags(&mut settings, args.agent.as_ref(), args.calls.timeout, &args.given);
        if args.agent.is_none() {
            apply_tier(&mut settings, entry.expert.tier);
        }
        casting::fill(&mut settings, env);
        let casting = casting(&settings, env)?;
        let remarks = entry.shadow().into_iter().chain(entry.ignored()).collect();
        let Entry { expert, origin, file, shadows } = entry;
        let replaces = if shadows { ", which replaces the built-in one" } else { "" };
        let what = format!("{}{replaces}", expert.name);
        Ok(Self {
            persona: Persona { name: expert.name, persona: expert.persona, origin, digest: expert.digest },
            task,
            folder,
            remarks,
            foreign: file.filter(|_| origin == Origin::Project).map(|file| (file, what)),
            seed: args.seed,
            common: Common { project, settings, casting, pinned: Vec::new(), epoch: args.run.epoch() },
        })
    }
}

/// Takes the agent and the model that the settings have for this tier.
fn apply_tier(settings: &mut Settings, tier: Tier) {
    if let Some(agent) = settings.of::<ExpertSettings>().of_tier(tier).cloned() {
        settings.roles.executor = agent;
    }
}

/// Refuses the built-in agent, which knows only skills.
fn casting(settings: &Settings, env: &Environment) -> Result<Casting, Complaint> {
    let casting = casting::cast(Expert::ROLES, settings, env, BuiltIn::KnowsNothing)?;
    if casting.values().any(|part| part.agent.is_built_in()) {
        return Err(Complaint::input("the built-in agent cannot play an expert; it only checks skills")
            .hint("pass another agent; `skilltune doctor` lists installed agents"));
    }
    Ok(casting)
}
