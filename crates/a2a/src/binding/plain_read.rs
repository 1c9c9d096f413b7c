//! A fast path for the plainest requests of the JSON-RPC binding, which are read without a JSON tree: requests whose
//! only parameter is a task, and lists without filters other than a conversation.
//!
//! Most requests of clients that poll are plain. Every other form is left to the general reader, so that each refusal
//! is made in one place. For a plain request both readers have the same result.

use crate::model::{
    CancelTaskRequest, ContextId, GetTaskRequest, ListTasksRequest, SubscribeToTaskRequest, TaskId,
};
use crate::wire::jsonrpc::RequestId;
use crate::{Call, FollowCall, Operation, TaskCall};

/// A plain request: its id, its method and its call.
#[derive(Clone, Debug, PartialEq)]
pub struct PlainRead<'a> {
    /// The id of the request, which the answer repeats.
    pub id: RequestId,
    /// The method.
    pub method: &'a str,
    /// The call.
    pub call: Call,
}

impl<'a> PlainRead<'a> {
    /// Reads a body; `None` unless the body is a GetTask, CancelTask or SubscribeToTask of 1.0 whose only parameters
    /// are the id of the task and, for GetTask, a history length, or a ListTasks whose only parameters are a page, a
    /// history length and a conversation.
    pub fn parse(body: &'a [u8]) -> Option<Self> {
        let mut text = Scanner { rest: std::str::from_utf8(body).ok()? };
        let (mut version, mut id, mut method, mut params) = (None, None, None, None);
        text.object(|name, text| match name {
            "jsonrpc" => first(&mut version, text.string()?),
            "id" => first(&mut id, text.request_id()?),
            "method" => first(&mut method, text.string()?),
            "params" => first(&mut params, Params::read(text)?),
            _ => None,
        })?;
        let (method, params) = (method?, params?);
        if version? != "2.0" || !text.is_at_end() {
            return None;
        }
        let call = params.call(Operation::named(method)?)?;
        Some(Self { id: id.unwrap_or(RequestId::NULL), method, call })
    }
}

/// The parameters of a plain request.
#[derive(Default)]
struct Params<'a> {
    id: Option<&'a str>,
    history_length: Option<u32>,
    page_size: Option<u32>,
    page_token: Option<&'a str>,
    context_id: Option<&'a str>,
}

impl<'a> Params<'a> {
    fn read(text: &mut Scanner<'a>) -> Option<Self> {
        let mut params = Self::default();
        text.object(|name, text| match name {
            "id" => first(&mut params.id, text.string()?),
            "historyLength" => first(&mut params.history_length, text.digits()?.parse().ok()?),
            "pageSize" => first(&mut params.page_size, text.digits()?.parse().ok()?),
            "pageToken" => first(&mut params.page_token, text.string()?),
            "contextId" => first(&mut params.context_id, text.string()?),
            _ => None,
        })?;
        Some(params)
    }

    fn call(self, operation: Operation) -> Option<Call> {
        let tenant = None;
        let Self { id, history_length, .. } = self;
        let history_length = history_length.map(i32::try_from).transpose().ok()?;
        match (operation, self.task()) {
            (Operation::GetTask, Some(id)) => {
                let request = GetTaskRequest { tenant, id, history_length };
                Some(Call::Task(TaskCall::GetTask(request)))
            }
            (Operation::CancelTask, Some(id)) if history_length.is_none() => {
                let request = CancelTaskRequest { tenant, id, metadata: None };
                Some(Call::Task(TaskCall::CancelTask(request)))
            }
            (Operation::SubscribeToTask, Some(id)) if history_length.is_none() => {
                let request = SubscribeToTaskRequest { tenant, id };
                Some(Call::Follow(FollowCall::SubscribeToTask(request)))
            }
            (Operation::ListTasks, None) if id.is_none() => self.list(history_length),
            (_, _) => None,
        }
    }

    /// The task, if the parameters are those of a request about one task.
    fn task(&self) -> Option<TaskId> {
        let Self { id, page_size: None, page_token: None, context_id: None, .. } = self else {
            return None;
        };
        TaskId::new(*id.as_ref()?)
    }

    fn list(&self, history_length: Option<i32>) -> Option<Call> {
        let page_size = match self.page_size {
            None => ListTasksRequest::DEFAULT_PAGE_SIZE,
            Some(given) => {
                let size = u8::try_from(given).ok();
                size.filter(|size| (1..=ListTasksRequest::MAX_PAGE_SIZE).contains(size))?
            }
        };
        Some(Call::List(ListTasksRequest {
            tenant: None,
            context_id: self.context_id.and_then(ContextId::new),
            status: None,
            page_size,
            page_token: self.page_token.filter(|token| !token.is_empty()).map(str::to_owned),
            history_length,
            status_timestamp_after: None,
            include_artifacts: false,
            text: None,
            waiting: false,
            include_summary: false,
        }))
    }
}

