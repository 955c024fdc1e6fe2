//! Reads a macOS launch agent in the form that we write.

use super::{Reading, job, time, variable};
use crate::nights::install::launchd::plist;

pub fn read(name: &str, text: &str) -> Reading {
    let arguments = after(text, "ProgramArguments", "array").map(|array| all(array, "string"));
    let mut command = arguments.unwrap_or_default();
    if command.last().is_some_and(|last| last == "--quiet") {
        command.pop();
    }
    let dictionary = after(text, "EnvironmentVariables", "dict").unwrap_or_default();
    let pairs = all(dictionary, "key").into_iter().zip(all(dictionary, "string"));
    let env: Vec<_> = pairs.filter_map(|(name, value)| variable(&format!("{name}={value}"))).collect();
    let number = |key| after(text, key, "integer");
    let at = number("Hour").zip(number("Minute")).and_then(|(hour, minute)| time(hour, minute));
    let job = job(name, &command, &env, at);
    let is_ours = job.as_ref().is_some_and(|job| plist(job) == text);
    Reading { job, is_ours, env: env.into_iter().collect(), has_more_env: false }
}

/// Returns the content of the element of this kind that follows a key.
fn after<'a>(text: &'a str, key: &str, element: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(&format!("<key>{key}</key>"))?;
    let (_, rest) = rest.split_once(&format!("<{element}>"))?;
    Some(rest.split_once(&format!("</{element}>"))?.0)
}

/// Returns the texts of all elements of this kind.
fn all(text: &str, element: &str) -> Vec<String> {
    let (open, close) = (format!("<{element}>"), format!("</{element}>"));
    let parts = text.split(open.as_str()).skip(1).filter_map(|part| Some(part.split_once(&close)?.0));
    parts.map(|part| part.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nights::install::job::tests::{hostile, job as plain};

    #[test]
    fn what_install_writes_is_read_back_as_it_was() {
        for job in [plain(), hostile()] {
            let env = job.env.iter().cloned().collect();
            let read = read(&job.name, &plist(&job));
            assert_eq!(read, Reading { job: Some(job), is_ours: true, env, has_more_env: false });
        }
    }

    #[test]
    fn what_is_no_start_of_ours_is_none() {
        let text = plist(&plain());
        let later =
            read(&plain().name, &text.replace("<integer>2<", "<integer>4<").replace("--scheduled", "x"));
        assert_eq!((later.job, later.is_ours), (None, false));
        for text in ["", "<key>ProgramArguments</key><array><string>", &text.replace("Hour", "Month")] {
            assert_eq!(read(&plain().name, text).job, None, "{text}");
        }
    }
}
