// Agents of kind "model" through the public interface: the answers to their clients, and the requests to the model and
// the tools.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { describe, test } from "node:test";
import { Role, TaskState, type SendMessageRequest } from "@a2a-js/sdk";
import { ClientFactory } from "@a2a-js/sdk/client";
import { caller, fresh } from "./access.ts";
import { followUp, message, textOf, until, untilEnded } from "./client.ts";
import { call, calls, contentOf, held, refuse, resultsIn, say } from "./model-server.ts";
import { withThinkers } from "./models.ts";
import { EventStream } from "./stream.ts";

const [guestKey, memberKey] = [fresh(), fresh()];
const callers = [caller("guest", ["GUEST_KEY"]), caller("member", ["MEMBER_KEY"], { permissions: ["buy"] })];
const thinking = withThinkers({
  shy: { access: { schemes: { key: { kind: "api_key", name: "X-Key", callers } } }, restricted: { order: ["buy"] } },
  meteorologist: {
    table: { output_schema: { type: "object", properties: { city: { type: "string" } }, required: ["city"], additionalProperties: false } },
  },
}, { GUEST_KEY: guestKey, MEMBER_KEY: memberKey });

const ask = (text: string): SendMessageRequest => ({
  tenant: "", configuration: undefined, metadata: undefined,
  message: {
    messageId: randomUUID(), contextId: "", taskId: "", role: Role.ROLE_USER, metadata: undefined, extensions: [], referenceTaskIds: [],
    parts: [{ content: { $case: "text", value: text }, metadata: undefined, filename: "", mediaType: "" }],
  },
});
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";

describe("an answer", () => {
  test("is visible to the official client while the model still streams (§3.1.2)", async () => {
    const client = await new ClientFactory().createFromUrl(`${thinking.worker.url}/thinker/`, ".well-known/agent-card.json");
    thinking.model.answers(held(say(["It is ", "noon ", "in ", "Bern."]), 4));
    let text = "";
    let state: TaskState | undefined;
    let wasReleased = false;
    for await (const { payload } of client.sendMessageStream(ask("what time is it?"))) {
      if (payload?.$case === "artifactUpdate") {
        const { artifact, append } = payload.value;
        const piece = artifact?.parts.map(({ content }) => (content?.$case === "text" ? content.value : "")).join("") ?? "";
        text = append ? text + piece : piece;
      }
      if (payload?.$case === "statusUpdate") state = payload.value.status?.state;
      if (!wasReleased && text === "It is noon in ") {
        assert.equal(thinking.model.last.fate, "under way");
        wasReleased = true;
        thinking.model.release();
      }
    }
    assert.ok(wasReleased);
    assert.equal(text, "It is noon in Bern.");
    assert.equal(state, TaskState.TASK_STATE_COMPLETED);
  });

  test("is visible to one who polls while the model still streams (§3.1.3)", async () => {
    thinking.model.answers(held(say(["It is ", "noon."]), 2));
    const { id } = await thinking.agent().sendForTask("what time is it?", { returnImmediately: true });
    const task = await until(() => thinking.agent().getTask(id), ({ artifacts }) => textOf(artifacts?.[0]) === "It is ");
    assert.equal(task.status.state, "TASK_STATE_WORKING");
    thinking.model.release();
    assert.equal(textOf((await untilEnded(thinking.agent(), id)).artifacts?.[0]), "It is noon.");
  });

  test("comes from a request with the key, the model and the instructions", async () => {
    thinking.model.answers(say("hello"));
    await thinking.agent().sendForTask("hi");
    const { path, headers, body } = thinking.model.last;
    assert.equal(path, "/v1/chat/completions");
    assert.equal(headers.authorization, `Bearer ${thinking.key}`);
    assert.deepEqual([body.model, body.stream], ["said-model", true]);
    assert.match(contentOf(body.messages[0]), /Be brief\./);
    assert.equal(contentOf(body.messages.at(-1)), "hi");
  });

  test("tells what it took in the metadata of its task", async () => {
    thinking.model.answers(call("add_numbers", { a: 1, b: 2 }), say("three", { usage: [20, 1] }));
    const { metadata } = await thinking.agent().sendForTask("1 + 2");
    const usage = metadata?.["urn:a2a-edge:usage"] as Record<string, number>;
    assert.deepEqual([usage["requests"], usage["inputTokens"], usage["outputTokens"]], [2, 30, 6]);
  });

  test("that is a refusal rejects the task (§4.1.3)", async () => {
    thinking.model.answers(refuse("I cannot help with that."));
    const { status } = await thinking.agent().sendForTask("do evil");
    assert.deepEqual([status.state, textOf(status.message)], ["TASK_STATE_REJECTED", "I cannot help with that."]);
  });

  test("that has to fit a schema is data that were checked", async () => {
    thinking.model.answers(say('{"town": "Bern"}'), say('{"city": "Bern"}'));
    const { artifacts } = await thinking.agent("meteorologist").sendForTask("where?");
    assert.deepEqual(artifacts?.map(({ parts }) => parts.map(({ data }) => data)), [[{ city: "Bern" }]]);
  });
});

