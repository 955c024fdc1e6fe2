//! What `tune` is asked to do, once nothing is left to be guessed: skills, scenarios, rules, agents.
//!
//! Everything is looked up and checked here, and nothing is written but a person's trust.

use std::path::{Path, PathBuf};

use skilltune_phases::delivery::Delivery;
use skilltune_phases::loops::tune::{self, Apply, Done, FailOn, Rules, Tune};
use skilltune_phases::offline;
use skilltune_phases::prompt::Prompts;
use skilltune_phases::proposal::Form;
use skilltune_phases::role::Role;
use skilltune_phases::scenario::{Scenario, Tools};
use skilltune_phases::target::Mode;
use skilltune_phases::vocabulary::Vocabulary as _;

use crate::agents::{BuiltIn, Casting, system_confines};
use crate::inputs::find;
use crate::inputs::find::Skill;
use crate::inputs::suite::{Starts, Suite};
use crate::loops::tune::args::TuneArgs;
use crate::loops::tune::delivery::delivery;
use crate::loops::tune::flags::lay_tune_flags;
use crate::loops::tune::older::Older;
use crate::loops::tune::prompts::Pages;
use crate::loops::tune::questions;
use crate::loops::tune::scenarios::Tried;
use crate::loops::tune::search;
use crate::loops::tune::settings::{ApplyWhen, ModeName, Preset, TuneSettings};
use crate::loops::tune::sides::Side;
use crate::loops::tune::tools::allow_shell;
use crate::settings::Settings;
use crate::settings::origin::Origin;
use crate::settings::per_role::PerRole;
use crate::settings::setting::Setting;
use crate::settings::values::AgentSpec;
use crate::terminal::complaint::Complaint;
use crate::terminal::environment::Environment;
use crate::terminal::questions::Answers;
use crate::trust::pinned::Pins;
use crate::trust::{Consent, Named, TrustStore};
use crate::{agents, trust};

/// One run: several skills that are no chain are several requests.
#[derive(Clone, Debug)]
pub struct Request {
    pub purpose: Purpose,
    /// The folder that `.skilltune` stands in.
    pub project: PathBuf,
    pub mode: Mode,
    pub members: Vec<Skill>,
    pub scenarios: Vec<Scenario>,
    pub starts: Starts,
    /// Where they come from, if not from the command line.
    pub suite: Option<tune::Suite>,
    /// The percentage of them that is kept for the final comparison.
    pub held_out: u32,
    /// Whether the final comparison is to rest on the scenarios of the search.
    pub this_suite_only: bool,
    pub rules: Rules,
    pub casting: Casting,
    pub delivery: Delivery,
    pub tools: Tools,
    pub settings: Settings,
    pub apply: Apply,
    pub fail_on: FailOn,
    pub prompts: Prompts,
    /// The files of a project that it may run, as they are trusted.
    pub pinned: Vec<Pins>,
    /// Whether the system holds what it runs to its folders.
    pub confines: bool,
    /// A hash of the inputs otherwise.
    pub seed: Option<u64>,
}

/// What a run is for.
#[derive(Clone, Debug)]
pub enum Purpose {
    Improve,
    /// To try the scenarios without a skill, so often.
    Try {
        trials: u32,
    },
    /// To try this skill or chain as it is, so often on each scenario.
    Calibrate {
        skills: Vec<Skill>,
        trials: u32,
    },
    Compare(Box<[Side; 2]>),
    /// To judge the trials of an older run anew.
    Regrade(Box<Older>),
}

impl Request {
    /// The answers that the run takes over from an older one.
    pub fn answers(&self) -> &[Done] {
        match &self.purpose {
            Purpose::Regrade(older) => &older.regrading.answers,
            Purpose::Improve | Purpose::Try { .. } | Purpose::Calibrate { .. } | Purpose::Compare(_) => &[],
        }
    }
}

