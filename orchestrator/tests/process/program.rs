//! The program that the tests of `process` start: a guardian, a main program to be killed, and bad children.
//!
//! `KIND THEN`: makes the trouble that KIND names, writes `r` to the lifeline, then acts as THEN says.
#![expect(clippy::disallowed_methods, reason = "a program of tests works in its own scene")]

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::IntoRawFd;
use std::process::{Child, Command, ExitCode, Stdio};

use rustix::process::{Pid, Signal};
use skilltune_orchestrator::process::{
    CONFINED, Call, Canceller, Guardian, HIDDEN, become_driver, confined_main, guardian_main, hidden_main,
};

type Outcome = Result<ExitCode, Box<dyn std::error::Error>>;

fn main() -> Outcome {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["guardian", ..] => Ok(guardian_main()),
        [CONFINED, ..] => Ok(confined_main()),
        [HIDDEN, ..] => Ok(hidden_main()),
        ["drive", call] => drive(call),
        ["report"] => report(),
        ["hold"] => hold(),
        ["meddle", place] => meddle(place),
        // In a child process of its own.
        ["let-meddle", place] => {
            this(&["meddle", place])?.status()?;
            Ok(ExitCode::SUCCESS)
        }
        ["chain", left] => chain(left.parse()?),
        ["spy"] => spy(),
        [kind, then] => {
            let lifeline = enter_lifeline()?;
            make_trouble(kind)?;
            // Opened before the test can kill the main program; afterwards no process holds the other end.
            let main_program = if *then == "exit-when-orphaned" { Some(main_program()?) } else { None };
            lifeline.map_or(Ok(()), |mut lifeline| lifeline.write_all(b"r"))?;
            match main_program {
                Some(mut main_program) => Ok(main_program.read(&mut [0]).map(|_| ExitCode::SUCCESS)?),
                None => go_on(then),
            }
        }
        _ => Err("unknown words".into()),
    }
}

/// Runs the call in the file as a main program: prints the guardian's pid first, then how the call ended.
fn drive(call: &str) -> Outcome {
    become_driver()?;
    let call: Call = serde_json::from_slice(&std::fs::read(call)?)?;
    let mut guardian = Guardian::start(&std::env::current_exe()?, "guardian", ("GUARDS", "a test"))?;
    let mut out = io::stdout();
    writeln!(out, "{}", guardian.pid())?;
    // Open as long as this process lives.
    let _alive = std::env::var_os("ALIVE").map(|path| OpenOptions::new().read(true).write(true).open(path));
    let canceller = Canceller::new()?;
    let ended = guardian.run(&call, &canceller.cancel_token());
    writeln!(out, "{:?}", ended.map(|ended| ended.how))?;
    guardian.close();
    Ok(ExitCode::SUCCESS)
}

/// Prints what it was given, except the arguments: without them it would not get here.
fn report() -> Outcome {
    let mut out = io::stdout();
    for (name, value) in std::env::vars() {
        writeln!(out, "{name}={value}")?;
    }
    writeln!(out, "in {}", std::env::current_dir()?.display())?;
    out.write_all(b"\xff\xfe not UTF-8\n")?;
    io::copy(&mut io::stdin(), &mut out)?;
    Ok(ExitCode::SUCCESS)
}

