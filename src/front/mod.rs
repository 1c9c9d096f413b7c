//! The pure part of the front: it reads and judges a request by values that it is given, and names no platform. What waits for something is in
//! `src/edge/front/`.
//!
//! | file | what it does |
//! |---|---|
//! | `head` | the head of a request, as JavaScript passes it |
//! | `route` | which agent and which resource a path names |
//! | `admission` | whether a request is admitted, up to the point where its task is needed |
//! | `webhook` | whether the URLs of webhooks in a call may be registered |
//! | `page` | the page of an agent for browsers |

pub(crate) mod admission;
pub(crate) mod head;
pub(crate) mod page;
pub(crate) mod route;
pub(crate) mod webhook;
