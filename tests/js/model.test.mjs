// The scripted model of development: dev/model/.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { choose } from "../../dev/model/choose.js";
import { Filling } from "../../dev/model/fill.js";
import { complete } from "../../dev/model/index.js";
import { areKin, numbers, tells } from "../../dev/model/words.js";

const ask = (body, method = "POST") =>
  complete(new Request("http://a.example/_dev/model/chat/completions", { method, ...(method === "POST" && { body: typeof body === "string" ? body : JSON.stringify(body) }) }));

/** The whole answer to these messages. */
async function message(messages, tools = []) {
  const answer = await ask({ model: "m", messages, tools });
  assert.equal(answer.status, 200);
  const { choices, usage } = await answer.json();
  assert.ok(usage.total_tokens > 0);
  return choices[0].message;
}

/** The calls of a message, each by its tool and arguments. */
const calls = ({ tool_calls: made = [] }) => made.map(({ function: { name, arguments: given } }) => [name, JSON.parse(given)]);

function tool(name, description, properties, required) {
  return { type: "function", function: { name, description, parameters: { type: "object", properties, required } } };
}

const delegation = (name, description) => tool(name, description, { prompt: { type: "string" }, task_id: { type: "string" } }, ["prompt"]);

const TEAM = [
  delegation("weather", "Hands a task to the agent Weather. Forecasts rain."),
  delegation("travel", "Hands a task to the agent Travel. Books trains and hotels."),
  tool("ask_user", "Asks the user.", { question: { type: "string" } }, ["question"]),
];

/** A conversation that grows. */
class Talk {
  messages = [{ role: "system", content: "Be kind." }];

  say(text) {
    this.messages.push({ role: "user", content: text });
    return this.#goOn();
  }

  /** The results of the newest calls. */
  give(...results) {
    const made = this.messages.at(-1).tool_calls;
    assert.equal(made.length, results.length);
    made.forEach(({ id }, at) => this.messages.push({ role: "tool", tool_call_id: id, content: results[at] }));
    return this.#goOn();
  }

  async #goOn() {
    const answer = await message(this.messages, TEAM);
    this.messages.push(answer);
    return answer;
  }
}

