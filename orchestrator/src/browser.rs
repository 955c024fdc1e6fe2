//! Checks of an artifact in a browser. Our own program runs again in a workspace with `site/`, reads its task on stdin,
//! starts a headless Chromium, loads each page, saves `screens/` and prints its findings.
//!
//! ```text
//! look_main -> become-browser -> Chromium        two pipes, no port, no network
//!    |  page by page: every request is met from site/, or fails
//!    findings on stdout, screens/
//! ```
//!
//! The pages are untrusted. Our script measures them in an isolated world, and returns only data of limited size.

mod acts;
mod devtools;
mod live;
mod page;
mod pipe;
mod preview;
mod script;
mod sight;
mod site;
mod tour;
mod verdicts;

use std::fs::File;
use std::io::{self, Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;
use skilltune_phases::loops::gan::inspect::{Inspection, ToLookAt};
use skilltune_phases::loops::gan::{SCREENS, SITE};

use crate::disk::atomic::{self, Durability};
use crate::disk::{self, SafePath};
use crate::process;
use devtools::{DevTools, Mute};
use page::PageFindings;
use preview::Server;
use site::{Site, Source};
use tour::{Start, Tour};

pub use pipe::{BECOME, become_browser_main};

/// The argument that starts our own program to check an artifact.
pub const LOOK: &str = "look";

/// The names of the supported browsers. Those that only work headless need a third of the time.
pub const NAMES: [&str; 7] = [
    "chromium-headless-shell",
    "chrome-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
];

const LARGEST_INPUT: u64 = 16 << 20;
const LARGEST_AXE: u64 = 8 << 20;

/// `skilltune look BROWSER SECONDS [AXE]`, in a workspace.
pub fn look_main() -> ExitCode {
    match look() {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            // If stderr is closed, only the exit code is left.
            let _ = writeln!(io::stderr(), "{why}");
            ExitCode::FAILURE
        }
    }
}

fn look() -> Result<(), Box<dyn std::error::Error>> {
    // A preview runs the artifact's code in the same workspace. It cannot read this process, and the output is written
    // only after all its processes have ended.
    process::become_driver()?;
    let found = findings();
    process::end_descendants()?;
    let (inspection, tour) = found?;
    keep_pictures(&tour.pages, &tour.findings)?;
    io::stdout().write_all(&serde_json::to_vec(&inspection)?)?;
    Ok(())
}

fn findings() -> Result<(Inspection, Tour), Box<dyn std::error::Error>> {
    let mut words = std::env::args_os().skip(2);
    let program = PathBuf::from(words.next().ok_or("no browser given")?);
    let seconds = words.next().and_then(|word| word.to_str()?.parse().ok()).ok_or("no timeout given")?;
    let axe = words.next().map(|path| disk::read(Path::new(&path), LARGEST_AXE)).transpose()?;
    let axe = axe.map(String::from_utf8).transpose()?;
    let look: ToLookAt = serde_json::from_reader(io::stdin().lock().take(LARGEST_INPUT))?;
    let longest = Duration::from_secs(seconds) / 3;
    let mut inspection = Inspection::default();
    let site = Path::new(SITE);
    let preview = |why: String| format!("gan.preview: {why}");
    let server = look.preview.as_ref().map(|preview| Server::start(preview, site, look.confined)).transpose();
    let server = server.map_err(preview)?;
    // The start of a server has its own timeout.
    let until = Instant::now() + Duration::from_secs(seconds);
    let (source, start) = match (&server, &look.preview) {
        (Some(server), Some(preview)) => (Source::Server(server), Start::of_server(&preview.path)),
        _ => (Source::Folder(site), Start::of_folder(site)),
    };
    let Some(first) = start.first() else {
        inspection.notes.push("there is no page to look at".into());
        return Ok((inspection, Tour::default()));
    };
    let (tour, scenarios) = with_browser(&program, until, &mut inspection, |browser| {
        let tour = start.walk(browser, source, &look.given, axe.as_deref(), longest)?;
        Ok((tour, acts::scenario_results(browser, source, &first.address, &look.test_scenarios)))
    })?;
    if let Some(why) = server.as_ref().and_then(Server::has_ended) {
        return Err(preview(why).into());
    }
    inspection.scenarios = scenarios;
    verdicts::tell(&mut inspection, &tour, &look.given, server.is_some());
    verdicts::doubt(&mut inspection, &tour);
    Ok((inspection, tour))
}

