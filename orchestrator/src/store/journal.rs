//! `history.jsonl`: one record per line, with its sequence number and a checksum. The only source of truth of a run.
//!
//! When `append` returns, the operating system has the line (enough against `kill -9`). It is on the disk a few tens of
//! milliseconds later, with several lines per sync. `barrier` waits for the disk.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::PathBuf;

use jiff::Timestamp;
use serde::Deserialize;
use skilltune_phases::base::id::Digest;
use skilltune_phases::base::json;
use skilltune_phases::loops::Loop;
use skilltune_phases::runs::event::{Event, Record};
use skilltune_phases::runs::plan::{FORMAT, Plan};

use super::checksum;
use super::sync::Syncer;
use crate::crash;
use crate::disk::{DiskError, OnDisk, SafePath};

/// Far more than the longest line of ours. A longer line is not read into memory.
const LONGEST: u64 = 16 << 20;
/// A larger journal is neither written nor read: about thirty thousand calls.
const LARGEST: u64 = 64 << 20;
/// The part at the end of a journal that says whether its run has ended.
const TAIL: u64 = 64 << 10;

#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    #[error(transparent)]
    Disk(#[from] DiskError),
    #[error("line {line} of {path} is damaged: {why}", path = path.display())]
    Damaged { path: PathBuf, line: usize, why: &'static str },
    #[error("{path} has format {found}; this version of skilltune writes format {FORMAT}", path = path.display())]
    Newer { path: PathBuf, found: u32 },
    #[error("{path} does not start with the plan of a run", path = path.display())]
    NoPlan { path: PathBuf },
    #[error("{path} is larger than {LARGEST} bytes, the limit for a journal", path = path.display())]
    TooLarge { path: PathBuf },
    #[error("a line of {path} would be longer than {LONGEST} bytes", path = path.display())]
    LongLine { path: PathBuf },
    #[error("{path} is missing", path = path.display())]
    Missing { path: PathBuf },
}

#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: File,
    length: u64,
    next_seq: u64,
    syncer: Syncer,
    line: Vec<u8>,
}

/// The content of a journal when it was read.
#[derive(Debug)]
pub struct History<L: Loop> {
    pub records: Vec<Record<L>>,
    /// The bytes of an unfinished last line, written by a program that was killed meanwhile.
    pub torn: usize,
    whole: u64,
}

impl Journal {
    /// Creates a journal with its first lines, all or none, so that no journal exists for a run that never began.
    pub fn begin<L: Loop>(
        path: &SafePath,
        at: Timestamp,
        events: impl IntoIterator<Item = Event<L>>,
    ) -> Result<(Self, Vec<Record<L>>), JournalError> {
        let (mut records, mut lines, mut line) = (Vec::new(), Vec::new(), Vec::new());
        for (seq, event) in (0..).zip(events) {
            let record = Record { seq, at, event };
            line.clear();
            encode(&record, &mut line);
            if line.len() as u64 > LONGEST {
                return Err(JournalError::LongLine { path: path.path().to_owned() });
            }
            lines.extend_from_slice(&line);
            if lines.len() as u64 > LARGEST {
                return Err(JournalError::TooLarge { path: path.path().to_owned() });
            }
            records.push(record);
        }
        path.create(&lines)?;
        let journal = Self::on(path, path.open_append()?, lines.len() as u64, records.len() as u64)?;
        journal.syncer.wake();
        Ok((journal, records))
    }

    /// Opens a journal for appending and cuts off a torn last line.
    pub fn resume<L: Loop>(path: &SafePath) -> Result<(Self, History<L>), JournalError> {
        let history = read(path)?;
        let named = || path.path().to_owned();
        let Some(Event::Started(plan)) = history.records.first().map(|record| &record.event) else {
            return Err(JournalError::NoPlan { path: named() });
        };
        if plan.format > FORMAT {
            return Err(JournalError::Newer { path: named(), found: plan.format });
        }
        let file = path.open_append()?;
        file.set_len(history.whole).on_disk("remove the incomplete last line of", path.path())?;
        let next_seq = history.records.last().map_or(0, |record| record.seq + 1);
        Ok((Self::on(path, file, history.whole, next_seq)?, history))
    }

