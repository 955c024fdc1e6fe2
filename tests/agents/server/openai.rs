//! The error format that both `openai` interfaces share.

use serde_json::{Value, json};

pub(super) fn error(status: u16) -> Value {
    let (kind, code) = match status {
        400 => ("invalid_request_error", "invalid_value"),
        401 => ("invalid_request_error", "invalid_api_key"),
        403 => ("permission_error", "unsupported_country"),
        404 => ("invalid_request_error", "model_not_found"),
        429 => ("requests", "rate_limit_exceeded"),
        _ => ("server_error", "server_error"),
    };
    // codex reports only the message.
    let message = match status {
        404 => "The model `it` does not exist or you do not have access to it.".to_owned(),
        _ => format!("it is a {status}"),
    };
    json!({ "error": { "type": kind, "code": code, "param": null, "message": message } })
}
