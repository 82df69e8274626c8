//! Gemini CLI.

use std::io;
use std::path::Path;

use serde_json::json;

use super::isolation::{Environment, isolated, set, write_json};

/// The environment in which `gemini` talks to the scripted model at `url`; writes its configuration into `home`.
pub fn point(home: &Path, url: &str) -> io::Result<Environment> {
    let settings = json!({
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        // Ten attempts by default, which takes minutes.
        "general": {"enableAutoUpdate": false, "enableAutoUpdateNotification": false, "maxAttempts": 1},
        "privacy": {"usageStatisticsEnabled": false},
    });
    write_json(&home.join(".gemini/settings.json"), &settings)?;
    let mut environment = isolated(home);
    set(&mut environment, "GEMINI_API_KEY", "scripted");
    set(&mut environment, "GEMINI_MODEL", super::MODEL);
    set(&mut environment, "GOOGLE_GEMINI_BASE_URL", url);
    Ok(environment)
}
