//! A tool that is one function.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::marker::PhantomData;

use async_trait::async_trait;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{Argument, Tool, ToolCall, ToolError, ToolOutput};

/// A tool that is one asynchronous function, as `#[tool]` makes it. [`new`](Self::new) makes a tool whose description
/// or schema is computed at run time.
///
/// ```
/// # extern crate a2a_agents as a2a_edge;
/// use a2a_edge::tool::prelude::*;
///
/// /// Gives back the text it gets.
/// #[tool]
/// fn echo(
///     /// What to give back.
///     text: String,
/// ) -> String {
///     text
/// }
///
/// let answer = a2a_edge::tool::testing::call(&echo(), json!({"text": "hi"}));
/// assert_eq!(answer, Ok("hi".into()));
/// assert_eq!(echo().name(), "echo");
/// assert_eq!(echo().description(), "Gives back the text it gets.");
/// assert_eq!(echo().input_schema(), &json!({
///     "type": "object",
///     "properties": {"text": {"description": "What to give back.", "type": "string"}},
///     "required": ["text"],
///     "additionalProperties": false,
/// }));
/// ```
pub struct FunctionTool<Arguments, Function> {
    name: Cow<'static, str>,
    description: Cow<'static, str>,
    needs: &'static [&'static str],
    make_schema: fn() -> Value,
    input_schema: OnceCell<Value>,
    function: Function,
    arguments: PhantomData<fn(Arguments)>,
}

impl<Arguments, Function> FunctionTool<Arguments, Function>
where
    Arguments: Argument,
    Function: AsyncFn(Arguments, &dyn ToolCall) -> Result<ToolOutput, ToolError>,
{
    /// A tool from its function, whose arguments have a type with `#[arguments]`. `needs` contains names of secrets and
    /// variables.
    pub fn of(
        name: &'static str,
        description: &'static str,
        needs: &'static [&'static str],
        function: Function,
    ) -> Self {
        Self {
            name: name.into(),
            description: description.into(),
            needs,
            make_schema: || Arguments::SHAPE.schema(),
            input_schema: OnceCell::new(),
            function,
            arguments: PhantomData,
        }
    }
}

impl<Arguments, Function> FunctionTool<Arguments, Function>
where
    Arguments: DeserializeOwned,
    Function: AsyncFn(Arguments, &dyn ToolCall) -> Result<ToolOutput, ToolError>,
{
    /// A tool from its function and the schema of its arguments. Arguments are checked against the schema and then
    /// decoded into the function's type.
    pub fn new(
        name: impl Into<Cow<'static, str>>,
        description: impl Into<Cow<'static, str>>,
        input_schema: Value,
        function: Function,
    ) -> Self {
        Self {
            name: name.into(),
            description: description.into(),
            needs: &[],
            make_schema: Value::default,
            input_schema: OnceCell::from(input_schema),
            function,
            arguments: PhantomData,
        }
    }
}

#[async_trait(?Send)]
impl<Arguments, Function> Tool for FunctionTool<Arguments, Function>
where
    Arguments: DeserializeOwned,
    Function: AsyncFn(Arguments, &dyn ToolCall) -> Result<ToolOutput, ToolError>,
{
    fn name(&self) -> &str {
        &self.name
    }

    fn description(&self) -> &str {
        &self.description
    }

    fn input_schema(&self) -> &Value {
        self.input_schema.get_or_init(self.make_schema)
    }

    fn needs(&self) -> Vec<String> {
        self.needs.iter().map(|name| (*name).to_owned()).collect()
    }

    async fn call(&self, arguments: Value, call: &dyn ToolCall) -> Result<ToolOutput, ToolError> {
        let arguments = serde_json::from_value(arguments)
            .map_err(|error| ToolError::Arguments(format!("the arguments do not fit: {error}")))?;
        (self.function)(arguments, call).await
    }
}
