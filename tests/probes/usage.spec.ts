// The use of models by callers: summed by day in D1, and limited. The agent `metered` reports a use without calling a
// model.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, beforeEach, describe, test } from "node:test";
import { Agent, followUp, message, textOf, until, type RpcError, type Task } from "../e2e/client.ts";
import { startWorker, type Database, type Worker } from "../e2e/harness.ts";
import { legacy, modern, only } from "../e2e/mcp.ts";
import { EventStream } from "../e2e/stream.ts";
import { KEYS, KEY_SCHEME } from "../e2e/tables.ts";

const LIMIT = 1000;
const KEY = "urn:a2a-edge:usage";
const DAY_MS = 86_400_000;

const keyed = { schemes: { key: KEY_SCHEME } };
const dialects = { v0_3: { enabled: true }, legacy: { enabled: true } };
const executor = (table: object) => ({ kind: "probe_usage", table, run: {} });
const agents = only({
  metered: { of: "metered", access: keyed, dialects },
  costly: { of: "metered", access: keyed, executor: executor({ cost_micros_per_day: 500 }) },
  free: { of: "metered", executor: executor({}) },
  open: { of: "metered", dialects },
  calling: { of: "calling" },
});

let worker: Worker;
let database: Database;
before(async () => {
  worker = await startWorker({ vars: { ...KEYS, AGENTS: agents, KEEP_ALIVE_MS: "1000" }, notes: true });
  database = await worker.d1();
});
after(() => worker.stop());
// A test must not run across midnight.
beforeEach(async () => {
  const left = DAY_MS - (Date.now() % DAY_MS);
  if (left < 60_000) await new Promise((resolve) => setTimeout(resolve, left));
  await run("DELETE FROM usage");
});

interface Sum { day: string; owner: string; agent: string; turns: number; requests: number; input_tokens: number; output_tokens: number; cost_micros: number; models: string }

async function run<Row = Record<string, unknown>>(sql: string, ...values: unknown[]): Promise<Row[]> {
  return (await database.prepare(sql).bind(...values).run<Row>()).results;
}

const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
const today = (): string => dayOf(Date.now());
const sums = () => run<Sum>("SELECT * FROM usage ORDER BY day, owner, agent");
const agentOf = (slug: string, key?: string): Agent => new Agent(`${worker.url}/${slug}`, key === undefined ? {} : { "x-api-key": key });
const alice = (slug = "metered"): Agent => agentOf(slug, KEYS.ALICE_KEY);
const bob = (slug = "metered"): Agent => agentOf(slug, KEYS.BOB_KEY);
const usageOf = (task: Task): unknown => (task.metadata as Record<string, unknown> | undefined)?.[KEY];
const refused = (error: RpcError) => error.code === -32603 && error.reason === "USED_UP";

/** Inserts an earlier sum. */
async function used(owner: string, tokens: number, agent = "metered", day = today()): Promise<void> {
  await run("INSERT INTO usage VALUES (?1, ?2, ?3, 1, 1, ?4, 0, ?4, '{}')", day, owner, agent, tokens);
}

