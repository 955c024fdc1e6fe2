//! The request to `reflex new`, with nothing left to guess: task, criteria, agents.

use std::path::{Path, PathBuf};

use skilltune_orchestrator::process::can_confine;
use skilltune_phases::loops::reflex::criteria::{Criteria, Template, Weights};
use skilltune_phases::loops::reflex::original::Alias;
use skilltune_phases::loops::reflex::{Bounds, Reflex, Rules, Setup};
use skilltune_phases::suites::checks::RunThem;

use crate::args::overrides::{apply_shared_flags, override_with};
use crate::casting;
use crate::casting::system_confines;
use crate::inputs::task;
use crate::loops::reflex::args::new::{NewArgs, TaskSource};
use crate::loops::reflex::rules_file::RulesFile;
use crate::loops::reflex::settings::ReflexSettings;
use crate::loops::reflex::setup::{self, SetupAnswers};
use crate::loops::reflex::{context, out};
use crate::loops::start::Common;
use crate::settings::{Settings, proposed};
use crate::terminal::complaint::Complaint;
use crate::terminal::environment::Environment;
use crate::terminal::questions::{Answers, Person};

#[derive(Debug)]
pub struct Invocation {
    pub common: Common,
    pub evolution: String,
    pub prompt: String,
    pub ideal: String,
    /// The rules so far: those of the template, of a file, and of the user.
    pub criteria: Criteria,
    /// The source of the rules that are not there yet.
    pub setup: Setup,
    pub rules: Rules,
    pub commands: RunThem,
    pub rules_file: Option<RulesFile>,
    /// The user's pages, beside those that the project has by itself.
    pub context: Vec<(String, Vec<u8>)>,
    pub alias: Option<Alias>,
    pub out: Option<PathBuf>,
    /// Whether the system confines the programs of the run to its folders.
    pub confines: bool,
    pub seed: Option<u64>,
}

impl AsRef<Common> for Invocation {
    fn as_ref(&self) -> &Common {
        &self.common
    }
}

impl Invocation {
    pub fn new(args: &NewArgs, env: &Environment) -> Result<Self, Complaint> {
        let person = Person::present(env).filter(|_| !args.run.yes);
        let prompt = asked_task(args, env, person)?;
        let out = args.out.as_ref().map(|path| out::free(&env.named(path)?)).transpose()?;
        let project = env.project_here();
        let mut settings = crate::loops::settings(&project, env)?;
        apply_flags(&mut settings, args);
        casting::fill(&mut settings, env);
        let casting = casting::cast_models(Reflex::ROLES, &settings, env, "write texts")?;
        let rules_file = args.rules.as_ref().map(|path| RulesFile::read(&env.named(path)?)).transpose()?;
        let reflex = settings.of::<ReflexSettings>();
        let weights = reflex.weights();
        let answers = setup_answers(args, &prompt, weights, person)?;
        let mut criteria = reflex.criteria(answers.template);
        answers.must.into_iter().for_each(|rule| criteria.set(rule));
        if let Some(file) = &rules_file {
            file.apply(&mut criteria, weights)?;
            criteria.thresholds = args.thresholds.unwrap_or(criteria.thresholds);
        }
        let proposals = proposals(args, answers.template, criteria.rules.len(), reflex.proposals.value)?;
        if let Some(fault) = criteria.fault().filter(|_| proposals.is_none()) {
            return Err(Complaint::input(format!("cannot judge the text: {fault}"))
                .hint("pass other --rules, or --template"));
        }
        let named = args.context.iter().cloned().chain(answers.context.iter().map(PathBuf::from));
        let context = named.map(|path| context::named(&env.named(&path)?)).collect::<Result<_, _>>()?;
        Ok(Self {
            evolution: reflex.evolution.value.as_path().display().to_string(),
            confines: system_confines(&settings),
            seed: args.seed,
            ideal: args.ideal.clone().or(answers.ideal).unwrap_or_default(),
            setup: Setup { proposals, major: answers.major.unwrap_or_default(), weights },
            rules: reflex.rules(),
            commands: proposed::confined(
                reflex.run_them()?,
                "--checks",
                settings.limits.confine.value,
                can_confine(),
            )?,
            criteria,
            rules_file,
            context,
            prompt,
            alias: args.alias.clone(),
            out,
            common: Common { project, settings, casting, pinned: Vec::new(), epoch: args.run.epoch() },
        })
    }
}

