//! Sends one request, with the additions of the settings, the interceptors and the credentials.

use futures_util::future::LocalBoxFuture;

use super::address::Address;
use super::{Client, ClientError, Credentials};
use crate::Operation;
use crate::http::{HttpAnswer, HttpRequest};

impl Client {
    /// Sends a request, and a second time if the server refuses the credentials (401) and new credentials can be obtained.
    /// `make` is called for each attempt. `operation` is `None` for the request of a card.
    ///
    /// The settings' headers and the credentials are added only if the final URL is on the host of the settings' URL,
    /// because a card, a redirect or an interceptor may have changed the URL. A request to another host is
    /// [guarded](HttpRequest::guarded).
    ///
    /// # Errors
    ///
    /// If the request cannot be made or sent. An answer is not an error, independent of its status.
    pub(super) fn dispatch<'a>(
        &'a self,
        operation: Option<Operation>,
        make: &'a dyn Fn() -> Result<HttpRequest, ClientError>,
    ) -> LocalBoxFuture<'a, Result<HttpAnswer, ClientError>> {
        Box::pin(async move {
            let (answer, shown) = self.dispatch_once(operation, make()?).await?;
            match shown {
                Some(shown) if answer.status == 401 && shown.refused() => {
                    self.dispatch_once(operation, make()?).await.map(|(answer, _)| answer)
                }
                _ => Ok(answer),
            }
        })
    }

    /// Sends the request once. Also returns the credentials that were added.
    async fn dispatch_once(
        &self,
        operation: Option<Operation>,
        mut request: HttpRequest,
    ) -> Result<(HttpAnswer, Option<&dyn Credentials>), ClientError> {
        let home = Address::of_settings(&self.settings().url)?;
        let is_home = |request: &HttpRequest| {
            Address::parse(&request.url).is_some_and(|target| home.is_home_of(&target))
        };
        if is_home(&request) {
            request.headers.extend(self.settings().headers.iter().cloned());
        }
        for interceptor in &self.0.interceptors {
            interceptor.before(operation, &mut request)?;
        }
        let is_home = is_home(&request);
        // A local URL of a local agent needs no guard, because both are on this machine.
        let is_local = |url: &str| Address::parse(url).is_some_and(|target| target.is_local());
        let is_near = home.is_local() && is_local(&request.url);
        request.is_guarded |= self.settings().is_guarded || !(is_home || is_near);
        let credentials = self.0.credentials.as_deref().filter(|_| is_home);
        if let Some(credentials) = credentials {
            credentials.put(&mut request).await?;
        }
        let answer = self.ports().http.send(request).await?;
        for interceptor in &self.0.interceptors {
            interceptor.after(operation, &answer);
        }
        Ok((answer, credentials))
    }
}

#[cfg(test)]
mod tests {
    use std::cell::{Cell, RefCell};
    use std::rc::Rc;

    use super::*;
    use crate::client::simulation::Simulation;
    use crate::client::{Bearer, Interceptor, Settings};
    use crate::http::memory::{ok, status};

