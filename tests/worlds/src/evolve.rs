//! A run of `evolve`: a small specification, and scripts for its agents, its commands and the person.
//!
//! A tree has the merged work in it and nothing else: `t1.2` is the second work on the task `t1`. Each answer follows
//! from its step and from the run, so that a run is the same at any number of jobs.

mod evidence;
mod naming;
mod random;
mod scripts;

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::fmt;

use skilltune_phases::base::id::TreeId;
use skilltune_phases::loops::Loop as _;
use skilltune_phases::loops::evolve::amendment::Amendment;
use skilltune_phases::loops::evolve::course::Persona;
use skilltune_phases::loops::evolve::decision::Due;
use skilltune_phases::loops::evolve::evaluation::{Holds, Judgement, StatementVerdict};
use skilltune_phases::loops::evolve::oracle::{Interface, Probed, Proposal};
use skilltune_phases::loops::evolve::plan::{Class, Classified, Group, Item, Planned};
use skilltune_phases::loops::evolve::spec::{Criterion, Id, Priority};
use skilltune_phases::loops::evolve::step::{
    Choice, Command, CommandEnd, Consensus, Drift, Integrated, Integration, Perspective, Question, Relevant,
};
use skilltune_phases::loops::evolve::weakened::Weakening;
use skilltune_phases::loops::evolve::{Answer, Evolve, Plan, Run, Step};
use skilltune_phases::loops::shared::commands::Stage;
use skilltune_phases::runs::event::{self, FailureKind};
use skilltune_phases::runs::run::Fold as _;

use crate::drive::{self, bare_prompt, failed, tree};

pub use evidence::{green, neither, oracle, red};
pub use scripts::{
    adding, broken, changing, constraining, counting, criterion, described, drift, failing, passed, task,
    weakening,
};

pub type Drive = drive::Drive<Evolve>;
pub type Outcome = event::Outcome<Answer>;

impl drive::TestLoop for Evolve {}

/// The merged work in a tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Content {
    works: BTreeSet<String>,
    /// The number of the wrong version that it is, if it is one.
    wrong: Option<u32>,
}

impl Content {
    pub fn has(&self, work: &str) -> bool {
        self.works.contains(work)
    }

    pub fn wrong(&self) -> Option<u32> {
        self.wrong
    }

    /// Whether it has any work on this task.
    pub fn has_task(&self, task: &str) -> bool {
        self.works.iter().any(|work| work.rsplit_once('.').is_some_and(|(of, _)| of == task))
    }

    pub fn name(&self) -> String {
        let works: Vec<&str> = self.works.iter().map(String::as_str).collect();
        let wrong = self.wrong.map(|number| format!("!{number}")).unwrap_or_default();
        format!("{}{wrong}", if works.is_empty() { "base".to_owned() } else { works.join("+") })
    }

    fn with(&self, work: &str) -> Self {
        let works = self.works.iter().cloned().chain([work.to_owned()]).collect();
        Self { works, ..self.clone() }
    }
}

/// What a judge finds in a tree.
#[derive(Clone, Debug)]
pub struct Judged {
    /// The criteria that are met; none for all.
    pub met: Option<Vec<String>>,
    /// Whether every constraint holds.
    pub holds: bool,
    /// Whether the statements of the goal hold; those that are not here do.
    pub statements: Vec<Holds>,
}

impl Judged {
    /// Everything holds.
    pub fn all() -> Self {
        Self { met: None, holds: true, statements: Vec::new() }
    }

    /// Everything holds except the other criteria.
    pub fn only(met: &[&str]) -> Self {
        Self { met: Some(met.iter().map(|id| (*id).to_owned()).collect()), ..Self::all() }
    }
}