describe("tools", () => {
  test("over HTTP are called with what the model says, and their results told", async () => {
    thinking.sink.plan("/orders/tea", { body: "a cup of tea" });
    thinking.model.answers(call("order", { item: "tea" }), say("Your tea is on its way."));
    const { status, artifacts } = await thinking.agent().sendForTask("tea, please");
    assert.equal(status.state, "TASK_STATE_COMPLETED");
    assert.equal(textOf(artifacts?.at(-1)), "Your tea is on its way.");
    const order = await thinking.sink.arrival("/orders/tea");
    assert.deepEqual(order.json(), { item: "tea" });
    assert.ok(order.headers["idempotency-key"]);
    assert.match(resultsIn(thinking.model.last)["call_order"] ?? "", /a cup of tea/);
  });

  test("of one answer run side by side", async () => {
    thinking.sink.plan("/orders/salt", "hold");
    thinking.sink.plan("/orders/pepper", "hold");
    thinking.model.answers(calls([["order", { item: "salt" }, "a"], ["order", { item: "pepper" }, "b"]]), say("both"));
    const { id } = await thinking.agent().sendForTask("season it", { returnImmediately: true });
    const [salt, pepper] = [await thinking.sink.arrival("/orders/salt"), await thinking.sink.arrival("/orders/pepper")];
    await pepper.answer({ body: "pepper!" });
    await salt.answer({ body: "salt!" });
    assert.equal(textOf((await untilEnded(thinking.agent(), id)).artifacts?.at(-1)), "both");
    assert.deepEqual(Object.keys(resultsIn(thinking.model.last)), ["a", "b"]);
  });

  test("that need a permission are offered to those who have it, and called for nobody else", async () => {
    const offered = () => thinking.model.last.body.tools?.map((tool) => tool.function.name) ?? [];
    thinking.model.answers(say("hello"));
    await thinking.agent("shy", { "x-key": memberKey }).sendForTask("hi");
    assert.ok(offered().includes("order"));
    thinking.model.answers(call("order", { item: "gold" }), say("I may not."));
    const task = await thinking.agent("shy", { "x-key": guestKey }).sendForTask("gold, please");
    assert.equal(textOf(task.artifacts?.at(-1)), "I may not.");
    assert.ok(offered().includes("add_numbers") && !offered().includes("order"));
    assert.match(resultsIn(thinking.model.last)["call_order"] ?? "", /order/);
    assert.equal(thinking.sink.count("/orders/gold"), 0);
  });
});

