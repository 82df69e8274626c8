//! Who is let in, and whose turn it is.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use adjourn_core::RunId;
use subtle::ConstantTimeEq;
use tokio::sync::Semaphore;

use super::limits::CALLS_MAX;
use super::offered::Offered;
use super::{TOKEN_VARIABLE, URL_VARIABLE};
use crate::environment::Environment;
use crate::secrets::Secret;
use crate::toolbox::Toolbox;

/// Random bytes of a token: nobody guesses as many.
const TOKEN_BYTES: usize = 32;

/// All agents that may come in. Those whose [`Badge`] is gone are gone with it.
#[derive(Debug, Default)]
pub(super) struct Places(Mutex<Vec<Weak<Place>>>);

/// The place of one agent.
#[derive(Debug)]
pub(super) struct Place {
    /// The run that the agent works for.
    pub(super) run_id: RunId,
    token: Secret,
    /// The turn that goes on, for as long as its [`Seat`] is held.
    turn: Mutex<Weak<Turn>>,
    /// One for each call that may be under way.
    pub(super) calls: Semaphore,
}

#[derive(Debug)]
struct Turn {
    tools: Arc<dyn Toolbox>,
}

impl Places {
    /// A place with a token of its own.
    pub(super) fn add(&self, run_id: RunId) -> Result<Arc<Place>, getrandom::Error> {
        let calls = Semaphore::new(CALLS_MAX);
        let place = Arc::new(Place { run_id, token: token()?, turn: Mutex::default(), calls });
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|place| place.strong_count() > 0);
        all.push(Arc::downgrade(&place));
        Ok(place)
    }

    /// The place that this token leads to. How long that takes says nothing about any token.
    pub(super) fn find(&self, token: &str) -> Option<Arc<Place>> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let there = all.iter().filter_map(Weak::upgrade);
        there.fold(None, |found, place| if place.has(token) { Some(place) } else { found })
    }
}

impl Place {
    fn has(&self, token: &str) -> bool {
        self.token.expose().as_bytes().ct_eq(token.as_bytes()).into()
    }

    /// What can be called now; nothing between turns.
    pub(super) fn tools(&self) -> Option<Arc<dyn Toolbox>> {
        let turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        turn.upgrade().map(|turn| turn.tools.clone())
    }

    /// Whether `text` gives the token away.
    pub(super) fn is_betrayed_by(&self, text: &str) -> bool {
        text.contains(self.token.expose())
    }
}

fn token() -> Result<Secret, getrandom::Error> {
    let mut bytes = [0; TOKEN_BYTES];
    getrandom::fill(&mut bytes)?;
    Ok(Secret::new(bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>()))
}

/// The access of one agent process: nobody gets in with it any more when this is dropped.
#[derive(Debug)]
pub(crate) struct Badge {
    place: Arc<Place>,
    url: String,
}

impl Badge {
    pub(super) fn new(place: Arc<Place>, url: String) -> Self {
        Self { place, url }
    }

    /// What a process needs in its environment to get in.
    pub(crate) fn tell(&self, environment: &mut Environment) {
        environment.set(URL_VARIABLE, &self.url);
        environment.set(TOKEN_VARIABLE, self.token().expose());
        environment.reach_loopback();
    }

    /// Where the gateway is.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// What the process shows there.
    pub(crate) fn token(&self) -> &Secret {
        &self.place.token
    }

    /// A turn begins: until the seat is dropped, calls of the process go to `tools`.
    pub(crate) fn seat(&self, tools: Arc<dyn Toolbox>, offered: Offered) -> Seat {
        let turn = Arc::new(Turn { tools });
        *self.place.turn.lock().unwrap_or_else(PoisonError::into_inner) = Arc::downgrade(&turn);
        Seat { offered, _turn: turn }
    }
}

/// A turn at the gateway.
#[derive(Debug)]
pub(crate) struct Seat {
    /// What it was offered.
    pub(crate) offered: Offered,
    _turn: Arc<Turn>,
}