/// A plan, and what everybody answers in its run. In a new world everything succeeds at once.
#[expect(clippy::type_complexity, reason = "each answer is a function of what it depends on")]
pub struct World {
    pub plan: Plan,
    pub statements: Vec<String>,
    pub tasks: Vec<Item>,
    /// The experts that are relevant to tasks.
    pub matched: Vec<Relevant>,
    /// What an expert, known by its number, says about a task.
    pub advises: Box<dyn Fn(&str, usize) -> String>,
    /// The tasks for new criteria.
    pub more: Box<dyn Fn(&Run, u32) -> Vec<Item>>,
    /// Whether the project has a command for a stage.
    pub has: Box<dyn Fn(Stage, &Content) -> bool>,
    pub ends: Box<dyn Fn(Stage, &Content) -> CommandEnd>,
    /// Whether an executor fails at a work.
    pub fails: Box<dyn Fn(&str) -> bool>,
    /// What an executor says of its work.
    pub summary: Box<dyn Fn(&str) -> String>,
    /// Whether a work cannot be merged into a tree.
    pub conflicts: Box<dyn Fn(&str, &Content) -> bool>,
    pub diff: String,
    /// The drift that is found in a batch.
    pub drifts: Box<dyn Fn(usize) -> Vec<Drift>>,
    /// The result of the check of a criterion; none if it cannot start.
    pub check: Box<dyn Fn(&str, &Content) -> Option<bool>>,
    /// The names that work has to provide.
    pub interface: Interface,
    /// The oracle of a criterion, by how often it was mended.
    pub proposes: Box<dyn Fn(&str, u32) -> Proposal>,
    /// How the oracle of a criterion ends.
    pub probe: Box<dyn Fn(&str, u32, &Content) -> Probed>,
    /// Whether a person lets checks and oracles run.
    pub allows: bool,
    /// What a person says of a disputed criterion.
    pub settle: Box<dyn Fn(&str) -> Choice>,
    /// The number of wrong versions for a criterion.
    pub spoils: Box<dyn Fn(&str) -> u32>,
    /// Whether executors cannot read the files of the run.
    pub is_blind: bool,
    /// What the judge finds, by the number of evaluations before.
    pub judge: Box<dyn Fn(usize, &Content) -> Judged>,
    pub amend: Box<dyn Fn(u32, Option<Persona>) -> Amendment>,
    pub choose: Box<dyn Fn(Question, u32) -> Choice>,
    pub weakened: Vec<Weakening>,
    trees: RefCell<HashMap<TreeId, Content>>,
}

impl fmt::Debug for World {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("World").field("plan", &self.plan).finish_non_exhaustive()
    }
}

pub const GOAL: &str = "The pump runs. It is quiet.";
pub const CONFLICT: &str = "both change the same lines";
pub const OUTPUT: &str = "error: the pump leaks";

impl Default for World {
    fn default() -> Self {
        Self::new()
    }
}

impl World {
    /// Plans three tasks, one for each criterion. The third one waits for the others.
    pub fn new() -> Self {
        let world = Self {
            plan: scripts::plan(),
            statements: vec!["The pump runs.".to_owned(), "It is quiet.".to_owned()],
            tasks: vec![
                task("t1", &["A1"], &[]),
                task("t2", &["A2"], &[]),
                task("t3", &["A3"], &["t1", "t2"]),
            ],
            matched: Vec::new(),
            advises: Box::new(|task, expert| format!("advice of {expert} on {task}")),
            more: Box::new(|_, _| Vec::new()),
            has: Box::new(|_, _| true),
            ends: Box::new(|_, _| passed()),
            fails: Box::new(|_| false),
            summary: Box::new(|work| format!("summary of {work}")),
            conflicts: Box::new(|_, _| false),
            diff: "+def pump():".to_owned(),
            drifts: Box::new(|_| Vec::new()),
            check: Box::new(|_, _| Some(true)),
            interface: evidence::interface(),
            proposes: Box::new(evidence::oracle),
            probe: Box::new(|criterion, _, content| evidence::probed(criterion, content)),
            allows: true,
            settle: Box::new(|_| Choice::Leave),
            spoils: Box::new(|_| 3),
            is_blind: true,
            judge: Box::new(|_, _| Judged::all()),
            amend: Box::new(|_, persona| match persona {
                None => Amendment::default(),
                Some(persona) => described(persona.word()),
            }),
            choose: Box::new(|question, _| match question {
                Question::Amendment | Question::Weakened => Choice::Approve,
                Question::Escalation => Choice::End,
            }),
            weakened: Vec::new(),
            trees: RefCell::default(),
        };
        world.keep(Content::default());
        world.keep(Content::default().with("head"));
        world
    }

    /// Plans 100 criteria of one weight and a single task. Each evaluation scores its share, and each after the last one
    /// the same as that.
    pub fn scored(percents: &'static [usize]) -> Self {
        let mut world = Self::new();
        let ids: Vec<String> = (1..=100).map(|nth| format!("A{nth}")).collect();
        world.plan.task.spec.criteria = ids.iter().map(|id| criterion(id, Some(Priority::Low))).collect();
        let covers: Vec<&str> = ids.iter().map(String::as_str).collect();
        world.tasks = vec![task("t1", &covers, &[])];
        world.judge = Box::new(move |round, _| {
            let percent = percents[round.min(percents.len() - 1)];
            Judged { met: Some(ids[..percent].to_vec()), ..Judged::all() }
        });
        world
    }

