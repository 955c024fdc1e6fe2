//! Reads how much of its account's usage windows claude reports as used.
//!
//! Newer versions (from 2.1.259 on) report all windows in `unifiedWindows`, with each request of a login. Older ones
//! report one window, and its use only near its limit. A key has no windows, and no such event.

use std::time::Duration;

use jiff::Timestamp;
use serde_json::Value;
use skilltune_phases::base::window::Window;

use super::text;
use crate::agent::reset_time::FARTHEST;

/// Paid use beyond the windows is not a window.
const EXTRA: &str = "overage";
const LONGEST_NAME: usize = 40;
/// No account has this many windows.
const MOST: usize = 16;

/// Updates the known windows from an event; the last report of each counts.
pub(super) fn read(event: &Value, at: Timestamp, known: &mut Vec<Window>) {
    let Some(info) = event.get("rate_limit_info") else { return };
    let one = text(info, "rateLimitType").and_then(|name| window(name, info, at));
    let all = info.get("unifiedWindows").and_then(Value::as_object).into_iter().flatten();
    for window in one.into_iter().chain(all.filter_map(|(name, info)| window(name, info, at))) {
        known.retain(|older| older.name != window.name);
        if known.len() < MOST {
            known.push(window);
        }
    }
}

/// Returns a window with plausible numbers: a share, and a time after the call and not too far away.
fn window(name: &str, info: &Value, at: Timestamp) -> Option<Window> {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    let is_name = (1..=LONGEST_NAME).contains(&name.len()) && name.bytes().all(is_plain) && name != EXTRA;
    let share = info.get("utilization")?.as_f64().filter(|share| is_name && (0.0..=1.0).contains(share))?;
    let resets_at = Timestamp::from_second(info.get("resetsAt")?.as_i64()?).ok()?;
    let left = Duration::try_from(resets_at.duration_since(at)).ok()?;
    (!left.is_zero() && left <= FARTHEST).then(|| Window {
        name: name.into(),
        used: percent(share),
        resets_at,
    })
}

/// Rounds up, except for the error of a float.
fn percent(share: f64) -> u8 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is from 0 to 1,000,000")]
    let millionths = (share * 1e6).round() as u32;
    u8::try_from(millionths.div_ceil(10_000)).unwrap_or(100)
}
