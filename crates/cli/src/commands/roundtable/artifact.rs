//! `adjourn roundtable artifact`: changes what a roundtable wrote down, as a person.

use adjourn_api::{ArtifactAction, ArtifactChange};
use adjourn_core::roundtable::{Agreement, ArtifactId, ArtifactView, CriterionId};
use clap::{Args, Subcommand};

use crate::client::{Client, Close, Role, new_key};
use crate::data::Global;
use crate::exit::Exit;
use crate::find::find_roundtable;
use crate::output::print_json;
use crate::style::{self, styled};
use crate::text::clean;

/// Change what a roundtable wrote down: it counts at once, and the agents are told in their next turn
#[derive(Debug, Args)]
pub(super) struct Artifact {
    #[command(subcommand)]
    change: Change,
}

#[derive(Debug, Subcommand)]
enum Change {
    /// Have an artifact say something else; what is left out stays
    Amend {
        #[command(flatten)]
        which: Which,

        /// The new title
        #[arg(long, value_name = "TEXT")]
        title: Option<String>,

        /// What it says now
        #[arg(long, value_name = "TEXT")]
        body: Option<String>,

        /// How far the table agrees: consensus, draft or conflict
        #[arg(long, value_name = "AGREEMENT")]
        agreement: Option<Agreement>,

        /// The criteria of its topic that it covers, separated by commas
        #[arg(long, value_name = "A,B", value_delimiter = ',')]
        covers: Option<Vec<String>>,
    },
    /// Restore the version before the last amendment
    Revert {
        #[command(flatten)]
        which: Which,
    },
    /// Put a newer artifact in the place of another
    Supersede {
        #[command(flatten)]
        which: Which,

        /// The newer artifact
        #[arg(long, value_name = "ARTIFACT")]
        by: ArtifactId,
    },
    /// Take an artifact out
    Withdraw {
        #[command(flatten)]
        which: Which,
    },
}

/// The artifact, and why it changes.
#[derive(Debug, Args)]
struct Which {
    /// The roundtable: its id, or an end of it that no other has
    #[arg(value_name = "ROUNDTABLE")]
    roundtable: String,

    /// The artifact, as `adjourn roundtable show` names it: REQ-001
    #[arg(value_name = "ARTIFACT")]
    artifact: ArtifactId,

    /// Why; it stays in the history of the artifact
    #[arg(long, value_name = "TEXT")]
    reason: String,

    /// The same key again is the same change again, and changes nothing twice
    #[arg(long, value_name = "KEY")]
    key: Option<String>,
}

impl Artifact {
    pub(super) async fn run(self, global: &Global) -> anyhow::Result<Exit> {
        let (which, change) = self.change.request();
        global.check_there()?;
        let mut client = Client::connect(global, Role::Works).await?;
        let changed = which.send(&mut client, change).await;
        // As the owner this process may have taken up the work of others.
        client.close(Close::AtRest).await?;
        show(global, &changed?)?;
        Ok(Exit::Done)
    }
}

impl Change {
    /// The artifact that is meant, and the request.
    fn request(self) -> (Which, ArtifactChange) {
        let change = |which: &Which, action| ArtifactChange {
            action,
            reason: which.reason.clone(),
            title: None,
            body: None,
            agreement: None,
            covers: None,
            by: None,
        };
        match self {
            Self::Amend { which, title, body, agreement, covers } => {
                let covers = covers.map(|covers| covers.into_iter().map(CriterionId::new).collect());
                let amended = change(&which, ArtifactAction::Amend);
                (which, ArtifactChange { title, body, agreement, covers, ..amended })
            }
            Self::Revert { which } => {
                let reverted = change(&which, ArtifactAction::Revert);
                (which, reverted)
            }
            Self::Supersede { which, by } => {
                let superseded = change(&which, ArtifactAction::Supersede);
                (which, ArtifactChange { by: Some(by), ..superseded })
            }
            Self::Withdraw { which } => {
                let withdrawn = change(&which, ArtifactAction::Withdraw);
                (which, withdrawn)
            }
        }
    }
}

impl Which {
    async fn send(self, client: &mut Client<'_>, change: ArtifactChange) -> anyhow::Result<ArtifactView> {
        let id = find_roundtable(client, &self.roundtable).await?.roundtable_id;
        let key = self.key.unwrap_or_else(new_key);
        client.change_artifact(id, self.artifact, &change, &key).await
    }
}

fn show(global: &Global, artifact: &ArtifactView) -> anyhow::Result<()> {
    if global.json {
        return print_json(artifact);
    }
    let ArtifactView { artifact_id, status, title, .. } = artifact;
    anstream::eprintln!("{}  {status}  {}", styled(style::BOLD, artifact_id), clean(title));
    Ok(())
}
