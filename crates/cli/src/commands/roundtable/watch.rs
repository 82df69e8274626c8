//! Stays with a roundtable: shows what it does, answers what it asks, until it ends or is left.

use adjourn_api::{Code, RoundtableAnswer};
use adjourn_core::machines::RoundtableStatus;
use adjourn_core::roundtable::{Frame, RoundtableView};
use adjourn_core::{InteractionId, InteractionView};
use axum::http::StatusCode;
use serde_json::Value;

use super::ended;
use super::live::Live;
use super::question::{question_text, without_summary};
use crate::attach::{Answers, Left, Signal, Signals, goes_on, let_go, others};
use crate::client::{Client, Refused, new_key};
use crate::exit::Exit;
use crate::prompt::{self, Asked, Asks, Choose, Doing, OnTerminal, Watched, Watching};
use crate::style::{self, styled};
use crate::tail::{News, Tail};
use crate::text::{clean, indented};

/// Stays with a roundtable from where `tail` stands, and shows what came out of it.
pub(super) async fn watch(mut client: Client<'_>, tail: Tail<RoundtableView>) -> anyhow::Result<Exit> {
    let mut watching = Watch {
        client: &mut client,
        tail,
        answers: Answers::new(Vec::new()),
        signals: Signals::new()?,
        live: Live::new(),
        left: None,
    };
    let shown = watching.watch().await;
    let left = watching.left;
    let_go(client, shown, left).await
}

struct Watch<'c, 'g> {
    client: &'c mut Client<'g>,
    tail: Tail<RoundtableView>,
    answers: Answers,
    signals: Signals,
    live: Live,
    /// How this ends before everything came to rest.
    left: Option<Left>,
}

/// Whether there is a reason to stay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    GoOn,
    Leave,
}

impl Watch<'_, '_> {
    async fn watch(&mut self) -> anyhow::Result<Exit> {
        anstream::eprintln!("{}", ended::heading(self.tail.now()));
        let watched = self.until_over().await;
        self.live.hide();
        watched?;
        let goes_on = goes_on(self.client, self.left);
        let exit = ended::show(self.client, self.tail.now(), self.answers.shown, goes_on).await?;
        // One that is left to itself has runs of its own.
        let is_at_rest =
            self.tail.now().status == RoundtableStatus::Closed || self.tail.now().pending.is_some();
        if self.left.is_none() && is_at_rest {
            self.left = others(self.client, &mut self.signals, None).await?;
        }
        Ok(exit)
    }

    async fn until_over(&mut self) -> anyhow::Result<()> {
        loop {
            let table = self.tail.now();
            // What led to a question, or to the end, is shown first.
            let open = table.pending.clone().filter(|_| !self.tail.is_behind());
            if table.status == RoundtableStatus::Closed && !self.tail.is_behind() {
                return Ok(());
            }
            let next = match open {
                Some(open) => self.answer(&open).await?,
                None => self.wait().await?,
            };
            if next == Next::Leave {
                return Ok(());
            }
        }
    }

    /// Waits for news, and shows them.
    async fn wait(&mut self) -> anyhow::Result<Next> {
        tokio::select! {
            news = self.tail.next(self.client) => {
                let news = news?;
                Ok(self.see(news))
            }
            signal = self.signals.next() => self.interrupted(signal, Doing::Works).await,
        }
    }

    fn see(&mut self, news: News<Frame>) -> Next {
        match news {
            News::Frames(frames) => self.live.see(&frames, self.tail.now()),
            // Several agents write at once: what each wrote is told when it is whole.
            News::Delta(_) => {}
        }
        Next::GoOn
    }

    /// Answers a question: at a terminal its person does, else the next line of stdin.
    async fn answer(&mut self, open: &InteractionView) -> anyhow::Result<Next> {
        if prompt::is_interactive() {
            return self.ask(open).await;
        }
        self.show(open, question_text);
        tokio::select! {
            line = self.answers.next_line() => match line {
                // A word of the question, a decision or a remark: the table knows how to read it. A script may send JSON.
                Some(text) => {
                    let form = serde_json::from_str(&text).ok().filter(Value::is_object);
                    self.give(open, form.unwrap_or(Value::String(text))).await
                }
                None => Ok(Next::Leave),
            },
            // Somebody else may answer; then the line that comes is for the next question.
            news = self.tail.next(self.client) => {
                let news = news?;
                Ok(self.see(news))
            }
            signal = self.signals.next() => self.interrupted(signal, Doing::Waits).await,
        }
    }

    /// Shows a question, once.
    fn show(&mut self, open: &InteractionView, text: impl FnOnce(&InteractionView) -> String) {
        if self.answers.shown == Some(open.interaction_id) {
            return;
        }
        self.answers.shown = Some(open.interaction_id);
        let is_known = self.live.has_summed_up(open.attempt_number);
        let text = if is_known { text(&without_summary(open)) } else { text(open) };
        let text = indented(&text, "  ");
        self.live.say(&format!("\n{} {}", styled(style::ASKS, "?"), text.trim_start()));
    }

