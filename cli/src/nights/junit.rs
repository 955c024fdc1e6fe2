//! `junit.xml` of a night: each job is a test case, for CI systems. `docs/schemas/junit.xsd` describes it.
//!
//! A skill that works worse is a failure. A failed agent, service or skilltune is an error, and so is a job that could
//! not be judged for three nights, for any reason. Another job that did not run, or that is undecided, is skipped. A
//! skill that was low once passes, and a property says so. A search without a winner passes: the skill stays unchanged.

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use skilltune_phases::base::name::Name;
use skilltune_phases::nights::night::{Done, End, Halt, Morning, Work, Worse};

use crate::loops::tune::report::junit::safe;
use crate::nights::failed_start::FailedStart;
use crate::nights::json::kind_of;
use crate::nights::morning::{UNREACHED, ended, headline, left, stuck, worse};

/// Formats a morning. `failed` is the failure of an earlier night that no page has said yet.
pub fn junit(morning: &Morning<'_>, failed: Option<&FailedStart>) -> String {
    let night = morning.night;
    let mut report = Report::new("skilltune night");
    let mut suite = TestSuite::new("night");
    suite.add_property(("night", night.name.as_str()));
    suite.add_property(("date", night.date.to_string().as_str()));
    suite.add_property(("needs_you", safe(&headline(morning, failed)).as_str()));
    suite.add_test_cases(night.jobs.iter().map(|job| case(morning, job)));
    report.add_test_suite(suite);
    report.to_string().expect("a text of safe characters has an XML text")
}

/// The result of a job.
enum Result {
    Passed,
    /// Low once, not confirmed.
    Flaky(String),
    Regressed(&'static str, String),
    Infra(&'static str, String),
    Skipped(&'static str, String),
}

fn case(morning: &Morning<'_>, job: &Name) -> TestCase {
    let done: Vec<&Done> = morning.night.done.iter().filter(|done| done.job == *job).collect();
    let result = result(morning, job, &done);
    let status = match &result {
        Result::Passed | Result::Flaky(_) => TestCaseStatus::success(),
        Result::Regressed(kind, why) => {
            with_reason(TestCaseStatus::non_success(NonSuccessKind::Failure), kind, why)
        }
        Result::Infra(kind, why) => {
            with_reason(TestCaseStatus::non_success(NonSuccessKind::Error), kind, why)
        }
        Result::Skipped(kind, why) => with_reason(TestCaseStatus::skipped(), kind, why),
    };
    let mut case = TestCase::new(safe(job), status);
    case.set_classname("night");
    if let Result::Flaky(why) = &result {
        case.add_property(("flaky", safe(why).as_str()));
    }
    for done in done {
        let run = done.outcome.run.as_ref().map_or("", |run| run.as_str());
        let value = format!("{} {run}", ended(&done.outcome));
        case.add_property((done.work.word(), safe(&value).as_str()));
    }
    case
}

fn with_reason(mut status: TestCaseStatus, kind: &str, why: &str) -> TestCaseStatus {
    status.set_type(kind).set_message(safe(why));
    status
}

/// Returns the worst known result of a job.
fn result(morning: &Morning<'_>, job: &Name, done: &[&Done]) -> Result {
    let worse_one = morning.worse.iter().find(|one| one.job() == job);
    if let Some(one) = worse_one.filter(|one| one.needs_you()) {
        let kind = match one {
            Worse::Drifts { .. } => "drift",
            Worse::Fell { change, .. } => kind_of(change),
        };
        return Result::Regressed(kind, worse(one));
    }
    if let Some(one) = morning.stuck.iter().find(|one| one.job == job && one.needs_you()) {
        return Result::Infra("not_judged", stuck::why(one));
    }
    if morning.broken.contains(&job) {
        return Result::Infra("killed", "skilltune failed or was killed before it ended".to_owned());
    }
    let ends = || done.iter().map(|done| (&done.outcome.end, ended(&done.outcome)));
    let infra = ends().find_map(|(end, why)| match end {
        End::Unjudged { .. } => Some(Result::Infra("not_judged", why)),
        End::Failed { .. } => Some(Result::Infra("failed", why)),
        End::Paused { halt: Halt::Away | Halt::Person, .. } => Some(Result::Infra("agent", why)),
        End::Paused { halt: Halt::Budget | Halt::Time, .. }
        | End::Decided(_)
        | End::Measured { .. }
        | End::Refused { .. } => None,
    });
    let skipped = || {
        ends().find_map(|(end, why)| match end {
            End::Refused { .. } => Some(Result::Skipped("did_not_run", why)),
            End::Paused { .. } => Some(Result::Skipped("paused", why)),
            End::Decided(decided) if decided.is_open => Some(Result::Skipped("indecisive", why)),
            End::Decided(_) | End::Measured { .. } | End::Unjudged { .. } | End::Failed { .. } => None,
        })
    };
    let put_off = || {
        let why = morning.left.iter().find(|(name, _)| *name == job).map(|(_, why)| left(why));
        let unreached = morning.unreached.contains(&job).then(|| UNREACHED.to_owned());
        Some(Result::Skipped("did_not_run", why.or(unreached)?))
    };
    let flaky = || {
        let was_low = done.iter().any(|done| matches!(done.work, Work::Again { .. }));
        let once = || "it scored low once, but not when retried the same night".to_owned();
        worse_one.map(worse).or_else(|| was_low.then(once)).map(Result::Flaky)
    };
    let nothing = || {
        let why = if morning.night.missing_shards().is_empty() {
            "nothing to do"
        } else {
            "no result: results of some shards are missing"
        };
        done.is_empty().then(|| Result::Skipped("did_not_run", why.to_owned()))
    };
    infra.or_else(skipped).or_else(put_off).or_else(flaky).or_else(nothing).unwrap_or(Result::Passed)
}

#[cfg(test)]
mod tests;