    fn on(path: &SafePath, file: File, length: u64, next_seq: u64) -> Result<Self, JournalError> {
        let path = path.path().to_owned();
        let syncer = Syncer::start(file.try_clone().on_disk("open", &path)?, &path);
        Ok(Self { path, file, length, next_seq, syncer, line: Vec::new() })
    }

    pub fn append<L: Loop>(&mut self, at: Timestamp, event: Event<L>) -> Result<Record<L>, JournalError> {
        self.syncer.check()?;
        let record = Record { seq: self.next_seq, at, event };
        self.line.clear();
        encode(&record, &mut self.line);
        if self.line.len() as u64 > LONGEST {
            return Err(JournalError::LongLine { path: self.path.clone() });
        }
        if self.length + self.line.len() as u64 > LARGEST {
            return Err(JournalError::TooLarge { path: self.path.clone() });
        }
        crash::point("before a journal line");
        let written = self.file.write_all(&self.line).on_disk("write", &self.path);
        if written.is_err() {
            // Remove the part of a line that did not fit (a full disk). If that fails too, the torn line is cut off
            // when the journal is next resumed.
            let _ = self.file.set_len(self.length);
        }
        written?;
        self.length += self.line.len() as u64;
        crash::point("after a journal line");
        self.next_seq += 1;
        self.syncer.wake();
        Ok(record)
    }

    /// Waits until every line is on the disk.
    pub fn barrier(&self) -> Result<(), JournalError> {
        Ok(self.file.sync_data().on_disk("sync", &self.path)?)
    }
}

/// Reads a journal without changing it. A torn last line is left out; damage anywhere else is an error.
pub fn read<L: Loop>(path: &SafePath) -> Result<History<L>, JournalError> {
    let named = || path.path().to_owned();
    let file = path.open()?.ok_or_else(|| JournalError::Missing { path: named() })?;
    if file.metadata().on_disk("access", path.path())?.len() > LARGEST {
        return Err(JournalError::TooLarge { path: named() });
    }
    let mut reader = BufReader::new(file.take(LARGEST));
    let (mut records, mut line, mut whole) = (Vec::new(), Vec::new(), 0);
    loop {
        line.clear();
        let length = next_line(&mut reader, &mut line).on_disk("read", path.path())?;
        let damaged = |why| JournalError::Damaged { path: named(), line: records.len() + 1, why };
        if line.last() != Some(&b'\n') {
            if length > LONGEST {
                return Err(damaged("it is too long"));
            }
            return Ok(History { records, torn: line.len(), whole });
        }
        let record: Record<L> = decode(&line[..line.len() - 1]).map_err(damaged)?;
        if record.seq != records.len() as u64 {
            return Err(damaged("its number is out of order"));
        }
        records.push(record);
        whole += length;
    }
}

/// Appends the next line with its end. Of a line that is too long, reads one byte more than the longest.
fn next_line(reader: &mut impl BufRead, line: &mut Vec<u8>) -> std::io::Result<u64> {
    reader.by_ref().take(LONGEST + 1).read_until(b'\n', line).map(|length| length as u64)
}

const SUM: &str = "sum";
const SUM_DIGITS: usize = 16;

/// Encodes the record as JSON, with the checksum of everything before it as the last field.
fn encode<L: Loop>(record: &Record<L>, line: &mut Vec<u8>) {
    line.extend_from_slice(json::line(record).as_bytes());
    checksum::append(line, SUM, sum);
    line.push(b'\n');
}

fn decode<L: Loop>(line: &[u8]) -> Result<Record<L>, &'static str> {
    if !checksum::is_right(line, SUM, SUM_DIGITS, sum) {
        return Err("its checksum does not match");
    }
    serde_json::from_slice(line).map_err(|_| "unknown record")
}

fn sum(text: &[u8]) -> String {
    let mut hex = Digest::of(text).hex();
    hex.truncate(SUM_DIGITS);
    hex
}

/// The part of a plan that can be read without the rest, even from a newer program or another loop.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Label {
    pub format: u32,
    /// The name of the loop.
    #[serde(rename = "loop")]
    pub kind: String,
}

/// The label of the first line and the time when it was written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FirstLine {
    pub label: Option<Label>,
    pub at: Option<Timestamp>,
    /// False if the line is torn.
    pub is_whole: bool,
}

