//! Runs a system program: arguments unchanged, input and output in our files, and a deadline.
//!
//! It runs like the user's own command, without a guardian: `crontab` needs the rights of its group.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;

use crate::terminal::complaint::Complaint;
use crate::terminal::environment::Environment;

const DEADLINE: Duration = Duration::from_secs(30);
/// More than any crontab has.
const MOST: u64 = 4 << 20;

/// A program that was found on `PATH`.
#[derive(Clone, Debug)]
pub struct Program {
    path: PathBuf,
}

/// Its exit status and its output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramOutput {
    pub is_success: bool,
    pub stdout: Vec<u8>,
    pub stderr: String,
}

impl Program {
    /// Returns the program with that name, if there is one.
    pub fn find(name: &str, env: &Environment) -> Option<Self> {
        let path = which::which_in(name, env.vars.get("PATH"), &env.cwd).ok()?;
        Some(Self { path })
    }

    /// Returns its output, whatever its exit code.
    pub fn run(&self, arguments: &[&str], input: &[u8]) -> Result<ProgramOutput, Complaint> {
        self.ran(arguments, input).map_err(|error| self.failed(arguments).caused_by(error))
    }

    /// Returns its output. Fails if the program fails.
    pub fn succeed(&self, arguments: &[&str], input: &[u8]) -> Result<ProgramOutput, Complaint> {
        let said = self.run(arguments, input)?;
        if said.is_success {
            return Ok(said);
        }
        Err(self.complaint(arguments, &said))
    }

    pub fn complaint(&self, arguments: &[&str], said: &ProgramOutput) -> Complaint {
        let why = said.stderr.trim();
        self.failed(arguments).caused_by(if why.is_empty() { "it did not say why" } else { why })
    }

    fn failed(&self, arguments: &[&str]) -> Complaint {
        let name = self.path.file_name().unwrap_or_default().display();
        Complaint::ours(format!("`{name} {}` failed", arguments.join(" ")))
    }

    fn ran(&self, arguments: &[&str], input: &[u8]) -> io::Result<ProgramOutput> {
        let mut stdin = tempfile::tempfile()?;
        stdin.write_all(input)?;
        stdin.rewind()?;
        let (stdout, stderr) = (tempfile::tempfile()?, tempfile::tempfile()?);
        let mut command = Command::new(&self.path);
        // Parts of the output are parsed, in English.
        command.args(arguments).env("LC_ALL", "C").current_dir(Path::new("/"));
        command.stdin(stdin).stdout(stdout.try_clone()?).stderr(Stdio::from(stderr.try_clone()?));
        let status = wait(command)?;
        let stderr = String::from_utf8_lossy(&read(stderr)?).into_owned();
        Ok(ProgramOutput { is_success: status.success(), stdout: read(stdout)?, stderr })
    }
}

fn wait(command: Command) -> io::Result<ExitStatus> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let mut child = tokio::process::Command::from(command).spawn()?;
        if let Ok(status) = tokio::time::timeout(DEADLINE, child.wait()).await {
            return status;
        }
        child.kill().await?;
        let why = format!("it did not end within {} seconds", DEADLINE.as_secs());
        Err(io::Error::new(io::ErrorKind::TimedOut, why))
    })
}

fn read(mut file: File) -> io::Result<Vec<u8>> {
    file.rewind()?;
    let mut bytes = Vec::new();
    file.take(MOST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MOST {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, "it printed more than expected"));
    }
    Ok(bytes)
}