describe("the conversation", () => {
  test("has what was said in earlier tasks of the context (§3.4)", async () => {
    thinking.model.answers(say("Nice to meet you, Ada."), say("You are Ada."));
    const first = await thinking.agent().sendForTask("I am Ada");
    await thinking.agent().sendForTask({ contextId: first.contextId, parts: [{ text: "who am I?" }] });
    const said = thinking.model.last.body.messages.map((one) => `${one.role}: ${contentOf(one)}`);
    assert.deepEqual(said.slice(1), ["user: I am Ada", "assistant: Nice to meet you, Ada.", "user: who am I?"]);
    thinking.model.answers(say("I do not know you."));
    await thinking.agent().sendForTask("who am I?");
    assert.equal(thinking.model.last.body.messages.length, 2);
  });

  test("has images, files and data of the client (§4.1.6)", async () => {
    thinking.model.answers(say("a dot"));
    const image = { raw: PNG, mediaType: "image/png", filename: "dot.png" };
    const linked = { url: "https://pictures.example/dot.png", mediaType: "image/png" };
    const text = { raw: Buffer.from("name;age\nAda;36\n").toString("base64"), mediaType: "text/csv", filename: "people.csv" };
    await thinking.agent().sendForTask(message({ parts: [{ text: "what is this?" }, image, linked, text, { data: { seat: "4A" } }] }));
    const { content } = thinking.model.last.body.messages.at(-1) ?? {};
    assert.ok(Array.isArray(content));
    const urls = content.flatMap((part) => part.image_url?.url ?? []);
    assert.deepEqual(urls, [`data:image/png;base64,${PNG}`, "https://pictures.example/dot.png"]);
    const texts = content.map((part) => part.text ?? "").join("\n");
    for (const said of ["what is this?", "Ada;36", '"seat"', "4A"]) assert.ok(texts.includes(said), said);
  });

  test("goes on when the user answers what the model asks (§3.4.3)", async () => {
    thinking.model.answers(call("ask_user", { question: "Which seat?" }), say("4A is yours."));
    const asked = await thinking.agent().sendForTask("book a seat");
    assert.equal(asked.status.state, "TASK_STATE_INPUT_REQUIRED");
    assert.equal(textOf(asked.status.message), "Which seat?");
    const done = await thinking.agent().sendForTask(followUp(asked, "4A"));
    assert.equal(done.status.state, "TASK_STATE_COMPLETED");
    assert.equal(textOf(done.artifacts?.at(-1)), "4A is yours.");
    assert.deepEqual(resultsIn(thinking.model.last), { call_ask_user: "4A" });
    assert.equal(contentOf(thinking.model.last.body.messages[1]), "book a seat");
  });
});

describe("a cancel", () => {
  test("ends the request to the model in the middle of its answer (§3.1.5)", async () => {
    thinking.model.answers(held(say(["one ", "two ", "three"]), 3));
    const stream = await EventStream.open(thinking.agent().endpoint, "SendStreamingMessage", { message: message("count") });
    let id = "";
    for await (const { data } of stream) {
      id = data.result?.task?.id ?? id;
      if (data.result?.artifactUpdate !== undefined) break;
    }
    const asked = thinking.model.last;
    const task = await thinking.agent().cancelTask(id);
    assert.equal(task.status.state, "TASK_STATE_CANCELED");
    await until(async () => asked.fate, (fate) => fate === "left");
    thinking.model.release();
  });

  test("ends the call of a tool, and asks the model nothing more (§3.1.5)", async () => {
    thinking.sink.plan("/orders/ship", "hold");
    thinking.model.answers(call("order", { item: "ship" }), say("never said"));
    const { id } = await thinking.agent().sendForTask("a ship", { returnImmediately: true });
    await thinking.sink.arrival("/orders/ship");
    const before = thinking.model.asked.length;
    assert.equal((await thinking.agent().cancelTask(id)).status.state, "TASK_STATE_CANCELED");
    thinking.model.answers(say("hello"));
    await thinking.agent().sendForTask("hi");
    assert.equal(thinking.model.asked.length, before + 1);
    assert.equal((await thinking.agent().getTask(id)).artifacts, undefined);
  });
});
