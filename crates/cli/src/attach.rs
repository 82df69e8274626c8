//! A terminal attached to a run: shows what it does and answers what it asks, until it ends or is left.

mod answers;
mod others;
mod signals;

use adjourn_api::{Answer, Code, CreatedView};
use adjourn_core::{Frame, InteractionId, InteractionView, RunStatus, RunView};
use axum::http::StatusCode;

pub(crate) use self::answers::Answers;
pub(crate) use self::others::others;
pub(crate) use self::signals::{Signal, Signals};
use crate::answer::{Given, problem_text};
use crate::client::{Client, Close, Refused, new_key};
use crate::exit::Exit;
use crate::live::Live;
use crate::prompt::{self, Asked, Asks, Choose, Doing, OnTerminal, Watched, Watching};
use crate::result::{self, GoesOn};
use crate::style::{self, styled};
use crate::tail::{News, Tail};
use crate::{output, question, without_walls};

/// Stays with a run from where `tail` stands, and shows what came of it.
pub(crate) async fn stay(mut client: Client<'_>, tail: Tail, answers: Answers) -> anyhow::Result<Exit> {
    let (signals, live) = (Signals::new()?, Live::new());
    let mut staying = Stay { client: &mut client, tail, answers, signals, live, left: None };
    let mut shown = staying.stay().await;
    if shown.is_ok() && staying.left.is_none() {
        match without_walls::offer(staying.client.global, staying.tail.now()).await {
            Ok(true) => shown = staying.again().await,
            Ok(false) => {}
            Err(error) => shown = Err(error),
        }
    }
    let left = staying.left;
    let_go(client, shown, left).await
}

/// Ends what this process does for others after its own command came to `shown`. Whatever went wrong: the directory is let
/// go of, and its socket with it.
pub(crate) async fn let_go(
    client: Client<'_>,
    shown: anyhow::Result<Exit>,
    left: Option<Left>,
) -> anyhow::Result<Exit> {
    let closed = client.close(match (&shown, left) {
        (Ok(_), None) => Close::AtRest,
        (Ok(_), Some(Left::InBackground)) => Close::InBackground,
        (Ok(_), Some(Left::AtOnce)) | (Err(_), _) => Close::CutOff,
    });
    let closed = closed.await;
    let exit = shown?;
    closed.map(|()| exit)
}

/// Who works on something that is left like this.
pub(crate) fn goes_on(client: &Client<'_>, left: Option<Left>) -> GoesOn {
    match left {
        _ if !client.is_owner() => GoesOn::WithOwner,
        Some(Left::InBackground) => GoesOn::InBackground,
        Some(Left::AtOnce) | None => GoesOn::WithNextOwner,
    }
}

struct Stay<'c, 'g> {
    client: &'c mut Client<'g>,
    tail: Tail,
    answers: Answers,
    signals: Signals,
    live: Live,
    /// How this ends before everything came to rest.
    left: Option<Left>,
}

/// How something is left that goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Left {
    /// Its person has seen enough.
    InBackground,
    /// Somebody wants this process to end, and does not wait long.
    AtOnce,
}

/// Whether there is a reason to stay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    GoOn,
    Leave,
}

impl Stay<'_, '_> {
    async fn stay(&mut self) -> anyhow::Result<Exit> {
        let watched = self.watch().await;
        self.live.hide();
        watched?;
        let run = self.tail.now();
        let open = match run.pending {
            Some(_) => self.client.interactions(run.run_id).await?,
            None => Vec::new(),
        };
        let open: Vec<_> = open.into_iter().filter(InteractionView::is_open).collect();
        let exit = result::show(
            self.client.global,
            run,
            &open,
            self.answers.shown,
            goes_on(self.client, self.left),
        )?;
        if self.left.is_none() {
            self.left = others(self.client, &mut self.signals, Some(self.tail.id())).await?;
        }
        Ok(exit)
    }

    /// Makes the same request again, and stays with the run that comes of it.
    async fn again(&mut self) -> anyhow::Result<Exit> {
        let CreatedView { run, .. } = self.client.rerun(self.tail.id(), &new_key()).await?;
        anstream::eprintln!("{}  as {}", styled(style::BOLD, run.run_id), self.tail.id());
        self.tail = Tail::from_start(run);
        self.stay().await
    }

    /// Watches until the run ends, or is left.
    async fn watch(&mut self) -> anyhow::Result<()> {
        loop {
            let run = self.tail.now();
            // What led to a question, or to the end, is shown first.
            let open = run.pending.clone().filter(|_| !self.tail.is_behind());
            let is_over = run.status.is_terminal() || run.blocked_by.is_some();
            if is_over && !self.tail.is_behind() {
                return Ok(());
            }
            let next = match open {
                Some(_) if self.answers.is_over() && run.status == RunStatus::WaitingUser => return Ok(()),
                // Its turn may go on: it ends by itself, and then the run waits.
                Some(_) if self.answers.is_over() => self.wait(Doing::Works).await?,
                Some(open) => self.answer(&open).await?,
                None => self.wait(Doing::Works).await?,
            };
            if next == Next::Leave {
                return Ok(());
            }
        }
    }

    /// Waits for news of the run, and shows them.
    async fn wait(&mut self, doing: Doing) -> anyhow::Result<Next> {
        tokio::select! {
            news = self.tail.next(self.client) => {
                let news = news?;
                Ok(self.see(news))
            }
            signal = self.signals.next() => self.interrupted(signal, doing).await,
        }
    }

