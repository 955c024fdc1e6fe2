//! The request to `tune`, with nothing left to guess: skills, scenarios, rules, agents.
//!
//! Everything is looked up and checked here; only the user's trust is written.

use std::ops::ControlFlow;
use std::path::Path;

use skilltune_phases::asking::prompt::Prompts;
use skilltune_phases::base::delivery::Delivery;
use skilltune_phases::base::name::Name;
use skilltune_phases::base::role::Role;
use skilltune_phases::loops::tune::{self, Aim, Apply, FailOn, Rules, Tune};
use skilltune_phases::runs::proposal::Form;
use skilltune_phases::skills::offline;
use skilltune_phases::skills::target::Mode;
use skilltune_phases::suites::scenario::{Scenario, Tools};

use crate::args::overrides::apply_shared_flags;
use crate::args::suite::SuiteNewArgs;
use crate::casting::{BuiltIn, system_confines};
use crate::inputs::find;
use crate::inputs::find::Skill;
use crate::inputs::suite::{Starts, Suite};
use crate::loops::start::Common;
use crate::loops::tune::args::TuneArgs;
use crate::loops::tune::delivery::delivery;
use crate::loops::tune::older::Older;
use crate::loops::tune::prompts::Pages;
use crate::loops::tune::questions;
use crate::loops::tune::scenarios::{TaskSet, allow_shell, has_task, refuse_file};
use crate::loops::tune::search;
use crate::loops::tune::settings::{ApplyWhen, ModeName, Preset, TuneSettings};
use crate::loops::tune::task_source::{self, TaskQuestion};
use crate::loops::tune::versions::Version;
use crate::settings::Settings;
use crate::settings::origin::Origin;
use crate::settings::setting::Setting;
use crate::settings::values::AgentSpec;
use crate::terminal::complaint::Complaint;
use crate::terminal::environment::Environment;
use crate::terminal::questions::Answers;
use crate::trust::pinned::Pins;
use crate::trust::{Consent, Named, TrustStore};
use crate::{casting, trust};

/// One run: several skills that are not a chain are several requests.
#[derive(Clone, Debug)]
pub struct Invocation {
    pub common: Common,
    /// The plan of a comparison adds the trees.
    pub aim: Aim,
    /// One version of each member, or the two to compare; none if nothing is executed.
    pub versions: Vec<Version>,
    /// The run whose trials are regraded.
    pub older: Option<Older>,
    pub mode: Mode,
    pub members: Vec<Skill>,
    pub scenarios: Vec<Scenario>,
    pub starts: Starts,
    /// The source of the scenarios, if not the command line.
    pub suite: Option<tune::Suite>,
    /// The percentage of scenarios that is held out for the final comparison.
    pub held_out: u32,
    /// Whether the final comparison uses the scenarios of the search.
    pub this_suite_only: bool,
    pub rules: Rules,
    pub delivery: Delivery,
    pub tools: Tools,
    pub apply: Apply,
    pub fail_on: FailOn,
    pub prompts: Prompts,
    /// The prompts and the suite that a person has to trust before the run begins.
    pub untrusted: Option<Box<(Pages, Option<Suite>)>>,
    /// Whether the system confines the programs of the run to its folders.
    pub confines: bool,
    /// By default a hash of the inputs.
    pub seed: Option<u64>,
}

impl AsRef<Common> for Invocation {
    fn as_ref(&self) -> &Common {
        &self.common
    }
}

impl Invocation {
    /// Returns the request for trials that change nothing. The suite and the user's own pages are not trusted yet.
    pub fn of_trials(
        (aim, versions): (Aim, Vec<Version>),
        common: Common,
        delivery: Delivery,
        members: Vec<Skill>,
        TaskSet { scenarios, starts, suite }: TaskSet,
        untrusted: (Pages, Option<Suite>),
    ) -> Self {
        let tune = common.settings.of::<TuneSettings>();
        Self {
            aim,
            versions,
            older: None,
            mode: if members.len() > 1 { Mode::Chain } else { Mode::Single },
            scenarios,
            starts,
            suite,
            held_out: 0,
            this_suite_only: false,
            rules: tune.rules(),
            delivery,
            tools: tune.tools.value.into(),
            apply: Apply::Never,
            fail_on: FailOn::default(),
            prompts: Prompts::default(),
            untrusted: Some(Box::new(untrusted)),
            confines: system_confines(&common.settings),
            seed: None,
            members,
            common,
        }
    }
}

