// Agents of kind "model" in front of aimock, an independent mock of the providers' APIs: it checks the requests, and sends answers in the providers'
// format.
import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { LLMock, type ChatCompletionRequest, type FixtureFileResponse } from "@copilotkit/aimock";
import { fresh } from "./access.ts";
import { textOf, type Task } from "./client.ts";
import { withThinkers } from "./models.ts";

const KEY = fresh();
const mock = new LLMock({ chunkSize: 7, strict: true, auth: { apiKeys: [KEY] } });
await mock.start();
after(() => mock.stop());

const schema = {
  type: "object", properties: { city: { type: "string" }, celsius: { type: "number" } }, required: ["city", "celsius"], additionalProperties: false,
};
const thinking = withThinkers({
  shaper: { table: { output_schema: schema } },
  priced: { table: { price: { input: 1, output: 10 } } },
  tuned: { table: { temperature: 0.25, parameters: { top_p: 0.5, max_completion_tokens: 99 } } },
  locked: { table: { api_key: "${OTHER_KEY}" } },
}, { MODEL_URL: `${mock.url}/v1`, MODEL_KEY: KEY, OTHER_KEY: fresh() });

const ask = (text: string, agent = "thinker"): Promise<Task> => thinking.agent(agent).sendForTask(text);
const answerOf = (task: Task): string => textOf(task.artifacts?.find(({ artifactId }) => artifactId === "answer"));
const stateOf = ({ status }: Task): string => status.state.replace("TASK_STATE_", "");
const saidBy = ({ status }: Task): string => textOf(status.message);

/** The mock's requests with this text of the user, oldest first, each with the status of the answer. */
function asked(text: string): { body: ChatCompletionRequest; headers: Record<string, string>; status: number }[] {
  const isOne = ({ messages }: ChatCompletionRequest): boolean => messages.some(({ role, content }) => role === "user" && content === text);
  return mock.getRequests().flatMap(({ body, headers, response }) => {
    const request = body as ChatCompletionRequest | null;
    return request !== null && isOne(request) ? [{ body: request, headers, status: response.status }] : [];
  });
}

/** Makes the mock return these answers in order. */
function inTurn(text: string, ...answers: FixtureFileResponse[]): void {
  answers.forEach((answer, sequenceIndex) => void mock.on({ userMessage: text, sequenceIndex }, answer));
}

describe("a provider is asked", () => {
  test("for chunks and usage, by the name of the model, with the key and the instructions", async () => {
    mock.onMessage("wire: hello", { content: "Hello from the other side." });
    const task = await ask("wire: hello");
    assert.equal(answerOf(task), "Hello from the other side.", saidBy(task));
    const [{ body, headers } = assert.fail("it was not asked"), ...more] = asked("wire: hello");
    assert.deepEqual(more, []);
    assert.deepEqual([body.model, body.stream, body.stream_options], ["said-model", true, { include_usage: true }]);
    assert.equal(headers["content-type"], "application/json");
    assert.match(headers["accept"] ?? "", /text\/event-stream/);
    assert.equal(body.messages[0]?.role, "system");
    assert.match(String(body.messages[0]?.content), /Be brief\./);
    const tools = body.tools?.map(({ function: { name } }) => name);
    assert.deepEqual(tools?.toSorted(), ["add_numbers", "ask_user", "order"]);
    assert.ok(body.tools?.every(({ function: { parameters } }) => (parameters as { type?: string }).type === "object"));
  });

  test("with the parameters of the agent's file", async () => {
    mock.onMessage("wire: tuned", { content: "Fine." });
    assert.equal(answerOf(await ask("wire: tuned", "tuned")), "Fine.");
    const { body } = asked("wire: tuned")[0] ?? assert.fail("it was not asked");
    assert.deepEqual([body["temperature"], body["top_p"], body["max_completion_tokens"]], [0.25, 0.5, 99]);
    assert.deepEqual([body.model, body.stream], ["said-model", true]);
  });

  test("with the results of the tools that it called, several at once", async () => {
    inTurn("wire: sums", {
      toolCalls: [
        { id: "call_one", name: "add_numbers", arguments: '{"a": 2, "b": 3}' },
        { id: "call_two", name: "add_numbers", arguments: '{"a": 40, "b": 2}' },
      ],
    }, { content: "5 and 42." });
    const task = await ask("wire: sums");
    assert.equal(answerOf(task), "5 and 42.", saidBy(task));
    const [, { body } = assert.fail("it was not asked again")] = asked("wire: sums");
    const [made, ...results] = body.messages.slice(-3);
    assert.deepEqual(made?.tool_calls?.map(({ id, function: { name } }) => [id, name]), [["call_one", "add_numbers"], ["call_two", "add_numbers"]]);
    assert.deepEqual(results.map(({ role, tool_call_id: id, content }) => [role, id, content]), [["tool", "call_one", "5"], ["tool", "call_two", "42"]]);
  });

  test("again with the text that it wrote beside its calls", async () => {
    inTurn("wire: both", { content: "Let me see.", toolCalls: [{ id: "call_sum", name: "add_numbers", arguments: '{"a": 1, "b": 1}' }] }, { content: "2." });
    const task = await ask("wire: both");
    assert.equal(answerOf(task), "2.", saidBy(task));
    const [, { body } = assert.fail("it was not asked again")] = asked("wire: both");
    const made = body.messages.find(({ role }) => role === "assistant");
    assert.deepEqual([made?.content, made?.tool_calls?.length], ["Let me see.", 1]);
  });

  test("for JSON by a schema that it can be held to, and its answer is data", async () => {
    mock.onMessage("wire: shape", { content: '{"city": "Bern", "celsius": 12.5}' });
    const task = await ask("wire: shape", "shaper");
    assert.deepEqual(task.artifacts?.[0]?.parts.map(({ data }) => data), [{ city: "Bern", celsius: 12.5 }], saidBy(task));
    const { body } = asked("wire: shape")[0] ?? assert.fail("it was not asked");
    assert.deepEqual(body.response_format, { type: "json_schema", json_schema: { name: "answer", schema, strict: true } });
  });
});

