// Agents that MCP hosts name: `discover_agent` and `invoke_remote_agent` (client reference, section 6).
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { bearer, caller, secretsOf, type Headers } from "./access.ts";
import { startWorker, type Worker } from "./harness.ts";
import { legacy, only, type Result } from "./mcp.ts";

const { ALICE, TOKEN } = secretsOf("ALICE", "TOKEN");
const token = { kind: "bearer", callers: [caller("alice", ["ALICE"])] };

/** The result of `invoke_remote_agent`. */
interface Told { success: boolean; outcome: string; taskId: string | null; contextId: string | null; responseText: string; error: string | null }

let there: Worker;
let development: Worker;
let deployed: Worker;
before(async () => {
  const script = (then: object[]) => ({ kind: "script", table: { rules: [{ then }] }, run: {} });
  const ours = { schemes: { token: { kind: "bearer", callers: [caller("us", ["TOKEN"])] } } };
  there = await startWorker({ vars: { TOKEN, AGENTS: only({ demo: { of: "demo" }, fails: { of: "double", executor: script([{ do: "fail", text: "no luck" }]) },
    long: { of: "double", executor: script([{ do: "working" }, { do: "wait", ms: 600_000 }]) }, closed: { of: "double", access: ours } }) } });
  const remotes = { remotes: [{ name: "partner", table: { url: `${there.url}/closed`, bearer_token: "${TOKEN}" }, needs: [] }] };
  const agents = { ...(JSON.parse(only({ open: { of: "double", development: false, access: { open: true } }, closed: { of: "double", development: false, access: { schemes: { token } } } })) as object), ...remotes };
  const vars = { AGENTS: JSON.stringify(agents), ALICE, TOKEN };
  development = await startWorker({ vars });
  deployed = await startWorker({ vars: { ...vars, DEVELOPMENT: "false", MCP_REMOTES: "partner, agents.example", WEBHOOK_ALLOW_PRIVATE: "true" } });
});
after(() => Promise.all([there, development, deployed].map((worker) => worker?.stop())));

const use = async (worker: Worker, name: string, args: object, headers: Headers = {}): Promise<Result> => {
  const { body } = await legacy(`${worker.url}/mcp`, "tools/call", { name, arguments: args }, headers);
  return body.result ?? ({ content: [{ type: "error", text: body.error?.message }], isError: true } as Result);
};
const invoke = async (args: object, worker = development, headers: Headers = {}): Promise<[Told, Result]> => {
  const result = await use(worker, "invoke_remote_agent", args, headers);
  return [result.structuredContent as unknown as Told, result];
};
const names = async (worker: Worker, headers: Headers = {}): Promise<string[]> => {
  const { body } = await legacy(`${worker.url}/mcp`, "tools/list", {}, headers);
  return (body.result as unknown as { tools: { name: string }[] }).tools.map(({ name }) => name);
};

test("a card is told as text and as data, by its URL or by a name", async () => {
  for (const [url, name] of [[`${there.url}/demo`, "Demo"], [`${there.url}/demo/.well-known/agent-card.json`, "Demo"], ["open", "Double"], ["partner", "Double"]]) {
    const result = await use(development, "discover_agent", { url });
    assert.equal((result.structuredContent as unknown as { name: string }).name, name, result.content[0]?.text);
    assert.match(result.content[0]?.text ?? "", new RegExp(name ?? ""));
  }
  const nowhere = await use(development, "discover_agent", { url: `${there.url}/nobody` });
  assert.equal(nowhere.isError, true);
  assert.match(nowhere.content[0]?.text ?? "", /there is no agent card: .*404/);
  assert.match((await use(development, "discover_agent", { url: "nobody" })).content[0]?.text ?? "", /there is no agent nobody; there are: open/);
});

test("a call of an agent elsewhere tells how it came out", async () => {
  const [done] = await invoke({ url: `${there.url}/demo`, message: "hello" });
  assert.deepEqual([done.success, done.outcome, done.responseText, done.error], [true, "COMPLETED", "hello", null]);
  const [asked, result] = await invoke({ url: `${there.url}/demo`, message: "ask" });
  assert.deepEqual([asked.success, asked.outcome, asked.responseText, result.isError], [false, "INPUT_REQUIRED", "Which colour?", undefined]);
  const [answered] = await invoke({ url: `${there.url}/demo`, message: "green", task_id: asked.taskId });
  assert.deepEqual([answered.outcome, answered.taskId], ["COMPLETED", asked.taskId]);
  const [failed, failure] = await invoke({ url: `${there.url}/fails`, message: "x" });
  assert.deepEqual([failed.outcome, failed.error, failed.responseText, failure.isError], ["FAILED", "Task failed", "no luck", true]);
  const [late] = await invoke({ url: `${there.url}/long`, message: "x", timeout: 3000 });
  assert.deepEqual([late.outcome, late.error], ["TIMEOUT", "Timed out after 3000ms"]);
  const [refused] = await invoke({ url: `${there.url}/closed`, message: "x" });
  assert.equal(refused.outcome, "FAILED");
  assert.match(refused.error ?? "", /^Submit failed: /);
  const [named] = await invoke({ url: "partner", message: "with credentials" });
  assert.deepEqual([named.outcome, named.responseText], ["COMPLETED", "with credentials"]);
  const [told] = await invoke({ url: "partner", message: `I was told ${TOKEN}` });
  assert.equal(told.responseText, "I was told [TOKEN]", "what the partner was shown is not told to the caller");
  const [here] = await invoke({ url: "open", message: "here" });
  assert.equal(here.responseText, "here");
});

test("arguments that do not fit are told what they must be", async () => {
  for (const [args, told] of [
    [{ message: "x" }, /the argument url must be a text/],
    [{ url: "open" }, /the argument message must be a text/],
    [{ url: "open", message: "x", timeout: 0 }, /from 1 to 300000, in milliseconds/],
    [{ url: "http://10.0.0.1/", message: "x" }, /must|not called|refus/i],
  ] as const) {
    const [, result] = await invoke(args);
    assert.equal(result.isError, true);
    assert.match(result.content[0]?.text ?? "", told);
  }
});

test("outside of development, callers have to be known, and reach what the operator names", async () => {
  const tools = ["discover_agent", "invoke_remote_agent"];
  assert.ok(!(await names(deployed)).some((name) => tools.includes(name)));
  assert.match((await use(deployed, "discover_agent", { url: "open" })).content[0]?.text ?? "", /there is no tool discover_agent/);
  const alice = bearer(ALICE);
  const known = await names(deployed, alice);
  assert.ok(tools.every((name) => known.includes(name)));
  const [named] = await invoke({ url: "partner", message: "x" }, deployed, alice);
  assert.equal(named.outcome, "COMPLETED");
  const [closed] = await invoke({ url: "closed", message: "as myself" }, deployed, alice);
  assert.equal(closed.responseText, "as myself");
  const [, elsewhere] = await invoke({ url: `${there.url}/demo`, message: "x" }, deployed, alice);
  assert.match(elsewhere.content[0]?.text ?? "", /may not be called from here \(MCP_REMOTES\)/);
});