    fn see(&mut self, news: News<Frame>) -> Next {
        match news {
            News::Frames(frames) => self.live.see(&frames, self.tail.now()),
            News::Delta(text) => self.live.write(&text, self.tail.now()),
        }
        Next::GoOn
    }

    /// Answers a question from the first source that has an answer.
    async fn answer(&mut self, open: &InteractionView) -> anyhow::Result<Next> {
        if let Some(text) = self.answers.given.pop_front() {
            self.show_question(open);
            return self.give_text(open, &text).await;
        }
        if prompt::is_interactive() {
            return self.ask(open).await;
        }
        self.show_question(open);
        tokio::select! {
            line = self.answers.next_line() => match line {
                Some(text) => self.give_text(open, &text).await,
                None => Ok(Next::GoOn),
            },
            // It may be decided without us; then the line that comes is for the next question.
            news = self.tail.next(self.client) => {
                let news = news?;
                Ok(self.see(news))
            }
            signal = self.signals.next() => self.interrupted(signal, Doing::Waits).await,
        }
    }

    fn show_question(&mut self, open: &InteractionView) {
        if self.answers.shown != Some(open.interaction_id) {
            self.answers.shown = Some(open.interaction_id);
            let asked = question::question_text(open);
            self.live.say(&format!("{} {asked}", styled(style::ASKS, "?")));
        }
    }

    async fn ask(&mut self, open: &InteractionView) -> anyhow::Result<Next> {
        let id = open.interaction_id;
        let watching = Watching { client: self.client, tail: &mut self.tail, signals: &mut self.signals };
        let is_open = |run: &RunView| run.open_interactions.contains(&id);
        let asks = Asks::Run(Box::new(open.clone()));
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
            OnTerminal::Done(Asked::Interrupted) => {
                Box::pin(self.interrupted(Signal::Interrupt, Doing::Waits)).await
            }
        }
    }

    /// The question was resolved while its person thought about it: they are told how, and nothing is sent.
    fn withdrawn(&mut self, id: InteractionId, unseen: &[News<Frame>]) {
        let run = self.tail.now();
        let how = match run.status {
            RunStatus::Canceled => "the run was canceled".to_owned(),
            RunStatus::Failed => "the run failed".to_owned(),
            RunStatus::Queued | RunStatus::Running | RunStatus::WaitingUser | RunStatus::Succeeded => {
                let frames = unseen.iter().flat_map(|news| match news {
                    News::Frames(frames) => frames.as_slice(),
                    News::Delta(_) => &[],
                });
                prompt::resolution_text(id, frames.map(|frame| &frame.data))
            }
        };
        self.live.say(&format!("{} {how}; nothing was sent from here", styled(style::ODD, "withdrawn:")));
        self.live.answered_here(id);
    }

    async fn give_text(&mut self, open: &InteractionView, text: &str) -> anyhow::Result<Next> {
        match Given::read(open, text) {
            Ok(answer) => self.give(open, answer).await,
            Err(errors) => {
                let problem = problem_text(&errors);
                self.live.say(&format!("{} `{text}`: {problem}", styled(style::ODD, "this is no answer:")));
                Ok(Next::GoOn)
            }
        }
    }

    async fn give(&mut self, open: &InteractionView, given: Given) -> anyhow::Result<Next> {
        let Given { response, action } = given;
        let answer = Answer { interaction_id: Some(open.interaction_id), response: Some(response), action };
        match self.client.reply(self.tail.id(), &answer, &new_key()).await {
            Ok(run) => self.tail.saw(run),
            Err(error)
                if error
                    .downcast_ref::<Refused>()
                    .is_some_and(|refused| refused.code == Some(Code::NotOpen)) =>
            {
                self.too_late(open).await?;
            }
            Err(error) => return Err(error),
        }
        Ok(Next::GoOn)
    }

    /// The question was decided while its person thought about it: they are told how.
    async fn too_late(&mut self, open: &InteractionView) -> anyhow::Result<()> {
        let id = self.tail.id();
        let asked = self.client.interactions(id).await?;
        let resolved = asked.into_iter().find(|asked| asked.interaction_id == open.interaction_id);
        let how = match resolved {
            Some(InteractionView { status, response: Some(response), .. }) if !response.is_null() => {
                format!("the question is {status} already, with `{}`", output::value_text(&response))
            }
            Some(InteractionView { status, .. }) => format!("the question is {status} already"),
            None => "the question is not open any more".to_owned(),
        };
        self.live.say(&format!("{} {how}; your answer does not count", styled(style::ODD, "too late:")));
        let run = self.client.run(id).await?;
        self.tail.saw(run);
        Ok(())
    }

    /// Somebody wants this to end: the person is asked what to do, and where there is none the run is left.
    async fn interrupted(&mut self, signal: Signal, doing: Doing) -> anyhow::Result<Next> {
        if signal == Signal::Terminate || !prompt::is_interactive() {
            self.left = Some(Left::AtOnce);
            return Ok(Next::Leave);
        }
        self.live.interrupted();
        let chosen = prompt::on_terminal(&mut self.signals, move || prompt::what_now(Watched::Run, doing));
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
                let run = self.client.run(self.tail.id()).await?;
                self.tail.saw(run);
                // It may have ended while the person thought about it.
                if self.tail.now().status.is_terminal() {
                    return Ok(Next::GoOn);
                }
                self.left = Some(Left::InBackground);
                Ok(Next::Leave)
            }
            Choose::End => {
                match self.client.cancel(self.tail.id()).await {
                    Ok(run) => self.tail.saw(run),
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
