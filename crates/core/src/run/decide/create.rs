//! Creating a run.

use super::super::command::{Create, Known, create_key, successor_key};
use super::{Decided, Event, Refusal, Run};
use crate::RunId;

pub(super) fn create(id: RunId, create: &Create, known: &Known) -> Result<Decided<Run>, Refusal> {
    if let Some(key) = &create.key
        && let Some(holder) = known.holder(&create_key(&key.key))
    {
        return Err(match holder.stream.run() {
            Some(earlier) if holder.digest.as_ref() == Some(&key.digest) => Refusal::CreatedBefore(earlier),
            Some(_) | None => Refusal::KeyReused { key: key.key.clone() },
        });
    }
    if let Some(continued) = &create.spec.continues
        && let Some(holder) = known.holder(&successor_key(continued.run_id))
    {
        return Err(Refusal::Continued { run: continued.run_id, successor: holder.stream });
    }
    let event = Event::Created(Box::new(create.spec.clone()));
    let run = Run::created(id, known.now, &event).expect("a run begins with its creation");
    event.check_documents()?;
    Ok(Decided { events: vec![event], state: run })
}
