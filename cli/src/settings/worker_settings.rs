//! `[workers.NAME]`: a command that connects to skilltune on another machine, which makes calls of runs.
//!
//! A worker's command runs without `skilltune trust`, and what calls need goes to it. So only the user's own settings
//! describe workers and choose them.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};
use skilltune_orchestrator::agent::EnvSettings;
use skilltune_phases::base::spelling::nearest;
use toml::de::DeValue;

use crate::settings::Settings;
use crate::settings::error::SettingsError;
use crate::settings::origin::Origin;
use crate::settings::page::{Found, SettingsPage};
use crate::settings::range::{Range, SLOTS};
use crate::settings::section;
use crate::settings::setting::{Readable, Setting, texts};
use crate::settings::values::{AGENT_NAME, is_agent_name};
use crate::terminal::complaint::Complaint;

/// A worker and the file that describes it.
#[derive(Clone, Debug)]
pub struct WorkerEntry {
    pub name: String,
    /// A program and its arguments, as the settings have them.
    pub run: Vec<String>,
    /// The number of calls that it makes at a time.
    pub slots: usize,
    /// The agents that it calls; empty for any.
    pub agents: Vec<String>,
    pub env: EnvSettings,
    pub origin: Origin,
}

pub fn read(
    workers: &Found<'_>,
    page: SettingsPage<'_>,
    origin: &Origin,
) -> Result<BTreeMap<String, WorkerEntry>, SettingsError> {
    section::each(page, ("workers", workers), "a table with a `run`", |name, worker| {
        worker.refuse_unknown(&["run", "slots", "agents", "env"])?;
        Ok(WorkerEntry {
            name: name.to_owned(),
            run: worker.command("run")?,
            slots: worker.setting("slots", Setting::within(SLOTS, 1))?,
            agents: worker.names("agents", is_agent_name, "a list of agent names")?,
            env: worker.env()?,
            origin: origin.clone(),
        })
    })
}

/// The names of workers; empty for this machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorkerNames(pub Vec<String>);

impl WorkerNames {
    fn new(names: Vec<String>) -> Option<Self> {
        let is_new = |(at, name): (usize, &String)| !names[..at].contains(name) && is_agent_name(name);
        names.iter().enumerate().all(is_new).then_some(Self(names))
    }
}

impl Readable for WorkerNames {
    fn read(value: &DeValue<'_>, _: Range) -> Option<Self> {
        Self::new(texts(value)?)
    }

    fn must_be(_: Range) -> String {
        "a list of names of workers, each once".to_owned()
    }

    fn schema(_: Range) -> Json {
        json!({ "type": "array", "items": { "type": "string", "pattern": format!("{AGENT_NAME}$") } })
    }

    fn json(&self) -> Json {
        self.0.clone().into()
    }

    /// An empty text names this machine.
    fn typed(text: &str, _: Range) -> Option<Self> {
        let names = text.split(',').filter(|_| !text.is_empty());
        Self::new(names.map(str::to_owned).collect())
    }
}

impl Settings {
    /// Returns the workers that make the calls, in the order in which they are named; none for this machine.
    pub fn chosen_workers(&self) -> Result<Vec<&WorkerEntry>, Complaint> {
        let entry = |name: &String| self.workers.get(name).ok_or_else(|| self.unknown_worker(name));
        self.calls.workers.value.0.iter().map(entry).collect()
    }

    /// Returns the maximum number of calls at a time: what the workers can do, and not more than was asked for.
    pub fn jobs(&self) -> u32 {
        let jobs = &self.calls.jobs;
        let chosen = &self.calls.workers.value.0;
        let slots: usize = chosen.iter().filter_map(|name| Some(self.workers.get(name)?.slots)).sum();
        let slots = u32::try_from(slots).unwrap_or(u32::MAX);
        if chosen.is_empty() {
            jobs.value
        } else if jobs.origin == Origin::Default {
            slots
        } else {
            jobs.value.min(slots)
        }
    }

