// Agents as data: the entry module passes them to the Worker, and in development others take their place while it runs.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, test } from "node:test";
import { agentsOf } from "./agent-files.ts";
import { Agent, textOf } from "./client.ts";
import { startWorker, type Worker } from "./harness.ts";
import { getTask, send } from "./rest.ts";

const DEV_TOKEN = "the-token-of-this-start";
const POET_KEY = "a-key-of-the-poet-alone";

const file = (more: string, executor: string): string => `name = "Poet"\ndescription = "Says a line."\nversion = "1.0.0"\n${more}\n${executor}`;

const SKILL = '[[skills]]\nid = "line"';

const saying = (text: string): string =>
  file("default = true", `${SKILL}\n[executor]\nkind = "script"\n[[executor.script.rules]]\nwhen = { text = "slow" }\nthen = [{ do = "wait", ms = 1500 }, { do = "complete", text = "${text}" }]\n[[executor.script.rules]]\nthen = [{ do = "complete", text = "${text}" }]`);

describe("agents that are given while the Worker runs", () => {
  let worker: Worker;
  let agent: Agent;
  before(async () => {
    worker = await startWorker({ vars: { AGENTS: "", DEV_TOKEN, POET_KEY }, agents: agentsOf({ "agents/poet.toml": saying("first") }) });
    agent = new Agent(`${worker.url}/poet`);
  });
  after(() => worker.stop());

  const give = (body: unknown, token = DEV_TOKEN): Promise<Response> =>
    fetch(`${worker.url}/_dev/agents`, { method: "PUT", headers: { authorization: `Bearer ${token}` }, body: typeof body === "string" ? body : JSON.stringify(body) });
  const said = async (): Promise<string> => textOf((await agent.sendForTask("hi")).status.message);

  test("answer from the next request on; tasks are kept, and those under way end with the agent that they have", async () => {
    assert.equal(await said(), "first");
    const { id: done } = await agent.sendForTask("hi");
    const { id } = await send(`${worker.url}/poet`, "slow", { returnImmediately: true });
    const other = agentsOf({ "agents/poet.toml": saying("second"), "agents/other.toml": saying("other").replace("default = true", "") });
    assert.equal((await give(other)).status, 204);
    assert.equal(await said(), "second");
    assert.equal(textOf((await new Agent(`${worker.url}/other`).sendForTask("hi")).status.message), "other");
    assert.equal((await getTask(`${worker.url}/poet`, done)).status.state, "TASK_STATE_COMPLETED");
    for (let asked = 0; (await getTask(`${worker.url}/poet`, id)).status.state !== "TASK_STATE_COMPLETED"; asked++) {
      assert.ok(asked < 200, "the task under way does not end");
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    assert.equal(textOf((await getTask(`${worker.url}/poet`, id)).status.message), "first");
  });

  test("may have headers of credentials that no agent had before", async () => {
    const guarded = agentsOf({ "agents/poet.toml": `${saying("guarded")}\n[access.schemes.key]\nkind = "api_key"\nname = "X-Poet-Key"\ncallers = [{ id = "me", secrets = ["POET_KEY"] }]\n` });
    assert.equal((await give(guarded)).status, 204);
    const body = JSON.stringify({ message: { messageId: randomUUID(), role: "ROLE_USER", parts: [{ text: "hi" }] } });
    for (const [key, status] of [["a-key-that-nobody-has", 401], [POET_KEY, 200]] as const) {
      const headers = { "content-type": "application/json", "a2a-version": "1.0", "x-poet-key": key };
      assert.equal((await fetch(`${worker.url}/poet/message:send`, { method: "POST", headers, body })).status, status);
    }
    assert.equal((await give(agentsOf({ "agents/poet.toml": saying("third") }))).status, 204);
    assert.equal(await said(), "third");
  });

  test("are refused whole where they cannot be read, and the others go on", async () => {
    const good = agentsOf({ "agents/poet.toml": saying("good") });
    for (const [body, told] of [
      ["{", /not the checked form/],
      [{ ...good, index: "{}" }, /index cannot be read: built_ms: is required/],
      [{ ...good, version: "0.0.1" }, /checked by a2a-edge 0\.0\.1, but this Worker is a2a-edge \d/],
    ] as const) {
      const answer = await give(body);
      assert.equal(answer.status, 400);
      assert.match(await answer.text(), told);
    }
    assert.equal(await said(), "third");
  });

  test("come and are listed with the token of the start alone", async () => {
    const good = agentsOf({ "agents/poet.toml": saying("stolen") });
    for (const answer of [await give(good, "guessed"), await fetch(`${worker.url}/_dev/agents`), await fetch(`${worker.url}/_dev/agents`, { method: "PUT", body: JSON.stringify(good) })]) {
      assert.equal(answer.status, 403);
      assert.match(await answer.text(), /DEV_TOKEN/);
    }
    const method = await fetch(`${worker.url}/_dev/agents`, { method: "POST", headers: { authorization: `Bearer ${DEV_TOKEN}` } });
    assert.equal(method.status, 405);
    assert.equal(await said(), "third");
  });

  test("that name what the Worker does not register are listed in the checker's words, and the others answer", async () => {
    const tools = file("", '[executor]\nkind = "tools"\n[executor.tools]\nnames = ["echo", "ecko"]');
    const kind = file("", `${SKILL}\n[executor]\nkind = "publisher"\n[executor.publisher]\nrows = 2`);
    assert.equal((await give(agentsOf({ "agents/poet.toml": saying("fourth"), "agents/a.toml": tools, "agents/b.toml": kind }))).status, 204);
    const listed = await fetch(`${worker.url}/_dev/agents`, { headers: { authorization: `Bearer ${DEV_TOKEN}` } });
    const { unusable, tools: registered, kinds } = (await listed.json()) as { unusable: { slug: string; reason: string }[]; tools: { name: string }[]; kinds: string[] };
    assert.deepEqual(unusable.map(({ slug }) => slug), ["a", "b"]);
    assert.match(unusable[0]?.reason ?? "", /^agents\/a\.toml:8: `executor\.tools\.names\[1\]` there is no tool "ecko", did you mean "echo"\?/);
    assert.match(unusable[1]?.reason ?? "", /^agents\/b\.toml:8: `executor\.kind` there is no kind of executor "publisher"/);
    assert.ok(registered.some(({ name }) => name === "add_numbers"));
    assert.deepEqual(kinds.filter((name) => name === "publisher"), []);
    assert.equal(await said(), "fourth");
  });
});

test("a deployment has no route for agents", async () => {
  const worker = await startWorker({ vars: { AGENTS: "", DEV_TOKEN, DEVELOPMENT: "false" } });
  try {
    for (const method of ["GET", "PUT"]) {
      const body = method === "PUT" ? { body: "{}" } : {};
      assert.equal((await fetch(`${worker.url}/_dev/agents`, { method, headers: { authorization: `Bearer ${DEV_TOKEN}` }, ...body })).status, 404);
    }
  } finally {
    await worker.stop();
  }
});

test("a Worker does not start with agents that another version has checked", async () => {
  const agents = { ...agentsOf({ "agents/poet.toml": saying("old") }), version: "0.0.1" };
  await assert.rejects(startWorker({ vars: { AGENTS: "" }, agents }));
});

test("of a thousand agents each answers, and unknown ones are told without a list of all", async () => {
  const files = Array.from({ length: 1000 }, (_, index) => {
    const text = saying(`number ${index}`);
    return [`agents/n${index}.toml`, index === 0 ? text : text.replace("default = true", "")] as const;
  });
  const worker = await startWorker({ vars: { AGENTS: "" }, agents: agentsOf(Object.fromEntries(files)) });
  try {
    for (const index of [0, 500, 999]) {
      const { status } = await new Agent(`${worker.url}/n${index}`).sendForTask("hi");
      assert.equal(textOf(status.message), `number ${index}`);
    }
    const unknown = await fetch(`${worker.url}/nowhere/at/all`);
    assert.equal(unknown.status, 404);
    const text = await unknown.text();
    assert.ok(text.length < 2_000 && text.includes("more"), text.slice(0, 500));
  } finally {
    await worker.stop();
  }
});
