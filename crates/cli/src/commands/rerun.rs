//! `adjourn rerun`: a new run of the same request.

use clap::Args;

use crate::data::Global;
use crate::exit::Exit;
use crate::find::find;
use crate::stay::{Answers, stay};
use crate::style::{self, styled};
use crate::tail::Tail;

/// Start a new run of the same request, and stay with it
#[derive(Debug, Args)]
pub(super) struct Rerun {
    /// The run whose request is made again
    #[arg(value_name = "RUN")]
    run: String,

    /// An answer to a question, given beforehand; several are used in order
    #[arg(long = "answer", value_name = "TEXT")]
    answers: Vec<String>,
}

impl Rerun {
    pub(super) async fn run(self, global: &Global) -> anyhow::Result<Exit> {
        let (service, _threads) = global.existing_service()?;
        let store = service.store().clone();
        let earlier = find(store.as_ref(), &self.run)?;
        let request = service.request_of(earlier)?;
        let created = service.create(request, None, None).await?;
        let run_id = created.run.id();
        anstream::eprintln!(
            "{}  as {earlier}, on {}",
            styled(style::BOLD, run_id),
            created.run.spec().engine
        );
        let tail = Tail::new(store.as_ref(), run_id);
        stay(global, &service, run_id, tail, Answers::new(self.answers)).await
    }
}