/// Reads a command line into requests, asking the person, if there is one, what the flags leave open.
pub fn requests(
    args: &TuneArgs,
    env: &Environment,
    person: Option<&dyn Answers>,
) -> Result<Vec<Request>, Complaint> {
    let asked = person.filter(|_| !args.run.yes);
    let skills = find::skills(&args.skills, env)?;
    let named = named_mode(args)?;
    let mut suite = args.suite.as_ref().map(|path| Suite::read(&env.cwd.join(path))).transpose()?;
    if args.tools.is_some() {
        // A flag goes over files.
        let scenarios = suite.iter_mut().flat_map(|suite| &mut suite.scenarios);
        scenarios.for_each(|scenario| scenario.tools = None);
    }
    // What the settings lack is said before anything is asked.
    let mut stand_in = StandIn { person: asked, agreed: None };
    let first = Draft::new(skills[..1].to_vec(), args, env, &mut stand_in)?;
    search::wish(first.settings.of())?;
    let preset = match asked.filter(|_| preset_matters(args)) {
        Some(person) => Some(questions::preset(person, first.settings.of::<TuneSettings>().preset.value)?),
        None => None,
    };
    let mode = mode(named, skills.len(), asked)?;
    let drafts =
        targets(skills, mode).into_iter().map(|members| Draft::new(members, args, env, &mut stand_in));
    let mut drafts = drafts.collect::<Result<Vec<Draft>, Complaint>>()?;
    if let Some(preset) = preset {
        for draft in &mut drafts {
            draft.prefer(preset, args);
        }
    }
    // Last, for it may write; and a dry run runs nothing.
    if !args.run.only_shows() {
        let consent = Consent::of(args.trust, asked);
        for draft in &mut drafts {
            let of_agents = agents::ensure_trusted(&draft.casting, &draft.settings, env, None, consent)?;
            draft.pages.ensure_trusted(&draft.settings, env, consent)?;
            draft.pinned.extend(of_agents);
        }
        let of_suite = suite.as_ref().map(|suite| ensure_trusted(suite, env, consent)).transpose()?;
        for draft in &mut drafts {
            draft.pinned.extend(of_suite.clone().flatten());
        }
    }
    let given = Tried::given(args, suite)?;
    let requests = drafts.into_iter().map(|draft| {
        let tried = match (&given, draft.members.as_slice()) {
            (Some(given), _) => given.clone(),
            (None, [skill]) => Tried::of(args, Suite::beside(&skill.path)?)?,
            (None, _) => Tried::of(args, None)?,
        };
        let tried = tried.of_skills(&draft.members);
        tried.check(&draft.members, &draft.delivery, env)?;
        draft.request(mode, tried, args, (asked.is_some(), env))
    });
    requests.collect()
}

/// Asks for trust where a suite has programs run. Returns the files that they are, or read.
pub fn ensure_trusted(
    suite: &Suite,
    env: &Environment,
    consent: Consent<'_>,
) -> Result<Option<Pins>, Complaint> {
    let programs = suite.programs();
    let Some(file) = suite.file.as_ref().filter(|_| !programs.is_empty()) else { return Ok(None) };
    let files = suite.scripts(env)?;
    trust::ensure(file, &files, Named::Programs(&programs), &TrustStore::new(env), consent)?;
    Ok(suite.pins(files, env))
}

/// A request that may still have to be asked about.
struct Draft {
    project: PathBuf,
    members: Vec<Skill>,
    settings: Settings,
    casting: Casting,
    delivery: Delivery,
    pages: Pages,
    pinned: Vec<Pins>,
}

impl Draft {
    fn new(
        members: Vec<Skill>,
        args: &TuneArgs,
        env: &Environment,
        stand_in: &mut StandIn<'_>,
    ) -> Result<Self, Complaint> {
        let project = env.project_of(&members[0].path);
        let mut settings = crate::loops::settings(&project, env)?;
        lay_tune_flags(&mut settings, args);
        agents::fill(&mut settings, env);
        stand_in.fill(&mut settings)?;
        let casting = agents::cast(Tune::ROLES, &settings, env, BuiltIn::Knows)
            .map_err(|complaint| naming(complaint, &project, env))?;
        let delivery = delivery(&settings.of::<TuneSettings>().delivery, &casting.of(&Role::EXECUTOR).agent)?;
        let pages = Pages::read(&settings)?;
        Ok(Self { project, members, settings, casting, delivery, pages, pinned: Vec::new() })
    }

    /// An answer goes over the files and under the flags.
    fn prefer(&mut self, preset: Preset, args: &TuneArgs) {
        self.settings.of_mut::<TuneSettings>().set_preset(preset, &Origin::Answer);
        lay_tune_flags(&mut self.settings, args);
    }

