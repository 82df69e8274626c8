//! Codex.

use std::io;
use std::path::Path;

use super::isolation::{Environment, isolated, set, write};

/// The environment in which `codex` talks to the scripted model at `url`; writes its configuration into `home`.
pub fn point(home: &Path, url: &str) -> io::Result<Environment> {
    let folder = home.join(".codex");
    let model = super::MODEL;
    let config = format!(
        "model = \"{model}\"\n\
         model_provider = \"scripted\"\n\
         \n\
         [model_providers.scripted]\n\
         name = \"scripted\"\n\
         base_url = \"{url}/v1\"\n\
         env_key = \"SCRIPTED_API_KEY\"\n\
         wire_api = \"responses\"\n\
         request_max_retries = 1\n\
         stream_max_retries = 1\n"
    );
    write(&folder.join("config.toml"), &config)?;
    let mut environment = isolated(home);
    set(&mut environment, "CODEX_HOME", folder.display().to_string());
    set(&mut environment, "SCRIPTED_API_KEY", "scripted");
    Ok(environment)
}
