// A scripted agent as a test double: its script is set while the Worker runs, and its received requests are read.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, beforeEach, describe, test } from "node:test";
import { Agent, followUp, message, received, textOf } from "./client.ts";
import { Double, ECHO } from "./double.ts";
import { startWorker, type Worker } from "./harness.ts";
import { call, failure, fieldsOf, getTask, send } from "./rest.ts";
import { sendStreaming } from "./stream.ts";

let worker: Worker;
let double: Double;
let agent: Agent;
before(async () => {
  worker = await startWorker({ hasDev: true });
  double = new Double(worker.url);
  agent = new Agent(double.url);
});
after(() => worker.stop());
beforeEach(() => double.play({}));

describe("a script that is set while the Worker runs", () => {
  test("answers exact prompts, patterns, and all else", async () => {
    await double.play({
      rules: [
        { then: [{ do: "complete", text: "else" }] },
        { when: { text: "price" }, then: [{ do: "artifact", data: { price: 5 } }, { do: "complete" }] },
        { when: { pattern: "^add (\\d+)$" }, then: [{ do: "complete", text: "added {1}" }] },
      ],
    });
    assert.deepEqual((await agent.sendForTask("price")).artifacts?.[0]?.parts, [{ data: { price: 5 } }]);
    for (const [text, said] of [["add 7", "added 7"], ["add", "else"]] as const) {
      assert.equal(textOf((await agent.sendForTask(text)).status.message), said);
    }
  });

  test("asks, fails, rejects, answers with a message, and counts polls", async () => {
    await double.play({
      rules: [
        { when: { text: "ask" }, then: [{ do: "input_required", text: "which?" }], follow_up: [{ then: [{ do: "complete", text: "{text} it is" }] }] },
        { when: { text: "fail" }, then: [{ do: "fail", text: "broken" }] },
        { when: { text: "say" }, then: [{ do: "message", text: "said" }] },
        { when: { text: "later" }, then: [{ do: "working" }, { do: "polls", count: 2 }, { do: "complete", text: "now" }] },
      ],
    });
    const asked = await agent.sendForTask("ask");
    assert.equal(asked.status.state, "TASK_STATE_INPUT_REQUIRED");
    assert.equal(textOf((await agent.sendForTask(followUp(asked, "red"))).status.message), "red it is");
    assert.equal((await agent.sendForTask("fail")).status.state, "TASK_STATE_FAILED");
    assert.equal((await agent.sendForTask("unknown")).status.state, "TASK_STATE_REJECTED");
    assert.equal(textOf((await agent.send("say")).message), "said");
    const { id } = await send(double.url, "later", { returnImmediately: true });
    const states = [];
    for (let asked = 0; asked < 3; asked++) states.push((await getTask(double.url, id)).status.state);
    assert.deepEqual(states.slice(0, 2), ["TASK_STATE_WORKING", "TASK_STATE_WORKING"]);
  });

  test("holds for streams, and for an object that was not in memory", async () => {
    await double.play({ rules: [{ then: [{ do: "input_required", text: "one?" }], follow_up: [{ then: [{ do: "complete", text: "set" }] }] }] });
    const stream = await sendStreaming(double.url, "begin");
    const [first] = await stream.rest();
    const task = first?.data.result?.task;
    assert.ok(task !== undefined);
    await worker.evict(task.id);
    assert.equal(textOf((await agent.sendForTask(followUp(task, "x"))).status.message), "set");
  });

  test("is shown, and replaced by that of the file", async () => {
    const rules = [{ when: { text: "x" }, then: [{ do: "complete", text: "set" }] }];
    const faults = [{ on: ["GetTask"], status: 500, times: 2 }];
    const set = await double.script("POST", { rules, faults });
    const shown = (await set.json()) as { rules: object[]; faults: object[] };
    assert.deepEqual(await (await double.script("GET")).json(), shown);
    assert.deepEqual([shown.rules.length, shown.faults], [1, faults]);
    assert.deepEqual(await (await double.script("POST", shown)).json(), shown, "what is shown can be set");
    const restored = (await (await double.script("DELETE")).json()) as { faults: { status: number }[] };
    assert.deepEqual(restored.faults.map(({ status }) => status), [418]);
    assert.deepEqual((await agent.sendForTask("x")).artifacts?.[0]?.parts, [{ text: "x" }]);
    assert.equal((await call("POST", `${double.url}/message:send`, { message: message("the file's own fault") })).status, 418);
  });

  test("may be as large as a body may be", async () => {
    const rules = Array.from({ length: 2_000 }, (_, at) => ({ when: { text: `text ${at}` }, then: [{ do: "complete", text: `${at}`.padEnd(40) }] }));
    await double.play({ rules });
    assert.equal(textOf((await agent.sendForTask("text 1999")).status.message).trim(), "1999");
  });

  test("is refused with the key and the fix, and the one before stays", async () => {
    await double.play({ rules: [{ then: [{ do: "complete", text: "before" }] }] });
    const rule = (then: object[]) => ({ rules: [{ then }] });
    for (const [script, field] of [
      [{ rules: [] }, "rules"],
      [rule([{ do: "working" }]), "rules[0].then"],
      [rule([{ do: "dance" }]), "rules[0].then[0].do"],
      [{ rules: ECHO, errors: [] }, "errors"],
      [{ rules: ECHO, faults: [{ code: 5 }] }, "faults[0].code"],
      [{ rules: ECHO, faults: [{ status: 99 }] }, "faults[0].status"],
    ] as const) {
      const error = await failure(await double.script("POST", script), 400, "INVALID_ARGUMENT", "INVALID_PARAMS");
      assert.deepEqual(fieldsOf(error), [field]);
    }
    for (const [body, fix] of [
      ["{", /JSON/],
      [rule([{ do: "dance" }]), /there is no step \\"dance\\"; there are: working/],
      [{ rules: ECHO, errors: [] }, /is no key of this table; there are: rules, faults/],
    ] as const) {
      const answer = await double.script("POST", body);
      assert.equal(answer.status, 400);
      assert.match(await answer.text(), fix);
    }
    assert.equal(textOf((await agent.sendForTask("x")).status.message), "before");
  });

  test("is for scripted agents alone, and faults for those in development", async () => {
    const of = (slug: string, script: object) => call("POST", `${worker.url}/_dev/script/${slug}`, script);
    assert.equal((await of("nobody", { rules: ECHO })).status, 404);
    assert.match(await (await of("assistant", { rules: ECHO })).text(), /not of the kind `script`/);
    const refused = await failure(await of("demo", { rules: ECHO, faults: [{ status: 500 }] }), 400, "INVALID_ARGUMENT", "INVALID_PARAMS");
    assert.deepEqual(fieldsOf(refused), ["faults"]);
    assert.equal((await of("demo", { rules: ECHO })).status, 200);
    assert.equal((await call("DELETE", `${worker.url}/_dev/script/demo`)).status, 200);
    assert.equal((await call("PUT", `${worker.url}/_dev/script/demo`, {})).headers.get("allow"), "GET, HEAD, POST, DELETE, OPTIONS");
  });

  test("cannot be reached without DEVELOPMENT", async (t) => {
    const deployed = await startWorker({ vars: { DEVELOPMENT: "false", AGENTS: withoutDevelopment() }, hasDev: true });
    t.after(() => deployed.stop());
    for (const verb of ["GET", "POST", "DELETE"]) {
      const body = verb === "POST" ? { rules: ECHO } : undefined;
      for (const slug of ["double", "demo"]) assert.equal((await call(verb, `${deployed.url}/_dev/script/${slug}`, body)).status, 404, verb);
    }
    // An agent with faults in its table, if deployed without the check of the build, has no faults.
    const sent = await call("POST", `${deployed.url}/double/message:send`, { message: message("the file's own fault") });
    assert.equal(sent.status, 200);
  });
});

