//! A JSON object whose last field is a checksum of everything before it.

/// Appends the field to an object that has at least one other field.
pub(super) fn append(object: &mut Vec<u8>, field: &str, sum: impl FnOnce(&[u8]) -> String) {
    assert_eq!(object.pop(), Some(b'}'), "a checksum ends a JSON object");
    let sum = sum(object);
    object.extend_from_slice(tail(field, &sum).as_bytes());
}

/// Returns true if the object ends with that field and its value is right.
pub(super) fn is_right(object: &[u8], field: &str, digits: usize, sum: impl FnOnce(&[u8]) -> String) -> bool {
    let length = tail(field, "").len() + digits;
    let Some((body, found)) = object.len().checked_sub(length).map(|at| object.split_at(at)) else {
        return false;
    };
    found == tail(field, &sum(body)).as_bytes()
}

fn tail(field: &str, sum: &str) -> String {
    format!(",\"{field}\":\"{sum}\"}}")
}
