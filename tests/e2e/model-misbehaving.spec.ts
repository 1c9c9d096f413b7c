// Misbehaving providers over a real connection, and the final state of the task. The whole table is
// tests/all/model_table.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { textOf, until, type Task } from "./client.ts";
import { call, calls, cut, delta, events, failing, hanging, inPieces, raw, say, resultsIn, type Answer } from "./model-server.ts";
import { withThinkers } from "./models.ts";
import { freePort } from "../../scripts/lib/port.mjs";

const port = await freePort();
const thinking = withThinkers({
  hasty: { table: { timeout_ms: 3000 } },
  alone: { table: { base_url: `http://127.0.0.1:${port}/v1` } },
});

/** A provider's answers, the final state of the task, a pattern of its text, and the number of requests. */
interface Row {
  answers: Answer[];
  state: "COMPLETED" | "FAILED";
  text: RegExp;
  requests: number;
  agent?: string;
}

const hello = say("hello");
const goodbye = say(["good", "bye"]);
const again = (text: string, status: number, headers: Record<string, string> = {}) => failing(status, text, { "retry-after": "0", ...headers });

const rows: Record<string, Row> = {
  "a page instead of an answer": { answers: [raw(200, "text/html", "<h1>Welcome</h1>")], state: "FAILED", text: /model/, requests: 1 },
  "a wrong key": { answers: [failing(401, "Incorrect API key provided.")], state: "FAILED", text: /401.*api_key/s, requests: 1 },
  "no such model": { answers: [failing(404, "The model does not exist.")], state: "FAILED", text: /does not exist/, requests: 1 },
  "too many requests, then well": { answers: [again("Slow down.", 429), hello], state: "COMPLETED", text: /^hello$/, requests: 2 },
  "a failure, then well": { answers: [again("Oh no.", 500), hello], state: "COMPLETED", text: /^hello$/, requests: 2 },
  "a gateway's page, then well": {
    answers: [raw(502, "text/html", "<h1>Bad gateway</h1>", { "retry-after": "0" }), hello], state: "COMPLETED", text: /^hello$/, requests: 2,
  },
  "a stream that breaks, then well": { answers: [cut(goodbye, 3), hello], state: "COMPLETED", text: /^hello$/, requests: 2 },
  "a stream that breaks in a call, then well": {
    answers: [cut(call("order", { item: "never" }), 2), hello], state: "COMPLETED", text: /^hello$/, requests: 2,
  },
  "a stream that stalls, then well": { answers: [hanging(goodbye, 2), hello], state: "COMPLETED", text: /^hello$/, requests: 2, agent: "hasty" },
  "a head that does not come, then well": {
    answers: [() => ({ ...goodbye({ body: { stream: true } } as never), pieces: [{ hang: true }] }), hello],
    state: "COMPLETED", text: /^hello$/, requests: 2, agent: "hasty",
  },
  "bytes that come one by one": { answers: [inPieces(say(["gr", "ü", "ße"]), 1)], state: "COMPLETED", text: /^grüße$/, requests: 1 },
  "an error in the stream": {
    answers: [events(delta({ content: "goodbye" }), { error: { message: "Filtered.", code: "content_filter" } })],
    state: "FAILED", text: /Filtered/, requests: 1,
  },
  "a redirect": {
    answers: [raw(307, "text/plain", "", { location: `http://127.0.0.1:${port}/v1/chat/completions` })], state: "FAILED", text: /307/, requests: 1,
  },
  "an answer that is cut": { answers: [say("hello", { finish: "length" })], state: "FAILED", text: /cut/, requests: 1 },
  "an answer of megabytes": {
    answers: [raw(200, "application/json", JSON.stringify({ choices: [{ message: { content: "x".repeat(6_000_000) } }] }))],
    state: "FAILED", text: /more than/, requests: 1,
  },
  "arguments that are not JSON": {
    answers: [call("order", '{"item": '), hello], state: "COMPLETED", text: /^hello$/, requests: 2,
  },
  "a tool that does not exist": { answers: [call("steal", {}), hello], state: "COMPLETED", text: /^hello$/, requests: 2 },
  "two calls with one id": {
    answers: [calls([["add_numbers", { a: 1, b: 2 }, "x"], ["add_numbers", { a: 3, b: 4 }, "x"]]), hello], state: "COMPLETED", text: /^hello$/, requests: 2,
  },
};

function said(task: Task): string {
  return task.status.state === "TASK_STATE_COMPLETED" ? textOf(task.artifacts?.at(-1)) : textOf(task.status.message);
}

describe("a provider", () => {
  for (const [name, { answers, state, text, requests, agent }] of Object.entries(rows)) {
    test(`with ${name} ends the task as ${state.toLowerCase()}`, async () => {
      const before = thinking.model.asked.length;
      thinking.model.answers(...answers);
      const task = await thinking.agent(agent).sendForTask("hi");
      assert.equal(task.status.state, `TASK_STATE_${state}`, said(task));
      assert.match(said(task), text);
      assert.equal(thinking.model.asked.length - before, requests);
    });
  }

  test("that tells the key does not make us tell it", async () => {
    thinking.model.answers(failing(401, `Incorrect API key provided: ${thinking.key}.`));
    const task = await thinking.agent().sendForTask("hi");
    assert.equal(task.status.state, "TASK_STATE_FAILED");
    assert.ok(!JSON.stringify(task).includes(thinking.key));
  });

  test("that is not there fails the task, and says who", async () => {
    const task = await thinking.agent("alone").sendForTask("hi");
    assert.equal(task.status.state, "TASK_STATE_FAILED");
    assert.match(textOf(task.status.message), /127\.0\.0\.1/);
  });

  test("is told of each call what was wrong with it", async () => {
    thinking.model.answers(
      calls([["order", "[1]", "list"], ["add_numbers", { a: "one" }, "type"], ["steal", {}, "unknown"], ["add_numbers", { a: 1, b: 2 }, "good"]]), hello,
    );
    await thinking.agent().sendForTask("hi");
    const told = resultsIn(thinking.model.last);
    assert.match(told["list"] ?? "", /object/);
    assert.match(told["type"] ?? "", /\ba\b/);
    assert.match(told["unknown"] ?? "", /steal/);
    assert.match(told["good"] ?? "", /3/);
  });

  test("that stays open behind its end is left", async () => {
    thinking.model.answers(hanging(hello, 5));
    const task = await thinking.agent().sendForTask("hi");
    assert.equal(said(task), "hello");
    await until(async () => thinking.model.last.fate, (fate) => fate === "left");
  });
});
