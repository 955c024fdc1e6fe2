//! The request to `expert`, with nothing left to guess: the expert, the task or the draft, the folder, the agent.

use std::path::PathBuf;

use skilltune_phases::experts::{self, Tier};
use skilltune_phases::loops::expert::{Draft, Expert, Origin, Persona};

use crate::args::overrides::apply_shared_flags;
use crate::casting;
use crate::loops::expert::args::{AskArgs, NewArgs, PlayFlags};
use crate::loops::expert::roster::{Entry, Roster};
use crate::loops::expert::settings::ExpertSettings;
use crate::loops::expert::{choose, draft, folder, listed};
use crate::loops::start::Common;
use crate::settings::Settings;
use crate::terminal::complaint::Complaint;
use crate::terminal::environment::Environment;
use crate::terminal::printer::Printer;
use crate::terminal::questions::{Answers, Person};
use crate::trust::file::TextFile;

#[derive(Debug)]
pub struct Invocation {
    pub common: Common,
    pub persona: Persona,
    pub task: String,
    pub drafts: Option<Draft>,
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
    /// Asks an expert one task.
    pub fn new(args: &AskArgs, name: &str, env: &Environment, printer: Printer) -> Result<Self, Complaint> {
        let person = person(&args.play, env);
        let (settings, roster) = read(env, printer)?;
        let entry = choose::expert(roster, name, person, printer)?;
        let task = choose::task(args, &entry, person, printer)?;
        let folder = folder::chosen(args, env)?;
        let remarks = entry.shadow().into_iter().chain(entry.ignored()).collect();
        let Entry { expert, origin, file, shadows } = entry;
        let replaces = if shadows { ", which replaces the built-in one" } else { "" };
        let what = format!("{}{replaces}", expert.name);
        Ok(Self {
            common: common(settings, &args.play, expert.tier, env)?,
            persona: persona(expert, origin),
            task,
            drafts: None,
            folder,
            remarks,
            foreign: file.filter(|_| origin == Origin::Project).map(|file| (file, what)),
            seed: args.play.seed,
        })
    }

    /// Asks our own expert for the file of a new one.
    pub fn drafting(args: &NewArgs, env: &Environment, printer: Printer) -> Result<Self, Complaint> {
        let (settings, roster) = read(env, printer)?;
        let draft = draft::plan(args, &roster, &settings, env)?;
        let name = &draft.name;
        let description = choose::description(args, name, person(&args.play, env))?;
        let task = format!("Write the file of an expert named `{name}`. Its description:\n\n{description}");
        let has_no_project = draft.file.is_none() && !args.print;
        let remark =
            has_no_project.then(|| "there is no project here, so the draft is only printed".to_owned());
        let writer = experts::writer();
        Ok(Self {
            common: common(settings, &args.play, writer.tier, env)?,
            persona: persona(writer, Origin::BuiltIn),
            task,
            drafts: Some(draft),
            folder: None,
            remarks: remark.into_iter().collect(),
            foreign: None,
            seed: args.play.seed,
        })
    }

    /// Asks our own expert for a specification.
    pub fn specifying(common: Common, draft: Draft, task: String, seed: Option<u64>) -> Self {
        Self {
            common,
            persona: persona(experts::specifier(), Origin::BuiltIn),
            task,
            drafts: Some(draft),
            folder: None,
            remarks: Vec::new(),
            foreign: None,
            seed,
        }
    }
}

/// Returns the person to ask, if there is one.
fn person(flags: &PlayFlags, env: &Environment) -> Option<&'static dyn Answers> {
    Person::present(env).filter(|_| !flags.run.yes)
}

/// Reads the settings and the experts, and says that files are skipped.
fn read(env: &Environment, printer: Printer) -> Result<(Settings, Roster), Complaint> {
    let project = env.project_here();
    let settings = crate::loops::settings(&project, env)?;
    let roster = Roster::read(&project, &project, &settings, env);
    if let Some(line) = listed::skipped_count(&roster) {
        printer.talk(&line);
    }
    Ok((settings, roster))
}

fn persona(expert: experts::Expert, origin: Origin) -> Persona {
    Persona { name: expert.name, persona: expert.persona, origin, digest: expert.digest }
}

/// Casts the agent that plays an expert of this tier.
fn common(
    mut settings: Settings,
    flags: &PlayFlags,
    tier: Tier,
    env: &Environment,
) -> Result<Common, Complaint> {
    apply_shared_flags(&mut settings, flags.agent.as_ref(), flags.calls.timeout, &flags.given);
    if flags.agent.is_none() {
        apply_tier(&mut settings, tier);
    }
    casting::fill(&mut settings, env);
    let casting = casting::cast_models(Expert::ROLES, &settings, env, "play an expert")?;
    Ok(Common {
        project: env.project_here(),
        settings,
        casting,
        pinned: Vec::new(),
        epoch: flags.run.epoch(),
    })
}

/// Takes the agent and the model that the settings have for this tier.
pub fn apply_tier(settings: &mut Settings, tier: Tier) {
    if let Some(agent) = settings.of::<ExpertSettings>().of_tier(tier).cloned() {
        settings.roles.executor = agent;
    }
}
