// Agents on other servers, called by the names of remotes.toml: credentials, and cards remembered in D1.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { fresh } from "./access.ts";
import { Agent, textOf, until } from "./client.ts";
import { startWorker, type Worker } from "./harness.ts";
import { only } from "./mcp.ts";
import { Sink, type Arrival, type Deed } from "./sink.ts";

const CARD = "/kept/.well-known/agent-card.json";
const REMOTE_TOKEN = fresh();
const REMOTE_KEY = fresh();

let sink: Sink;
let worker: Worker;
/** The server's answer to requests for the card. */
let card: (arrival: Arrival) => Deed;
before(async () => {
  sink = await Sink.open();
  sink.otherwise = (arrival) => (arrival.path.startsWith(CARD) ? card(arrival) : said(arrival));
  const AGENTS = only({ keeper: { of: "front", executor: { kind: "remote", table: { remote: "keyed" }, run: {} } } });
  worker = await startWorker({ vars: { AGENTS, REMOTE_URL: sink.url, REMOTE_TOKEN, REMOTE_KEY }, hasTwin: true });
  card = isKnown;
  await ask();
  await until(rows, ({ length }) => length === 1);
});
after(async () => {
  await worker.stop();
  sink.close();
});
beforeEach(() => {
  card = isKnown;
  sink.forget("/kept");
});

/** The card, or the answer that it has not changed. */
function isKnown(arrival: Arrival): Deed {
  if (arrival.headers["if-none-match"] === '"v1"') return { status: 304, headers: { etag: '"v1"' }, body: "" };
  const described = {
    name: "Kept", description: "", version: "1", capabilities: {}, skills: [], defaultInputModes: [], defaultOutputModes: [],
    supportedInterfaces: [{ url: `${sink.url}/kept/rpc`, protocolBinding: "JSONRPC", protocolVersion: "1.0" }],
  };
  return { headers: { "content-type": "application/json", etag: '"v1"' }, body: JSON.stringify(described) };
}

/** A message that contains the credentials and the path of the request. */
function said({ headers, path, body }: Arrival): Deed {
  const text = [headers.authorization, path, headers["x-team"]].join(" ");
  const result = { message: { messageId: "m", role: "ROLE_AGENT", parts: [{ text }] } };
  const { id } = JSON.parse(body) as { id: unknown };
  return { headers: { "content-type": "application/json" }, body: JSON.stringify({ jsonrpc: "2.0", id, result }) };
}

/** How a task of the front ends, and with which text. */
async function ask(at = worker.url): Promise<{ state: string; text: string }> {
  const { status } = await new Agent(`${at}/keeper`).sendForTask("hello");
  return { state: status.state, text: textOf(status.message) };
}

interface Row {
  key: string;
  value: string;
  fetched_ms: number;
  fresh_until_ms: number;
}

async function rows(): Promise<Row[]> {
  const { results } = await (await worker.d1()).prepare("SELECT * FROM remembered WHERE key LIKE 'card:%'").run<Row>();
  return results;
}

/** Makes the card this old, and restarts the instance. */
async function age(milliseconds: number): Promise<void> {
  const fetched = Date.now() - milliseconds;
  await (await worker.d1()).prepare("UPDATE remembered SET fetched_ms = ?1, fresh_until_ms = ?1 + 300000").bind(fetched).run();
  await worker.restart();
}

/** The requests for the card. */
const asked = (): Arrival[] => sink.arrivals("/kept").filter(({ path }) => path.startsWith(CARD));

test("a remote gets its credentials and headers, and the caller sees none of them", async () => {
  const { state, text } = await ask();
  assert.equal(state, "TASK_STATE_COMPLETED");
  assert.equal(text, "Bearer [REMOTE_TOKEN] /kept/rpc?key=[REMOTE_KEY] blue");
  const [arrival] = sink.arrivals("/kept").filter(({ method }) => method === "POST");
  assert.equal(arrival?.headers.authorization, `Bearer ${REMOTE_TOKEN}`);
  assert.ok(arrival?.path.endsWith(`key=${REMOTE_KEY}`));
});

test("a card is fetched once, and a Worker that begins with the database of another one needs no fetch", async () => {
  assert.match((await rows())[0]?.key ?? "", /^card:[0-9a-f]{64}$/);
  card = () => ({ status: 503 });
  for (const begins of [false, true]) {
    if (begins) await worker.restart();
    assert.equal((await ask()).state, "TASK_STATE_COMPLETED");
  }
  assert.equal(asked().length, 0);
});

test("a Worker beside another one, over one database, uses the card that the other one has fetched, also when the server is down", async () => {
  // Both begin at the same time, without a remembered card.
  await (await worker.d1()).prepare("DELETE FROM remembered").run();
  await worker.restart();
  assert.equal((await ask(worker.url)).state, "TASK_STATE_COMPLETED");
  assert.deepEqual(asked().length, 1);
  await until(rows, ({ length }) => length === 1);
  const { otherwise } = sink;
  sink.otherwise = () => "drop";
  try {
    const { state, text } = await ask(worker.twin);
    assert.equal(state, "TASK_STATE_FAILED", "the agent itself is down, too");
    const arrived = sink.arrivals("/kept").map(({ method, path }) => `${method} ${path.split("?")[0]}`);
    assert.deepEqual(arrived.slice(-1), ["POST /kept/rpc"], `what the card names is called: ${text}`);
  } finally {
    sink.otherwise = otherwise;
  }
  card = () => "drop";
  const answers = await Promise.all([ask(worker.twin), ask(worker.url), ask(worker.twin)]);
  assert.deepEqual(answers.map(({ state }) => state), Array(3).fill("TASK_STATE_COMPLETED"));
  assert.equal(asked().length, 1);
});

test("of two Workers over one database that find a stale card one asks whether it has changed", async () => {
  await age(3_600_000);
  const answers = await Promise.all([worker.url, worker.twin, worker.url, worker.twin].map(ask));
  assert.ok(answers.every(({ state }) => state === "TASK_STATE_COMPLETED"));
  await until(rows, ([row]) => (row?.fetched_ms ?? 0) > Date.now() - 60_000);
  assert.equal(asked().length, 1);
});

test("a stale card is used at once, and whether it has changed is asked beside, by one request", async () => {
  await age(3_600_000);
  const answers = await Promise.all([ask(), ask(), ask()]);
  assert.deepEqual(answers.map(({ state }) => state), Array(3).fill("TASK_STATE_COMPLETED"));
  await until(rows, ([row]) => (row?.fetched_ms ?? 0) > Date.now() - 60_000);
  assert.deepEqual(asked().map(({ headers }) => headers["if-none-match"]), ['"v1"']);
});

test("a stale card is used while its server is down, and the operator is told", async () => {
  card = () => ({ status: 503 });
  await age(3_600_000);
  assert.equal((await ask()).state, "TASK_STATE_COMPLETED");
  const told = () => Promise.resolve(worker.logs.filter(({ message }) => message.includes("the card of the agent at")));
  await until(told, ({ length }) => length > 0);
  assert.equal((await ask()).state, "TASK_STATE_COMPLETED");
});

test("a card of two days is not used, and why there is no other one is said", async () => {
  card = () => ({ status: 503 });
  await age(2 * 24 * 3_600_000);
  const { state, text } = await ask();
  assert.equal(state, "TASK_STATE_FAILED");
  assert.match(text, /503/);
  card = isKnown;
});
