//! Our own model server on loopback: the real agents talk to it instead of their services.
//!
//! The scenario is in the base URL, so one server serves all tests: `http://127.0.0.1:PORT/s/SCENARIO`.

mod anthropic;
mod chat;
mod gemini;
mod http;
mod model;
mod openai;
mod responses;

use std::io::BufReader;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

use http::{Answer, Request};
use model::Scenario;

pub(crate) use model::{
    ADVICE, AGREED, DONE, FIRST, FIX, LISTENING, MISSING, NOTES, OUTWARD, OWN, PASSED, PYTHON, Project, RUST,
    TOLD, WORK,
};

/// How long a request waits for the one that should run in parallel.
const PATIENCE: Duration = Duration::from_secs(60);

#[derive(Clone)]
pub(crate) struct Server {
    address: SocketAddr,
    /// Scenarios and bodies of the requests.
    asked: Arc<Mutex<Vec<(String, String)>>>,
    news: Arc<Condvar>,
    relents: Arc<AtomicBool>,
}

impl Server {
    /// Starts a server that runs until the tests end.
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback can be listened on");
        let address = listener.local_addr().expect("it is bound");
        let server = Self { address, asked: Arc::default(), news: Arc::default(), relents: Arc::default() };
        let serving = server.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let serving = serving.clone();
                thread::spawn(move || serving.serve(stream));
            }
        });
        server
    }

    /// Stops requesting commands that do not end.
    pub(crate) fn relent(&self) {
        self.relents.store(true, Ordering::SeqCst);
    }

    pub(crate) fn url(&self, scenario: &str) -> String {
        format!("http://{}/s/{scenario}", self.address)
    }

    /// Returns the number of requests under a scenario.
    pub(crate) fn asked(&self, scenario: &str) -> usize {
        let asked = self.asked.lock().expect("nobody has panicked");
        asked.iter().filter(|(one, _)| one == scenario).count()
    }

    /// Returns the bodies of all requests.
    pub(crate) fn requests(&self) -> Vec<String> {
        let asked = self.asked.lock().expect("nobody has panicked");
        asked.iter().map(|(_, body)| body.clone()).collect()
    }

    /// Waits until the parallel request of this one has arrived, if it has one.
    fn has_company(&self, body: &str) -> bool {
        let Some(parts) = model::beside(body) else { return true };
        let is_alone = |asked: &mut Vec<(String, String)>| {
            !asked.iter().any(|(_, other)| parts.iter().all(|part| other.contains(part)))
        };
        let asked = self.asked.lock().expect("nobody has panicked");
        let waited = self.news.wait_timeout_while(asked, PATIENCE, is_alone);
        !waited.expect("nobody has panicked").1.timed_out()
    }

    /// Answers the requests of a connection until the client closes it.
    fn serve(&self, stream: TcpStream) {
        let mut stream = BufReader::new(stream);
        while let Some(request) = Request::read(&mut stream) {
            if !self.answer(&request).write(&mut stream) {
                return;
            }
        }
    }

    fn answer(&self, request: &Request) -> Answer {
        let Some((scenario, rest)) = request.path.strip_prefix("/s/").and_then(|path| path.split_once('/'))
        else {
            return Answer::status(404, "no scenario");
        };
        let is_asked = request.method == "POST" && !rest.contains("count_tokens");
        if is_asked {
            self.asked.lock().expect("nobody has panicked").push((scenario.to_owned(), request.body.clone()));
            self.news.notify_all();
        }
        if !self.has_company(&request.body) {
            return Answer::status(404, "nothing else was asked meanwhile");
        }
        let scenario = match Scenario::named(scenario, self.asked(scenario)) {
            Scenario::Long if self.relents.load(Ordering::SeqCst) => Scenario::Good,
            scenario => scenario,
        };
        if rest.starts_with("v1/messages") {
            anthropic::answer(scenario, rest, &request.body)
        } else if rest.contains(":streamGenerateContent") || rest.contains(":generateContent") {
            gemini::answer(scenario, rest, &request.body)
        } else if rest.ends_with("/responses") {
            responses::answer(scenario, &request.body)
        } else if rest.ends_with("/chat/completions") {
            chat::answer(scenario, &request.body)
        } else {
            Answer::status(404, "no such place")
        }
    }
}
