//! Reads systemd units, as described in systemd.syntax(7).

use jiff::civil::Time;

use super::{Reading, job, time, variable};
use crate::nights::install::systemd::units;

/// Reads the service and the timer, and what other files add to the service.
pub fn read(name: &str, service: &str, timer: &str, more: &[String]) -> Reading {
    let env = variables(service);
    let command = values(service, "Service", "ExecStart").pop().unwrap_or_default();
    let command: Vec<String> = words(command.trim_start_matches([':', '@', '-', '+', '!']));
    let job = job(name, &command, &env, at(timer));
    let texts = job.as_ref().and_then(|job| units(job).ok());
    let is_ours = texts.is_some_and(|[(_, ours), (_, times)]| ours == service && times == timer);
    let others: Vec<_> = more.iter().flat_map(|text| variables(text)).collect();
    let all = || std::iter::once(service).chain(more.iter().map(String::as_str));
    Reading {
        job,
        is_ours,
        env: env.into_iter().chain(others).collect(),
        has_more_env: all().any(|text| !values(text, "Service", "EnvironmentFile").is_empty()),
    }
}

fn variables(text: &str) -> Vec<(String, String)> {
    let all = values(text, "Service", "Environment").into_iter().flat_map(words);
    all.filter_map(|word| variable(&word)).collect()
}

fn at(timer: &str) -> Option<Time> {
    let calendar = values(timer, "Timer", "OnCalendar");
    let [only] = calendar[..] else { return None };
    let mut parts = only.strip_prefix("*-*-* ")?.split(':');
    let (hour, minute) = (parts.next()?, parts.next()?);
    if parts.next() == Some("00") { time(hour, minute) } else { None }
}

/// Returns the values of a key in a section, in order; an empty value resets those before it.
fn values<'a>(text: &'a str, section: &str, key: &str) -> Vec<&'a str> {
    let (mut is_inside, mut values) = (false, Vec::new());
    for line in text.lines().map(str::trim) {
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            is_inside = name == section;
            continue;
        }
        let Some((name, value)) = line.split_once('=').filter(|_| is_inside) else { continue };
        match (name.trim_end() == key, value.trim_start()) {
            (true, "") => values.clear(),
            (true, value) => values.push(value),
            (false, _) => {}
        }
    }
    values
}

/// Splits words with or without quotes, as `systemd.service(5)` describes.
pub fn words(text: &str) -> Vec<String> {
    let (mut words, mut word) = (Vec::new(), None::<String>);
    let (mut quote, mut letters) = (None, text.chars());
    while let Some(letter) = letters.next() {
        match (letter, quote) {
            (' ' | '\t', None) => words.extend(word.take()),
            ('"' | '\'', None) => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (letter, Some(open)) if letter == open => quote = None,
            ('\\', _) => word.get_or_insert_default().extend(letters.next()),
            (letter, _) => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    words.into_iter().map(|word| word.replace("%%", "%")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nights::install::job::Job;
    use crate::nights::install::job::tests::{hostile, job as plain};

    fn texts(job: &Job) -> [String; 2] {
        units(job).unwrap().map(|(_, text)| text)
    }

    #[test]
    fn what_install_writes_is_read_back_as_it_was() {
        // systemd does not start programs with such names.
        for job in [plain(), Job { program: "/usr/bin/skilltune".to_owned(), ..hostile() }] {
            let [service, timer] = texts(&job);
            let env = job.env.iter().cloned().collect();
            let read = read(&job.name, &service, &timer, &[]);
            assert_eq!(read, Reading { job: Some(job), is_ours: true, env, has_more_env: false });
        }
    }

    #[test]
    fn what_somebody_added_is_seen_and_what_is_no_start_of_ours_is_none() {
        let [service, timer] = texts(&plain());
        let more =
            "[Unit]\nEnvironment=NOT=this\n[Service]\nEnvironment=\"KEY=a b\" OTHER=c\nEnvironmentFile=/k\n";
        let with_more = read(&plain().name, &service, &timer, &[more.to_owned()]);
        assert_eq!(with_more.env.get("KEY").map(String::as_str), Some("a b"));
        assert_eq!(with_more.env.get("NOT"), None);
        assert!(with_more.is_ours && with_more.has_more_env);
        let later = timer.replace("02:30:00", "04:05:00\nPersistent=no");
        let changed = read(&plain().name, &service, &later, &[]);
        assert_eq!(changed.job.map(|job| job.at), Some(Time::constant(4, 5, 0, 0)));
        assert!(!changed.is_ours);
        for service in
            ["", "[Service]", &service.replace("--scheduled", "--quiet"), "[Service]\nExecStart=:\"\\"]
        {
            assert_eq!(read(&plain().name, service, &timer, &[]).job, None, "{service}");
        }
        for timer in ["", "[Timer]\nOnCalendar=hourly\n", &timer.replace("02:30:00", "99:30:00")] {
            assert_eq!(read(&plain().name, &service, timer, &[]).job, None, "{timer}");
        }
    }
}