describe("what a provider says", () => {
  test("of its usage is summed over the rounds, with what it costs", async () => {
    inTurn(
      "wire: cost",
      { toolCalls: [{ name: "add_numbers", arguments: '{"a": 1, "b": 2}' }], usage: { prompt_tokens: 1000, completion_tokens: 100 } },
      { content: "3.", usage: { prompt_tokens: 2000, completion_tokens: 200 } },
    );
    const task = await ask("wire: cost", "priced");
    assert.equal(answerOf(task), "3.", saidBy(task));
    const usage = (task as { metadata?: Record<string, Record<string, number>> }).metadata?.["urn:a2a-edge:usage"];
    assert.deepEqual([usage?.["requests"], usage?.["inputTokens"], usage?.["outputTokens"]], [2, 3000, 300]);
    assert.ok(Math.abs((usage?.["cost"] ?? 0) - 0.006) < 1e-9, String(usage?.["cost"]));
  });

  test("is heard whole where what it thinks comes first", async () => {
    mock.onMessage("wire: think", { content: "Yes.", reasoning: "Let me think about that for a while." });
    assert.equal(answerOf(await ask("wire: think")), "Yes.");
  });

  test("when it refuses the key fails the task, and the key is not told on", async () => {
    const task = await ask("wire: locked", "locked");
    assert.equal(stateOf(task), "FAILED");
    assert.match(saidBy(task), /answered 401/);
    assert.ok(!JSON.stringify(task).includes(KEY));
  });

  test("when it refuses the request fails the task at once", async () => {
    mock.onMessage("wire: refused", { status: 400, error: { message: "Unknown parameter: 'foo'.", type: "invalid_request_error", code: "unknown_parameter" } });
    const task = await ask("wire: refused");
    assert.equal(stateOf(task), "FAILED");
    assert.match(saidBy(task), /answered 400 \(unknown_parameter\): Unknown parameter: 'foo'\./);
    assert.equal(asked("wire: refused").length, 1);
  });

  test("when it is asked too often, or fails, is asked for again", async () => {
    inTurn(
      "wire: busy",
      { status: 429, error: { message: "Rate limit reached", type: "rate_limit_error", code: "rate_limit_exceeded" }, retryAfter: 1 },
      { status: 500, error: { message: "The server had an error", type: "server_error" } },
      { content: "Now." },
    );
    const task = await ask("wire: busy");
    assert.equal(answerOf(task), "Now.", saidBy(task));
    assert.deepEqual(asked("wire: busy").map(({ status }) => status), [429, 500, 200]);
  });

  test("when it breaks off in the middle is asked for again, and only one answer stays", async () => {
    const long = "This is the answer that was cut before its end.";
    mock.on({ userMessage: "wire: cut", sequenceIndex: 0 }, { content: long }, { truncateAfterChunks: 3 });
    mock.on({ userMessage: "wire: cut", sequenceIndex: 1 }, { content: "This one is whole." });
    const task = await ask("wire: cut");
    assert.equal(answerOf(task), "This one is whole.", saidBy(task));
    assert.equal(asked("wire: cut").length, 2);
  });

  test("when its answer is cut at its length is said so", async () => {
    mock.onMessage("wire: long", { content: "Once upon a", finishReason: "length" });
    const task = await ask("wire: long");
    assert.equal(stateOf(task), "FAILED", answerOf(task));
    assert.match(saidBy(task), /length|tokens|cut/);
  });
});
