//! A headless Chromium, controlled over two pipes, with one page. It has no network.

use std::io::{self, BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

const NAMES: [&str; 3] = ["chromium-headless-shell", "chromium", "google-chrome"];
const SWITCHES: [&str; 12] = [
    "--headless",
    "--remote-debugging-pipe",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--proxy-server=http://127.0.0.1:9",
    "--proxy-bypass-list=<-loopback>",
    "--host-resolver-rules=MAP * ~NOTFOUND",
];
/// Fails a test whose browser hangs.
const PATIENCE: Duration = Duration::from_secs(60);

/// One test at a time has a browser.
static TURN: Mutex<()> = Mutex::new(());

pub(super) struct Chromium {
    browser: Child,
    to: ChildStdin,
    from: Receiver<Value>,
    last: u64,
    session: Option<String>,
    /// The folder whose files a page may load.
    folder: PathBuf,
    faults: Vec<String>,
    has_loaded: bool,
    _profile: tempfile::TempDir,
    _turn: MutexGuard<'static, ()>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scheme {
    Light,
    Dark,
}

impl Drop for Chromium {
    fn drop(&mut self) {
        let _ = self.browser.kill();
        let _ = self.browser.wait();
    }
}

impl Chromium {
    /// Starts the installed browser. Without one, the test says so and is skipped.
    pub(super) fn start() -> Option<Self> {
        let known = NAMES.map(|name| Path::new("/usr/bin").join(name));
        let Some(program) = known.into_iter().find(|path| path.is_file()) else {
            let _ = writeln!(io::stderr(), "SKIPPED: no browser here; tests/programs installs one");
            return None;
        };
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let profile = tempfile::tempdir().unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", "exec \"$@\" 3<&0 4>&1 </dev/null >/dev/null", "sh"]).arg(program);
        command.args(SWITCHES).arg(format!("--user-data-dir={}", profile.path().display()));
        if rustix::process::geteuid().is_root() {
            command.arg("--no-sandbox");
        }
        command.arg("about:blank").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut browser = command.spawn().unwrap();
        let (to, from) = (browser.stdin.take().unwrap(), browser.stdout.take().unwrap());
        let (sender, receiver) = mpsc::channel();
        std::thread::spawn(move || {
            let messages = BufReader::new(from).split(0).map_while(Result::ok);
            for message in messages.filter_map(|bytes| serde_json::from_slice(&bytes).ok()) {
                if sender.send(message).is_err() {
                    break;
                }
            }
        });
        let mut chromium = Self {
            browser,
            to,
            from: receiver,
            last: 0,
            session: None,
            folder: PathBuf::new(),
            faults: Vec::new(),
            has_loaded: false,
            _profile: profile,
            _turn: turn,
        };
        chromium.attach();
        Some(chromium)
    }

    fn attach(&mut self) {
        let target = self.ask("Target.createTarget", json!({ "url": "about:blank" }));
        let session =
            self.ask("Target.attachToTarget", json!({ "targetId": target["targetId"], "flatten": true }));
        self.session = session["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page", "Runtime", "Log", "Network"] {
            self.ask(&format!("{domain}.enable"), json!({}));
        }
    }

    /// Opens a file below this folder and returns the time until it has loaded.
    pub(super) fn open(&mut self, folder: &Path, file: &str) -> Duration {
        folder.clone_into(&mut self.folder);
        self.has_loaded = false;
        let begin = Instant::now();
        let opened = self.ask("Page.navigate", json!({ "url": url(folder, file) }));
        assert_eq!(opened.get("errorText"), None, "{file} cannot be opened");
        while !self.has_loaded {
            let message = self.next();
            self.hear(&message);
        }
        begin.elapsed()
    }

    pub(super) fn resize(&mut self, width: u32, height: u32) {
        let size = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        self.ask("Emulation.setDeviceMetricsOverride", size);
    }

    /// Shows pages in this colour scheme, on a screen or on paper.
    pub(super) fn show(&mut self, scheme: Scheme, media: &str) {
        let scheme = if scheme == Scheme::Dark { "dark" } else { "light" };
        let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        self.ask("Emulation.setEmulatedMedia", json!({ "media": media, "features": features }));
    }

    /// Lets pages opened from here on run their scripts, or not. `evaluate` works either way.
    pub(super) fn run_scripts(&mut self, are_run: bool) {
        self.ask("Emulation.setScriptExecutionDisabled", json!({ "value": !are_run }));
    }

    /// Returns the value of an expression in the page.
    pub(super) fn evaluate(&mut self, expression: &str) -> Value {
        let call = json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        let mut answer = self.ask("Runtime.evaluate", call);
        assert_eq!(answer.get("exceptionDetails"), None, "a script of the test throws");
        answer["result"]["value"].take()
    }

    pub(super) fn text(&mut self, expression: &str) -> String {
        self.evaluate(expression).as_str().unwrap_or_default().to_owned()
    }

    /// Takes a screenshot of the whole page: a PNG.
    pub(super) fn screenshot(&mut self) -> Vec<u8> {
        const HIGHEST: f64 = 12_000.0;
        let size = self.ask("Page.getLayoutMetrics", json!({}))["cssContentSize"].take();
        let height = size["height"].as_f64().unwrap().min(HIGHEST);
        let clip = json!({ "x": 0, "y": 0, "width": size["width"], "height": height, "scale": 1 });
        let call = json!({ "format": "png", "captureBeyondViewport": true, "clip": clip });
        decoded(self.ask("Page.captureScreenshot", call)["data"].as_str().unwrap())
    }

    /// Returns the errors, dialogs and requests of the pages since the last call.
    pub(super) fn take_faults(&mut self) -> Vec<String> {
        // Events that the browser sent before this answer are heard first.
        self.ask("Runtime.evaluate", json!({ "expression": "0" }));
        std::mem::take(&mut self.faults)
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params);
        loop {
            let mut message = self.next();
            if message["id"] == id {
                assert_eq!(message.get("error"), None, "{method} is refused");
                return message["result"].take();
            }
            self.hear(&message);
        }
    }

    fn send(&mut self, method: &str, params: Value) -> u64 {
        self.last += 1;
        let mut message = json!({ "id": self.last, "method": method });
        message["params"] = params;
        if let Some(session) = &self.session {
            message["sessionId"] = session.as_str().into();
        }
        self.to.write_all(format!("{message}\0").as_bytes()).unwrap();
        self.last
    }

    fn next(&mut self) -> Value {
        self.from.recv_timeout(PATIENCE).expect("the browser answers")
    }

    fn hear(&mut self, message: &Value) {
        let params = &message["params"];
        let fault = match message["method"].as_str().unwrap_or_default() {
            "Page.loadEventFired" => {
                self.has_loaded = true;
                return;
            }
            "Page.javascriptDialogOpening" => {
                self.send("Page.handleJavaScriptDialog", json!({ "accept": false }));
                format!("a dialog: {}", params["message"])
            }
            "Runtime.exceptionThrown" => format!("an exception: {}", params["exceptionDetails"]),
            "Runtime.consoleAPICalled" => format!("a console message: {}", params["args"]),
            "Log.entryAdded" => format!("a log entry: {}", params["entry"]),
            "Network.requestWillBeSent" if !self.is_own(&params["request"]["url"]) => {
                format!("a request for {}", params["request"]["url"])
            }
            "Page.windowOpen" => format!("a window for {}", params["url"]),
            _ => return,
        };
        self.faults.push(fault);
    }

    fn is_own(&self, requested: &Value) -> bool {
        requested.as_str().is_some_and(|requested| requested.starts_with(&url(&self.folder, "")))
    }
}

fn url(folder: &Path, file: &str) -> String {
    format!("file://{}/{file}", folder.display())
}

/// Decodes base64 from the browser.
fn decoded(text: &str) -> Vec<u8> {
    let value = |letter: u8| match letter {
        b'A'..=b'Z' => letter - b'A',
        b'a'..=b'z' => letter - b'a' + 26,
        b'0'..=b'9' => letter - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let letters: Vec<u8> = text.trim_end_matches('=').bytes().map(value).collect();
    let four = |four: &[u8]| {
        let bits =
            four.iter().enumerate().fold(0, |bits, (nth, six)| bits | u32::from(*six) << (26 - 6 * nth));
        bits.to_be_bytes().into_iter().take(four.len() - 1)
    };
    letters.chunks(4).flat_map(four).collect()
}