    /// Adds two experts: both are relevant to the first task, the second one to the second task.
    #[must_use]
    pub fn advised(mut self) -> Self {
        self.plan.task.experts = ["architect", "qa-engineer"].map(scripts::adviser).into();
        self.cast();
        let relevant = [("t1", "qa-engineer", 0.6), ("t1", "architect", 0.9), ("t2", "qa-engineer", 0.5)];
        let hardly = ("t3", "architect", 0.4);
        self.matched = relevant.into_iter().chain([hardly]).map(scripts::relevant).collect();
        self
    }

    /// Makes a command fail in some trees.
    pub fn red(&mut self, stage: Stage, is_red: impl Fn(&Content) -> bool + 'static) {
        let fails = move |at: Stage, content: &Content| at == stage && is_red(content);
        self.ends = Box::new(move |at, content| if fails(at, content) { broken() } else { passed() });
    }

    /// Casts everybody whom the plan asks.
    fn cast(&mut self) {
        let roles = Evolve::roles(&self.plan).into_iter();
        self.plan.roles = roles.map(|spec| (spec.role, drive::cast("world"))).collect();
    }

    fn keep(&self, content: Content) -> TreeId {
        let id = tree(&content.name());
        self.trees.borrow_mut().insert(id, content);
        id
    }

    fn content(&self, of: TreeId) -> Content {
        self.trees.borrow().get(&of).cloned().expect("it is a tree of this world")
    }

    pub fn classified(&self) -> Vec<Classified> {
        let classified = |one: &Criterion| Classified {
            id: one.id.clone(),
            class: Class::Essential,
            priority: one.priority.unwrap_or(Priority::Low),
            why: "the goal needs it".into(),
        };
        self.plan.task.spec.criteria.iter().map(classified).collect()
    }

    pub fn groups(&self) -> Vec<Group> {
        let tasks = self.tasks.iter().map(|item| item.id.clone()).collect();
        vec![Group { name: "pump".into(), domain: "machines".into(), tasks }]
    }

    /// Returns the plan that the agents make.
    pub fn planned(&self) -> Planned {
        Planned { tree: None, criteria: self.classified(), tasks: self.tasks.clone(), groups: self.groups() }
    }

    pub fn answer(&self, run: &Run, step: &Step) -> Outcome {
        Ok(match step {
            Step::Split => Answer::Split(self.statements.iter().map(|one| one.as_str().into()).collect()),
            Step::Classify => Answer::Classified(self.classified()),
            Step::Divide { round: 0 } => Answer::Divided(self.tasks.clone()),
            Step::Divide { round } => Answer::Divided((self.more)(run, *round)),
            Step::Replan { .. } | Step::Follow { .. } => panic!("nobody changes the project"),
            Step::Group => Answer::Grouped(self.groups()),
            Step::Match => Answer::Matched(self.matched.clone()),
            Step::Advise { task, expert } => {
                let text = (self.advises)(task, *expert).into();
                Answer::Advised(Box::new(Perspective { text, confidence: 0.8 }))
            }
            Step::Agree { task } => {
                let text = format!("agreed: {}", (self.advises)(task, 0)).into();
                Answer::Agreed(Box::new(Consensus { text, conflicts: Vec::new() }))
            }
            Step::SetUp { .. } => Answer::Ran(Box::new(passed())),
            Step::Look { tree } => Answer::Found(self.commands(*tree)),
            Step::Run { tree, stage } => Answer::Ran(Box::new((self.ends)(*stage, &self.content(*tree)))),
            Step::Work { task, go, from } => {
                let work = format!("{task}.{go}");
                if (self.fails)(&work) {
                    return failed(FailureKind::Crashed);
                }
                let made = self.keep(self.content(*from).with(&work));
                Answer::Worked { made, summary: (self.summary)(&work).into(), is_blind: self.is_blind }
            }
            Step::Merge { batch, without } => Answer::Merged(Box::new(self.merged(run, *batch, without))),
            Step::Drift { batch } => Answer::Drifted((self.drifts)(*batch)),
            Step::Allow => Answer::Allowed(self.allows),
            Step::Interface
            | Step::Oracle { .. }
            | Step::Probe { .. }
            | Step::Settle { .. }
            | Step::Spoil { .. }
            | Step::Control
            | Step::File { .. } => self.evidence(run, step),
            Step::Judge { tree, .. } => Answer::Judged(Box::new(self.judgement(run, *tree))),
            Step::Amend { round, persona } => Answer::Amended(Box::new((self.amend)(*round, *persona))),
            Step::Transplant { tree, onto } => {
                let works = self.content(*tree).works;
                let whole = works.iter().fold(self.content(*onto), |whole, work| whole.with(work));
                Answer::Transplanted(Some(self.keep(whole)))
            }
            Step::Audit { .. } => Answer::Audited(self.weakened.clone()),
            Step::Ask { question, round } => Answer::Chosen((self.choose)(*question, *round)),
            Step::Promote { .. } => Answer::Promoted,
            Step::Commit { form, .. } => Answer::Committed(Box::new(scripts::proposal(*form))),
        })
    }

