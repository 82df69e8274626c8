//! How our values look in a column.

use adjourn_core::machines::RoundtableStatus;
use adjourn_core::{ContractStatus, ExecutionId, RoundtableId, RunId, RunStatus, StreamId};

use crate::Error;

/// A stream in a column: its kind and its id.
pub(super) type StreamKey = [u8; 17];

const KIND_RUN: u8 = 0;
const KIND_ROUNDTABLE: u8 = 1;

pub(super) fn stream_key(stream: StreamId) -> StreamKey {
    let (kind, bits) = match stream {
        StreamId::Run(id) => (KIND_RUN, id.bits()),
        StreamId::Roundtable(id) => (KIND_ROUNDTABLE, id.bits()),
    };
    let mut key = [kind; 17];
    key[1..].copy_from_slice(&bits.to_be_bytes());
    key
}

pub(super) fn stream_of(key: &[u8]) -> Result<StreamId, Error> {
    match key.split_first() {
        Some((&KIND_RUN, id)) => Ok(StreamId::Run(RunId::from_bits(bits_of(id)?))),
        Some((&KIND_ROUNDTABLE, id)) => Ok(StreamId::Roundtable(RoundtableId::from_bits(bits_of(id)?))),
        _ => Err(damaged(format!("{key:02x?} is not a stream"))),
    }
}

/// A stream in the column of notices. Those of runs were there first, and are their id alone.
pub(super) fn notice_key(stream: StreamId) -> Vec<u8> {
    match stream {
        StreamId::Run(id) => run_key(id).to_vec(),
        StreamId::Roundtable(_) => stream_key(stream).to_vec(),
    }
}

pub(super) fn notice_stream_of(key: &[u8]) -> Result<StreamId, Error> {
    if key.len() == 16 { run_of(key).map(StreamId::Run) } else { stream_of(key) }
}

pub(super) fn run_key(id: RunId) -> [u8; 16] {
    id.bits().to_be_bytes()
}

pub(super) fn run_of(key: &[u8]) -> Result<RunId, Error> {
    bits_of(key).map(RunId::from_bits)
}

pub(super) fn roundtable_key(id: RoundtableId) -> [u8; 16] {
    id.bits().to_be_bytes()
}

pub(super) fn roundtable_of(key: &[u8]) -> Result<RoundtableId, Error> {
    bits_of(key).map(RoundtableId::from_bits)
}

pub(super) fn execution_key(id: ExecutionId) -> [u8; 16] {
    id.bits().to_be_bytes()
}

pub(super) fn execution_of(key: &[u8]) -> Result<ExecutionId, Error> {
    bits_of(key).map(ExecutionId::from_bits)
}

fn bits_of(key: &[u8]) -> Result<u128, Error> {
    let bytes = key.try_into().map_err(|_| damaged(format!("an id has {} bytes, not 16", key.len())))?;
    Ok(u128::from_be_bytes(bytes))
}

/// Never change one of these: they are on disk. A new status takes the next number.
pub(super) const fn run_status_code(status: RunStatus) -> u8 {
    match status {
        RunStatus::Queued => 0,
        RunStatus::Running => 1,
        RunStatus::WaitingUser => 2,
        RunStatus::Succeeded => 3,
        RunStatus::Failed => 4,
        RunStatus::Canceled => 5,
    }
}

pub(super) fn run_status_of(code: u8) -> Result<RunStatus, Error> {
    let found = RunStatus::ALL.iter().find(|&&status| run_status_code(status) == code);
    found.copied().ok_or_else(|| damaged(format!("{code} is not the status of a run")))
}

/// Never change one of these: they are on disk. A new status takes the next number.
pub(super) const fn contract_status_code(status: ContractStatus) -> u8 {
    match status {
        ContractStatus::Pending => 0,
        ContractStatus::Running => 1,
        ContractStatus::Waiting => 2,
        ContractStatus::Completed => 3,
        ContractStatus::Failed => 4,
        ContractStatus::Rejected => 5,
        ContractStatus::Cancelled => 6,
    }
}

pub(super) fn contract_status_of(code: u8) -> Result<ContractStatus, Error> {
    let found = ContractStatus::ALL.iter().find(|&&status| contract_status_code(status) == code);
    found.copied().ok_or_else(|| damaged(format!("{code} is not the status of a contract")))
}

/// Never change one of these: they are on disk. A new status takes the next number.
pub(super) const fn roundtable_status_code(status: RoundtableStatus) -> u8 {
    match status {
        RoundtableStatus::Active => 0,
        RoundtableStatus::Closed => 1,
    }
}

pub(super) fn roundtable_status_of(code: u8) -> Result<RoundtableStatus, Error> {
    let found = RoundtableStatus::ALL.iter().find(|&&status| roundtable_status_code(status) == code);
    found.copied().ok_or_else(|| damaged(format!("{code} is not the status of a roundtable")))
}

/// A number that counts events or frames, to be written.
pub(super) fn count(value: u64) -> i64 {
    i64::try_from(value).expect("a million events per second reach 2^63 in 292 thousand years")
}

/// A number that somebody asks with. Whatever is beyond the last possible one asks for nothing, like that one.
pub(super) fn bound(value: impl TryInto<i64>) -> i64 {
    value.try_into().unwrap_or(i64::MAX)
}

pub(super) fn damaged(problem: String) -> Error {
    Error::Damaged { problem }
}

#[cfg(test)]
mod tests {
    use adjourn_core::machines::RoundtableStatus;
    use adjourn_core::{ContractStatus, RoundtableId, RunId, RunStatus, StreamId};

    use super::{
        contract_status_code, contract_status_of, roundtable_status_code, roundtable_status_of,
        run_status_code, run_status_of, stream_key, stream_of,
    };

    #[test]
    fn every_value_reads_back() {
        for &status in RunStatus::ALL {
            assert_eq!(run_status_of(run_status_code(status)).unwrap(), status);
        }
        for &status in ContractStatus::ALL {
            assert_eq!(contract_status_of(contract_status_code(status)).unwrap(), status);
        }
        for &status in RoundtableStatus::ALL {
            assert_eq!(roundtable_status_of(roundtable_status_code(status)).unwrap(), status);
        }
        for stream in [
            StreamId::Run(RunId::from_bits(u128::MAX - 7)),
            StreamId::Roundtable(RoundtableId::from_bits(7 << 90)),
        ] {
            assert_eq!(stream_of(&stream_key(stream)).unwrap(), stream);
        }
    }

    #[test]
    fn what_was_never_written_is_damage() {
        assert!(run_status_of(6).is_err());
        assert!(contract_status_of(7).is_err());
        assert!(roundtable_status_of(2).is_err());
        for key in [&[][..], &[2; 17], &[0; 16]] {
            assert!(stream_of(key).is_err(), "{key:?}");
        }
    }
}
