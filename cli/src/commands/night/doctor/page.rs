//! Formats the results for people, with the same marks as `doctor`.

use crate::commands::doctor::line::{Line, Mark};
use crate::commands::night::doctor::NightDoctorReport;
use crate::nights::check::{About, Check, State};
use crate::terminal::style::Style;
use crate::text::figures::count;
use crate::text::width::flowed;

pub fn page(report: &NightDoctorReport, width: usize, style: Style) -> String {
    let mut lines = vec![format!("night: {}", report.file)];
    for about in About::ALL {
        let own: Vec<&Check> = report.checks.iter().filter(|check| check.about == about).collect();
        if !own.is_empty() {
            lines.extend([String::new(), style.bold(about.word())]);
            lines.extend(own.into_iter().flat_map(|check| line(check).shown(width, style)));
        }
    }
    let faults = report.checks.iter().filter(|check| check.is_broken()).count();
    let (word, rest) = if report.ready {
        (style.green("ready:"), "no problems found".to_owned())
    } else {
        let verb = if faults == 1 { "keeps" } else { "keep" };
        (style.red("not ready:"), format!("{} {verb} tonight from working", count(faults, "fault")))
    };
    lines.push(String::new());
    lines.extend(flowed(&format!("{word} {rest}"), width, "  "));
    lines.join("\n")
}

fn line(check: &Check) -> Line {
    let mark = match check.state {
        State::Fine => Mark::Good,
        State::Unknown => Mark::Absent,
        State::Broken => Mark::Bad,
    };
    let fix = check.fix.as_ref().map_or(String::new(), |fix| format!("; {fix}"));
    Line { mark, text: format!("{}{fix}", check.text) }
}
