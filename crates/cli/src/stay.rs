//! Stays with a run: shows what it does, answers what it asks, until it ends or is left.

mod answers;
mod signals;

use adjourn_core::{By, Interaction, Refusal, RunId, RunStatus};
use adjourn_runtime::{Denied, ReplyRequest, Service, ServiceError};
use adjourn_store::RunFilter;
use serde_json::Value;
use tokio::sync::broadcast::error::RecvError;

pub(crate) use self::answers::Answers;
use self::signals::{Signal, Signals};
use crate::answer::{from_text, problem_text};
use crate::data::Global;
use crate::exit::Exit;
use crate::live::Live;
use crate::prompt::{self, Asked, Choose, Doing};
use crate::style::{self, styled};
use crate::tail::Tail;
use crate::{question, result};

/// Other runs that are counted before it is only said that there are many.
const OTHERS_COUNTED_MAX: usize = 1000;

/// Stays with `run_id` from where `tail` stands, and shows what came of it.
pub(crate) async fn stay(
    global: &Global,
    service: &Service,
    run_id: RunId,
    tail: Tail<'_>,
    answers: Answers,
) -> anyhow::Result<Exit> {
    let (signals, live) = (Signals::new()?, Live::new());
    let mut staying = Stay { service, run_id, tail, answers, signals, live, hurried: false };
    staying.watch().await?;
    staying.live.hide();
    let exit = result::show(global, staying.tail.run()?, staying.answers.shown)?;
    staying.others().await?;
    Ok(exit)
}

struct Stay<'s> {
    service: &'s Service,
    run_id: RunId,
    tail: Tail<'s>,
    answers: Answers,
    signals: Signals,
    live: Live,
    /// Somebody wants this to end now.
    hurried: bool,
}

/// Whether there is a reason to stay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    GoOn,
    Leave,
}