/** The agents, with the double marked as an agent for deployment. */
function withoutDevelopment(): string {
  const folder = new URL(`../../${process.env["A2A_BUILD_DIR"] ?? "build"}/test-agents.json`, import.meta.url);
  const embedded = JSON.parse(readFileSync(folder, "utf8")) as { agents: { slug: string; development: boolean }[] };
  for (const agent of embedded.agents) if (agent.slug === "double") agent.development = false;
  return JSON.stringify(embedded);
}

describe("what the double received", () => {
  const headers = {
    authorization: "Bearer very-secret-token", cookie: "session=very-secret", "x-api-key": "very-secret-key",
    "idempotency-key": "once", "user-agent": "own/1", "a2a-extensions": "urn:x",
  };

  test("tells requests with their messages, the headers that matter, and no secrets", async () => {
    const said = message("hello");
    await call("POST", `${double.url}/message:send?key=very-secret`, { message: said }, headers);
    const all = await received(worker.url);
    const [first] = all;
    assert.deepEqual([first?.agent, first?.text, first?.message], ["double", "hello", said]);
    const expected = {
      authorization: "Bearer (hidden)", cookie: "(hidden)", "x-api-key": "(hidden)", "idempotency-key": "once", "user-agent": "own/1",
      "a2a-version": "1.0", "a2a-extensions": "urn:x", "content-type": "application/json",
    };
    for (const [name, value] of Object.entries(expected)) assert.equal(first?.headers[name], value, name);
    assert.ok(!JSON.stringify(all).includes("very-secret"));
  });

  test("tells every request by the name of its operation in 1.0, whatever the client speaks", async () => {
    const task = await send(double.url, "one");
    const said = message("two");
    await agent.send(said);
    await agent.getTask(task.id);
    await call("GET", `${double.url}/tasks/${task.id}`);
    const older = { jsonrpc: "2.0", id: 1, method: "tasks/get", params: { id: task.id } };
    await call("POST", double.url, older, { "a2a-version": "0.3" });
    await call("GET", `${double.url}/v1/tasks/${task.id}`, undefined, { "a2a-version": "0.3" });
    await call("GET", `${double.url}/.well-known/agent-card.json`);
    await call("OPTIONS", `${double.url}/message:send`);
    await call("POST", double.url, "{");
    const told = (await double.requests()).map(({ operation, taskId, fault }) => [operation, taskId, fault]);
    assert.deepEqual(told, [
      ["SendMessage", null, null],
      ["SendMessage", null, null],
      ["GetTask", task.id, null],
      ["GetTask", task.id, null],
      ["GetTask", task.id, null],
      ["GetTask", task.id, null],
      ["card", null, null],
      [null, null, null],
    ]);
    assert.equal((await double.requests())[1]?.messageId, said.messageId);
  });

  test("hides parts with credentials, and requests for the default agent have its slug", async () => {
    const secret = { data: {}, mediaType: "application/vnd.a2a-edge.credentials+json", metadata: { token: "very-secret" } };
    await call("POST", `${worker.url}/message:send`, { message: message({ parts: [{ text: "hello" }, secret] }) });
    const [newest] = (await received(worker.url)).slice(-1);
    assert.equal(newest?.agent, "assistant");
    assert.deepEqual(newest?.message?.parts, [{ text: "hello" }, { data: {}, mediaType: secret.mediaType }]);
    assert.ok(!JSON.stringify(newest).includes("very-secret"));
  });

  test("is forgotten when told to", async () => {
    await agent.send("hello");
    assert.equal((await call("DELETE", `${worker.url}/_dev/received`)).status, 200);
    assert.deepEqual(await received(worker.url), []);
    assert.equal((await call("PUT", `${worker.url}/_dev/received`, {})).headers.get("allow"), "GET, DELETE, OPTIONS");
  });
});
