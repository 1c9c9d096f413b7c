// Agents of kind "model" with `provider = "workers-ai"`: a Worker with a method `run` is bound as `AI`, and answers in the shapes of the models there.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { textOf, until, type Task } from "./client.ts";
import { withThinkers } from "./models.ts";

/** A replacement for Workers AI. The request decides the shape of the answer, and the last request can be read back. */
const AI = `
import { WorkerEntrypoint } from "cloudflare:workers";
let canceled = 0;
const asked = [];
const events = (...chunks) => chunks.map((chunk) => "data: " + (typeof chunk === "string" ? chunk : JSON.stringify(chunk)) + "\\n\\n");
const stream = (pieces, isOpen = false) => new ReadableStream({
  start(controller) {
    for (const piece of pieces) controller.enqueue(new TextEncoder().encode(piece));
    if (!isOpen) controller.close();
  },
  // Signs of life: that nobody reads any more is noticed when something is written.
  async pull(controller) {
    await scheduler.wait(20);
    controller.enqueue(new TextEncoder().encode(": ping\\n\\n"));
  },
  cancel() { canceled += 1; },
});
export default class extends WorkerEntrypoint {
  run(model, inputs) {
    const { messages } = inputs;
    const said = messages.findLast(({ role }) => role === "user").content;
    const results = messages.filter(({ role }) => role === "tool");
    if (said !== "what was asked?") asked.push({ model, inputs });
    const usage = { prompt_tokens: 20, completion_tokens: 4, total_tokens: 24 };
    switch (said) {
      case "what was asked?": return { response: JSON.stringify({ asked, canceled }) };
      case "stream": return stream(events({ response: "Hel", p: "abc" }, { response: "lo", p: "a" }, { response: "", usage }, "[DONE]"));
      case "whole": return { response: "Hello", usage, tool_calls: [] };
      case "as others": return stream(events({ choices: [{ index: 0, delta: { content: "Hello" }, finish_reason: null }] }, { choices: [{ index: 0, delta: {}, finish_reason: "stop" }], usage }, "[DONE]"));
      case "sum": return results.length > 0 ? { response: "It is " + results[0].content }
        : { response: null, tool_calls: [{ name: "add_numbers", arguments: { a: 2, b: 3 } }] };
      case "sum in chunks": return results.length > 0 ? stream(events({ response: "It is " }, { response: results[0].content }, "[DONE]"))
        : stream(events({ tool_calls: [{ name: "add_numbers", arguments: { a: 2, b: 3 } }] }, { response: "" }, "[DONE]"));
      case "shape": return { response: { city: "Bern" } };
      case "nobody": throw new Error("5007: No such model " + model + " or task");
      case "busy": if (asked.filter(({ inputs }) => inputs.messages.at(-1).content === "busy").length < 2) throw new Error("3040: Capacity temporarily exceeded, please try again.");
        return { response: "Hello" };
      case "cut": return stream(events({ response: "Hel" }));
      case "hang": return stream(events({ response: "Hel" }), true);
      default: return { response: said };
    }
  }
}`;

const MODEL = "@cf/meta/llama-3.3-70b-instruct-fp8-fast";
const native = { provider: "workers-ai", model: MODEL, base_url: undefined, api_key: undefined, parameters: { max_tokens: 500 } };
const schema = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
const thinking = withThinkers({
  native: { table: native },
  shaper: { table: { ...native, output_schema: schema } },
  bare: { table: { ...native, binding: "NOT_THERE" } },
}, {}, { AI });

const ask = (text: string, agent = "native"): Promise<Task> => thinking.agent(agent).sendForTask(text);
const answerOf = (task: Task): string => textOf(task.artifacts?.find(({ artifactId }) => artifactId === "answer"));
const saidBy = ({ status }: Task): string => `${status.state.replace("TASK_STATE_", "")} ${textOf(status.message)}`;

interface Seen {
  asked: { model: string; inputs: { messages: { role: string; content: unknown; tool_calls?: unknown }[]; [name: string]: unknown } }[];
  canceled: number;
}
const seen = async (): Promise<Seen> => JSON.parse(answerOf(await ask("what was asked?"))) as Seen;
const lastAsked = async (): Promise<Seen["asked"][number]> => (await seen()).asked.at(-1) ?? assert.fail("nothing was asked");

describe("Workers AI", () => {
  for (const said of ["stream", "whole", "as others"]) {
    test(`answers ${said === "stream" ? "in chunks" : said === "whole" ? "as an object" : "as other providers do"}`, async () => {
      const task = await ask(said);
      assert.equal(answerOf(task), "Hello", saidBy(task));
      const { metadata } = task as { metadata?: Record<string, Record<string, number>> };
      const { requests, inputTokens, outputTokens } = metadata?.["urn:a2a-edge:usage"] ?? {};
      assert.deepEqual([requests, inputTokens, outputTokens], [1, 20, 4]);
    });
  }

  test("is asked with inputs as its models take them", async () => {
    await ask("whole");
    const { model, inputs } = await lastAsked();
    assert.equal(model, MODEL);
    assert.deepEqual(Object.keys(inputs).toSorted(), ["max_tokens", "messages", "stream", "tools"]);
    assert.deepEqual([inputs["stream"], inputs["max_tokens"]], [true, 500]);
    assert.deepEqual(inputs.messages.map(({ role }) => role), ["system", "user"]);
    assert.ok(inputs.messages.every(({ content }) => typeof content === "string"));
  });

  for (const said of ["sum", "sum in chunks"]) {
    test(`calls tools: ${said}`, async () => {
      const task = await ask(said);
      assert.equal(answerOf(task), "It is 5", saidBy(task));
      const { inputs } = await lastAsked();
      const [made, result] = inputs.messages.slice(-2);
      assert.equal(made?.content, "", "which must not be null there");
      assert.deepEqual([result?.role, result?.content], ["tool", "5"]);
    });
  }

  test("that has too much to do is asked again", async () => {
    const task = await ask("busy");
    assert.equal(answerOf(task), "Hello", saidBy(task));
  });

  test("without such a model fails the task, and says so", async () => {
    const said = saidBy(await ask("nobody"));
    assert.match(said, /^FAILED .*answered 404 \(5007\): No such model @cf\/meta/);
  });

  test("is told that nobody listens when the task is canceled", async () => {
    const agent = thinking.agent("native");
    const { canceled } = await seen();
    const { id } = await agent.sendForTask("hang", { returnImmediately: true });
    await until(() => agent.getTask(id), (task) => answerOf(task) === "Hel");
    await agent.cancelTask(id);
    assert.equal((await agent.getTask(id)).status.state, "TASK_STATE_CANCELED");
    assert.equal((await until(seen, (now) => now.canceled > canceled)).canceled, canceled + 1);
  });

  test("gives data by a schema, whole", async () => {
    const task = await ask("shape", "shaper");
    assert.deepEqual(task.artifacts?.[0]?.parts.map(({ data }) => data), [{ city: "Bern" }], saidBy(task));
    const { inputs } = await lastAsked();
    assert.deepEqual([inputs["response_format"], inputs["stream"]], [{ type: "json_schema", json_schema: schema }, undefined]);
  });

  test("whose stream ends in the middle is asked again, and the task fails if that goes on", async () => {
    assert.match(saidBy(await ask("cut")), /^FAILED .*broke off: it ended in the middle/);
  });

  test("that is not bound fails the task, and says what to add to wrangler.toml", async () => {
    assert.match(saidBy(await ask("whole", "bare")), /^FAILED .*no binding "NOT_THERE" of Workers AI: add \[ai\] with binding = "NOT_THERE" to wrangler\.toml/);
  });
});
