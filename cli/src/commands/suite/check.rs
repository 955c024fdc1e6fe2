//! `suite check`: lists what a suite contains, what of it is lost or shows nothing, and the calls of one round.

use serde_json::{Value, json};
use skilltune_orchestrator::skill_files;
use skilltune_phases::judging::proof::Confidence;
use skilltune_phases::loops::vacuous::{Vacuous, vacuous};
use skilltune_phases::suites::scenario::Scenario;

use crate::args::suite::SuiteCheckArgs;
use crate::commands::suite::shown::{self, Shown};
use crate::inputs::suite::{self, EVALS, Note, Suite};
use crate::loops::tune::member;
use crate::loops::tune::planning::{Shortage, shortage};
use crate::loops::tune::settings::TuneSettings;
use crate::loops::tune::vacuous::{describe, why};
use crate::loops::tune::without_skill;
use crate::settings::values::Format;
use crate::terminal::columns::data_width;
use crate::terminal::complaint::Complaint;
use crate::terminal::environment::Environment;
use crate::terminal::exit::Exit;
use crate::terminal::printer::Printer;
use crate::terminal::style::Style;
use crate::text::figures::count;
use crate::text::plain::one_line;
use crate::text::width::{shortened, wrapped};

pub(super) fn run(args: &SuiteCheckArgs, env: &Environment, printer: Printer) -> Result<Exit, Complaint> {
    let suite = super::load(&args.suite, env)?;
    let tried = if args.tried.is_wanted {
        without_skill::run(&suite, &args.tried, env, printer)?
    } else {
        Exit::Reached
    };
    if matches!(tried, Exit::Interrupted | Exit::Terminated) {
        return Ok(tried);
    }
    let shown = shown::of(&suite, env);
    if let Some(unread) = &shown.unread {
        printer.warn(unread);
    }
    // Without usable settings, `tune` says what it needs.
    let settings = crate::loops::settings(&env.project_here(), env).ok();
    let confidence = settings.map(|settings| settings.of::<TuneSettings>().rules().confidence);
    let report = Report::new(&suite, &shown, confidence);
    match args.format {
        Format::Human => printer.data(&report.text(data_width(env), printer.data))?,
        Format::Json => printer.json(&report.json())?,
    }
    let found = if report.is_ok() { Exit::Reached } else { Exit::Ended };
    Ok(Exit::worst(tried, found))
}

struct Report<'a> {
    suite: &'a Suite,
    vacuous: Vec<Vacuous>,
    /// The number of runs that have used it.
    runs: usize,
    /// The number of its scenarios that a run has tried without a skill.
    tried: usize,
    /// The files of its skill that contain its answers, if it is a skill's own suite.
    answers: Vec<String>,
    /// That of the project's final comparisons.
    confidence: Option<Confidence>,
}

impl<'a> Report<'a> {
    fn new(suite: &'a Suite, shown: &Shown, confidence: Option<Confidence>) -> Self {
        let mut vacuous = vacuous(&suite.scenarios, |scenario| suite.starts.untouched(&scenario.id));
        vacuous.extend(shown.vacuous.iter().cloned());
        Self { suite, vacuous, runs: shown.runs, tried: shown.tried, answers: answers(suite), confidence }
    }

    fn is_ok(&self) -> bool {
        self.vacuous.is_empty() && !self.suite.scenarios.is_empty()
    }

    /// Returns the executor calls for one round of one skill. A chain multiplies them by its number of skills.
    fn executor_calls(&self) -> usize {
        self.suite.scenarios.len()
    }

    /// Returns one call per scenario with expectations, and one about the skill's text.
    fn judge_calls(&self) -> usize {
        let scenarios = &self.suite.scenarios;
        scenarios.iter().filter(|scenario| questions(scenario) > 0).count()
            + usize::from(!scenarios.is_empty())
    }

    /// Returns why `tune` would refuse the suite. A single scenario is a task, not a suite.
    fn refusal(&self) -> Option<String> {
        match self.suite.scenarios.as_slice() {
            [] => Some("no scenario counts: complete the drafts, then remove `draft = true`".to_owned()),
            [_] => None,
            several => {
                let Shortage { needs, more, .. } = shortage(several, self.confidence?)?;
                Some(format!("too few for `skilltune tune`: it takes at least {needs}; add {more} more"))
            }
        }
    }