    async fn ask(&mut self, open: &InteractionView) -> anyhow::Result<Next> {
        // What can be answered is chosen from a list.
        self.show(open, |open| clean(open.question.prompt.trim()));
        let id = open.interaction_id;
        let watching = Watching { client: self.client, tail: &mut self.tail, signals: &mut self.signals };
        let is_open =
            |table: &RoundtableView| table.pending.as_ref().is_some_and(|open| open.interaction_id == id);
        let asks = Asks::Roundtable(Box::new(open.clone()));
        let (outcome, unseen) = prompt::ask_while_open(&asks, is_open, watching).await?;
        if matches!(outcome, OnTerminal::Withdrawn) {
            self.withdrawn(id, &unseen);
        }
        for news in unseen {
            self.see(news);
        }
        match outcome {
            OnTerminal::Withdrawn => Ok(Next::GoOn),
            OnTerminal::Ended => self.interrupted(Signal::Terminate, Doing::Waits).await,
            OnTerminal::Done(Asked::Answer(answer)) => {
                self.live.answered_here(id);
                self.give(open, answer).await
            }
            OnTerminal::Done(Asked::Interrupted) => self.interrupted(Signal::Interrupt, Doing::Waits).await,
        }
    }

    /// The question was resolved while its person thought about it: they are told how, and nothing is sent.
    fn withdrawn(&mut self, id: InteractionId, unseen: &[News<Frame>]) {
        let how = if self.tail.now().status == RoundtableStatus::Closed {
            "the roundtable was closed".to_owned()
        } else {
            let frames = unseen.iter().flat_map(|news| match news {
                News::Frames(frames) => frames.as_slice(),
                News::Delta(_) => &[],
            });
            prompt::resolution_text(id, frames.map(|frame| &frame.data))
        };
        self.live.say(&format!("{} {how}; nothing was sent from here", styled(style::ODD, "withdrawn:")));
        self.live.answered_here(id);
    }

    async fn give(&mut self, open: &InteractionView, response: Value) -> anyhow::Result<Next> {
        let interaction_id = Some(open.interaction_id);
        let answer = RoundtableAnswer { interaction_id, response };
        match self.client.reply_to_roundtable(self.tail.id(), &answer, &new_key()).await {
            Ok(table) => self.tail.saw(table),
            Err(error) => match error.downcast_ref::<Refused>().and_then(|refused| refused.code) {
                Some(Code::NotOpen) => {
                    let late = "the question was answered already; your answer does not count";
                    self.live.say(&format!("{} {late}", styled(style::ODD, "too late:")));
                    let table = self.client.roundtable(self.tail.id()).await?;
                    self.tail.saw(table);
                }
                Some(Code::Invalid) => {
                    self.live.say(&format!("{} {error}", styled(style::ODD, "this is no answer:")));
                }
                Some(_) | None => return Err(error),
            },
        }
        Ok(Next::GoOn)
    }

    /// Somebody wants this to end: the person is asked what to do, and where there is none the roundtable is left.
    async fn interrupted(&mut self, signal: Signal, doing: Doing) -> anyhow::Result<Next> {
        if signal == Signal::Terminate || !prompt::is_interactive() {
            self.left = Some(Left::AtOnce);
            return Ok(Next::Leave);
        }
        self.live.interrupted();
        let chosen =
            prompt::on_terminal(&mut self.signals, move || prompt::what_now(Watched::Roundtable, doing));
        let chosen = match chosen.await? {
            OnTerminal::Done(chosen) => chosen,
            OnTerminal::Ended | OnTerminal::Withdrawn => {
                self.left = Some(Left::AtOnce);
                return Ok(Next::Leave);
            }
        };
        match chosen {
            Choose::GoOn => Ok(Next::GoOn),
            Choose::Leave => {
                let table = self.client.roundtable(self.tail.id()).await?;
                self.tail.saw(table);
                // It may have ended while the person thought about it.
                if self.tail.now().status == RoundtableStatus::Closed {
                    return Ok(Next::GoOn);
                }
                self.left = Some(Left::InBackground);
                Ok(Next::Leave)
            }
            Choose::End => {
                match self.client.close_roundtable(self.tail.id()).await {
                    Ok(table) => self.tail.saw(table),
                    // It ended while the person thought about it.
                    Err(error)
                        if error
                            .downcast_ref::<Refused>()
                            .is_some_and(|refused| refused.is(StatusCode::CONFLICT)) => {}
                    Err(error) => return Err(error),
                }
                Ok(Next::GoOn)
            }
        }
    }
}