    struct Moves(&'static str);

    impl Interceptor for Moves {
        fn before(
            &self,
            _: Option<Operation>,
            request: &mut HttpRequest,
        ) -> Result<(), ClientError> {
            request.url = self.0.to_owned();
            Ok(())
        }
    }

    type Seen = Rc<RefCell<Vec<(String, Vec<String>)>>>;

    fn client(simulation: &Simulation) -> (Client, Seen) {
        let seen = Seen::default();
        let log = seen.clone();
        simulation.http().answer_with(move |request, _| {
            let names = request.headers.iter().map(|(name, value)| format!("{name}: {value}"));
            log.borrow_mut().push((request.url.clone(), names.collect()));
            Ok(ok("{}"))
        });
        let headers = vec![("X-Tenant".to_owned(), "t".to_owned())];
        let settings = Settings { headers, ..Settings::new("https://a.example/x") };
        let client = Client::new(settings, simulation.ports());
        (client.with_credentials(Rc::new(Bearer::new("s3cret"))), seen)
    }

    fn get(url: &'static str) -> impl Fn() -> Result<HttpRequest, ClientError> {
        move || Ok(HttpRequest::get(url))
    }

    #[test]
    fn headers_and_credentials_go_to_the_host_of_the_settings_alone() {
        let simulation = Simulation::default();
        let (client, seen) = client(&simulation);
        let guarded = Rc::new(RefCell::new(Vec::new()));
        let log = guarded.clone();
        simulation.http().guard_with(move |url| {
            log.borrow_mut().push(url.to_owned());
            Ok(())
        });
        for url in ["https://a.example/y", "https://b.example/y", "http://a.example/y"] {
            simulation.run(client.dispatch(None, &get(url))).expect("an answer");
        }
        let moved = client.with_interceptor(Rc::new(Moves("https://evil.example/")));
        simulation.run(moved.dispatch(None, &get("https://a.example/"))).expect("an answer");
        let seen = seen.take();
        assert_eq!(seen[0].1, ["X-Tenant: t", "authorization: Bearer s3cret"]);
        assert_eq!(seen[1].1, [""; 0]);
        assert_eq!(seen[2].1, [""; 0]);
        assert_eq!(
            seen[3].1,
            ["X-Tenant: t"],
            "what an interceptor moves is the interceptor's affair"
        );
        let others = ["https://b.example/y", "http://a.example/y", "https://evil.example/"];
        assert_eq!(guarded.take(), others);
    }

    #[test]
    fn agents_on_this_machine_may_name_each_other() {
        for (home, target, is_guarded) in [
            ("http://localhost:1", "http://127.0.0.1:2/x", false),
            ("http://localhost:1", "http://10.0.0.1/x", true),
            ("https://a.example", "http://localhost:2/x", true),
        ] {
            let simulation = Simulation::default();
            simulation.http().answer_with(move |request, _| {
                assert_eq!(request.is_guarded, is_guarded, "{home} {target}");
                Ok(ok("{}"))
            });
            let client = Client::new(Settings::new(home), simulation.ports());
            let make = get(target);
            simulation.run(client.dispatch(None, &make)).expect("an answer");
        }
    }

    /// Credentials that are out of date until the first refusal.
    #[derive(Default)]
    struct Renewed(Cell<u32>);

    impl Credentials for Renewed {
        fn put<'a>(
            &'a self,
            request: &'a mut HttpRequest,
        ) -> LocalBoxFuture<'a, Result<(), ClientError>> {
            request.headers.push(("authorization".to_owned(), self.0.get().to_string()));
            Box::pin(std::future::ready(Ok(())))
        }

        fn refused(&self) -> bool {
            self.0.set(self.0.get() + 1);
            true
        }
    }

    #[test]
    fn a_request_with_refused_credentials_is_sent_once_more() {
        for (accepted, expected, requests) in [("0", 200, 1), ("1", 200, 2), ("9", 401, 2)] {
            let simulation = Simulation::default();
            simulation.http().answer_with(move |request, _| {
                let shown = request.headers.iter().any(|(_, value)| value == accepted);
                Ok(status(if shown { 200 } else { 401 }))
            });
            let client = Client::new(Settings::new("https://a.example"), simulation.ports());
            let client = client.with_credentials(Rc::new(Renewed::default()));
            let make = get("https://a.example/y");
            let sent = simulation.run(client.dispatch(None, &make));
            assert_eq!(sent.expect("an answer").status, expected);
            assert_eq!(simulation.http().called().len(), requests);
        }
        let simulation = Simulation::default();
        simulation.http().answer_with(|_, _| Ok(status(401)));
        let client = Client::new(Settings::new("https://a.example"), simulation.ports());
        let client = client.with_credentials(Rc::new(Renewed::default()));
        let make = get("https://b.example/y");
        let sent = simulation.run(client.dispatch(None, &make));
        assert_eq!(sent.expect("an answer").status, 401);
        assert_eq!(simulation.http().called().len(), 1, "it carried none");
    }
}
