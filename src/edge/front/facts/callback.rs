//! The body of a post to a callback. A large body is received only after the object has confirmed that the callback
//! accepts a post.

use worker::{Env, Request};

use super::{FoundBody, receive};
use crate::edge::objects::Object;
use crate::front::callback::MAX_BODY_BYTES;
use crate::front::facts::Called;
use crate::front::failure::Failure;
use crate::session::callback_is_busy;
use a2a::error::Error;

/// Receives the body of a post. The returned failure means that the callback does not exist, or that its object cannot
/// be called.
pub(super) async fn receive_post(
    env: &Env,
    called: &Called,
    request: Option<&Request>,
) -> (FoundBody, Option<Failure>) {
    let mut failure = None;
    let ask = async || {
        let asked = match Object::at_id(env, called.object.clone()) {
            Ok(object) => object.call_back(&called.post).await,
            Err(failure) => Err(failure),
        };
        failure = match asked.map(|answer| answer.status) {
            Ok(200..300) => return Ok::<(), Error>(()),
            Ok(404) => Some(Failure::Unknown),
            Ok(_) => None,
            Err(failure) => Some(Failure::from(&failure)),
        };
        Err(callback_is_busy())
    };
    let body = receive(request, &called.post.agent, MAX_BODY_BYTES, ask).await;
    (body, failure)
}