/// Stores the value of a member that appears for the first time; `None` for a repeated member. (The general reader uses
/// the last of several members of the same name.)
fn first<T>(place: &mut Option<T>, value: T) -> Option<()> {
    if place.is_some() {
        return None;
    }
    *place = Some(value);
    Some(())
}

/// The unread rest of a text.
struct Scanner<'a> {
    rest: &'a str,
}

impl<'a> Scanner<'a> {
    /// Reads an object that is not empty. `read` is called for each member, with the member's name and the text after
    /// the colon.
    fn object(&mut self, mut read: impl FnMut(&'a str, &mut Self) -> Option<()>) -> Option<()> {
        self.sign('{')?;
        loop {
            let name = self.string()?;
            self.sign(':')?;
            read(name, self)?;
            if self.sign(',').is_none() {
                return self.sign('}');
            }
        }
    }

    /// Reads a string without escapes.
    fn string(&mut self) -> Option<&'a str> {
        self.sign('"')?;
        let end = self.rest.bytes().position(|byte| matches!(byte, b'"' | b'\\' | 0..=0x1f))?;
        let (string, rest) = self.rest.split_at(end);
        self.rest = rest.strip_prefix('"')?;
        Some(string)
    }

    /// Reads the id of a request: a string, or a number with so few digits that it is stored exactly.
    fn request_id(&mut self) -> Option<RequestId> {
        self.skip_space();
        if self.rest.starts_with('"') {
            return self.string().map(RequestId::of_text);
        }
        self.digits()?.parse().ok().map(RequestId::of_number)
    }

