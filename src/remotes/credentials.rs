//! What shows a remote agent who calls.

use std::rc::Rc;

use futures_util::future::LocalBoxFuture;

use a2a::client::{ClientError, Credentials};
use a2a::http::HttpRequest;
use a2a_agents::{KeyPlace, RemoteCredentials, RemoteKey};

/// What puts these credentials on requests; `None` if there are none.
pub(crate) fn credentials(of: RemoteCredentials) -> Option<Rc<dyn Credentials>> {
    match of == RemoteCredentials::default() {
        true => None,
        false => Some(Rc::new(Fixed(of))),
    }
}

/// Credentials that stay as they are.
struct Fixed(RemoteCredentials);

impl Credentials for Fixed {
    fn put<'a>(
        &'a self,
        request: &'a mut HttpRequest,
    ) -> LocalBoxFuture<'a, Result<(), ClientError>> {
        if let Some(token) = &self.0.bearer_token {
            let value = format!("Bearer {}", token.reveal());
            request.headers.push(("Authorization".to_owned(), value));
        }
        if let Some(RemoteKey { place, name, value }) = &self.0.api_key {
            let value = value.reveal();
            match place {
                KeyPlace::Header => request.headers.push((name.clone(), value.to_owned())),
                KeyPlace::Cookie => {
                    request.headers.push(("Cookie".to_owned(), format!("{name}={value}")));
                }
                KeyPlace::Query => {
                    let url = std::mem::take(&mut request.url);
                    request.url = HttpRequest::get(url).with_query(name, value).url;
                }
            }
        }
        Box::pin(std::future::ready(Ok(())))
    }
}