describe("sums", () => {
  test("hold what the turns of each caller have used in a day, and the task says it", async () => {
    const asked = await alice().sendForTask("100 ask");
    assert.deepEqual(usageOf(asked), { requests: 1, inputTokens: 50, outputTokens: 50, cost: 0.0002 });
    const ended = await alice().sendForTask(followUp(asked, "51 50"));
    assert.deepEqual(usageOf(ended), { requests: 3, inputTokens: 101, outputTokens: 100, cost: 0.000402 });
    await bob().sendForTask("7");
    await bob().sendForTask("8 fail");
    await bob().sendForTask("ask");
    // The response waits for the sums and for the row in the index.
    const row = (owner: string, turns: number, requests: number, input_tokens: number, output_tokens: number): Sum =>
      ({ day: today(), owner, agent: "metered", turns, requests, input_tokens, output_tokens, cost_micros: 2 * (input_tokens + output_tokens), models: "{}" });
    assert.deepEqual(await sums(), [row("key:alice", 2, 3, 101, 100), row("key:bob", 2, 2, 8, 7)]);
    const listed = await alice().listTasks({});
    assert.deepEqual(usageOf(listed.tasks[0] as Task), usageOf(ended));
  });

  test("are told to those who follow a task by the event that ends the turn", async () => {
    const events = await (await EventStream.open(`${worker.url}/free`, "SendStreamingMessage", { message: message("10 20") })).rest();
    const last = events.at(-1)?.data.result?.statusUpdate as { metadata?: Record<string, unknown> } | undefined;
    assert.deepEqual(last?.metadata?.[KEY], { requests: 2, inputTokens: 15, outputTokens: 15, cost: 0.00006 });
    await until(sums, (rows) => rows.length === 1);
  });

  test("cost one statement of two rows a turn, and one row to read where a limit is set", async () => {
    const of = async (agent: Agent, text: string) => {
      const before = (await worker.statements()).length;
      await agent.sendForTask(text);
      return (await worker.statements()).slice(before).filter(({ sql }) => sql.includes("usage"));
    };
    const [read, written, ...more] = await of(alice(), "100 100");
    assert.deepEqual(more, []);
    assert.match(read?.sql ?? "", /^SELECT .* FROM usage /);
    assert.match(written?.sql ?? "", /^INSERT INTO usage_turns/);
    assert.ok((written?.rowsWritten ?? 9) <= 2, JSON.stringify(written));
    assert.ok(((await of(alice(), "100"))[0]?.rowsRead ?? 9) <= 1);
    const free = await of(agentOf("free"), "100");
    assert.deepEqual(free.map(({ sql }) => sql.slice(0, 11)), ["INSERT INTO"], "without a limit nothing is read");
    assert.deepEqual(await of(agentOf("free"), "ask"), [], "a turn that has used nothing writes nothing");
    const plan = await run<{ detail: string }>(`EXPLAIN QUERY PLAN ${read?.sql}`, today(), "key:alice", "metered");
    assert.deepEqual(plan.map(({ detail }) => detail), ["SEARCH usage USING PRIMARY KEY (day=? AND owner=? AND agent=?)"]);
  });

  test("are counted once over kills, and by the alarm when D1 is back", async () => {
    await run("ALTER TABLE usage_turns RENAME TO gone");
    const task = await agentOf("free").sendForTask("30 ask");
    assert.equal(task.status.state, "TASK_STATE_INPUT_REQUIRED", "D1 fails no task");
    await until(async () => worker.logs, (logs) => logs.some(({ message: line }) => line.includes(`task ${task.id}: what it has used is not counted yet`)));
    await worker.kill9();
    await worker.restart();
    database = await worker.d1();
    assert.deepEqual(await sums(), []);
    await run("ALTER TABLE gone RENAME TO usage_turns");
    await until(sums, (rows) => rows.length === 1);
    await agentOf("free").sendForTask(followUp(task, "slow 5 slow"), { returnImmediately: true });
    await worker.kill9();
    await worker.restart();
    database = await worker.d1();
    await until(sums, ([sum]) => sum?.turns === 2);
    const [sum] = await sums();
    assert.deepEqual([sum?.requests, (sum?.input_tokens ?? 0) + (sum?.output_tokens ?? 0)], [2, 35]);
    for (let count = 0; count < 2; count++) {
      await worker.restart();
      database = await worker.d1();
      await agentOf("free").getTask(task.id);
    }
    assert.equal((await sums())[0]?.turns, 2);
  });

  test("are read by operators as the documentation says, and deleted when they are old", async () => {
    const DAYS = [0, 6, 9, 399, 402];
    for (const days of DAYS) {
      await used("key:carol", days + 1, "metered", dayOf(Date.now() - days * DAY_MS));
      await run("INSERT OR IGNORE INTO usage_turns VALUES (?1, ?2, 1, 'o', 'none', 1, 1, 1, 0, '{}')", dayOf(Date.now() - days * DAY_MS), `old-${days}`);
    }
    await run("DELETE FROM usage WHERE agent = 'none'");
    const told = await run<{ owner: string; tokens: number }>(
      "SELECT day, owner, agent, turns, requests, input_tokens + output_tokens AS tokens, cost_micros / 1e6 AS cost FROM usage WHERE day >= date('now', '-30 days') ORDER BY day DESC, tokens DESC",
    );
    assert.deepEqual(told.map(({ tokens }) => tokens), [1, 7, 10]);
    await worker.cron();
    const left = await until(sums, (rows) => rows.length === 4);
    assert.deepEqual(left.map(({ input_tokens }) => input_tokens), [400, 10, 7, 1]);
    const turns = await run<{ task: string }>("SELECT task FROM usage_turns WHERE task LIKE 'old-%' ORDER BY task");
    assert.deepEqual(turns.map(({ task }) => task), ["old-0", "old-6"]);
  });
});

