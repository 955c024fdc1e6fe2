//! Serves the worlds of `skilltune-research` to another search program: one request per line, one JSON answer each.
//!
//! ```text
//! {"begin": {"law": {"fixes": 0.3}, "seed": 7, "runs": 64, "confidence": 0.9}}   the start is version 0
//! {"try": [[0, 3], [0, 5]]}                                                      versions on scenarios
//! {"improve": {"version": 0, "missed": ["scenario-3/facet-7"]}}                  a new version
//! {"confirm": 1}                                                                 the final comparison
//! {"end": 1}                                                                     what it was worth, and what it took
//! ```

use std::error::Error;
use std::io::{self, BufRead, Write};

use serde::Deserialize;
use serde_json::{Value, json};
use skilltune_phases::judging::contract::CriterionId;
use skilltune_phases::judging::proof::Confidence;
use skilltune_research::{Law, Rival, World};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

#[derive(Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum Request {
    Begin {
        #[serde(default)]
        law: Law,
        seed: u64,
        runs: u32,
        #[serde(default)]
        confidence: Confidence,
    },
    Try(Vec<(usize, usize)>),
    Improve {
        version: usize,
        missed: Vec<CriterionId>,
    },
    Confirm(usize),
    End(usize),
}

fn main() -> Result<()> {
    serve(io::stdin().lock(), io::stdout().lock())
}

/// Answers requests until one is invalid.
fn serve(requests: impl BufRead, mut answers: impl Write) -> Result<()> {
    let mut rival = None;
    for line in requests.lines() {
        let answer = answer(&mut rival, serde_json::from_str(&line?)?)?;
        serde_json::to_writer(&mut answers, &answer)?;
        answers.write_all(b"\n")?;
        answers.flush()?;
    }
    Ok(())
}

fn answer(world: &mut Option<Rival>, request: Request) -> Result<Value> {
    let known = "there is no such version or scenario";
    Ok(match request {
        Request::Begin { law, seed, runs, confidence } => {
            let rival = world.insert(Rival::new(World::new(law, seed), runs, confidence));
            let (searched, search_runs) = (rival.searched(), rival.search_runs());
            json!({ "scenarios": rival.scenarios(), "searched": searched, "search_runs": search_runs })
        }
        Request::Try(trials) => {
            let rival = begun(world)?;
            let tried = trials.into_iter().map(|(version, scenario)| rival.attempt(version, scenario));
            json!(tried.collect::<Option<Vec<_>>>().ok_or(known)?)
        }
        Request::Improve { version, missed } => json!(begun(world)?.improve(version, &missed).ok_or(known)?),
        Request::Confirm(version) => json!(begun(world)?.confirm(version)),
        Request::End(version) => {
            let rival = begun(world)?;
            let end = rival.truth(version).ok_or(known)?;
            json!({ "start": rival.truth(0), "end": end, "runs": rival.runs() })
        }
    })
}

fn begun(world: &mut Option<Rival>) -> Result<&mut Rival> {
    Ok(world.as_mut().ok_or("no world was begun")?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answers(requests: &[Value]) -> Result<Vec<Value>> {
        let lines: Vec<String> = requests.iter().map(Value::to_string).collect();
        let mut answers = Vec::new();
        serve(lines.join("\n").as_bytes(), &mut answers)?;
        answers.split_inclusive(|byte| *byte == b'\n').map(|line| Ok(serde_json::from_slice(line)?)).collect()
    }

    #[test]
    fn each_request_has_an_answer_and_the_runs_are_counted() {
        let begin = json!({ "begin": { "law": { "fixes": 1.0, "breaks": 0.0 }, "seed": 7, "runs": 64 } });
        let tried = answers(&[begin.clone(), json!({ "try": [[0, 0], [0, 1]] })]).unwrap()[1].clone();
        let statements = tried[0]["statements"].as_array().unwrap().iter();
        let missed: Vec<&Value> =
            statements.filter(|one| one["is_met"] == false).map(|one| &one["id"]).collect();
        assert!(!missed.is_empty(), "{tried}");
        let improve = json!({ "improve": { "version": 0, "missed": missed } });
        let all =
            answers(&[begin, json!({ "try": [[0, 0], [0, 1]] }), improve, json!({ "end": 1 })]).unwrap();
        assert_eq!((&all[0]["scenarios"], all[1] == tried, &all[2]), (&json!(24), true, &json!(1)));
        assert!(all[3]["end"].as_f64().unwrap() > all[3]["start"].as_f64().unwrap(), "{}", all[3]);
        assert_eq!(all[3]["runs"], 2);
    }

    #[test]
    fn what_is_not_there_ends_it() {
        assert!(answers(&[json!({ "try": [[0, 0]] })]).is_err());
        let begin = json!({ "begin": { "seed": 7, "runs": 64 } });
        assert!(answers(&[begin.clone(), json!({ "try": [[0, 0]] })]).is_ok());
        assert!(answers(&[begin, json!({ "try": [[1, 0]] })]).is_err());
        assert!(answers(&[json!({ "begin": { "law": { "fixed": 1 }, "seed": 7, "runs": 64 } })]).is_err());
    }
}
