//! The credentials with which this Worker calls remote agents and MCP servers.

use std::rc::Rc;

use futures_util::future::LocalBoxFuture;

use a2a::client::{ApiKey, Bearer, ClientError, Credentials, OAuth, OAuthSettings, Ports, Tokens};
use a2a::http::HttpRequest;
use a2a::model::Secret;
use a2a_agents::{KeyPlace, RemoteCredentials, RemoteKey, RemoteOAuth2};

/// Called with each token that is sent to another agent, so that the token can be removed from texts.
pub type Learn = Rc<dyn Fn(&Secret)>;

/// Adds these credentials to requests; `None` if there are no credentials. `tokens` are the tokens that were fetched so
/// far.
pub(crate) fn credentials(
    of: RemoteCredentials,
    ports: Ports,
    tokens: &Rc<Tokens>,
    learn: Learn,
) -> Option<Rc<dyn Credentials>> {
    let RemoteCredentials { bearer_token, api_key, oauth2 } = of;
    let mut all: Vec<Rc<dyn Credentials>> = Vec::new();
    if let Some(token) = bearer_token {
        all.push(Rc::new(Bearer::new(token.reveal())));
    }
    if let Some(RemoteKey { place, name, value }) = api_key {
        let value = value.reveal();
        all.push(Rc::new(match place {
            KeyPlace::Header => ApiKey::header(name, value),
            KeyPlace::Query => ApiKey::query(name, value),
            KeyPlace::Cookie => ApiKey::cookie(name, value),
        }));
    }
    if let Some(RemoteOAuth2 { token_url, client_id, client_secret, scopes, audience }) = oauth2 {
        let program = OAuthSettings::new(token_url, client_id.reveal(), client_secret.reveal());
        let program = OAuthSettings { scopes, audience, ..program };
        let oauth = OAuth::new(program, ports).with_tokens(tokens.clone());
        all.push(Rc::new(Told { oauth, learn }));
    }
    if all.len() > 1 {
        return Some(Rc::new(Several(all)));
    }
    all.pop()
}

/// Fetched tokens, each of which is passed to `learn`.
struct Told {
    oauth: OAuth,
    learn: Learn,
}

impl Credentials for Told {
    fn put<'a>(
        &'a self,
        request: &'a mut HttpRequest,
    ) -> LocalBoxFuture<'a, Result<(), ClientError>> {
        Box::pin(async move {
            self.oauth.put(request).await?;
            let is_ours =
                |(name, _): &&(String, String)| name.eq_ignore_ascii_case("authorization");
            let value = request.headers.iter().rfind(is_ours).map(|(_, value)| value.as_str());
            if let Some(token) = value.and_then(|value| value.strip_prefix("Bearer ")) {
                (self.learn)(&Secret::new(token));
            }
            Ok(())
        })
    }

    fn refused(&self) -> bool {
        self.oauth.refused()
    }
}

/// Several credentials; each request gets all of them.
struct Several(Vec<Rc<dyn Credentials>>);

impl Credentials for Several {
    fn put<'a>(
        &'a self,
        request: &'a mut HttpRequest,
    ) -> LocalBoxFuture<'a, Result<(), ClientError>> {
        Box::pin(async move {
            for credentials in &self.0 {
                credentials.put(request).await?;
            }
            Ok(())
        })
    }

    fn refused(&self) -> bool {
        let others = self.0.iter().filter(|credentials| credentials.refused());
        others.count() > 0
    }
}