    fn unknown_worker(&self, name: &str) -> Complaint {
        let origin = &self.calls.workers.origin;
        let complaint = Complaint::input(format!("unknown worker `{name}` ({origin})"));
        let names: Vec<&str> = self.workers.keys().map(String::as_str).collect();
        let near = nearest(name, names.iter().copied()).map(|near| format!("did you mean `{near}`?"));
        let known = (!names.is_empty()).then(|| format!("workers in your settings: {}", names.join(", ")));
        let describe = if *origin == Origin::Run {
            Some("describe it in your own skilltune.toml again, or pass --workers".to_owned())
        } else {
            names.is_empty().then(|| format!("describe it in your own skilltune.toml:\n\n    [workers.{name}]\n    run = [\"ssh\", \"{name}\", \"skilltune\", \"step\", \"--take\", \"-\"]\n"))
        };
        [near, known, describe].into_iter().flatten().fold(complaint, Complaint::hint)
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::args::runs::RunCommand;
    use crate::commands::cli::{Cli, Command, tune_args};
    use crate::settings::Files;
    use crate::settings::tests::refusal;
    use crate::terminal::columns::UNBOUNDED;
    use crate::terminal::style::Style;

    const TWO: &str =
        "[workers.big]\nrun = [\"ssh\", \"big\"]\nslots = 8\n[workers.small]\nrun = [\"./small\"]\n";

    fn shown(files: &Files, complaint: &Complaint) -> String {
        let text = complaint.render(Style::PLAIN, UNBOUNDED);
        text.replace(files.env().config.to_str().unwrap(), "/own")
            .replace(files.project().to_str().unwrap(), "")
    }

    /// Returns why the user's own file is refused.
    fn refused(text: &str) -> String {
        let files = Files::new(text, "");
        let error = crate::loops::settings(&files.project(), &files.env()).unwrap_err();
        shown(&files, &error.into())
    }

    fn jobs(text: &str, flags: &[&str]) -> (Vec<String>, u32) {
        let mut settings = Files::new(&format!("{text}{TWO}"), "").load();
        settings.apply_flags(&tune_args(&[&["a"], flags].concat()).unwrap().given);
        let chosen = settings.chosen_workers().unwrap();
        (chosen.iter().map(|worker| worker.name.clone()).collect(), settings.jobs())
    }

    #[test]
    fn a_worker_is_read_whole_and_only_its_command_is_required() {
        let whole =
            "agents = [\"claude\", \"mine\"]\nenv = { pass = [\"SSH_AUTH_SOCK\"], set = { A = \"b\" } }\n";
        let settings = Files::new(&format!("{TWO}{whole}"), "").load();
        let WorkerEntry { name: _, run, slots, agents, env, origin } = &settings.workers["big"];
        assert_eq!(
            (run.join(" "), *slots, agents.len(), env),
            ("ssh big".to_owned(), 8, 0, &EnvSettings::default())
        );
        assert!(origin.is_users());
        let small = &settings.workers["small"];
        assert_eq!((small.run.join(" "), small.slots), ("./small".to_owned(), 1));
        assert_eq!(
            (small.agents.join(" "), small.env.pass.join(" ")),
            ("claude mine".to_owned(), "SSH_AUTH_SOCK".to_owned())
        );
        assert_eq!(small.env.set["A"], "b");
    }

    #[test]
    fn a_wrong_worker_is_told_what_it_must_be() {
        let worker = "[workers.w]\nrun = [\"p\"]\n";
        let files = [
            "[workers]\nw = 3\n",
            "[workers.\"a,b\"]\nrun = [\"p\"]\n",
            "[workers.w]\n",
            "[workers.w]\nrun = [\"\"]\n",
            "[workers.w]\nrun = \"ssh big\"\n",
            &format!("{worker}slots = 0\n"),
            &format!("{worker}agents = [\"claude:opus\"]\n"),
            &format!("{worker}env.pass = [\"A=B\"]\n"),
            &format!("{worker}slot = 2\n"),
            "[calls]\nworkers = [\"w\", \"w\"]\n",
        ];
        insta::assert_snapshot!(files.map(refused).join("\n"), @r"
        error: /own/skilltune.toml:2: `workers.w` must be a table with a `run`
        error: /own/skilltune.toml:1: `workers.a,b` must be a name of letters, digits, `-`, `_` and `.`
        error: /own/skilltune.toml:1: `workers.w.run` must be a list of strings: a program and its arguments
        error: /own/skilltune.toml:2: `workers.w.run` must be a list of strings: a program and its arguments
        error: /own/skilltune.toml:2: `workers.w.run` must be a list of strings: a program and its arguments
        error: /own/skilltune.toml:3: `workers.w.slots` must be a whole number from 1 to 10000, not 0
        error: /own/skilltune.toml:3: `workers.w.agents` must be a list of agent names
        error: /own/skilltune.toml:3: `workers.w.env.pass` must be a list of variable names
        error: /own/skilltune.toml:3: unknown key `workers.w.slot`
        hint: did you mean `workers.w.slots`?
        error: /own/skilltune.toml:2: `calls.workers` must be a list of names of workers, each once, not a list
        ");
    }

    #[test]
    fn a_project_neither_describes_nor_chooses_workers() {
        let files = ["[calls]\nworkers = []\n", "\n[workers.w]\nrun = [\"p\"]\n", "workers = {}\n"];
        insta::assert_snapshot!(files.map(refusal).join("\n"), @r"
        error: /skilltune.toml:2: only your own settings may set `calls.workers`, which sends calls to other machines
        hint: remove it there, or set it in your own skilltune.toml
        error: /skilltune.toml:2: only your own settings may set `workers`, which sends calls to other machines
        hint: remove it there, or set it in your own skilltune.toml
        error: /skilltune.toml:1: only your own settings may set `workers`, which sends calls to other machines
        hint: remove it there, or set it in your own skilltune.toml
        ");
    }

    #[test]
    fn a_secret_of_a_worker_is_never_shown() {
        let (secret, worker) = ("s3cret", "[workers.w]\nrun = [\"p\"]\n");
        let settings = Files::new(&format!("{worker}env.set.TOKEN = \"{secret}\"\n"), "").load();
        let (rows, debug) = (settings.rows(), format!("{:?}", settings.workers));
        assert!(!serde_json::to_string(&rows).unwrap().contains(secret) && !debug.contains(secret));
        assert!(rows.iter().any(|row| row.key == "workers.w.env.set.TOKEN" && row.value == "(set)"));
        for broken in [
            format!("{worker}env.set.TOKEN = [\"{secret}\"]\n"),
            format!("{worker}env.set = \"{secret}\"\n"),
            format!("{worker}env = \"{secret}\"\n"),
            format!("{worker}env.set.TOKEN = {secret}\n"),
        ] {
            let refused = refused(&broken);
            assert!(refused.contains("skilltune.toml:3") && !refused.contains(secret), "{refused}");
            assert!(!refusal(&broken).contains(secret));
        }
    }

    #[test]
    fn as_many_calls_run_at_a_time_as_the_workers_have_slots_and_jobs_allows() {
        let own = "calls.workers = [\"big\", \"small\"]\n";
        let both = || vec!["big".to_owned(), "small".to_owned()];
        assert_eq!(jobs("", &[]), (Vec::new(), 4));
        assert_eq!(jobs(own, &[]), (both(), 9));
        assert_eq!(jobs(own, &["--jobs", "3"]), (both(), 3));
        assert_eq!(jobs(own, &["--jobs", "20"]), (both(), 9));
        assert_eq!(jobs(own, &["--workers", "small"]), (vec!["small".to_owned()], 1));
        assert_eq!(jobs(own, &["--workers", ""]), (Vec::new(), 4));
    }

    #[test]
    fn an_unknown_worker_is_refused_with_the_known_ones() {
        let unknown = |text: &str, name: &str| {
            let files = Files::new(text, "");
            let mut settings = files.load();
            settings.apply_flags(&tune_args(&["a", "--workers", name]).unwrap().given);
            shown(&files, &settings.chosen_workers().unwrap_err())
        };
        insta::assert_snapshot!([unknown(TWO, "bigg"), unknown(TWO, "other"), unknown("", "big")].join("\n"), @r#"
        error: unknown worker `bigg` (flag --workers)
        hint: did you mean `big`?
        hint: workers in your settings: big, small
        error: unknown worker `other` (flag --workers)
        hint: workers in your settings: big, small
        error: unknown worker `big` (flag --workers)
        hint: describe it in your own skilltune.toml:

            [workers.big]
            run = ["ssh", "big", "skilltune", "step", "--take", "-"]
        "#);
    }

    #[test]
    fn a_resumed_run_keeps_the_workers_of_its_plan_unless_a_flag_names_others() {
        let chosen = |flags: &[&str], planned: &[&str]| {
            let line = [&["skilltune", "resume"], flags].concat();
            let Some(Command::Run(RunCommand::Resume(args))) = Cli::try_parse_from(line).unwrap().command
            else {
                panic!("not a resume")
            };
            let files = Files::new(&format!("calls.workers = [\"big\"]\n{TWO}"), "");
            let mut settings = files.load();
            let planned: Vec<String> = planned.iter().map(|name| (*name).to_owned()).collect();
            args.going.apply_to(&mut settings.calls, &planned);
            let names = settings
                .chosen_workers()
                .map(|chosen| chosen.iter().map(|one| one.name.as_str()).collect::<Vec<_>>().join(","));
            names.unwrap_or_else(|complaint| shown(&files, &complaint))
        };
        assert_eq!(chosen(&[], &["small"]), "small");
        assert_eq!(chosen(&[], &[]), "", "the run began on this machine");
        assert_eq!(chosen(&["--workers", "big,small"], &["small"]), "big,small");
        insta::assert_snapshot!(chosen(&[], &["gone"]), @r"
        error: unknown worker `gone` (the plan of the run)
        hint: workers in your settings: big, small
        hint: describe it in your own skilltune.toml again, or pass --workers
        ");
    }
}