    /// Reads a whole number of up to nine digits, without a leading zero.
    fn digits(&mut self) -> Option<&'a str> {
        self.skip_space();
        let end = self.rest.bytes().position(|byte| !byte.is_ascii_digit())?;
        let (digits, rest) = self.rest.split_at(end);
        let is_plain = (1..=9).contains(&end) && (end == 1 || !digits.starts_with('0'));
        // A fraction or an exponent would follow directly.
        let ends = !rest.starts_with(['.', 'e', 'E']);
        self.rest = rest;
        (is_plain && ends).then_some(digits)
    }

    fn sign(&mut self, sign: char) -> Option<()> {
        self.skip_space();
        self.rest = self.rest.strip_prefix(sign)?;
        Some(())
    }

    fn is_at_end(&mut self) -> bool {
        self.skip_space();
        self.rest.is_empty()
    }

    fn skip_space(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\n', '\r']);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::binding::jsonrpc::Envelope;

    /// The result of the general reader for a body.
    fn generally(body: &str) -> Option<(RequestId, String, Call)> {
        let Envelope { id, method, params } = Envelope::parse(body.as_bytes(), 1_000).ok()?;
        let call = Operation::named(&method)?.decode(params).ok()?;
        Some((id, method, call))
    }

    fn plainly(body: &str) -> Option<(RequestId, String, Call)> {
        let PlainRead { id, method, call } = PlainRead::parse(body.as_bytes())?;
        Some((id, method.to_owned(), call))
    }

    #[test]
    fn plain_requests_are_read_as_the_general_reader_reads_them() {
        for body in [
            r#"{"jsonrpc":"2.0","id":"a","method":"GetTask","params":{"id":"t"}}"#,
            r#"{"jsonrpc":"2.0","id":7,"method":"GetTask","params":{"id":"t","historyLength":0}}"#,
            r#" { "params" : { "historyLength" : 123456789 , "id" : "t" } , "method" : "GetTask" , "id" : 0 , "jsonrpc" : "2.0" } "#,
            r#"{"jsonrpc":"2.0","method":"GetTask","params":{"id":"t"}}"#,
            r#"{"jsonrpc":"2.0","id":"ä","method":"CancelTask","params":{"id":"ä"}}"#,
            r#"{"jsonrpc":"2.0","id":"","method":"SubscribeToTask","params":{"id":"t"}}"#,
            r#"{"jsonrpc":"2.0","id":"a","method":"ListTasks","params":{"pageSize":20}}"#,
            r#"{"jsonrpc":"2.0","id":"a","method":"ListTasks","params":{"pageToken":"x","contextId":"c","historyLength":0}}"#,
            r#"{"jsonrpc":"2.0","id":"a","method":"ListTasks","params":{"pageToken":"","contextId":""}}"#,
        ] {
            assert!(plainly(body).is_some(), "{body}");
            assert_eq!(plainly(body), generally(body), "{body}");
        }
    }

    #[test]
    fn everything_else_is_left_to_the_general_reader() {
        for body in [
            "",
            "[]",
            "{}",
            r#"{"jsonrpc":"2.0","id":"a","method":"GetTask","params":{"id":"t"}} x"#,
            r#"{"jsonrpc":"2.0","id":"a","method":"GetTask","params":{"id":"t"},}"#,
            r#"{"jsonrpc":"1.0","id":"a","method":"GetTask","params":{"id":"t"}}"#,
            r#"{"id":"a","method":"GetTask","params":{"id":"t"}}"#,
            r#"{"jsonrpc":"2.0","id":"a","id":"b","method":"GetTask","params":{"id":"t"}}"#,
            r#"{"jsonrpc":"2.0","id":"\u0061","method":"GetTask","params":{"id":"t"}}"#,
            r#"{"jsonrpc":"2.0","id":1.5,"method":"GetTask","params":{"id":"t"}}"#,
            r#"{"jsonrpc":"2.0","id":1e3,"method":"GetTask","params":{"id":"t"}}"#,
            r#"{"jsonrpc":"2.0","id":01,"method":"GetTask","params":{"id":"t"}}"#,
            r#"{"jsonrpc":"2.0","id":-1,"method":"GetTask","params":{"id":"t"}}"#,
            r#"{"jsonrpc":"2.0","id":null,"method":"GetTask","params":{"id":"t"}}"#,
            r#"{"jsonrpc":"2.0","id":"a","method":"GetTask","params":{"id":""}}"#,
            r#"{"jsonrpc":"2.0","id":"a","method":"GetTask","params":{"id":7}}"#,
            r#"{"jsonrpc":"2.0","id":"a","method":"GetTask","params":{"id":"t","tenant":"x"}}"#,
            r#"{"jsonrpc":"2.0","id":"a","method":"GetTask","params":{"id":"t","historyLength":-1}}"#,
            r#"{"jsonrpc":"2.0","id":"a","method":"GetTask","params":{"id":"t","historyLength":1234567890}}"#,
            r#"{"jsonrpc":"2.0","id":"a","method":"CancelTask","params":{"id":"t","historyLength":1}}"#,
            r#"{"jsonrpc":"2.0","id":"a","method":"ListTasks","params":{"id":"t"}}"#,
            r#"{"jsonrpc":"2.0","id":"a","method":"ListTasks","params":{"pageSize":0}}"#,
            r#"{"jsonrpc":"2.0","id":"a","method":"ListTasks","params":{"pageSize":101}}"#,
            r#"{"jsonrpc":"2.0","id":"a","method":"ListTasks","params":{"status":"TASK_STATE_WORKING"}}"#,
            r#"{"jsonrpc":"2.0","id":"a","method":"GetTask","params":{"id":"t","pageSize":1}}"#,
            r#"{"jsonrpc":"2.0","id":"a","method":"tasks/get","params":{"id":"t"}}"#,
            r#"{"jsonrpc":"2.0","id":"a","method":"GetTask","params":[]}"#,
            r#"{"jsonrpc":"2.0","id":"a","method":"GetTask"}"#,
        ] {
            assert_eq!(plainly(body), None, "{body}");
        }
        assert_eq!(PlainRead::parse(b"{\"id\":\"\xff\"}"), None);
    }

    proptest! {
        #[test]
        fn what_is_read_plainly_is_read_in_the_same_way_in_general(
            members in proptest::sample::subsequence(vec![0usize, 1, 2, 3, 4], 0..=5).prop_shuffle(),
            id in prop_oneof![Just("\"a\""), Just("12"), Just("0"), Just("null"), Just("1.0"), Just("\"\\n\""), Just("{}")],
            method in prop_oneof![
                Just("GetTask"), Just("CancelTask"), Just("SubscribeToTask"), Just("SendMessage"), Just("ListTasks"),
            ],
            params in prop_oneof![
                Just("{\"id\":\"t\"}"), Just("{\"id\":\"t\",\"historyLength\":3}"), Just("{\"id\":\"t\",\"history_length\":3}"),
                Just("{\"pageSize\":7}"), Just("{\"pageSize\":700,\"contextId\":\"c\"}"), Just("{\"pageToken\":\"p\",\"contextId\":\"\"}"),
                Just("{\"id\":\"t\",\"x\":[]}"), Just("{ }"), Just("null"), Just("{\"id\":\"t\",\"id\":\"u\"}"),
            ],
            cut in 0usize..200,
        ) {
            let all = [
                r#""jsonrpc":"2.0""#.to_owned(), format!("\"id\":{id}"), format!("\"method\":\"{method}\""),
                format!("\"params\":{params}"), "\"x\":1".to_owned(),
            ];
            let chosen: Vec<&str> = members.iter().map(|member| all[*member].as_str()).collect();
            let body = format!("{{{}}}", chosen.join(","));
            let body = if cut < 100 { body.get(..cut.min(body.len())).unwrap_or_default() } else { &body };
            if let Some(read) = plainly(body) {
                prop_assert_eq!(Some(read), generally(body), "{}", body);
            }
        }
    }
}
