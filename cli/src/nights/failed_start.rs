//! The last start of a night that failed as a whole, such as on a full disk or with an untrusted file of jobs: the
//! journal does not have it.
//!
//! It is in a small file beside the journal, which is made beforehand and overwritten in place: a full disk has no room
//! for a new one.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use skilltune_orchestrator::disk::SafePath;
use skilltune_phases::base::json;
use skilltune_phases::nights::night::Morning;

use crate::nights::book::Shelf;
use crate::nights::secrets::Secrets;
use crate::terminal::complaint::Complaint;
use crate::text::figures;
use crate::text::plain::one_line;

/// One block of a disk.
const SIZE: usize = 512;

/// The longest reason; the rest of the block is for the time and for what JSON escapes.
const LONGEST: usize = 200;

/// Its keys are those of `failed_start` in the JSON of `night status`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedStart {
    pub at: Timestamp,
    pub why: String,
}

fn place(shelf: &Shelf) -> SafePath {
    shelf.place("failed-start.json")
}

/// Makes the file. A failure here does not fail the night.
pub fn make_room(shelf: &Shelf) {
    let place = place(shelf);
    if !place.exists() {
        let _ = place.create(&[b' '; SIZE]);
    }
}

/// Records a failure, if there is room for it.
pub fn record(shelf: &Shelf, at: Timestamp, complaint: &Complaint, secrets: &Secrets) {
    let why = one_line(&secrets.hide(&complaint.in_one_line()));
    let why = why.chars().filter(char::is_ascii).take(LONGEST).collect();
    let mut text = json::line(&FailedStart { at, why }).into_bytes();
    text.resize(SIZE, b' ');
    let _ = place(shelf).overwrite(&text);
}

/// Returns the last failure, if it came after this moment.
pub fn since(shelf: &Shelf, moment: Option<Timestamp>) -> Option<FailedStart> {
    let bytes = place(shelf).read(SIZE as u64).ok()??;
    let failed: FailedStart = serde_json::from_slice(&bytes).ok()?;
    moment.is_none_or(|moment| failed.at >= moment).then_some(failed)
}

/// Returns the last failure between the begin of a scheduled night and of the one before it that ran to its end. That
/// one may have failed itself, after its end, when it wrote its pages.
pub fn behind(shelf: &Shelf, morning: &Morning<'_>) -> Option<FailedStart> {
    let (night, before) = (morning.night, morning.before.map(|night| night.began));
    since(shelf, before).filter(|failed| night.scheduled && failed.at < night.began)
}

impl FailedStart {
    pub fn text(&self) -> String {
        format!("a night failed at {}: {}", figures::moment(self.at), one_line(&self.why))
    }
}

#[cfg(test)]
mod tests {
    use jiff::SignedDuration;
    use jiff::tz::TimeZone;
    use skilltune_phases::nights::night::{Entry, Event, History, Over};

    use super::*;
    use crate::terminal::environment::Environment;

    fn shelf() -> (tempfile::TempDir, Shelf) {
        let folder = tempfile::tempdir().unwrap();
        let shelf = Shelf::at(folder.path());
        (folder, shelf)
    }

    fn secrets() -> Secrets {
        Secrets::of(&Environment::fake("/w", &[]))
    }

    #[test]
    fn a_failure_is_kept_in_the_block_that_was_made_for_it_until_a_later_night() {
        let (_folder, shelf) = shelf();
        let (at, secrets) = (Timestamp::UNIX_EPOCH, secrets());
        let full = Complaint::ours("cannot write").caused_by("no \"space\"\n".repeat(100));
        record(&shelf, at, &full, &secrets);
        assert_eq!(since(&shelf, None), None, "there is no room for it");
        make_room(&shelf);
        assert_eq!(since(&shelf, None), None);
        record(&shelf, at, &full, &secrets);
        let failed = since(&shelf, Some(at)).unwrap();
        let text = "a night failed at 1970-01-01 00:00:00 UTC: cannot write: no \"space\" no";
        assert!(failed.text().starts_with(text), "{failed:?}");
        assert_eq!(place(&shelf).read(SIZE as u64).unwrap().unwrap().len(), SIZE);
        let later = at + jiff::SignedDuration::from_hours(24);
        assert_eq!(since(&shelf, Some(later)), None);
        let short = Complaint::ours("x");
        record(&shelf, later, &short, &secrets);
        assert_eq!(since(&shelf, Some(later)).unwrap().why, "x");
    }

    fn day(nth: i64) -> Timestamp {
        Timestamp::UNIX_EPOCH + SignedDuration::from_hours(24 * nth)
    }

    /// Returns three nights, of which the second one ended or was killed.
    fn nights(is_second_whole: bool) -> History {
        let mut entries = Vec::new();
        for nth in 1..=3 {
            let (at, night) = (day(nth), format!("n{nth}").parse().unwrap());
            let date = at.to_zoned(TimeZone::UTC).date();
            let began = Event::Began { night, date, scheduled: true, jobs: Vec::new(), shard: None };
            let over = (nth != 2 || is_second_whole).then_some(Event::Over { why: Over::Done });
            entries.extend([began].into_iter().chain(over).map(|event| Entry { at, event }));
        }
        History::of(&entries)
    }

    #[test]
    fn a_morning_knows_of_a_failure_since_the_last_night_that_ran_to_its_end_and_of_that_one() {
        let (_folder, shelf) = shelf();
        make_room(&shelf);
        let (whole, killed) = (nights(true), nights(false));
        for (at, after_whole, after_killed) in [(1, false, true), (2, true, true), (3, false, false)] {
            record(&shelf, day(at), &Complaint::ours("x"), &secrets());
            let is_behind = |history| behind(&shelf, &Morning::of(history).unwrap()).is_some();
            assert_eq!((is_behind(&whole), is_behind(&killed)), (after_whole, after_killed), "{at}");
        }
    }

    #[test]
    fn a_file_that_somebody_else_prepared_is_no_failure() {
        let (folder, shelf) = shelf();
        let path = folder.path().join("failed-start.json");
        for text in ["{}", "[", &"x".repeat(SIZE + 1)] {
            std::fs::write(&path, text).unwrap();
            assert_eq!(since(&shelf, None), None, "{text}");
        }
        std::fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink("/etc/passwd", &path).unwrap();
        record(&shelf, Timestamp::UNIX_EPOCH, &Complaint::ours("x"), &secrets());
        assert!(since(&shelf, None).is_none() && path.is_symlink());
    }
}
