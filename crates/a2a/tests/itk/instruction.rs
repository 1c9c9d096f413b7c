//! Instructions of the ITK, messages of protocol buffers (`protos/instruction.proto` there). The instruction for another agent stays
//! as it came: it is sent on, not read.

use super::Failure;

/// The instruction for an agent.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Instruction {
    /// Call another agent, and return its texts.
    CallAgent(CallAgent),
    /// Return this text.
    ReturnResponse { response: String, hold_task: bool },
    /// Do these in order, and return all their texts.
    Steps(Vec<Instruction>),
}

/// A call of another agent.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct CallAgent {
    /// `jsonrpc`, `http_json` or `grpc`.
    pub(crate) transport: String,
    /// The URL below which the agent's card is.
    pub(crate) agent_card_uri: String,
    /// The instruction for the agent, encoded.
    pub(crate) instruction: Vec<u8>,
    pub(crate) streaming: bool,
    pub(crate) behavior: Behavior,
}

/// How the agent is called.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) enum Behavior {
    /// With a message.
    #[default]
    SendMessage,
    /// With a message and a webhook at this URL.
    PushNotification(String),
    /// With a message whose stream is left; the task is then subscribed to, and canceled.
    Resubscribe,
}

impl Instruction {
    /// Reads an encoded instruction.
    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, Failure> {
        let mut decoded = Err("the instruction has no step".to_owned());
        for field in fields(bytes) {
            let (number, value) = field?;
            decoded = match number {
                1 => Ok(Self::CallAgent(CallAgent::decode(value.bytes()?)?)),
                2 => Self::decode_response(value.bytes()?),
                3 => Self::decode_steps(value.bytes()?),
                _ => decoded,
            };
        }
        decoded
    }

    fn decode_response(bytes: &[u8]) -> Result<Self, Failure> {
        let (mut response, mut hold_task) = (String::new(), false);
        for field in fields(bytes) {
            match field? {
                (1, value) => response = value.text()?,
                (2, value) => hold_task = value.is_true()?,
                _ => {}
            }
        }
        Ok(Self::ReturnResponse { response, hold_task })
    }

    fn decode_steps(bytes: &[u8]) -> Result<Self, Failure> {
        let mut steps = Vec::new();
        for field in fields(bytes) {
            // The generator of the response, field 2, has one way: the texts behind each other.
            if let (1, value) = field? {
                steps.push(Self::decode(value.bytes()?)?);
            }
        }
        Ok(Self::Steps(steps))
    }

    /// Whether the task of this instruction is held: it stays at work for a while, with its text in its status.
    pub(crate) fn is_held(&self) -> bool {
        match self {
            Self::CallAgent(_) => false,
            Self::ReturnResponse { hold_task, .. } => *hold_task,
            Self::Steps(steps) => steps.iter().any(Self::is_held),
        }
    }
}

impl CallAgent {
    fn decode(bytes: &[u8]) -> Result<Self, Failure> {
        let mut call = Self::default();
        for field in fields(bytes) {
            let (number, value) = field?;
            match number {
                1 => call.transport = value.text()?,
                2 => call.agent_card_uri = value.text()?,
                3 => call.instruction = value.bytes()?.to_vec(),
                4 => call.streaming = value.is_true()?,
                5 => call.behavior = Behavior::SendMessage,
                6 => call.behavior = Behavior::PushNotification(text_in_field_1(value.bytes()?)?),
                7 => call.behavior = Behavior::Resubscribe,
                _ => {}
            }
        }
        Ok(call)
    }
}

fn text_in_field_1(bytes: &[u8]) -> Result<String, Failure> {
    let mut text = String::new();
    for field in fields(bytes) {
        if let (1, value) = field? {
            text = value.text()?;
        }
    }
    Ok(text)
}

/// The value of a field, in the two wire types that instructions have.
#[derive(Clone, Copy)]
enum Field<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

impl<'a> Field<'a> {
    fn bytes(self) -> Result<&'a [u8], Failure> {
        match self {
            Self::Bytes(bytes) => Ok(bytes),
            Self::Number(_) => Err(unreadable()),
        }
    }

    fn text(self) -> Result<String, Failure> {
        String::from_utf8(self.bytes()?.to_vec()).map_err(|_| unreadable())
    }

    fn is_true(self) -> Result<bool, Failure> {
        match self {
            Self::Number(number) => Ok(number != 0),
            Self::Bytes(_) => Err(unreadable()),
        }
    }
}

/// The fields of a message: their numbers and values. A message that is cut off ends with an error.
fn fields(mut rest: &[u8]) -> impl Iterator<Item = Result<(u64, Field<'_>), Failure>> {
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let field = take_field(&mut rest).ok_or_else(unreadable);
        if field.is_err() {
            rest = &[];
        }
        Some(field)
    })
}

fn take_field<'a>(rest: &mut &'a [u8]) -> Option<(u64, Field<'a>)> {
    let key = take_number(rest)?;
    let value = match key & 7 {
        0 => Field::Number(take_number(rest)?),
        2 => {
            let length = usize::try_from(take_number(rest)?).ok()?;
            let (bytes, behind) = rest.split_at_checked(length)?;
            *rest = behind;
            Field::Bytes(bytes)
        }
        _ => return None,
    };
    Some((key >> 3, value))
}

/// A varint: seven bits in each byte, the lowest first.
fn take_number(rest: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (byte, behind) = rest.split_first()?;
        *rest = behind;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

fn unreadable() -> Failure {
    "the instruction is no message of protocol buffers".to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two steps, encoded by Python's `SerializeToString`: a text whose task is held, and a call with a webhook.
    const STEPS: &[u8] = b"\x1a:\x0a\x08\x12\x06\x0a\x02hi\x10\x01\x0a,\x0a*\x0a\x07jsonrpc\x12\x08http://a\x1a\x06\x12\x04\x0a\x02yo \x012\x0b\x0a\x09http://n/\x10\x01";

    #[test]
    fn steps_are_read_with_their_calls() {
        let call = CallAgent {
            transport: "jsonrpc".to_owned(),
            agent_card_uri: "http://a".to_owned(),
            instruction: b"\x12\x04\x0a\x02yo".to_vec(),
            streaming: true,
            behavior: Behavior::PushNotification("http://n/".to_owned()),
        };
        let text = Instruction::ReturnResponse { response: "hi".to_owned(), hold_task: true };
        let steps = Instruction::Steps(vec![text, Instruction::CallAgent(call)]);
        assert!(steps.is_held());
        assert_eq!(Instruction::decode(STEPS), Ok(steps));
    }

    #[test]
    fn what_is_cut_off_is_no_instruction() {
        for length in 0..STEPS.len() {
            assert!(
                Instruction::decode(STEPS.get(..length).unwrap_or_default()).is_err(),
                "{length}"
            );
        }
    }
}