    fn commands(&self, of: TreeId) -> Vec<Command> {
        let content = self.content(of);
        let command = |stage: Stage| {
            let argv = vec!["make".to_owned(), stage.word().to_owned()];
            (self.has)(stage, &content).then_some(Command { stage, argv })
        };
        Stage::ALL.into_iter().filter_map(command).collect()
    }

    fn merged(&self, run: &Run, batch: usize, without: &[Id]) -> Integration {
        let begun = &run.state.batches[batch];
        let mut whole = self.content(begun.batch.from);
        let is_in = |due: &&Due| run.made(due, begun).is_some();
        let all = begun.batch.tasks.iter().filter(|due| !without.contains(&due.task)).filter(is_in);
        let mut works = Vec::new();
        for due in all {
            let work = format!("{}.{}", due.task, due.go);
            let is_refused = (self.conflicts)(&work, &whole);
            if !is_refused {
                whole = whole.with(&work);
            }
            works.push(Integrated {
                task: due.task.clone(),
                tree: (!is_refused).then(|| self.keep(whole.clone())),
                refused: is_refused.then(|| CONFLICT.into()),
                files: vec![format!("{}.py", due.task).into()],
            });
        }
        Integration { tree: self.keep(whole), diff: self.diff.as_str().into(), works }
    }

    fn judgement(&self, run: &Run, of: TreeId) -> Judgement {
        let contract = run.state.contract.as_ref().expect("it is agreed on before anything is judged");
        let found = (self.judge)(run.state.rounds.len(), &self.content(of));
        let is_met = |id: &str| found.met.as_ref().is_none_or(|met| met.iter().any(|one| one == id));
        let statement = |nth: usize| {
            let holds = found.statements.get(nth).copied().unwrap_or(Holds::Yes);
            StatementVerdict { holds, evidence: None }
        };
        Judgement {
            criteria: contract
                .criteria
                .iter()
                .map(|one| scripts::verdict(&one.id, is_met(&one.id)))
                .collect(),
            constraints: contract
                .constraints
                .iter()
                .map(|one| scripts::verdict(&one.id, found.holds))
                .collect(),
            statements: (0..contract.statements.len()).map(statement).collect(),
            recommendations: Vec::new(),
        }
    }

    /// Plays a run to its end.
    pub fn play(&self) -> Drive {
        self.play_with(|_, _| None)
    }

    /// Does the same with some answers replaced.
    pub fn play_with(&self, mut instead: impl FnMut(&Run, &Step) -> Option<Outcome>) -> Drive {
        let mut drive = Drive::start(self.plan.clone());
        drive.finish_alone(|run, step| instead(run, step).unwrap_or_else(|| self.answer(run, step)));
        drive
    }

    /// Plays a run until a step is due, and returns that step.
    pub fn until(&self, is_it: impl Fn(&Step) -> bool) -> (Drive, Step) {
        let mut drive = Drive::start(self.plan.clone());
        loop {
            let steps = drive.due(usize::MAX);
            if let Some(step) = steps.iter().find(|step| is_it(step)) {
                return (drive, step.clone());
            }
            let step = steps.into_iter().next().expect("the run does not end before that step");
            let outcome = self.answer(&drive.run, &step);
            drive.done(step, outcome);
        }
    }

    /// Returns the steps of a run until it ends. Steps on one line can run in parallel.
    pub fn asked(&self) -> String {
        let (mut drive, mut lines) = (Drive::start(self.plan.clone()), Vec::new());
        loop {
            let steps = drive.due(usize::MAX);
            if steps.is_empty() {
                return lines.join("\n");
            }
            lines.push(steps.iter().map(|step| self.name(step)).collect::<Vec<_>>().join(" | "));
            for step in steps {
                let outcome = self.answer(&drive.run, &step);
                drive.done(step, outcome);
            }
        }
    }
}

/// Returns the prompt of a step whose folders are all empty.
pub fn prompt(run: &Run, step: &Step) -> String {
    bare_prompt(&Evolve::request(run, step).expect("an agent is asked")).expect("its pages are ours")
}