    /// Returns the name of a format with several names for its files, or else that of the file.
    fn name(&self) -> String {
        let Suite { path, format, .. } = self.suite;
        let file = path.file_name().filter(|_| *format == suite::Format::Toml);
        file.map_or_else(|| format.name().to_owned(), |name| one_line(&name.to_string_lossy()))
    }

    fn text(&self, width: usize, style: Style) -> String {
        let Suite { path, scenarios, drafts, notes, .. } = self.suite;
        let all = |what: fn(&Scenario) -> usize| scenarios.iter().map(what).sum::<usize>();
        let held_out = scenarios.iter().filter(|scenario| scenario.held_out).count();
        let mut counts = vec![
            count(scenarios.len(), "scenario"),
            count(all(checks), "check"),
            count(all(questions), "expectation"),
        ];
        counts.extend((held_out > 0).then(|| format!("{held_out} held out")));
        counts.extend((!drafts.is_empty()).then(|| count(drafts.len(), "draft")));
        counts.extend((self.runs > 0).then(|| format!("used by {}", count(self.runs, "run"))));
        counts.extend((self.tried > 0).then(|| format!("{} tried without a skill", self.tried)));
        let mut lines = vec![
            style.bold(&shortened(&one_line(&path.display().to_string()), width)),
            format!("  {}: {}", shortened(&self.name(), width), counts.join(", ")),
        ];
        let mut list = |title: &str, texts: Vec<String>| {
            if texts.is_empty() {
                return;
            }
            lines.push(format!("\n{title}"));
            for text in texts {
                lines.extend(
                    wrapped(&text, width.saturating_sub(2).max(1), "    ")
                        .into_iter()
                        .map(|line| format!("  {line}")),
                );
            }
        };
        list("notes:", notes.iter().map(Note::to_string).collect());
        list("answers in the skill:", self.answers.clone());
        list("proves nothing:", self.vacuous.iter().map(describe).collect());
        let refusal = self.refusal().map(|why| wrapped(&why, width, "  ").join("\n"));
        let calls = (!scenarios.is_empty()).then(|| self.calls());
        lines.extend(refusal.into_iter().chain(calls).map(|line| format!("\n{line}")));
        lines.join("\n")
    }

    fn calls(&self) -> String {
        let (executor, judge) = (count(self.executor_calls(), "call"), count(self.judge_calls(), "call"));
        format!("one round of one skill: {executor} of the executor, {judge} of the judge")
    }

    fn json(&self) -> Value {
        let Suite { path, format, scenarios, drafts, notes, .. } = self.suite;
        let scenario = |scenario: &Scenario| {
            json!({
                "id": scenario.id,
                "checks": checks(scenario),
                "expectations": questions(scenario),
                "tags": scenario.tags,
                "held_out": scenario.held_out,
                "files": self.suite.starts.of(&scenario.id).iter().map(|brought| brought.from.to_string()).collect::<Vec<_>>(),
            })
        };
        let note = |note: &Note| json!({"text": note.text, "scenarios": note.scenarios});
        let vacuous = |one: &Vacuous| json!({"scenario": one.scenario, "demand": one.demand, "kind": one.why.id(), "text": why(one)});
        json!({
            "format": FORMAT,
            "ok": self.is_ok(),
            "suite": {"path": path.display().to_string(), "format": format.name()},
            "scenarios": scenarios.iter().map(scenario).collect::<Vec<_>>(),
            "drafts": drafts.iter().map(|draft| &draft.id).collect::<Vec<_>>(),
            "notes": notes.iter().map(note).collect::<Vec<_>>(),
            "runs": self.runs,
            "tried_without_skill": self.tried,
            "answers": self.answers,
            "vacuous": self.vacuous.iter().map(vacuous).collect::<Vec<_>>(),
            "calls": {"executor": self.executor_calls(), "judge": self.judge_calls()},
        })
    }
}

/// Lists the files of the suite's own skill that contain its answers. A run reports an unreadable skill.
fn answers(suite: &Suite) -> Vec<String> {
    let skill = suite.path.ancestors().skip(1).find(|folder| folder.join("SKILL.md").is_file());
    let Some(files) = skill.and_then(|skill| skill_files::load(skill, "").ok()) else { return Vec::new() };
    member::withheld(&files, &[EVALS.to_owned()], &suite.scenarios).notes
}

/// Raised by incompatible changes.
const FORMAT: u32 = 1;

fn checks(scenario: &Scenario) -> usize {
    scenario.demands.len() - questions(scenario)
}

fn questions(scenario: &Scenario) -> usize {
    scenario.demands.iter().filter(|demand| demand.how.question().is_some()).count()
}
