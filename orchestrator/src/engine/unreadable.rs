//! Decides whether the agent or skilltune is at fault when a workspace cannot be captured: the agent, if possible.

use std::io::ErrorKind;
use std::path::Path;

use skilltune_phases::runs::event::{Failure, FailureKind};

use super::ReadError;
use crate::snapshot::CaptureError;

pub(super) fn unreadable(error: CaptureError, space: &Path) -> ReadError {
    let (kind, why) = match &error {
        CaptureError::TooLarge(_)
        | CaptureError::Special(_)
        | CaptureError::TooDeep(_)
        | CaptureError::Changing(_) => (FailureKind::TooLarge, error.to_string()),
        CaptureError::Replaced(_) => (FailureKind::OffSchema, error.to_string()),
        // Everything that we place is readable.
        CaptureError::Disk(disk) if disk.kind() == ErrorKind::PermissionDenied => {
            (FailureKind::OffSchema, format!("{disk}: {}", disk.source))
        }
        CaptureError::Rules(_) | CaptureError::Object(_) | CaptureError::Disk(_) => return error.into(),
    };
    Failure::new(kind, why.replace(&format!("{}/", space.display()), "")).into()
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;
    use crate::disk::OnDisk as _;

    #[test]
    fn what_an_agent_has_locked_up_is_its_own_failure_and_a_broken_disk_is_ours() {
        let space = Path::new("/desk/space");
        let read = |kind: ErrorKind| {
            let done: Result<(), io::Error> = Err(kind.into());
            unreadable(done.on_disk("open", space.join("notes/key")).unwrap_err().into(), space)
        };
        let ReadError::Agent(failure) = read(ErrorKind::PermissionDenied) else { panic!("the agent's") };
        assert_eq!(failure.kind, FailureKind::OffSchema);
        assert_eq!(failure.why, "could not open notes/key: permission denied");
        assert!(matches!(read(ErrorKind::StorageFull), ReadError::Ours(_)));
    }
}
