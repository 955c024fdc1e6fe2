//! Asks programs for their version: all at once, each under a guardian, with a deadline and without a shell.

mod kept;

use std::cmp::Ordering;
use std::path::{Path, PathBuf};
use std::time::Duration;

use skilltune_orchestrator::agent::{Agent, AgentSettings};
use skilltune_orchestrator::disk;
use skilltune_orchestrator::process::{Call, CancelToken, Ended, GuardianPool, How, ProcessError};
use skilltune_phases::base::role::Rights;

use crate::runs::under_guard::under_guard;
use crate::terminal::complaint::Complaint;
use crate::terminal::environment::Environment;
use crate::text::{figures, plain};

/// A program to ask, and the description of its agent.
#[derive(Clone, Debug)]
pub struct Asked {
    pub name: String,
    pub settings: AgentSettings,
    pub program: PathBuf,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Heard {
    Version(String),
    /// It runs but printed no version: many scripts do not support `--version`.
    Nothing(String),
    NotStarted(String),
}

/// The most output that is read as a version.
const KEPT: u64 = 4096;
const SHOWN: usize = 60;

/// The time a program has to exit after it was asked to.
const GRACE: Duration = Duration::from_secs(1);

/// How long an agent may take to tell its version to a run.
const ASKED: Duration = Duration::from_secs(20);

/// Returns the version of an agent that needs no settings, kept in this folder for a while; none of others.
pub fn of(agent: &Agent, folder: &Path, env: &Environment) -> Option<String> {
    let program = agent.versioned()?;
    let (name, settings) = (agent.name.clone(), AgentSettings::default());
    let asked = Asked { name, settings, program: program.to_owned() };
    kept::version(program, folder, || match ask(&[asked], ASKED, env).ok()?.pop()? {
        Heard::Version(version) => Some(version),
        Heard::Nothing(_) | Heard::NotStarted(_) => None,
    })
}

/// Returns the answers in the order of the questions.
pub fn ask(asked: &[Asked], deadline: Duration, env: &Environment) -> Result<Vec<Heard>, Complaint> {
    under_guard(asked.len(), given_up, |nth, place| {
        let call = call(&asked[nth], &place, deadline, env);
        move |pool, cancel_token| one(&pool, &call, &cancel_token)
    })
}

/// The home folder of the program, which is deleted afterwards.
const HOME: &str = "home";

fn call(asked: &Asked, place: &Path, deadline: Duration, env: &Environment) -> Call {
    let home = place.join(HOME);
    let mut ambient = env.vars.clone();
    for name in ["HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"] {
        ambient.insert(name.to_owned(), home.to_string_lossy().into_owned());
    }
    let agent = Agent::new(&asked.name, None, asked.settings.clone(), asked.program.clone(), &ambient);
    Call {
        argv: vec![asked.program.clone().into(), "--version".into()],
        env: agent.env(Rights::Read, &home, []),
        cwd: home,
        confinement: None,
        hidden: None,
        stdin: None,
        stdout: place.join("stdout"),
        stderr: place.join("stderr"),
        writes_itself: false,
        keep_bytes: KEPT,
        deadline,
        grace: GRACE,
        record: place.join("ended.json"),
    }
}

fn one(pool: &GuardianPool, call: &Call, cancel_token: &CancelToken) -> Heard {
    if let Err(error) = std::fs::create_dir(&call.cwd) {
        return Heard::Nothing(format!("cannot create a folder to run it in: {error}"));
    }
    heard(pool.acquire().and_then(|mut slot| slot.run(call, cancel_token)), call)
}

fn given_up() -> Heard {
    Heard::Nothing("cancelled".to_owned())
}

fn heard(went: Result<Ended, ProcessError>, call: &Call) -> Heard {
    match went.map(|ended| ended.how) {
        Ok(How::Exited(0)) => match said(&call.stdout).or_else(|| said(&call.stderr)) {
            Some(version) => Heard::Version(version),
            None => Heard::Nothing("no version in its output".to_owned()),
        },
        Ok(How::Exited(code)) => Heard::Nothing(format!("version check failed: exit code {code}")),
        Ok(How::Signalled(signal)) => {
            Heard::Nothing(format!("version check failed: killed by signal {signal}"))
        }
        Ok(How::TimedOut) => {
            Heard::Nothing(format!("version check timed out after {}", figures::duration(call.deadline)))
        }
        Ok(How::Cancelled | How::OutputClosed) => given_up(),
        Ok(How::Lost { why }) => Heard::Nothing(format!("version check failed: {}", plain::one_line(&why))),
        Ok(How::NotStarted { why }) => Heard::NotStarted(format!("cannot start: {}", plain::one_line(&why))),
        Err(error) => Heard::Nothing(plain::one_line(&error.to_string())),
    }
}

/// The most output that a program may write.
const LARGEST: u64 = 1 << 20;

/// Returns the first line that is not empty, safe to print.
fn said(output: &Path) -> Option<String> {
    let bytes = disk::read(output, LARGEST).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let line = text.lines().map(plain::one_line).find(|line| !line.is_empty())?;
    Some(line.chars().take(SHOWN).collect())
}

/// Says how a version compares to the tested one, if it is from another series.
pub fn beside(version: &str, tested: &str) -> Option<String> {
    let word = match series(version)?.cmp(&series(tested)?) {
        Ordering::Equal => return None,
        Ordering::Less => "older",
        Ordering::Greater => "newer",
    };
    Some(format!("{word} than {tested}, the tested version"))
}

/// Returns the first two numbers of a version.
fn series(text: &str) -> Option<(u64, u64)> {
    let is_apart = |c: char| !c.is_ascii_digit() && c != '.';
    text.split(is_apart).find_map(|word| {
        let mut numbers = word.split('.').map(str::parse);
        Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_of_the_same_series_is_the_tested_one() {
        assert_eq!(beside("2.1.329 (Claude Code)", "2.1.329"), None);
        assert_eq!(beside("2.1.400", "2.1.329"), None);
        let other = |version| beside(version, "2.1.329").unwrap();
        assert_eq!(other("claude v2.0.999"), "older than 2.1.329, the tested version");
        assert_eq!(other("1.9"), "older than 2.1.329, the tested version");
        assert_eq!(other("2.10.0"), "newer than 2.1.329, the tested version");
        assert_eq!(beside("no version at all", "2.1.329"), None);
    }
}
