//! opencode.

use std::io;
use std::path::Path;

use serde_json::json;

use super::isolation::{Environment, isolated, set, write_json};

/// The name of the provider in its configuration; it names models as `PROVIDER/MODEL`.
const PROVIDER: &str = "scripted";

/// The environment in which `opencode` talks to the scripted model at `url`; writes its configuration into `home`.
pub fn point(home: &Path, url: &str) -> io::Result<Environment> {
    let (main, side) = (super::MODEL, super::SIDE_MODEL);
    let config = json!({
        "model": format!("{PROVIDER}/{main}"),
        "small_model": format!("{PROVIDER}/{side}"),
        "autoupdate": false,
        "share": "disabled",
        "provider": {
            PROVIDER: {
                "npm": "@ai-sdk/openai-compatible",
                "name": PROVIDER,
                "options": {"baseURL": format!("{url}/v1"), "apiKey": "scripted"},
                "models": {main: {"name": main}, side: {"name": side}},
            },
        },
    });
    write_json(&home.join(".config/opencode/opencode.json"), &config)?;
    let mut environment = isolated(home);
    for switch in ["AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "DEFAULT_PLUGINS", "SHARE"] {
        set(&mut environment, &format!("OPENCODE_DISABLE_{switch}"), "1");
    }
    Ok(environment)
}
