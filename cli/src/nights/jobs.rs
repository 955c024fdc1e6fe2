//! Turns an entry of the file into the command that a user would type, and into its state tonight.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use clap::Parser;
use skilltune_orchestrator::snapshot::Objects;
use skilltune_orchestrator::store::Home;
use skilltune_phases::base::ceiling::Ceilings;
use skilltune_phases::base::id::Digest;
use skilltune_phases::base::name::Name;
use skilltune_phases::base::role::Role;
use skilltune_phases::loops::Loop as _;
use skilltune_phases::loops::tune::{self, Tune};
use skilltune_phases::nights::night::{Key, Left, Wish, Work};
use skilltune_phases::runs::plan::{Roles, RunId};

use crate::inputs::find;
use crate::inputs::find::Skill;
use crate::loops::start;
use crate::loops::tune::args::TuneArgs;
use crate::loops::tune::invocation;
use crate::nights::file::{JobEntry, NightPlan, Skills};
use crate::report::ui::Ui as _;
use crate::runs::ownership::Ownership;
use crate::runs::{RunStatus, Runs};
use crate::terminal::complaint::Complaint;
use crate::terminal::environment::Environment;
use crate::text::plain::one_line;

/// The confidence needed to replace a skill without a person, unless the job sets another.
const UNATTENDED: &str = "0.95";

/// What would be typed for a search: its first word is the command.
#[derive(Parser)]
struct Line {
    #[command(flatten)]
    tune: TuneArgs,
}

/// One target of tonight.
#[derive(Clone, Debug)]
pub struct Job {
    pub name: Name,
    pub entry: JobEntry,
    /// The skills, as the commands take them.
    pub skills: String,
    is_chain: bool,
    /// What to do with a winner.
    pub apply: String,
    /// The workers that make its calls, if not those of the settings. The file of jobs cannot name any.
    pub workers: Option<String>,
}

/// A job that can run now.
#[derive(Clone, Debug)]
pub struct Ready {
    pub job: Job,
    pub wish: Wish,
    /// The project that contains its runs.
    pub project: PathBuf,
    /// Its agents as text: if one of them is unreachable, the other jobs that need it wait too.
    pub agents: Vec<String>,
    /// The names of its agents in the settings.
    pub agent_names: BTreeSet<String>,
    /// The target's name for people.
    pub shown: String,
}

/// Returns all jobs of the file, each with a unique name.
pub fn all(plan: &NightPlan) -> Result<Vec<Job>, Complaint> {
    let mut jobs: Vec<Job> = Vec::new();
    for entry in &plan.content.jobs {
        for (skills, is_chain) in targets(&entry.skill, plan)? {
            let names =
                skills.split(',').map(|path| path.rsplit('/').find(|part| !part.is_empty()).unwrap_or(path));
            let short = names.collect::<Vec<_>>().join("-");
            let is_one_of_many = matches!(&entry.skill, Skills::One(one) if one.ends_with("/*"));
            let name = match &entry.name {
                Some(name) if is_one_of_many => format!("{name}-{short}"),
                Some(name) => name.clone(),
                None => short,
            };
            let bad =
                |why: &str| Complaint::input(format!("{}: job {name:?} {why}", plan.file.path.display()));
            let is_typed = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
            let unfit = || {
                bad("needs a name of letters, digits, `-`, `_` and `.`")
                    .hint("set `name`, or rename the skill's folder")
            };
            let name: Name = name.parse().map_err(|_| unfit())?;
            if !name.starts_with(char::is_alphanumeric) || !name.chars().all(is_typed) {
                return Err(unfit());
            }
            if jobs.iter().any(|job| job.name == name) {
                return Err(bad("is defined twice").hint("give one of them another `name`"));
            }
            jobs.push(Job {
                name,
                entry: entry.clone(),
                skills,
                is_chain,
                apply: entry.apply.clone().unwrap_or_else(|| usual(plan).to_owned()),
                workers: None,
            });
        }
    }
    Ok(jobs)
}

/// Returns the default for a winner: it waits for a review, as a branch if there is a repository.
fn usual(plan: &NightPlan) -> &'static str {
    let is_repository = |folder: &std::path::Path| {
        let git = folder.join(".git");
        git.is_file() || git.join("HEAD").is_file()
    };
    if plan.folder.ancestors().any(is_repository) { "branch" } else { "never" }
}