/// Applies the flags of `reflex`, which override files. `--thresholds` is for texts of any kind.
pub fn apply_flags(settings: &mut Settings, args: &NewArgs) {
    apply_shared_flags(settings, args.agent.as_ref(), args.calls.timeout, &args.given);
    let reflex = settings.of_mut::<ReflexSettings>();
    let (a, b) = (args.thresholds.map(|both| both.a), args.thresholds.map(|both| both.b));
    override_with(&mut reflex.threshold_a, a, "--thresholds");
    override_with(&mut reflex.docs_threshold_a, a, "--thresholds");
    override_with(&mut reflex.threshold_b, b, "--thresholds");
    override_with(&mut reflex.docs_threshold_b, b, "--thresholds");
}

/// Returns the kind of text, and the user's other answers if they are asked. A task that shows no kind is `other`: its
/// rules are proposed for it.
fn setup_answers(
    args: &NewArgs,
    prompt: &str,
    weights: Weights,
    person: Option<&dyn Answers>,
) -> Result<SetupAnswers, Complaint> {
    let kind = args.template.map(Template::from).or(args.rules.is_some().then_some(Template::Other));
    let guess = Template::guess(prompt);
    if let Some(person) = person.filter(|_| kind.is_none() && !args.run.only_shows()) {
        return setup::asked(guess, weights, person);
    }
    Ok(SetupAnswers::only(kind.or(guess).unwrap_or(Template::Other)))
}

/// Returns how many rules the evaluator proposes: none if the user wrote rules, unless they ask for some; more if no
/// template has any.
fn proposals(
    args: &NewArgs,
    template: Template,
    known: usize,
    most: u32,
) -> Result<Option<Bounds>, Complaint> {
    const LEAST: usize = 4;
    const LIKE_A_TEMPLATE: usize = 8;
    let most = most as usize;
    match (args.rules.is_some(), template) {
        (true, _) if !args.given.has("reflex.proposals") => Ok(None),
        (false, Template::Other) if most == 0 => {
            Err(Complaint::input("cannot judge a text of kind `other`: it has no rules")
                .hint("pass --rules FILE, another --template, or --proposals N for rules of the evaluator"))
        }
        (false, Template::Other) => {
            Ok(Some(Bounds { least: LEAST.saturating_sub(known), most: LIKE_A_TEMPLATE + most }))
        }
        _ => Ok(Some(Bounds { least: 0, most }).filter(|bounds| bounds.most > 0)),
    }
}

/// Returns the task's text, from the command line, a file, or standard input.
fn asked_task(args: &NewArgs, env: &Environment, person: Option<&dyn Answers>) -> Result<String, Complaint> {
    let text = match (args.source(), person) {
        (TaskSource::Words(words), _) => words.to_owned(),
        (TaskSource::Stdin, _) => task::read_stdin()?,
        (TaskSource::File(path), _) => task::read_file(&env.named(Path::new(path))?)?,
        (TaskSource::Nowhere, Some(person)) => person
            .line("What should skilltune write?", "in a sentence or two, as you would ask somebody")?
            .unwrap_or_default(),
        (TaskSource::Nowhere, None) => String::new(),
    };
    let text = text.trim();
    if text.is_empty() {
        return Err(Complaint::input("no task")
            .hint("describe the text to write: skilltune reflex \"the API page of our orders service\""));
    }
    Ok(text.to_owned())
}
