//! `adjourn token`: makes a token for the server.

use std::path::PathBuf;

use adjourn_server::tokens::{self, Role};
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use serde_json::json;

use crate::data::Global;
use crate::exit::Exit;
use crate::output::{print, print_json};

/// Make a token that lets somebody in at the server
///
/// The secret is printed once; the file keeps only its hash. A running server takes the token at once, and to revoke it
/// its line is removed from the file.
#[derive(Debug, Args)]
pub(super) struct Token {
    /// Whose it is: this is shown beside every answer given with it
    #[arg(value_name = "NAME")]
    name: String,

    /// What it is good for
    #[arg(long, value_name = "ROLE", value_parser = roles())]
    role: Role,

    /// The file of tokens, the one that `adjourn serve` is started with
    #[arg(long, value_name = "FILE", env = "ADJOURN_TOKENS")]
    file: PathBuf,
}

fn roles() -> impl TypedValueParser<Value = Role> {
    let names = Role::ALL.iter().map(|role| PossibleValue::new(role.name()).help(role.doc()));
    PossibleValuesParser::new(names).try_map(|name| name.parse::<Role>())
}

impl Token {
    pub(super) fn run(self, global: &Global) -> anyhow::Result<Exit> {
        let Self { name, role, file } = self;
        let made = tokens::make(&file, &name, role)?;
        if global.json {
            print_json(&json!({ "name": name, "role": role, "file": file, "token": made.secret }))?;
            return Ok(Exit::Done);
        }
        print(&format!("{}\n", made.secret))?;
        anstream::eprintln!(
            "this is the token `{name}` ({role}). It is shown this once; {} keeps only its hash\n\
             clients send it as `Authorization: Bearer {}…`; `adjourn --server URL` takes it from $ADJOURN_TOKEN\n\
             the server asks for it when it is started with ADJOURN_TOKENS={}",
            file.display(),
            &made.secret[..8],
            file.display(),
        );
        Ok(Exit::Done)
    }
}