/// Returns the lists of skills that an entry names.
fn targets(skill: &Skills, plan: &NightPlan) -> Result<Vec<(String, bool)>, Complaint> {
    match skill {
        Skills::Chain(many) => Ok(vec![(many.join(","), many.len() > 1)]),
        Skills::One(one) => match one.strip_suffix("/*") {
            None => Ok(vec![(one.clone(), false)]),
            Some(folder) => {
                let folder = plan.folder.join(folder);
                let shelf = skilltune_orchestrator::disk::SafePath::from(folder.as_path());
                let mut names = shelf.names().map_err(|error| {
                    Complaint::input(format!("cannot read {}", folder.display())).caused_by(error)
                })?;
                names.sort();
                let skills =
                    names.iter().map(|name| folder.join(name)).filter(|path| path.join("SKILL.md").is_file());
                let skills = skills.filter_map(|path| Some((path.to_str()?.to_owned(), false)));
                Ok(skills.filter(|(path, _)| !path.contains(',')).collect())
            }
        },
    }
}

impl Job {
    /// Returns the job's current state, or why it cannot run. `undecided` is the run of its last verdict, if
    /// that is open and was not dismissed.
    pub fn ready(
        &self,
        plan: &NightPlan,
        undecided: Option<&RunId>,
        env: &Environment,
    ) -> Result<Ready, Left> {
        let env = Environment { cwd: plan.folder.clone(), ..env.clone() };
        let skills = find::skills(&self.skills, &env).map_err(|error| refused(&error.into()))?;
        let targets: Vec<PathBuf> = skills.iter().map(|skill| skill.path.clone()).collect();
        let project = env.project_of(&targets[0]);
        let runs = Runs::of(&project, &env).map_err(|error| refused(&error))?;
        let open = runs.open::<Tune>(&targets);
        let unfinished = open.as_ref().map(|known| known.run.plan.run.clone());
        if open.is_some_and(|known| matches!(runs.status(&known.run), RunStatus::Running { .. })) {
            return Err(Left::Busy { why: "another command works on its skill".into() });
        }
        let planned = self.planned(plan, &project, &env).map_err(|error| refused(&error))?;
        let suite = planned.task.scenarios.iter().cloned().map(|mut one| {
            one.held_out = false;
            one
        });
        let hidden: Vec<_> = planned.task.target.members.iter().map(|member| &member.hidden).collect();
        let suite = (suite.collect::<Vec<_>>(), hidden);
        let suite = serde_json::to_vec(&suite).expect("scenarios have a JSON text");
        let key = key(planned.start().id.0, Digest::of(&suite), &planned.roles);
        let wish = Wish {
            key,
            scenarios: planned.task.scenarios.iter().map(|one| one.id.clone()).collect(),
            priority: self.entry.priority,
            unfinished,
            sample: self.entry.sample,
            retries: self.entry.retries,
            extendable: undecided.filter(|run| is_extendable(run, &planned, &runs, &env)).cloned(),
        };
        let agents = planned.roles.values().map(skilltune_phases::runs::plan::Cast::shown).collect();
        let agent_names = planned.roles.values().map(|cast| cast.agent.clone()).collect();
        let shown = skills.iter().map(|skill: &Skill| one_line(&skill.name)).collect::<Vec<_>>().join(" -> ");
        Ok(Ready { job: self.clone(), wish, project, agents, agent_names, shown })
    }

    /// Plans the run that would tune it, with the files that its scenarios bring. Any money limit of the night applies
    /// to that run, so an agent whose cost is unknown is refused here.
    fn planned(
        &self,
        plan: &NightPlan,
        project: &std::path::Path,
        env: &Environment,
    ) -> Result<tune::Plan, Complaint> {
        let usd = self.entry.limits.usd.or(plan.content.night.usd).or(plan.content.week.usd);
        let args = self.tune_args(usd)?;
        let invocations = invocation::invocations(&args, env, None)?.continue_value();
        let mut invocation = invocations.expect("a draft is wanted only by a person").remove(0);
        let home = Home::of(project);
        home.create().map_err(crate::runs::strange)?;
        invocation.scenarios =
            invocation.starts.scenarios(&invocation.scenarios, &Objects::at(home.objects()))?;
        start::plan::<Tune>(&invocation, &home, env, None)
    }

    fn tune_args(&self, usd: Option<f64>) -> Result<TuneArgs, Complaint> {
        let mut words = self.tune();
        words.splice(1..1, usd.map(|usd| format!("--max-usd={usd}")));
        match Line::try_parse_from(&words) {
            Ok(line) => Ok(line.tune),
            Err(error) => {
                let text = error.to_string();
                let why = text.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned();
                Err(Complaint::input(format!("job {}: {}", self.name, one_line(&why))))
            }
        }
    }