describe("a caller that has used up its day", () => {
  test("is refused with any message, before an object wakes, and nobody else is", async () => {
    const task = await alice().sendForTask("10 ask");
    await alice().sendForTask("989");
    const last = await alice().sendForTask("500");
    assert.equal(last.status.state, "TASK_STATE_COMPLETED", "what is left lets the turn begin");
    const said = message("1");
    await assert.rejects(alice().send(said), refused);
    await assert.rejects(alice().send(followUp(task, "1")), refused);
    const given = (await worker.given()).filter((id) => id === said.messageId);
    assert.deepEqual(given, []);
    assert.equal((await bob().sendForTask("1")).status.state, "TASK_STATE_COMPLETED");
    assert.equal((await alice("costly").sendForTask("1")).status.state, "TASK_STATE_COMPLETED", "each agent has its own");
    assert.equal((await alice().getTask(task.id)).status.state, "TASK_STATE_INPUT_REQUIRED");
    assert.equal((await alice().cancelTask(task.id)).status.state, "TASK_STATE_CANCELED");
  });

  test("may go on when the day is over, and by its cost alone where that is limited", async () => {
    await used("key:alice", 5_000, "metered", dayOf(Date.now() - DAY_MS));
    await used("key:alice", 499, "costly");
    assert.equal((await alice().sendForTask("1")).status.state, "TASK_STATE_COMPLETED");
    await alice("costly").sendForTask("1");
    await assert.rejects(alice("costly").send("1"), (error: RpcError) => refused(error) && error.message.includes("the cost of 0.0005"));
  });

  test("is told of it by the turn that uses up the rest", async () => {
    await used("key:alice", 900);
    const task = await alice().sendForTask("99 limit 1 limit");
    assert.deepEqual(task.history?.slice(1).map(textOf), ["None", "Some(Tokens(100))"]);
  });

  const rpc = (method: string, params: object) => ({ jsonrpc: "2.0", id: 1, method, params });
  const v1 = { "a2a-version": "1.0" };
  const older = { role: "user", kind: "message", messageId: "m", parts: [{ kind: "text", text: "1" }] };
  const oldest = { id: "chosen", message: { role: "user", parts: [{ type: "text", text: "1" }] } };
  for (const [name, path, body, headers, status, code] of [
    ["SendMessage", "", () => rpc("SendMessage", { message: message("1") }), v1, 200, -32603],
    ["SendStreamingMessage", "", () => rpc("SendStreamingMessage", { message: message("1") }), v1, 200, -32603],
    ["message:send", "/message:send", () => ({ message: message("1") }), v1, 429, 429],
    ["message:stream", "/message:stream", () => ({ message: message("1") }), v1, 429, 429],
    ["message/send of 0.3", "", () => rpc("message/send", { message: older }), {}, 200, -32603],
    ["message/stream of 0.3", "", () => rpc("message/stream", { message: older }), {}, 200, -32603],
    ["HTTP+JSON of 0.3", "/v1/message:send", () => ({ message: { ...message("1"), role: "ROLE_USER" } }), {}, 429, 429],
    ["tasks/send", "", () => rpc("tasks/send", oldest), {}, 200, -32003],
    ["tasks/sendSubscribe", "", () => rpc("tasks/sendSubscribe", oldest), {}, 200, -32003],
    ["the plain pair", "/a2a/tasks/send", () => ({ message: "1" }), {}, 429, undefined],
    ["a large body", "/message:send", () => ({ message: message("1".padEnd(200_000)) }), v1, 429, 429],
  ] as const) {
    test(`is refused by ${name}`, async () => {
      await used("anonymous", LIMIT, "open");
      const all = { "content-type": "application/json", ...headers };
      const response = await fetch(`${worker.url}/open${path}`, { method: "POST", headers: all, body: JSON.stringify(body()) });
      const text = await response.text();
      assert.equal(response.status, status, text);
      const left = Math.ceil((DAY_MS - (Date.now() % DAY_MS)) / 1_000);
      assert.ok(Math.abs(Number(response.headers.get("retry-after")) - left) < 30 || text.startsWith("data:"), `${response.headers.get("retry-after")}`);
      assert.match(text, /you have used up the 1000 tokens that this agent lets you use in a day/);
      if (code !== undefined) assert.match(text, new RegExp(`"code":${code}\\b`));
      assert.equal((await agentOf("open").listTasks({})).tasks.length, 0, "nothing is left behind");
    });
  }

  test("is refused over MCP, and by way of another agent", async () => {
    await used("anonymous", LIMIT, "open");
    for (const answer of [
      await modern(`${worker.url}/mcp`, "tools/call", { name: "open", arguments: { message: "1" } }),
      await legacy(`${worker.url}/mcp`, "tools/call", { name: "open", arguments: { message: "1" } }),
    ]) {
      assert.match(answer.text, /you have used up the 1000 tokens/);
    }
    const asked = { tool: "probe_ask", arguments: { agent: "open", text: "1" } };
    const task = await agentOf("calling").sendForTask({ parts: [{ data: asked }] });
    assert.match(JSON.stringify(task.artifacts), /you have used up the 1000 tokens/);
    assert.equal((await agentOf("open").listTasks({})).tasks.length, 0);
  });

  test("gets the answer to a message that is repeated under its key", async () => {
    const headers = { "content-type": "application/json", ...v1, "idempotency-key": randomUUID() };
    const body = JSON.stringify(rpc("SendMessage", { message: message("1000") }));
    const send = (more = {}) => fetch(`${worker.url}/open`, { method: "POST", headers: { ...headers, ...more }, body });
    const first = (await (await send()).json()) as { result: unknown };
    assert.ok(first.result);
    assert.deepEqual(await (await send()).json(), first);
    const other = await send({ "idempotency-key": randomUUID() });
    assert.match(await other.text(), /USED_UP/);
    assert.ok(Number(other.headers.get("retry-after")) > 5);
  });

  test("passes while its sums cannot be read, which operators are told", async () => {
    await used("anonymous", LIMIT, "open");
    await run("ALTER TABLE usage RENAME TO gone");
    try {
      assert.equal((await agentOf("open").sendForTask("ask")).status.state, "TASK_STATE_INPUT_REQUIRED");
    } finally {
      await run("ALTER TABLE gone RENAME TO usage");
    }
    await until(async () => worker.logs, (logs) => logs.some(({ message: line }) => line.includes("the agent open: a send goes on although")));
  });
});