/// Tries every way to change a folder with a `file` in it, and prints which ones are allowed.
fn meddle(place: &str) -> Outcome {
    use std::os::unix::fs::symlink;
    let at = |name: &str| std::path::Path::new(place).join(name);
    let tries: [(&str, io::Result<()>); 7] = [
        ("append", OpenOptions::new().append(true).open(at("file")).map(drop)),
        ("cut", OpenOptions::new().write(true).truncate(true).open(at("file")).map(drop)),
        ("create", std::fs::write(at("new"), "new")),
        ("folder", std::fs::create_dir(at("folder"))),
        ("link", symlink("file", at("link"))),
        ("rename", std::fs::rename(at("file"), at("moved"))),
        ("remove", std::fs::remove_file(at("moved")).or_else(|_| std::fs::remove_file(at("file")))),
    ];
    for (what, done) in tries {
        let how = done.map_or_else(|error| format!("{:?}", error.kind()), |()| "done".to_owned());
        writeln!(io::stdout(), "{what} {how}")?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes to stderr that it is up, then runs until it is killed.
fn hold() -> Outcome {
    enter_lifeline()?;
    io::stderr().write_all(b"r")?;
    forever()
}

/// Prints every process's environment that it can read.
fn spy() -> Outcome {
    for entry in std::fs::read_dir("/proc")?.flatten() {
        io::stdout().write_all(&std::fs::read(entry.path().join("environ")).unwrap_or_default())?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Forks until the test is over: a few processes at a time, each in its own session and gone before it can be
/// inspected.
fn storm() -> io::Result<()> {
    (0..8).try_for_each(|_| this(&["chain", "20000"])?.spawn().map(drop))
}

/// Signals the guardian, and on the second level the main program, if they are visible.
fn signal_ancestors(levels: u32, signal: Signal) -> io::Result<()> {
    let mut pids = Vec::new();
    let mut next = rustix::process::getppid();
    for _ in 0..levels {
        let Some(pid) = next else { break };
        pids.push(pid);
        let status = std::fs::read_to_string(format!("/proc/{pid}/status"))?;
        let parent = status.lines().find_map(|line| line.strip_prefix("PPid:")).unwrap_or_default();
        next = parent.trim().parse().ok().and_then(Pid::from_raw);
    }
    // From the top, so that no ancestor sees a descendant die before it is signalled itself.
    pids.into_iter().rev().try_for_each(|pid| Ok(rustix::process::kill_process(pid, signal)?))
}

/// Starts a chain of sessions: each process starts the next one and exits.
fn chain(left: u32) -> Outcome {
    rustix::process::setsid()?;
    let is_over = std::env::var_os("LIFELINE").is_some_and(|path| !std::path::Path::new(&path).exists());
    if left > 0 && !is_over {
        this(&["chain", &(left - 1).to_string()])?.spawn()?;
    }
    Ok(ExitCode::SUCCESS)
}

fn make_trouble(kind: &str) -> io::Result<()> {
    match kind {
        "plain" | "flood" => {}
        "grandchild" => drop(until_up(&mut this(&["hold"])?)?),
        "setsid" => drop(until_up(&mut this(&["lead", "wait"])?)?),
        // Its parent exits at once, it has its own session, and its environment has no marker.
        "daemon" => drop(until_up(this(&["lead", "leave"])?.env_clear())?),
        "fork-loop" => drop(this(&["chain", "400"])?.spawn()?),
        "storm" => storm()?,
        "kill-guardian" => signal_ancestors(1, Signal::KILL)?,
        "stop-guardian" => signal_ancestors(1, Signal::STOP)?,
        "kill-both" => {
            until_up(this(&["lead", "leave"])?.env_clear())?;
            signal_ancestors(2, Signal::KILL)?;
        }
        "close-output" => close_output()?,
        "lead" => drop(rustix::process::setsid()?),
        _ => return Err(io::Error::other("unknown kind")),
    }
    if kind == "flood" { flood() } else { Ok(()) }
}

fn go_on(then: &str) -> Outcome {
    match then {
        "stay" => return forever(),
        "wait" => drop(this(&["hold"])?.spawn()?.wait()?),
        "leave" => drop(this(&["hold"])?.spawn()?),
        "crash" => rustix::process::kill_process(rustix::process::getpid(), Signal::KILL)?,
        code => return Ok(ExitCode::from(code.parse::<u8>()?)),
    }
    Ok(ExitCode::SUCCESS)
}

/// Keeps the test's pipe open as long as this process or any descendant lives.
fn enter_lifeline() -> io::Result<Option<File>> {
    let Some(path) = std::env::var_os("LIFELINE") else { return Ok(None) };
    let lifeline = OpenOptions::new().write(true).open(path)?;
    // Never closed, and inherited by every descendant, unlike `lifeline` itself.
    let _ = rustix::io::dup(&lifeline)?.into_raw_fd();
    Ok(Some(lifeline))
}

fn this(words: &[&str]) -> io::Result<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(words);
    Ok(command)
}

/// Starts a program and waits until it or a descendant writes to stderr that it is up.
fn until_up(command: &mut Command) -> io::Result<Child> {
    let mut child = command.stderr(Stdio::piped()).spawn()?;
    let mut stderr = child.stderr.take().ok_or(io::ErrorKind::BrokenPipe)?;
    stderr.read_exact(&mut [0])?;
    Ok(child)
}

fn close_output() -> io::Result<()> {
    let null = OpenOptions::new().write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdout(&null)?;
    Ok(rustix::stdio::dup2_stderr(&null)?)
}

/// Writes a gigabyte as fast as it is read.
fn flood() -> io::Result<()> {
    let piece = vec![b'x'; 1 << 20];
    (0..1024).try_for_each(|_| io::stdout().write_all(&piece))
}

/// Opens a pipe that ends with the main program, which is not visible from within a namespace.
fn main_program() -> io::Result<File> {
    File::open(std::env::var_os("ALIVE").ok_or(io::ErrorKind::NotFound)?)
}

fn forever() -> Outcome {
    loop {
        std::thread::park();
    }
}