/// Turns a command line into requests, and asks the user, if there is one, what the flags leave open. `Break` has the
/// arguments to have a suite drafted first, if the user wants that.
pub fn invocations(
    args: &TuneArgs,
    env: &Environment,
    person: Option<&dyn Answers>,
) -> Result<ControlFlow<SuiteNewArgs, Vec<Invocation>>, Complaint> {
    let asked = person.filter(|_| !args.run.yes);
    let skills = find::skills(args.skill_list(), env)?;
    refuse_file(args, env)?;
    let named = named_mode(args)?;
    let given = read_suite(args, env)?;
    // Missing settings are reported before anything is asked.
    let mut stand_in = StandIn { person: asked, agreed: None };
    let first = Draft::new(skills[..1].to_vec(), args, env, &mut stand_in)?;
    search::wish(first.common.settings.of())?;
    let mode = mode(named, skills.len(), asked)?;
    let args = &match asked.filter(|_| first.needs_task(args)) {
        Some(person) => match task_source::completed(args, first.task_question(&skills, mode), person)? {
            ControlFlow::Continue(args) => args,
            ControlFlow::Break(draft) => return Ok(ControlFlow::Break(draft)),
        },
        None => args.clone(),
    };
    let suite = if given.is_some() { given } else { read_suite(args, env)? };
    let preset = asked_preset(args, asked, &first.common.settings)?;
    let drafts =
        targets(skills, mode).into_iter().map(|members| Draft::new(members, args, env, &mut stand_in));
    let mut drafts = drafts.collect::<Result<Vec<Draft>, Complaint>>()?;
    if let Some(preset) = preset {
        for draft in &mut drafts {
            draft.prefer(preset, args);
        }
    }
    // Last, because it may write; and a dry run runs nothing.
    if !args.run.only_shows() {
        pin(&mut drafts, suite.as_ref(), env, Consent::of(args.trust, asked))?;
    }
    // What is only shown is not trusted yet.
    let shown = args.run.only_shows().then(|| suite.clone());
    let given = TaskSet::given(args, suite)?;
    let named: Vec<Skill> = drafts.iter().flat_map(|draft| draft.members.clone()).collect();
    let invocations = drafts.into_iter().map(|draft| {
        let untrusted = shown.clone().map(|suite| Box::new((draft.pages.clone(), suite)));
        let task_set = match (&given, draft.members.as_slice()) {
            (Some(given), _) => given.clone(),
            (None, [skill]) => TaskSet::of(args, Suite::beside(&skill.path)?)?,
            (None, _) => TaskSet::of(args, None)?,
        };
        let task_set = task_set.of_skills(&draft.members);
        task_set
            .check(&draft.members, &draft.delivery, env)
            .map_err(|complaint| together(complaint, &task_set, &draft.members, &named))?;
        let invocation = draft.invocation(mode, task_set, args, (asked.is_some(), env))?;
        Ok(Invocation { untrusted, ..invocation })
    });
    invocations.collect::<Result<_, _>>().map(ControlFlow::Continue)
}

/// Asks how much the search may spend, if nothing says it.
fn asked_preset(
    args: &TuneArgs,
    person: Option<&dyn Answers>,
    settings: &Settings,
) -> Result<Option<Preset>, Complaint> {
    let usual = settings.of::<TuneSettings>().preset.value;
    person.filter(|_| preset_matters(args)).map(|person| questions::preset(person, usual)).transpose()
}

/// Adds a hint if the tasks have statements about a named skill that this run does not try.
fn together(complaint: Complaint, task_set: &TaskSet, members: &[Skill], named: &[Skill]) -> Complaint {
    let demands = task_set.scenarios.iter().flat_map(|scenario| &scenario.demands);
    let is_in = |skills: &[Skill], name: &str| skills.iter().any(|skill| skill.name == name);
    let mut about = demands.filter_map(|demand| demand.member.as_ref()).map(Name::as_str);
    if about.any(|name| is_in(named, name) && !is_in(members, name)) {
        complaint.hint("pass --chain to tune them together")
    } else {
        complaint
    }
}

/// Reads the suite that the command line names, if any.
fn read_suite(args: &TuneArgs, env: &Environment) -> Result<Option<Suite>, Complaint> {
    let mut suite = args.suite.as_ref().map(|path| Suite::read(&env.cwd.join(path))).transpose()?;
    if args.given.has("tune.tools") {
        // A flag overrides files.
        let scenarios = suite.iter_mut().flat_map(|suite| &mut suite.scenarios);
        scenarios.for_each(|scenario| scenario.tools = None);
    }
    Ok(suite)
}

/// Asks for trust in the agents, the prompts and the suite, and pins their files.
fn pin(
    drafts: &mut [Draft],
    suite: Option<&Suite>,
    env: &Environment,
    consent: Consent<'_>,
) -> Result<(), Complaint> {
    for draft in &mut *drafts {
        let Common { casting, settings, pinned, .. } = &mut draft.common;
        let of_agents = casting::ensure_trusted(casting, settings, env, None, consent)?;
        draft.pages.ensure_trusted(settings, env, consent)?;
        pinned.extend(of_agents);
    }
    let of_suite = suite.map(|suite| ensure_trusted(suite, env, consent)).transpose()?;
    for draft in drafts {
        draft.common.pinned.extend(of_suite.clone().flatten());
    }
    Ok(())
}

