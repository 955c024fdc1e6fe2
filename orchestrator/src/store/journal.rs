//! `history.jsonl`: one record a line, with its sequence number and a checksum. The only truth of a run.
//!
//! A line is in the operating system's hands when `append` returns (enough against `kill -9`), and on the disk a few
//! tens of milliseconds later, several lines to a sync. `barrier` waits for the disk.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use skilltune_phases::event::{Event, Record};
use skilltune_phases::id::Digest;
use skilltune_phases::loops::Loop;
use skilltune_phases::plan::FORMAT;

use super::sync::Syncer;
use crate::atomic;
use crate::crash;
use crate::disk::{DiskError, OnDisk};

#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    #[error(transparent)]
    Disk(#[from] DiskError),
    #[error("line {line} of {path} is damaged: {why}", path = path.display())]
    Damaged { path: PathBuf, line: usize, why: &'static str },
    #[error("{path} has format {found}, and this program writes format {FORMAT}", path = path.display())]
    Newer { path: PathBuf, found: u32 },
    #[error("{path} does not begin with the plan of a run", path = path.display())]
    NoPlan { path: PathBuf },
}

#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: File,
    next_seq: u64,
    syncer: Syncer,
    line: Vec<u8>,
}

/// What a journal held when it was read.
#[derive(Debug)]
pub struct History<L: Loop> {
    pub records: Vec<Record<L>>,
    /// Bytes of a last line that was never finished: written by a program that was killed meanwhile.
    pub torn: usize,
    whole: u64,
}

impl Journal {
    /// Makes a new journal with its first line in it, so that there is no journal of a run that never began.
    pub fn begin<L: Loop>(
        path: &Path,
        at: Timestamp,
        event: Event<L>,
    ) -> Result<(Self, Record<L>), JournalError> {
        let record = Record { seq: 0, at, event };
        let mut line = Vec::new();
        encode(&record, &mut line);
        atomic::create(path, &line)?;
        let file = OpenOptions::new().append(true).open(path).on_disk("open", path)?;
        let journal = Self::on(path, file, 1)?;
        journal.syncer.wake();
        Ok((journal, record))
    }

    /// Takes up a journal to write on, its torn last line cut off.
    pub fn resume<L: Loop>(path: &Path) -> Result<(Self, History<L>), JournalError> {
        let history = read(path)?;
        let Some(Event::Started(plan)) = history.records.first().map(|record| &record.event) else {
            return Err(JournalError::NoPlan { path: path.to_owned() });
        };
        if plan.format > FORMAT {
            return Err(JournalError::Newer { path: path.to_owned(), found: plan.format });
        }
        let file = OpenOptions::new().append(true).open(path).on_disk("open", path)?;
        file.set_len(history.whole).on_disk("cut the torn last line of", path)?;
        let next_seq = history.records.last().map_or(0, |record| record.seq + 1);
        Ok((Self::on(path, file, next_seq)?, history))
    }

    fn on(path: &Path, file: File, next_seq: u64) -> Result<Self, JournalError> {
        let syncer = Syncer::start(file.try_clone().on_disk("open", path)?, path);
        Ok(Self { path: path.to_owned(), file, next_seq, syncer, line: Vec::new() })
    }

    pub fn append<L: Loop>(&mut self, at: Timestamp, event: Event<L>) -> Result<Record<L>, JournalError> {
        self.syncer.check()?;
        let record = Record { seq: self.next_seq, at, event };
        self.line.clear();
        encode(&record, &mut self.line);
        crash::point("journal: before a line");
        let written = self.file.write_all(&self.line).on_disk("write", &self.path);
        if written.is_err() {
            self.cut_back();
        }
        written?;
        crash::point("journal: after a line");
        self.next_seq += 1;
        self.syncer.wake();
        Ok(record)
    }

    /// Returns when every line is on the disk.
    pub fn barrier(&self) -> Result<(), JournalError> {
        Ok(self.file.sync_data().on_disk("sync", &self.path)?)
    }

    /// After a line that did not fit (a full disk), what was written of it goes; should that fail too, the torn line
    /// is cut when the journal is next taken up.
    fn cut_back(&self) {
        if let Ok(text) = std::fs::read(&self.path) {
            let whole = text.iter().rposition(|&byte| byte == b'\n').map_or(0, |last| last + 1);
            let _ = self.file.set_len(whole as u64);
        }
    }
}