/// Reads the first line; `None` if there is no readable regular file.
pub fn first_line(path: &SafePath) -> Option<FirstLine> {
    let mut line = Vec::new();
    let mut reader = BufReader::new(path.open().ok()??);
    if next_line(&mut reader, &mut line).ok()? > LONGEST {
        return Some(FirstLine::default());
    }
    let head: Head = serde_json::from_slice(&line).unwrap_or_default();
    Some(FirstLine {
        label: head.event.and_then(|event| event.started),
        at: head.at,
        is_whole: line.last() == Some(&b'\n'),
    })
}

/// Reads the plan of a run, without the rest of its journal.
pub fn plan<L: Loop>(path: &SafePath) -> Option<Plan<L>> {
    let mut line = Vec::new();
    let mut reader = BufReader::new(path.open().ok()??);
    if next_line(&mut reader, &mut line).ok()? > LONGEST {
        return None;
    }
    match decode::<L>(line.strip_suffix(b"\n")?).ok()?.event {
        Event::Started(plan) => Some(*plan),
        Event::Done(_) | Event::Decided(_) | Event::Noted(_) => None,
    }
}

/// Returns true if the end of a journal shows that its run has ended. If it returns false, only the whole journal says.
pub fn has_closed<L: Loop>(path: &SafePath) -> bool {
    let Ok(Some(mut file)) = path.open() else { return false };
    let mut end = Vec::new();
    let from = file.metadata().map_or(0, |data| data.len().saturating_sub(TAIL));
    if file.seek(SeekFrom::Start(from)).is_err() || file.take(TAIL).read_to_end(&mut end).is_err() {
        return false;
    }
    // What follows its last whole line was torn, or is the beginning of a line.
    let lines = end.split(|byte| *byte == b'\n').rev().skip(1);
    let mut events = lines.map_while(|line| decode::<L>(line).ok()).map(|record| record.event);
    // A person's command may have added notes.
    let last = events.find(|event| !matches!(event, Event::Noted(_)));
    matches!(last, Some(Event::Decided(decision)) if L::closes(&decision))
}

/// Only the fields that are needed, so the rest of the line takes no memory.
#[derive(Default, Deserialize)]
struct Head {
    at: Option<Timestamp>,
    event: Option<Begun>,
}

#[derive(Deserialize)]
struct Begun {
    started: Option<Label>,
}

#[cfg(test)]
mod tests {
    use std::fs;

    use skilltune_phases::judging::stop::Reason;
    use skilltune_phases::loops::tune::{Decision, Ending, Event, Record, Tune};
    use skilltune_phases::runs::event::Signal;
    use tempfile::TempDir;

    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    fn event(nth: i64) -> Event {
        if nth % 2 == 0 {
            Event::Decided(Decision::Stop(Reason::Stalled))
        } else {
            Event::Noted(Signal::Held)
        }
    }

    fn written(lines: i64) -> (TempDir, SafePath, Vec<Record>) {
        let folder = TempDir::new().unwrap();
        let path = SafePath::below(folder.path(), "history.jsonl");
        let (mut journal, mut records) = Journal::begin(&path, at(0), [event(0)]).unwrap();
        records.extend((1..lines).map(|nth| journal.append(at(nth), event(nth)).unwrap()));
        journal.barrier().unwrap();
        (folder, path, records)
    }

    #[test]
    fn what_was_appended_is_read_back() {
        let (_folder, path, records) = written(5);
        let history = read::<Tune>(&path).unwrap();
        assert_eq!((history.records, history.torn), (records, 0));
    }

    #[test]
    fn the_end_of_a_journal_says_whether_its_run_has_ended() {
        let folder = TempDir::new().unwrap();
        let path = SafePath::below(folder.path(), "history.jsonl");
        let (mut journal, _) = Journal::begin(&path, at(0), [event(0)]).unwrap();
        assert!(!has_closed::<Tune>(&path));
        journal.append::<Tune>(at(1), Event::Decided(Decision::Close(Ending::Kept))).unwrap();
        let closed = fs::read(path.path()).unwrap();
        assert!(has_closed::<Tune>(&path));
        journal.append::<Tune>(at(2), Event::Noted(Signal::Held)).unwrap();
        let noted = fs::read(path.path()).unwrap();
        for (bytes, has_ended) in [
            (&noted[..], true),
            (&noted[..noted.len() - 1], true),
            (&closed[..closed.len() - 1], false),
            (&noted.repeat(2)[..noted.len() + 9], true),
            (b"\n", false),
            (b"", false),
        ] {
            fs::write(path.path(), bytes).unwrap();
            assert_eq!(has_closed::<Tune>(&path), has_ended, "{}", String::from_utf8_lossy(bytes));
        }
    }

