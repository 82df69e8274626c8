//! Gateway sessions: the access token of each agent, and the turn that its calls belong to.

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

/// Sessions of all agents that may call tools. A session ends when its [`AccessToken`] is dropped.
#[derive(Debug, Default)]
pub(super) struct GatewaySessions(Mutex<Vec<Weak<GatewaySession>>>);

/// The session of one agent.
#[derive(Debug)]
pub(super) struct GatewaySession {
    /// The run that the agent works for.
    pub(super) run_id: RunId,
    token: Secret,
    /// The turn that goes on, for as long as its [`TurnGuard`] is held.
    turn: Mutex<Weak<Turn>>,
    /// One for each call that may be under way.
    pub(super) calls: Semaphore,
}

#[derive(Debug)]
struct Turn {
    tools: Arc<dyn Toolbox>,
}

impl GatewaySessions {
    /// Begins a session with a token of its own.
    pub(super) fn add(&self, run_id: RunId) -> Result<Arc<GatewaySession>, getrandom::Error> {
        let calls = Semaphore::new(CALLS_MAX);
        let place = Arc::new(GatewaySession { run_id, token: token()?, turn: Mutex::default(), calls });
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|place| place.strong_count() > 0);
        all.push(Arc::downgrade(&place));
        Ok(place)
    }

    /// The session that this token belongs to. How long that takes says nothing about any token.
    pub(super) fn find(&self, token: &str) -> Option<Arc<GatewaySession>> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let there = all.iter().filter_map(Weak::upgrade);
        there.fold(None, |found, place| if place.has(token) { Some(place) } else { found })
    }
}

impl GatewaySession {
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

/// The access of one agent process. The token is refused once this is dropped.
#[derive(Debug)]
pub(crate) struct AccessToken {
    place: Arc<GatewaySession>,
    url: String,
}

impl AccessToken {
    pub(super) fn new(place: Arc<GatewaySession>, url: String) -> Self {
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

    /// Begins a turn: until the guard is dropped, calls of the process go to `tools`.
    pub(crate) fn seat(&self, tools: Arc<dyn Toolbox>, offered: Offered) -> TurnGuard {
        let turn = Arc::new(Turn { tools });
        *self.place.turn.lock().unwrap_or_else(PoisonError::into_inner) = Arc::downgrade(&turn);
        TurnGuard { offered, _turn: turn }
    }
}

/// A turn at the gateway.
#[derive(Debug)]
pub(crate) struct TurnGuard {
    /// What it was offered.
    pub(crate) offered: Offered,
    _turn: Arc<Turn>,
}