/// Starts a browser, calls `work`, and ends the browser.
fn with_browser<T>(
    program: &Path,
    until: Instant,
    inspection: &mut Inspection,
    work: impl FnOnce(&mut DevTools) -> Result<T, Mute>,
) -> Result<T, Mute> {
    let has_sandbox = !rustix::process::geteuid().is_root();
    if !has_sandbox {
        inspection.notes.push("the browser had no sandbox of its own: it runs as root".into());
    }
    let place = tempfile::tempdir_in(".")?;
    let said = tempfile::tempfile_in(".")?;
    let mut child = started(program, place.path(), said.try_clone()?, has_sandbox)?;
    let (Some(to), Some(from)) = (child.stdin.take(), child.stdout.take()) else { return Err(Mute::Gone) };
    let mut browser = DevTools::new(to, from, until);
    let mut nobody = Site::of(Source::Folder(Path::new(SITE)));
    let done = match browser.ask("Browser.getVersion", &json!({}), &mut nobody) {
        Ok(_) => work(&mut browser),
        // The browser ends at once, for example, if the system does not allow its sandbox.
        Err(Mute::Gone | Mute::Broken(_)) => Err(Mute::NotStarted(last_words(&said))),
        Err(late) => Err(late),
    };
    browser.speak_to(None);
    // A browser that does not close is killed.
    let _ = browser.ask("Browser.close", &json!({}), &mut nobody);
    let _ = child.kill();
    child.wait()?;
    done
}

/// Returns the last line that a program has written into a file.
fn last_words(mut file: &File) -> String {
    const LARGEST: u64 = 64 << 10;
    let mut said = Vec::new();
    let read = file.rewind().and_then(|()| file.take(LARGEST).read_to_end(&mut said));
    let said = String::from_utf8_lossy(&said);
    let last = said.lines().rev().find(|line| !line.trim().is_empty()).filter(|_| read.is_ok());
    last.map_or(String::new(), |last| format!(": {}", last.trim().chars().take(300).collect::<String>()))
}

/// Starts the browser. It keeps its files at this path in the workspace, and a socket too, whose path has to be short.
fn started(program: &Path, place: &Path, said: File, has_sandbox: bool) -> io::Result<Child> {
    let here = if cfg!(target_os = "linux") { "/proc/self/cwd".into() } else { std::env::current_dir()? };
    let place = here.join(place.file_name().unwrap_or_default());
    // The running program, even if its file was moved.
    let ours = if cfg!(target_os = "linux") { "/proc/self/exe".into() } else { std::env::current_exe()? };
    let mut command = Command::new(ours);
    command.arg(BECOME).arg(program).args(SWITCHES);
    command.arg(format!("--user-data-dir={}", place.join("profile").display())).env("TMPDIR", &place);
    if !has_sandbox {
        command.arg("--no-sandbox");
    }
    command.arg("about:blank").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(said).spawn()
}

/// The browser itself makes no requests and sends no reports. Pages cannot detect that a program controls it.
const SWITCHES: [&str; 24] = [
    "--headless",
    "--disable-blink-features=AutomationControlled",
    "--remote-debugging-pipe",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--mute-audio",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-background-networking",
    "--disable-breakpad",
    "--disable-client-side-phishing-detection",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-domain-reliability",
    "--disable-extensions",
    "--disable-sync",
    "--metrics-recording-only",
    "--no-pings",
    "--password-store=basic",
    "--proxy-server=http://127.0.0.1:9",
    "--proxy-bypass-list=<-loopback>",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
];

fn keep_pictures(pages: &[String], all: &[PageFindings]) -> Result<(), Box<dyn std::error::Error>> {
    // Removes anything that a preview has put there.
    SafePath::below(Path::new("."), SCREENS).fresh()?;
    for (path, findings) in pages.iter().zip(all) {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        let stem = path.rsplit_once('.').map_or(path.as_str(), |(stem, _)| stem);
        let name: String = stem.chars().map(|c| if is_plain(c) { c } else { '_' }).take(80).collect();
        for screenshot in &findings.screenshots {
            if let Some(picture) = &screenshot.picture {
                let (width, height) = screenshot.size;
                let file = Path::new(SCREENS).join(format!("{name}-{width}x{height}.png"));
                atomic::replace(&file, picture, Durability::Order)?;
            }
        }
    }
    Ok(())
}