/// Asks for trust if a suite has programs to run. Returns the files that they are, or read.
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

/// A request that may still need answers.
struct Draft {
    common: Common,
    members: Vec<Skill>,
    delivery: Delivery,
    pages: Pages,
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
        apply_shared_flags(&mut settings, args.agent.as_ref(), args.calls.timeout, &args.given);
        casting::fill(&mut settings, env);
        stand_in.fill(&mut settings)?;
        let casting = casting::cast(Tune::ROLES, &settings, env, BuiltIn::Knows)
            .map_err(|complaint| naming(complaint, &project, env))?;
        let delivery = delivery(&settings.of::<TuneSettings>().delivery, &casting.of(&Role::EXECUTOR).agent)?;
        let pages = Pages::read(&settings)?;
        let common = Common { project, settings, casting, pinned: Vec::new(), epoch: args.run.epoch() };
        Ok(Self { common, members, delivery, pages })
    }

    /// Returns whether the command line lacks a task. The built-in judge needs none: it only reads the skill.
    fn needs_task(&self, args: &TuneArgs) -> bool {
        let is_judged = !self.common.casting.of(&Role::EVALUATOR).agent.is_built_in();
        args.suite.is_none() && !has_task(args) && is_judged
    }

    fn task_question<'a>(&'a self, skills: &'a [Skill], mode: Mode) -> TaskQuestion<'a> {
        let Common { project, settings, .. } = &self.common;
        TaskQuestion { skills, mode, project, improver: settings.roles.improver.value.as_ref() }
    }

    /// Sets the preset that was answered: it overrides files, and flags override it.
    fn prefer(&mut self, preset: Preset, args: &TuneArgs) {
        self.common.settings.of_mut::<TuneSettings>().set_preset(preset, &Origin::Answer);
        apply_shared_flags(&mut self.common.settings, args.agent.as_ref(), args.calls.timeout, &args.given);
    }

    /// Builds the request and tries out its prompts, if they are trusted. They are not if nothing is run.
    fn invocation(
        mut self,
        mode: Mode,
        TaskSet { scenarios, starts, suite }: TaskSet,
        args: &TuneArgs,
        (is_attended, env): (bool, &Environment),
    ) -> Result<Invocation, Complaint> {
        let is_trusted =
            args.trust || !args.run.only_shows() || self.pages.are_trusted(&self.common.settings, env);
        let prompts = if is_trusted { self.pages.checked()? } else { self.pages.texts() };
        allow_shell(&mut self.common, &scenarios)?;
        let settings = &self.common.settings;
        let tune = settings.of::<TuneSettings>();
        Ok(Invocation {
            aim: Aim::Improve,
            versions: self.members.iter().cloned().map(Version::Folder).collect(),
            older: None,
            tools: tune.tools.value.into(),
            mode,
            scenarios,
            starts,
            suite,
            held_out: tune.held_out.value,
            this_suite_only: args.this_suite_only,
            confines: system_confines(settings),
            rules: Rules { extensions: args.extensions, ..tune.rules() },
            apply: apply(&tune.apply, is_attended),
            fail_on: args.fail_on.rule(),
            prompts,
            untrusted: None,
            seed: args.seed,
            members: self.members,
            delivery: self.delivery,
            common: self.common,
        })
    }
}

/// Decides how to apply. A user who is present is asked before their skill is replaced, unless they set something else:
/// a project's file may be someone else's. Such a file alone does not send anything to a server either.
fn apply(set: &Setting<ApplyWhen>, is_attended: bool) -> Apply {
    let is_theirs = set.origin.is_persons();
    match set.value.into() {
        Apply::Auto if is_attended && !is_theirs => Apply::Ask,
        Apply::Auto if !is_theirs => Apply::Unattended,
        Apply::Propose(Form::PullRequest) if !is_theirs => Apply::Propose(Form::Branch),
        apply => apply,
    }
}

/// Adds where settings were looked for, if the skill is in another project than the user's folder.
pub fn naming(complaint: Complaint, project: &Path, env: &Environment) -> Complaint {
    if project == env.project_here() {
        return complaint;
    }
    complaint
        .hint(format!("skilltune uses the settings of the skill's project, {}", project.display()))
        .hint("pass --project DIR to use another project")
}

/// The built-in agent for roles without an agent: offered to the user once, and never used silently.
struct StandIn<'a> {
    person: Option<&'a dyn Answers>,
    agreed: Option<bool>,
}

impl StandIn<'_> {
    fn fill(&mut self, settings: &mut Settings) -> Result<(), Complaint> {
        let roles = settings.roles.required_mut();
        let mut open = roles.into_iter().filter(|role| role.value.is_none()).peekable();
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

/// Returns whether no flag says how much the search may spend.
fn preset_matters(args: &TuneArgs) -> bool {
    !["tune.preset", "tune.runs", "tune.max_iterations"].iter().any(|key| args.given.has(key))
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

/// Chooses the mode. A chain of one is a single skill.
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
