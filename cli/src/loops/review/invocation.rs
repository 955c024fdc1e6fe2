//! The request to `review`, with nothing left to guess: the change, who reviews it, and the commands.

use skilltune_phases::experts::{Kind, Tier};
use skilltune_phases::loops::expert::Persona;
use skilltune_phases::loops::review::Review;
use skilltune_phases::loops::review::finding::Suppression;
use skilltune_phases::loops::review::task::{OwnFinding, Reviewer, Rules};
use skilltune_phases::suites::checks::{Commands, RunThem};

use crate::args::overrides::{apply_shared_flags, override_with};
use crate::casting::{self, system_confines};
use crate::loops::expert::invocation::apply_tier;
use crate::loops::expert::roster::{Entry, Roster};
use crate::loops::review::args::ReviewArgs;
use crate::loops::review::base::Base;
use crate::loops::review::diffs::Diffs;
use crate::loops::review::machines::{self, Planned};
use crate::loops::review::own;
use crate::loops::review::settings::ReviewSettings;
use crate::loops::review::subject::Subject;
use crate::loops::start::Common;
use crate::settings::proposed;
use crate::terminal::complaint::Complaint;
use crate::terminal::environment::Environment;
use crate::terminal::printer::Printer;
use crate::text::plain::one_line;
use crate::trust::file::TextFile;

#[derive(Debug)]
pub struct Invocation {
    pub common: Common,
    pub subject: Subject,
    pub diffs: Diffs,
    pub reviewers: Vec<Reviewer>,
    pub machines: Vec<Planned>,
    pub found: Vec<OwnFinding>,
    pub suppressed: Vec<Suppression>,
    pub commands: Commands,
    pub rules: Rules,
    pub remarks: Vec<String>,
    /// The project's experts, which a person has to trust.
    pub foreign: Vec<(TextFile, String)>,
    pub seed: Option<u64>,
}

impl AsRef<Common> for Invocation {
    fn as_ref(&self) -> &Common {
        &self.common
    }
}

impl Invocation {
    pub fn new(args: &ReviewArgs, env: &Environment, printer: Printer) -> Result<Self, Complaint> {
        let subject = Subject::read(args.what.as_deref(), env)?;
        let project = env.project_here();
        let base = Base::read(&subject, &project, env)?;
        let mut settings = base.settings(env)?;
        apply_shared_flags(&mut settings, args.agent.as_ref(), args.calls.timeout, &args.given);
        let roster = base.roster(&settings, env)?;
        for broken in roster.broken.iter().take(5) {
            printer.talk(&format!("note: skipped {}", broken.why));
        }
        let entries = chosen(roster, &settings.of::<ReviewSettings>().with.value.0)?;
        if let Some(tier) = highest(&entries).filter(|_| args.agent.is_none()) {
            apply_tier(&mut settings, tier);
        }
        override_with(&mut settings.roles.executor, args.reviewer.clone().map(Some), "--reviewer");
        override_with(&mut settings.roles.evaluator, args.verifier.clone().map(Some), "--verifier");
        casting::fill(&mut settings, env);
        let casting = casting::cast_models(Review::ROLES, &settings, env, "review")?;
        let own = settings.of::<ReviewSettings>();
        let run = proposed::by_own_word("review.commands", "--commands", &own.commands)?;
        let confined = system_confines(&settings);
        let run = proposed::confined(run, "--commands", settings.limits.confine.value, confined)?;
        let diffs = Diffs::of(&subject.changes);
        let remarks = entries.iter().flat_map(|entry| entry.shadow().into_iter().chain(entry.ignored()));
        Ok(Self {
            remarks: remarks.collect(),
            rules: own.rules(),
            commands: Commands { run, confined },
            machines: machines::machines(&base, &diffs.changed, &settings, env),
            found: own::findings(&subject, &diffs.changed, &base, &settings),
            suppressed: base.suppressions()?,
            foreign: entries.iter().filter_map(Entry::foreign).collect(),
            reviewers: entries.into_iter().map(reviewer).collect(),
            diffs,
            subject,
            seed: args.seed,
            common: Common { project, settings, casting, pinned: Vec::new(), epoch: args.run.epoch() },
        })
    }

    /// Decides for a review without a person which machines run.
    pub fn settle_unattended(&mut self, run: RunThem) {
        for planned in &mut self.machines {
            let why = planned.needs.as_ref().and_then(|needs| machines::unattended(needs, run));
            if planned.machine.skipped.is_none() {
                planned.machine.skipped = why.map(|why| one_line(&why).into());
            }
        }
    }
}

/// Returns the experts with these names, or with a name that begins with one of them and a dash.
fn chosen(mut roster: Roster, names: &[String]) -> Result<Vec<Entry>, Complaint> {
    let mut chosen: Vec<Entry> = Vec::new();
    if names.is_empty() {
        return Err(Complaint::input("no reviewer is named").hint("pass --with security,quality"));
    }
    for name in names {
        match roster.place(name) {
            Some(at) => chosen.push(roster.entries.remove(at)),
            None if chosen.iter().any(|entry| entry.expert.name == *name || entry.short() == name) => {}
            None => {
                let reviewers = roster.entries.iter().filter(|entry| entry.expert.kind == Kind::Reviewer);
                let known: Vec<&str> = reviewers.map(Entry::short).collect();
                return Err(Complaint::input(one_line(&format!("there is no reviewer named {name:?}")))
                    .hint(one_line(&format!(
                        "reviewers: {}; any expert by its whole name",
                        known.join(", ")
                    ))));
            }
        }
    }
    Ok(chosen)
}

fn reviewer(entry: Entry) -> Reviewer {
    let short = entry.short().into();
    let Entry { expert, origin, .. } = entry;
    let expert = Persona { name: expert.name, persona: expert.persona, origin, digest: expert.digest };
    Reviewer { short, expert }
}

/// Returns the highest tier of the reviewers.
fn highest(entries: &[Entry]) -> Option<Tier> {
    let has = |tier: &Tier| entries.iter().any(|entry| entry.expert.tier == *tier);
    [Tier::Frontier, Tier::Standard, Tier::Frugal].into_iter().find(has)
}