    /// What a page says is tried out here, if it is trusted: it is not, where nothing is run.
    fn request(
        mut self,
        mode: Mode,
        Tried { scenarios, starts, suite }: Tried,
        args: &TuneArgs,
        (is_attended, env): (bool, &Environment),
    ) -> Result<Request, Complaint> {
        let settings = &self.settings;
        let tune = settings.of::<TuneSettings>();
        let tools = tune.tools.value.into();
        let is_trusted = args.trust || !args.run.only_shows() || self.pages.are_trusted(settings, env);
        let prompts = if is_trusted { self.pages.checked()? } else { self.pages.texts() };
        if scenarios.iter().any(|scenario| scenario.tools.unwrap_or(tools) == Tools::Shell) {
            allow_shell(self.casting.of_mut(&Role::EXECUTOR), settings)?;
        }
        Ok(Request {
            purpose: Purpose::Improve,
            tools,
            mode,
            scenarios,
            starts,
            suite,
            held_out: tune.held_out.value,
            this_suite_only: args.this_suite_only,
            confines: system_confines(settings),
            rules: tune.rules(),
            apply: apply(&tune.apply, is_attended),
            fail_on: args.fail_on.rule(),
            prompts,
            pinned: self.pinned,
            seed: args.seed,
            project: self.project,
            members: self.members,
            casting: self.casting,
            delivery: self.delivery,
            settings: self.settings,
        })
    }
}

/// A person who is there is asked before their skill is replaced, unless they said otherwise themselves: a project's file
/// may be somebody else's. Nor does such a file alone send anything to a server.
fn apply(set: &Setting<ApplyWhen>, is_attended: bool) -> Apply {
    let is_theirs = set.origin.is_persons();
    match set.value.into() {
        Apply::Auto if is_attended && !is_theirs => Apply::Ask,
        Apply::Auto if !is_theirs => Apply::Unattended,
        Apply::Propose(Form::PullRequest) if !is_theirs => Apply::Propose(Form::Branch),
        apply => apply,
    }
}

/// Where settings were looked for is no riddle, unless the skill is in another project than whoever types.
pub fn naming(complaint: Complaint, project: &Path, env: &Environment) -> Complaint {
    if project == env.project_here() {
        return complaint;
    }
    complaint
        .hint(format!("skilltune uses the settings of the skill's project, {}", project.display()))
        .hint("pass --project DIR to use another project")
}

/// The built-in agent, for roles that nobody has: offered to a person, once, and never taken in silence.
struct StandIn<'a> {
    person: Option<&'a dyn Answers>,
    agreed: Option<bool>,
}

impl StandIn<'_> {
    fn fill(&mut self, settings: &mut Settings) -> Result<(), Complaint> {
        let PerRole { executor, evaluator, improver } = &mut settings.roles;
        let mut open =
            [executor, evaluator, improver].into_iter().filter(|role| role.value.is_none()).peekable();
        let Some(person) = self.person.filter(|_| open.peek().is_some()) else { return Ok(()) };
        let agreed = match self.agreed {
            Some(agreed) => agreed,
            None => person.agree(OFFER)?,
        };
        self.agreed = Some(agreed);
        for role in open.filter(|_| agreed) {
            role.set(Some(AgentSpec { agent: offline::NAME.to_owned(), model: None }), Origin::Answer);
        }
        Ok(())
    }
}

const OFFER: &str =
    "Some roles have no agent. Use the built-in agent for them? It needs no model and checks structure only.";

/// Whether no flag says how much the search may spend.
fn preset_matters(args: &TuneArgs) -> bool {
    args.preset.is_none() && args.runs.is_none() && args.max_iterations.is_none()
}

fn named_mode(args: &TuneArgs) -> Result<Option<Mode>, Complaint> {
    match (args.chain, args.mode) {
        (true, Some(ModeName::Single)) => {
            Err(Complaint::input("--chain and --mode single contradict each other")
                .hint("pass only one of them"))
        }
        (true, _) => Ok(Some(Mode::Chain)),
        (false, mode) => Ok(mode.map(Mode::from)),
    }
}

/// A chain of one is a single skill.
fn mode(named: Option<Mode>, skills: usize, asked: Option<&dyn Answers>) -> Result<Mode, Complaint> {
    match (named, asked) {
        _ if skills == 1 => Ok(Mode::Single),
        (Some(mode), _) => Ok(mode),
        (None, Some(person)) => questions::mode(person, skills),
        (None, None) => Ok(Mode::Single),
    }
}

fn targets(mut skills: Vec<Skill>, mode: Mode) -> Vec<Vec<Skill>> {
    match mode {
        Mode::Single => skills.into_iter().map(|skill| vec![skill]).collect(),
        Mode::Chain => {
            find::make_unique(&mut skills);
            vec![skills]
        }
    }
}

#[cfg(test)]
mod tests;