describe("the scripted model", () => {
  test("asks a team together, and hands its questions to the user", async () => {
    const talk = new Talk();
    assert.deepEqual(calls(await talk.say("Will it rain in Rome, and book a train there")), [
      ["weather", { prompt: "Will it rain in Rome" }],
      ["travel", { prompt: "book a train there" }],
    ]);
    const asks = await talk.give("[COMPLETED] It is sunny.", "[INPUT_REQUIRED:task_id=t-1] On which day?");
    assert.deepEqual(calls(asks), [["ask_user", { question: "On which day?" }]]);
    assert.deepEqual(calls(await talk.give("On Monday")), [["travel", { prompt: "On Monday", task_id: "t-1" }]]);
    const again = await talk.give("[INPUT_REQUIRED:task_id=t-1] First or second class?");
    assert.deepEqual(calls(again), [["ask_user", { question: "First or second class?" }]]);
    await talk.give("second");
    const end = await talk.give("[COMPLETED] Booked.");
    assert.equal(end.content, "Here are 2 results:\n- Weather: It is sunny.\n- Travel: Booked.");
    const ids = talk.messages.flatMap(({ tool_calls: made = [] }) => made.map(({ id }) => id));
    assert.deepEqual(ids, ["call_1", "call_2", "call_3", "call_4", "call_5", "call_6"]);
    // The next message begins anew.
    assert.deepEqual(calls(await talk.say("Is there a hotel?")), [["travel", { prompt: "Is there a hotel?" }]]);
    assert.equal((await talk.give("[FAILED] the agent is down")).content, "Travel gave no result: the agent is down");
  });

  test("says a question where no tool asks it, and the next message answers it", async () => {
    const tools = [delegation("travel", "Books trains and hotels.")];
    const messages = [{ role: "user", content: "book a hotel" }];
    messages.push(await message(messages, tools), { role: "tool", tool_call_id: "call_1", content: "[INPUT_REQUIRED:task_id=t-1] Where?" });
    const told = await message(messages, tools);
    assert.equal(told.content, "Travel asks: Where?");
    messages.push(told, { role: "user", content: "Rome" });
    assert.deepEqual(calls(await message(messages, tools)), [["travel", { prompt: "Rome", task_id: "t-1" }]]);
  });

  test("asks for a number that is missing", async () => {
    const number = { type: "number" };
    const add = tool("add_numbers", "Adds.", { a: number, b: number }, ["a", "b"]);
    const messages = [{ role: "user", content: "add 2 and something" }];
    const asks = await message(messages, [add, TEAM[2]]);
    assert.deepEqual(calls(asks), [["ask_user", { question: "Which number is `b` of Add numbers?" }]]);
    messages.push(asks, { role: "tool", tool_call_id: "call_1", content: "It is 40" });
    assert.deepEqual(calls(await message(messages, [add, TEAM[2]])), [["add_numbers", { a: 2, b: 40 }]]);
    assert.deepEqual(calls(await message([{ role: "user", content: "add 2" }], [add])), [["add_numbers", { a: 2, b: 0 }]]);
  });

  test("says what it is where nothing matches", async () => {
    const image = [{ type: "text", text: "hi" }, { type: "image_url", image_url: { url: "https://a.example" } }];
    const { content } = await message([{ role: "user", content: "first" }, { role: "assistant", content: "yes" }, { role: "user", content: image }], TEAM);
    for (const part of ["scripted model", "dev:model", "`weather`, `travel`", '"hi"', "1 files", "message 2"]) assert.ok(content.includes(part), part);
    assert.ok(!content.includes("ask_user"), content);
  });

  test("fills a schema", async () => {
    const schema = { type: "object", properties: { city: { type: "string" }, degrees: { type: "number" } }, required: ["city", "degrees"] };
    const answer = await ask({ messages: [{ role: "user", content: "It has 21.5 degrees in Rome." }], response_format: { type: "json_schema", json_schema: { name: "n", schema } } });
    assert.deepEqual(JSON.parse((await answer.json()).choices[0].message.content), { city: "Rome", degrees: 21.5 });
  });

  test("streams the whole answer word by word, and calls", async () => {
    const streamed = async (body) => {
      const answer = await ask({ ...body, stream: true });
      assert.equal(answer.headers.get("content-type"), "text/event-stream");
      const events = (await answer.text()).split("\n\n").filter((event) => event !== "");
      assert.equal(events.pop(), "data: [DONE]");
      return events.map((event) => JSON.parse(event.slice("data: ".length)));
    };
    const messages = [{ role: "user", content: "hello" }];
    const events = await streamed({ messages, stream_options: { include_usage: true } });
    assert.ok(events.length > 10);
    assert.equal(events.map(({ choices }) => choices[0]?.delta.content ?? "").join(""), (await message(messages)).content);
    assert.equal(events.at(-2).choices[0].finish_reason, "stop");
    assert.deepEqual(events.at(-1).choices, []);
    assert.ok(events.at(-1).usage.completion_tokens > 10);
    const made = (await streamed({ messages: [{ role: "user", content: "rain and hotels" }], tools: TEAM })).flatMap(({ choices }) => choices[0].delta.tool_calls ?? []);
    const given = [0, 1].map((index) => made.filter((call) => call.index === index).map((call) => call.function.arguments).join(""));
    assert.deepEqual(given, ['{"prompt":"rain"}', '{"prompt":"hotels"}']);
  });

  test("cuts an answer that may not be long", async () => {
    const { choices } = await (await ask({ messages: [{ role: "user", content: "hello" }], max_tokens: 3 })).json();
    assert.deepEqual([choices[0].finish_reason, choices[0].message.content], ["length", "I am the scr"]);
  });

  test("refuses in words what is no request", async () => {
    for (const [body, reason] of [
      ["{", "the body is not JSON"],
      ["null", "`messages` must be an array"],
      [{}, "`messages` must be an array"],
      [{ messages: [] }, "`messages` must be an array"],
      [{ messages: [{ role: "bard" }] }, 'there is no role "bard"'],
      [{ messages: [null] }, "there is no role null"],
      [{ messages: [{ role: "tool" }] }, "no `tool_call_id`"],
      [{ messages: [{ role: "user" }], tools: [{}] }, "no `function.name`"],
    ]) {
      const answer = await ask(body);
      assert.equal(answer.status, 400);
      assert.ok((await answer.json()).error.message.includes(reason), reason);
    }
    assert.equal((await ask(undefined, "GET")).status, 405);
  });
});