    fn tune(&self) -> Vec<String> {
        let entry = &self.entry;
        let mut words: Vec<String> = vec!["tune".to_owned(), "--yes".to_owned()];
        let mut flag = |name: &str, value: Option<String>| {
            if let Some(value) = value {
                words.push(format!("--{name}={value}"));
            }
        };
        flag("preset", entry.preset.clone());
        flag("runs", entry.runs.map(|runs| runs.to_string()));
        flag("apply", Some(self.apply.clone()));
        let usual = (self.apply == "auto").then(|| UNATTENDED.to_owned());
        flag("confidence", entry.confidence.map(|one| one.to_string()).or(usual));
        flag("extensions", (entry.retries > 0).then(|| entry.retries.to_string()));
        flag("improver", entry.improver.clone());
        words.extend(self.shared());
        words.extend(self.of_what());
        words
    }

    /// Returns the arguments that `tune` and `calibrate` share.
    fn shared(&self) -> Vec<String> {
        let entry = &self.entry;
        let suite = entry.suite.as_ref().map(|path| path.display().to_string());
        let agents = [&entry.agent, &entry.executor, &entry.evaluator].map(Clone::clone);
        let [agent, executor, evaluator] = agents;
        let workers = ("workers", self.workers.clone());
        let flags =
            [("suite", suite), ("agent", agent), ("executor", executor), ("evaluator", evaluator), workers];
        flags.into_iter().filter_map(|(name, value)| Some(format!("--{name}={}", value?))).collect()
    }

    fn of_what(&self) -> Vec<String> {
        let chain = self.is_chain.then(|| "--chain".to_owned());
        chain.into_iter().chain(["--".to_owned(), self.skills.clone()]).collect()
    }

    /// Returns the command line of a piece of work with these limits.
    pub fn line(&self, work: &Work, most: Ceilings) -> Vec<String> {
        let (mut words, rest) = match work {
            Work::Tune => (vec!["tune".to_owned()], self.tune()[1..].to_vec()),
            Work::Resume { run } => (vec!["resume".to_owned(), "--yes".to_owned()], vec![run.to_string()]),
            Work::Extend { run } => {
                (["resume", "--yes", "--extend"].map(str::to_owned).to_vec(), vec![run.to_string()])
            }
            Work::Measure { only } | Work::Again { only } => {
                let only = only.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
                let first = ["calibrate", "--yes", "--fresh", "--trials=1"].map(str::to_owned);
                let rest = [vec![format!("--only={only}")], self.shared(), self.of_what()].concat();
                (first.to_vec(), rest)
            }
        };
        words.push("--format=json".to_owned());
        words.extend(most.usd.map(|usd| format!("--max-usd={usd:.4}")));
        words.extend(most.tokens.map(|tokens| format!("--max-tokens={tokens}")));
        words.extend(most.calls.map(|calls| format!("--max-calls={calls}")));
        words.extend(most.keep_free.map(|free| format!("--keep-free={free}")));
        words.extend(rest);
        words
    }
}

/// Returns whether the comparison of a run can be extended on the terms of the job as it is now. The journal of nights
/// could name any run, so it must be this user's own, of the same skill.
fn is_extendable(run: &RunId, planned: &tune::Plan, runs: &Runs, env: &Environment) -> bool {
    let Ok(known) = runs.load::<Tune>(run) else { return false };
    let before: &tune::Plan = &known.run.plan;
    let terms = |plan: &tune::Plan| (plan.task.apply, plan.task.rules.confidence);
    Tune::reopening(&known.run).is_some()
        && Tune::targets(before) == Tune::targets(planned)
        && before.start_id() == planned.start_id()
        && terms(before) == terms(planned)
        && Ownership::new(env).require(&known).is_ok()
}

/// Returns the key of a measurement. It covers executor and judge only: the improver of a skill does not change its
/// score.
pub fn key(skill: Digest, suite: Digest, roles: &Roles) -> Key {
    let both = [Role::EXECUTOR, Role::EVALUATOR];
    let both = || both.iter().filter_map(|role| Some((role, roles.get(role)?)));
    let shown: Vec<String> = both().map(|(_, cast)| cast.shown()).collect();
    Key {
        skill,
        suite,
        agents: both().map(|(role, cast)| (role.as_str().to_owned(), cast.fingerprint.clone())).collect(),
        models: BTreeMap::new(),
        shown: shown.join(" and ").into(),
    }
}

pub fn refused(complaint: &Complaint) -> Left {
    let why = complaint.in_one_line();
    let hint = complaint.hints.first().map(|hint| format!(" ({})", one_line(hint))).unwrap_or_default();
    Left::Refused { why: (why + &hint).into() }
}