    #[test]
    fn a_journal_may_begin_with_several_lines_and_goes_on_after_them() {
        let folder = TempDir::new().unwrap();
        let path = SafePath::below(folder.path(), "history.jsonl");
        let (mut journal, mut records) = Journal::begin(&path, at(0), [event(0), event(1)]).unwrap();
        records.push(journal.append(at(2), event(2)).unwrap());
        assert_eq!(read::<Tune>(&path).unwrap().records, records);
    }

    #[test]
    fn a_journal_cut_at_any_byte_reads_up_to_its_last_whole_line() {
        let (_folder, path, records) = written(4);
        let text = fs::read(path.path()).unwrap();
        for length in 0..text.len() {
            fs::write(path.path(), &text[..length]).unwrap();
            let lines = text[..length]
                .split_inclusive(|&byte| byte == b'\n')
                .filter(|line| line.ends_with(b"\n"))
                .count();
            let history = read::<Tune>(&path).unwrap();
            assert_eq!(history.records, records[..lines]);
            assert_eq!(history.torn == 0, length == 0 || text[length - 1] == b'\n');
        }
    }

    #[test]
    fn any_changed_byte_is_noticed() {
        let (_folder, path, records) = written(3);
        let text = fs::read(path.path()).unwrap();
        for place in 0..text.len() {
            let mut damaged = text.clone();
            damaged[place] ^= 1;
            fs::write(path.path(), &damaged).unwrap();
            match read::<Tune>(&path) {
                Err(JournalError::Damaged { .. }) => {}
                Err(error) => panic!("{error}"),
                // The newline of the last line was changed, so the line is torn.
                Ok(history) => assert_eq!(history.records, records[..2], "byte {place}"),
            }
        }
    }

    #[test]
    fn a_line_that_is_missing_or_doubled_is_noticed() {
        let (_folder, path, _) = written(3);
        let text = fs::read_to_string(path.path()).unwrap();
        let lines: Vec<_> = text.split_inclusive('\n').collect();
        for order in [[0, 2, 2], [0, 0, 1], [1, 0, 2]] {
            fs::write(path.path(), order.map(|line| lines[line]).concat()).unwrap();
            assert!(matches!(read::<Tune>(&path), Err(JournalError::Damaged { .. })), "{order:?}");
        }
    }

    #[test]
    fn a_journal_that_starts_no_run_is_not_written_on() {
        let (_folder, path, _) = written(2);
        assert!(matches!(Journal::resume::<Tune>(&path), Err(JournalError::NoPlan { .. })));
    }

    #[test]
    fn a_journal_is_made_only_once() {
        let (_folder, path, _) = written(1);
        assert!(matches!(Journal::begin(&path, at(0), [event(0)]), Err(JournalError::Disk(_))));
    }

    #[test]
    fn a_journal_that_is_too_large_or_has_a_line_without_end_is_refused_unread() {
        let (_folder, path, _) = written(1);
        let open = || fs::OpenOptions::new().write(true).open(path.path()).unwrap();
        open().set_len(LONGEST + (1 << 20)).unwrap();
        assert!(matches!(read::<Tune>(&path), Err(JournalError::Damaged { line: 2, .. })));
        open().set_len(LARGEST + 1).unwrap();
        assert!(matches!(read::<Tune>(&path), Err(JournalError::TooLarge { .. })));
    }

    #[test]
    fn what_is_no_regular_file_is_no_journal() {
        let folder = TempDir::new().unwrap();
        let path = SafePath::below(folder.path(), "history.jsonl");
        assert!(matches!(read::<Tune>(&path), Err(JournalError::Missing { .. })));
        let owner = rustix::fs::Mode::RWXU;
        rustix::fs::mknodat(rustix::fs::CWD, path.path(), rustix::fs::FileType::Fifo, owner, 0).unwrap();
        assert!(matches!(read::<Tune>(&path), Err(JournalError::Disk(_))), "a FIFO would never end");
        assert_eq!(first_line(&path), None);
    }
}