impl Stay<'_> {
    /// Watches until the run ends, or is left.
    async fn watch(&mut self) -> anyhow::Result<()> {
        let mut changes = self.service.store().watch_stream(self.run_id.into());
        let mut deltas = self.service.driver().deltas();
        loop {
            changes.mark_unchanged();
            let frames = self.tail.read()?;
            let run = self.tail.run()?;
            self.live.see(&frames, run);
            if run.status().is_terminal() {
                return Ok(());
            }
            let open = run.open_interactions().next().filter(|_| run.ending().is_none()).cloned();
            if let Some(open) = open {
                match self.answer(&open).await? {
                    Next::GoOn => continue,
                    Next::Leave => return Ok(()),
                }
            }
            let next = tokio::select! {
                changed = changes.changed() => changed.map(|()| Next::GoOn)?,
                signal = self.signals.next() => self.interrupted(signal, Doing::Works).await?,
                delta = deltas.recv() => {
                    match delta {
                        Ok(delta) if delta.run_id == self.run_id => self.live.write(&delta.text, self.tail.run()?),
                        // Another run's, or more than could be kept: nothing depends on them.
                        Ok(_) | Err(RecvError::Lagged(_)) => {}
                        Err(RecvError::Closed) => return Ok(()),
                    }
                    Next::GoOn
                }
            };
            if next == Next::Leave {
                return Ok(());
            }
        }
    }

    /// Answers a question from the first source that has an answer.
    async fn answer(&mut self, open: &Interaction) -> anyhow::Result<Next> {
        if let Some(text) = self.answers.given.pop_front() {
            self.show_question(open);
            return self.give_text(open, &text).await;
        }
        if prompt::is_interactive() {
            return self.ask(open).await;
        }
        self.show_question(open);
        let mut changes = self.service.store().watch_stream(self.run_id.into());
        tokio::select! {
            line = self.answers.next_line() => match line {
                Some(text) => self.give_text(open, &text).await,
                None => Ok(Next::Leave),
            },
            signal = self.signals.next() => self.interrupted(signal, Doing::Waits).await,
            // It may have been decided without us; then the line that comes is for the next question.
            changed = changes.changed() => Ok(changed.map(|()| Next::GoOn)?),
        }
    }

    fn show_question(&mut self, open: &Interaction) {
        if self.answers.shown != Some(open.interaction_id) {
            self.answers.shown = Some(open.interaction_id);
            self.live.say(&format!(
                "{} {}",
                styled(style::ASKS, "?"),
                question::question_text(&open.question)
            ));
        }
    }

    async fn ask(&mut self, open: &Interaction) -> anyhow::Result<Next> {
        let question = open.question.clone();
        match tokio::task::spawn_blocking(move || prompt::ask(&question)).await?? {
            Asked::Answer(answer) => {
                self.live.answered_here(open.interaction_id);
                self.give(open, answer).await
            }
            Asked::Interrupted => self.interrupted(Signal::Interrupt, Doing::Waits).await,
        }
    }

    async fn give_text(&mut self, open: &Interaction, text: &str) -> anyhow::Result<Next> {
        match from_text(&open.question, text) {
            Ok(answer) => self.give(open, answer).await,
            Err(errors) => {
                let problem = problem_text(&errors);
                self.live.say(&format!("{} `{text}`: {problem}", styled(style::ODD, "this is no answer:")));
                Ok(Next::GoOn)
            }
        }
    }

    async fn give(&mut self, open: &Interaction, response: Value) -> anyhow::Result<Next> {
        let interaction_id = Some(open.interaction_id);
        let answer = ReplyRequest { interaction_id, response, action: None, by: By::USER, key: None };
        match self.service.reply(self.run_id, answer).await {
            Ok(_) => Ok(Next::GoOn),
            Err(ServiceError::Denied(Denied::Refused(refusal @ Refusal::NotOpen { .. }))) => {
                self.live.say(&format!("{} {refusal}", styled(style::ODD, "too late:")));
                Ok(Next::GoOn)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Somebody wants this to end: the person is asked what to do, and where there is none the run is left.
    async fn interrupted(&mut self, signal: Signal, doing: Doing) -> anyhow::Result<Next> {
        if signal == Signal::Terminate || !prompt::is_interactive() {
            self.hurried = true;
            return Ok(Next::Leave);
        }
        self.live.hide();
        match tokio::task::spawn_blocking(move || prompt::what_now(doing)).await?? {
            Choose::GoOn => Ok(Next::GoOn),
            Choose::Leave => {
                self.hurried = true;
                Ok(Next::Leave)
            }
            Choose::Cancel => {
                match self.service.cancel(self.run_id, By::USER).await {
                    // It may have ended while the person thought about it.
                    Ok(_) | Err(ServiceError::Denied(Denied::Refused(Refusal::Machine(_)))) => Ok(Next::GoOn),
                    Err(error) => Err(error.into()),
                }
            }
        }
    }

    /// Lets other runs that this process took up come to rest: each turn that is cut off counts as a restart of its
    /// run, and a run survives only so many.
    async fn others(&mut self) -> anyhow::Result<()> {
        let mut changes = self.service.store().watch();
        let mut told = false;
        while !self.hurried {
            changes.mark_unchanged();
            let others = self.at_work()?;
            if others == 0 {
                break;
            }
            if !std::mem::replace(&mut told, true) {
                let runs = if others == 1 {
                    "1 other run was".to_owned()
                } else {
                    format!("{others} other runs were")
                };
                anstream::eprintln!(
                    "{runs} taken up here and still at work; Ctrl-C leaves that to the next command"
                );
            }
            tokio::select! {
                changed = changes.changed() => changed?,
                _ = self.signals.next() => break,
            }
        }
        Ok(())
    }

    /// How many other runs work or are about to.
    fn at_work(&self) -> anyhow::Result<usize> {
        let mut count = 0;
        for status in [RunStatus::Running, RunStatus::Queued] {
            let filter = RunFilter { status: Some(status), ..RunFilter::default() };
            let rows = self.service.store().runs(&filter, OTHERS_COUNTED_MAX)?;
            count += rows.iter().filter(|row| row.run_id != self.run_id).count();
        }
        Ok(count)
    }
}