test("tools are chosen by words, each with its clauses", () => {
  const tools = [
    ["current_time", "Tells the time."],
    ["weather", "Hands a task to the agent Weather. Forecasts rain and sunshine for places."],
    ["calculator", "Hands a task to the agent Calculator. Adds, subtracts, multiplies and divides: plus, minus, times."],
  ].map(([name, description]) => ({ name, description, parameters: {} }));
  for (const [text, expected] of [
    ["Will it rain in Rome?", [["weather", "Will it rain in Rome?"]]],
    ["What is the weather in Rome and in Paris, and what is 12 times 7?", [["weather", "What is the weather in Rome and in Paris"], ["calculator", "what is 12 times 7?"]]],
    ["I am in Rome. Forecast? Then what time is it; multiply 2 and 3", [["current_time", "Then what time is it"], ["weather", "I am in Rome. Forecast?"], ["calculator", "multiply 2 and 3"]]],
    ["Use current_time", [["current_time", "Use current_time"]]],
    ["Hello, who are you and what can you do?", []],
    ["", []],
  ]) {
    assert.deepEqual(choose(text, tools).map(({ tool: { name }, text }) => [name, text]), expected, text);
  }
});

describe("a schema", () => {
  const number = { type: "number" };
  const filled = (text, schema) => new Filling(text).object(schema);

  test("is filled from the text", () => {
    assert.deepEqual(filled("add 2.5 and 3", { properties: { a: number, b: { type: "integer" } }, required: ["a", "b"] }), { a: 2.5, b: 3 });
    const echo = { properties: { text: { type: "string" }, times: { type: "integer" } }, required: ["text"] };
    assert.deepEqual(filled("echo hello", echo), { text: "echo hello" });
    assert.deepEqual(filled('echo "hello" 3', echo), { text: "hello", times: 3 });
    const weather = {
      properties: { city: { type: "string" }, unit: { enum: ["celsius", "kelvin"] }, days: { type: "array", items: { type: "integer" } }, exact: { type: "boolean" } },
      required: ["city"],
    };
    assert.deepEqual(filled("Weather for me in New York, in Kelvin, exact please: 1 2", weather), { city: "New York", unit: "kelvin", days: [1, 2], exact: true });
    assert.deepEqual(filled("weather in rome", weather), { city: "weather in rome" });
    const nested = {
      properties: { from: { type: "object", properties: { x: { type: ["null", "number"] } }, required: ["x"] }, when: { anyOf: [{ const: "now" }, { type: "string" }] }, link: { type: "string" } },
      required: ["from", "when"],
    };
    assert.deepEqual(filled("go from 4 (see https://a.example/x).", nested), { from: { x: 4 }, when: "now", link: "https://a.example/x" });
  });

  test("that needs a number which is missing names it", () => {
    const schema = { properties: { a: number, b: { ...number, default: 7 } }, required: ["a", "b"] };
    const without = new Filling("add something");
    assert.deepEqual([without.object(schema), without.missing], [{ a: 0, b: 7 }, "a"]);
    const one = new Filling("add 1");
    assert.deepEqual([one.object(schema), one.missing], [{ a: 1, b: 7 }, undefined]);
  });

  test("may be nested as deep as it likes", () => {
    let schema = { type: "object" };
    for (let level = 0; level < 5_000; level++) schema = { anyOf: [{ type: "array", items: schema }] };
    assert.ok(JSON.stringify(filled("x", { properties: { a: schema }, required: ["a"] })).length < 200);
  });
});

test("words of one root are kin, and common ones tell nothing", () => {
  for (const [one, other] of [["add", "adds"], ["add", "adding"], ["calculate", "calculator"], ["translate", "translation"], ["weather", "weather"], ["forecast", "forecasts"]]) {
    assert.ok(areKin(one, other) && areKin(other, one), `${one} ${other}`);
  }
  for (const [one, other] of [["convert", "conversation"], ["in", "inner"], ["rain", "train"], ["go", "goes"]]) assert.ok(!areKin(one, other), `${one} ${other}`);
  assert.ok(tells("weather") && tells("times"));
  for (const word of ["the", "12", "x", "please"]) assert.ok(!tells(word), word);
});

test("numbers are found wherever they stand", () => {
  for (const [text, found] of [
    ["12 times 7", [12, 7]],
    ["it is -3.5 degrees, or 1,200.", [-3.5, 1200]],
    ["none - at all...", []],
    ["a2a in v1.2.3", [2]],
  ]) {
    assert.deepEqual(numbers(text), found, text);
  }
});