/// Reads a journal without touching it. A torn last line is left out; damage anywhere else is an error.
pub fn read<L: Loop>(path: &Path) -> Result<History<L>, JournalError> {
    let text = std::fs::read(path).on_disk("read", path)?;
    let whole = text.iter().rposition(|&byte| byte == b'\n').map_or(0, |last| last + 1);
    let mut records = Vec::new();
    for (index, line) in
        text[..whole].split(|&byte| byte == b'\n').filter(|line| !line.is_empty()).enumerate()
    {
        let damaged = |why| JournalError::Damaged { path: path.to_owned(), line: index + 1, why };
        let record = decode(line).map_err(damaged)?;
        if record.seq != index as u64 {
            return Err(damaged("its number is out of order"));
        }
        records.push(record);
    }
    Ok(History { records, torn: text.len() - whole, whole: whole as u64 })
}

const SUM_HEAD: &[u8] = b",\"sum\":\"";
const SUM_TAIL: &[u8] = b"\"}";
const SUM_DIGITS: usize = 16;

/// The record as JSON, with the checksum of all before it as the last field.
fn encode<L: Loop>(record: &Record<L>, line: &mut Vec<u8>) {
    serde_json::to_writer(&mut *line, record).expect("a record has a JSON text");
    assert_eq!(line.pop(), Some(b'}'), "a record is a JSON object");
    let sum = checksum(line);
    line.extend_from_slice(SUM_HEAD);
    line.extend_from_slice(sum.as_bytes());
    line.extend_from_slice(SUM_TAIL);
    line.push(b'\n');
}

fn decode<L: Loop>(line: &[u8]) -> Result<Record<L>, &'static str> {
    let length = SUM_HEAD.len() + SUM_DIGITS + SUM_TAIL.len();
    let body = line.len().checked_sub(length).ok_or("it is too short")?;
    let (text, sum) = line.split_at(body);
    if sum != [SUM_HEAD, checksum(text).as_bytes(), SUM_TAIL].concat() {
        return Err("its checksum does not fit");
    }
    serde_json::from_slice(line).map_err(|_| "it is not a record that this program knows")
}

fn checksum(text: &[u8]) -> String {
    let mut hex = Digest::of(text).hex();
    hex.truncate(SUM_DIGITS);
    hex
}

/// What a journal says of its plan without anybody understanding the rest: that of a newer program, or another loop's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    pub format: u32,
    /// The loop's word.
    pub kind: String,
}

pub fn label_of(path: &Path) -> io::Result<Option<Label>> {
    use std::io::{BufRead, BufReader};
    let mut line = Vec::new();
    BufReader::new(File::open(path)?).read_until(b'\n', &mut line)?;
    let value: Option<serde_json::Value> = serde_json::from_slice(&line).ok();
    let plan = value.as_ref().and_then(|value| value.pointer("/event/started"));
    Ok(plan.and_then(|plan| {
        let format = u32::try_from(plan.get("format")?.as_u64()?).ok()?;
        Some(Label { format, kind: plan.get("loop")?.as_str()?.to_owned() })
    }))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use skilltune_phases::event::Signal;
    use skilltune_phases::loops::tune::{Decision, Event, Record, Tune};
    use skilltune_phases::stop::Reason;
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

    fn written(lines: i64) -> (TempDir, PathBuf, Vec<Record>) {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("history.jsonl");
        let (mut journal, first) = Journal::begin(&path, at(0), event(0)).unwrap();
        let more = (1..lines).map(|nth| journal.append(at(nth), event(nth)).unwrap());
        let records = std::iter::once(first).chain(more).collect();
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
    fn a_journal_cut_at_any_byte_reads_up_to_its_last_whole_line() {
        let (_folder, path, records) = written(4);
        let text = fs::read(&path).unwrap();
        for length in 0..text.len() {
            fs::write(&path, &text[..length]).unwrap();
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
        let text = fs::read(&path).unwrap();
        for place in 0..text.len() {
            let mut damaged = text.clone();
            damaged[place] ^= 1;
            fs::write(&path, &damaged).unwrap();
            match read::<Tune>(&path) {
                Err(JournalError::Damaged { .. }) => {}
                Err(error) => panic!("{error}"),
                // The newline of the last line: then the line is a torn one.
                Ok(history) => assert_eq!(history.records, records[..2], "byte {place}"),
            }
        }
    }

    #[test]
    fn a_line_that_is_missing_or_doubled_is_noticed() {
        let (_folder, path, _) = written(3);
        let text = fs::read_to_string(&path).unwrap();
        let lines: Vec<_> = text.split_inclusive('\n').collect();
        for order in [[0, 2, 2], [0, 0, 1], [1, 0, 2]] {
            fs::write(&path, order.map(|line| lines[line]).concat()).unwrap();
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
        assert!(matches!(Journal::begin(&path, at(0), event(0)), Err(JournalError::Disk(_))));
    }
}
